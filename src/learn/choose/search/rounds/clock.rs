//! When a search ends: by its trials, or by a time in which the next trial and the fit have room.

use super::Rounds;
use crate::learn::choose::search::{Budget, Trial, plan::Plan, trials::Extent};

/// Features whose products cost as much as the features themselves, about.
const EQUAL: f64 = 500.0;
/// The share of a time that is kept for the fit to all rows, at most.
const KEPT: f64 = 0.5;

/// What D features of some rows cost, in units that the trials measure.
fn work(rows: f64, features: usize) -> f64 {
    let d = features as f64;
    rows * d * (d + EQUAL)
}

/// Seconds that rows and features will take, from what trials took: the least for their work, for
/// small ones have their overhead. 0 where nothing is known.
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
    /// Whether the budget has ended.
    pub(super) fn is_over(&self) -> bool {
        match self.search.budget {
            _ if self.trials.is_empty() => false,
            Budget::All | Budget::Brief => false,
            Budget::Trials(most) => self.trials.len() >= most,
            Budget::Time(most) => self.start.elapsed() >= most,
        }
    }

    /// Whether the budget ends before this trial does, and the fit to all rows after it.
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
