//! Uncertainty of regression predictions: intervals and covariances.

use crate::{
    arrays::Table,
    asked::{Asked, heard},
    calls::{exception, run, without_gil},
    model::Model,
    views::TableView,
};
use bochner::{Error, Result, models::LinearModel};
use ndarray::{Array2, s};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;

/// Number of rows between two checks for signals.
const ROWS: usize = 1 << 14;

/// Predictions for rows `x`, and lower and upper bounds that contain a new target with probability
/// `level`, each `[n, t]`.
#[pyfunction]
#[pyo3(signature = (model, x, level, device, memory=None, progress=None))]
pub(crate) fn intervals<'py>(
    py: Python<'py>,
    model: &Model,
    x: Table<'_>,
    level: f64,
    device: &str,
    memory: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<[Bound<'py, PyArray2<f64>>; 3]> {
    let model = model.held();
    let work = |view: TableView<'_>, mut asked: Asked<'_>| {
        let mut predictor = model.intervals_on(asked.run()?)?;
        let outputs = model.targets.outputs();
        let mut all = [(); 3].map(|()| Array2::zeros((view.rows(), outputs)));
        let tell = asked.tell();
        for from in (0..view.rows()).step_by(ROWS) {
            let rows = from..view.rows().min(from + ROWS);
            let part = predictor.predict(&view.part(rows.clone())?, level)?;
            let parts = [part.predicted_nt, part.lower_nt, part.upper_nt];
            for (all, part) in all.iter_mut().zip(parts) {
                all.slice_mut(s![rows.clone(), ..]).assign(&part);
            }
            tell(rows.end)?;
        }
        Ok(all)
    };
    let all = heard(py, &x, device, memory, progress, work)?;
    Ok(all.map(|part| part.into_pyarray(py)))
}

/// Copy of the model with intervals calibrated on rows that the fit has not seen.
#[pyfunction]
#[pyo3(signature = (model, x, y, device, memory=None))]
pub(crate) fn calibrated(
    py: Python<'_>,
    model: &Model,
    x: Table<'_>,
    y: PyReadonlyArray2<'_, f64>,
    device: &str,
    memory: Option<u64>,
) -> PyResult<Model> {
    let (model, given, y_nt) = (model.held(), x.given(), y.as_array());
    without_gil(py, |interrupt| {
        let mut source = given.source(Some(y_nt), None, interrupt.flag())?;
        let mut model = copy(model)?;
        model.calibrate(source.as_mut(), run(device, memory, interrupt, None)?)?;
        Ok(model)
    })
    .map(Model::from_model)
}

/// Posterior covariances of a Gaussian process at rows `x`, divided by the noise variance,
/// `[n, n]`, and the noise variance of each target, `[t]`.
#[expect(clippy::type_complexity, reason = "a pair of arrays, used once")]
#[pyfunction]
#[pyo3(signature = (model, x, device, memory=None))]
pub(crate) fn covariances<'py>(
    py: Python<'py>,
    model: &Model,
    x: Table<'_>,
    device: &str,
    memory: Option<u64>,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>)> {
    let model = model.held();
    let work = |view: TableView<'_>, asked: Asked<'_>| {
        let mut predictor = model.intervals_on(asked.run()?)?;
        predictor.relative_covariance(&view.part(0..view.rows())?)
    };
    let covariance_nn = heard(py, &x, device, memory, None, work)?;
    let noise_t = model.spread.iter().flat_map(|spread| &spread.noise_t);
    let noise_t: Vec<f64> = noise_t.copied().collect();
    Ok((covariance_nn.into_pyarray(py), noise_t.into_pyarray(py)))
}

/// Combines models that differ in their penalties: output k is that of the model `which[k]`.
#[pyfunction]
pub(crate) fn of_each(models: Vec<PyRef<'_, Model>>, which: Vec<usize>) -> PyResult<Model> {
    let held: Vec<&LinearModel> = models.iter().map(|model| model.held()).collect();
    let first = held
        .first()
        .ok_or_else(|| Error::shape("there are no models"));
    let one = first.and_then(|first| copy(first)?.of_each(&held, &which));
    one.map(Model::from_model).map_err(|e| exception(&e))
}

/// Deep copy of a model, by serialisation.
pub(crate) fn copy(model: &LinearModel) -> Result<LinearModel> {
    LinearModel::from_bytes(&model.to_bytes()?)
}
