//! Buffers rows that are created one by one, and predicts them together.

use crate::{Error, Result};
use ndarray::{Array2, ArrayView1};

/// Maximum number of values of rows predicted together, and of rows.
const VALUES: usize = 1 << 20;
const ROWS: usize = 4096;

/// Buffered rows, and outputs of the rows before them. `predict` takes rows `[n, d]` and returns
/// outputs `[n, k]`.
pub(super) struct Batches<'a, P: ?Sized> {
    predict: &'a mut P,
    columns: usize,
    most: usize,
    waiting: Vec<f64>,
    found: Vec<f64>,
    outputs: usize,
}

impl<'a, P: FnMut(Array2<f64>) -> Result<Array2<f64>> + ?Sized> Batches<'a, P> {
    /// For rows with `columns` columns.
    pub(super) fn new(predict: &'a mut P, columns: usize) -> Self {
        Self {
            predict,
            columns,
            most: (VALUES / columns.max(1)).clamp(1, ROWS),
            waiting: Vec::new(),
            found: Vec::new(),
            outputs: 0,
        }
    }

    pub(super) fn push(&mut self, row_d: ArrayView1<'_, f64>) -> Result<()> {
        self.waiting.extend(row_d);
        if self.waiting.len() >= self.most * self.columns {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let values = std::mem::take(&mut self.waiting);
        let shape = (values.len() / self.columns.max(1), self.columns);
        if shape.0 == 0 {
            return Ok(());
        }
        let found_nk = (self.predict)(array(shape, values)?)?;
        self.outputs = found_nk.ncols();
        self.found.extend(found_nk.iter());
        Ok(())
    }

    /// The outputs of all rows, `[n, k]`.
    pub(super) fn finish(mut self) -> Result<Array2<f64>> {
        self.flush()?;
        let rows = self.found.len() / self.outputs.max(1);
        array((rows, self.outputs), self.found)
    }
}

fn array(shape: (usize, usize), values: Vec<f64>) -> Result<Array2<f64>> {
    Array2::from_shape_vec(shape, values).map_err(|error| Error::shape(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_in_their_order_whatever_goes_together() {
        let mut calls = 0;
        let mut predict = |x_nd: Array2<f64>| {
            calls += 1;
            Ok(x_nd * 2.0)
        };
        let rows = 2 * ROWS + 1;
        let x_nd = Array2::from_shape_fn((rows, 2), |(i, j)| (2 * i + j) as f64);
        let mut batches = Batches::new(&mut predict, 2);
        for row in x_nd.rows() {
            batches.push(row).expect("predicts");
        }
        assert_eq!(batches.finish().expect("predicts"), x_nd * 2.0);
        assert_eq!(calls, 3);
    }
}
