//! Builders of greedy fits and boosting.

use crate::{
    door::learner::{Labels, Learner, Numbers},
    learn::{BoostingOptions, GreedyOptions},
};

/// A greedy fit to the features of a map (Jones 1992; Barron 1993): step by step the feature that
/// leaves least takes its place beside what was fitted so far, and both are weighed anew. Where
/// [`Ridge`](crate::models::Ridge) fits all features, this takes the best few of a pool. Rows that
/// are held out say when to stop, and are fitted with the others then.
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

/// One [`GreedyRegressor`] against +-1 per class, on the same features; the class of the largest
/// value wins.
pub type GreedyClassifier = Learner<GreedyOptions, Labels>;

impl<T> Learner<GreedyOptions, T> {
    /// Most steps; 200 until said otherwise.
    pub fn steps(mut self, steps: usize) -> Self {
        self.job.learner.steps = steps;
        self
    }

    /// Holds out this share of the rows to say when to stop; 0.2 until said otherwise.
    pub fn held_out(mut self, share: f64) -> Self {
        self.job.learner.held_out = share;
        self
    }

    /// Whether an intercept is fitted; it is, until said otherwise.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }
}

/// Boosting of squared errors with blocks of random features for weak learners (Friedman 2001;
/// Buhlmann & Yu 2003): what Rahimi & Recht 2008 set their weighted sums beside, for squares. Rows
/// that are held out say when to stop, and are fitted with the others then.
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

/// One [`BoostingRegressor`] against +-1 per class, on the same blocks; the class of the largest
/// value wins.
pub type BoostingClassifier = Learner<BoostingOptions, Labels>;

impl<T> Learner<BoostingOptions, T> {
    /// Features of a block; 50 until said otherwise.
    pub fn block(mut self, features: usize) -> Self {
        self.job.learner.block = features;
        self
    }

    /// How much of a weak learner is added; 0.1 until said otherwise.
    pub fn shrinkage(mut self, shrinkage: f64) -> Self {
        self.job.learner.shrinkage = shrinkage;
        self
    }

    /// The penalty per sample of a weak learner; 1e-6 until said otherwise.
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.job.learner.lambda = lambda;
        self
    }

    /// Most stages; 2000 until said otherwise.
    pub fn stages(mut self, stages: usize) -> Self {
        self.job.learner.stages = stages;
        self
    }

    /// Holds out this share of the rows to say when to stop; 0.2 until said otherwise.
    pub fn held_out(mut self, share: f64) -> Self {
        self.job.learner.held_out = share;
        self
    }

    /// Whether an intercept is fitted; it is, until said otherwise.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }
}
