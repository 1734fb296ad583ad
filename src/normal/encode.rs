//! Encodes targets as the columns that are fitted.

use crate::{Error, Result, model::Targets};
use ndarray::{Array1, Array2, ArrayView2};

impl Targets {
    /// Value subtracted from column `k` before it is fitted.
    pub(crate) fn shift(&self, k: usize) -> f64 {
        match self {
            Self::Real { shift, .. } => shift[k],
            Self::Classes(_) => 0.0,
        }
    }

    /// Encoded, shifted targets of a chunk, `[rows, outputs]`. Errors on an unknown label.
    pub(crate) fn encode(&self, y: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        match self {
            Self::Real { columns: 0, .. } => Ok(Array2::zeros((y.nrows(), 0))),
            Self::Real { columns, shift } => {
                if y.ncols() != *columns {
                    return Err(Error::shape(format!(
                        "the data has {} target columns, the fit takes {columns}",
                        y.ncols()
                    )));
                }
                Ok(&y - &Array1::from(shift.clone()))
            }
            Self::Classes(labels) => {
                if y.ncols() != 1 {
                    return Err(Error::shape(format!(
                        "a classifier takes one column of labels, the data has {}",
                        y.ncols()
                    )));
                }
                let mut encoded = Array2::from_elem((y.nrows(), labels.len()), -1.0);
                for (mut row, label) in encoded.rows_mut().into_iter().zip(y.column(0)) {
                    let class = labels.iter().position(|l| l == label).ok_or_else(|| {
                        Error::data(
                            "y",
                            format!("label {label} is none of the classes {labels:?}"),
                        )
                    })?;
                    row[class] = 1.0;
                }
                Ok(encoded)
            }
        }
    }
}
