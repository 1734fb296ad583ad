//! Builders of exact kernel ridge regression.

use crate::{
    door::learner::{Labels, Learner, Numbers},
    learn::{KernelRidgeOptions, Lambda},
};

/// Exact kernel ridge regression, for one or several targets and few rows.
///
/// It minimises, for each target, over `f(x) = sum_i alpha_i k(x, x_i) + b`
///
/// ```text
/// sum_i w_i (y_i - f(x_i))^2 / sum_i w_i + lambda alpha'K alpha
/// ```
///
/// where K is the kernel matrix of the rows and w_i are their weights: a row of weight 2 is
/// equivalent to two rows. It stores K in `8 n^2` bytes and takes `n^3 / 3` operations. If K does
/// not fit into [`memory`](Learner::memory), the fit returns an error. Coefficients are solved for
/// in f64; kernel values in predictions are in f32.
///
/// ```
/// use bochner::{features::KernelColumns, models::KernelRidge, prelude::*};
/// let x = ndarray::Array::from_shape_fn((100, 1), |(i, _)| i as f64 / 20.0);
/// let y = x.column(0).mapv(f64::sin);
/// let model = KernelRidge::on(KernelColumns::new(Gaussian)).lambda(1e-6).fit((&x, &y))?;
/// assert!((model.predict(&x)? - &y).iter().all(|r| r.abs() < 0.01));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type KernelRidge = Learner<KernelRidgeOptions, Numbers>;

/// Exact kernel ridge classification: for each class a [`KernelRidge`] regression whose targets are
/// 1 for rows of the class and -1 for others. It predicts the class with the largest value.
pub type KernelRidgeClassifier = Learner<KernelRidgeOptions, Labels>;

impl<T> Learner<KernelRidgeOptions, T> {
    /// Penalty lambda, per sample, 0 or positive, or [`Lambda`] for its selection. 0 interpolates.
    /// Default: selected by leave-one-out errors.
    pub fn lambda(mut self, lambda: impl Into<Lambda>) -> Self {
        self.job.learner.lambda = lambda.into();
        self
    }

    /// Whether to fit an intercept, which is not penalised. Default: true.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }
}
