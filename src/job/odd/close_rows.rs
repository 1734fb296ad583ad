//! Columns whose prepared values coincide in f32: features are computed in f32, where values far
//! from 0 and close to each other become equal.

use crate::{
    data::{KeptRows, Survey},
    features::{FeatureMap, names::takes_turns},
};
use std::f64::consts::TAU;

/// Least number of distinct values for a warning.
const ENOUGH: usize = 20;
/// Least number of f32 steps within the kernel width.
const STEPS: f64 = 4.0;
/// Relative difference up to which values differ only by f64 rounding.
const ROUNDING: f64 = 1e-13;

/// Returns warnings about columns whose values, or whose values within a kernel width, coincide in
/// f32 after the preparation of this map.
pub(super) fn warnings(survey: &Survey, rows: &KeptRows, map: &dyn FeatureMap) -> Vec<String> {
    let affine = map.input();
    if rows.is_empty() || affine.columns() != survey.mean.len() {
        return Vec::new();
    }
    // Fourier features take phases in turns.
    let width = if takes_turns(map.kind()) {
        1.0 / TAU
    } else {
        1.0
    };
    let each =
        (0..affine.columns()).filter(|&j| affine.scale()[j] != 0.0 && !survey.is_constant(j));
    let warnings = each.filter_map(|j| {
        let values = prepared(rows, j, |value| affine.prepare(value, j));
        Some(format!("{}: {}", survey.column(j), said(&values, width)?))
    });
    warnings.collect()
}

/// Returns the distinct values of a column in ascending order, raw and prepared.
fn prepared(rows: &KeptRows, j: usize, prepare: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let mut values = rows.feature(j);
    values.sort_unstable_by(f64::total_cmp);
    values.dedup_by(|b, a| (*b - *a).abs() <= ROUNDING * a.abs().max(b.abs()));
    values
        .into_iter()
        .map(|value| (value, prepare(value)))
        .collect()
}

/// Returns the note for a kernel of this width on prepared columns.
fn said(values: &[(f64, f64)], width: f64) -> Option<String> {
    if values.len() < ENOUGH {
        return None;
    }
    let pairs = values.windows(2).filter(|pair| pair[0].1 != pair[1].1);
    let pairs: Vec<_> = pairs.map(|pair| (pair[0], pair[1])).collect();
    let merged = pairs.iter().filter(|(a, b)| a.1 as f32 == b.1 as f32);
    let are_merged = 2 * merged.count() > pairs.len();
    let gap = median(pairs.iter().map(|(a, b)| b.0 - a.0).collect())?;
    // Raw units per prepared unit, near most values.
    let raw = median(
        pairs
            .iter()
            .map(|(a, b)| (b.0 - a.0) / (b.1 - a.1).abs())
            .collect(),
    )?;
    let step = median(values.iter().map(|(_, u)| step(*u)).collect())?;
    (are_merged || width < STEPS * step).then(|| {
        format!(
            "values lie {gap:.3e} apart, the kernel is {:.3e} wide, and f32 has steps of {:.3e} \
             so far from the middle of the column: rows closer than that are one to the fit; split \
             the column in a coarse and a fine one, or take --standardize=rank",
            width * raw,
            step * raw
        )
    })
}

/// Returns the spacing of f32 at a value.
fn step(value: f64) -> f64 {
    let value = value.abs() as f32;
    f64::from(value.next_up()) - f64::from(value)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two bursts of 120 values, so far apart, less their mean and over a scale.
    fn bursts(apart: f64, scale: f64) -> Vec<(f64, f64)> {
        let burst = |from: f64| (0..240).map(move |i| from + 0.5 * f64::from(i));
        let values = burst(0.0).chain(burst(apart));
        values.map(|v| (v, (v - apart / 2.0) / scale)).collect()
    }

    #[test]
    fn bursts_that_f32_makes_one_number_are_told_of() {
        for (apart, sigma, is_said) in [
            (7e8, 3.0, true),
            (1e8, 3.0, true),
            // The default: as wide as all of it.
            (7e8, 7e8, true),
            (1e6, 3.0, false),
            (1e6, 1e6, false),
        ] {
            let found = said(&bursts(apart, sigma), 1.0);
            assert_eq!(found.is_some(), is_said, "{apart} {sigma}: {found:?}");
        }
        let found = said(&bursts(1e8, 3.0), 1.0).expect("said");
        let wanted = "5.000e-1 apart, the kernel is 3.000e0 wide, and f32 has steps of 3.000e0";
        assert!(found.contains(wanted), "{found}");
    }

    #[test]
    fn usual_columns_are_not_told_of() {
        let few: Vec<_> = (0..9)
            .map(|i| (f64::from(i), f64::from(i) * 1e-12 + 1.0))
            .collect();
        assert_eq!(said(&few, 1.0), None);
        let long_tail = (0..4000).map(|i| (f64::from(i) * 0.004 - 8.0).exp());
        let long_tail: Vec<_> = long_tail.map(|v| (v, (v - 90.0) / 400.0)).collect();
        assert_eq!(said(&long_tail, 0.03), None);
        let ranks = bursts(7e8, 1.0).into_iter().enumerate();
        let ranks: Vec<_> = ranks
            .map(|(i, (v, _))| (v, i as f64 / 240.0 - 1.0))
            .collect();
        assert_eq!(said(&ranks, 0.1), None);
    }
}
