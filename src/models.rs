//! What a user fits and keeps: a feature map with coefficients, in one file that predicts anywhere.
//!
//! [`Ridge`] and [`RidgeClassifier`] are the front door: learners on a map, with a default for
//! everything else. What all learners share lies in [`Learner`], and what they give back is a
//! [`Model`]. Below lie [`LinearModel`], which is fitted to a map that is drawn, and its
//! [`Predictor`].

mod choose;
mod door;
mod fit;
mod kernel;
mod losses;
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
pub use door::labels::{FromLabel, IsLabel, Label, ToLabels};
pub use door::learner::{Features, Functions, Labels, Learner, Numbers, OfRows, RowsAlone};
pub use door::model::{FittedFeatures, LoadedModel, Model, Predicted};
pub use door::train::{LabelledData, RowData, TrainingData};
pub use fit::class_weights::{ClassWeights, WithClassWeights};
pub use fit::plan::MemoryPlan;
pub use fit::{Fit, FitData, FitRows, Usual};
pub use kernel::falkon::{Falkon, FalkonClassifier, FalkonOptions};
pub use kernel::gaussian_process::{GaussianProcess, GaussianProcessOptions, RowWeights};
pub use kernel::kernel_ridge::{KernelRidge, KernelRidgeClassifier, KernelRidgeOptions};
pub use kernel::lengthscales::{FoundLengthscales, Lengthscales};
pub use kernel::pathwise::{PathwiseOptions, PosteriorFunctions};
pub use losses::logistic::{LogisticOptions, LogisticRegression};
pub use losses::minimise::Stopping;
pub use losses::support_vector::{
    MarginLoss, ResidualLoss, ResidualOptions, SupportVectorClassifier, SupportVectorOptions,
    SupportVectorRegressor,
};
pub use predict::conformal::Conformal;
pub use predict::intervals::{IntervalPredictor, Intervals};
pub use predict::linear::{LinearModel, Predictor};
pub use predict::link::Link;
pub use predict::probabilities::{Probabilities, ProbabilityPredictor, WithProbabilities};
pub use predict::ranges::{Range, Ranges};
pub use predict::scores::{
    AmountScore, AmountScores, ClassScore, LabelScores, QuantileScore, Score, Scores,
};
pub use squares::lambda::{HeldOut, Lambda, LambdaCurve, LambdaPoint};
pub use squares::lasso::{Lasso, LassoClassifier, LassoOptions};
pub use squares::ridge::{
    FitOptions, FitTimes, Ridge, RidgeClassifier, RidgeOptions, RidgeSums, Solver,
};
pub use squares::stagewise::{
    BoostingClassifier, BoostingOptions, BoostingRegressor, GreedyClassifier, GreedyOptions,
    GreedyRegressor, HeldOutSums,
};
pub use sums::any_sums::{FitAnySums, OneOfSums};
pub use sums::growing::{FitSums, Growing, Known, Summed};
pub use sums::partial::{Basis, Partial};
pub use sums::{AnySums, Sums};
pub use unlabelled::density::{Density, DensityOptions, Embedding};
pub use unlabelled::ica::{KernelIca, KernelIcaOptions};
pub use unlabelled::kmeans::{GrowingClusters, KMeans, KMeansOptions};
pub use unlabelled::one_class::{OneClass, OneClassOptions};
pub use unlabelled::pca::{Components, KernelPca, KernelPcaOptions, PcaSolver, Principal};
pub use unlabelled::spectral::{
    SpectralClustering, SpectralClusteringOptions, SpectralEmbedding, SpectralEmbeddingOptions,
};
