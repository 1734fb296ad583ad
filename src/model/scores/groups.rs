//! Standard deviations of metrics by a grouped jackknife.

use crate::data::row_hash;

/// Number of groups of rows. The relative error of the deviation is about an eighth, `1 / sqrt(2
/// (G - 1))`.
pub(super) const GROUPS: usize = 32;

/// A metric with its standard deviation over samples of rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The metric on all rows.
    pub value: f64,
    /// Its standard deviation: `sqrt((G - 1) / G sum_g (s_g - mean)^2)` from the metrics s_g
    /// without one of G groups of the rows (Efron & Tibshirani 1993, sec. 11.5). Assumes
    /// independent rows. NaN if fewer than two groups can be left out, as for a single row, or R2
    /// of two rows.
    pub deviation: f64,
}

impl Score {
    /// Jackknife of a function of all rows (`None`) or of those without one group; empty groups are
    /// skipped. `None` if the function is undefined for all rows.
    pub(super) fn jackknife(
        holds: impl Fn(usize) -> bool,
        without: impl Fn(Option<usize>) -> f64,
    ) -> Option<Self> {
        let value = without(None);
        let groups = (0..GROUPS).filter(|group| holds(*group));
        let left: Vec<f64> = groups.map(|group| without(Some(group))).collect();
        let left: Vec<f64> = left.into_iter().filter(|s| s.is_finite()).collect();
        let count = left.len() as f64;
        let mean = left.iter().sum::<f64>() / count;
        let squares: f64 = left.iter().map(|s| (s - mean).powi(2)).sum();
        let deviation = if left.len() < 2 {
            f64::NAN
        } else {
            ((count - 1.0) / count * squares).sqrt()
        };
        value.is_finite().then_some(Self { value, deviation })
    }
}

/// The group of a row, by its index.
pub(super) fn group_of(row: u64) -> usize {
    (row_hash(0, row) >> 59) as usize
}

/// Sampling rule if not all rows can be kept: one row in 2^level, independent of the chunks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Thinning {
    level: u32,
}

impl Thinning {
    pub(super) fn keeps(self, row: u64) -> bool {
        row_hash(0, row) & ((1 << self.level) - 1) == 0
    }

    /// Halves the sampling rate from here on.
    pub(super) fn halve(&mut self) {
        self.level += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The deviation of a mean is `s / sqrt(n)`.
    #[test]
    fn the_deviation_of_a_mean_is_known() {
        let value = |row: u64| (row_hash(9, row) >> 11) as f64 * 2_f64.powi(-53);
        let deviations: Vec<f64> = (0..40)
            .map(|start| {
                let rows = (0..500).map(|i| 1000 * start + i);
                let mut sums = [[0.0; 2]; GROUPS];
                for row in rows {
                    let [count, sum] = &mut sums[group_of(row)];
                    (*count, *sum) = (*count + 1.0, *sum + value(row));
                }
                let holds = |group: usize| sums[group][0] > 0.0;
                let score = Score::jackknife(holds, |skip| {
                    let kept = (0..GROUPS).filter(|g| Some(*g) != skip);
                    let [count, sum] =
                        kept.fold([0.0; 2], |[c, s], g| [c + sums[g][0], s + sums[g][1]]);
                    sum / count
                });
                score.expect("a mean").deviation
            })
            .collect();
        let mean = deviations.iter().sum::<f64>() / 40.0;
        // Uniform numbers have the variance 1/12.
        let known = (1.0_f64 / 12.0 / 500.0).sqrt();
        assert!((mean / known - 1.0).abs() < 0.06, "{mean} and {known}");
    }

    /// Recall without the only row of its class is undefined, and so is the deviation.
    #[test]
    fn no_deviation_is_known_of_one_group() {
        let of = |skip: Option<usize>| if skip == Some(0) { f64::NAN } else { 1.0 };
        let score = Score::jackknife(|group| group < 2, of).expect("a score");
        assert!(score.value == 1.0 && score.deviation.is_nan(), "{score:?}");
        let score = Score::jackknife(|group| group < 3, of).expect("a score");
        assert_eq!(score.deviation, 0.0);
    }

    #[test]
    fn groups_are_even_and_thinning_keeps_its_share() {
        let mut counts = [0; GROUPS];
        (0..32_000).for_each(|row| counts[group_of(row)] += 1);
        assert!(
            counts.iter().all(|count| (800..1200).contains(count)),
            "{counts:?}"
        );
        let mut thinning = Thinning::default();
        for level in 0..4 {
            let kept = (0..32_000).filter(|row| thinning.keeps(*row)).count();
            assert!((kept as f64 * f64::from(1 << level) / 32_000.0 - 1.0).abs() < 0.06);
            thinning.halve();
        }
    }
}
