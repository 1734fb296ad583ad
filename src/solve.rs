//! Solvers: from normal equations to coefficients.

pub(crate) mod cholesky;
mod ridge;
mod woodbury;

pub use ridge::{Coefficients, Ridge};
pub use woodbury::woodbury;
