//! `bochner evaluate`: how well a model predicts.

use crate::{
    args::{DataArgs, RunArgs},
    predict::check_columns,
    report::{Console, Report, six_digits},
};
use anyhow::Result;
use bochner::{
    Error,
    data::{ChunkSource, TargetUse},
    models::{LinearModel, Predictor, Scores},
    solve::Targets,
};
use indicatif::HumanCount;
use std::path::PathBuf;

/// Arguments of `bochner evaluate`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A model that `bochner fit` wrote
    model: PathBuf,
    /// Rows with targets
    input: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Scores a model on a file.
pub(crate) fn run(args: &Args) -> Result<()> {
    let console = args.run.start()?;
    let mut report = Report::default();
    let model = LinearModel::load(&args.model)?;
    let mut source = args.data.open(&args.input, TargetUse::Required)?;
    check_columns(&model, source.as_ref(), &args.input)?;
    let wanted = match &model.targets {
        Targets::Real { columns, .. } => *columns,
        Targets::Classes(_) => 1,
    };
    if source.targets() != wanted {
        let problem = format!(
            "has {} target columns, but the model predicts {wanted}; name those that it was fitted \
             on",
            source.targets()
        );
        return Err(Error::data(&args.input, problem).into());
    }
    let device = args.run.open(&console)?;
    let predictor = model.on(&device, args.run.memory)?;
    let (scores, seconds) = score(predictor, &mut source, &console, "evaluate")?;
    scores.describe(&mut report, "rows");
    report.seconds("evaluate", seconds);
    report.throughput(scores.rows(), seconds);
    report.device(&device);
    report.set("model", args.model.display().to_string());
    report.set("map", model.map.describe());
    report.line("map", model.map.describe());
    args.run.print(&report)
}

/// Scores of a model, with what they are scores of.
#[derive(Debug)]
pub(crate) struct Scored {
    scores: Scores,
    classified: bool,
}

impl Scored {
    /// Rows seen.
    pub(crate) fn rows(&self) -> u64 {
        self.scores.rows()
    }

    /// Accuracy, or RMSE and relative error, over `what`.
    pub(crate) fn describe(&self, report: &mut Report, what: &str) {
        let scores = &self.scores;
        let over = format!("{} {what}", HumanCount(scores.rows()));
        if self.classified {
            report.set("accuracy", scores.accuracy());
            report.line("accuracy", format!("{:.4} on {over}", scores.accuracy()));
        } else {
            report.set("rmse", scores.rmse());
            report.set("relative_error", scores.relative_error());
            report.line("rmse", format!("{} on {over}", six_digits(scores.rmse())));
            report.line("relative error", six_digits(scores.relative_error()));
        }
    }
}

/// Predicts every row of `source` and compares with its targets; the seconds come second.
pub(crate) fn score(
    mut predictor: Predictor<'_>,
    source: &mut dyn ChunkSource,
    console: &Console,
    stage: &'static str,
) -> Result<(Scored, f64)> {
    let bar = console.bar(stage, source.rows().map(|rows| rows as u64));
    console.timed(|| -> Result<_> {
        let mut scores = Scores::default();
        predictor.stream(
            source,
            &mut |rows| bar.set_position(rows),
            |predicted, y| scores.add(predicted, y),
        )?;
        let classified = matches!(predictor.model().targets, Targets::Classes(_));
        Ok(Scored { scores, classified })
    })
}
