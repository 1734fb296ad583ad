//! A model on a device, with its buffers.

use super::LinearModel;
use crate::{
    Error, Result,
    data::{Chunk, ChunkSource, Rows},
    features::{Branch, Destination, Featurizer, Structure},
    flow::{Run, watch_chunks},
    model::routed::Routed,
    progress::Step,
    text::counted,
    wait::wait,
};
use ndarray::{Array2, ArrayView2, s};
use std::ops::Range;

/// A model on a device, with its buffers.
#[derive(Debug)]
pub struct Predictor<'m> {
    model: &'m LinearModel,
    way: Way<'m>,
}

/// How outputs are computed.
#[derive(Debug)]
enum Way<'m> {
    /// By one map for all rows.
    One(Box<Featurizer<'m>>),
    /// By the map of the leaf of each row.
    Leaves(Routed<'m>),
}

impl<'m> Predictor<'m> {
    pub(super) fn new(model: &'m LinearModel, run: Run) -> Result<Self> {
        let beta_dt = &model.coefficients.beta_dt;
        if let Structure::Leaves(map) = model.map.structure() {
            let way = Way::Leaves(Routed::new(map, beta_dt, run)?);
            return Ok(Self { model, way });
        }
        let branches = vec![Branch::outputs(model.map.as_ref(), beta_dt)];
        let mut featurizer = Featurizer::new(branches, beta_dt.ncols(), Destination::Host, run)?;
        featurizer.load()?;
        let way = Way::One(Box::new(featurizer));
        Ok(Self { model, way })
    }

    /// The model that predicts.
    #[doc(hidden)]
    pub fn model(&self) -> &'m LinearModel {
        self.model
    }

    /// The raw outputs, `[rows, t]`: predicted values, or one score per class. Errors with
    /// [`Error::Data`] on a value that is not finite, and as the device does.
    pub fn scores(&mut self, rows: &Rows) -> Result<Array2<f64>> {
        wait(self.scores_later(rows))
    }

    /// Asynchronous [`Self::scores`], for browsers, where blocking on a GPU is not possible.
    pub async fn scores_later(&mut self, rows: &Rows) -> Result<Array2<f64>> {
        // On some processors cosines of NaN are finite.
        rows.require_finite()?;
        let intercept = &self.model.coefficients.intercept_t;
        let mut all = Array2::zeros((rows.nrows(), intercept.len()));
        let mut take = |y: ArrayView2<'_, f64>, places: &dyn Fn(usize) -> usize| {
            let y = &y + intercept;
            require_finite(&y)?;
            for (i, y) in y.rows().into_iter().enumerate() {
                all.row_mut(places(i)).assign(&y);
            }
            Ok(())
        };
        match &mut self.way {
            Way::One(featurizer) => {
                let mut place = |y: &[ArrayView2<'_, f32>], range: Range<usize>| {
                    take(y[0].mapv(f64::from).view(), &|i| range.start + i)
                };
                featurizer.rows_later(rows, &mut place).await?;
            }
            Way::Leaves(leaves) => leaves.rows(rows, &mut take).await?,
        }
        Ok(all)
    }

    /// Predictions, `[rows, t]` values, or `[rows, 1]` labels for a classifier.
    pub fn predict(&mut self, rows: &Rows) -> Result<Array2<f64>> {
        let scores = self.scores(rows)?;
        Ok(self.model.decide(scores))
    }

    /// Asynchronous [`Self::predict`], for browsers, where blocking on a GPU is not possible.
    pub async fn predict_later(&mut self, rows: &Rows) -> Result<Array2<f64>> {
        let scores = self.scores_later(rows).await?;
        Ok(self.model.decide(scores))
    }

    /// Streams a source: `sink` gets the predictions and the targets of each chunk, in order. The
    /// [`Run`] receives [`Step::Rows`](crate::Step::Rows). Returns the number of rows.
    pub fn stream(
        &mut self,
        source: &mut dyn ChunkSource,
        mut sink: impl FnMut(ArrayView2<'_, f64>, ArrayView2<'_, f64>) -> Result<()>,
    ) -> Result<u64> {
        let model = self.model;
        self.stream_scores(source, |scores_nt, y_nt| {
            sink(model.decide(scores_nt.to_owned()).view(), y_nt)
        })
    }

    /// As [`Self::stream`] with raw outputs instead of predictions.
    pub fn stream_scores(
        &mut self,
        source: &mut dyn ChunkSource,
        mut sink: impl FnMut(ArrayView2<'_, f64>, ArrayView2<'_, f64>) -> Result<()>,
    ) -> Result<u64> {
        let model = self.model;
        check_columns(model, source)?;
        let featurizer = match &mut self.way {
            Way::One(featurizer) => featurizer,
            Way::Leaves(leaves) => {
                let (rows, run) = (leaves.chunk_rows(source), leaves.run().clone());
                let hear = |done| run.say(Step::Rows(done));
                return watch_chunks(source, rows, hear, |chunk| {
                    let scores = self.scores(&chunk.x)?;
                    sink(scores.view(), chunk.y.view())
                });
            }
        };
        let targets = |chunk: &Chunk, range| chunk.y.slice(s![range, ..]).to_owned();
        featurizer.on_host(source, targets, |scores, y: Array2<f64>| {
            let scores = scores[0].mapv(f64::from) + &model.coefficients.intercept_t;
            require_finite(&scores)?;
            sink(scores.view(), y.view())
        })
    }
}

/// Errors on outputs that are not finite.
pub(crate) fn require_finite(outputs: &Array2<f64>) -> Result<()> {
    if outputs.iter().all(|v| v.is_finite()) {
        Ok(())
    } else {
        Err(Error::numerical(
            "the model predicts values that are not finite: rows are too far from those it was \
             fitted to, or the file is damaged",
        ))
    }
}

/// Errors unless `source` has the columns that `model` was fitted on.
pub(crate) fn check_columns(model: &LinearModel, source: &dyn ChunkSource) -> Result<()> {
    if source.columns() == model.map.input_dim() {
        return Ok(());
    }
    Err(Error::shape(format!(
        "the data has {}, the model was fitted on {}",
        counted(source.columns(), "column"),
        model.map.input_dim()
    )))
}
