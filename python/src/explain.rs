//! Model explanations: importance, partial dependence, Shapley values, component functions.

use crate::{
    arrays::{Table, Y},
    calls::{run, without_gil},
    model::Model,
    options::Options,
};
use bochner::{
    Result,
    explain::{
        ColumnValue, ExplainOptions, Explainer, Importance, PartialDependence, Shape, Shapes,
        Shapley,
    },
    seed::Seed,
};
use numpy::{
    IntoPyArray,
    ndarray::{Array2, IxDyn},
};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

/// Results of an explanation.
struct Found {
    columns: Vec<String>,
    outputs: Vec<String>,
    kind: &'static str,
    importance: Importance,
    dependence: Vec<PartialDependence>,
    shapley: Option<Shapley>,
}

/// Options of an explanation.
struct Wanted {
    options: ExplainOptions,
    columns: Option<Vec<String>>,
    most: usize,
    rows: usize,
}

impl Wanted {
    fn find(&self, explainer: &mut Explainer<'_>) -> Result<Found> {
        let named = self.columns.as_ref().map(|names| {
            let places = names.iter().map(|name| explainer.place_of(name));
            places.collect::<Result<Vec<_>>>()
        });
        let named = named.transpose()?;
        let importance = explainer.importance()?;
        let drawn = named.unwrap_or_else(|| explainer.most_important(&importance, self.most));
        let dependence = drawn.into_iter().map(|j| explainer.partial_dependence(j));
        let dependence = dependence.collect::<Result<_>>()?;
        let columns = explainer.columns().iter().map(|column| column.name.clone());
        Ok(Found {
            columns: columns.collect(),
            outputs: explainer.output_names(),
            kind: explainer.output_kind().name(),
            importance,
            dependence,
            shapley: (self.rows > 0)
                .then(|| explainer.shapley(self.rows))
                .transpose()?,
        })
    }
}

/// Explains a model on rows `x` with targets `y` `[n, t]` (codes of labels). Returns a dict with
/// `importance`, `partial_dependence` and `shapley`.
#[pyfunction]
pub(crate) fn explain<'py>(
    py: Python<'py>,
    model: &Model,
    x: Table<'_>,
    y: Y<'_>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options(options);
    let wanted = Wanted {
        options: ExplainOptions {
            seed: Seed(options.need("seed")?),
            rows: options.need("sample")?,
            repeats: options.need("repeats")?,
            ..ExplainOptions::default()
        },
        columns: options.get("columns")?,
        most: options.need("most_columns")?,
        rows: options.need("rows")?,
    };
    let (device, memory): (String, _) = (options.need("device")?, options.get("memory")?);
    let progress = options.get("progress")?;
    let (model, given, y) = (model.held(), x.given(), y.as_ref().map(|y| y.as_array()));
    given.check(y, None)?;
    let found = without_gil(py, |interrupt| {
        let run = run(&device, memory, interrupt, progress)?;
        let mut source = given.source(y, None, interrupt.flag())?;
        let mut explainer = Explainer::new(model, source.as_mut(), wanted.options, run)?;
        wanted.find(&mut explainer)
    })?;
    found.into_dict(py)
}

/// Component functions of an additive model on rows `x` with targets `y` `[n, t]`, as a dict.
#[pyfunction]
pub(crate) fn shapes<'py>(
    py: Python<'py>,
    model: &Model,
    x: Table<'_>,
    y: Y<'_>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options(options);
    let of = ExplainOptions {
        seed: Seed(options.need("seed")?),
        rows: options.need("sample")?,
        ..ExplainOptions::default()
    };
    let (device, memory): (String, _) = (options.need("device")?, options.get("memory")?);
    let progress = options.get("progress")?;
    let (model, given, y) = (model.held(), x.given(), y.as_ref().map(|y| y.as_array()));
    given.check(y, None)?;
    let (found, columns, outputs) = without_gil(py, |interrupt| {
        let run = run(&device, memory, interrupt, progress)?;
        let mut source = given.source(y, None, interrupt.flag())?;
        let mut explainer = Explainer::new(model, source.as_mut(), of, run)?;
        let found = explainer.shapes()?;
        let columns = explainer.columns().iter().map(|column| column.name.clone());
        let columns: Vec<String> = columns.collect();
        Ok((found, columns, explainer.output_names()))
    })?;
    let all = of_shapes(py, found)?;
    all.set_item("names", columns)?;
    all.set_item("outputs", outputs)?;
    Ok(all)
}

impl Found {
    fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let all = PyDict::new(py);
        all.set_item("columns", &self.columns)?;
        all.set_item("outputs", &self.outputs)?;
        all.set_item("outputs_are", self.kind)?;
        all.set_item("importance", of_importance(py, &self.importance)?)?;
        let each = self.dependence.into_iter().map(|of| of_dependence(py, of));
        all.set_item("partial_dependence", each.collect::<PyResult<Vec<_>>>()?)?;
        let shapley = self.shapley.map(|of| of_shapley(py, of)).transpose()?;
        all.set_item("shapley", shapley)?;
        Ok(all)
    }
}

fn of_importance<'py>(py: Python<'py>, of: &Importance) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("measure", of.measure.name())?;
    dict.set_item("error", of.error)?;
    dict.set_item("rows", of.rows)?;
    let columns: Vec<usize> = of.columns.iter().map(|of| of.column).collect();
    dict.set_item("columns", columns)?;
    let rises: Vec<f64> = of.columns.iter().map(|of| of.rise).collect();
    dict.set_item("rise", rises.into_pyarray(py))?;
    let deviations: Vec<f64> = of.columns.iter().map(|of| of.deviation).collect();
    dict.set_item("deviation", deviations.into_pyarray(py))?;
    let gradients: Option<Vec<f64>> = of.columns.iter().map(|of| of.gradient).collect();
    dict.set_item("gradient", gradients.map(|of| of.into_pyarray(py)))?;
    Ok(dict)
}

/// Converts values: numbers to float, missing values to None, others to text.
fn of_values(py: Python<'_>, values: &[ColumnValue]) -> PyResult<Vec<Py<PyAny>>> {
    let value = |of: &ColumnValue| -> PyResult<Py<PyAny>> {
        Ok(match of {
            ColumnValue::Number(number) => number.into_pyobject(py)?.into_any().unbind(),
            ColumnValue::Missing => py.None(),
            other => other.to_string().into_pyobject(py)?.into_any().unbind(),
        })
    };
    values.iter().map(value).collect()
}

fn of_dependence(py: Python<'_>, of: PartialDependence) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("column", of.column)?;
    dict.set_item("values", of_values(py, &of.values)?)?;
    dict.set_item("mean", of.mean_gk.into_pyarray(py))?;
    dict.set_item("curves", of.curves_cgk.into_pyarray(py))?;
    dict.set_item("curve_rows", of.curve_rows.into_pyarray(py))?;
    dict.set_item("rows", of.rows)?;
    Ok(dict)
}

fn of_shapes(py: Python<'_>, of: Shapes) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("outputs_are", of.kind.name())?;
    dict.set_item("intercept", of.intercept_k.into_pyarray(py))?;
    dict.set_item("rows", of.rows)?;
    dict.set_item("noise", of.noise_k.map(|of| of.into_pyarray(py)))?;
    let each = of.shapes.into_iter().map(|of| of_shape(py, of));
    dict.set_item("shapes", each.collect::<PyResult<Vec<_>>>()?)?;
    let others = of.others.into_iter().map(|of| of.columns);
    dict.set_item("others", others.collect::<Vec<_>>())?;
    Ok(dict)
}

/// Converts a component function; values of a pair have the shape `[first, second, outputs]`.
fn of_shape(py: Python<'_>, of: Shape) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    let mut shape: Vec<usize> = of.values.iter().map(Vec::len).collect();
    shape.push(of.deviation_k.len());
    let array = |of_gk: Array2<f64>| {
        let of = of_gk.into_shape_with_order(IxDyn(&shape));
        of.map(|of| of.into_pyarray(py))
            .map_err(|error| PyValueError::new_err(error.to_string()))
    };
    dict.set_item("columns", of.columns)?;
    let values = of.values.iter().map(|of| of_values(py, of));
    dict.set_item("values", values.collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("mean", array(of.mean_gk)?)?;
    dict.set_item("band", of.band_gk.map(array).transpose()?)?;
    dict.set_item("deviation", of.deviation_k.into_pyarray(py))?;
    Ok(dict)
}

fn of_shapley(py: Python<'_>, of: Shapley) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("rows", of.rows.into_pyarray(py))?;
    dict.set_item("base", of.base_k.into_pyarray(py))?;
    dict.set_item("background", of.background)?;
    dict.set_item("exact", of.is_exact)?;
    dict.set_item("outputs", of.outputs_rk.into_pyarray(py))?;
    dict.set_item("values", of.values_rpk.into_pyarray(py))?;
    dict.set_item("errors", of.errors_rpk.into_pyarray(py))?;
    Ok(dict)
}
