//! `bochner predict`: predictions of a fitted model.

use crate::{
    args::{self, RunArgs, delimiter, fraction},
    checkpoint::{CheckpointArgs, Progress},
    given,
    interrupt::{Interruptible, steps, writing},
    names::{Names, names},
    outputs::keep_apart,
    report::{Report, Usage},
};
use anyhow::Result;
use bochner::{
    Error, Run, Step,
    data::{
        self, AtomicFile, ChunkSource, CsvWriter, Done, NpyWriter, OpenOptions, Pieces, TargetUse,
        open,
    },
    models::{Label, LinearModel},
    solve::Targets,
};
use ndarray::{Array2, ArrayView2, Axis};
use std::{
    io::{BufWriter, Seek, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// Arguments of `bochner predict`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A model that `bochner fit` wrote
    model: PathBuf,
    /// Rows to predict
    input: PathBuf,
    /// Predictions, f64: .npy [rows] (or [rows, targets]) or .csv
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
    /// Probabilities of the classes of a classifier that has some: .npy or .csv, one column per
    /// class
    #[arg(long, value_name = "OUT", conflicts_with = "interval")]
    probabilities: Option<PathBuf>,
    /// Column of a .csv that is no feature and is left out; several in a comma list or by repeating
    /// the option
    #[arg(long, value_name = "COLUMN", value_parser = names)]
    target: Vec<Names>,
    /// What the input is, where its name does not say: csv, libsvm, npy or npz
    #[arg(long, value_name = "FORMAT", value_parser = args::format)]
    format: Option<data::Format>,
    /// What separates the columns of a .csv: a character or `tab` [default: what its first line has
    /// most of]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    delimiter: Option<char>,
    /// Indices of a .libsvm count from 0, and not from 1
    #[arg(long)]
    zero_based: bool,
    /// Of a model of kernel PCA: write how far each row is, squared and in feature space, from what
    /// its components span, instead of its components. Rows unlike those of the fit are far
    #[arg(long, conflicts_with = "interval")]
    reconstruction_error: bool,
    /// Also write bounds that hold a new target with this probability, as columns `lower` and
    /// `upper`: for Gaussian processes, and models that were fitted with --calibrate
    #[arg(long, value_name = "LEVEL", value_parser = fraction)]
    #[arg(allow_hyphen_values = true)]
    interval: Option<f64>,
    #[command(flatten)]
    steps: CheckpointArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Predicts every row of a file.
pub(crate) fn run(args: &Args) -> Result<()> {
    let console = args.run.start()?;
    let mut report = Report::default();
    let format = Format::of(&args.output)?;
    keep_apart(
        [Some(args.output.as_path()), args.probabilities.as_deref()],
        [Some(args.model.as_path()), Some(args.input.as_path())],
    )?;
    let model = LinearModel::load(&args.model)?;
    let options = OpenOptions {
        target: Names::of(&args.target),
        target_use: TargetUse::Ignored,
        columns: model.columns(),
        format: args.format,
        delimiter: args.delimiter,
        width: Some(model.map.input_dim()),
        zero_based: args.zero_based,
        ..OpenOptions::default()
    };
    let mut source: Box<dyn ChunkSource> = Box::new(Interruptible(open(&args.input, &options)?));
    check_columns(&model, source.as_ref(), &args.input)?;
    if args.reconstruction_error && model.principal.is_none() {
        let problem = format!(
            "--reconstruction-error goes with --model pca, and this is a model of {}",
            model.learner
        );
        return Err(Usage(problem).into());
    }
    let columns = match &model.targets {
        Targets::Real { columns, .. } if !args.reconstruction_error => *columns,
        _ => 1,
    };
    let run = args.run.open(&console)?;
    let bar = Arc::new(console.bar("predict", source.rows().map(|rows| rows as u64)));
    // Where a step begins among all rows.
    let before = Arc::new(AtomicU64::new(0));
    let quiet = {
        let (bar, before) = (bar.clone(), before.clone());
        run.clone().progress(move |step| {
            if let Step::Rows(rows) = step {
                bar.set_position(before.load(Ordering::Relaxed) + rows);
            }
        })
    };
    // What cannot be had is known before the output is begun.
    let with_bounds = args.interval.map(|level| {
        let predictor = model.intervals_on(&quiet)?;
        bochner::Result::Ok((predictor, level))
    });
    let mut with_bounds = with_bounds.transpose()?;
    let mut with_probabilities = match &args.probabilities {
        Some(_) => Some(model.probabilities_on(&quiet)?),
        None => None,
    };
    let names: &[&str] = match with_bounds {
        Some(_) => &["prediction", "lower", "upper"],
        None => &["prediction"],
    };
    let _writing = writing();
    let mut kept = args.kept(&run)?;
    if let Some(kept) = &kept {
        kept.note(&console);
    }
    let open = |output, path: &Path| -> Result<_> {
        let fresh = AtomicFile::create(path)?;
        match &kept {
            // A place that cannot be written is better known now than at the end.
            Some(kept) => Ok(kept.output(output, path)?),
            None => Ok((fresh, Done::default())),
        }
    };
    let mut writer = match (&model.class_names, format) {
        (None, _) => Writer::create(open(0, &args.output)?, format, (names, columns))?,
        (Some(names), Format::Csv) => Writer::names(open(0, &args.output)?, names)?,
        (Some(_), Format::Npy) => {
            let problem =
                "the labels of this model are text, which .npy does not hold; name a .csv";
            return Err(Error::data(&args.output, problem).into());
        }
    };
    let mut probabilities = match &args.probabilities {
        Some(path) => Some(Writer::probabilities(path, open(1, path)?, &model)?),
        None => None,
    };
    let mut rows = kept.as_ref().map_or(0, Progress::rows);
    let step = args.steps.step();
    let _steps = kept.as_ref().map(|_| steps());
    let plain = !args.reconstruction_error && with_bounds.is_none();
    let mut with_scores = match plain && with_probabilities.is_none() {
        true => Some(model.on(&quiet)?),
        false => None,
    };
    let mut pieces = Pieces::of(&mut source)?;
    let (rows, seconds) = console.timed(|| {
        loop {
            before.store(rows, Ordering::Relaxed);
            let mut source = pieces.piece(rows, step);
            let more = match (&mut with_bounds, &mut with_scores) {
                (Some((predictor, level)), _) => {
                    predictor.stream(&mut source, *level, |found, _| {
                        let parts = [&found.predicted_nt, &found.lower_nt, &found.upper_nt];
                        // Prediction and bounds of a target beside each other.
                        let side_by_side =
                            Array2::from_shape_fn((parts[0].nrows(), 3 * columns), |(i, j)| {
                                parts[j % 3][[i, j / 3]]
                            });
                        writer.write_rows(side_by_side.view())
                    })?
                }
                (None, Some(predictor)) => {
                    predictor.stream(&mut source, |found, _| writer.write_rows(found))?
                }
                (None, None) => match (&mut with_probabilities, &mut probabilities) {
                    (Some(predictor), Some(beside)) => {
                        predictor.stream(&mut source, |raw_nt, p_nt, _| {
                            beside.write_rows(p_nt)?;
                            writer.write_rows(model.decide(raw_nt.to_owned()).view())
                        })?
                    }
                    _ => model.reconstruction_errors(&mut source, &quiet, |errors| {
                        writer.write_rows(errors.insert_axis(Axis(1)))
                    })?,
                },
            };
            rows += more;
            if let Some(kept) = &mut kept {
                let mut done = vec![writer.mark()?];
                if let Some(beside) = &mut probabilities {
                    done.push(beside.mark()?);
                }
                kept.keep(done)?;
            }
            if more < step {
                break;
            }
        }
        if let Some(writer) = probabilities {
            writer.finish()?;
        }
        writer.finish()?;
        Ok::<_, anyhow::Error>(rows)
    })?;
    if let Some(kept) = kept {
        kept.finish();
    }
    report.seconds("predict", seconds);
    report.throughput(rows, seconds);
    report.device(&run.device);
    report.set("model", args.model.display().to_string());
    report.set("map", model.map.describe());
    report.line("map", model.map.describe());
    report.output("predictions", &args.output);
    if let Some(path) = &args.probabilities {
        report.output("probabilities", path);
    }
    args.run.print(&report)
}

impl Args {
    /// What a checkpoint has of this run, if there is to be one.
    fn kept(&self, run: &Run) -> Result<Option<Progress>> {
        let Some(folder) = self.steps.open()? else {
            return Ok(None);
        };
        let mut given = given::options(&[]);
        given.insert("file".into(), given::file(&self.input)?);
        given.insert("model".into(), given::file(&self.model)?);
        given.insert("device".into(), run.device.describe());
        // What they are written as hangs on their names.
        let outputs = [Some(&self.output), self.probabilities.as_ref()];
        for (name, path) in ["output", "probabilities"].into_iter().zip(outputs) {
            if let Some(path) = path {
                given.insert(name.into(), path.display().to_string());
            }
        }
        let outputs = outputs.into_iter().flatten().count();
        Ok(Some(Progress::open(folder, given, outputs)?))
    }
}

/// Errors unless the data has the columns that the model was fitted on.
pub(crate) fn check_columns(
    model: &LinearModel,
    source: &dyn ChunkSource,
    input: &Path,
) -> Result<()> {
    let (has, needs) = (source.columns(), model.map.input_dim());
    if has == needs {
        return Ok(());
    }
    let problem = format!(
        "has {has} feature columns, but the model was fitted on {needs}; give those, and name \
         columns of labels with --target"
    );
    Err(Error::data(input, problem).into())
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Npy,
    Csv,
}

impl Format {
    fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_ascii_lowercase());
        match extension.as_deref().and_then(|e| e.to_str()) {
            Some("npy") => Ok(Self::Npy),
            Some("csv") => Ok(Self::Csv),
            _ => Err(Usage(format!(
                "{}: predictions are written as .npy or .csv; name such a file",
                path.display()
            ))
            .into()),
        }
    }
}

enum Writer {
    Npy(NpyWriter<f64>),
    Csv(CsvWriter),
    /// Text labels: what each number stands for, quoted.
    Names {
        path: PathBuf,
        file: BufWriter<AtomicFile>,
        quoted: Vec<String>,
        rows: u64,
    },
}

impl Writer {
    /// For columns of each name, `columns` of them numbered where there are several.
    fn create(
        (file, done): (AtomicFile, Done),
        format: Format,
        (names, columns): (&[&str], usize),
    ) -> bochner::Result<Self> {
        Ok(match (format, names.len() * columns) {
            (Format::Npy, 1) => Self::Npy(NpyWriter::go_on(file, None, done)?),
            (Format::Npy, all) => Self::Npy(NpyWriter::go_on(file, Some(all), done)?),
            (Format::Csv, _) if columns == 1 => Self::Csv(CsvWriter::go_on(file, names, done)?),
            (Format::Csv, _) => {
                let numbered = |k| names.iter().map(move |name| format!("{name}_{k}"));
                let names: Vec<_> = (0..columns).flat_map(numbered).collect();
                Self::Csv(CsvWriter::go_on(file, &names, done)?)
            }
        })
    }

    /// One column per class, under its label in a .csv. Errors on a model without probabilities.
    fn probabilities(
        path: &Path,
        (file, done): (AtomicFile, Done),
        model: &LinearModel,
    ) -> Result<Self> {
        let Targets::Classes(classes) = &model.targets else {
            return Err(
                Usage("this model predicts amounts, which have no probabilities".into()).into(),
            );
        };
        Ok(match Format::of(path)? {
            Format::Npy => Self::Npy(NpyWriter::go_on(file, Some(classes.len()), done)?),
            Format::Csv => {
                let name = |&class: &f64| match model.label(class) {
                    Label::Number(number) => number.to_string(),
                    Label::Text(text) => text.to_owned(),
                };
                let names: Vec<_> = classes.iter().map(name).collect();
                Self::Csv(CsvWriter::go_on(file, &names, done)?)
            }
        })
    }

    /// A .csv of one column of labels by their names.
    fn names((file, done): (AtomicFile, Done), names: &[String]) -> bochner::Result<Self> {
        let path = file.path().to_owned();
        let mut file = BufWriter::new(file);
        if done.bytes == 0 {
            file.write_all(b"prediction\n")
                .map_err(|e| Error::io(&path, e))?;
        }
        let quoted = names.iter();
        Ok(Self::Names {
            path,
            file,
            quoted: quoted
                .map(|name| format!("\"{}\"\n", name.replace('"', "\"\"")))
                .collect(),
            rows: done.rows,
        })
    }

    fn write_rows(&mut self, rows: ArrayView2<'_, f64>) -> bochner::Result<()> {
        match self {
            Self::Names {
                path,
                file,
                quoted,
                rows: done,
            } => {
                for &label in rows.column(0) {
                    // Labels count the names from 0.
                    let line = quoted.get(label as usize).map_or("", String::as_str);
                    file.write_all(line.as_bytes())
                        .map_err(|e| Error::io(&*path, e))?;
                    *done += 1;
                }
                Ok(())
            }
            Self::Npy(writer) => writer.write_rows(rows),
            Self::Csv(writer) => writer.write_rows(rows),
        }
    }

    /// Writes all rows so far through to the disk, and says how far the file is.
    fn mark(&mut self) -> bochner::Result<Done> {
        match self {
            Self::Names {
                path, file, rows, ..
            } => {
                let fail = |error| Error::io(&*path, error);
                file.flush().map_err(fail)?;
                file.get_ref().sync()?;
                let bytes = file.stream_position().map_err(fail)?;
                Ok(Done { rows: *rows, bytes })
            }
            Self::Npy(writer) => writer.mark(),
            Self::Csv(writer) => writer.mark(),
        }
    }

    fn finish(self) -> bochner::Result<u64> {
        match self {
            Self::Names {
                path, file, rows, ..
            } => {
                let file = file.into_inner();
                let file = file.map_err(|e| Error::io(&path, e.into_error()))?;
                file.finish()?;
                Ok(rows)
            }
            Self::Npy(writer) => writer.finish(),
            Self::Csv(writer) => writer.finish(),
        }
    }
}
