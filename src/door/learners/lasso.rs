//! Builders of the lasso.

use crate::{
    door::learner::{Labels, Learner, Numbers},
    learn::LassoOptions,
};

/// Sparse least squares on random features, for one or several targets: the lasso (Tibshirani
/// 1996), and with `lambda` the elastic net (Zou & Hastie 2005).
///
/// It minimises, for each target,
///
/// ```text
/// sum_i w_i (y_i - z(x_i)'beta - b)^2 / (2 sum_i w_i) + l1 |beta|_1 + lambda/2 |beta|^2
/// ```
///
/// by coordinate descent on the normal equations, which one pass over the rows sums.
/// [`Learner::start`] keeps the sums, so that rows can be added.
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

/// Sparse classification: for each class a [`Lasso`] whose targets are 1 for rows of the class and
/// -1 for others. It predicts the class with the largest value.
pub type LassoClassifier = Learner<LassoOptions, Labels>;

impl<T> Learner<LassoOptions, T> {
    /// Penalty of the absolute values of the coefficients, positive. Default: selected on a path of
    /// decreasing penalties by generalised cross-validation.
    pub fn l1(mut self, l1: f64) -> Self {
        self.job.learner.l1 = Some(l1);
        self
    }

    /// Penalty lambda of the squared coefficients, per sample, 0 or positive. Default: 0.
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.job.learner.lambda = lambda;
        self
    }

    /// Whether to fit an intercept, which is not penalised. Default: true.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }

    /// Tolerance of coordinate descent: it stops when a sweep changes no partial derivative by more
    /// than this share of the largest one at zero coefficients. Default: 1e-6.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.job.learner.tolerance = tolerance;
        self
    }

    /// Maximum number of sweeps over the coefficients. Default: 100,000.
    pub fn max_sweeps(mut self, sweeps: usize) -> Self {
        self.job.learner.max_sweeps = sweeps;
        self
    }
}
