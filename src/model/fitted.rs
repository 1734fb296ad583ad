//! Result of a fit: a model with a device to run on.

use crate::{
    Device, Error, Result,
    data::{ChunkSource, ToRows},
    flow::Run,
    model::{FromLabel, Intervals, Label, LinearModel, Predictor, Targets},
    settings::Settings,
};
use ndarray::{Array1, Array2, Array3, ArrayView2, Axis, concatenate, s};
use std::{marker::PhantomData, path::Path};

/// A fitted model that predicts `Y`: an `Array1<f64>` or `Array2<f64>` of values, or a `Vec` of
/// labels.
///
/// ```
/// use bochner::prelude::*;
/// let x = ndarray::array![[0.0], [0.1], [2.0], [2.2]];
/// let labels = ["low", "low", "high", "high"];
/// let model = RidgeClassifier::on(Fourier::new(Gaussian)).fit((&x, labels))?;
/// let of = model.job().expect("a learner keeps its job");
/// assert_eq!(of.get("model"), Some("ridge"));
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("levels.model");
/// model.save(&path)?;
/// let labels: Vec<String> = Model::load(&path)?.predict(&x)?;
/// assert_eq!(labels, model.predict(&x)?);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug)]
pub struct Model<Y> {
    linear: LinearModel,
    device: Option<Device>,
    memory: u64,
    predicted: PhantomData<fn() -> Y>,
}

/// Types of predictions of a [`Model`].
pub trait Predicted: Sized {
    /// Errors with [`Error::Unsupported`] and the actual type unless `model` predicts this type.
    fn check(model: &LinearModel) -> Result<()>;

    /// Converts the result of [`Predictor::predict`], `[n, t]`.
    fn from_predictions(model: &LinearModel, y_nt: Array2<f64>) -> Result<Self>;
}

impl Predicted for Array2<f64> {
    fn check(model: &LinearModel) -> Result<()> {
        match model.class_names {
            Some(_) => Err(wrong("text labels", "Vec<String>")),
            None => Ok(()),
        }
    }

    fn from_predictions(model: &LinearModel, y_nt: Array2<f64>) -> Result<Self> {
        Self::check(model)?;
        Ok(y_nt)
    }
}

impl Predicted for Array1<f64> {
    fn check(model: &LinearModel) -> Result<()> {
        Array2::<f64>::check(model)?;
        match &model.targets {
            Targets::Real { columns, .. } if *columns != 1 => {
                Err(wrong(&format!("{columns} targets"), "Array2<f64>"))
            }
            _ => Ok(()),
        }
    }

    fn from_predictions(model: &LinearModel, y_nt: Array2<f64>) -> Result<Self> {
        Self::check(model)?;
        Ok(y_nt.slice_move(s![.., 0]))
    }
}

impl<L: FromLabel> Predicted for Vec<L> {
    fn check(model: &LinearModel) -> Result<()> {
        let Targets::Classes(classes) = &model.targets else {
            return Err(wrong("amounts, no labels", "Array2<f64>"));
        };
        let all = |i: usize| L::from_label(model.label(classes[i])).is_some();
        if (0..classes.len()).all(all) {
            Ok(())
        } else if model.class_names.is_some() {
            Err(wrong("text labels", "Vec<String>"))
        } else {
            let problem = format!("the labels of this model are numbers, not {}", L::WHAT);
            let remedy = "load it as Model<Vec<f64>>";
            Err(Error::unsupported(problem).help(crate::error::Remedy::words(remedy)))
        }
    }

    fn from_predictions(model: &LinearModel, y_nt: Array2<f64>) -> Result<Self> {
        let labels = y_nt.column(0);
        let labels = labels.iter().map(|&y| L::from_label(model.label(y)));
        let labels: Option<Self> = labels.collect();
        match labels {
            Some(labels) => Ok(labels),
            None => Err(Self::check(model)
                .err()
                .unwrap_or_else(|| Error::numerical("a predicted label is none of the classes"))),
        }
    }
}

fn wrong(has: &str, load_as: &str) -> Error {
    let remedy = crate::error::Remedy::words(format!("load it as Model<{load_as}>"));
    Error::unsupported(format!("this model predicts {has}")).help(remedy)
}

impl LinearModel {
    /// The label of a number predicted by a classifier.
    pub fn label(&self, number: f64) -> Label<'_> {
        let name = match &self.class_names {
            // Numbers of text labels are indices of the names.
            Some(names) => names.get(number as usize),
            None => None,
        };
        name.map_or(Label::Number(number), |name| Label::Text(name))
    }
}

impl<Y: Predicted> Model<Y> {
    #[cfg(feature = "learn")]
    pub(crate) fn new(linear: LinearModel, device: Device, memory: u64) -> Self {
        Self {
            linear,
            device: Some(device),
            memory,
            predicted: PhantomData,
        }
    }

    /// Reads a model file of this library or of the command line. It predicts on the best device
    /// unless [`Self::device`] sets another.
    ///
    /// Errors as [`LinearModel::load`], and with [`Error::Unsupported`] if the model does not
    /// predict `Y`.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let linear = LinearModel::load(path)?;
        Y::check(&linear)?;
        Ok(Self {
            linear,
            device: None,
            memory: Run::DEFAULT_MEMORY,
            predicted: PhantomData,
        })
    }

    /// Writes one file with everything needed for prediction, atomically.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.linear.save(path)
    }

    /// Sets the device for predictions.
    pub fn device(mut self, device: &Device) -> Self {
        self.device = Some(device.clone());
        self
    }

    /// Sets the bytes for chunk buffers.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// The linear model: map, coefficients, classes.
    pub fn linear(&self) -> &LinearModel {
        &self.linear
    }

    /// Settings of the fit in the words of the command line, if stored; `bochner show --job` prints
    /// them.
    pub fn job(&self) -> Option<&Settings> {
        self.linear.job.as_ref()
    }

    /// Loads the model into the memory of its device, for many small calls, which then upload only
    /// their rows.
    pub fn loaded(&self) -> Result<LoadedModel<'_, Y>> {
        Ok(LoadedModel {
            predictor: self.linear.on(self.run()?)?,
            predicted: PhantomData,
        })
    }

    /// Device and memory budget.
    pub(crate) fn run(&self) -> Result<Run> {
        let device = match &self.device {
            Some(device) => device.clone(),
            None => Device::best()?,
        };
        Ok(Run::on(&device).memory(self.memory))
    }

    /// Predictions for rows `[n, d]`. Each call loads the model again; [`Self::loaded`] does so
    /// once.
    pub fn predict(&self, x_nd: impl ToRows) -> Result<Y> {
        self.loaded()?.predict(x_nd)
    }

    /// Prediction intervals for rows `[n, d]`, which contain a new target with probability `level`,
    /// between 0 and 1: for a [`GaussianProcess`](crate::models::GaussianProcess), for
    /// [`Ridge`](crate::models::Ridge), by its leave-one-out errors
    /// ([`Conformal`](crate::models::Conformal)), or for any regression after calibration.
    ///
    /// Errors as [`LinearModel::intervals_on`] and
    /// [`IntervalPredictor::predict`](crate::models::IntervalPredictor::predict) do.
    pub fn intervals(&self, x_nd: impl ToRows, level: f64) -> Result<Intervals> {
        let mut predictor = self.linear.intervals_on(self.run()?)?;
        predictor.predict(&x_nd.to_rows(), level)
    }

    /// Gradients of the raw outputs at rows `[n, d]` with respect to their columns, `[n, t, d]`;
    /// outputs are predicted values or a score for each class.
    ///
    /// Errors as [`LinearModel::gradients`] and [`Gradients::at`](crate::models::Gradients::at) do.
    pub fn gradients(&self, x_nd: impl ToRows) -> Result<Array3<f64>> {
        self.linear.gradients()?.at(&x_nd.to_rows())
    }

    /// Predictions for all rows of a source, for example from [`Self::open`].
    pub fn predict_source(&self, source: &mut dyn ChunkSource) -> Result<Y> {
        let mut parts = Vec::new();
        self.stream(source, |y_nt, _| {
            parts.push(y_nt.to_owned());
            Ok(())
        })?;
        let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
        let y_nt = concatenate(Axis(0), &views).map_err(|e| Error::shape(e.to_string()))?;
        Y::from_predictions(&self.linear, y_nt)
    }

    /// Streams a source: `sink` gets predictions, `[n, t]`, and targets of each chunk, in order;
    /// labels are numbers. Returns the number of rows.
    pub fn stream(
        &self,
        source: &mut dyn ChunkSource,
        sink: impl FnMut(ArrayView2<'_, f64>, ArrayView2<'_, f64>) -> Result<()>,
    ) -> Result<u64> {
        self.loaded()?.predictor.stream(source, sink)
    }
}

/// A [`Model`] on its device, with its buffers.
#[derive(Debug)]
pub struct LoadedModel<'m, Y> {
    predictor: Predictor<'m>,
    predicted: PhantomData<fn() -> Y>,
}

impl<Y: Predicted> LoadedModel<'_, Y> {
    /// As [`Model::predict`].
    pub fn predict(&mut self, x_nd: impl ToRows) -> Result<Y> {
        let y_nt = self.predictor.predict(&x_nd.to_rows())?;
        Y::from_predictions(self.predictor.model(), y_nt)
    }

    /// The raw outputs, `[n, t]`: predicted values, or one score per class.
    pub fn scores(&mut self, x_nd: impl ToRows) -> Result<Array2<f64>> {
        self.predictor.scores(&x_nd.to_rows())
    }
}
