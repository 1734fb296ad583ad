//! Probabilities of models that support them.

use super::Probabilities;
use crate::{
    Error, Result,
    data::ToRows,
    error::Remedy,
    model::{FromLabel, LinearModel, Model, Predicted, Targets},
};
use ndarray::{Array2, ArrayView1};

impl LinearModel {
    /// Probabilities from scores `[n, t]`. Errors with [`Error::Unsupported`] if the model has
    /// none, and if they depend on the rows as well: [`Self::probabilities_on`] supports all models
    /// with probabilities.
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
    /// [`Self::classes`]. Errors with [`Error::Unsupported`] if the model has none: logistic
    /// regression always has probabilities, ridge regression from leave-one-out scores, other
    /// classifiers if requested.
    pub fn predict_probabilities(&self, x_nd: impl ToRows) -> Result<Array2<f64>>
    where
        Vec<L>: Predicted,
    {
        let mut predictor = self.linear().probabilities_on(self.run()?)?;
        predictor.predict(&x_nd.to_rows())
    }

    /// For each of the rows `[n, d]` the classes that together contain the right one with
    /// probability `level`, the most likely first ([`ClassSets`](crate::models::ClassSets)). Errors
    /// as [`LinearModel::sets_of`] does.
    ///
    /// ```
    /// use bochner::prelude::*;
    /// let x = ndarray::Array2::from_shape_fn((60, 1), |(i, _)| i as f64 / 20.0);
    /// let sizes = (0..60).map(|i| ["small", "middle", "large"][i / 20]);
    /// let map = Fourier::new(Gaussian).features(20);
    /// let model = RidgeClassifier::on(map).fit((&x, sizes.collect::<Vec<_>>()))?;
    /// let sets: Vec<Vec<String>> = model.predict_sets(ndarray::array![[0.2], [2.5]], 0.9)?;
    /// assert_eq!(sets[0][0], "small");
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn predict_sets(&self, x_nd: impl ToRows, level: f64) -> Result<Vec<Vec<L>>>
    where
        Vec<L>: Predicted,
    {
        let p_nt = self.predict_probabilities(x_nd)?;
        let is_in_nt = self.linear().sets_of(&p_nt, level)?;
        let rows = p_nt.rows().into_iter().zip(is_in_nt.rows());
        let set = |(p_t, is_in_t): (ArrayView1<'_, f64>, ArrayView1<'_, bool>)| {
            let own = self.classes().into_iter().zip(p_t).zip(is_in_t);
            let mut own: Vec<(L, f64)> = own
                .filter_map(|((class, &p), &is_in)| is_in.then_some((class, p)))
                .collect();
            own.sort_by(|(_, a), (_, b)| b.total_cmp(a));
            own.into_iter().map(|(class, _)| class).collect()
        };
        Ok(rows.map(set).collect())
    }
}
