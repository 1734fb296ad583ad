//! `bochner evaluate`: how well a model predicts.

mod along;
mod coverage;
mod scored;
mod seen;

use crate::{
    args::{DataArgs, RunArgs, fraction},
    page::head,
    predict::{beyond::Watched, check_columns},
    report::{Console, Report},
    threshold::Threshold,
};
use along::Along;
use anyhow::Result;
use bochner::{
    Error, Run,
    data::{ChunkSource, TargetUse},
    models::{AmountScores, LabelScores, LinearModel, Scores, Targets},
};
use coverage::{Coverage, Held, LEVEL, reaches};
use ndarray::ArrayView2;
use scored::More;
pub(crate) use scored::Scored;
use seen::Seen;
use std::path::{Path, PathBuf};

/// Arguments of `bochner evaluate`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A model that `bochner fit` wrote
    model: PathBuf,
    /// Rows with targets
    input: PathBuf,
    /// Of a classifier of two classes with probabilities: rows belong to the second from this
    /// probability of it on [default: the likelier class]
    #[arg(long, value_name = "P", value_parser = fraction, allow_hyphen_values = true)]
    threshold: Option<f64>,
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
    let mut source = (args.data).open_for(&model, &args.input, TargetUse::Required)?;
    check_columns(&model, source.as_ref(), &args.input)?;
    check_targets(&model, source.as_ref(), &args.input)?;
    let run = args.run.open(&console)?;
    let (scores, seconds) = score(
        &model,
        &run,
        &mut source,
        &console,
        &Judged::rows(),
        args.threshold,
    )?;
    scores.describe(&mut report, "rows");
    args.data.describe_gaps(&mut report);
    report.seconds("evaluate", seconds);
    report.throughput(scores.rows(), seconds);
    report.device(&run.device);
    report.set("model", args.model.display().to_string());
    report.set("map", model.map.describe());
    report.line("map", model.map.describe());
    head::of_model(&args.input, &model, &mut report);
    args.run.print(&report)
}

/// Errors unless the data has the targets that the model predicts.
pub(crate) fn check_targets(
    model: &LinearModel,
    source: &dyn ChunkSource,
    input: &Path,
) -> Result<()> {
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
        return Err(Error::data(input, problem).into());
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
        return Err(Error::data(input, problem).into());
    }
    Ok(())
}

/// What is scored, in the words of notes about it.
pub(crate) struct Judged<'a> {
    pub(crate) stage: &'static str,
    pub(crate) rows: &'static str,
    /// What to do where one value for all predicts better.
    pub(crate) advice: &'a str,
}

/// What helps most models.
pub(crate) const ADVICE: &str = "try another --lambda or --gamma, or other columns";

impl Judged<'_> {
    /// The rows of `bochner evaluate`.
    fn rows() -> Self {
        Self {
            stage: "evaluate",
            rows: "rows scored",
            advice: ADVICE,
        }
    }
}

/// Predicts every row of `source` and compares with its targets; the seconds come second.
pub(crate) fn score(
    model: &LinearModel,
    run: &Run,
    source: &mut dyn ChunkSource,
    console: &Console,
    of: &Judged<'_>,
    threshold: Option<f64>,
) -> Result<(Scored, f64)> {
    let bar = console.bar(of.stage, source.rows().map(|rows| rows as u64));
    let run = run.clone().progress(bar.follow());
    let threshold = Threshold::from_option(threshold, model)?;
    let mut watched = Watched::with_scores(source, model);
    let mut along = Along::new(&mut watched);
    let scored = console.timed(|| -> Result<_> {
        let source = &mut along;
        let mut all = Scoring::for_model(model);
        match &model.targets {
            _ if has_intervals(model) => {
                let mut held = Coverage::for_model(model);
                let mut predictor = model.intervals_on(&run)?;
                predictor.stream(source, LEVEL, |intervals, y| {
                    held.add(intervals, y);
                    all.scored.seen.add_bounds(intervals);
                    all.add_amounts(intervals.predicted_nt.view(), y)
                })?;
                all.scored.held = Some(Held::Intervals(held));
            }
            Targets::Classes(_) if model.probabilities.is_some() => {
                let mut predictor = model.probabilities_on(&run)?;
                predictor.stream(source, |raw_nt, p_nt, y| {
                    let found = match threshold {
                        Some(threshold) => threshold.decide(p_nt),
                        None => model.decide(raw_nt.to_owned()),
                    };
                    all.add_labels(found.view(), p_nt, y)?;
                    all.add_probabilities(p_nt, y)
                })?;
            }
            Targets::Classes(_) => {
                model.on(&run)?.stream_scores(source, |raw_nt, y| {
                    let found = model.decide(raw_nt.to_owned());
                    all.add_labels(found.view(), raw_nt, y)
                })?;
            }
            Targets::Real { .. } => {
                let mut predictor = model.on(&run)?;
                predictor.stream(source, |found, y| all.add_amounts(found, y))?;
            }
        }
        if let Some((name, column)) = along.column() {
            all.scored.seen.draw_along(name, &column);
        }
        Ok(all.scored)
    })?;
    let (of_few, worse) = (scored.0.of_few(), scored.0.worse_than_mean(of));
    for note in [of_few, worse, watched.note()].into_iter().flatten() {
        console.note(&note);
    }
    Ok(scored)
}

/// Sums of scores while rows stream by.
struct Scoring {
    scored: Scored,
}

impl Scoring {
    fn for_model(model: &LinearModel) -> Self {
        let (more, labels) = match &model.targets {
            Targets::Classes(labels) => (More::Labels(LabelScores::new(labels)), labels.as_slice()),
            Targets::Real { columns, .. } => (More::Amounts(AmountScores::new(*columns)), &[] as _),
        };
        let names = model.class_names.as_deref();
        // Text labels are counted by their names.
        let name = |label: &f64| match names.and_then(|names| names.get(*label as usize)) {
            Some(name) => name.clone(),
            None => label.to_string(),
        };
        let scored = Scored {
            scores: Scores::default(),
            more,
            seen: Seen::for_targets(&model.targets, names),
            held: Held::sets_of(model),
            targets: model.target_names.clone(),
            classes: labels.iter().map(name).collect(),
            probable: model.probabilities.is_some(),
            quantile: model.quantile(),
        };
        Self { scored }
    }

    /// Takes predictions and targets of a chunk, `[n, t]`.
    fn add_amounts(&mut self, found: View<'_>, y: View<'_>) -> bochner::Result<()> {
        self.scored.seen.add(found, y);
        self.scored.scores.add(found, y)?;
        match &mut self.scored.more {
            More::Amounts(amounts) => amounts.add(found, y),
            More::Labels(_) => Ok(()),
        }
    }

    /// Takes labels that were found by scores `[n, classes]`, and those that are right.
    fn add_labels(
        &mut self,
        found: View<'_>,
        scores_nt: View<'_>,
        y: View<'_>,
    ) -> bochner::Result<()> {
        self.add_amounts(found, y)?;
        match &mut self.scored.more {
            More::Labels(labels) => labels.add(found, scores_nt, y),
            More::Amounts(_) => Ok(()),
        }
    }

    /// Takes the probabilities of the same chunk.
    fn add_probabilities(&mut self, p_nt: View<'_>, y: View<'_>) -> bochner::Result<()> {
        self.scored.seen.add_probabilities(p_nt, y);
        if let Some(Held::Sets(sets)) = &mut self.scored.held {
            sets.add(p_nt, y)?;
        }
        match &mut self.scored.more {
            More::Labels(labels) => labels.add_probabilities(p_nt, y),
            More::Amounts(_) => Ok(()),
        }
    }
}

type View<'a> = ArrayView2<'a, f64>;

/// Whether a model gives intervals of [`LEVEL`].
fn has_intervals(model: &LinearModel) -> bool {
    match &model.conformal {
        // What calibration reaches, with a row to spare.
        Some(conformal) => reaches(conformal.rows()),
        None => model.spread.is_some() && matches!(model.targets, Targets::Real { .. }),
    }
}
