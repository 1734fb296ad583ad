//! Probabilities of models, where they have some.

use super::Probabilities;
use crate::{
    Error, Result,
    data::ToRows,
    error::Remedy,
    model::{FromLabel, LinearModel, Model, Predicted, Targets},
};
use ndarray::Array2;

impl LinearModel {
    /// Probabilities from scores `[n, t]`. Errors with [`Error::Unsupported`] when the model has
    /// none, and when they take the rows: [`Self::probabilities_on`] gives those of any model.
    pub fn probabilities_of(&self, scores_nt: Array2<f64>) -> Result<Array2<f64>> {
        match self.has_probabilities()? {
            Probabilities::Averaged => {
                let problem = "probabilities averaged over a posterior are not of scores alone";
                let remedy = "take those of the rows, by probabilities_on";
                Err(Error::unsupported(problem).help(Remedy::words(remedy)))
            }
            probabilities => Ok(probabilities.apply(scores_nt)),
        }
    }

    pub(super) fn has_probabilities(&self) -> Result<&Probabilities> {
        self.probabilities.as_ref().ok_or_else(|| {
            let remedy = "fit logistic regression, or any classifier with probabilities";
            let problem = "this model has no probabilities";
            Error::unsupported(problem).help(Remedy::words(remedy))
        })
    }
}

impl<L: FromLabel> Model<Vec<L>> {
    /// The classes, in the order of scores and probabilities.
    pub fn classes(&self) -> Vec<L> {
        let linear = self.linear();
        let Targets::Classes(labels) = &linear.targets else {
            return Vec::new();
        };
        let own = |&label| L::from_label(linear.label(label));
        labels.iter().filter_map(own).collect()
    }

    /// The probability of each class for rows `[n, d]`, `[n, classes]`, in the order of
    /// [`Self::classes`]. Errors with [`Error::Unsupported`] when the model has none: logistic
    /// regression has its own, other classifiers when they are asked for some.
    pub fn predict_probabilities(&self, x_nd: impl ToRows) -> Result<Array2<f64>>
    where
        Vec<L>: Predicted,
    {
        let mut predictor = self.linear().probabilities_on(self.run()?)?;
        predictor.predict(&x_nd.to_rows())
    }
}
