//! What a user fits and keeps: a feature map with coefficients, in one file that predicts anywhere.
//!
//! [`Ridge`] and [`RidgeClassifier`] are the front door: learners on a map, with a default for
//! everything else. What all learners share lies in [`Learner`], and what they give back is a
//! [`Model`]. Below lie [`LinearModel`], which is fitted to a map that is drawn, and its
//! [`Predictor`].

// The builders of Rust, which stand above `job`: of the public face alone, and no room below
// takes one.
pub use crate::door::*;

mod choose;
mod fit;
mod kernel;
mod losses;
mod memory_plan;
mod predict;
mod squares;
mod sums;
#[cfg(test)]
mod tests;
mod unlabelled;

pub use crate::solve::OwnLoss;
pub use choose::leaves::Leaves;
pub use choose::metric;
use choose::search::Plan;
pub use choose::search::{Budget, Enough, Found, Search, SearchData, Size, Trial};
pub use fit::any_sums::FitAnySums;
pub use fit::class_weights::{ClassWeights, WithClassWeights};
pub use fit::fit_sums::FitSums;
pub use fit::lambda::Lambda;
pub use fit::partial::{Basis, Partial};
pub use fit::penalised::FitPenalised;
pub use fit::with_probabilities::WithProbabilities;
pub use fit::{Fit, FitData, FitRows, Usual};
pub use kernel::falkon::FalkonOptions;
pub use kernel::gaussian_process::{GaussianProcessOptions, Lengthscales, RowWeights};
pub use kernel::kernel_ridge::KernelRidgeOptions;
pub use kernel::pathwise::PathwiseOptions;
pub use losses::logistic::LogisticOptions;
pub use losses::minimise::Stopping;
pub use losses::residual::{ResidualLoss, ResidualOptions};
pub use losses::support_vector::{MarginLoss, SupportVectorOptions};
pub use memory_plan::MemoryPlan;
pub(crate) use predict::bring_back::bring_back;
pub use predict::conformal::Conformal;
pub use predict::fit_times::FitTimes;
pub use predict::found_lengthscales::FoundLengthscales;
pub use predict::intervals::{IntervalPredictor, Intervals};
pub use predict::labels::{FromLabel, IsLabel, Label, ToLabels};
pub use predict::lambda_curve::{HeldOut, LambdaCurve, LambdaPoint};
pub use predict::linear::{LinearModel, Predictor};
pub use predict::link::Link;
pub use predict::model::{LoadedModel, Model, Predicted};
pub use predict::principal::Principal;
pub use predict::probabilities::{Probabilities, ProbabilityPredictor};
pub use predict::ranges::{Range, Ranges};
pub use predict::scores::{
    AmountScore, AmountScores, ClassScore, LabelScores, QuantileScore, Score, Scores,
};
pub use squares::lasso::LassoOptions;
pub use squares::ridge::{FitOptions, RidgeOptions, Solver};
pub use squares::stagewise::{BoostingOptions, GreedyOptions};
pub use sums::Sums;
pub use sums::any_sums::{AnySums, OneOfSums};
pub use sums::embedding::Embedding;
pub use sums::held_out::HeldOutSums;
pub use sums::ridge::RidgeSums;
pub use sums::summed::{Known, Summed};
pub use unlabelled::density::DensityOptions;
pub use unlabelled::ica::KernelIcaOptions;
pub use unlabelled::kmeans::{GrowingClusters, KMeansOptions};
pub use unlabelled::one_class::OneClassOptions;
pub use unlabelled::pca::{Components, KernelPcaOptions, PcaSolver};
pub use unlabelled::spectral::{SpectralClusteringOptions, SpectralEmbeddingOptions};
