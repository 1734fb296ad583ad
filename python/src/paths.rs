//! Samples of functions from the posterior of a Gaussian process, and gradients of models.

use crate::{
    arrays::Table,
    asked::{Asked, heard},
    calls::{exception, run, without_gil},
    model::Model,
    spread::copy,
    views::TableView,
};
use bochner::seed::Seed;
use ndarray::{Array3, s};
use numpy::{IntoPyArray, PyArray3, PyReadonlyArray2};
use pyo3::prelude::*;

/// Number of gradient values between two checks for signals.
const VALUES: usize = 1 << 24;

/// Samples functions from the posterior of a target; returns a model with one output per function.
#[pyfunction]
pub(crate) fn sampled(model: &Model, target: usize, samples: usize, seed: u64) -> PyResult<Model> {
    let drawn = copy(model.held()).and_then(|model| model.sample(target, samples, Seed(seed)));
    drawn.map(Model::from_model).map_err(|e| exception(&e))
}

/// Samples functions by Matheron's rule, given rows `x` and their targets `y` `[n, 1]`, with a
/// prior of `features` random features.
#[expect(
    clippy::too_many_arguments,
    reason = "what a draw takes, by name from Python"
)]
#[pyfunction]
#[pyo3(signature = (model, target, samples, seed, x, y, features, device, memory=None))]
pub(crate) fn sampled_given(
    py: Python<'_>,
    model: &Model,
    target: usize,
    samples: usize,
    seed: u64,
    x: Table<'_>,
    y: PyReadonlyArray2<'_, f64>,
    features: usize,
    device: &str,
    memory: Option<u64>,
) -> PyResult<Model> {
    let (model, given, y_nt) = (model.held(), x.given(), y.as_array());
    without_gil(py, |interrupt| {
        let run = run(device, memory, interrupt, None)?;
        let mut source = given.source(Some(y_nt), None, interrupt.flag())?;
        let sizes = (samples, features);
        model.sample_given((source.as_mut(), target), sizes, Seed(seed), &run)
    })
    .map(Model::from_model)
}

/// Gradients of the outputs by the columns of rows `x`, `[n, t, d]`.
#[pyfunction]
#[pyo3(signature = (model, x, device, memory=None))]
pub(crate) fn gradients<'py>(
    py: Python<'py>,
    model: &Model,
    x: Table<'_>,
    device: &str,
    memory: Option<u64>,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let model = model.held();
    let work = |view: TableView<'_>, asked: Asked<'_>| {
        let gradients = model.gradients()?;
        let (n, outputs, d) = (view.rows(), model.targets.outputs(), view.columns());
        let block = (VALUES / (outputs * d).max(1)).max(1);
        let mut all_ntd = Array3::zeros((n, outputs, d));
        for from in (0..n).step_by(block) {
            let rows = from..n.min(from + block);
            let part_ntd = gradients.at(&view.part(rows.clone())?)?;
            all_ntd.slice_mut(s![rows, .., ..]).assign(&part_ntd);
            asked.interrupt.check()?;
        }
        Ok(all_ntd)
    };
    Ok(heard(py, &x, device, memory, None, work)?.into_pyarray(py))
}
