//! A linear model on random features, and its predictor on a device.

use super::FitTimes;
use crate::{
    Device, Error, Result,
    data::{Chunk, ChunkSource, Rows},
    features::{self, End, FeatureMap, Featurizer, Lane},
    flow::Progress,
    normal::Targets,
    solve::Coefficients,
    store::Store,
    text::counted,
};
use ndarray::{Array2, ArrayView2, s};
use std::path::Path;

const KIND: &str = "model";

/// Feature map, coefficients, and what the targets mean.
#[derive(Debug)]
pub struct LinearModel {
    /// The map, parameters drawn.
    pub map: Box<dyn FeatureMap>,
    /// Coefficients `[D, t]` and intercept `[t]`.
    pub coefficients: Coefficients,
    /// Real values or classes.
    pub targets: Targets,
    /// What classes are called if their labels are text, which the numbers in [`Self::targets`]
    /// then count from 0.
    pub class_names: Option<Vec<String>>,
    /// The penalty per sample that the fit used.
    pub lambda: f64,
    /// Rows that the fit saw.
    pub rows: u64,
    /// The device that the fit ran on, in one line.
    pub device: String,
    /// How long the fit took; `None` for a model read from a file, which does not keep it.
    pub times: Option<FitTimes>,
}

impl LinearModel {
    /// Writes one file with everything that predicting needs, whole or not at all. Errors also when
    /// the map holds code that no file can keep.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let mut store = Store::default();
        self.map.write(&mut store)?;
        store.put_f64("coefficients", self.coefficients.beta_dt.view());
        store.put_vector("intercept", &self.coefficients.intercept_t.to_vec());
        match &self.targets {
            Targets::Real { .. } => store.set("task", "regression"),
            Targets::Classes(labels) => {
                store.set("task", "classification");
                store.put_vector("classes", labels);
            }
        }
        if let Some(names) = &self.class_names {
            store.set("class_names", serde_json::json!(names));
        }
        store.set("lambda", self.lambda);
        store.set("rows", self.rows);
        store.set("device", &self.device);
        store.set("written_by", concat!("bochner ", env!("CARGO_PKG_VERSION")));
        store.save(KIND, path.as_ref())
    }

    /// Reads a model file. Errors with [`Error::Model`] on a truncated, foreign or newer file, and
    /// on parts that do not fit together.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let store = Store::load(KIND, path)?;
        Self::read(&store).map_err(|e| Error::in_model(path, &e))
    }

    fn read(store: &Store) -> Result<Self> {
        let map = features::read(store)?;
        let beta_dt = store.f64("coefficients")?;
        let (features, outputs) = beta_dt.dim();
        if features != map.output_dim() {
            return Err(Error::format(format!(
                "{features} coefficients for {} features",
                map.output_dim()
            )));
        }
        let intercept_t = store.vector("intercept", outputs)?;
        let targets = match store.text("task")? {
            "regression" => Targets::Real {
                columns: outputs,
                shift: vec![0.0; outputs],
            },
            "classification" => Targets::Classes(store.vector("classes", outputs)?.to_vec()),
            other => return Err(Error::format(format!("the task {other:?} is not known"))),
        };
        let class_names = read_names(store, &targets)?;
        Ok(Self {
            map,
            class_names,
            coefficients: Coefficients {
                beta_dt,
                intercept_t,
            },
            targets,
            lambda: store.get("lambda")?,
            rows: store.get("rows")?,
            device: store.text("device")?.to_owned(),
            times: None,
        })
    }

    /// Loads the model on a device, with chunk buffers of at most `memory` bytes.
    pub fn on(&self, device: &Device, memory: u64) -> Result<Predictor<'_>> {
        Predictor::new(self, device, memory)
    }
}

/// A model on a device, with its buffers.
#[derive(Debug)]
pub struct Predictor<'m> {
    model: &'m LinearModel,
    featurizer: Featurizer<'m>,
}

impl<'m> Predictor<'m> {
    fn new(model: &'m LinearModel, device: &Device, memory: u64) -> Result<Self> {
        let beta_dt = &model.coefficients.beta_dt;
        let lanes = vec![Lane::outputs(model.map.as_ref(), beta_dt)];
        let mut featurizer = Featurizer::new(lanes, beta_dt.ncols(), End::Host, device, memory)?;
        featurizer.load()?;
        Ok(Self { model, featurizer })
    }

    /// The model that predicts.
    pub fn model(&self) -> &'m LinearModel {
        self.model
    }

    /// The raw outputs, `[rows, t]`: predicted values, or one score per class.
    pub fn scores(&mut self, rows: &Rows) -> Result<Array2<f64>> {
        let intercept = &self.model.coefficients.intercept_t;
        let mut all = Array2::zeros((rows.nrows(), intercept.len()));
        self.featurizer.rows(rows, |y, range| {
            let y = y[0].mapv(f64::from) + intercept;
            all.slice_mut(s![range, ..]).assign(&y);
            Ok(())
        })?;
        Ok(all)
    }

    /// Predictions, `[rows, t]` values, or `[rows, 1]` labels for a classifier.
    pub fn predict(&mut self, rows: &Rows) -> Result<Array2<f64>> {
        let scores = self.scores(rows)?;
        Ok(decide(scores, &self.model.targets))
    }

    /// Streams a source: `sink` gets the predictions and the targets of each chunk, in order.
    /// Returns the number of rows.
    pub fn stream(
        &mut self,
        source: &mut dyn ChunkSource,
        progress: Progress<'_>,
        mut sink: impl FnMut(ArrayView2<'_, f64>, ArrayView2<'_, f64>) -> Result<()>,
    ) -> Result<u64> {
        let model = self.model;
        if source.columns() != model.map.input_dim() {
            return Err(Error::shape(format!(
                "the data has {}, the model was fitted on {}",
                counted(source.columns(), "column"),
                model.map.input_dim()
            )));
        }
        let targets = |chunk: &Chunk, range| chunk.y.slice(s![range, ..]).to_owned();
        self.featurizer
            .on_host(source, progress, targets, |scores, y: Array2<f64>| {
                let scores = scores[0].mapv(f64::from) + &model.coefficients.intercept_t;
                sink(decide(scores, &model.targets).view(), y.view())
            })
    }
}

/// The names of classes; files of numeric labels, and older ones, have none.
fn read_names(store: &Store, targets: &Targets) -> Result<Option<Vec<String>>> {
    const NAME: &str = "class_names";
    if !store.has_property(NAME) {
        return Ok(None);
    }
    let names: Vec<String> = serde_json::from_str(store.text(NAME)?).map_err(|fault| {
        Error::format(format!("property {NAME:?} is no list of names: {fault}"))
    })?;
    let counts = |classes: &[f64]| classes.iter().enumerate().all(|(i, &c)| c == i as f64);
    match targets {
        Targets::Classes(classes) if classes.len() == names.len() && counts(classes) => {
            Ok(Some(names))
        }
        _ => Err(Error::format(format!(
            "{} names do not go with the classes {targets:?}",
            names.len()
        ))),
    }
}

/// What a model says: values as they are, or the label of the largest score in each row.
fn decide(scores: Array2<f64>, targets: &Targets) -> Array2<f64> {
    let Targets::Classes(labels) = targets else {
        return scores;
    };
    Array2::from_shape_fn((scores.nrows(), 1), |(i, _)| {
        let row = scores.row(i);
        let best = (1..row.len()).fold(0, |b, k| if row[k] > row[b] { k } else { b });
        labels[best]
    })
}
