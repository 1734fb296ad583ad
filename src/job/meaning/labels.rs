//! Distinction between integer labels and integer counts or grades.

use crate::data::{Survey, TargetStats};

/// Largest number of distinct integers in a column of labels.
pub const MOST_CLASSES: usize = 32;
/// Number of distinct integers up to which a column holds labels, whatever their values and
/// frequencies.
const FEW_CLASSES: usize = 10;
/// Least mean number of rows per label.
const ROWS_OF_A_CLASS: f64 = 3.0;
/// Least variance of labels, relative to that of equally frequent ones.
const LEAST_VARIANCE: f64 = 0.75;
/// Share of the span around the centre in which the most frequent label seldom lies.
const MIDDLE: f64 = 0.2;
/// How much rows of numbers beside each other differ in how many they are, of what those of any
/// two do: less where they rise and fall as those of counts. Of labels in no order it is 1 in the
/// mean, with a variance of about one over their number (von Neumann 1941). Where numbers in the
/// middle come most often and the first and the last seldom, where the last alone do, and in any
/// case.
const SMOOTH: [f64; 3] = [0.4, 0.2, 0.12];
/// The first and the last of counts that rise have less than this share of the most rows, and the
/// last of those that fall from the first on.
const ENDS: [f64; 2] = [0.5, 0.1];
/// The two behind the first of these have at least this share: labels in the order of their rows
/// fall at once.
const FLAT: f64 = 0.8;

/// Whether integers are counts or grades rather than labels: there are more than a few distinct
/// values, and most have hardly any rows, or their frequencies rise and fall smoothly. Labels are
/// about equally frequent, or their frequencies have no order.
fn are_amounts(target: &TargetStats, values: &[f64], rows: u64) -> bool {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
    let middle = (target.max + target.min) / 2.0;
    let is_peaked = target.variance < LEAST_VARIANCE * variance
        && (target.mean - middle).abs() < MIDDLE * (target.max - target.min);
    let are_rare = (rows as f64) < ROWS_OF_A_CLASS * count;
    let has_form = || match &target.counts {
        Some(counts) => rise_and_fall(counts, is_peaked),
        None => is_peaked,
    };
    values.len() > FEW_CLASSES && (are_rare || has_form())
}

/// Whether frequencies rise and fall, or fall from the first on: by the ratio of the mean square
/// successive difference to the variance (von Neumann 1941), on square roots, which stabilize the
/// noise of counts.
fn rise_and_fall(counts: &[u64], is_peaked: bool) -> bool {
    let rows: Vec<f64> = counts.iter().map(|&rows| rows as f64).collect();
    let (&[first, second, third, ..], Some(&last)) = (&rows[..], rows.last()) else {
        return false;
    };
    let roots: Vec<f64> = rows.iter().map(|rows| rows.sqrt()).collect();
    let mean = roots.iter().sum::<f64>() / roots.len() as f64;
    let squares: f64 = roots.iter().map(|root| (root - mean).powi(2)).sum();
    let beside = roots.windows(2).map(|two| (two[1] - two[0]).powi(2));
    let ratio = beside.sum::<f64>() / (2.0 * squares);
    let most = rows.iter().copied().fold(0.0, f64::max);
    let rises = first.max(last) < ENDS[0] * most;
    let falls = last < ENDS[1] * most;
    let is_flat = (second + third) / 2.0 >= FLAT * most;
    let limit = match (rises, falls) {
        (true, _) if is_peaked => SMOOTH[0],
        (_, true) if is_peaked => SMOOTH[1],
        (true, _) => SMOOTH[2],
        (_, true) if is_flat => SMOOTH[2],
        _ => return false,
    };
    ratio < limit
}

/// Returns the distinct values of a target with few integers, and whether they look like counts or
/// grades; `None` for other targets.
#[doc(hidden)]
pub fn few_whole(survey: &Survey) -> Option<(&[f64], bool)> {
    let [only] = survey.targets.as_slice() else {
        return None;
    };
    let values = only.distinct.as_deref().filter(|_| only.whole)?;
    (values.len() <= MOST_CLASSES).then(|| (values, are_amounts(only, values, survey.rows)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::MemorySource;
    use ndarray::Array2;

    /// Of `rows` values.
    fn lie_as_amounts(rows: usize, value: impl Fn(usize) -> f64) -> bool {
        let y = Array2::from_shape_fn((rows, 1), |(i, _)| value(i));
        let source = MemorySource::new(Array2::<f64>::zeros((rows, 1)), Some(y));
        let mut source = source.expect("a source");
        let survey = Survey::new(&mut source, 0, 0).expect("surveys");
        let target = &survey.targets[0];
        are_amounts(target, target.distinct.as_ref().expect("few"), survey.rows)
    }

    /// Letters of the alphabet, digits, codes with gaps and labels of which the first has most
    /// rows are labels; points of a test, rare events and counts of few rows are amounts.
    #[test]
    fn counts_and_grades_are_no_labels() {
        let wave = |i: usize, k: usize| i.wrapping_mul(2_654_435_761) / 7 % k;
        assert!(!lie_as_amounts(2600, |i| wave(i, 26) as f64));
        assert!(!lie_as_amounts(150, |i| (i % 10).pow(2) as f64));
        let dice = |i: usize| i % 6 + i / 6 % 6 + i / 36 % 6;
        assert!(lie_as_amounts(2600, |i| dice(i) as f64));
        assert!(lie_as_amounts(30, |i| wave(i, 14) as f64));
        let codes = [2, 3, 4, 6, 7, 8, 9, 10, 12, 13, 14];
        assert!(!lie_as_amounts(120, |i| f64::from(codes[wave(i, 11)])));
        assert!(!lie_as_amounts(500, |i| (i % 2 * wave(i, 13)) as f64));
    }

    /// By how many rows each number has: of Poisson's law with the mean 4 they rise and fall, and
    /// of labels, of which those in the middle may have most, they do neither.
    #[test]
    fn labels_in_no_order_are_no_counts() {
        let of = |rows: &[usize]| {
            let all = rows
                .iter()
                .enumerate()
                .flat_map(|(k, &n)| vec![k as f64; n]);
            let all: Vec<f64> = all.collect();
            lie_as_amounts(all.len(), |i| all[i])
        };
        assert!(of(&[9, 37, 73, 98, 98, 78, 52, 30, 15, 7, 3, 1]));
        let peaked = [2, 6, 14, 33, 65, 98, 89, 87, 53, 30, 16, 7];
        assert!(of(&peaked));
        assert!(of(&[94, 97, 83, 83, 47, 32, 33, 14, 7, 6, 3, 1]));
        assert!(of(&[
            48, 32, 38, 41, 32, 46, 38, 22, 28, 24, 10, 6, 14, 5, 2, 3, 2
        ]));
        assert!(!of(&[6, 2, 33, 14, 98, 65, 53, 89, 87, 7, 30, 16]));
        assert!(!of(&[110, 98, 92, 81, 75, 70, 61, 50, 41, 33, 24, 18]));
        assert!(!of(&[200, 130, 86, 57, 38, 25, 16, 11, 7, 5, 3, 2]));
    }
}
