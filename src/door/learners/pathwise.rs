//! The builder of functions drawn from a posterior.

use crate::{
    door::learner::{Functions, Learner},
    learn::PathwiseOptions,
};

/// Functions drawn from the posterior of a Gaussian process with the kernel of all rows, a column
/// of predictions each (Wilson, Borovitskiy, Terenin, Mostowsky & Deisenroth 2020, "Efficiently
/// sampling functions from Gaussian process posteriors"):
/// `f(x) = p(x) + k(x, X) (K + r I)^-1 (y - p(X) - e)`, `r = noise / signal`, where
/// `p = sqrt(signal) z(x)'w` is drawn from the prior, on Fourier features of the kernel, and e from
/// the noise.
///
/// Only the prior is approximate: near the data the kernel itself decides, where draws in the space
/// of features ([`LinearModel::sample`](crate::models::LinearModel::sample)) have no more to vary
/// than the features have. The mean of the functions is that of
/// [`KernelRidge`](crate::models::KernelRidge) at `lambda = r / n`. Variances that are not given
/// are those of the largest marginal likelihood of the exact process, as
/// [`Evidence`](crate::solve::Evidence) finds them. It holds the kernel of all rows, `8 n^2` bytes
/// (twice while it looks for variances), and takes `O(n^3 + n (n + D) samples)` operations.
///
/// ```
/// use bochner::{features::KernelColumns, models::PosteriorFunctions, prelude::*};
/// let x = ndarray::Array::from_shape_fn((20, 1), |(i, _)| i as f64 / 4.0);
/// let y = x.column(0).mapv(f64::sin);
/// let functions = PosteriorFunctions::on(KernelColumns::new(Gaussian));
/// let functions = functions.bandwidth(Bandwidth::Sigma(1.0)).noise(1e-4).signal(1.0).samples(50);
/// let drawn = functions.fit((&x, &y))?.predict(ndarray::array![[2.5], [50.0]])?;
/// assert_eq!(drawn.dim(), (2, 50));
/// // Beyond the data they go their own ways.
/// assert!(drawn.row(1).std(0.0) > 10.0 * drawn.row(0).std(0.0));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type PosteriorFunctions = Learner<PathwiseOptions, Functions>;

impl<T> Learner<PathwiseOptions, T> {
    /// How many functions are drawn; 16 until said otherwise.
    pub fn samples(mut self, samples: usize) -> Self {
        self.job.learner.samples = samples;
        self
    }

    /// Features of the prior, an even number; 2,000 until said otherwise.
    pub fn features(mut self, features: usize) -> Self {
        self.job.learner.features = features;
        self
    }

    /// The variance of the noise, instead of the likeliest.
    pub fn noise(mut self, variance: f64) -> Self {
        self.job.learner.noise = Some(variance);
        self
    }

    /// The variance of f where k(x, x) = 1, instead of the likeliest.
    pub fn signal(mut self, variance: f64) -> Self {
        self.job.learner.signal = Some(variance);
        self
    }

    /// Whether there is an intercept, with a flat prior; there is, until said otherwise.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }
}
