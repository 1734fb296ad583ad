//! Builder of Gaussian process regression.

use crate::{
    door::learner::{Learner, Numbers},
    learn::{GaussianProcessOptions, Lengthscales, RowWeights},
};

/// Gaussian process regression on random features, with variances, intervals and samples of
/// functions from the posterior.
///
/// The model is `y = z(x)'beta + b + e` with prior `beta ~ N(0, signal I)` and noise
/// `e ~ N(0, noise)`, so that the function has the covariance `signal z(x)'z(y)`, close to
/// `signal k(x, y)` (Rasmussen & Williams 2006, chapters 2 and 5). The fit maximises the log
/// marginal likelihood of the targets over the variances `signal` and `noise` that are not given.
/// The posterior mean is the solution of [`Ridge`](crate::models::Ridge) with
/// `lambda = noise / (signal sum_i w_i)`. It takes one pass over the rows, `O(n D^2 + D^3)`
/// operations, and `8 D^2` bytes per matrix.
///
/// By default a row of weight w has the noise variance `noise / w`, such as the mean of w
/// measurements; this is `alpha = noise / w` in scikit-learn ([`RowWeights`] has the alternative).
/// `noise` and intervals refer to a row of weight 1. Weights must be positive.
///
/// ```
/// use bochner::prelude::*;
/// use ndarray::Array;
/// let x = Array::from_shape_fn((200, 1), |(i, _)| i as f64 / 20.0);
/// let wobble = |i: usize| ((i * 37) % 11) as f64 / 50.0 - 0.1;
/// let y = Array::from_shape_fn(200, |i| x[[i, 0]].sin() + wobble(i));
///
/// let map = Fourier::new(Gaussian).features(100);
/// let model = GaussianProcess::on(map).bandwidth(Bandwidth::Sigma(1.5)).fit((&x, &y))?;
/// let ahead = ndarray::array![[5.0], [25.0]];
/// let intervals = model.intervals(&ahead, 0.95)?;
/// // Away from the data, the posterior is close to the prior.
/// assert!(intervals.width()[[1, 0]] > 3.0 * intervals.width()[[0, 0]]);
/// # Ok::<(), bochner::Error>(())
/// ```
pub type GaussianProcess = Learner<GaussianProcessOptions, Numbers>;

impl<T> Learner<GaussianProcessOptions, T> {
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

    /// Optimises one lengthscale, or one for each column, from those of the bandwidth. Default:
    /// none.
    ///
    /// The optimisation follows the gradient of the marginal likelihood (Rasmussen & Williams 2006,
    /// section 5.4.1), with the drawn frequencies fixed: `z(x; l)` is a function of `x / l`. It
    /// uses up to 4,000 rows, drawn uniformly by the seed (fewer, but at least 256, if `8 (4 D + 3
    /// d)` bytes per row exceed [`memory`](Self::memory)), and the first 2,000 features, in f64. It
    /// starts at the best of seven bandwidths between 1/8 and 8 times the given one. A quasi-Newton
    /// step changes a lengthscale at most by a factor e, and all steps together at most by a factor
    /// of 1000. The iteration stops when two consecutive steps gain less than 0.01. Then all rows
    /// are fitted. [`LinearModel::lengthscales`](crate::models::LinearModel::lengthscales) has the
    /// result.
    ///
    /// It requires a Fourier map, of any sampling and form.
    ///
    /// ```
    /// use bochner::{models::Lengthscales, prelude::*};
    /// use ndarray::Array;
    /// // The second column does not affect y.
    /// let x = Array::from_shape_fn((150, 2), |(i, j)| ((i * (7 + 12 * j)) % 31) as f64 / 5.0);
    /// let wobble = |i: usize| ((i * 37) % 11) as f64 / 50.0 - 0.1;
    /// let y = Array::from_shape_fn(150, |i| x[[i, 0]].sin() + wobble(i));
    ///
    /// let process = GaussianProcess::on(Fourier::new(Gaussian).features(100));
    /// let model = process.lengthscales(Lengthscales::PerColumn).fit((&x, &y))?;
    /// let found = model.linear().lengthscales.as_ref().expect("found");
    /// assert!(found.after >= found.before);
    /// println!("most relevant first: {:?}", found.ranking());
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn lengthscales(mut self, lengthscales: Lengthscales) -> Self {
        self.job.learner.lengthscales = lengthscales;
        self
    }

    /// Meaning of the weights of rows. Default: [`RowWeights::Precisions`].
    ///
    /// ```
    /// use bochner::{models::RowWeights, prelude::*};
    /// use ndarray::{Array, Array1, Axis, concatenate};
    /// let x = Array::from_shape_fn((60, 1), |(i, _)| i as f64 / 10.0);
    /// let y = Array::from_shape_fn(60, |i| (i as f64 / 10.0).sin() + (i * 37 % 11) as f64 / 50.0);
    /// let process = GaussianProcess::on(Fourier::new(Gaussian).features(50))
    ///     .bandwidth(Bandwidth::Sigma(1.5))
    ///     .weights(RowWeights::Counts);
    /// let model = process.fit((&x, &y, &Array1::from_elem(60, 2.0)))?;
    /// let twice = (concatenate![Axis(0), x, x], concatenate![Axis(0), y, y]);
    /// let repeated = process.fit((&twice.0, &twice.1))?;
    /// let [a, b] = [&model, &repeated].map(|m| m.linear().facts["noise_deviation"]);
    /// assert!((a / b - 1.0).abs() < 1e-3);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn weights(mut self, weights: RowWeights) -> Self {
        self.job.learner.weights = weights;
        self
    }
}
