//! Coefficients of features.

use ndarray::{Array1, Array2};

/// A linear model on features.
#[derive(Debug, Clone, PartialEq)]
pub struct Coefficients {
    /// `[D, t]`.
    pub beta_dt: Array2<f64>,
    /// `[t]`; zero without an intercept.
    pub intercept_t: Array1<f64>,
}
