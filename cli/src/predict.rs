//! `bochner predict`: predictions of a fitted model.

use crate::{
    args::RunArgs,
    interrupt::{Interruptible, writing},
    report::{Report, Usage},
};
use anyhow::Result;
use bochner::{
    Error,
    data::{AtomicFile, ChunkSource, CsvWriter, NpyWriter, OpenOptions, TargetUse, open},
    models::LinearModel,
    solve::Targets,
};
use ndarray::ArrayView2;
use std::{
    io::{BufWriter, Write},
    path::{Path, PathBuf},
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
    /// Column of a .csv that is no feature and is left out; several in a comma list or by repeating
    /// the option
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    target: Vec<String>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Predicts every row of a file.
pub(crate) fn run(args: &Args) -> Result<()> {
    let console = args.run.start()?;
    let mut report = Report::default();
    let format = Format::of(&args.output)?;
    let model = LinearModel::load(&args.model)?;
    let options = OpenOptions {
        target: args.target.clone(),
        target_use: TargetUse::Ignored,
        ..OpenOptions::default()
    };
    let mut source: Box<dyn ChunkSource> = Box::new(Interruptible(open(&args.input, &options)?));
    check_columns(&model, source.as_ref(), &args.input)?;
    let columns = match &model.targets {
        Targets::Real { columns, .. } => *columns,
        Targets::Classes(_) => 1,
    };
    let _writing = writing();
    let mut writer = match (&model.class_names, format) {
        (None, _) => Writer::create(&args.output, format, columns)?,
        (Some(names), Format::Csv) => Writer::names(&args.output, names)?,
        (Some(_), Format::Npy) => {
            let problem =
                "the labels of this model are text, which .npy does not hold; name a .csv";
            return Err(Error::data(&args.output, problem).into());
        }
    };
    let device = args.run.open(&console)?;
    let bar = console.bar("predict", source.rows().map(|rows| rows as u64));
    let (rows, seconds) = console.timed(|| {
        let rows = model.on(&device, args.run.memory)?.stream(
            &mut source,
            &mut |rows| bar.set_position(rows),
            |predicted, _| writer.write_rows(predicted),
        )?;
        writer.finish().map(|_| rows)
    })?;
    drop(bar);
    report.seconds("predict", seconds);
    report.throughput(rows, seconds);
    report.device(&device);
    report.set("model", args.model.display().to_string());
    report.set("map", model.map.describe());
    report.line("map", model.map.describe());
    report.output("predictions", &args.output);
    args.run.print(&report)
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
    fn create(path: &Path, format: Format, columns: usize) -> bochner::Result<Self> {
        Ok(match (format, columns) {
            (Format::Npy, 1) => Self::Npy(NpyWriter::create_1d(path)?),
            (Format::Npy, _) => Self::Npy(NpyWriter::create(path, columns)?),
            (Format::Csv, 1) => Self::Csv(CsvWriter::create(path, &["prediction"])?),
            (Format::Csv, _) => {
                let names: Vec<_> = (0..columns).map(|k| format!("prediction_{k}")).collect();
                Self::Csv(CsvWriter::create(path, &names)?)
            }
        })
    }

    /// A .csv of one column of labels by their names.
    fn names(path: &Path, names: &[String]) -> bochner::Result<Self> {
        let mut file = BufWriter::new(AtomicFile::create(path)?);
        file.write_all(b"prediction\n")
            .map_err(|e| Error::io(path, e))?;
        let quoted = names.iter();
        Ok(Self::Names {
            path: path.to_owned(),
            file,
            quoted: quoted
                .map(|name| format!("\"{}\"\n", name.replace('"', "\"\"")))
                .collect(),
            rows: 0,
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
