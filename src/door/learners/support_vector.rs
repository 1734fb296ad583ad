//! Builders of support vector machines.

use crate::{
    door::learner::{Labels, Learner, Numbers},
    learn::{
        ClassWeights, MarginLoss, ResidualLoss, ResidualOptions, Stopping, SupportVectorOptions,
    },
};

/// A linear support vector machine on random features; of more than two classes one against all.
///
/// ```
/// use bochner::prelude::*;
/// use bochner::models::SupportVectorClassifier;
/// let x = ndarray::array![[0.0], [0.1], [2.0], [2.2]];
/// let labels = [1_u8, 1, 7, 7];
/// let map = Fourier::new(Gaussian);
/// let model = SupportVectorClassifier::on(map).lambda(1e-3).fit((&x, labels))?;
/// assert_eq!(model.predict(&x)?, labels);
/// # Ok::<(), bochner::Error>(())
/// ```
pub type SupportVectorClassifier = Learner<SupportVectorOptions, Labels>;

impl Learner<SupportVectorOptions, Labels> {
    /// The loss; the squared hinge until said otherwise.
    pub fn loss(mut self, loss: MarginLoss) -> Self {
        self.job.learner.loss = loss;
        self
    }

    /// The bound of `sqrt(D) |beta_j|`; none until said otherwise.
    pub fn bound(mut self, bound: f64) -> Self {
        self.job.learner.bound = Some(bound);
        self
    }

    /// The penalty of squares; 1e-5 until said otherwise.
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.job.learner.lambda = lambda;
        self
    }

    /// Whether an intercept is fitted; it is, until said otherwise.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }

    /// How much classes count; all the same until said otherwise.
    pub fn class_weights(mut self, weights: ClassWeights) -> Self {
        self.job.learner.class_weights = weights;
        self
    }

    /// When the solver ends; as [`MarginLoss::stopping`] says until said otherwise.
    pub fn stopping(mut self, stopping: Stopping) -> Self {
        self.job.learner.stopping = Some(stopping);
        self
    }
}

/// Regression on random features by a loss of residuals: support vector regression, Huber's, least
/// absolute deviations, quantiles; of one target or of several.
///
/// ```
/// use bochner::prelude::*;
/// use bochner::models::{ResidualLoss, SupportVectorRegressor};
/// use ndarray::Array;
/// let x = Array::from_shape_fn((100, 1), |(i, _)| i as f64 / 20.0);
/// // A wave with a spike that least squares would follow.
/// let spike = |i: usize| if i == 50 { 30.0 } else { 0.0 };
/// let y: Vec<f64> = (0..100).map(|i| x[[i, 0]].sin() + spike(i)).collect();
/// let median = ResidualLoss::Quantile(0.5);
/// let map = Fourier::new(Gaussian).features(64);
/// let model = SupportVectorRegressor::on(map).loss(median).lambda(1e-4).fit((&x, &y))?;
/// assert!((model.predict(&x)?[50] - x[[50, 0]].sin()).abs() < 0.1);
/// # Ok::<(), bochner::Error>(())
/// ```
pub type SupportVectorRegressor = Learner<ResidualOptions, Numbers>;

impl Learner<ResidualOptions, Numbers> {
    /// The loss; `EpsilonInsensitive` at a tenth of the standard deviation of the targets until
    /// said otherwise.
    pub fn loss(mut self, loss: ResidualLoss) -> Self {
        self.job.learner.loss = Some(loss);
        self
    }

    /// The bound of `sqrt(D) |beta_j|`; none until said otherwise.
    pub fn bound(mut self, bound: f64) -> Self {
        self.job.learner.bound = Some(bound);
        self
    }

    /// The penalty of squares; rows held out choose it until it is given.
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.job.learner.lambda = Some(lambda);
        self
    }

    /// Whether an intercept is fitted; it is, until said otherwise.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }

    /// When the solver ends; as [`ResidualLoss::stopping`] says until said otherwise.
    pub fn stopping(mut self, stopping: Stopping) -> Self {
        self.job.learner.stopping = Some(stopping);
        self
    }
}
