//! `GrowingClusters`: incremental k-means.

use crate::{
    arrays::Table,
    calls::{exception, run, without_gil},
    model::Model,
    options::Options,
};
use bochner::models::{self, LinearModel};
use numpy::PyReadonlyArray1;
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Centres of k-means, and the total weight of the rows assigned to each.
#[pyclass(frozen, module = "bochner._native")]
pub(crate) struct GrowingClusters(Mutex<models::GrowingClusters>);

impl GrowingClusters {
    fn locked(&self) -> MutexGuard<'_, models::GrowingClusters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl GrowingClusters {
    /// Continues from a k-means model with the total weight of each cluster.
    #[new]
    fn resume(py: Python<'_>, model: &Model, weights: Vec<f64>) -> PyResult<Self> {
        let growing = without_gil(py, |interrupt| {
            // Each call of `add` sets its own device.
            let run = run("cpu", None, interrupt, None)?;
            let model = LinearModel::from_bytes(&model.held().to_bytes()?)?;
            models::GrowingClusters::resume(model, weights, run)
        })?;
        Ok(Self(Mutex::new(growing)))
    }

    /// Updates the centres with a mini-batch.
    fn add(
        &self,
        py: Python<'_>,
        x: Table<'_>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let options = Options(options);
        let (name, memory): (String, _) = (options.need("device")?, options.get("memory")?);
        let progress = options.get("progress")?;
        let given = x.given();
        let weights = weights.as_ref().map(|weights| weights.as_array());
        given.check(None, weights)?;
        // Work on a copy: holding the lock while the progress callback takes the GIL could
        // deadlock.
        let mut growing = self.locked().clone();
        let growing = without_gil(py, |interrupt| {
            growing.set_run(run(&name, memory, interrupt, progress)?);
            growing.add(given.source(None, weights, interrupt.flag())?.as_mut())?;
            Ok(growing)
        })?;
        *self.locked() = growing;
        Ok(())
    }

    /// Model with the current centres.
    fn model(&self) -> Model {
        Model::from_model(self.locked().linear())
    }

    /// Total weight of the rows assigned to each cluster.
    #[getter]
    fn weights(&self) -> Vec<f64> {
        self.locked().weights().to_vec()
    }

    #[expect(clippy::type_complexity, reason = "what pickle wants, used once")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>, Vec<f64>))> {
        let read = py.get_type::<Self>().getattr("from_bytes")?;
        let (model, weights) = {
            let growing = self.locked();
            (growing.linear(), growing.weights().to_vec())
        };
        let bytes = model.to_bytes().map_err(|e| exception(&e))?;
        Ok((read, (PyBytes::new(py, &bytes), weights)))
    }

    /// Deserialises the state, for pickle.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8], weights: Vec<f64>) -> PyResult<Self> {
        let growing = without_gil(py, |interrupt| {
            let run = run("cpu", None, interrupt, None)?;
            models::GrowingClusters::resume(LinearModel::from_bytes(bytes)?, weights, run)
        })?;
        Ok(Self(Mutex::new(growing)))
    }
}
