//! Weights and numbers of observations of the rows of a race.

use super::{Deciding, Judged, squares};
use ndarray::{Array1, ArrayView1, ArrayView2, Axis, s};
use std::ops::Range;

/// Share of the weight by which single observations may differ from whole rows; above it, rows are
/// cells of a table, and none is held out as a whole.
const MAX_REPEATED_WEIGHT: f64 = 0.1;

impl Deciding {
    /// Number of rows that tell as much as all rows of the fit, if the first `rows` tell as much as
    /// they are: in proportion to their effective numbers.
    pub(in crate::job::race) fn all_rows(&self, rows: usize) -> f64 {
        let weights_m = self.weights(0..rows);
        let own = effective(weights_m.view(), &self.observations.count_m[..rows]);
        rows as f64 * self.effective / own
    }

    /// Weights of mean 1 of some rows. Those of the first rows, a priority sample, stand for all
    /// before the ones that are held out: each weighs at least the inverse of the next key.
    pub(super) fn weights(&self, rows: Range<usize>) -> Array1<f64> {
        let is_sample = rows.end < self.seen;
        let least = if is_sample {
            1.0 / self.keys_m[rows.end]
        } else {
            0.0
        };
        let weights_m = self.weights_m.slice(s![rows]);
        of_mean_one(&weights_m.mapv(|weight| weight.max(least)))
    }

    /// Whether rows with several observations each hold much of the weight.
    pub(in crate::job::race) fn are_cells(&self) -> bool {
        let pairs = self.weights_m.iter().zip(&self.observations.share_m);
        let repeated: f64 = pairs.map(|(weight, share)| weight * (1.0 - share)).sum();
        repeated > MAX_REPEATED_WEIGHT * self.weights_m.sum()
    }

    /// Their weights, of mean 1.
    pub(super) fn judged_weights(&self, judged: Judged) -> Array1<f64> {
        match judged {
            Judged::LeftOut(from, to) => self.weights(from..to),
            Judged::HeldOut => self.weights(self.seen..self.all()),
        }
    }
}

/// The variance of targets, of all of them together.
pub(super) fn spread(y_mt: ArrayView2<'_, f64>, weights_m: ArrayView1<'_, f64>) -> f64 {
    let middle_t = weighted_mean(y_mt, weights_m);
    (squares(&(&y_mt - &middle_t)) * weights_m).sum() / weights_m.sum()
}

pub(super) fn weighted_mean(
    y_mt: ArrayView2<'_, f64>,
    weights_m: ArrayView1<'_, f64>,
) -> Array1<f64> {
    (&y_mt * &weights_m.insert_axis(Axis(1))).sum_axis(Axis(0)) / weights_m.sum()
}

/// Effective number of observations of rows with these weights and counts, whose observations have
/// equal weights within a row: `(sum w)^2 / sum (w^2 / count)` (Kish 1965).
pub(super) fn effective(weights_m: ArrayView1<'_, f64>, count_m: &[f64]) -> f64 {
    let squares = weights_m
        .iter()
        .zip(count_m)
        .map(|(w, count)| w * w / count);
    weights_m.sum().powi(2) / squares.sum::<f64>()
}

/// The same weights over their mean.
pub(super) fn of_mean_one(weights_m: &Array1<f64>) -> Array1<f64> {
    weights_m / (weights_m.sum() / weights_m.len() as f64)
}
