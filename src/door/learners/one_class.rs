//! The builder of novelty detection.

use crate::{
    door::learner::{Learner, RowsAlone},
    learn::{OneClassOptions, Stopping},
};

/// The one-class support vector machine on random features (Schoelkopf et al. 2001): rows like
/// those that it saw are labelled 1, novel ones -1.
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
    /// About the share of rows that are left outside; 0.1 until said otherwise.
    pub fn nu(mut self, nu: f64) -> Self {
        self.job.learner.nu = nu;
        self
    }

    /// When the solver ends.
    pub fn stopping(mut self, stopping: Stopping) -> Self {
        self.job.learner.stopping = stopping;
        self
    }
}
