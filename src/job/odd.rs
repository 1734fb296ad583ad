//! Cells that may not be what they say: numbers that stand for no value, and slips.

use crate::data::Survey;

/// Such a number is farther from the others than so many of their ranges.
const APART: f64 = 2.0;
/// Rows that have it, at least: one may be a value.
const OFTEN: usize = 2;
/// Numbers that programs write for no value, beside those of nines alone: the ends of whole numbers
/// of 16 and 32 bits.
const ENDS: [f64; 6] = [
    32_767.0,
    32_768.0,
    65_535.0,
    2_147_483_647.0,
    2_147_483_648.0,
    4_294_967_295.0,
];
/// Days that stand for no date, of which one tells.
const NO_DATES: [(f64, &str); 3] = [
    (2_932_896.0, "9999-12-31"),
    (-25_567.0, "1900-01-01"),
    (-719_162.0, "0001-01-01"),
];
/// A slip is farther from the middle than so many times the range of the inner 98 % of the rows.
/// Among 10^6 logarithmic normal values of deviation 3 on the scale of logarithms none is.
const SLIP: f64 = 1e4;
/// Deviations from the mean that a slip is away from it at least: one in 10 % of the rows is 3.0.
const DEVIATIONS: f64 = 2.5;
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

/// Whether a number is of nines alone, as -999 and 9999 are, or another that programs write for no
/// value.
fn may_stand_for_none(value: f64) -> bool {
    let size = value.abs();
    let nines = (2..=9).any(|digits| size == 10_f64.powi(digits) - 1.0);
    nines || ENDS.contains(&size) || no_date(value).is_some()
}

/// The day that a number is, if it is one that stands for no date.
fn no_date(value: f64) -> Option<&'static str> {
    let found = NO_DATES.iter().find(|(day, _)| *day == value);
    found.map(|(_, text)| *text)
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
        let inner = |share: f64| others[((others.len() - 1) as f64 * share).round() as usize];
        let far = if may_stand_for_none(none) {
            APART * (last - first)
        } else {
            // As 1e20 is, whatever else is wrong.
            SLIP * (inner(0.99) - inner(0.01))
        };
        let least = if no_date(none).is_some() { 1 } else { OFTEN };
        if often >= least && gap > far && far > 0.0 {
            let none = spelled(none);
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

/// As files have it.
fn spelled(value: f64) -> String {
    match no_date(value) {
        Some(date) => date.to_owned(),
        None if value.abs() < 1e12 => value.to_string(),
        None => format!("{value:e}"),
    }
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
        for none in [-999.0, 9999.0, -99.0, -32768.0] {
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
    fn days_that_stand_for_no_date_are_told_of() {
        let mut days = normal(120).mapv(|v| 18_700.0 + 400.0 * v);
        days[7] = 2_932_896.0;
        let found = said(days.to_vec()).expect("far");
        assert!(found.contains("9999-12-31 in 1 of 120 rows"), "{found}");
    }

    /// What stands for no value without being of nines, as in files of climate models.
    #[test]
    fn fill_values_are_told_of() {
        for (none, step) in [(1e20, 50), (-1e30, 10), (9.96921e36, 10)] {
            let mut values = normal(500);
            values.iter_mut().step_by(step).for_each(|v| *v = none);
            let (mean, variance) = (values.mean().expect("rows"), values.var(0.0));
            assert!(is_suspect([values[1], none], mean, variance), "{none}");
            let found = said(values.to_vec()).expect("far and often");
            assert!(found.contains(&format!("--na {none:e} ")), "{found}");
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
