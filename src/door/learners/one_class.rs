//! Builder of the one-class support vector machine.

use crate::{
    door::learner::{Learner, RowsAlone},
    learn::{OneClassOptions, Stopping},
};

/// One-class support vector machine on random features, for novelty detection (Schoelkopf et al.
/// 2001). It predicts 1 for rows like those of the fit, and -1 for novel ones.
///
/// It minimises, over coefficients beta and b,
///
/// ```text
/// |beta|^2 / 2 + b + sum_i w_i max(0, -(z(x_i)'beta + b)) / (nu sum_i w_i)
/// ```
///
/// ```
/// use bochner::prelude::*;
/// use bochner::models::OneClass;
/// let x = ndarray::Array::from_shape_fn((100, 1), |(i, _)| i as f64 / 100.0);
/// let map = Fourier::new(Gaussian).features(64);
/// let model = OneClass::on(map).bandwidth(Bandwidth::Sigma(0.3)).nu(0.1).fit(&x)?;
/// assert_eq!(model.predict(&ndarray::array![[0.25], [2.0]])?, [1, -1]);
/// # Ok::<(), bochner::Error>(())
/// ```
pub type OneClass = Learner<OneClassOptions, RowsAlone>;

impl OneClass {
    /// Approximate share of the rows outside the region, above 0 and at most 1. Default: 0.1.
    pub fn nu(mut self, nu: f64) -> Self {
        self.job.learner.nu = nu;
        self
    }

    /// Stopping rule of the solver. Default: tolerance 1e-3, at most 500 passes.
    pub fn stopping(mut self, stopping: Stopping) -> Self {
        self.job.learner.stopping = stopping;
        self
    }
}
