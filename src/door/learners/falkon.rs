//! Builders of Falkon.

use crate::{
    door::learner::{Labels, Learner, Numbers},
    learn::{FalkonOptions, Lambda},
};

/// Falkon (Rudi, Carratino & Rosasco 2017): kernel ridge regression on the functions that m
/// landmark rows span, of one target or of several, for any number of rows.
///
/// It minimises `|y - K_nm alpha - b|^2 / n + lambda alpha' K_mm alpha`, as
/// [`Ridge`](crate::models::Ridge) on a [`Nystrom`](crate::features::Nystrom) map does, by
/// conjugate gradients. The kernel of the landmarks alone preconditions them so well that tens of
/// iterations do (135 at lambda 1e-7 on 6,554 rows), and `K_nm` is computed again in each, block by
/// block on the device, and never held. An iteration takes `n m` kernel values and `4 n m t`
/// operations on the host in f64; two matrices of `8 m^2` bytes are held for the factors, so that m
/// is bounded by memory: 10,000 landmarks take 1.6 GB. With few landmarks (1,000 and 2,000 were
/// measured) a ridge regression on a Nystrom map is one pass over the rows, faster and as good; its
/// sums of `n m^2` operations are what this saves.
///
/// ```
/// use bochner::{features::KernelColumns, models::Falkon, prelude::*};
/// let x = ndarray::Array::from_shape_fn((300, 1), |(i, _)| i as f64 / 60.0);
/// let y = x.column(0).mapv(f64::sin);
/// let map = KernelColumns::new(Gaussian).landmarks(40);
/// let model = Falkon::on(map).fit((&x, &y))?;
/// assert!((model.predict(&x)? - &y).iter().all(|r| r.abs() < 0.01));
/// assert!(model.linear().facts["iterations"] < 30.0);
/// # Ok::<(), bochner::Error>(())
/// ```
pub type Falkon = Learner<FalkonOptions, Numbers>;

/// One [`Falkon`] regression against +-1 per class; the class of the largest value wins.
pub type FalkonClassifier = Learner<FalkonOptions, Labels>;

impl<T> Learner<FalkonOptions, T> {
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

    /// The relative residual at which iterations end; 1e-5 until said otherwise.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.job.learner.tolerance = tolerance;
        self
    }

    /// Most iterations; 500 until said otherwise.
    pub fn max_iterations(mut self, iterations: usize) -> Self {
        self.job.learner.max_iterations = iterations;
        self
    }
}
