//! What a user fits and keeps: a feature map with coefficients, in one file that predicts anywhere.
//!
//! [`Ridge`] and [`RidgeClassifier`] are the front door: learners on a map, with a default for
//! everything else. What all learners share lies in [`Learner`], and what they give back is a
//! [`Model`]. Below lie [`LinearModel`], which is fitted to a map that is drawn, and its
//! [`Predictor`].

mod any_sums;
mod centred;
mod class_weights;
mod conformal;
mod density;
mod dual;
mod falkon;
mod fit;
mod gaussian_process;
mod growing;
mod ica;
mod intervals;
mod iterative;
mod kernel_ridge;
mod kmeans;
mod labels;
mod lambda;
mod laplace;
mod lasso;
mod learner;
mod leaves;
mod lengthscales;
mod linear;
mod link;
mod logistic;
pub mod metric;
mod minimise;
mod model;
mod one_class;
mod partial;
mod pathwise;
mod pca;
mod plan;
mod probabilities;
mod ranges;
mod renumbered;
mod returning;
mod ridge;
mod scores;
mod search;
mod spectral;
mod stagewise;
mod sums;
mod support_vector;
#[cfg(test)]
mod tests;
mod train;
mod warm;
mod worse;

pub use crate::solve::OwnLoss;
pub use any_sums::{FitAnySums, OneOfSums};
pub use class_weights::{ClassWeights, WithClassWeights};
pub use conformal::Conformal;
pub use density::{Density, DensityOptions, Embedding};
pub use falkon::{Falkon, FalkonClassifier, FalkonOptions};
pub use fit::{Fit, FitData, FitRows, Usual};
pub use gaussian_process::{GaussianProcess, GaussianProcessOptions, RowWeights};
pub use growing::{FitSums, Growing, Known, Summed};
pub use ica::{KernelIca, KernelIcaOptions};
pub use intervals::{IntervalPredictor, Intervals};
pub use kernel_ridge::{KernelRidge, KernelRidgeClassifier, KernelRidgeOptions};
pub use kmeans::{GrowingClusters, KMeans, KMeansOptions};
pub use labels::{FromLabel, IsLabel, Label, ToLabels};
pub use lambda::{HeldOut, Lambda, LambdaCurve, LambdaPoint};
pub use lasso::{Lasso, LassoClassifier, LassoOptions};
pub use learner::{Features, Functions, Labels, Learner, Numbers, OfRows, RowsAlone};
pub use leaves::Leaves;
pub use lengthscales::{FoundLengthscales, Lengthscales};
pub use linear::{LinearModel, Predictor};
pub use link::Link;
pub use logistic::{LogisticOptions, LogisticRegression};
pub use minimise::Stopping;
pub use model::{FittedFeatures, LoadedModel, Model, Predicted};
pub use one_class::{OneClass, OneClassOptions};
pub use partial::{Basis, Partial};
pub use pathwise::{PathwiseOptions, PosteriorFunctions};
pub use pca::{Components, KernelPca, KernelPcaOptions, PcaSolver, Principal};
pub use plan::MemoryPlan;
pub use probabilities::{Probabilities, ProbabilityPredictor, WithProbabilities};
pub use ranges::{Range, Ranges};
pub use ridge::{FitOptions, FitTimes, Ridge, RidgeClassifier, RidgeOptions, RidgeSums, Solver};
pub use scores::{
    AmountScore, AmountScores, ClassScore, LabelScores, QuantileScore, Score, Scores,
};
use search::Plan;
pub use search::{Budget, Enough, Found, Search, SearchData, Size, Trial};
pub use spectral::{
    SpectralClustering, SpectralClusteringOptions, SpectralEmbedding, SpectralEmbeddingOptions,
};
pub use stagewise::{
    BoostingClassifier, BoostingOptions, BoostingRegressor, GreedyClassifier, GreedyOptions,
    GreedyRegressor, HeldOutSums,
};
pub use sums::{AnySums, Sums};
pub use support_vector::{
    MarginLoss, ResidualLoss, ResidualOptions, SupportVectorClassifier, SupportVectorOptions,
    SupportVectorRegressor,
};
pub use train::{LabelledData, RowData, TrainingData};
