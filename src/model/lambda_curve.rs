//! Hold-out errors by which a penalty was chosen, as stored in a model.

use crate::{Error, Result, store::Store};
use ndarray::Array2;

/// Which rows are held out to choose a penalty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum HeldOut {
    /// Leave-one-out on all rows, by leverages: a second pass over the rows.
    #[default]
    LeaveOneOut,
    /// Leave-one-out on a uniform sample of this number of rows, which is kept during the pass: no
    /// second pass. Equal rows are left out together, as one row of their total weight.
    LeaveSomeOut(usize),
    /// Cross-validation with this number of folds, from sums: one Gram matrix in memory per fold.
    Folds(usize),
}

/// Hold-out errors by which a penalty was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct LambdaCurve {
    /// Which rows were held out.
    pub by: HeldOut,
    /// One point for each penalty, in ascending order, without those whose error is lost to
    /// rounding.
    pub points: Vec<LambdaPoint>,
}

/// A penalty and its hold-out error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LambdaPoint {
    /// The penalty per sample.
    pub lambda: f64,
    /// Mean squared error on held-out rows over the variance of the targets, averaged over targets:
    /// 1 is the error of predicting the mean. Classes are targets of -1 and 1.
    pub error: f64,
    /// Effective dimension of all rows at this penalty.
    pub effective_dimension: f64,
}

impl LambdaCurve {
    /// The point with the smallest error; of several the one with the largest penalty.
    pub fn best(&self) -> LambdaPoint {
        let mut points = self.points.iter().rev();
        let first = points.next().expect("a curve has points");
        *points.fold(first, |a, b| if b.error < a.error { b } else { a })
    }

    pub(crate) fn write(&self, store: &mut Store) {
        let points = Array2::from_shape_fn((self.points.len(), 3), |(i, j)| {
            let point = &self.points[i];
            [point.lambda, point.error, point.effective_dimension][j]
        });
        store.put_f64("lambda_curve", points.view());
        let (folds, rows) = match self.by {
            HeldOut::LeaveOneOut => (0, None),
            HeldOut::LeaveSomeOut(rows) => (0, Some(rows)),
            HeldOut::Folds(folds) => (folds, None),
        };
        store.set("lambda_curve.folds", folds);
        if let Some(rows) = rows {
            store.set("lambda_curve.rows", rows);
        }
    }

    /// Models with a fixed penalty, and older files, do not have it.
    pub(crate) fn read(store: &Store) -> Result<Option<Self>> {
        if !store.has("lambda_curve") {
            return Ok(None);
        }
        let points = store.f64("lambda_curve")?;
        if points.ncols() != 3 || points.nrows() == 0 {
            return Err(Error::format("a curve of penalties has three columns"));
        }
        let points = points.rows().into_iter().map(|row| LambdaPoint {
            lambda: row[0],
            error: row[1],
            effective_dimension: row[2],
        });
        Ok(Some(Self {
            by: match store.get("lambda_curve.folds")? {
                0 if store.has_property("lambda_curve.rows") => {
                    HeldOut::LeaveSomeOut(store.get("lambda_curve.rows")?)
                }
                0 => HeldOut::LeaveOneOut,
                folds => HeldOut::Folds(folds),
            },
            points: points.collect(),
        }))
    }
}
