//! A learner that was chosen, and what its targets are.

use bochner::models::{Fit, Lambda, RidgeOptions};

/// What the targets of a learner are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// Amounts or labels, as `--task` says.
    NumbersOrLabels,
    /// Amounts.
    Numbers,
    /// Labels.
    Labels,
    /// None, to find these: targets are left alone.
    Rows(&'static str),
}

/// A learner as the command line uses it.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The learner.
    pub(super) fit: Box<dyn Fit>,
    /// What it is fitted to.
    pub(super) takes: Takes,
    /// Whether its progress is iterations rather than rows.
    pub(super) iterates: bool,
    /// How it solves, for the report.
    pub(super) solver: &'static str,
    /// Its options, if it is ridge regression, whose choices can be searched.
    pub(super) ridge: Option<RidgeOptions>,
    /// Whether a penalty, or some, are given.
    pub(super) lambda_given: bool,
    /// Whether it is to have probabilities.
    pub(super) probabilities: bool,
}

impl Chosen {
    /// Ridge regression takes this penalty, unless one is given.
    pub(super) fn penalise(&mut self, lambda: f64) {
        if let Some(ridge) = &mut self.ridge
            && !self.lambda_given
        {
            ridge.lambda = Lambda::Fixed(lambda);
            self.fit = Box::new(ridge.clone());
        }
    }
}
