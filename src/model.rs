//! Fitted models: a linear model on a map, with links, probabilities, intervals and scores.

pub(crate) mod class_sets;
pub(crate) mod class_spread;
pub(crate) mod coefficients;
pub(crate) mod conformal;
pub(crate) mod fit_times;
pub(crate) mod fitted;
pub(crate) mod found_lengthscales;
pub(crate) mod gradients;
pub(crate) mod intervals;
pub(crate) mod labels;
pub(crate) mod lambda_curve;
pub(crate) mod learned_metric;
pub(crate) mod left_out;
pub(crate) mod linear;
pub(crate) mod link;
pub(crate) mod principal;
pub(crate) mod probabilities;
pub(crate) mod ranges;
pub(crate) mod routed;
#[cfg(feature = "files")]
mod rows_of_files;
pub(crate) mod scores;
pub(crate) mod spread;
pub(crate) mod targets;

pub use class_sets::ClassSets;
pub use class_spread::ClassSpread;
pub use coefficients::Coefficients;
pub use conformal::Conformal;
pub use fit_times::FitTimes;
pub use fitted::{LoadedModel, Model, Predicted};
pub use found_lengthscales::FoundLengthscales;
pub use gradients::Gradients;
pub use intervals::{IntervalPredictor, Intervals};
pub use labels::{FromLabel, IsLabel, Label, ToLabels};
pub use lambda_curve::{HeldOut, LambdaCurve, LambdaPoint};
pub use learned_metric::{LearnedMetric, Metric};
pub use left_out::{CalibratedOn, LeftOutScores};
pub use linear::{LinearModel, Predictor};
pub use link::Link;
pub use principal::Principal;
pub use probabilities::{Probabilities, ProbabilityPredictor};
pub use ranges::{Range, Ranges};
pub use scores::{
    AmountScore, AmountScores, ClassScore, LabelScores, QuantileScore, Score, Scores,
};
pub use spread::Spread;
pub use targets::Targets;
