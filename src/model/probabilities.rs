//! Probabilities of classes from their scores.

mod of_model;
mod predictor;
mod tempered;
#[cfg(test)]
mod tests;

pub use predictor::ProbabilityPredictor;

use crate::{Error, Result, linalg::entries, solve::ClassSpread, store::Store};
use ndarray::{Array2, ArrayView1, Axis};

/// How the scores of a classifier become probabilities.
#[derive(Debug, Clone, PartialEq)]
pub enum Probabilities {
    /// `exp(s_k) / sum_j exp(s_j)`: scores are log odds.
    Softmax,
    /// `p_k` proportional to `1 / (1 + exp(-(slope_k s_k + offset_k)))` (Platt 1999; Zadrozny &
    /// Elkan 2002).
    Sigmoids {
        /// `[t]`.
        slope_t: Vec<f64>,
        /// `[t]`.
        offset_t: Vec<f64>,
    },
    /// `softmax(slope s_k + offset_k)`: one slope for the scores of all classes (temperature
    /// scaling, Guo et al. 2017).
    Tempered {
        /// Of all scores.
        slope: f64,
        /// `[t]`.
        offset_t: Vec<f64>,
    },
    /// Means of sigmoids over log odds that are normal: around those of the scores, with the
    /// variance that [`LinearModel::spread`](crate::models::LinearModel::spread) gives each row; of
    /// more than two classes means of softmaxes, by
    /// [`LinearModel::class_spread`](crate::models::LinearModel::class_spread).
    /// [`ProbabilityPredictor`] has them.
    Averaged,
}

impl Probabilities {
    /// Probabilities from scores `[n, t]`; every row sums to 1. Of [`Self::Averaged`], those of
    /// the scores alone, as if nothing varied.
    pub fn of(&self, mut scores_nt: Array2<f64>) -> Array2<f64> {
        if let Self::Tempered { slope, offset_t } = self {
            for (mut column, offset) in scores_nt.columns_mut().into_iter().zip(offset_t) {
                column.mapv_inplace(|s| slope * s + offset);
            }
        }
        for mut row in scores_nt.rows_mut() {
            match self {
                Self::Softmax | Self::Tempered { .. } | Self::Averaged => {
                    let top = row.fold(f64::NEG_INFINITY, |m, &s| m.max(s));
                    entries::exp_below(row.view_mut(), top);
                }
                Self::Sigmoids { slope_t, offset_t } => {
                    let sigmoids = slope_t.iter().zip(offset_t);
                    for (p, (slope, offset)) in row.iter_mut().zip(sigmoids) {
                        *p = 1.0 / (1.0 + (-(slope * *p + offset)).exp());
                    }
                }
            }
            let (sum, classes) = (row.sum(), row.len() as f64);
            if sum > 0.0 {
                row /= sum
            } else {
                // All sigmoids are zero in f64: nothing is known.
                row.fill(1.0 / classes)
            }
        }
        scores_nt
    }

    /// For scores `[n, t]` of rows that the fit did not see, with their classes: sigmoids of two,
    /// one softmax of more. Sigmoids of many classes, each right by itself, say twice what speaks
    /// against a row's other classes when they are brought to a sum of 1.
    pub(crate) fn fitted(scores_nt: &Array2<f64>, class_n: &[usize]) -> Self {
        if scores_nt.ncols() == 2 {
            return Self::sigmoids(scores_nt, class_n);
        }
        let (slope, offset_t) = tempered::tempered(scores_nt, class_n);
        Self::Tempered { slope, offset_t }
    }

    fn sigmoids(scores_nt: &Array2<f64>, class_n: &[usize]) -> Self {
        let columns = scores_nt.axis_iter(Axis(1)).enumerate();
        let (slope_t, offset_t) = columns
            .map(|(k, scores)| platt(scores, |i| class_n[i] == k))
            .unzip();
        Self::Sigmoids { slope_t, offset_t }
    }

    pub(crate) fn write(&self, store: &mut Store) {
        match self {
            Self::Softmax => store.set("probabilities", "softmax"),
            Self::Tempered { slope, offset_t } => {
                store.set("probabilities", "tempered");
                store.set("softmax_slope", slope);
                store.put_vector("softmax_offsets", offset_t);
            }
            Self::Averaged => store.set("probabilities", "averaged"),
            Self::Sigmoids { slope_t, offset_t } => {
                store.set("probabilities", "sigmoids");
                store.put_vector("sigmoid_slopes", slope_t);
                store.put_vector("sigmoid_offsets", offset_t);
            }
        }
    }

    /// `None` if a file has none.
    pub(crate) fn read(store: &Store, outputs: usize) -> Result<Option<Self>> {
        const NAME: &str = "probabilities";
        if !store.has_property(NAME) {
            return Ok(None);
        }
        Ok(Some(match store.text(NAME)? {
            "softmax" => Self::Softmax,
            "tempered" => Self::Tempered {
                slope: store.get("softmax_slope")?,
                offset_t: store.vector("softmax_offsets", outputs)?.to_vec(),
            },
            "averaged" if outputs == 2 && store.has("spread_root") => Self::Averaged,
            "averaged" if outputs > 2 && ClassSpread::is_in(store) => Self::Averaged,
            "sigmoids" => Self::Sigmoids {
                slope_t: store.vector("sigmoid_slopes", outputs)?.to_vec(),
                offset_t: store.vector("sigmoid_offsets", outputs)?.to_vec(),
            },
            other => {
                let problem = format!("probabilities by {other:?} are not known");
                return Err(Error::format(problem));
            }
        }))
    }
}

/// Slope and offset of the sigmoid with the greatest likelihood (Platt 1999), by Newton's method as
/// Lin, Lin & Weng (2007) have it; targets are drawn in as if one more row of each side had been
/// seen.
fn platt(scores: ArrayView1<'_, f64>, is: impl Fn(usize) -> bool) -> (f64, f64) {
    let n = scores.len();
    let yes = (0..n).filter(|&i| is(i)).count() as f64;
    let no = n as f64 - yes;
    let (high, low) = ((yes + 1.0) / (yes + 2.0), 1.0 / (no + 2.0));
    let target = |i| if is(i) { high } else { low };
    // log(1 + exp(-u)) and exp(-u) / (1 + exp(-u)), without overflow.
    let loss = |a: f64, b: f64| -> f64 {
        let rows = scores.iter().enumerate();
        rows.map(|(i, s)| {
            let u = a * s + b;
            (-u.abs()).exp().ln_1p() + (-u).max(0.0) + (1.0 - target(i)) * u
        })
        .sum()
    };
    let (mut a, mut b) = (0.0, ((yes + 1.0) / (no + 1.0)).ln());
    let mut value = loss(a, b);
    for _ in 0..100 {
        let (mut ga, mut gb) = (0.0, 0.0);
        let (mut haa, mut hab, mut hbb) = (1e-12, 0.0, 1e-12);
        for (i, s) in scores.iter().enumerate() {
            let p = 1.0 / (1.0 + (-(a * s + b)).exp());
            let (d, w) = (p - target(i), p * (1.0 - p));
            ga += s * d;
            gb += d;
            haa += s * s * w;
            hab += s * w;
            hbb += w;
        }
        if f64::max(ga.abs(), gb.abs()) < 1e-7 {
            break;
        }
        let determinant = haa * hbb - hab * hab;
        let (da, db) = (
            (hab * gb - hbb * ga) / determinant,
            (hab * ga - haa * gb) / determinant,
        );
        let slope = ga * da + gb * db;
        let mut step = 1.0;
        let next = loop {
            let next = loss(a + step * da, b + step * db);
            if next <= value + 1e-4 * step * slope || step < 1e-10 {
                break next;
            }
            step *= 0.5;
        };
        // Written so that a slope that is no number ends it, too.
        if !(step >= 1e-10 && next.is_finite()) {
            break;
        }
        (a, b, value) = (a + step * da, b + step * db, next);
    }
    (a, b)
}
