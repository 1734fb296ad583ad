//! Builders of Falkon.

use crate::{
    door::learner::{Labels, Learner, Numbers},
    learn::{FalkonOptions, Lambda},
};

/// Falkon (Rudi, Carratino & Rosasco 2017): kernel ridge regression with m landmarks, for one or
/// several targets and any number of rows.
///
/// It minimises, for each target, over `f(x) = sum_j alpha_j k(x, u_j) + b` with landmarks u_j
///
/// ```text
/// sum_i w_i (y_i - f(x_i))^2 / sum_i w_i + lambda alpha'K_mm alpha
/// ```
///
/// where K_mm is the kernel matrix of the landmarks and w_i are the weights of the rows. This is
/// the objective of [`Ridge`](crate::models::Ridge) on a [`Nystrom`](crate::features::Nystrom) map.
///
/// The solver is conjugate gradients, preconditioned by K_mm. Tens of iterations are enough (135 at
/// lambda 1e-7 on 6,554 rows). `K_nm` is not stored: each iteration computes it again, block by
/// block on the device, with `n m` kernel values and `4 n m t` operations on the host in f64 for t
/// targets. Two matrices of `8 m^2` bytes are stored for the factors: 10,000 landmarks take 1.6 GB.
/// With few landmarks (1,000 and 2,000 were measured), ridge regression on a Nystrom map takes one
/// pass over the rows, is faster and equally accurate; Falkon saves its sums of `n m^2` operations.
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

/// Falkon classification: for each class a [`Falkon`] regression whose targets are 1 for rows of
/// the class and -1 for others. It predicts the class with the largest value.
pub type FalkonClassifier = Learner<FalkonOptions, Labels>;

impl<T> Learner<FalkonOptions, T> {
    /// Penalty lambda, per sample, positive, or [`Lambda`] for its selection. Default: selected by
    /// leave-one-out errors of some rows with the exact kernel.
    pub fn lambda(mut self, lambda: impl Into<Lambda>) -> Self {
        self.job.learner.lambda = lambda.into();
        self
    }

    /// Whether to fit an intercept, which is not penalised. Default: true.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }

    /// Relative residual at which the iteration stops. Default: 1e-5.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.job.learner.tolerance = tolerance;
        self
    }

    /// Maximum number of iterations, each of which is a pass over the rows. Default: 500.
    pub fn max_iterations(mut self, iterations: usize) -> Self {
        self.job.learner.max_iterations = iterations;
        self
    }
}
