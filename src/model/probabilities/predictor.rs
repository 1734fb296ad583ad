//! Probabilities of classes for rows, on a device.

use super::{
    Probabilities,
    averages::{MeanSoftmax, mean_sigmoid},
};
use crate::{
    Result,
    data::{Chunk, ChunkSource, Rows},
    features::Featurizer,
    flow::Run,
    model::{LinearModel, intervals::with_spread, linear::check_columns},
    parallel,
};
use ndarray::{Array2, ArrayView2, s};

/// A classifier on a device, for probabilities of its classes.
#[derive(Debug)]
pub struct ProbabilityPredictor<'m> {
    model: &'m LinearModel,
    probabilities: &'m Probabilities,
    featurizer: Featurizer<'m>,
    /// Means of softmaxes, for more than two classes.
    softmax: Option<MeanSoftmax<'m>>,
}

impl LinearModel {
    /// Loads the model for probabilities of its classes: `run` is a `&Device` or a [`Run`].
    ///
    /// Errors with [`Error::Unsupported`](crate::Error::Unsupported) if the model has none.
    pub fn probabilities_on(&self, run: impl Into<Run>) -> Result<ProbabilityPredictor<'_>> {
        let probabilities = self.has_probabilities()?;
        let (root, softmax) = match (probabilities, &self.class_spread, &self.spread) {
            (Probabilities::Averaged, Some(spread), _) => {
                (Some(&spread.root_dm), Some(MeanSoftmax::draw(spread)?))
            }
            (Probabilities::Averaged, None, Some(spread)) => (Some(&spread.root_dd), None),
            _ => (None, None),
        };
        Ok(ProbabilityPredictor {
            model: self,
            probabilities,
            featurizer: with_spread(self, root, &run.into())?,
            softmax,
        })
    }
}

impl ProbabilityPredictor<'_> {
    /// The probability of each class, `[rows, classes]`; every row sums to 1.
    pub fn predict(&mut self, rows: &Rows) -> Result<Array2<f64>> {
        rows.require_finite()?;
        let (model, how) = (self.model, (self.probabilities, self.softmax.as_ref()));
        let mut all = Array2::zeros((rows.nrows(), model.coefficients.intercept_t.len()));
        self.featurizer.rows(rows, |branches, range| {
            let (_, p_nt) = of_branches(model, how, branches);
            all.slice_mut(s![range, ..]).assign(&p_nt);
            Ok(())
        })?;
        Ok(all)
    }

    /// Streams a source: `sink` gets the scores, the probabilities and the targets of each chunk,
    /// in order. Returns the number of rows.
    pub fn stream(
        &mut self,
        source: &mut dyn ChunkSource,
        mut sink: impl FnMut(
            ArrayView2<'_, f64>,
            ArrayView2<'_, f64>,
            ArrayView2<'_, f64>,
        ) -> Result<()>,
    ) -> Result<u64> {
        let (model, how) = (self.model, (self.probabilities, self.softmax.as_ref()));
        check_columns(model, source)?;
        let targets = |chunk: &Chunk, range| chunk.y.slice(s![range, ..]).to_owned();
        self.featurizer
            .on_host(source, targets, |branches, y_nt: Array2<f64>| {
                let (scores_nt, p_nt) = of_branches(model, how, branches);
                sink(scores_nt.view(), p_nt.view(), y_nt.view())
            })
    }
}

/// Scores and probabilities from the branches of a model.
fn of_branches(
    model: &LinearModel,
    (probabilities, softmax): (&Probabilities, Option<&MeanSoftmax<'_>>),
    branches: &[ArrayView2<'_, f32>],
) -> (Array2<f64>, Array2<f64>) {
    let scores_nt = branches[0].mapv(f64::from) + &model.coefficients.intercept_t;
    let p_nt = match (probabilities, softmax, &model.spread) {
        (Probabilities::Averaged, Some(softmax), _) => {
            let (rows, classes) = scores_nt.dim();
            let each = |i| softmax.row(scores_nt.row(i), branches[1].row(i));
            let each = parallel::usual().map(rows, &each);
            Array2::from_shape_fn((rows, classes), |(i, k)| each[i][k])
        }
        (Probabilities::Averaged, None, Some(spread)) => {
            let variance_n = spread.relative_variance(&branches[1].mapv(f64::from));
            let mut p_nt = Array2::zeros(scores_nt.dim());
            for (i, scores) in scores_nt.rows().into_iter().enumerate() {
                // Computes the smaller of the two: 1 minus the larger would lose digits.
                let odds = scores[1] - scores[0];
                let less = mean_sigmoid(-odds.abs(), variance_n[i]);
                let (likely, other) = if odds >= 0.0 { (1, 0) } else { (0, 1) };
                (p_nt[[i, likely]], p_nt[[i, other]]) = (1.0 - less, less);
            }
            p_nt
        }
        _ => probabilities.apply(scores_nt.clone()),
    };
    (scores_nt, p_nt)
}
