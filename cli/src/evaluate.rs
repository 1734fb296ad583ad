//! `bochner evaluate`: how well a model predicts.

mod seen;
mod spread;

use crate::{
    args::{DataArgs, RunArgs},
    outputs::keep_apart,
    predict::check_columns,
    report::{Console, Report, six_digits},
};
use anyhow::Result;
use bochner::{
    Error, Run,
    data::{ChunkSource, TargetUse},
    models::{Intervals, LinearModel, Scores},
    solve::Targets,
};
use indicatif::HumanCount;
use ndarray::{ArrayView2, Zip};
use seen::Seen;
use spread::Spread;
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
    let read = [
        Some(args.model.as_path()),
        Some(&args.input),
        args.data.targets(),
    ];
    keep_apart([args.run.page()], read)?;
    let console = args.run.start()?;
    let mut report = Report::default();
    let model = LinearModel::load(&args.model)?;
    let mut source = (args.data).open_for(&model, &args.input, TargetUse::Required)?;
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
    if let (Some(fitted), Some(given)) = (&model.target_names, source.target_names())
        && *fitted != given
    {
        let problem = format!(
            "has the targets {}, but the model predicts {}; name those with --target, in this \
             order",
            given.join(", "),
            fitted.join(", ")
        );
        return Err(Error::data(&args.input, problem).into());
    }
    let run = args.run.open(&console)?;
    let (scores, seconds) = score(&model, &run, &mut source, (&console, "evaluate"))?;
    scores.describe(&mut report, "rows");
    args.data.describe_gaps(&mut report);
    report.seconds("evaluate", seconds);
    report.throughput(scores.rows(), seconds);
    report.device(&run.device);
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
    seen: Seen,
    intervals: Option<Held>,
}

/// The level of the intervals that are scored, where a model has any.
const LEVEL: f64 = 0.9;

/// What intervals of [`LEVEL`] held.
#[derive(Debug, Default)]
struct Held {
    values: u64,
    held: u64,
    width: f64,
}

impl Held {
    fn add(&mut self, intervals: &Intervals, y_nt: ArrayView2<'_, f64>) {
        Zip::from(&intervals.lower_nt)
            .and(&intervals.upper_nt)
            .and(&y_nt)
            .for_each(|lower, upper, y| {
                self.values += 1;
                self.held += u64::from((lower..=upper).contains(&y));
                self.width += upper - lower;
            });
    }

    fn describe(&self, report: &mut Report) {
        let share = self.held as f64 / self.values as f64;
        let width = self.width / self.values as f64;
        report.set("interval_level", LEVEL);
        report.set("interval_coverage", share);
        report.set("interval_width", width);
        let width = six_digits(width);
        report.line(
            format!("{:.0} % intervals", 100.0 * LEVEL),
            format!("hold {:.1} %, mean width {width}", 100.0 * share),
        );
    }
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
            if let Some(loss) = scores.log_loss() {
                report.set("log_loss", loss);
                report.line("log loss", six_digits(loss));
            }
        } else {
            report.set("rmse", scores.rmse());
            report.set("relative_error", scores.relative_error());
            report.line("rmse", format!("{} on {over}", six_digits(scores.rmse())));
            report.line("relative error", six_digits(scores.relative_error()));
        }
        if let Some(held) = &self.intervals {
            held.describe(report);
        }
        for (key, value) in self.seen.numbers() {
            report.set(key, value);
        }
        if let Some((key, value)) = self.seen.pictured() {
            report.picture(key, value);
        }
    }
}

/// Predicts every row of `source` and compares with its targets; the seconds come second.
pub(crate) fn score(
    model: &LinearModel,
    run: &Run,
    source: &mut dyn ChunkSource,
    (console, stage): (&Console, &'static str),
) -> Result<(Scored, f64)> {
    let bar = console.bar(stage, source.rows().map(|rows| rows as u64));
    let run = run.clone().progress(bar.follow());
    console.timed(|| -> Result<_> {
        let (mut scores, mut spread) = (Scores::default(), Spread::default());
        let mut seen = Seen::of(&model.targets, model.class_names.as_deref());
        let intervals = match has_intervals(model) {
            true => {
                let mut held = Held::default();
                model
                    .intervals_on(&run)?
                    .stream(source, LEVEL, |intervals, y| {
                        held.add(intervals, y);
                        seen.add(intervals.predicted_nt.view(), y);
                        spread.add(intervals.predicted_nt.view(), y);
                        scores.add(intervals.predicted_nt.view(), y)
                    })?;
                Some(held)
            }
            false => {
                match &model.targets {
                    Targets::Classes(labels) if model.probabilities.is_some() => {
                        let mut predictor = model.probabilities_on(&run)?;
                        predictor.stream(source, |raw_nt, p_nt, y_nt| {
                            scores.add_probabilities(p_nt, labels, y_nt)?;
                            seen.add_probabilities(p_nt, y_nt);
                            let found = model.decide(raw_nt.to_owned());
                            seen.add(found.view(), y_nt);
                            scores.add(found.view(), y_nt)
                        })?
                    }
                    _ => model.on(&run)?.stream(source, |found, y| {
                        seen.add(found, y);
                        if matches!(model.targets, Targets::Real { .. }) {
                            spread.add(found, y);
                        }
                        scores.add(found, y)
                    })?,
                };
                None
            }
        };
        spread.note(console);
        Ok(Scored {
            scores,
            classified: matches!(model.targets, Targets::Classes(_)),
            seen,
            intervals,
        })
    })
}

/// Whether a model gives intervals of [`LEVEL`].
fn has_intervals(model: &LinearModel) -> bool {
    match &model.conformal {
        // What calibration reaches, with a row to spare.
        Some(conformal) => conformal.rows() as f64 * (1.0 - LEVEL) >= 1.0,
        None => model.spread.is_some() && matches!(model.targets, Targets::Real { .. }),
    }
}
