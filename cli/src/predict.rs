//! `bochner predict`: predictions of a fitted model.

mod output;

use crate::{
    args::{self, RunArgs, delimiter, describe_gaps, fraction},
    checkpoint::{CheckpointArgs, Progress},
    columnar, given,
    interrupt::{Interruptible, steps, writing},
    names::{Names, names},
    outputs::keep_apart,
    report::{Report, Usage},
    threshold::Threshold,
};
use anyhow::Result;
use bochner::{
    Error, Run, Step,
    data::{
        self, AtomicFile, ChunkSource, Done, Gaps, Header, NanRows, OpenOptions, Pieces, Refill,
        TargetUse, open,
    },
    models::{LinearModel, MemoryPlan},
    solve::Targets,
};
use ndarray::{Array2, Axis};
use output::{Format, Writer};
use std::{
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
    /// Predictions, f64: .npy [rows] (or [rows, targets]), .csv or .parquet
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
    /// Probabilities of the classes of a classifier that has some: .npy, .csv or .parquet, one
    /// column per class
    #[arg(long, value_name = "OUT", conflicts_with = "interval")]
    probabilities: Option<PathBuf>,
    /// Column of a .csv that is no feature and is left out; several in a comma list or by repeating
    /// the option
    #[arg(long, value_name = "COLUMN", value_parser = names)]
    target: Vec<Names>,
    /// What the input is, where its name does not say: csv, libsvm, npy, npz, parquet or arrow
    #[arg(long, value_name = "FORMAT", value_parser = args::format)]
    format: Option<data::Format>,
    /// What separates the columns of a .csv: a character or `tab` [default: what its first line has
    /// most of]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    delimiter: Option<char>,
    /// Whether the first line of a .csv holds the names of its columns: yes, no (they are called
    /// 0, 1 and so on), or `auto`, which takes a line of numbers alone for data
    #[arg(long, value_name = "WHETHER", default_value_t, value_parser = str::parse::<Header>)]
    header: Header,
    /// What becomes of rows in which a value is NaN, infinite, or missing where --missing lets
    /// nothing stand for it: `error`, or `drop`, which leaves them out and counts them; their
    /// predictions are NaN, or empty where labels are text
    #[arg(long, value_name = "WHAT", default_value_t, value_parser = str::parse::<NanRows>)]
    nan: NanRows,
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
    /// Of a classifier of two classes with probabilities: rows belong to the second from this
    /// probability of it on [default: the likelier class]
    #[arg(long, value_name = "P", value_parser = fraction, conflicts_with = "interval")]
    #[arg(allow_hyphen_values = true)]
    threshold: Option<f64>,
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
    for output in [Some(&args.output), args.probabilities.as_ref()]
        .into_iter()
        .flatten()
    {
        columnar::require_one_run(output, args.steps.checkpoint.as_deref())?;
    }
    keep_apart(
        [
            Some(args.output.as_path()),
            args.probabilities.as_deref(),
            args.run.page(),
        ],
        [Some(args.model.as_path()), Some(args.input.as_path())],
    )?;
    let model = LinearModel::load(&args.model)?;
    let nan = match args.nan.gaps() {
        Some(_) => NanRows::Drop(Gaps::listed()),
        None => NanRows::Error,
    };
    if nan.gaps().is_some() && args.steps.checkpoint.is_some() {
        let problem = "--nan drop does not go with --checkpoint; remove the rows first";
        return Err(Usage(problem.into()).into());
    }
    let mut refill = Refill::new(nan.gaps().cloned());
    let options = OpenOptions {
        target: Names::of(&args.target),
        target_use: TargetUse::Ignored,
        columns: model.columns(),
        format: args.format,
        delimiter: args.delimiter,
        header: args.header,
        nan: nan.clone(),
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
    let threshold = Threshold::of(args.threshold, &model)?;
    let columns = match &model.targets {
        Targets::Real { columns, .. } if !args.reconstruction_error => *columns,
        _ => 1,
    };
    let run = args.run.open(&console)?;
    let bytes = std::fs::metadata(&args.model).map_or(0, |file| file.len());
    let plan = MemoryPlan::of_predictions(&model, bytes, source.targets(), &run);
    let chunks = args.run.within(|bytes| plan.within(bytes))?;
    console.detail(&format!("plan: {plan}"));
    let run = run.memory(chunks);
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
    let mut with_probabilities = match args.probabilities.is_some() || threshold.is_some() {
        true => Some(model.probabilities_on(&quiet)?),
        false => None,
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
        (Some(names), Format::Parquet) => {
            let file = columnar::Writer::texts(open(0, &args.output)?.0, "prediction")?;
            Writer::ParquetNames(file, names.clone())
        }
        (Some(_), Format::Npy) => {
            let problem = "the labels of this model are text, which .npy does not hold; name a .csv or a \
                 .parquet";
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
                        writer.refilled(side_by_side.view(), refill.places(side_by_side.nrows()))
                    })?
                }
                (None, Some(predictor)) => predictor.stream(&mut source, |found, _| {
                    writer.refilled(found, refill.places(found.nrows()))
                })?,
                (None, None) => match &mut with_probabilities {
                    Some(predictor) => predictor.stream(&mut source, |raw_nt, p_nt, _| {
                        let places = refill.places(p_nt.nrows());
                        if let Some(beside) = &mut probabilities {
                            beside.refilled(p_nt, places.clone())?;
                        }
                        let found = match threshold {
                            Some(threshold) => threshold.decide(p_nt),
                            None => model.decide(raw_nt.to_owned()),
                        };
                        writer.refilled(found.view(), places)
                    })?,
                    None => model.reconstruction_errors(&mut source, &quiet, |errors| {
                        let places = refill.places(errors.len());
                        writer.refilled(errors.insert_axis(Axis(1)), places)
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
        let rest = refill.rest();
        if let Some(mut writer) = probabilities {
            writer.blank(rest.len())?;
            writer.finish()?;
        }
        writer.blank(rest.len())?;
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
    describe_gaps(&nan, &mut report);
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
