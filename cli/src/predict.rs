//! `bochner predict`: predictions of a fitted model.

pub(crate) mod beyond;
mod files;
mod kept;
mod output;
mod seen;
mod text_rows;
mod way;

use crate::{
    args::{self, LayoutArgs, RunArgs, describe_gaps, fraction},
    checkpoint::{CheckpointArgs, Progress},
    columnar, given,
    interrupt::{Interruptible, steps, writing},
    names::{Names, names},
    page::head,
    progress::Bar,
    report::{Console, Report, Usage},
    threshold::Threshold,
};
use anyhow::Result;
use beyond::Watched;
use bochner::{
    Error, Run, Step,
    data::{self, ChunkSource, Gaps, NanRows, OpenOptions, Pieces, Refill, TargetUse, open},
    models::{LinearModel, MemoryPlan},
};
use files::Outputs;
use output::{is_stdout, require_format};
use seen::Seen;
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use way::{Way, What};

/// Arguments of `bochner predict`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A model that `bochner fit` wrote
    model: PathBuf,
    /// Rows to predict
    input: PathBuf,
    /// Predictions, f64: .npy, .csv or .parquet; `-` for stdout
    ///
    /// A .npy has [rows] or [rows, targets]; `-` and /dev/stdout write a .csv to stdout, and the
    /// report to stderr.
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
    /// Probabilities of the classes: .npy, .csv or .parquet; `-` for stdout
    ///
    /// Of a classifier that has some; one column per class.
    #[arg(long, value_name = "OUT", conflicts_with = "interval")]
    probabilities: Option<PathBuf>,
    /// Columns of the input that stand before the predictions
    ///
    /// In a .csv: the numbers or names of rows, for one.
    #[arg(long, value_name = "COLUMN,..", value_parser = names)]
    keep: Vec<Names>,
    /// Column of a .csv that is no feature; several in a comma list
    ///
    /// It is left out; the option can stand several times, too.
    #[arg(long, value_name = "COLUMN", value_parser = names)]
    target: Vec<Names>,
    /// What the input is, where its name does not say: csv, libsvm, npy, npz, parquet, arrow,
    /// xlsx or sqlite
    #[arg(long, value_name = "FORMAT", value_parser = args::format)]
    format: Option<data::Format>,
    #[command(flatten)]
    layout: LayoutArgs,
    /// For rows with values that are not finite: error, drop
    ///
    /// What becomes of rows in which a value is NaN, infinite, or missing where the fit's --missing
    /// lets nothing stand for it. `drop` leaves them out and counts them; their predictions are
    /// NaN, or empty where labels are text.
    #[arg(long, value_name = "WHAT", default_value_t, value_parser = str::parse::<NanRows>)]
    nan: NanRows,
    /// Indices of a .libsvm count from 0, and not from 1
    #[arg(long)]
    zero_based: bool,
    /// Of a model of kernel PCA: write how far each row is, squared and in feature space, from what
    /// its components span, instead of its components. Rows unlike those of the fit are far
    #[arg(long, conflicts_with_all = ["interval", "probabilities"])]
    reconstruction_error: bool,
    /// Of a model that predicts labels: write the raw outputs that they are made of, one column per
    /// class, of which the largest decides
    #[arg(long, conflicts_with_all = ["interval", "reconstruction_error", "threshold"])]
    scores: bool,
    /// Also write bounds that hold a new target with this probability
    ///
    /// As columns `lower` and `upper`: for Gaussian processes, ridge regression, by its errors on
    /// rows left out in turn, and models that were fitted with --calibrate.
    #[arg(long, value_name = "LEVEL", value_parser = fraction)]
    #[arg(allow_hyphen_values = true)]
    interval: Option<f64>,
    /// Of a classifier: write the classes that together hold the right one with this probability
    ///
    /// For ridge regression, by rows left out in turn, and models that were fitted with
    /// --probabilities. In a .csv as column `set`, with `|` between classes; in a .npy or .parquet
    /// as a column for each class, 1 where it is in the set.
    #[arg(long, value_name = "LEVEL", value_parser = fraction, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["interval", "reconstruction_error", "scores", "threshold"])]
    sets: Option<f64>,
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
    args.require_places()?;
    let model = LinearModel::load(&args.model)?;
    let nan = args.nan()?;
    let refill = Refill::new(nan.gaps().cloned());
    let mut source = Watched::new(args.source(&model, &nan)?, &model);
    let what = What::from_args(args, &model)?;
    let threshold = Threshold::from_option(args.threshold, &model)?;
    let run = args.open_run(&model, source.targets(), &console)?;
    // Where a step begins among all rows.
    let before = Arc::new(AtomicU64::new(0));
    let bar = console.bar("predict", source.rows().map(|rows| rows as u64));
    let quiet = with_bar(&run, bar, before.clone());
    // What cannot be had is known before the output is begun.
    let probable = args.probabilities.is_some();
    let mut way = Way::load(&model, what, probable, threshold, &quiet)?;
    let _writing = writing();
    let mut progress = args.progress(&run)?;
    if let Some(progress) = &progress {
        progress.note(&console);
    }
    let outputs = args.outputs(&model, what, progress.as_ref(), refill)?;
    let _steps = progress.as_ref().map(|_| steps());
    let mut seen = Seen::for_model(what, &model);
    let (rows, seconds) = console.timed(|| {
        write(
            &mut way,
            &mut source,
            args.steps.step(),
            outputs,
            progress.as_mut(),
            &mut seen,
            &before,
        )
    })?;
    if let Some(progress) = progress {
        progress.finish();
    }
    if let Some(note) = source.note() {
        console.note(&note);
    }
    report.seconds("predict", seconds);
    report.throughput(rows, seconds);
    report.device(&run.device);
    args.describe(&model, &nan, &mut report);
    seen.describe(&mut report);
    report.picture("predictions", seen.pictured());
    head::of_model(&args.input, &model, &mut report);
    args.report_outputs(&mut report);
    if args.fills_stdout() {
        args.run.print_beside(&report)
    } else {
        args.run.print(&report)
    }
}

/// The run, whose rows move a bar on from where the step begins.
fn with_bar(run: &Run, bar: Bar, before: Arc<AtomicU64>) -> Run {
    run.clone().progress(move |step| {
        if let Step::Rows(rows) = step {
            bar.set_position(before.load(Ordering::Relaxed) + rows);
        }
    })
}

/// Predicts all rows behind those that are written, and keeps what is done after each step; gives
/// the number of rows.
fn write(
    way: &mut Way<'_>,
    source: &mut dyn ChunkSource,
    step: u64,
    mut outputs: Outputs,
    mut progress: Option<&mut Progress>,
    seen: &mut Seen,
    before: &AtomicU64,
) -> Result<u64> {
    let mut rows = progress.as_ref().map_or(0, |progress| progress.rows());
    let mut pieces = Pieces::new(source)?;
    loop {
        before.store(rows, Ordering::Relaxed);
        let more = outputs.write(way, &mut pieces.piece(rows, step), seen)?;
        rows += more;
        if let Some(progress) = &mut progress {
            progress.keep(outputs.marks()?)?;
        }
        if more < step {
            break;
        }
    }
    outputs.finish()?;
    Ok(rows)
}

impl Args {
    /// The device, with the memory that the plan leaves for chunks.
    fn open_run(&self, model: &LinearModel, targets: usize, console: &Console) -> Result<Run> {
        let run = self.run.open(console)?;
        let bytes = std::fs::metadata(&self.model).map_or(0, |file| file.len());
        let plan = MemoryPlan::of_predictions(model, bytes, targets, &run);
        let chunks = self.run.within(|bytes| plan.within(bytes))?;
        console.detail(&format!("plan: {plan}"));
        Ok(run.memory(chunks))
    }

    /// What predicted, and what became of rows with gaps.
    fn describe(&self, model: &LinearModel, nan: &NanRows, report: &mut Report) {
        report.set("model", self.model.display().to_string());
        report.set("map", model.map.describe());
        report.line("map", model.map.describe());
        describe_gaps(nan, report);
    }

    fn report_outputs(&self, report: &mut Report) {
        report.output("predictions", &self.output);
        if let Some(path) = &self.probabilities {
            report.output("probabilities", path);
        }
    }

    /// Errors where an output cannot be what it is asked to be.
    fn require_places(&self) -> Result<()> {
        let outputs = [Some(self.output.as_path()), self.probabilities.as_deref()];
        let of_stdout = outputs.into_iter().flatten().filter(|path| is_stdout(path));
        let problem = match (of_stdout.count(), &self.steps.checkpoint) {
            (2, _) => {
                "predictions and probabilities would both go to stdout, which is one .csv; name a \
                 file for one of them"
            }
            (1, Some(_)) => {
                "--checkpoint keeps what is written, which stdout does not; name a file"
            }
            _ => "",
        };
        if !problem.is_empty() {
            return Err(Usage(problem.into()).into());
        }
        let outputs = outputs.map(|output| output.filter(|path| !is_stdout(path)));
        for output in outputs.into_iter().flatten() {
            require_format(output)?;
            columnar::require_one_run(output, self.steps.checkpoint.as_deref())?;
        }
        Ok(())
    }

    /// Whether stdout is one of the outputs.
    fn fills_stdout(&self) -> bool {
        let mut outputs = [Some(&self.output), self.probabilities.as_ref()].into_iter();
        outputs.any(|output| output.is_some_and(|path| is_stdout(path)))
    }

    /// What becomes of rows with gaps.
    fn nan(&self) -> Result<NanRows> {
        match (self.nan.gaps(), &self.steps.checkpoint) {
            (Some(_), Some(_)) => {
                let problem = "--nan drop does not go with --checkpoint; remove the rows first";
                Err(Usage(problem.into()).into())
            }
            (Some(_), None) => Ok(NanRows::Drop(Gaps::listed())),
            (None, _) => Ok(NanRows::Error),
        }
    }

    /// The rows, with the columns that the model was fitted on.
    fn source(&self, model: &LinearModel, nan: &NanRows) -> Result<Box<dyn ChunkSource>> {
        let options = OpenOptions {
            target: Names::flatten(&self.target),
            target_use: TargetUse::Ignored,
            columns: model.columns(),
            format: self.format,
            layout: self.layout.layout(),
            nan: nan.clone(),
            width: Some(model.map.input_dim()),
            zero_based: self.zero_based,
            ..OpenOptions::default()
        };
        let source = Box::new(Interruptible(open(&self.input, &options)?));
        check_columns(model, source.as_ref(), &self.input)?;
        Ok(source)
    }

    /// What a checkpoint has of this run, if there is to be one.
    fn progress(&self, run: &Run) -> Result<Option<Progress>> {
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
