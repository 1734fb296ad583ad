//! Builder of each learner: its objective, and a method for each option.

mod automatic;
mod density;
mod falkon;
mod gaussian_process;
mod ica;
mod kernel_ridge;
mod kmeans;
mod lasso;
mod logistic;
mod one_class;
mod pathwise;
mod pca;
mod ridge;
mod spectral;
mod stagewise;
mod support_vector;

pub use density::Density;
pub use falkon::{Falkon, FalkonClassifier};
pub use gaussian_process::GaussianProcess;
pub use ica::KernelIca;
pub use kernel_ridge::{KernelRidge, KernelRidgeClassifier};
pub use kmeans::KMeans;
pub use lasso::{Lasso, LassoClassifier};
pub use logistic::LogisticRegression;
pub use one_class::OneClass;
pub use pathwise::PosteriorFunctions;
pub use pca::KernelPca;
pub use ridge::{Ridge, RidgeClassifier};
pub use spectral::{SpectralClustering, SpectralEmbedding};
pub use stagewise::{BoostingClassifier, BoostingRegressor, GreedyClassifier, GreedyRegressor};
pub use support_vector::{SupportVectorClassifier, SupportVectorRegressor};
