//! Solvers: from normal equations, or from products with Z alone, to coefficients.

mod admm;
mod ascent;
mod centred;
mod centred_left_out;
mod cholesky;
mod conjugate_gradients;
mod coordinates;
mod curvature;
mod dual;
pub(crate) mod falkon;
mod feature_evidence;
mod features;
mod folds;
mod intercept;
mod kernel_left_out;
mod kernel_ridge;
mod laplace;
mod least_norm;
mod leave_one_out;
mod left_out;
mod looked_at;
pub(crate) mod loss;
pub(crate) mod own_loss;
mod path;
mod posterior;
pub(crate) mod preconditioner;
mod proximal;
mod quasi_newton;
pub(crate) mod risk;
mod sketch;
mod stagewise;
#[cfg(test)]
mod tests;
mod together;

pub(crate) use admm::Admm;
pub(crate) use ascent::Ascent;
pub(crate) use centred::Centred;
pub(crate) use centred_left_out::CentredLeftOut;
pub use cholesky::Cholesky;
pub use conjugate_gradients::{ConjugateGradients, Preconditioning, Solution};
pub(crate) use coordinates::{Quadratic, Separable};
#[doc(hidden)]
pub use dual::Dual;
pub(crate) use dual::{LeftOutFolds, WeightedRows};
pub(crate) use feature_evidence::FeatureEvidence;
#[doc(hidden)]
pub use features::{Between, BinnedRows, FeatureProducts, SideBySide, StreamedRows, TakeBlock};
pub(crate) use features::{Block, Ends, binned_kernel, binned_sums, dense_kernel};
#[doc(hidden)]
pub use folds::FoldSums;
pub use intercept::Intercept;
pub(crate) use kernel_left_out::kernel_left_out;
#[doc(hidden)]
pub use kernel_ridge::{KernelSolution, kernel_ridge, weighted_kernel_ridge};
pub(crate) use laplace::{ClassHessian, contrasts};
#[doc(hidden)]
pub use laplace::{ClassLaplace, Laplace};
pub use least_norm::LeastNorm;
pub(crate) use left_out::{LeftOut, descend};
pub(crate) use looked_at::LookedAt;
#[doc(hidden)]
pub use own_loss::OwnLoss;
pub use path::LambdaPath;
pub use posterior::{Evidence, KnownVariances, Posterior, Variances};
pub(crate) use proximal::Accelerated;
pub(crate) use quasi_newton::{QuasiNewton, Reached};
#[doc(hidden)]
pub use stagewise::{Boosting, Greedy, Stagewise};

pub use crate::normal::NormalEquations;
#[doc(hidden)]
pub use crate::normal::{ADD_EVERY, COPY_EVERY};
