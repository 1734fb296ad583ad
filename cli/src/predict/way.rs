//! What is predicted of rows, and how.

use super::Args;
use crate::{report::Usage, threshold::Threshold};
use anyhow::Result;
use bochner::{
    Run,
    data::ChunkSource,
    models::{IntervalPredictor, Label, LinearModel, Predictor, ProbabilityPredictor, Targets},
};
use ndarray::{Array2, ArrayView2, Axis};

/// What is asked for of each row.
#[derive(Debug, Clone, Copy)]
pub(super) enum What {
    /// Values, or labels.
    Predictions,
    /// The raw outputs of which labels are made, one per class.
    Scores,
    /// Predictions between bounds of this probability.
    Bounds(f64),
    /// The classes that together hold the right one with this probability, 0 or 1 for each.
    Sets(f64),
    /// How far rows are from what the components of kernel PCA span.
    ReconstructionErrors,
}

impl What {
    /// Errors where the model has no such thing.
    pub(super) fn from_args(args: &Args, model: &LinearModel) -> Result<Self> {
        let classes = matches!(model.targets, Targets::Classes(_));
        match (args.interval, args.reconstruction_error, args.scores) {
            (_, _, true) if !classes => {
                let problem = "--scores is for models that predict labels: what this one predicts \
                               are its scores";
                Err(Usage(problem.into()).into())
            }
            (_, _, true) => Ok(Self::Scores),
            (_, true, _) if model.principal.is_none() => {
                let problem = format!(
                    "--reconstruction-error goes with --model pca, and this is a model of {}",
                    model.learner
                );
                Err(Usage(problem).into())
            }
            (_, true, _) => Ok(Self::ReconstructionErrors),
            (Some(level), ..) => Ok(Self::Bounds(level)),
            _ => Ok(args.sets.map_or(Self::Predictions, Self::Sets)),
        }
    }

    /// Whether labels are written.
    pub(super) fn is_labels(self, model: &LinearModel) -> bool {
        matches!(self, Self::Predictions) && matches!(model.targets, Targets::Classes(_))
    }

    /// What the columns are called that it gives.
    pub(super) fn columns(self, model: &LinearModel) -> Vec<String> {
        let targets = match &model.targets {
            Targets::Real { columns, .. } => *columns,
            Targets::Classes(_) => 1,
        };
        let numbered = |names: &[&str]| -> Vec<String> {
            let of = |k| {
                let name = move |name: &&str| match targets {
                    1 => (*name).to_owned(),
                    _ => format!("{name}_{k}"),
                };
                names.iter().map(name)
            };
            (0..targets).flat_map(of).collect()
        };
        match self {
            Self::Predictions => numbered(&["prediction"]),
            Self::Bounds(_) => numbered(&["prediction", "lower", "upper"]),
            Self::ReconstructionErrors => vec!["prediction".into()],
            Self::Scores | Self::Sets(_) => class_names(model),
        }
    }
}

/// What the classes of a model are called.
pub(super) fn class_names(model: &LinearModel) -> Vec<String> {
    let Targets::Classes(classes) = &model.targets else {
        return Vec::new();
    };
    let name = |&class: &f64| match model.label(class) {
        Label::Number(number) => number.to_string(),
        Label::Text(text) => text.to_owned(),
    };
    classes.iter().map(name).collect()
}

/// A model on a device, that gives what is asked for.
pub(super) enum Way<'m> {
    Plain(Predictor<'m>, What),
    Bounds(IntervalPredictor<'m>, f64),
    Probable(
        &'m LinearModel,
        ProbabilityPredictor<'m>,
        What,
        Option<Threshold>,
    ),
    Sets(&'m LinearModel, ProbabilityPredictor<'m>, f64),
    Errors(&'m LinearModel, Run),
}

/// Takes what was found of some rows, and their probabilities if those are asked for.
pub(super) type Sink<'s> =
    dyn FnMut(ArrayView2<'_, f64>, Option<ArrayView2<'_, f64>>) -> bochner::Result<()> + 's;

impl<'m> Way<'m> {
    /// Loads what is needed. Errors where the model has no bounds, sets or probabilities.
    pub(super) fn load(
        model: &'m LinearModel,
        what: What,
        probable: bool,
        threshold: Option<Threshold>,
        run: &Run,
    ) -> bochner::Result<Self> {
        Ok(match what {
            What::Bounds(level) => Self::Bounds(model.intervals_on(run)?, level),
            What::Sets(level) => {
                // Whether there are some of this level is known before a row is read.
                let none = Array2::zeros((0, model.targets.outputs()));
                model.sets_of(&none, level)?;
                Self::Sets(model, model.probabilities_on(run)?, level)
            }
            What::ReconstructionErrors => Self::Errors(model, run.clone()),
            What::Predictions | What::Scores if probable || threshold.is_some() => {
                Self::Probable(model, model.probabilities_on(run)?, what, threshold)
            }
            What::Predictions | What::Scores => Self::Plain(model.on(run)?, what),
        })
    }

    /// Hands each chunk of `source` over, in order; returns the number of rows.
    pub(super) fn stream(
        &mut self,
        source: &mut dyn ChunkSource,
        sink: &mut Sink<'_>,
    ) -> bochner::Result<u64> {
        match self {
            Self::Plain(predictor, What::Scores) => {
                predictor.stream_scores(source, |scores_nt, _| sink(scores_nt, None))
            }
            Self::Plain(predictor, _) => predictor.stream(source, |found, _| sink(found, None)),
            Self::Bounds(predictor, level) => predictor.stream(source, *level, |found, _| {
                let parts = [&found.predicted_nt, &found.lower_nt, &found.upper_nt];
                let (rows, targets) = parts[0].dim();
                // Prediction and bounds of a target beside each other.
                let side_by_side =
                    Array2::from_shape_fn((rows, 3 * targets), |(i, j)| parts[j % 3][[i, j / 3]]);
                sink(side_by_side.view(), None)
            }),
            Self::Probable(model, predictor, what, threshold) => {
                predictor.stream(source, |raw_nt, p_nt, _| match (&*what, &*threshold) {
                    (What::Scores, _) => sink(raw_nt, Some(p_nt)),
                    (_, Some(threshold)) => sink(threshold.decide(p_nt).view(), Some(p_nt)),
                    (_, None) => sink(model.decide(raw_nt.to_owned()).view(), Some(p_nt)),
                })
            }
            Self::Sets(model, predictor, level) => predictor.stream(source, |_, p_nt, _| {
                let sets = model.sets_of(&p_nt.to_owned(), *level)?;
                let sets = sets.mapv(|is_in| f64::from(u8::from(is_in)));
                sink(sets.view(), Some(p_nt))
            }),
            Self::Errors(model, run) => model.reconstruction_errors(source, &*run, |errors| {
                sink(errors.insert_axis(Axis(1)), None)
            }),
        }
    }
}
