//! Compressed sparse rows.

use super::Rows;
use crate::{Error, Result};
use ndarray::Array2;
use std::ops::Range;

/// Sparse rows `[n, d]`: the values that are there, their columns, and where each row begins (CSR).
/// Values of one place add up.
///
/// ```
/// use bochner::data::{Rows, SparseRows};
/// // [[0, 2, 0], [0, 0, 0], [1, 0, 3]]
/// let rows = SparseRows::new(vec![0, 1, 1, 3], vec![1, 0, 2], vec![2.0, 1.0, 3.0], 3)?;
/// assert_eq!((rows.nrows(), rows.ncols()), (3, 3));
/// let dense = ndarray::array![[0.0, 2.0, 0.0], [0.0; 3], [1.0, 0.0, 3.0]];
/// assert_eq!(rows.to_rows(), Rows::F64(dense));
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SparseRows {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    width: usize,
}

impl SparseRows {
    /// Rows of `width` columns; row i has the entries `starts[i]..starts[i + 1]`.
    ///
    /// Errors with [`Error::Shape`] unless starts ascend from 0 to the number of values, with a
    /// column below `width` for each, and with [`Error::Data`] on a value that is not finite.
    pub fn new(
        starts: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f64>,
        width: usize,
    ) -> Result<Self> {
        let ascend = starts.windows(2).all(|w| w[0] <= w[1]);
        let ends = (starts.first(), starts.last()) == (Some(&0), Some(&values.len()));
        let inside = columns.iter().all(|&j| (j as usize) < width);
        if !(ascend && ends && inside && columns.len() == values.len()) {
            return Err(Error::shape(
                "the sparse rows hold indices beyond their ends; starts ascend from 0 to the number \
                 of values, and columns lie within the width",
            ));
        }
        if let Some(at) = values.iter().position(|v| !v.is_finite()) {
            let row = starts.partition_point(|&start| start <= at) - 1;
            let problem = format!("row {row}, column {}: {}", columns[at], values[at]);
            return Err(Error::data("X", format!("{problem}; values are finite")));
        }
        Ok(Self {
            starts,
            columns,
            values,
            width,
        })
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns, d.
    pub fn ncols(&self) -> usize {
        self.width
    }

    /// The share of values that are there.
    pub fn density(&self) -> f64 {
        let all = self.nrows() as f64 * self.width as f64;
        if all > 0.0 {
            self.values.len() as f64 / all
        } else {
            0.0
        }
    }

    /// A copy of the rows of `range`. Panics if the range reaches beyond the last row.
    pub fn slice(&self, range: Range<usize>) -> Self {
        let starts = &self.starts[range.start..=range.end];
        let (first, last) = (starts[0], starts[range.len()]);
        Self {
            starts: starts.iter().map(|start| start - first).collect(),
            columns: self.columns[first..last].to_vec(),
            values: self.values[first..last].to_vec(),
            width: self.width,
        }
    }

    /// Where each row begins, columns, and values.
    pub(crate) fn parts(&self) -> (&[usize], &[u32], &[f64]) {
        (&self.starts, &self.columns, &self.values)
    }

    /// The rows with their zeros.
    pub fn to_rows(&self) -> Rows {
        let mut all = Array2::zeros((self.nrows(), self.width));
        for (mut row, ends) in all.rows_mut().into_iter().zip(self.starts.windows(2)) {
            let entries = ends[0]..ends[1];
            for (&j, v) in self.columns[entries.clone()]
                .iter()
                .zip(&self.values[entries])
            {
                row[j as usize] += v;
            }
        }
        Rows::F64(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_beyond_the_ends_are_refused() {
        let rows = |starts: &[usize], columns: &[u32], values: &[f64]| {
            SparseRows::new(starts.to_vec(), columns.to_vec(), values.to_vec(), 2)
        };
        assert!(rows(&[0, 1], &[1], &[3.0]).is_ok());
        for (starts, columns, values) in [
            (&[0_usize, 1][..], &[2_u32][..], &[3.0][..]),
            (&[0, 2], &[1], &[3.0]),
            (&[1, 1], &[1], &[3.0]),
            (&[0, 1, 0, 1], &[1], &[3.0]),
            (&[0, 1], &[1, 1], &[3.0]),
            (&[], &[], &[]),
        ] {
            let error = rows(starts, columns, values).expect_err("wrong");
            assert!(error.to_string().contains("beyond their ends"), "{error}");
        }
        let error = rows(&[0, 0, 1], &[1], &[f64::NAN]).expect_err("not finite");
        assert!(error.to_string().contains("row 1, column 1"), "{error}");
        let twice = rows(&[0, 2], &[1, 1], &[3.0, 4.0]).expect("fits");
        assert_eq!(twice.to_rows(), Rows::F64(ndarray::array![[0.0, 7.0]]));
        assert_eq!(twice.density(), 1.0);
    }
}
