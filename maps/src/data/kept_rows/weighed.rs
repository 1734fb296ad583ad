//! Single columns of rows that are kept, with what each row counts for.

use super::KeptRows;

impl KeptRows {
    /// The values of a feature, in the order of the hashes.
    pub(crate) fn values(&self, j: usize) -> Vec<(f64, f64)> {
        let weights = self.rows.values().map(|row| row.weight);
        self.feature(j).into_iter().zip(weights).collect()
    }

    /// The first target of each row, and what the row counts for.
    pub(crate) fn amounts(&self) -> Vec<(f64, f64)> {
        let rows = self.rows.values();
        rows.filter_map(|row| Some((*row.targets.first()?, row.weight)))
            .collect()
    }

    /// Mean and population variance of the first target.
    pub(crate) fn target_moments(&self) -> (f64, f64) {
        let amounts = self.amounts();
        let all: f64 = amounts.iter().map(|(_, weight)| weight).sum();
        let mean = |of: &dyn Fn(f64) -> f64| {
            let sum: f64 = amounts.iter().map(|&(y, weight)| weight * of(y)).sum();
            sum / all
        };
        let middle = mean(&|y| y);
        (middle, mean(&|y| (y - middle).powi(2)))
    }
}
