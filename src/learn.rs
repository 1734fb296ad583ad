//! How models are fitted: what every learner does, and each of them, a room a family.

mod choose;
mod fit;
mod kernel;
mod losses;
mod memory_plan;
mod squares;
#[cfg(test)]
mod tests;
mod unlabelled;

pub use choose::leaves::Leaves;
pub use choose::metric;
use choose::search::Plan;
pub use choose::search::{Blend, Budget, Enough, Found, Member, Search, SearchData, Size, Trial};
pub use fit::any_sums::FitAnySums;
pub(crate) use fit::bring_back::bring_back;
pub use fit::class_weights::{ClassWeights, WithClassWeights};
pub use fit::fit_sums::FitSums;
pub use fit::lambda::Lambda;
pub(crate) use fit::left_out::require_groups_left_out;
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
pub use squares::lasso::LassoOptions;
pub use squares::ridge::{FitOptions, RidgeOptions, Solver};
pub use squares::stagewise::{BoostingOptions, GreedyOptions};
pub use unlabelled::density::DensityOptions;
pub use unlabelled::ica::KernelIcaOptions;
pub use unlabelled::kmeans::{GrowingClusters, KMeansOptions};
pub use unlabelled::one_class::OneClassOptions;
pub use unlabelled::pca::{Components, KernelPcaOptions, PcaSolver};
pub use unlabelled::spectral::{SpectralClusteringOptions, SpectralEmbeddingOptions};
