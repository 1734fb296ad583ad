//! A model that several threads predict by.

use crate::status::c_text;
use bochner::{
    Device, DeviceChoice, Error, Result, Run,
    data::Rows,
    models::{LinearModel, Predictor, ProbabilityPredictor, Targets},
};
use ndarray::{Array2, ArrayView2};
use self_cell::self_cell;
use std::{
    ffi::{CStr, CString},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

type SharedModel = Arc<LinearModel>;

self_cell!(
    /// A model beside itself on a device.
    struct Loaded {
        owner: SharedModel,
        #[not_covariant]
        dependent: Predictor,
    }
);

self_cell!(
    /// The same for probabilities.
    struct LoadedProbabilities {
        owner: SharedModel,
        #[not_covariant]
        dependent: ProbabilityPredictor,
    }
);

/// A fitted model on a device.
pub struct Model {
    held: SharedModel,
    run: Run,
    /// What labels are called, where they are text.
    names: Vec<CString>,
    /// As many as ever predicted at once, those that are not at work.
    idle: Mutex<Vec<Loaded>>,
    idle_probabilities: Mutex<Vec<LoadedProbabilities>>,
}

impl Model {
    pub(crate) fn load(path: &Path, device: Option<&str>) -> Result<Self> {
        Self::new(LinearModel::load(path)?, device)
    }

    pub(crate) fn from_bytes(bytes: &[u8], device: Option<&str>) -> Result<Self> {
        Self::new(LinearModel::from_bytes(bytes)?, device)
    }

    fn new(model: LinearModel, device: Option<&str>) -> Result<Self> {
        if model.schema.is_some() {
            return Err(Error::unsupported(
                "this model was fitted to a table of several types, and rows of numbers are none; \
                 fit it to columns of numbers",
            ));
        }
        let choice = match device {
            None => DeviceChoice::Auto,
            // Any text is a choice.
            Some(text) => text.parse().unwrap_or_default(),
        };
        let (device, _) = Device::open(&choice)?;
        let names = model.class_names.iter().flatten();
        let names = names.map(|name| c_text(name)).collect();
        let held = Arc::new(model);
        let run = Run::on(&device);
        let first = Loaded::try_new(held.clone(), |model| model.on(run.clone()))?;
        Ok(Self {
            held,
            run,
            names,
            idle: Mutex::new(vec![first]),
            idle_probabilities: Mutex::default(),
        })
    }

    pub(crate) fn columns(&self) -> usize {
        self.held.map.input_dim()
    }

    pub(crate) fn outputs(&self) -> usize {
        self.held.coefficients.intercept_t.len()
    }

    pub(crate) fn predictions(&self) -> usize {
        match self.held.targets {
            Targets::Classes(_) => 1,
            // A link can take columns of raw scores that it does not return, such as a degree.
            Targets::Real { columns, .. } => columns,
        }
    }

    pub(crate) fn classes(&self) -> &[f64] {
        match &self.held.targets {
            Targets::Classes(labels) => labels,
            _ => &[],
        }
    }

    pub(crate) fn label(&self, prediction: f64) -> Option<&CStr> {
        // Numbers of text count its names from 0.
        let index = prediction as usize;
        let named = index as f64 == prediction;
        let name = self.names.get(index).filter(|_| named);
        name.map(CString::as_c_str)
    }

    pub(crate) fn predict(&self, x_nd: ArrayView2<'_, f32>) -> Result<Array2<f64>> {
        Ok(self.held.decide(self.scores(x_nd)?))
    }

    pub(crate) fn scores(&self, x_nd: ArrayView2<'_, f32>) -> Result<Array2<f64>> {
        let rows = self.rows(x_nd)?;
        let make = || Loaded::try_new(self.held.clone(), |model| model.on(self.run.clone()));
        with_idle(&self.idle, make, |loaded| {
            loaded.with_dependent_mut(|_, predictor| predictor.scores(&rows))
        })
    }

    pub(crate) fn probabilities(&self, x_nd: ArrayView2<'_, f32>) -> Result<Array2<f64>> {
        let rows = self.rows(x_nd)?;
        let make = || {
            let held = self.held.clone();
            LoadedProbabilities::try_new(held, |model| model.probabilities_on(self.run.clone()))
        };
        with_idle(&self.idle_probabilities, make, |loaded| {
            loaded.with_dependent_mut(|_, predictor| predictor.predict(&rows))
        })
    }

    fn rows(&self, x_nd: ArrayView2<'_, f32>) -> Result<Rows> {
        if x_nd.ncols() == self.columns() {
            Ok(Rows::from(x_nd))
        } else {
            Err(Error::shape(format!(
                "the model takes {} columns, and the rows have {}",
                self.columns(),
                x_nd.ncols()
            )))
        }
    }
}

/// Works with one that is idle, or with one more. What failed is not kept.
fn with_idle<T, R>(
    idle: &Mutex<Vec<T>>,
    make: impl FnOnce() -> Result<T>,
    work: impl FnOnce(&mut T) -> Result<R>,
) -> Result<R> {
    let all = || idle.lock().unwrap_or_else(PoisonError::into_inner);
    let found = all().pop();
    let mut one = match found {
        Some(one) => one,
        None => make()?,
    };
    let result = work(&mut one)?;
    all().push(one);
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::Model;
    use bochner::{models::SpectralEmbedding, prelude::*};
    use ndarray::Array2;

    /// Scores of an embedding hold a degree, too, by which its predictions are divided.
    #[test]
    fn predictions_are_counted_without_columns_that_a_link_takes() {
        let x = Array2::from_shape_fn((30, 1), |(i, _)| (i / 10 * 5) as f32 + i as f32 / 30.0);
        let map = Fourier::new(Gaussian).features(64);
        let learner = SpectralEmbedding::on(map).bandwidth(Bandwidth::Sigma(1.0));
        let fitted = learner.device(&Device::cpu()).dimensions(2).fit(&x);
        let bytes = fitted
            .and_then(|fitted| fitted.linear().to_bytes())
            .expect("fits");
        let model = Model::from_bytes(&bytes, Some("cpu")).expect("loads");
        assert_eq!((model.predictions(), model.outputs()), (2, 3));
        assert_eq!(model.predict(x.view()).expect("predicts").dim(), (30, 2));
        assert_eq!(model.scores(x.view()).expect("predicts").dim(), (30, 3));
    }
}
