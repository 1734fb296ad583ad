//! `RidgeState`: sums of a ridge regression that goes on, with the map that its first rows gave.

use crate::{
    arrays::{Table, Weights, Y},
    calls::{Interrupt, exception, run, without_gil},
    learner::intercept_of,
    model::Model,
    options::Options,
    parts::{Elsewhere, SurveyPart},
};
use bochner::{
    Error, Result,
    features::{self, Bandwidth, FeatureMap, Store},
    models::LinearModel,
    solve::{NormalEquations, Targets},
};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the bytes of a map are called.
const KIND: &str = "features";

/// Sums of rows on the features of a map that is drawn: rows are added and forgotten, other sums
/// on the same map are merged, and a model is there at any time.
#[pyclass(frozen, module = "bochner._native")]
pub(crate) struct RidgeState {
    map: Arc<dyn FeatureMap>,
    targets: Targets,
    names: Option<Vec<String>>,
    sums: Mutex<NormalEquations>,
}

impl RidgeState {
    fn of(map: Arc<dyn FeatureMap>, targets: Targets, names: Option<Vec<String>>) -> Self {
        let sums = NormalEquations::zero(map.output_dim(), targets.outputs());
        Self {
            map,
            targets,
            names,
            sums: Mutex::new(sums),
        }
    }

    fn locked(&self) -> MutexGuard<'_, NormalEquations> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sums of these rows alone.
    fn summed(
        &self,
        py: Python<'_>,
        (x, y, weights): (Table<'_>, Y<'_>, Weights<'_>),
        (device, memory): (&str, Option<u64>),
    ) -> PyResult<NormalEquations> {
        let (given, y) = (x.given(), y.as_ref().map(|y| y.as_array()));
        let weights = weights.as_ref().map(|weights| weights.as_array());
        given.check(y, weights)?;
        without_gil(py, |interrupt: &Interrupt| {
            let run = run(device, memory, interrupt, None)?;
            let mut source = given.source(y, weights, interrupt.flag())?;
            NormalEquations::accumulate(self.map.as_ref(), source.as_mut(), &self.targets, run)
        })
    }
}

#[pymethods]
impl RidgeState {
    /// No rows yet, on the map that `options` describe, drawn for rows `x` with targets `y`, which
    /// are not summed. Labels are those of `classes`, if there are any, and `names` are what
    /// numbers from 0 on stand for if the labels are text.
    #[staticmethod]
    #[pyo3(signature = (x, y, options, *, classes=None, names=None))]
    fn begin(
        py: Python<'_>,
        x: Table<'_>,
        y: Y<'_>,
        options: &Bound<'_, PyDict>,
        classes: Option<Vec<f64>>,
        names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let options = Options(options);
        let preparation = options.preparation()?;
        let (name, memory): (String, _) = (options.need("device")?, options.get("memory")?);
        let (given, y) = (x.given(), y.as_ref().map(|y| y.as_array()));
        let (survey, drawn) = without_gil(py, |interrupt| {
            let run = run(&name, memory, interrupt, None)?;
            let mut source = given.source(y, None, interrupt.flag())?;
            preparation.prepare(source.as_mut(), Bandwidth::Scale, &run)
        })?;
        let targets = match classes {
            Some(classes) => Targets::Classes(classes),
            None => Targets::real(&survey),
        };
        Ok(Self::of(Arc::from(drawn.map), targets, names))
    }

    /// No rows yet, on the map that `options` describe for rows that were surveyed.
    #[staticmethod]
    #[pyo3(signature = (part, options, *, classes=None, names=None))]
    fn of_survey(
        py: Python<'_>,
        part: &SurveyPart,
        options: &Bound<'_, PyDict>,
        classes: Option<Vec<f64>>,
        names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let options = Options(options);
        let preparation = options.preparation()?;
        let (name, memory): (String, _) = (options.need("device")?, options.get("memory")?);
        let (survey, drawn) = without_gil(py, |interrupt| {
            let run = run(&name, memory, interrupt, None)?;
            let survey = part.0.clone().finish()?;
            let mut rows = Elsewhere {
                columns: survey.mean.len(),
                targets: survey.targets.len(),
            };
            let drawn = preparation.draw_of(&survey, &mut rows, Bandwidth::Scale, &run)?;
            Ok((survey, drawn))
        })?;
        let targets = match classes {
            Some(classes) => Targets::Classes(classes),
            None => Targets::real(&survey),
        };
        Ok(Self::of(Arc::from(drawn.map), targets, names))
    }

    /// The sums alone, without the map.
    fn sums<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.locked().to_bytes().map_err(|e| exception(&e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Adds sums of rows on the same map.
    fn add_sums(&self, bytes: &[u8]) -> PyResult<()> {
        let more = NormalEquations::from_bytes(bytes).map_err(|e| exception(&e))?;
        self.locked().merge(&more).map_err(|e| exception(&e))
    }

    /// Adds rows; sums them on the device of this name.
    #[pyo3(signature = (x, y, weights, device, memory=None))]
    fn add(
        &self,
        py: Python<'_>,
        x: Table<'_>,
        y: Y<'_>,
        weights: Weights<'_>,
        device: &str,
        memory: Option<u64>,
    ) -> PyResult<()> {
        let more = self.summed(py, (x, y, weights), (device, memory))?;
        self.locked().merge(&more).map_err(|e| exception(&e))
    }

    /// Takes rows out that were added.
    #[pyo3(signature = (x, y, weights, device, memory=None))]
    fn forget(
        &self,
        py: Python<'_>,
        x: Table<'_>,
        y: Y<'_>,
        weights: Weights<'_>,
        device: &str,
        memory: Option<u64>,
    ) -> PyResult<()> {
        let less = self.summed(py, (x, y, weights), (device, memory))?;
        self.locked().subtract(&less).map_err(|e| exception(&e))
    }

    /// Adds the rows of another state on the same map.
    fn merge(&self, other: &Self) -> PyResult<()> {
        // A copy, for one state may be both.
        let more = other.locked().clone();
        self.locked().merge(&more).map_err(|e| exception(&e))
    }

    /// The same map and targets without rows.
    fn empty(&self) -> Self {
        Self::of(self.map.clone(), self.targets.clone(), self.names.clone())
    }

    /// The ridge regression of the rows so far, with this penalty per sample, and an intercept if
    /// it is fitted and penalised or not; `columns` is what those of the rows are called.
    #[pyo3(signature = (penalty, intercept, device, columns=None))]
    fn model(
        &self,
        py: Python<'_>,
        penalty: f64,
        intercept: (bool, bool),
        device: &str,
        columns: Option<Vec<String>>,
    ) -> PyResult<Model> {
        let model = without_gil(py, |_| -> Result<LinearModel> {
            let sums = self.locked();
            let (coefficients, dimension) = intercept_of(intercept).solve(penalty, &sums)?;
            let map = Box::new(self.map.clone());
            let on = crate::calls::device(device)?;
            let mut model = LinearModel {
                lambda: penalty,
                rows: sums.rows,
                class_names: self.names.clone(),
                column_names: columns,
                ..LinearModel::new(map, coefficients, self.targets.clone(), &on)
            };
            let name = "effective_dimension".to_owned();
            model.facts.extend(dimension.map(|d| (name, d)));
            Ok(model)
        })?;
        Ok(Model::of(model))
    }

    /// Rows that the sums are of.
    #[getter]
    fn rows(&self) -> u64 {
        self.locked().rows
    }

    /// Map, targets and sums.
    #[expect(clippy::type_complexity, reason = "what pickle asks for")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(
        Bound<'py, PyAny>,
        (
            Bound<'py, PyBytes>,
            bool,
            Vec<f64>,
            Option<Vec<String>>,
            Bound<'py, PyBytes>,
        ),
    )> {
        let read = py.get_type::<Self>().getattr("from_parts")?;
        let mut store = Store::default();
        let map = self.map.write(&mut store);
        let map = map.and_then(|()| store.to_bytes(KIND));
        let map = map.map_err(|e| exception(&e))?;
        let sums = self.locked().to_bytes().map_err(|e| exception(&e))?;
        let (classes, numbers) = match &self.targets {
            Targets::Classes(labels) => (true, labels.clone()),
            Targets::Real { shift, .. } => (false, shift.clone()),
        };
        let (map, sums) = (PyBytes::new(py, &map), PyBytes::new(py, &sums));
        Ok((read, (map, classes, numbers, self.names.clone(), sums)))
    }

    /// What pickle kept.
    #[staticmethod]
    fn from_parts(
        map: &[u8],
        classes: bool,
        numbers: Vec<f64>,
        names: Option<Vec<String>>,
        sums: &[u8],
    ) -> PyResult<Self> {
        let read = || -> Result<Self> {
            let map = features::read(&Store::from_bytes(map, KIND)?)?;
            let targets = match classes {
                true => Targets::Classes(numbers),
                false => Targets::Real {
                    columns: numbers.len(),
                    shift: numbers,
                },
            };
            let sums = NormalEquations::from_bytes(sums)?;
            if sums.zty_dt.dim() != (map.output_dim(), targets.outputs()) {
                return Err(Error::format("the sums are not those of the map"));
            }
            Ok(Self {
                map: Arc::from(map),
                targets,
                names,
                sums: Mutex::new(sums),
            })
        };
        read().map_err(|e| exception(&e))
    }
}
