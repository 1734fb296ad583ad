//! Solvers: from normal equations, or from products with Z alone, to coefficients.

mod conjugate_gradients;
mod features;
mod ridge;
mod woodbury;

pub use conjugate_gradients::{ConjugateGradients, Solution};
pub use features::{BinnedRows, FeatureProducts, SideBySide, StreamedRows};
pub use ridge::{Coefficients, Ridge};
pub use woodbury::woodbury;
