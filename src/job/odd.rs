//! Cells that may not be what they say: numbers that stand for no value, and slips.

use crate::data::Survey;

/// Such a number is farther from the others than so many of their ranges.
const APART: f64 = 2.0;
/// Rows that have it, at least: one may be a value.
const OFTEN: usize = 2;
/// A slip is farther from the middle than so many times the range of the inner 98 % of the rows.
/// Among 10^6 logarithmic normal values of deviation 3 on the scale of logarithms none is.
const SLIP: f64 = 1e4;
/// Deviations from the mean that a slip is away from it at least: those in 1 % of the rows are 9.9.
const DEVIATIONS: f64 = 6.0;
/// Fewer rows tell nothing.
const ENOUGH: usize = 20;

/// Warns of columns and targets that hold such numbers, of the rows that were kept to decide by.
pub(super) fn warn(survey: &Survey) {
    for warning in warnings(survey) {
        log::warn!("{warning}");
    }
}

fn warnings(survey: &Survey) -> Vec<String> {
    let Some(rows) = &survey.deciding else {
        return Vec::new();
    };
    let features = (0..survey.mean.len()).filter(|&j| {
        let ends = [survey.min[j], survey.max[j]];
        is_suspect(ends, survey.mean[j], survey.variance[j])
    });
    let features = features.filter_map(|j| {
        let says = said(rows.feature(j))?;
        Some(format!("{}: {says}", survey.column(j)))
    });
    let amounts = survey.targets.iter().enumerate().filter(|(_, target)| {
        let is_label = target.whole && target.distinct.is_some();
        !is_label && is_suspect([target.min, target.max], target.mean, target.variance)
    });
    let amounts = amounts.filter_map(|(k, _)| {
        let says = said(rows.target(k))?;
        Some(format!("target {k} (counted from 0): {says}"))
    });
    features.chain(amounts).collect()
}

/// Whether values with these ends may be worth a look at each.
fn is_suspect(ends: [f64; 2], mean: f64, variance: f64) -> bool {
    let most = DEVIATIONS * variance.sqrt();
    let is_far = |end: f64| (end - mean).abs() > most || may_stand_for_none(end);
    ends.into_iter().any(is_far)
}

/// Whether a number is of nines alone, as -999 and 9999 are, which programs write for no value.
fn may_stand_for_none(value: f64) -> bool {
    let size = value.abs();
    (2..=9).any(|digits| size == 10_f64.powi(digits) - 1.0)
}

/// What is said of the values of a column, if anything.
fn said(mut sorted: Vec<f64>) -> Option<String> {
    sorted.sort_unstable_by(f64::total_cmp);
    let count = sorted.len();
    if count < ENOUGH {
        return None;
    }
    for none in [sorted[0], sorted[count - 1]] {
        let others: Vec<f64> = sorted.iter().copied().filter(|v| *v != none).collect();
        let (Some(first), Some(last)) = (others.first(), others.last()) else {
            return None;
        };
        let gap = (none - last).max(first - none);
        let often = count - others.len();
        if may_stand_for_none(none) && often >= OFTEN && gap > APART * (last - first) {
            return Some(format!(
                "{none} in {often} of {count} rows, far from all others ({first} to {last}), may \
                 stand for no value: --na {none} (na=) takes it so"
            ));
        }
    }
    let at = |share: f64| sorted[((count - 1) as f64 * share).round() as usize];
    let (low, middle, high) = (at(0.01), at(0.5), at(0.99));
    let farthest = [sorted[0], sorted[count - 1]];
    let farthest = farthest.into_iter().max_by(|a, b| {
        let distance = |value: &f64| (value - middle).abs();
        distance(a).total_cmp(&distance(b))
    })?;
    let often = sorted.iter().filter(|v| **v == farthest).count();
    ((farthest - middle).abs() > SLIP * (high - low) && high > low).then(|| {
        format!(
            "holds {farthest:e} in {often} of {count} rows, and 98 % of them lie in {low} to {high}: \
             if it is a slip, correct it or leave the rows out; it moves scales and fits"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};
    use ndarray::Array1;

    fn normal(rows: usize) -> Array1<f64> {
        let mut draws = Seed(4).stream(Stream::Data, 0);
        Array1::from_shape_simple_fn(rows, || draws.normal())
    }

    #[test]
    fn numbers_for_no_value_are_told_of() {
        for none in [-999.0, 9999.0, -99.0] {
            let mut values = normal(300);
            assert_eq!(said(values.to_vec()), None);
            values.iter_mut().step_by(9).for_each(|v| *v = none);
            let found = said(values.to_vec()).expect("far and often");
            assert!(found.contains(&format!("--na {none} ")), "{found}");
            // Once it may be a value, and among others of its size it is one.
            let mut values = normal(300);
            values[7] = none;
            assert_eq!(said(values.to_vec()), None);
            let mut values = Array1::linspace(-none.abs(), none.abs(), 300);
            values.iter_mut().step_by(9).for_each(|v| *v = none);
            assert_eq!(said(values.to_vec()), None);
        }
    }

    #[test]
    fn slips_are_told_of_and_long_tails_are_not() {
        let mut values = normal(600);
        (values[100], values[400]) = (1e12, 1e12);
        let found = said(values.to_vec()).expect("a slip");
        assert!(found.contains("1e12 in 2 of 600"), "{found}");
        assert_eq!(said(normal(4000).mapv(|v| (3.0 * v).exp()).to_vec()), None);
        let counts = Array1::from_shape_fn(600, |i| f64::from(u8::from(i == 3)));
        assert_eq!(said(counts.to_vec()), None);
    }
}
