//! Metrics of classification: labels, probabilities and rankings.

use super::{
    groups::{GROUPS, Score, group_of},
    present,
    ranks::Ranks,
};
use crate::{Error, Result};
use ndarray::ArrayView2;

/// Maximum number of classes for ranking metrics.
const RANKED: usize = 40;
/// Number of bins of equal width for the calibration error.
const PARTS: usize = 15;

/// Accumulates counts for classification metrics; chunks are added by [`Self::add`].
///
/// ```
/// use bochner::models::LabelScores;
/// use ndarray::array;
/// let mut scores = LabelScores::new(&[0.0, 1.0]);
/// let raw = array![[0.4, -0.4], [0.1, -0.1], [-0.9, 0.9]];
/// let (predicted, y) = (array![[0.0], [0.0], [1.0]], array![[0.0], [1.0], [1.0]]);
/// scores.add(predicted.view(), raw.view(), y.view())?;
/// assert_eq!(scores.accuracy().map(|score| score.value), Some(2.0 / 3.0));
/// assert_eq!(scores.auc().map(|score| score.value), Some(1.0));
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LabelScores {
    labels: Vec<f64>,
    rows: u64,
    groups: Vec<Counts>,
    /// For few classes.
    ranks: Option<Ranks>,
}

/// Metrics of one class, each with its standard deviation; `None` if undefined for these rows.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ClassScore {
    /// Number of rows of the class.
    pub rows: u64,
    /// Share of the rows predicted as the class that belong to it.
    pub precision: Option<Score>,
    /// Share of the rows of the class that are predicted as such.
    pub recall: Option<Score>,
    /// Harmonic mean of both.
    pub f1: Option<Score>,
}

/// Sums over a group of rows.
#[derive(Debug, Clone)]
struct Counts {
    rows: f64,
    right: f64,
    /// For each class: rows of it, rows predicted as it, and rows that are both.
    of: Vec<[f64; 3]>,
    /// Rows with probabilities, and sums of their losses.
    probable: f64,
    log_loss: f64,
    brier: f64,
    /// For each bin of the largest probability: the sum of these, less the number of correct rows.
    off: [f64; PARTS],
}

impl LabelScores {
    /// Starts without rows, for these classes.
    pub fn new(labels: &[f64]) -> Self {
        let none = Counts {
            rows: 0.0,
            right: 0.0,
            of: vec![[0.0; 3]; labels.len()],
            probable: 0.0,
            log_loss: 0.0,
            brier: 0.0,
            off: [0.0; PARTS],
        };
        Self {
            labels: labels.to_vec(),
            rows: 0,
            groups: vec![none; GROUPS],
            ranks: (2..=RANKED)
                .contains(&labels.len())
                .then(|| Ranks::new(labels.len())),
        }
    }

    /// Adds a chunk of predicted labels `[n, 1]`, their raw scores `[n, classes]`, and labels `[n,
    /// 1]`. Errors with [`Error::Shape`] on inconsistent shapes.
    pub fn add(
        &mut self,
        predicted: ArrayView2<'_, f64>,
        raw_nt: ArrayView2<'_, f64>,
        y: ArrayView2<'_, f64>,
    ) -> Result<()> {
        self.check(raw_nt, y)?;
        let classes: Vec<_> = y.column(0).iter().map(|y| self.class(*y)).collect();
        let taken = predicted.column(0).into_iter();
        for (i, (class, &p)) in classes.iter().zip(taken).enumerate() {
            let taken = self.class(p);
            let counts = &mut self.groups[group_of(self.rows + i as u64)];
            counts.rows += 1.0;
            if let Some(class) = class {
                counts.of[*class][0] += 1.0;
            }
            if let Some(taken) = taken {
                counts.of[taken][1] += 1.0;
                if *class == Some(taken) {
                    counts.of[taken][2] += 1.0;
                    counts.right += 1.0;
                }
            }
        }
        if let Some(ranks) = &mut self.ranks {
            ranks.add(raw_nt, classes.into_iter());
        }
        self.rows += y.nrows() as u64;
        Ok(())
    }

    /// Adds the probabilities `[n, classes]` of the chunk that was passed to [`Self::add`] last,
    /// with its labels. An unknown label has probability zero.
    pub fn add_probabilities(
        &mut self,
        p_nt: ArrayView2<'_, f64>,
        y: ArrayView2<'_, f64>,
    ) -> Result<()> {
        self.check(p_nt, y)?;
        let first = self.rows.saturating_sub(y.nrows() as u64);
        for (i, (p, y)) in p_nt.rows().into_iter().zip(y.column(0)).enumerate() {
            let class = self.class(*y);
            let counts = &mut self.groups[group_of(first + i as u64)];
            counts.probable += 1.0;
            // Clamps the probability, so that one row cannot make the mean infinite.
            let own = class.map_or(0.0, |class| p[class]);
            counts.log_loss -= own.max(f64::EPSILON).ln();
            let squares = p.iter().map(|p| p * p).sum::<f64>() - own * own + (1.0 - own).powi(2);
            counts.brier += if p.len() == 2 { squares / 2.0 } else { squares };
            let likeliest = p.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
            if let Some((taken, &p)) = likeliest {
                let part = ((p * PARTS as f64) as usize).min(PARTS - 1);
                counts.off[part] += p - f64::from(u8::from(class == Some(taken)));
            }
        }
        Ok(())
    }

    fn check(&self, scores_nt: ArrayView2<'_, f64>, y: ArrayView2<'_, f64>) -> Result<()> {
        if scores_nt.dim() == (y.nrows(), self.labels.len()) && y.ncols() == 1 {
            Ok(())
        } else {
            Err(Error::shape(format!(
                "scores are {:?}, labels {:?} of {} classes",
                scores_nt.dim(),
                y.dim(),
                self.labels.len()
            )))
        }
    }

    fn class(&self, label: f64) -> Option<usize> {
        self.labels.iter().position(|own| *own == label)
    }

    /// A function of the counts of all rows, with its deviation.
    fn by(&self, f: impl Fn(&mut dyn Iterator<Item = &Counts>) -> f64) -> Option<Score> {
        let holds = |group: usize| self.groups[group].rows > 0.0;
        Score::jackknife(holds, |skip| {
            let kept = self.groups.iter().enumerate();
            let kept = kept.filter(|(group, _)| Some(*group) != skip);
            f(&mut kept.map(|(_, counts)| counts))
        })
    }

    /// Ratio of two counts, with its deviation.
    fn mean(&self, of: fn(&Counts) -> f64, over: fn(&Counts) -> f64) -> Option<Score> {
        self.by(|groups| {
            let sums = groups.fold([0.0; 2], |[a, b], counts| {
                [a + of(counts), b + over(counts)]
            });
            sums[0] / sums[1]
        })
    }

    /// Number of rows added.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Share of correct predictions.
    pub fn accuracy(&self) -> Option<Score> {
        self.mean(|counts| counts.right, |counts| counts.rows)
    }

    /// Share of the most frequent class in the rows, the accuracy of always predicting it, and the
    /// index of the class.
    #[doc(hidden)]
    pub fn base_rate(&self) -> (f64, usize) {
        let rows = |class: usize| {
            self.groups
                .iter()
                .map(|counts| counts.of[class][0])
                .sum::<f64>()
        };
        let all = (0..self.labels.len()).map(|class| (rows(class) / self.rows as f64, class));
        all.fold(
            (0.0, 0),
            |best, own| if own.0 > best.0 { own } else { best },
        )
    }

    /// Mean of `-log p` of the labels; `None` without probabilities.
    pub fn log_loss(&self) -> Option<Score> {
        self.mean(|counts| counts.log_loss, |counts| counts.probable)
    }

    /// Mean squared error of probabilities (Brier 1950): for two classes `(p - y)^2` of either, for
    /// more the sum over all; `None` without probabilities.
    pub fn brier(&self) -> Option<Score> {
        self.mean(|counts| counts.brier, |counts| counts.probable)
    }

    /// Expected calibration error: the mean absolute difference between the largest probability and
    /// the accuracy, in 15 bins of equal width (Naeini, Cooper & Hauskrecht 2015); `None` without
    /// probabilities.
    pub fn calibration_error(&self) -> Option<Score> {
        self.by(|groups| {
            let (mut off, mut rows) = ([0.0; PARTS], 0.0);
            for counts in groups {
                rows += counts.probable;
                off.iter_mut()
                    .zip(counts.off)
                    .for_each(|(sum, own)| *sum += own);
            }
            off.iter().map(|off| off.abs()).sum::<f64>() / rows
        })
    }

    /// Area under the ROC curve: the share of pairs, a row of a class and another row, that its
    /// scores rank correctly. For two classes that of the second, for more the mean over classes;
    /// `None` for more than 40.
    pub fn auc(&self) -> Option<Score> {
        let ranks = self.ranks.as_ref()?;
        ranks.score(&self.ranked(), |order| order.auc)
    }

    /// Average precision, the sum over thresholds of precision times the increase in recall: for
    /// two classes that of [the rarer](Self::rarer), for more the mean over classes; `None` for
    /// more than 40.
    pub fn average_precision(&self) -> Option<Score> {
        let ranks = self.ranks.as_ref()?;
        let ranked = self
            .rarer()
            .map_or_else(|| self.ranked(), |rarer| vec![rarer]);
        ranks.score(&ranked, |order| order.average_precision)
    }

    /// Index of the class, of two, that has fewer rows; the second if equal.
    #[doc(hidden)]
    pub fn rarer(&self) -> Option<usize> {
        let rows = |class: usize| {
            let rows = self.groups.iter().map(|counts| counts.of[class][0]);
            rows.sum::<f64>()
        };
        (self.labels.len() == 2).then(|| usize::from(rows(1) <= rows(0)))
    }

    fn ranked(&self) -> Vec<usize> {
        match self.labels.len() {
            2 => vec![1],
            classes => (0..classes).collect(),
        }
    }

    /// Metrics over all classes by name; without undefined ones.
    #[doc(hidden)]
    pub fn named(&self) -> Vec<(&'static str, Score)> {
        present([
            ("accuracy", self.accuracy()),
            ("log_loss", self.log_loss()),
            ("brier", self.brier()),
            ("calibration_error", self.calibration_error()),
            ("auc", self.auc()),
            ("average_precision", self.average_precision()),
        ])
    }

    /// Precision, recall and F1 of each class, in the order of the labels.
    pub fn classes(&self) -> Vec<ClassScore> {
        let of = |class: usize| {
            let by = |f: fn([f64; 3]) -> f64| {
                self.by(|groups| {
                    f(groups.fold([0.0; 3], |all, counts| {
                        let own = counts.of[class];
                        [all[0] + own[0], all[1] + own[1], all[2] + own[2]]
                    }))
                })
            };
            let rows = self.groups.iter().map(|counts| counts.of[class][0]);
            ClassScore {
                rows: rows.sum::<f64>() as u64,
                precision: by(|[_, taken, right]| right / taken),
                recall: by(|[own, _, right]| right / own),
                f1: by(|[own, taken, right]| 2.0 * right / (own + taken)),
            }
        };
        (0..self.labels.len()).map(of).collect()
    }

    /// The largest F1 over thresholds on the scores of a class, and the smallest raw score that is
    /// then assigned to it.
    pub fn best_threshold(&self, class: usize) -> Option<(f64, f64)> {
        self.ranks
            .as_ref()
            .filter(|_| class < self.labels.len())?
            .best(class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    fn near(score: Option<Score>, known: f64) {
        let value = score.expect("a score").value;
        assert!((value - known).abs() < 1e-12, "{value} and {known}");
    }

    #[test]
    fn scores_are_those_of_their_formulas() {
        let mut scores = LabelScores::new(&[0.0, 1.0]);
        let y = array![[0.0], [0.0], [1.0], [1.0], [1.0], [7.0]];
        let p1: [f64; 6] = [0.2, 0.6, 0.7, 0.9, 0.4, 0.9];
        let p = Array2::from_shape_fn((6, 2), |(i, j)| if j == 1 { p1[i] } else { 1.0 - p1[i] });
        let taken = Array2::from_shape_fn((6, 1), |(i, _)| f64::from(u8::from(p1[i] > 0.5)));
        scores.add(taken.view(), p.view(), y.view()).expect("adds");
        scores.add_probabilities(p.view(), y.view()).expect("adds");
        near(scores.accuracy(), 3.0 / 6.0);
        assert_eq!(scores.base_rate(), (0.5, 1));
        let losses = [0.8_f64, 0.4, 0.7, 0.9, 0.4, f64::EPSILON].map(|p| -p.ln());
        near(scores.log_loss(), losses.iter().sum::<f64>() / 6.0);
        // For the row with an unknown label both probabilities are wrong.
        let squares = [0.04, 0.36, 0.09, 0.01, 0.36, (0.01 + 0.81 + 1.0) / 2.0];
        near(scores.brier(), squares.iter().sum::<f64>() / 6.0);
        // Bins of .6 and .6 (one wrong each), .7, .8, and .9 and .9 (one wrong).
        let off = [0.6 + 0.6 - 0.0, 0.7 - 1.0, 0.8 - 1.0, 0.9 + 0.9 - 1.0_f64];
        near(
            scores.calibration_error(),
            off.map(f64::abs).iter().sum::<f64>() / 6.0,
        );
        let classes = scores.classes();
        near(classes[1].precision, 2.0 / 4.0);
        near(classes[1].recall, 2.0 / 3.0);
        near(classes[1].f1, 4.0 / 7.0);
        assert_eq!((classes[0].rows, classes[1].rows), (2, 3));
        near(scores.auc(), 5.5 / 9.0);
        // For the rarer class: its rows have .8 and .4, another .6.
        assert_eq!(scores.rarer(), Some(0));
        near(scores.average_precision(), 0.5 + 0.5 * 2.0 / 3.0);
        assert!(
            scores
                .add(taken.view(), p1_alone().view(), y.view())
                .is_err()
        );
    }

    fn p1_alone() -> Array2<f64> {
        Array2::zeros((6, 1))
    }

    /// The deviation of a share is `sqrt(p (1 - p) / n)`.
    #[test]
    fn the_deviation_of_the_accuracy_is_known() {
        let turns = 30;
        let mut deviation = 0.0;
        for turn in 0..turns {
            let mut draws = crate::seed::Seed(turn).stream(crate::seed::Stream::Data, 0);
            let y = Array2::zeros((700, 1));
            let taken = Array2::from_shape_simple_fn((700, 1), || {
                f64::from(u8::from(draws.uniform() < 0.2))
            });
            let mut scores = LabelScores::new(&[0.0, 1.0]);
            let raw = Array2::zeros((700, 2));
            scores
                .add(taken.view(), raw.view(), y.view())
                .expect("adds");
            deviation += scores.accuracy().expect("a share").deviation / f64::from(turns as u32);
        }
        let known = (0.2_f64 * 0.8 / 700.0).sqrt();
        assert!(
            (deviation / known - 1.0).abs() < 0.08,
            "{deviation} and {known}"
        );
    }
}
