//! Builders of exact kernel ridge regression.

use crate::{
    door::learner::{Labels, Learner, Numbers},
    learn::{KernelRidgeOptions, Lambda},
};

/// Kernel ridge regression without approximation, of one target or of several: the reference for
/// few rows. It holds the kernel of all rows, `8 n^2` bytes, and takes `n^3 / 3` operations; rows
/// for which that does not fit into [`memory`](Learner::memory) are refused.
///
/// Rows may have weights: one of weight 2 is one that is there twice.
///
/// A prediction is `sum_i alpha_i k(x, x_i) + b`; coefficients are solved for in f64, and kernel
/// values of a prediction are of f32, as everywhere.
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

/// One [`KernelRidge`] regression against +-1 per class; the class of the largest value wins.
pub type KernelRidgeClassifier = Learner<KernelRidgeOptions, Labels>;

impl<T> Learner<KernelRidgeOptions, T> {
    /// The penalty per sample, or how it is chosen: by leave-one-out until said otherwise.
    pub fn lambda(mut self, lambda: impl Into<Lambda>) -> Self {
        self.job.learner.lambda = lambda.into();
        self
    }

    /// Whether an intercept is fitted, which is never penalised; it is, until said otherwise.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }
}
