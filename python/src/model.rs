//! `Model`: a fitted model, and loaded where it was last used.

use crate::{
    arrays::Table,
    asked::{Asked, heard},
    calls::{exception, run, without_gil},
    fitting::{Fitting, keep_names, meaning},
    options::Options,
    scan::Scan,
    views::TableView,
};
use bochner::{
    export::onnx::Input,
    models::{LinearModel, Predictor, Probabilities, Targets},
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::{
    exceptions::PyNotImplementedError,
    prelude::*,
    types::{PyBytes, PyDict},
};
use self_cell::self_cell;
use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

type SharedModel = Arc<LinearModel>;

self_cell!(
    /// A model beside itself on a device.
    pub(crate) struct Loaded {
        owner: SharedModel,
        #[not_covariant]
        dependent: Predictor,
    }
);

/// A fitted model.
#[pyclass(frozen, module = "bochner._native")]
pub(crate) struct Model {
    pub(crate) model: SharedModel,
    importance: Option<Vec<f64>>,
    pub(crate) loaded: Mutex<Option<(String, Loaded)>>,
}

impl Model {
    pub(crate) fn from_model(model: LinearModel) -> Self {
        Self {
            model: Arc::new(model),
            importance: None,
            loaded: Mutex::new(None),
        }
    }
}

#[pymethods]
impl Model {
    /// Fits the learner of this name to rows `x`, targets `y` `[n, t]` and weights `[n]`, with the
    /// map that `options` describe. A file without `y` has targets of its own. `classes` says that
    /// targets are labels, and `names` what numbers from 0 on stand for if the labels are text.
    /// A fit begins at `start`, on its map, if there is one.
    #[staticmethod]
    #[expect(
        clippy::too_many_arguments,
        reason = "what a fit takes, by name from Python"
    )]
    #[pyo3(signature = (learner, x, y, weights, options, *, classes=false, names=None, start=None))]
    fn fit(
        py: Python<'_>,
        learner: &str,
        x: Table<'_>,
        y: Option<PyReadonlyArray2<'_, f64>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        options: &Bound<'_, PyDict>,
        classes: bool,
        names: Option<Vec<String>>,
        start: Option<&Self>,
    ) -> PyResult<Self> {
        let options = Options(options);
        let fit = options.learner(learner)?;
        let job = options.job(fit.as_ref())?;
        let (name, memory): (String, _) = (options.need("device")?, options.get("memory")?);
        let progress = options.get("progress")?;
        let columns = options.get("columns")?;
        let importances = options.get("importances")?.unwrap_or(false);
        let (given, y) = (x.given(), y.as_ref().map(|y| y.as_array()));
        let weights = weights.as_ref().map(|weights| weights.as_array());
        given.check(y, weights)?;
        if start.is_some() && !fit.takes_start() {
            let problem = format!("{learner} does not go on from a model");
            return Err(PyNotImplementedError::new_err(problem));
        }
        let own_targets = y.is_none();
        let fitting = Fitting {
            job,
            meaning: meaning(classes, own_targets),
            start: start.map(|start| start.model.as_ref()),
            importances,
        };
        let (model, importance) = without_gil(py, |interrupt| {
            let run = run(&name, memory, interrupt, progress)?;
            let mut source = given.table(y, weights, interrupt.flag())?;
            let (mut model, importance) = fitting.run(source.as_mut(), &run)?;
            keep_names(&mut model, source.as_ref(), names, own_targets, columns);
            Ok((model, importance))
        })?;
        Ok(Self {
            importance,
            ..Self::from_model(model)
        })
    }

    /// The file with the columns that the model makes of a table.
    fn scan(&self, py: Python<'_>, file: &Scan) -> PyResult<Scan> {
        file.with_columns(py, self.model.columns())
    }

    /// The share of each column in the squared gradient of the fit, if it was asked for and the map
    /// has a gradient.
    #[getter]
    fn importance(&self) -> Option<Vec<f64>> {
        self.importance.clone()
    }

    /// Whether the columns are made of others, such as text.
    #[getter]
    fn has_schema(&self) -> bool {
        self.model.schema.is_some()
    }

    /// Outputs for rows `x`, `[n, t]`: predicted values, or one score per class.
    #[pyo3(signature = (x, device, memory=None, progress=None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        x: Table<'_>,
        device: &str,
        memory: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let work = |view: TableView<'_>, asked: Asked<'_>| self.scores_of(view, asked);
        let found = heard(py, &x, device, memory, progress, work)?;
        Ok(found.into_pyarray(py))
    }

    /// Probabilities of scores, `[n, t]`.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let probabilities = self.model.probabilities_of(scores.as_array().to_owned());
        Ok(probabilities.map_err(|e| exception(&e))?.into_pyarray(py))
    }

    /// Probabilities for rows `x`, `[n, t]`: those of models whose scores do not tell them, too.
    #[pyo3(signature = (x, device, memory=None, progress=None))]
    fn row_probabilities<'py>(
        &self,
        py: Python<'py>,
        x: Table<'_>,
        device: &str,
        memory: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let work = |view: TableView<'_>, asked: Asked<'_>| self.row_probabilities_of(view, asked);
        let found = heard(py, &x, device, memory, progress, work)?;
        Ok(found.into_pyarray(py))
    }

    /// Whether probabilities are averaged over a posterior, which takes the rows.
    #[getter]
    fn is_averaged(&self) -> bool {
        self.model.probabilities == Some(Probabilities::Averaged)
    }

    /// Predictions of a Gaussian process for rows `x` and the standard deviations of new targets,
    /// each `[n, t]`.
    #[expect(clippy::type_complexity, reason = "a pair of arrays, used once")]
    #[pyo3(signature = (x, device, memory=None, progress=None))]
    fn deviations<'py>(
        &self,
        py: Python<'py>,
        x: Table<'_>,
        device: &str,
        memory: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>)> {
        let work = |view: TableView<'_>, asked: Asked<'_>| self.deviations_of(view, asked);
        let [predicted, deviation] = heard(py, &x, device, memory, progress, work)?;
        Ok((predicted.into_pyarray(py), deviation.into_pyarray(py)))
    }

    /// How far rows `x` are, in feature space, from what principal components span, squared, `[n]`.
    #[pyo3(signature = (x, device, memory=None, progress=None))]
    fn reconstruction_errors<'py>(
        &self,
        py: Python<'py>,
        x: Table<'_>,
        device: &str,
        memory: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let work =
            |view: TableView<'_>, asked: Asked<'_>| self.reconstruction_errors_of(view, asked);
        let found = heard(py, &x, device, memory, progress, work)?;
        Ok(found.into_pyarray(py))
    }

    /// `|z(x)|^2` of rows `x`, `[n]`.
    #[pyo3(signature = (x, device, memory=None, progress=None))]
    fn squared_norms<'py>(
        &self,
        py: Python<'py>,
        x: Table<'_>,
        device: &str,
        memory: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let work = |view: TableView<'_>, asked: Asked<'_>| self.squared_norms_of(view, asked);
        let found = heard(py, &x, device, memory, progress, work)?;
        Ok(found.into_pyarray(py))
    }

    /// The variances along principal components, largest first, and in all directions.
    fn variances(&self) -> Option<(Vec<f64>, f64)> {
        let principal = self.model.principal.as_ref()?;
        Some((principal.variance_t.clone(), principal.total_variance))
    }

    /// The metric that was learnt: its kind, `R^2` with rows compared by `|R (x - y)|`, `[d, d]`,
    /// and the share of each column in the squared gradient.
    fn metric<'py>(
        &self,
        py: Python<'py>,
    ) -> Option<(String, Bound<'py, PyArray2<f64>>, Vec<f64>)> {
        let metric = self.model.metric.as_ref()?;
        let root = metric.root();
        let squared = root.dot(&root).into_pyarray(py);
        Some((
            metric.kind().to_string(),
            squared,
            metric.importance().to_vec(),
        ))
    }

    /// Coefficients of the features, `[D, t]`, and the intercept, `[t]`.
    fn coefficients<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>) {
        let coefficients = &self.model.coefficients;
        let beta_dt = coefficients.beta_dt.clone().into_pyarray(py);
        (beta_dt, coefficients.intercept_t.clone().into_pyarray(py))
    }

    /// Labels of a classifier: numbers, and names and types if there are any.
    fn labels(&self) -> (Option<Vec<f64>>, Option<Vec<String>>, Option<String>) {
        let numbers = match &self.model.targets {
            Targets::Classes(labels) => Some(labels.clone()),
            Targets::Real { .. } => None,
        };
        let types = self.model.label_types.clone();
        (numbers, self.model.class_names.clone(), types)
    }

    /// Whether it has probabilities.
    #[getter]
    fn has_probabilities(&self) -> bool {
        self.model.probabilities.is_some()
    }

    /// Which classes are in the set of each row that holds the right one with probability `level`,
    /// by its probabilities, both `[n, t]`.
    fn sets<'py>(
        &self,
        py: Python<'py>,
        probabilities: PyReadonlyArray2<'_, f64>,
        level: f64,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let sets = self
            .model
            .sets_of(&probabilities.as_array().to_owned(), level);
        Ok(sets.map_err(|e| exception(&e))?.into_pyarray(py))
    }

    /// What fitted it, as `fit --model` of the command line is called.
    #[getter]
    fn learner(&self) -> &str {
        &self.model.learner
    }

    /// The job that made it, names and values in words, if it is known.
    #[getter]
    fn job(&self) -> Option<Vec<(String, String)>> {
        let job = self.model.job.as_ref()?;
        let words = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Some(job.iter().map(words).collect())
    }

    /// The penalty per sample that the fit used.
    #[getter]
    fn penalty(&self) -> f64 {
        self.model.lambda
    }

    /// What the columns of the rows are called, if they have names.
    #[getter]
    fn column_names(&self) -> Option<Vec<String>> {
        self.model.column_names.clone()
    }

    /// Columns of the rows that it takes.
    #[getter]
    fn n_features(&self) -> usize {
        self.model.map.input_dim()
    }

    /// Columns of what it predicts; classes, of a classifier.
    #[getter]
    fn n_outputs(&self) -> usize {
        self.model.targets.outputs()
    }

    /// Rows that the fit saw.
    #[getter]
    fn rows(&self) -> u64 {
        self.model.rows
    }

    /// Figures that the fit found, by name.
    fn facts(&self) -> std::collections::BTreeMap<String, f64> {
        self.model.facts.clone()
    }

    /// The lengthscale of each column that a Gaussian process found, and how relevant it is;
    /// nothing where it did not look.
    #[expect(clippy::type_complexity, reason = "two arrays, or nothing")]
    fn found_lengthscales<'py>(
        &self,
        py: Python<'py>,
    ) -> Option<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let found = self.model.lengthscales.as_ref()?;
        let array = |values: &[f64]| PyArray1::from_slice(py, values);
        Some((array(&found.lengthscale_d), array(&found.relevance_d)))
    }

    /// Map, kernel, sampling and sizes in one line.
    fn describe(&self) -> String {
        self.model.map.describe()
    }

    /// Writes the model file of the command line, with the types of labels where there are some.
    #[pyo3(signature = (path, types=None))]
    fn save(&self, py: Python<'_>, path: PathBuf, types: Option<&str>) -> PyResult<()> {
        without_gil(py, |_| self.model.save_with_label_types(path, types))
    }

    /// Writes an ONNX file.
    fn to_onnx<'py>(&self, py: Python<'py>, double: Option<bool>) -> PyResult<Bound<'py, PyBytes>> {
        let of = |double| if double { Input::Double } else { Input::Single };
        let bytes = without_gil(py, |_| self.model.to_onnx(double.map_or(Input::Auto, of)))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads a model file, of this package, the library or the command line.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        without_gil(py, |_| LinearModel::load(path)).map(Self::from_model)
    }

    /// Everything in bytes that [`Self::from_bytes`] takes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.model.to_bytes().map_err(|e| exception(&e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The model of these bytes.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let model = LinearModel::from_bytes(bytes).map_err(|e| exception(&e))?;
        Ok(Self::from_model(model))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let read = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((read, (self.to_bytes(py)?,)))
    }
}

impl Model {
    /// What was fitted.
    pub(crate) fn held(&self) -> &LinearModel {
        &self.model
    }
}
