//! How many observations each distinct row of a table stands for, and how much of its weight one of
//! them takes along when it is left out of a fit.

use std::collections::HashMap;

/// The lightest row of a table of frequencies stands for at most this many observations; above it,
/// weights are taken for measurements that happen to be round.
const MAX_LIGHTEST_FREQUENCY: u32 = 1000;

/// Weights are multiples of a unit if they differ from whole numbers of it by at most this share.
const UNIT_TOLERANCE: f64 = 1e-9;

/// Counts above this are too many to tell from rounding.
const MAX_FREQUENCY: f64 = 1e9;

/// One distinct row: features and targets that occur `copies` times, with their total weight.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct DistinctRow {
    /// Hash of the features alone.
    pub features_hash: u64,
    /// Total weight of all copies, above 0.
    pub weight: f64,
    /// Number of rows with these features and targets.
    pub copies: u64,
}

/// Observations behind distinct rows, in their order.
///
/// A row that occurs c times stands for c observations, whatever their weights; counts are divided
/// by their greatest common divisor, so that a table repeated as a whole stays the same table.
/// Where no row occurs more often than any other, weights that are whole multiples of one unit are
/// frequencies: weight w is w / unit observations. So multiplying all weights changes nothing, and
/// a table of cells with counts equals the table of its rows.
///
/// Where all rows with the same features have the same targets, the copies tell nothing new and
/// leave a fit together. Where targets differ, each observation is information of its own, and
/// leaves alone: its cell would otherwise be predicted by the opposite answers.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct Observations {
    /// Number of observations of each row, `[m]`.
    pub count_m: Vec<f64>,
    /// Share of a row's weight that is left out with one observation, `[m]`.
    pub share_m: Vec<f64>,
}

impl Observations {
    /// Rows with one observation each.
    #[doc(hidden)]
    pub fn single(rows: usize) -> Self {
        Self {
            count_m: vec![1.0; rows],
            share_m: vec![1.0; rows],
        }
    }

    /// Counts the observations behind these rows.
    #[doc(hidden)]
    pub fn count(rows: &[DistinctRow]) -> Self {
        let frequencies = Frequencies::of(rows);
        let count_m: Vec<f64> = rows.iter().map(|row| frequencies.count(row)).collect();
        let answers = have_other_targets(rows).into_iter().zip(&count_m);
        Self {
            share_m: answers
                .map(|(differ, count)| if differ { 1.0 / count } else { 1.0 })
                .collect(),
            count_m,
        }
    }

    /// Selects rows by their places.
    #[doc(hidden)]
    pub fn select(&self, places: &[usize]) -> Self {
        let of = |values: &[f64]| places.iter().map(|&i| values[i]).collect();
        Self {
            count_m: of(&self.count_m),
            share_m: of(&self.share_m),
        }
    }
}

/// Unit of weights and copies per observation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frequencies {
    /// Copies of each row that are one observation.
    pub(super) copies: u64,
    /// Weight of one observation, if weights are frequencies.
    unit: Option<f64>,
}

impl Default for Frequencies {
    fn default() -> Self {
        Self {
            copies: 1,
            unit: None,
        }
    }
}

impl Frequencies {
    pub(super) fn of(rows: &[DistinctRow]) -> Self {
        let copies = rows.iter().fold(0, |all, row| gcd(all, row.copies)).max(1);
        let are_unique = rows.iter().all(|row| row.copies == copies);
        let weights = rows.iter().map(|row| row.weight);
        Self {
            copies,
            unit: are_unique.then(|| common_unit(weights)).flatten(),
        }
    }

    fn count(&self, row: &DistinctRow) -> f64 {
        match self.unit {
            Some(unit) => (row.weight / unit).round(),
            None => (row.copies / self.copies) as f64,
        }
    }

    /// Number of observations for a total weight, if weights are frequencies.
    pub(super) fn of_weight(&self, weight: f64) -> Option<f64> {
        let unit = self.unit?;
        Some(weight / unit)
    }

    /// Numbers of the first observation of a copy of a row, counted from 0, and of its
    /// observations.
    pub(super) fn observations(&self, copy: u64, weight: f64) -> (u64, u64) {
        let copy = copy / self.copies;
        match self.unit {
            Some(unit) => (
                copy,
                (weight * self.copies as f64 / unit).round().max(1.0) as u64,
            ),
            None => (copy, 1),
        }
    }
}

/// Whether other rows have the same features and other targets, for each row.
pub(super) fn have_other_targets(rows: &[DistinctRow]) -> Vec<bool> {
    let mut targets = HashMap::new();
    for row in rows {
        *targets.entry(row.features_hash).or_insert(0_u32) += 1;
    }
    rows.iter()
        .map(|row| targets[&row.features_hash] > 1)
        .collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Largest number that all weights are whole multiples of, if there is one that the least weight is
/// at most [`MAX_LIGHTEST_FREQUENCY`] times of.
fn common_unit(weights: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let lightest = weights.clone().fold(f64::INFINITY, f64::min);
    let is_whole = |unit: f64| {
        weights.clone().all(|weight| {
            let times = weight / unit;
            times < MAX_FREQUENCY && (times - times.round()).abs() <= UNIT_TOLERANCE * times
        })
    };
    let units = (1..=MAX_LIGHTEST_FREQUENCY).map(|times| lightest / f64::from(times));
    units
        .into_iter()
        .find(|unit| *unit > 0.0 && is_whole(*unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(of: &[(u64, f64, u64)]) -> Vec<DistinctRow> {
        let row = |&(features_hash, weight, copies)| DistinctRow {
            features_hash,
            weight,
            copies,
        };
        of.iter().map(row).collect()
    }

    /// Copies, frequencies in any unit and a table repeated as a whole are the same observations.
    #[test]
    fn copies_and_frequencies_are_the_same_observations() {
        let copies = Observations::count(&rows(&[(1, 6.0, 6), (1, 4.0, 4), (2, 9.0, 9)]));
        assert_eq!(copies.count_m, [6.0, 4.0, 9.0]);
        assert_eq!(copies.share_m, [1.0 / 6.0, 1.0 / 4.0, 1.0]);
        for unit in [1.0, 100.0, 0.1, 1e-150] {
            let frequencies = [(1, 6.0 * unit, 1), (1, 4.0 * unit, 1), (2, 9.0 * unit, 1)];
            assert_eq!(Observations::count(&rows(&frequencies)), copies, "{unit}");
        }
        let twice = Observations::count(&rows(&[(1, 12.0, 12), (1, 8.0, 8), (2, 18.0, 18)]));
        assert_eq!(twice, copies);
    }

    /// Weights without a common unit are not counts.
    #[test]
    fn measured_weights_are_no_frequencies() {
        let of = rows(&[(1, 1.2345678, 1), (1, 0.7654321, 1), (2, 2.6180339, 1)]);
        assert_eq!(Observations::count(&of).count_m, [1.0; 3]);
        let of = rows(&[(1, 1.5, 3), (1, 0.25, 1)]);
        assert_eq!(Observations::count(&of).share_m, [1.0 / 3.0, 1.0]);
    }
}
