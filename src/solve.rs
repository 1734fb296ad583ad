//! Solvers: from normal equations, or from products with Z alone, to coefficients.

mod conjugate_gradients;
mod features;
mod ridge;
mod woodbury;

pub use conjugate_gradients::{ConjugateGradients, Solution};
pub use features::{BinnedRows, FeatureProducts, SideBySide, StreamedRows};
pub use ridge::{Cholesky, Coefficients};
pub use woodbury::woodbury;

pub use crate::normal::{COPY_EVERY, NormalEquations, Targets};
