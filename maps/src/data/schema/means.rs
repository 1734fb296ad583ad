//! Columns of many texts as smoothed means of the target.

use super::{forms::composed, hashed::number_of, places::Answers};
use crate::{
    data::parting::hash,
    error::{Error, Result},
    store::Store,
};
use ndarray::{Array2, ArrayView2};
use std::fmt;

/// Parts of the training rows; a row's own is no part of the means that it gets.
pub(super) const FOLDS: usize = 5;
/// Draws the folds, unlike any seed of a fit.
const SEED: u64 = 0x6d65_616e_735f_6f66;

/// The fold of a row of a table: of its place alone, so that chunks and threads do not matter.
pub(super) fn fold_of(row: u64) -> usize {
    (hash(SEED, row) % FOLDS as u64) as usize
}

/// What each text of a column says of the target, less what all rows say, in columns of one number
/// each.
///
/// Of text s with the rows i, whose weights w_i are 1 where there are none, it is
///
/// ```text
/// effect_s = W_s / (W_s + sigma2 / tau2) (mean_s - mean),   W_s = sum of w_i
/// ```
///
/// where mean_s is the mean of its rows' targets, mean that of all rows, sigma2 the variance of
/// targets about the means of their texts and tau2 that of the means themselves. This is the
/// empirical Bayes estimate of Micci-Barreca (2001, "A preprocessing scheme for high-cardinality
/// categorical attributes", equations 3 to 5) with the variances of a one-way layout of random
/// effects by analysis of variance (Searle, Casella & McCulloch 1992, "Variance Components",
/// section 3.6):
///
/// ```text
/// sigma2 = SSW / (N - S)
/// tau2   = (SSB - (S - 1) sigma2) / (W - sum of W_s^2 / W), at least 0
/// ```
///
/// of N rows, S texts, sums of squares SSW within and SSB between texts, W the sum of the W_s. The
/// unit is that of the target, of a class its share. A text that the fit did not see has 0: what
/// all rows say. Rows of the fit have the same of the rows in four other folds of five alone.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct TargetMeans {
    /// What each column is: `mean of price`, `share of yes`.
    pub(super) names: Vec<String>,
    /// Hashes of the texts, ascending.
    pub(super) texts: Vec<u64>,
    /// `[texts, columns]`.
    pub(super) effects: Vec<f64>,
}

impl TargetMeans {
    /// What the columns are: `mean of price`; of classes all but the first, `share of yes`.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of different texts.
    pub fn texts(&self) -> usize {
        self.texts.len()
    }

    /// The effects of a text, one a column; `None` of one that the fit did not see.
    pub fn effects(&self, text: &str) -> Option<&[f64]> {
        let columns = self.names.len();
        let place = self.place(text)?;
        Some(&self.effects[place * columns..][..columns])
    }

    fn place(&self, text: &str) -> Option<usize> {
        let find = |text: &str| self.texts.binary_search(&number_of(text)).ok();
        find(text).or_else(|| find(&composed(text)))
    }

    /// Puts them under names of their own.
    pub(super) fn store(&self) -> Store {
        let mut store = Store::default();
        // As two halves: no array of a file has 64-bit integers.
        let half = |(i, k): (usize, usize)| (self.texts[i] >> [32, 0][k]) as u32;
        let halves = Array2::from_shape_fn((self.texts.len(), 2), half);
        store.put_u32("texts", halves.view());
        let shape = (self.texts.len(), self.names.len());
        if let Ok(effects) = ArrayView2::from_shape(shape, &self.effects) {
            store.put_f64("effects", effects);
        }
        store
    }

    /// What [`Self::store`] gave, with what its columns are. Errors with [`Error::Format`] or
    /// [`Error::Missing`] on anything else.
    pub(super) fn read(store: &Store, names: Vec<String>) -> Result<Self> {
        let (halves, effects) = (store.u32("texts")?, store.f64("effects")?);
        let shape = (halves.nrows(), names.len());
        if halves.ncols() != 2 || effects.dim() != shape || names.is_empty() {
            return Err(Error::format("means of texts that do not go together"));
        }
        let whole = |row: ndarray::ArrayView1<'_, u32>| u64::from(row[0]) << 32 | u64::from(row[1]);
        let texts: Vec<u64> = halves.rows().into_iter().map(whole).collect();
        if !texts.is_sorted_by(|a, b| a < b) {
            return Err(Error::format("means of texts that are out of order"));
        }
        Ok(Self {
            names,
            texts,
            effects: effects.into_iter().collect(),
        })
    }
}

/// As reports say it: `5000 texts, by the mean of the target`.
impl fmt::Display for TargetMeans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_mean = self.names.iter().all(|name| name.starts_with("mean of "));
        let what = if is_mean {
            "mean of the target"
        } else {
            "shares of its classes"
        };
        write!(f, "{} texts, by the {what}", self.texts())
    }
}

/// What the rows have that a schema was learnt from, in the place of [`TargetMeans`]: effects by
/// the rows of other folds.
#[derive(Debug)]
pub(in crate::data) struct OutOfFold {
    /// Which rows those are. All others have no part in any mean.
    pub(super) learnt_from: Answers,
    /// Of each feature that is of means, `[texts, folds, columns]`.
    pub(super) effects: Vec<Option<Vec<f64>>>,
}

impl OutOfFold {
    /// The fold of a row, if it is one of those.
    fn fold(&self, row: u64) -> Option<usize> {
        self.learnt_from.get(row).then(|| fold_of(row))
    }
}

/// What a text becomes in a row of a table, where feature `j` is of these means; `None` where the
/// fit did not see the text. `training` is there for the table that the means are of.
pub(super) fn effects_in<'a>(
    (means, training): (&'a TargetMeans, Option<&'a OutOfFold>),
    (row, j): (u64, usize),
    text: &str,
) -> Option<&'a [f64]> {
    let own = training.and_then(|training| {
        let effects = training.effects.get(j)?.as_ref()?;
        Some((training.fold(row)?, effects))
    });
    let Some((fold, effects)) = own else {
        return means.effects(text);
    };
    let columns = means.names.len();
    let at = means.place(text)? * FOLDS + fold;
    Some(&effects[at * columns..][..columns])
}
