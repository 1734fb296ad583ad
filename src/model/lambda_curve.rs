//! By what a penalty was chosen, as a model keeps it.

use crate::{Error, Result, store::Store};
use ndarray::Array2;

/// Which rows are held out to choose a penalty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum HeldOut {
    /// Each row in turn, by its leverage: a second pass over the rows.
    #[default]
    LeaveOneOut,
    /// Each of so many rows in turn, which are drawn uniformly and kept as the rows go by: no
    /// second pass. Rows that are equal are left out together, as one row of their weight.
    LeaveSomeOut(usize),
    /// Each of so many folds in turn, by the sums alone: a Gram matrix in memory for each.
    Folds(usize),
}

/// The errors by which a penalty was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct LambdaCurve {
    /// Which rows were held out.
    pub by: HeldOut,
    /// One for each penalty, in ascending order, but for those whose error rounding hides.
    pub points: Vec<LambdaPoint>,
}

/// A penalty and what it gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LambdaPoint {
    /// The penalty per sample.
    pub lambda: f64,
    /// Mean squared error on held-out rows over the variance of the targets, mean of the targets:
    /// 1 is what their means would give. Classes are targets of -1 and 1.
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

    /// Models that did not choose, and older files, have none.
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
