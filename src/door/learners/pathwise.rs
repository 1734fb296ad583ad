//! Builder of samples of functions from the posterior of an exact Gaussian process.

use crate::{
    door::learner::{Functions, Learner},
    learn::PathwiseOptions,
};

/// Samples of functions from the posterior of a Gaussian process with the exact kernel of all rows,
/// by Matheron's rule (Wilson, Borovitskiy, Terenin, Mostowsky & Deisenroth 2020, "Efficiently
/// sampling functions from Gaussian process posteriors"). Predictions have one column per function.
///
/// A function is `f(x) = p(x) + k(x, X) (K + r I)^-1 (y - p(X) - e)`, `r = noise / signal`, where
/// `p = sqrt(signal) z(x)'w` is a sample of the prior, on Fourier features of the kernel, and e a
/// sample of the noise. Variances `noise` and `signal` that are not given maximise the log marginal
/// likelihood of the exact process ([`Evidence`](crate::solve::Evidence)).
///
/// Only the prior is approximate; close to the data, functions follow the exact kernel. Samples of
/// the coefficients ([`LinearModel::sample`](crate::models::LinearModel::sample)) are limited by
/// the number of features instead. The mean of the functions is the prediction of
/// [`KernelRidge`](crate::models::KernelRidge) with `lambda = r / n`. The fit stores the kernel
/// matrix of all rows in `8 n^2` bytes (twice that while it optimises variances), and takes `O(n^3
/// + n (n + D) samples)` operations.
///
/// ```
/// use bochner::{features::KernelColumns, models::PosteriorFunctions, prelude::*};
/// let x = ndarray::Array::from_shape_fn((20, 1), |(i, _)| i as f64 / 4.0);
/// let y = x.column(0).mapv(f64::sin);
/// let functions = PosteriorFunctions::on(KernelColumns::new(Gaussian));
/// let functions = functions.bandwidth(Bandwidth::Sigma(1.0)).noise(1e-4).signal(1.0).samples(50);
/// let drawn = functions.fit((&x, &y))?.predict(ndarray::array![[2.5], [50.0]])?;
/// assert_eq!(drawn.dim(), (2, 50));
/// // Away from the data, functions differ.
/// assert!(drawn.row(1).std(0.0) > 10.0 * drawn.row(0).std(0.0));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type PosteriorFunctions = Learner<PathwiseOptions, Functions>;

impl<T> Learner<PathwiseOptions, T> {
    /// Number of functions. Default: 16.
    pub fn samples(mut self, samples: usize) -> Self {
        self.job.learner.samples = samples;
        self
    }

    /// Number of random features of the prior, an even number. Default: 2,000.
    pub fn features(mut self, features: usize) -> Self {
        self.job.learner.features = features;
        self
    }

    /// Variance of the noise, positive. Default: maximises the marginal likelihood.
    pub fn noise(mut self, variance: f64) -> Self {
        self.job.learner.noise = Some(variance);
        self
    }

    /// Variance of the function where k(x, x) = 1, positive. Default: maximises the marginal
    /// likelihood.
    pub fn signal(mut self, variance: f64) -> Self {
        self.job.learner.signal = Some(variance);
        self
    }

    /// Whether to fit an intercept, with a flat prior. Default: true.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }
}
