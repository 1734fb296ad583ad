//! Builders of the lasso.

use crate::{
    door::learner::{Labels, Learner, Numbers},
    learn::LassoOptions,
};

/// Sparse least squares on random features, of one target or of several: the lasso (Tibshirani
/// 1996), and with `lambda` beside it the elastic net (Zou & Hastie 2005). One pass over the rows;
/// coordinate descent on the sums finds the rest, and [`Learner::start`] keeps them.
///
/// ```
/// use bochner::prelude::*;
/// use bochner::models::Lasso;
/// let x = ndarray::Array::from_shape_fn((200, 1), |(i, _)| i as f64 / 40.0);
/// let y = x.column(0).mapv(f64::sin);
/// let model = Lasso::on(Fourier::new(Gaussian).features(200)).l1(1e-3).fit((&x, &y))?;
/// let used = model.linear().facts["nonzero_coefficients"];
/// assert!(used < 100.0 && (model.predict(&x)? - &y).iter().all(|r| r.abs() < 0.1));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type Lasso = Learner<LassoOptions, Numbers>;

/// One [`Lasso`] against +-1 per class; the class of the largest value wins.
pub type LassoClassifier = Learner<LassoOptions, Labels>;

impl<T> Learner<LassoOptions, T> {
    /// The penalty of absolute values; the best of a path until said otherwise.
    pub fn l1(mut self, l1: f64) -> Self {
        self.job.learner.l1 = Some(l1);
        self
    }

    /// The penalty of squares; 0 until said otherwise.
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.job.learner.lambda = lambda;
        self
    }

    /// Whether an intercept is fitted; it is, until said otherwise.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }

    /// The change of slopes at which sweeps end, as a share of the first; 1e-6 until said
    /// otherwise.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.job.learner.tolerance = tolerance;
        self
    }

    /// Most sweeps over the coefficients; 100,000 until said otherwise.
    pub fn max_sweeps(mut self, sweeps: usize) -> Self {
        self.job.learner.max_sweeps = sweeps;
        self
    }
}
