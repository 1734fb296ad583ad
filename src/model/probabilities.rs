//! Probabilities of classes from their scores.

pub(crate) mod averages;
mod of_model;
mod predictor;

pub use predictor::ProbabilityPredictor;

use crate::{Error, Result, linalg::entries, model::ClassSpread, store::Store};
use ndarray::Array2;

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
        /// Slope for all scores.
        slope: f64,
        /// `[t]`.
        offset_t: Vec<f64>,
    },
    /// Means of sigmoids over normally distributed log odds, centred at the scores, with the
    /// variance of each row from [`LinearModel::spread`](crate::models::LinearModel::spread); for
    /// more than two classes, means of softmaxes, with
    /// [`LinearModel::class_spread`](crate::models::LinearModel::class_spread).
    /// [`ProbabilityPredictor`] computes them.
    Averaged,
}

impl Probabilities {
    /// Probabilities from scores `[n, t]`; every row sums to 1. For [`Self::Averaged`], those at
    /// the scores, ignoring the variance.
    #[doc(hidden)]
    pub fn apply(&self, mut scores_nt: Array2<f64>) -> Array2<f64> {
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
                // All sigmoids underflow: uses equal probabilities.
                row.fill(1.0 / classes)
            }
        }
        scores_nt
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
