//! Budget of a search, and the brief search of a fit without options.

use super::{Beside, SearchArgs};
use crate::args::{at_least_one, positive};
use bochner::models::{Budget, Search};
use std::time::Duration;

/// Parses a number of trials, a time in s, m or h, or `brief`.
pub(super) fn parse(text: &str) -> Result<Budget, String> {
    if text == "brief" {
        return Ok(Budget::Brief);
    }
    if let Ok(trials) = at_least_one(text) {
        return Ok(Budget::Trials(trials));
    }
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let seconds = units.iter().find_map(|(unit, seconds)| {
        let number = positive(text.trim().strip_suffix(unit)?).ok()?;
        Duration::try_from_secs_f64(number * seconds).ok()
    });
    seconds
        .map(Budget::Time)
        .ok_or_else(|| "must be a number of trials, a time such as 60s or 5m, or `brief`".into())
}

impl SearchArgs {
    /// Selects the brief search unless an option asks for another search or for none. With a given
    /// number of features the model is a single fit with this number.
    pub(in crate::fit) fn search_by_default(&mut self, is_count_given: bool) {
        let is_given = self.quick
            || self.auto
            || self.budget.is_some()
            || self.metric.is_some()
            || self.metric_from.is_some()
            || self.kernel_error.is_some()
            || self.accuracy_loss.is_some()
            || self.leaves.is_some();
        if !is_given {
            self.auto = true;
            self.budget = Some(Budget::Brief);
            if is_count_given {
                self.bag = self.bag.or(Some(1));
                self.beside = self.beside.or(Some(Beside::None));
            }
        }
    }

    /// Whether the search is brief.
    pub(in crate::fit) fn is_brief(&self) -> bool {
        self.budget == Some(Budget::Brief)
    }

    /// Returns the search with the defaults of the budget.
    pub(super) fn defaults(&self) -> Search {
        match self.budget {
            Some(Budget::Brief) => Search::brief(),
            _ => Search::everything(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_trials_or_times() {
        assert_eq!(parse("12"), Ok(Budget::Trials(12)));
        assert_eq!(parse("brief"), Ok(Budget::Brief));
        assert_eq!(parse("60s"), Ok(Budget::Time(Duration::from_secs(60))));
        assert_eq!(parse("1.5m"), Ok(Budget::Time(Duration::from_secs(90))));
        for bad in ["", "0", "s", "-3s", "5x", "1e300h"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
