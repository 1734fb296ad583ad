//! Solvers: from normal equations to coefficients.

mod ridge;

pub use ridge::{Coefficients, Ridge};
