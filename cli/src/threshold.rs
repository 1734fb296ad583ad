//! `--threshold`: from which probability on a row belongs to the second of two classes.

use crate::report::Usage;
use anyhow::Result;
use bochner::models::{LinearModel, Targets};
use ndarray::{Array2, ArrayView2};

/// A probability of the second class, and the labels of both.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Threshold {
    from: f64,
    labels: [f64; 2],
}

impl Threshold {
    /// The one that is asked for, of a model that it can be had of: one of two classes with
    /// probabilities.
    pub(crate) fn from_option(asked: Option<f64>, model: &LinearModel) -> Result<Option<Self>> {
        let Some(from) = asked else {
            return Ok(None);
        };
        match &model.targets {
            Targets::Classes(labels) if model.probabilities.is_some() => {
                if let &[first, second] = labels.as_slice() {
                    let labels = [first, second];
                    return Ok(Some(Self { from, labels }));
                }
                let problem = format!(
                    "--threshold parts two classes, and the model has {}; leave it out",
                    labels.len()
                );
                Err(Usage(problem).into())
            }
            _ => {
                let problem = "--threshold is a probability, and the model has none; fit a \
                    classifier with --probabilities";
                Err(Usage(problem.into()).into())
            }
        }
    }

    /// The labels `[n, 1]` of rows with these probabilities `[n, 2]`.
    pub(crate) fn decide(self, p_nt: ArrayView2<'_, f64>) -> Array2<f64> {
        let second = p_nt.column(1);
        Array2::from_shape_fn((second.len(), 1), |(i, _)| {
            self.labels[usize::from(second[i] >= self.from)]
        })
    }
}
