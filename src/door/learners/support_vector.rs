//! Builders of support vector machines.

use crate::{
    door::learner::{Labels, Learner, Numbers},
    learn::{
        ClassWeights, MarginLoss, ResidualLoss, ResidualOptions, Stopping, SupportVectorOptions,
    },
};

/// Support vector classification on random features; one-vs-rest for more than two classes.
///
/// It minimises, for each class with y_i = 1 for its rows and -1 for others,
///
/// ```text
/// sum_i w_i loss(y_i (z(x_i)'beta + b)) / sum_i w_i + lambda/2 |beta|^2
/// ```
///
/// with a loss of [`MarginLoss`]. The intercept b is not penalised.
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
    /// Loss function. Default: [`MarginLoss::SquaredHinge`].
    pub fn loss(mut self, loss: MarginLoss) -> Self {
        self.job.learner.loss = loss;
        self
    }

    /// Upper bound of `sqrt(D) |beta_j|` for each coefficient, positive. Default: none.
    pub fn bound(mut self, bound: f64) -> Self {
        self.job.learner.bound = Some(bound);
        self
    }

    /// Penalty lambda of the squared coefficients, per sample: positive, or 0 with `bound`.
    /// Default: 1e-5.
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.job.learner.lambda = lambda;
        self
    }

    /// Whether to fit an intercept, which is not penalised. Default: true.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }

    /// Weights of the classes. Default: equal.
    pub fn class_weights(mut self, weights: ClassWeights) -> Self {
        self.job.learner.class_weights = weights;
        self
    }

    /// Stopping rule of the solver. Default: tolerance 1e-4 for the squared hinge and 1e-3 for
    /// other losses, at most 1000 passes.
    pub fn stopping(mut self, stopping: Stopping) -> Self {
        self.job.learner.stopping = Some(stopping);
        self
    }
}

/// Regression on random features with a loss of residuals: support vector regression, Huber's loss,
/// least absolute deviations, or quantile regression; for one or several targets.
///
/// It minimises, for each target,
///
/// ```text
/// sum_i w_i loss(z(x_i)'beta + b - y_i) / sum_i w_i + lambda/2 |beta|^2
/// ```
///
/// with a loss of [`ResidualLoss`]. The intercept b is not penalised.
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
    /// Loss function. Default: [`ResidualLoss::EpsilonInsensitive`] with a tenth of the standard
    /// deviation of the targets.
    pub fn loss(mut self, loss: ResidualLoss) -> Self {
        self.job.learner.loss = Some(loss);
        self
    }

    /// Upper bound of `sqrt(D) |beta_j|` for each coefficient, positive. Default: none.
    pub fn bound(mut self, bound: f64) -> Self {
        self.job.learner.bound = Some(bound);
        self
    }

    /// Penalty lambda of the squared coefficients, per sample: positive, or 0 with `bound`.
    /// Default: selected on a hold-out set.
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.job.learner.lambda = Some(lambda);
        self
    }

    /// Whether to fit an intercept, which is not penalised. Default: true.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }

    /// Stopping rule of the solver. Default: tolerance 1e-4 for smooth losses and 1e-3 for others,
    /// at most 1000 passes.
    pub fn stopping(mut self, stopping: Stopping) -> Self {
        self.job.learner.stopping = Some(stopping);
        self
    }
}
