//! Scores of rows that a fit has not seen, and the source of such rows.

use crate::{Error, Result, store::Store};
use ndarray::{Array2, Axis};
use std::{collections::HashMap, fmt};

/// Source of the unseen rows that prediction errors are estimated on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CalibratedOn {
    /// A separate calibration set.
    #[default]
    KeptBack,
    /// Leave-one-out: the training rows, by their leverages.
    LeftOut,
    /// Cross-validation with this number of folds.
    Folds(usize),
}

impl fmt::Display for CalibratedOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeptBack => f.write_str("rows kept back"),
            Self::LeftOut => f.write_str("rows left out in turn"),
            Self::Folds(folds) => write!(f, "{folds} folds left out in turn"),
        }
    }
}

const LEFT_OUT: &str = "left-out";
const FOLDS: &str = "folds:";

impl CalibratedOn {
    /// Nothing is written for a calibration set, as in older files, which had no other kind.
    pub(crate) fn write(self, name: &str, store: &mut Store) {
        match self {
            Self::KeptBack => {}
            Self::LeftOut => store.set(name, LEFT_OUT),
            Self::Folds(folds) => store.set(name, format!("{FOLDS}{folds}")),
        }
    }

    pub(crate) fn read(name: &str, store: &Store) -> Result<Self> {
        if !store.has_property(name) {
            return Ok(Self::KeptBack);
        }
        let text = store.text(name)?;
        let folds = || text.strip_prefix(FOLDS)?.parse().ok();
        match (text, folds()) {
            (LEFT_OUT, _) => Ok(Self::LeftOut),
            (_, Some(folds)) => Ok(Self::Folds(folds)),
            _ => Err(Error::format(format!(
                "calibration on {text:?} is not known"
            ))),
        }
    }
}

/// Scores of training rows by fits without them, `f_-i(x_i)`.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct LeftOutScores {
    /// Identifiers of the rows, [`hash_of_row`](crate::data::hash_of_row), `[m]`.
    pub id_m: Vec<u64>,
    /// Number of observations with these contents, `[m]`.
    pub count_m: Vec<f64>,
    /// Total weight of all rows with these contents, `[m]`.
    pub weight_m: Vec<f64>,
    /// Encoded targets, `[m, t]`: classes as -1 and 1.
    pub y_mt: Array2<f64>,
    /// Encoded targets less the scores, `[m, t]`.
    pub error_mt: Array2<f64>,
    /// Targets less the predictions of the fit to all rows, `[m, t]`, if available.
    pub residual_mt: Option<Array2<f64>>,
    /// How the rows were left out.
    pub on: CalibratedOn,
}

impl LeftOutScores {
    /// Errors with [`Error::Shape`] unless there is an error for each row and target, and residuals
    /// for all rows or for none.
    pub(crate) fn new(
        (id_m, count_m, weight_m): (Vec<u64>, Vec<f64>, Vec<f64>),
        (y, error, residual): (Vec<f64>, Vec<f64>, Vec<f64>),
        targets: usize,
        on: CalibratedOn,
    ) -> Result<Self> {
        let shape = (weight_m.len(), targets);
        let rows =
            |values| Array2::from_shape_vec(shape, values).map_err(|e| Error::shape(e.to_string()));
        Ok(Self {
            y_mt: rows(y)?,
            error_mt: rows(error)?,
            residual_mt: match residual.is_empty() {
                true => None,
                false => Some(rows(residual)?),
            },
            id_m,
            count_m,
            weight_m,
            on,
        })
    }

    /// Scores of a mean of models with shares that sum to 1, for the rows that all of them left
    /// out; `None` for no models, and if they left out rows in different ways.
    pub(crate) fn mean(all: &[(Self, f64)]) -> Option<Self> {
        let ((first, share), others) = all.split_first()?;
        let place = |of: &Self| -> HashMap<u64, usize> {
            of.id_m.iter().enumerate().map(|(i, &id)| (id, i)).collect()
        };
        let places: Vec<_> = others.iter().map(|(of, _)| place(of)).collect();
        let is_common = |i: &usize| places.iter().all(|of| of.contains_key(&first.id_m[*i]));
        let rows: Vec<usize> = (0..first.len()).filter(is_common).collect();
        if others.iter().any(|(of, _)| of.on != first.on) || rows.is_empty() {
            return None;
        }
        let mut error_mt = first.error_mt.select(Axis(0), &rows) * *share;
        let select = |of: &Self, own: &[usize]| Some(of.residual_mt.as_ref()?.select(Axis(0), own));
        let mut residual_mt = select(first, &rows).map(|residual_mt| residual_mt * *share);
        for ((of, share), places) in others.iter().zip(&places) {
            let own: Vec<usize> = rows.iter().map(|&i| places[&first.id_m[i]]).collect();
            error_mt.scaled_add(*share, &of.error_mt.select(Axis(0), &own));
            residual_mt = residual_mt
                .zip(select(of, &own))
                .map(|(sum, own)| sum + own * *share);
        }
        Some(Self {
            id_m: rows.iter().map(|&i| first.id_m[i]).collect(),
            count_m: rows.iter().map(|&i| first.count_m[i]).collect(),
            weight_m: rows.iter().map(|&i| first.weight_m[i]).collect(),
            y_mt: first.y_mt.select(Axis(0), &rows),
            error_mt,
            residual_mt,
            on: first.on,
        })
    }

    /// Number of distinct rows.
    pub(crate) fn len(&self) -> usize {
        self.weight_m.len()
    }

    /// Number of observations of the rows.
    pub(crate) fn observations(&self) -> f64 {
        self.count_m.iter().sum()
    }

    /// The scores, `[m, t]`.
    pub(crate) fn scores(&self) -> Array2<f64> {
        &self.y_mt - &self.error_mt
    }

    /// Predictions of the fit to all rows, `[m, t]`, or the leave-one-out scores if these are not
    /// available.
    pub(crate) fn fitted(&self) -> Array2<f64> {
        match &self.residual_mt {
            Some(residual_mt) => &self.y_mt - residual_mt,
            None => self.scores(),
        }
    }

    /// Whether every score is finite: rounding hides that of a row that alone determines it.
    pub(crate) fn are_known(&self) -> bool {
        self.error_mt.iter().all(|error| error.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows are matched by their contents, in any order.
    #[test]
    fn means_are_of_rows_that_all_left_out() {
        let of = |ids: &[u64], error: f64, on| {
            let errors = ids.iter().map(|&id| error * id as f64).collect();
            let y = ids.iter().map(|&id| 10.0 * id as f64).collect();
            let weights = vec![1.0; ids.len()];
            let scores = (y, errors, vec![error / 2.0; ids.len()]);
            LeftOutScores::new((ids.to_vec(), weights.clone(), weights), scores, 1, on)
                .expect("rows")
        };
        let on = CalibratedOn::LeftOut;
        let all = [
            (of(&[1, 2, 3, 4], 1.0, on), 0.25),
            (of(&[4, 5, 2, 1], 3.0, on), 0.75),
        ];
        let mean = LeftOutScores::mean(&all).expect("some rows");
        assert_eq!(mean.id_m, [1, 2, 4]);
        let errors: Vec<f64> = mean.error_mt.iter().copied().collect();
        assert_eq!(errors, [2.5, 5.0, 10.0]);
        let fitted: Vec<f64> = (&mean.y_mt - &mean.fitted()).iter().copied().collect();
        assert_eq!(fitted, [1.25; 3]);
        let scores: Vec<f64> = mean.scores().iter().copied().collect();
        assert_eq!(scores, [7.5, 15.0, 30.0]);
        let [first, _] = all;
        let other = (of(&[1, 2], 1.0, CalibratedOn::Folds(5)), 0.75);
        assert_eq!(LeftOutScores::mean(&[first.clone(), other]), None);
        let apart = (of(&[7], 1.0, on), 0.75);
        assert_eq!(LeftOutScores::mean(&[first, apart]), None);
        assert_eq!(LeftOutScores::mean(&[]), None);
    }

    #[test]
    fn where_rows_come_from_is_kept() {
        for on in [
            CalibratedOn::KeptBack,
            CalibratedOn::LeftOut,
            CalibratedOn::Folds(5),
        ] {
            let mut store = Store::default();
            on.write("on", &mut store);
            assert_eq!(CalibratedOn::read("on", &store).ok(), Some(on));
        }
        let mut store = Store::default();
        store.set("on", "folds:many");
        let message = CalibratedOn::read("on", &store).expect_err("refused");
        assert!(message.to_string().contains("folds:many"));
    }
}
