//! Builders of greedy fits and boosting.

use crate::{
    door::learner::{Labels, Learner, Numbers},
    learn::{BoostingOptions, GreedyOptions},
};

/// Greedy regression (Jones 1992; Barron 1993): selects a few features of the map, one at each
/// step.
///
/// Step t updates the function `f_t = (1 - a) f_{t-1} + a c z_j`. It chooses the feature z_j, the
/// step a and the amplitude c that minimise the sum of squared residuals
///
/// ```text
/// sum_i w_i (y_i - f_t(x_i))^2
/// ```
///
/// without a penalty. A hold-out set selects the number of steps, with which all rows are then
/// fitted.
///
/// ```
/// use bochner::{models::GreedyRegressor, prelude::*};
/// let x = ndarray::Array::from_shape_fn((300, 1), |(i, _)| i as f64 / 60.0);
/// let y = x.column(0).mapv(f64::sin);
/// let pool = Fourier::new(Gaussian).features(400);
/// let model = GreedyRegressor::on(pool).steps(40).fit((&x, &y))?;
/// assert!(model.linear().facts["nonzero_features"] <= 40.0);
/// assert!((model.predict(&x)? - &y).iter().all(|r| r.abs() < 0.1));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type GreedyRegressor = Learner<GreedyOptions, Numbers>;

/// Greedy classification: a [`GreedyRegressor`] with one target per class, which is 1 for rows of
/// the class and -1 for others. Classes share the features. It predicts the class with the largest
/// value.
pub type GreedyClassifier = Learner<GreedyOptions, Labels>;

impl<T> Learner<GreedyOptions, T> {
    /// Maximum number of steps. Default: 200.
    pub fn steps(mut self, steps: usize) -> Self {
        self.job.learner.steps = steps;
        self
    }

    /// Share of the rows in the hold-out set, at least 0 and below 1; 0 for no early stopping.
    /// Default: 0.2.
    pub fn held_out(mut self, share: f64) -> Self {
        self.job.learner.held_out = share;
        self
    }

    /// Whether to fit an intercept. Default: true.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }
}

/// L2 boosting with blocks of random features as weak learners (Friedman 2001; Buhlmann & Yu 2003).
///
/// At each stage a ridge regression of the residuals r on every block z_B of the features minimises
///
/// ```text
/// sum_i w_i (r_i - z_B(x_i)'beta)^2 / sum_i w_i + lambda |beta|^2
/// ```
///
/// The block with the smallest minimum is chosen, and `shrinkage` times its fit is added. A
/// hold-out set selects the number of stages, with which all rows are then fitted.
///
/// ```
/// use bochner::{models::BoostingRegressor, prelude::*};
/// let x = ndarray::Array::from_shape_fn((300, 1), |(i, _)| i as f64 / 60.0);
/// let y = x.column(0).mapv(f64::sin);
/// let map = Fourier::new(Gaussian).features(200);
/// let model = BoostingRegressor::on(map).block(20).shrinkage(0.3).fit((&x, &y))?;
/// assert!((model.predict(&x)? - &y).iter().all(|r| r.abs() < 0.1));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type BoostingRegressor = Learner<BoostingOptions, Numbers>;

/// Boosting for classification: a [`BoostingRegressor`] with one target per class, which is 1 for
/// rows of the class and -1 for others. Classes share the chosen blocks. It predicts the class with
/// the largest value.
pub type BoostingClassifier = Learner<BoostingOptions, Labels>;

impl<T> Learner<BoostingOptions, T> {
    /// Number of features in a block. Default: 50.
    pub fn block(mut self, features: usize) -> Self {
        self.job.learner.block = features;
        self
    }

    /// Learning rate, above 0 and at most 1. Default: 0.1.
    pub fn shrinkage(mut self, shrinkage: f64) -> Self {
        self.job.learner.shrinkage = shrinkage;
        self
    }

    /// Penalty lambda of a weak learner, per sample, positive. Default: 1e-6.
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.job.learner.lambda = lambda;
        self
    }

    /// Maximum number of stages. Default: 2000.
    pub fn stages(mut self, stages: usize) -> Self {
        self.job.learner.stages = stages;
        self
    }

    /// Share of the rows in the hold-out set, at least 0 and below 1; 0 for no early stopping.
    /// Default: 0.2.
    pub fn held_out(mut self, share: f64) -> Self {
        self.job.learner.held_out = share;
        self
    }

    /// Whether to fit an intercept. Default: true.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }
}
