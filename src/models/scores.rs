//! Scores of predictions, summed chunk by chunk.

use crate::{Error, Result};
use ndarray::ArrayView2;

/// Running sums for accuracy, root mean squared error and relative error.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scores {
    rows: u64,
    values: u64,
    right: u64,
    squared_error: f64,
    squared_target: f64,
}

impl Scores {
    /// Takes a chunk of predictions and targets. Errors when their shapes differ.
    pub fn add(&mut self, predicted: ArrayView2<'_, f64>, y: ArrayView2<'_, f64>) -> Result<()> {
        if predicted.dim() != y.dim() {
            return Err(Error::shape(format!(
                "predictions are {:?}, targets {:?}; name the target column or columns that the \
                 model was fitted on",
                predicted.dim(),
                y.dim()
            )));
        }
        self.rows += y.nrows() as u64;
        self.values += y.len() as u64;
        for (p, t) in predicted.iter().zip(y) {
            self.right += u64::from(p == t);
            self.squared_error += (p - t).powi(2);
            self.squared_target += t * t;
        }
        Ok(())
    }

    /// Rows seen.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Share of predictions equal to their target.
    pub fn accuracy(&self) -> f64 {
        self.right as f64 / self.values as f64
    }

    /// Root of the mean squared error over all values.
    pub fn rmse(&self) -> f64 {
        (self.squared_error / self.values as f64).sqrt()
    }

    /// `|predicted - y| / |y|` in the Euclidean norm over all values.
    pub fn relative_error(&self) -> f64 {
        (self.squared_error / self.squared_target).sqrt()
    }
}
