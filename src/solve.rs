//! Solvers: from normal equations to coefficients.

pub(crate) mod cholesky;
mod ridge;

pub use ridge::{Coefficients, Ridge};
