//! Scores of predicted amounts, each target by itself.

use super::{
    groups::{GROUPS, Score, Thinning, group_of},
    present,
};
use crate::{Error, Result};
use ndarray::ArrayView2;

/// Errors that are kept for medians, of all targets together.
const KEPT: usize = 1 << 20;
/// Those of a target at least.
const LEAST_KEPT: usize = 1 << 10;

/// Running sums for the scores of predicted amounts: [`Self::add`] takes chunks, and
/// [`Self::of_target`] gives what they come to.
///
/// ```
/// use bochner::models::AmountScores;
/// use ndarray::array;
/// let mut scores = AmountScores::new(1);
/// let (predicted, y) = (array![[1.0], [2.0], [3.5]], array![[1.5], [2.0], [3.0]]);
/// scores.add(predicted.view(), y.view())?;
/// let of_first = scores.of_target(0).expect("a target");
/// assert_eq!(of_first.mae.map(|score| score.value), Some(1.0 / 3.0));
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct AmountScores {
    rows: u64,
    thinning: Thinning,
    targets: Vec<Target>,
}

/// Scores of one target, each with its deviation; `None` where rows say nothing of it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct AmountScore {
    /// Root of the mean squared error.
    pub rmse: Option<Score>,
    /// Mean size of the error.
    pub mae: Option<Score>,
    /// Median size of the error; beyond a million rows, that of a part of them.
    pub median_error: Option<Score>,
    /// `1 - sum (y - p)^2 / sum (y - mean)^2`: 1 is perfect, 0 as good as the mean of these rows.
    pub r2: Option<Score>,
}

/// How predictions do as a quantile of one target; `None` where rows say nothing of it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct QuantileScore {
    /// Mean of `level max(0, y - p) + (1 - level) max(0, p - y)`, which the quantile makes least.
    pub pinball_loss: Option<Score>,
    /// The share of targets at or below their predictions: the level, if these are right.
    pub coverage: Option<Score>,
}

#[derive(Debug, Clone)]
struct Target {
    /// Near the targets, so that their squares lose no digits.
    shift: f64,
    groups: [Sums; GROUPS],
    /// Sizes of errors, each with its group.
    kept: Vec<(f64, u8)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    rows: f64,
    y: f64,
    y_squared: f64,
    /// Sizes of errors.
    error: f64,
    error_squared: f64,
    /// `y - p`.
    signed: f64,
    /// Rows whose target is at or below its prediction.
    covered: f64,
}

impl Sums {
    fn plus(self, other: Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            y: self.y + other.y,
            y_squared: self.y_squared + other.y_squared,
            error: self.error + other.error,
            error_squared: self.error_squared + other.error_squared,
            signed: self.signed + other.signed,
            covered: self.covered + other.covered,
        }
    }
}

impl AmountScores {
    /// No rows yet, of so many targets.
    pub fn new(targets: usize) -> Self {
        let target = Target {
            shift: 0.0,
            groups: [Sums::default(); GROUPS],
            kept: Vec::new(),
        };
        Self {
            rows: 0,
            thinning: Thinning::default(),
            targets: vec![target; targets],
        }
    }

    /// Takes a chunk of predictions and targets, `[n, t]`. Errors with [`Error::Shape`] when their
    /// shapes differ.
    pub fn add(&mut self, predicted: ArrayView2<'_, f64>, y: ArrayView2<'_, f64>) -> Result<()> {
        if predicted.dim() != y.dim() || y.ncols() != self.targets.len() {
            let problem = format!(
                "predictions are {:?} and targets {:?}, of {} targets",
                predicted.dim(),
                y.dim(),
                self.targets.len()
            );
            return Err(Error::shape(problem));
        }
        for (p, y) in predicted.rows().into_iter().zip(y.rows()) {
            let (row, kept) = (self.rows, self.thinning.keeps(self.rows));
            let group = group_of(row);
            for ((target, &p), &y) in self.targets.iter_mut().zip(p).zip(y) {
                if row == 0 {
                    target.shift = y;
                }
                target.add((p, y), group);
                if kept {
                    target.kept.push(((p - y).abs(), group as u8));
                }
            }
            self.rows += 1;
            self.thin();
        }
        Ok(())
    }

    /// Lets half of the errors go where there are too many.
    fn thin(&mut self) {
        let most = (KEPT / self.targets.len().max(1)).max(LEAST_KEPT);
        if self
            .targets
            .first()
            .is_none_or(|target| target.kept.len() <= most)
        {
            return;
        }
        let before = self.thinning;
        self.thinning.halve();
        let after = self.thinning;
        let rows = (0..self.rows).filter(|row| before.keeps(*row));
        let stays: Vec<bool> = rows.map(|row| after.keeps(row)).collect();
        for target in &mut self.targets {
            let mut stays = stays.iter();
            target.kept.retain(|_| stays.next() == Some(&true));
        }
    }

    /// Rows seen.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of targets.
    pub fn targets(&self) -> usize {
        self.targets.len()
    }

    /// The scores of a target, if there is one of this number.
    pub fn of_target(&self, target: usize) -> Option<AmountScore> {
        self.targets.get(target).map(Target::score)
    }

    /// How predictions do as the quantile of this level, between 0 and 1, of a target, if there is
    /// one of this number.
    ///
    /// ```
    /// use bochner::models::AmountScores;
    /// use ndarray::array;
    /// let mut scores = AmountScores::new(1);
    /// let predicted = array![[1.0], [2.0], [3.0], [4.0]];
    /// let y = array![[0.0], [2.0], [1.0], [5.0]];
    /// scores.add(predicted.view(), y.view())?;
    /// let of_first = scores.of_quantile(0, 0.9).expect("a target");
    /// assert_eq!(of_first.coverage.map(|score| score.value), Some(0.75));
    /// let pinball = of_first.pinball_loss.expect("of four rows").value;
    /// assert!((pinball - (0.1 * 1.0 + 0.1 * 2.0 + 0.9 * 1.0) / 4.0).abs() < 1e-12);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn of_quantile(&self, target: usize, level: f64) -> Option<QuantileScore> {
        let target = self.targets.get(target)?;
        Some(QuantileScore {
            // Half of the size, and what one side weighs more than the other.
            pinball_loss: target
                .by(|all| (0.5 * all.error + (level - 0.5) * all.signed) / all.rows),
            coverage: target.by(|all| all.covered / all.rows),
        })
    }
}

impl AmountScores {
    /// The scores that tell of a target, by name: of a `quantile` of this level its own loss and
    /// its coverage, else errors and R2. None of a target that there is not.
    pub fn named(&self, target: usize, quantile: Option<f64>) -> Vec<(&'static str, Score)> {
        let Some(score) = self.of_target(target) else {
            return Vec::new();
        };
        let quantile = quantile.and_then(|level| self.of_quantile(target, level));
        let all = match quantile {
            None => [
                ("rmse", score.rmse),
                ("mae", score.mae),
                ("median_error", score.median_error),
                ("r2", score.r2),
            ],
            Some(quantile) => [
                ("pinball_loss", quantile.pinball_loss),
                ("coverage", quantile.coverage),
                ("mae", score.mae),
                ("median_error", score.median_error),
            ],
        };
        present(all)
    }
}

impl Target {
    fn add(&mut self, (p, y): (f64, f64), group: usize) {
        let (error, y) = (p - y, y - self.shift);
        self.groups[group] = self.groups[group].plus(Sums {
            rows: 1.0,
            y,
            y_squared: y * y,
            error: error.abs(),
            error_squared: error * error,
            signed: -error,
            covered: f64::from(error >= 0.0),
        });
    }

    /// What sums come to.
    fn by(&self, f: impl Fn(Sums) -> f64) -> Option<Score> {
        let holds = |group: usize| self.groups[group].rows > 0.0;
        Score::jackknife(holds, |skip| {
            let kept = self.groups.iter().enumerate();
            let kept = kept.filter(|(group, _)| Some(*group) != skip);
            f(kept.fold(Sums::default(), |all, (_, sums)| all.plus(*sums)))
        })
    }

    fn score(&self) -> AmountScore {
        AmountScore {
            rmse: self.by(|all| (all.error_squared / all.rows).sqrt()),
            mae: self.by(|all| all.error / all.rows),
            median_error: self.median_error(),
            r2: self.by(|all| {
                let spread = all.y_squared - all.y * all.y / all.rows;
                1.0 - all.error_squared / spread
            }),
        }
    }

    fn median_error(&self) -> Option<Score> {
        let mut sorted = self.kept.clone();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let holds = |group: usize| sorted.iter().any(|(_, of)| usize::from(*of) == group);
        Score::jackknife(holds, |skip| {
            let kept = || {
                let all = sorted.iter();
                all.filter(|(_, group)| Some(usize::from(*group)) != skip)
            };
            let count = kept().count();
            let middle = kept().skip(count.saturating_sub(1) / 2);
            let both: Vec<f64> = middle
                .take(2 - count % 2)
                .map(|(error, _)| *error)
                .collect();
            both.iter().sum::<f64>() / both.len() as f64
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array, s};

    #[test]
    fn scores_are_those_of_their_formulas() {
        // Far from zero, where squares of the targets alone would lose digits.
        let y = array![[1e6], [1e6 + 1.0], [1e6 + 2.0], [1e6 + 5.0]];
        let error = array![[0.5], [-1.0], [0.0], [2.0]];
        let mut scores = AmountScores::new(1);
        scores.add((&y + &error).view(), y.view()).expect("adds");
        let score = scores.of_target(0).expect("a target");
        let near = |score: Option<Score>, known: f64| {
            let value = score.expect("a score").value;
            assert!((value - known).abs() < 1e-9, "{value} and {known}");
        };
        near(score.rmse, (5.25_f64 / 4.0).sqrt());
        near(score.mae, 3.5 / 4.0);
        near(score.median_error, 0.75);
        near(score.r2, 1.0 - 5.25 / 14.0);
        assert!(scores.of_target(1).is_none() && scores.rows() == 4);
    }

    /// The deviation of a score of few rows is that without each of them, where there is a score
    /// without them.
    #[test]
    fn few_rows_know_no_more_than_they_hold() {
        let of = |errors: &[f64]| {
            let y = Array2::from_shape_fn((errors.len(), 1), |(i, _)| i as f64);
            let p = Array2::from_shape_fn(y.dim(), |(i, _)| i as f64 + errors[i]);
            let mut scores = AmountScores::new(1);
            scores.add(p.view(), y.view()).expect("adds");
            scores.of_target(0).expect("a target")
        };
        let one = of(&[0.5]);
        let mae = one.mae.expect("a row");
        assert_eq!((one.r2, mae.value), (None, 0.5));
        assert!(mae.deviation.is_nan(), "{mae:?}");
        let two = of(&[0.5, 1.0]);
        let (mae, r2) = (two.mae.expect("rows"), two.r2.expect("they vary"));
        assert!((mae.deviation - 0.25).abs() < 1e-12, "{mae:?}");
        assert!(r2.deviation.is_nan() && r2.value == -1.5, "{r2:?}");
    }

    /// Of normal targets predicted by the quantile of their law: the share below it, and the loss
    /// `phi(z)` (the density there), which every other prediction has more of.
    #[test]
    fn a_quantile_covers_its_share_at_the_least_loss() {
        let mut draws = crate::seed::Seed(3).stream(crate::seed::Stream::Data, 0);
        let y = Array2::from_shape_simple_fn((40_000, 1), || draws.normal());
        let of = |predicted: f64, level: f64| {
            let mut scores = AmountScores::new(1);
            let p = Array2::from_elem(y.dim(), predicted);
            scores.add(p.view(), y.view()).expect("adds");
            let score = scores.of_quantile(0, level).expect("a target");
            (
                score.pinball_loss.expect("rows").value,
                score.coverage.expect("rows").value,
            )
        };
        for (level, z) in [(0.1, -1.281_55), (0.5, 0.0), (0.9, 1.281_55)] {
            let (loss, coverage) = of(z, level);
            let known = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
            assert!(
                (loss / known - 1.0).abs() < 0.02,
                "{level}: {loss} and {known}"
            );
            assert!((coverage - level).abs() < 0.006, "{level}: {coverage}");
            for other in [z - 0.2, z + 0.2] {
                assert!(of(other, level).0 > 1.005 * loss, "{level}: {other}");
            }
        }
        assert!(AmountScores::new(1).of_quantile(1, 0.5).is_none());
    }

    /// Standard errors of Gaussian errors: of the root mean square `s / sqrt(2 n)`, of the mean
    /// size `s sqrt((1 - 2 / pi) / n)`.
    #[test]
    fn deviations_are_those_of_other_rows() {
        let (mut rmse, mut mae, turns) = (0.0, 0.0, 30);
        for turn in 0..turns {
            let mut draws = crate::seed::Seed(turn).stream(crate::seed::Stream::Data, 0);
            let y = Array2::zeros((800, 1));
            let p = Array2::from_shape_simple_fn((800, 1), || draws.normal());
            let mut scores = AmountScores::new(1);
            scores.add(p.view(), y.view()).expect("adds");
            let score = scores.of_target(0).expect("a target");
            rmse += score.rmse.expect("rmse").deviation / turns as f64;
            mae += score.mae.expect("mae").deviation / turns as f64;
        }
        let n = 800.0_f64;
        let known = [
            (2.0 * n).sqrt().recip(),
            ((1.0 - 2.0 / std::f64::consts::PI) / n).sqrt(),
        ];
        assert!(
            (rmse / known[0] - 1.0).abs() < 0.08,
            "{rmse} and {}",
            known[0]
        );
        assert!(
            (mae / known[1] - 1.0).abs() < 0.08,
            "{mae} and {}",
            known[1]
        );
    }

    #[test]
    fn chunks_change_nothing_and_errors_are_thinned() {
        let rows = (KEPT / 512 + 100, 512);
        let y = Array2::from_shape_fn(rows, |(i, j)| ((i * 31 + j) % 97) as f64);
        let p = Array2::from_shape_fn(rows, |(i, j)| ((i * 17 + j * 5) % 89) as f64);
        let mut whole = AmountScores::new(512);
        whole.add(p.view(), y.view()).expect("adds");
        let mut parts = AmountScores::new(512);
        for at in (0..rows.0).step_by(700) {
            let range = at..(at + 700).min(rows.0);
            let (p, y) = (p.slice(s![range.clone(), ..]), y.slice(s![range, ..]));
            parts.add(p, y).expect("adds");
        }
        assert_eq!(whole.of_target(3), parts.of_target(3));
        let kept = whole.targets[3].kept.len();
        assert!((KEPT / 512 / 3..=KEPT / 512).contains(&kept), "{kept}");
        let errors = (&p - &y).column(3).mapv(f64::abs);
        let mut errors = errors.to_vec();
        errors.sort_by(f64::total_cmp);
        let median = whole
            .of_target(3)
            .and_then(|score| score.median_error)
            .expect("a median");
        let known = errors[errors.len() / 2];
        assert!(
            (median.value - known).abs() < 4.0 * median.deviation.max(0.5),
            "{median:?} {known}"
        );
    }
}
