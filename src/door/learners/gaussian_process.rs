//! The builder of Gaussian processes.

use crate::{
    door::learner::{Learner, Numbers},
    learn::{GaussianProcessOptions, Lengthscales, RowWeights},
};

/// Gaussian process regression on random features: the mean of ridge regression, with variances,
/// intervals and functions drawn from the posterior. The variances of signal and noise are those of
/// the largest marginal likelihood unless given; no penalty has to be chosen.
///
/// `f = z(x)'beta` with `beta ~ N(0, signal I)` has the covariance `signal z(x)'z(y)`, about
/// `signal k(x, y)`; `y = f + e`, `e ~ N(0, noise)` (Rasmussen & Williams 2006, chapters 2 and 5).
/// One pass over the rows, `O(n D^2 + D^3)` operations, `8 D^2` bytes a matrix.
///
/// A row of weight w has the noise `noise / w`, as scikit-learn's `alpha = noise / w` says it:
/// the mean of w readings, or one that is known that much better. `noise` is that of a row of
/// weight 1, which intervals are for. Weights are positive.
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
/// // Beyond the data nothing is known but the prior.
/// assert!(intervals.width()[[1, 0]] > 3.0 * intervals.width()[[0, 0]]);
/// # Ok::<(), bochner::Error>(())
/// ```
pub type GaussianProcess = Learner<GaussianProcessOptions, Numbers>;

impl<T> Learner<GaussianProcessOptions, T> {
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

    /// Finds one lengthscale, or one for each column, with which the targets are likeliest, near
    /// those of the bandwidth; none until said otherwise.
    ///
    /// The gradient of the marginal likelihood (Rasmussen & Williams 2006, section 5.4.1) goes
    /// through the features: `z(x; l)` takes `x / l`, so that the drawn frequencies stay. It is
    /// taken in f64 on up to 4,000 rows, drawn uniformly by the seed (fewer where `8 (4 D + 3 d)`
    /// bytes a row exceed [`memory`](Self::memory), 256 at least), and on the first 2,000 features.
    /// It begins with the likeliest of seven bandwidths, 1/8 to 8 times the given one. Quasi-Newton
    /// steps change a lengthscale by a factor e at most, and all of them together by a thousand;
    /// they end when two in turn gain less than 0.01. The fit then streams all rows.
    /// [`LinearModel::lengthscales`](crate::models::LinearModel::lengthscales) says what was found.
    ///
    /// Only Fourier maps have frequencies that stay: of any sampling and both forms.
    ///
    /// ```
    /// use bochner::{models::Lengthscales, prelude::*};
    /// use ndarray::Array;
    /// // The second column says nothing of y.
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

    /// What weights of rows say; precisions until said otherwise.
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
