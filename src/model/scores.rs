//! Metrics of predictions, summed chunk by chunk.

mod amounts;
mod groups;
mod labels;
mod ranks;

pub use amounts::{AmountScore, AmountScores, QuantileScore};
pub use groups::Score;
pub use labels::{ClassScore, LabelScores};

use crate::{Error, Result};
use ndarray::ArrayView2;

/// Metrics that are defined, by name.
fn present<const N: usize>(
    scores: [(&'static str, Option<Score>); N],
) -> Vec<(&'static str, Score)> {
    let all = scores.into_iter();
    all.filter_map(|(name, score)| Some((name, score?)))
        .collect()
}

/// Running sums for accuracy, root mean squared error and relative error.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scores {
    rows: u64,
    values: u64,
    right: u64,
    squared_error: f64,
    squared_target: f64,
    /// Rows with probabilities, and the sum of their losses.
    probable: u64,
    log_loss: f64,
}

impl Scores {
    /// Adds a chunk of predictions and targets. Errors if their shapes differ.
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

    /// Adds the probabilities `[n, classes]` of a chunk, in the order of `labels`, and its labels
    /// `[n, 1]`. An unknown label has probability zero. Errors if their shapes differ.
    pub fn add_probabilities(
        &mut self,
        p_nt: ArrayView2<'_, f64>,
        labels: &[f64],
        y: ArrayView2<'_, f64>,
    ) -> Result<()> {
        if p_nt.dim() != (y.nrows(), labels.len()) || y.ncols() != 1 {
            return Err(Error::shape(format!(
                "probabilities are {:?}, labels {:?} of {} classes",
                p_nt.dim(),
                y.dim(),
                labels.len()
            )));
        }
        self.probable += y.nrows() as u64;
        for (p, label) in p_nt.rows().into_iter().zip(y) {
            let class = labels.iter().position(|l| l == label);
            // Clamps the probability, so that one row cannot make the mean infinite.
            let p = class.map_or(0.0, |class| p[class]).max(f64::EPSILON);
            self.log_loss -= p.ln();
        }
        Ok(())
    }

    /// The mean of `-log p` of the labels; `None` without probabilities.
    pub fn log_loss(&self) -> Option<f64> {
        (self.probable > 0).then(|| self.log_loss / self.probable as f64)
    }

    /// Number of rows added.
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

    /// `|predicted - y| / |y|` in the Euclidean norm over all values; 0 if all predictions are
    /// exact.
    pub fn relative_error(&self) -> f64 {
        if self.squared_error == 0.0 {
            return 0.0;
        }
        (self.squared_error / self.squared_target).sqrt()
    }
}
