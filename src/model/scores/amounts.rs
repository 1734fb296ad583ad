//! Metrics of regression, for each target.

use super::{
    groups::{GROUPS, Score, Thinning, group_of},
    present,
};
use crate::{Error, Result};
use ndarray::ArrayView2;

/// Maximum number of errors kept for medians, over all targets.
const KEPT: usize = 1 << 20;
/// Minimum per target.
const LEAST_KEPT: usize = 1 << 10;

/// Running sums for metrics of regression: [`Self::add`] takes chunks, [`Self::of_target`] returns
/// the metrics.
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

/// Metrics of one target, each with its standard deviation; `None` if undefined for these rows.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct AmountScore {
    /// Root of the mean squared error.
    pub rmse: Option<Score>,
    /// Mean absolute error.
    pub mae: Option<Score>,
    /// Median absolute error; for more than a million rows, from a sample of them.
    pub median_error: Option<Score>,
    /// `1 - sum (y - p)^2 / sum (y - mean)^2`: 1 is perfect, 0 as good as the mean of these rows.
    pub r2: Option<Score>,
}

/// Metrics of predicted quantiles of one target; `None` if undefined for these rows.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct QuantileScore {
    /// Mean of `level max(0, y - p) + (1 - level) max(0, p - y)`, which the true quantile
    /// minimises.
    pub pinball_loss: Option<Score>,
    /// Share of targets at or below their predictions: ideally equal to the level.
    pub coverage: Option<Score>,
}

#[derive(Debug, Clone)]
struct Target {
    /// Offset close to the targets, so that their squares lose no digits.
    shift: f64,
    groups: [Sums; GROUPS],
    /// Absolute errors, each with its group.
    kept: Vec<(f64, u8)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    rows: f64,
    y: f64,
    y_squared: f64,
    /// Absolute errors.
    error: f64,
    error_squared: f64,
    /// `y - p`.
    signed: f64,
    /// Number of rows whose target is at or below its prediction.
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
    /// Starts without rows, for `targets` targets.
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

    /// Adds a chunk of predictions and targets, `[n, t]`. Errors with [`Error::Shape`] if their
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

    /// Drops half of the kept errors if there are too many.
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

    /// Number of rows added.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of targets.
    pub fn targets(&self) -> usize {
        self.targets.len()
    }

    /// The metrics of a target; `None` if there is no such target.
    pub fn of_target(&self, target: usize) -> Option<AmountScore> {
        self.targets.get(target).map(Target::score)
    }

    /// The metrics of predictions as quantiles at `level`, between 0 and 1, of a target; `None` if
    /// there is no such target.
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
            // Half of the absolute error, plus the asymmetry of the sides.
            pinball_loss: target
                .by(|all| (0.5 * all.error + (level - 0.5) * all.signed) / all.rows),
            coverage: target.by(|all| all.covered / all.rows),
        })
    }
}

impl AmountScores {
    /// The relevant metrics of a target by name: for a `quantile` at this level its loss and
    /// coverage, otherwise errors and R2. Empty if there is no such target.
    #[doc(hidden)]
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

    /// A function of the sums, with its deviation.
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
mod tests;
