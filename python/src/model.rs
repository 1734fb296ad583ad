//! `Model`: a fitted model, with a cached predictor on the device of its last use.

use crate::{
    arrays::Table,
    asked::{Asked, heard},
    calls::{exception, run, without_gil},
    fitting::{Fitting, NamedImputation, imputation, keep_names, meaning},
    options::Options,
    predictions::{Loaded, SharedModel},
    scan::Scan,
    views::TableView,
};
use bochner::{
    export::onnx::Input,
    models::{LinearModel, Probabilities, Targets},
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::{
    exceptions::PyNotImplementedError,
    prelude::*,
    types::{PyBytes, PyDict},
};
use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

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
    /// map that `options` describe. For `y` None the file has the targets. `classes` means that
    /// targets are labels; `names` are the labels of codes 0, 1, ... if they are text. `start` is a
    /// model for a warm start on its map.
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
        let columns = (options.get("columns")?, options.get("imputation")?);
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

    /// The file, read with the columns that the model encodes.
    fn scan(&self, py: Python<'_>, file: &Scan) -> PyResult<Scan> {
        file.with_columns(py, self.model.columns())
    }

    /// Share of each column in the squared gradient of the predictions, if requested and if the map
    /// has a gradient.
    #[getter]
    fn importance(&self) -> Option<Vec<f64>> {
        self.importance.clone()
    }

    /// Whether the features are encoded from the columns of a table, such as text.
    #[getter]
    fn has_schema(&self) -> bool {
        self.model.schema.is_some()
    }

    /// Imputation of a model with numeric columns: names, fill values, whether a training row
    /// misses a value, and whether the column has an indicator.
    #[getter]
    fn imputation(&self) -> Option<NamedImputation> {
        imputation(&self.model)
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

    /// Probabilities for rows `x`, `[n, t]`, also for models that do not derive them from scores.
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

    /// Whether probabilities are averages over a posterior, which need the rows, not only scores.
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

    /// Squared distances of rows `x` from the span of the principal components, in feature space,
    /// `[n]`.
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

    /// Variances of the principal components, in descending order, and the total variance.
    fn variances(&self) -> Option<(Vec<f64>, f64)> {
        let principal = self.model.principal.as_ref()?;
        Some((principal.variance_t.clone(), principal.total_variance))
    }

    /// Learned metric: its kind, the matrix `R^2` `[d, d]` of distances `|R (x - y)|`, and the
    /// share of each column in the squared gradient.
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

    /// Labels of a classifier: codes, and text and dtype if they are known.
    fn labels(&self) -> (Option<Vec<f64>>, Option<Vec<String>>, Option<String>) {
        let numbers = match &self.model.targets {
            Targets::Classes(labels) => Some(labels.clone()),
            Targets::Real { .. } => None,
        };
        let types = self.model.label_types.clone();
        (numbers, self.model.class_names.clone(), types)
    }

    /// Whether the model has probabilities.
    #[getter]
    fn has_probabilities(&self) -> bool {
        self.model.probabilities.is_some()
    }

    /// Prediction sets that contain the true class with probability `level`, `[n, t]`, from
    /// probabilities `[n, t]`.
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

    /// Name of the learner, as in `bochner fit --model`.
    #[getter]
    fn learner(&self) -> &str {
        &self.model.learner
    }

    /// Settings of the fit as names and values, if they are known.
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

    /// Names of the columns, if they have names.
    #[getter]
    fn column_names(&self) -> Option<Vec<String>> {
        self.model.column_names.clone()
    }

    /// Number of input columns.
    #[getter]
    fn n_features(&self) -> usize {
        self.model.map.input_dim()
    }

    /// Number of outputs; for a classifier, of classes.
    #[getter]
    fn n_outputs(&self) -> usize {
        self.model.targets.outputs()
    }

    /// Number of training rows.
    #[getter]
    fn rows(&self) -> u64 {
        self.model.rows
    }

    /// Facts of the fit, such as iterations or errors, by name.
    fn facts(&self) -> std::collections::BTreeMap<String, f64> {
        self.model.facts.clone()
    }

    /// Lengthscale and relevance of each column, if a Gaussian process optimised lengthscales.
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

    /// Writes a model file, with the dtype of the labels if there are any.
    #[pyo3(signature = (path, types=None))]
    fn save(&self, py: Python<'_>, path: PathBuf, types: Option<&str>) -> PyResult<()> {
        without_gil(py, |_| self.model.save_with_label_types(path, types))
    }

    /// Exports the model to ONNX; returns the bytes of the file.
    fn to_onnx<'py>(&self, py: Python<'py>, double: Option<bool>) -> PyResult<Bound<'py, PyBytes>> {
        let of = |double| if double { Input::Double } else { Input::Single };
        let bytes = without_gil(py, |_| self.model.to_onnx(double.map_or(Input::Auto, of)))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads a model file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        without_gil(py, |_| LinearModel::load(path)).map(Self::from_model)
    }

    /// Serialises the model for [`Self::from_bytes`].
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.model.to_bytes().map_err(|e| exception(&e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Deserialises a model.
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
    /// The fitted model.
    pub(crate) fn held(&self) -> &LinearModel {
        &self.model
    }
}
