//! Budget of a search: number of trials, or time.

use super::Rounds;
use crate::learn::choose::search::{Budget, Trial, plan::Plan, trials::Extent};

/// Number of features at which the Gram matrix costs about as much as the features.
const EQUAL: f64 = 500.0;
/// Largest share of the time that is reserved for the final fit.
const KEPT: f64 = 0.5;

/// Returns the relative cost of a fit, whose unit the trials measure.
fn work(rows: f64, features: usize) -> f64 {
    let d = features as f64;
    rows * d * (d + EQUAL)
}

/// Returns the predicted seconds of a fit by the fastest rate of earlier trials, since small ones
/// are dominated by overhead; 0 without trials.
pub(in crate::learn::choose::search) fn forecast(
    trials: &[Trial],
    rows: f64,
    features: usize,
) -> f64 {
    let rates = trials
        .iter()
        .map(|trial| trial.seconds / work(trial.rows as f64, trial.features));
    let rates = rates.filter(|rate| rate.is_finite());
    let least = rates.min_by(f64::total_cmp).unwrap_or(0.0);
    least * work(rows, features)
}

impl Rounds<'_, '_> {
    /// Whether the budget is used up.
    pub(super) fn is_over(&self) -> bool {
        match self.search.budget {
            _ if self.trials.is_empty() => false,
            Budget::All | Budget::Brief => false,
            Budget::Trials(most) => self.trials.len() >= most,
            Budget::Time(most) => self.start.elapsed() >= most,
        }
    }

    /// Whether the budget ends before this trial and the final fit would.
    pub(super) fn ends_before(&self, plan: &Plan, extent: Extent) -> bool {
        let Budget::Time(most) = self.search.budget else {
            return self.is_over();
        };
        let rows = self.sample.fitted(extent);
        let trial = forecast(&self.trials, rows, plan.features);
        let all = self.builder.features().unwrap_or(plan.features);
        let fit = forecast(&self.trials, self.sample.data().survey.rows as f64, all);
        let most = most.as_secs_f64();
        let left = most - self.start.elapsed().as_secs_f64();
        self.is_over() || (!self.trials.is_empty() && trial + fit.min(KEPT * most) > left)
    }
}
