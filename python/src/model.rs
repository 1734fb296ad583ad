//! `Model`: a fitted model, and loaded where it was last used.

use crate::{
    arrays::Table,
    calls::{device, exception, run, without_gil},
    options::{Options, Prepared},
    views::Source,
};
use bochner::{
    Result, Run,
    export::onnx::Input,
    models::{FitData, LinearModel, Predictor, WithProbabilities},
    solve::Targets,
};
use ndarray::{Array2, s};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::{
    exceptions::PyNotImplementedError,
    prelude::*,
    types::{PyBytes, PyDict},
};
use self_cell::self_cell;
use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

/// Fewer values than this are copied at once, and no thread reads ahead.
const FEW_VALUES: usize = 1 << 16;

/// Any level will do where only deviations are looked at.
const LEVEL: f64 = 0.5;

type Held = Arc<LinearModel>;

self_cell!(
    /// A model beside itself on a device.
    struct Loaded {
        owner: Held,
        #[not_covariant]
        dependent: Predictor,
    }
);

/// A fitted model.
#[pyclass(frozen, module = "bochner._native")]
pub(crate) struct Model {
    model: Held,
    loaded: Mutex<Option<(String, Loaded)>>,
}

impl Model {
    pub(crate) fn of(model: LinearModel) -> Self {
        Self {
            model: Arc::new(model),
            loaded: Mutex::new(None),
        }
    }
}

#[pymethods]
impl Model {
    /// Fits the learner of this name to rows `x`, targets `y` `[n, t]` and weights `[n]`, with the
    /// map that `options` describe. A file without `y` has targets of its own. `classes` says that
    /// targets are labels, and `names` what numbers from 0 on stand for if the labels are text.
    #[staticmethod]
    #[expect(
        clippy::too_many_arguments,
        reason = "what a fit takes, by name from Python"
    )]
    #[pyo3(signature = (learner, x, y, weights, options, *, classes=false, names=None))]
    fn fit(
        py: Python<'_>,
        learner: &str,
        x: Table<'_>,
        y: Option<PyReadonlyArray2<'_, f64>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        options: &Bound<'_, PyDict>,
        classes: bool,
        names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let options = Options(options);
        let prepared = Prepared::read(&options)?;
        let fit = options.learner(learner)?;
        let probabilities = options.get("probability")?.unwrap_or(false);
        let (name, memory): (String, _) = (options.need("device")?, options.get("memory")?);
        let progress = options.get("progress")?;
        let (given, y) = (x.given(), y.as_ref().map(|y| y.as_array()));
        let weights = weights.as_ref().map(|weights| weights.as_array());
        given.check(y, weights)?;
        if weights.is_some() && !fit.takes_weights() {
            let problem = format!("{learner} takes no weights of rows");
            return Err(PyNotImplementedError::new_err(problem));
        }
        let model = without_gil(py, |interrupt| {
            let run = run(&name, memory, interrupt, progress)?;
            let mut source = given.source(y, weights, interrupt.flag())?;
            let source = source.as_mut();
            let (map, survey) = prepared.build(source, &run)?;
            let data = FitData {
                targets: match classes {
                    true => Targets::classes(&survey)?,
                    false => Targets::real(&survey),
                },
                source,
                survey: &survey,
                // Only densities ask for it.
                kernel: None,
                start: None,
                seed: prepared.spec.seed,
                run: &run,
            };
            match probabilities {
                true => {
                    use bochner::models::Fit;
                    WithProbabilities(fit.as_ref()).fit(map, data)
                }
                false => fit.fit(map, data),
            }
        })?;
        Ok(Self::of(LinearModel {
            class_names: names,
            ..model
        }))
    }

    /// Outputs for rows `x`, `[n, t]`: predicted values, or one score per class.
    #[pyo3(signature = (x, device, memory=None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        x: Table<'_>,
        device: &str,
        memory: Option<u64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let view = x.view()?;
        let scores = without_gil(py, |interrupt| {
            let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
            let key = format!("{device} {memory:?}");
            let (_, cell) = match &mut *loaded {
                Some(there) if there.0 == key => there,
                other => other.insert((key, self.load(device, memory)?)),
            };
            let result = cell.with_dependent_mut(|_, predictor| -> Result<Array2<f64>> {
                let finished = |scores_nt: Array2<f64>| match &self.model.targets {
                    Targets::Real { .. } => self.model.decide(scores_nt),
                    Targets::Classes(_) => scores_nt,
                };
                if view.rows() * view.columns() <= FEW_VALUES {
                    return predictor.scores(&view.part(0..view.rows())?).map(finished);
                }
                let outputs = self.model.targets.outputs();
                let mut all = Array2::zeros((view.rows(), outputs));
                let mut at = 0;
                let mut source = Source::new(view, interrupt.flag());
                predictor.stream_scores(&mut source, |scores_nt, _| {
                    let rows = at..at + scores_nt.nrows();
                    at = rows.end;
                    all.slice_mut(s![rows, ..])
                        .assign(&finished(scores_nt.to_owned()));
                    interrupt.check()
                })?;
                Ok(all)
            });
            if result.is_err() {
                *loaded = None;
            }
            result
        })?;
        Ok(scores.into_pyarray(py))
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

    /// Predictions of a Gaussian process for rows `x` and the standard deviations of new targets,
    /// each `[n, t]`.
    #[expect(clippy::type_complexity, reason = "a pair of arrays, used once")]
    fn deviations<'py>(
        &self,
        py: Python<'py>,
        x: Table<'_>,
        device: &str,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>)> {
        let view = x.view()?;
        let (predicted, deviation) = without_gil(py, |_| {
            let run = Run::on(&crate::calls::device(device)?);
            let mut predictor = self.model.intervals_on(run)?;
            let intervals = predictor.predict(&view.part(0..view.rows())?, LEVEL)?;
            let deviation = intervals
                .deviation_nt
                .ok_or_else(|| bochner::Error::unsupported("this model has no deviations"))?;
            Ok((intervals.predicted_nt, deviation))
        })?;
        Ok((predicted.into_pyarray(py), deviation.into_pyarray(py)))
    }

    /// How far rows `x` are, in feature space, from what principal components span, squared, `[n]`.
    #[pyo3(signature = (x, device, memory=None))]
    fn reconstruction_errors<'py>(
        &self,
        py: Python<'py>,
        x: Table<'_>,
        device: &str,
        memory: Option<u64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let view = x.view()?;
        let errors = without_gil(py, |interrupt| {
            let run = run(device, memory, interrupt, None)?;
            let mut all = Vec::with_capacity(view.rows());
            let mut source = Source::new(view, interrupt.flag());
            (self.model).reconstruction_errors(&mut source, run, |errors_n| {
                all.extend(&errors_n);
                Ok(())
            })?;
            Ok(all)
        })?;
        Ok(errors.into_pyarray(py))
    }

    /// The variances along principal components, largest first, and in all directions.
    fn variances(&self) -> Option<(Vec<f64>, f64)> {
        let principal = self.model.principal.as_ref()?;
        Some((principal.variance_t.clone(), principal.total_variance))
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

    /// Labels of a classifier: numbers, or names.
    fn labels(&self) -> (Option<Vec<f64>>, Option<Vec<String>>) {
        let numbers = match &self.model.targets {
            Targets::Classes(labels) => Some(labels.clone()),
            Targets::Real { .. } => None,
        };
        (numbers, self.model.class_names.clone())
    }

    /// Whether it has probabilities.
    #[getter]
    fn has_probabilities(&self) -> bool {
        self.model.probabilities.is_some()
    }

    /// What fitted it, as `fit --model` of the command line is called.
    #[getter]
    fn learner(&self) -> &str {
        &self.model.learner
    }

    /// The penalty per sample that the fit used.
    #[getter]
    fn penalty(&self) -> f64 {
        self.model.lambda
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

    /// Map, kernel, sampling and sizes in one line.
    fn describe(&self) -> String {
        self.model.map.describe()
    }

    /// Writes the model file of the command line.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        without_gil(py, |_| self.model.save(path))
    }

    /// Writes an ONNX file.
    fn to_onnx<'py>(&self, py: Python<'py>, double: bool) -> PyResult<Bound<'py, PyBytes>> {
        let input = match double {
            true => Input::Double,
            false => Input::Single,
        };
        let bytes = without_gil(py, |_| self.model.to_onnx(input))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads a model file, of this package, the library or the command line.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        without_gil(py, |_| LinearModel::load(path)).map(Self::of)
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
        Ok(Self::of(model))
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
    fn load(&self, name: &str, memory: Option<u64>) -> Result<Loaded> {
        let run = Run::on(&device(name)?).memory(memory.unwrap_or(Run::DEFAULT_MEMORY));
        Loaded::try_new(self.model.clone(), |model| model.on(&run))
    }
}
