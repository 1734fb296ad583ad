//! `Stream` and `Bandit`: online learning, one row at a time.

use crate::{calls::exception, map::FeatureMap};
use bochner::{
    Error, Result,
    seed::Seed,
    stream::{self, Choice, Recursive, RecursiveRidge},
};
use pyo3::{prelude::*, types::PyBytes};
use std::sync::{Mutex, MutexGuard, PoisonError};

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Errors on a row with values that are not finite, before any state changes.
fn check(x_d: &[f64]) -> Result<()> {
    match x_d.iter().position(|x| !x.is_finite()) {
        Some(at) => Err(Error::parameter(format!(
            "column {at} of a row is {}; it is a finite number",
            x_d[at]
        ))),
        None => Ok(()),
    }
}

/// Recursive least squares on the features of a map.
#[pyclass(frozen, module = "bochner._native")]
pub(crate) struct Stream {
    map: Py<FeatureMap>,
    state: Mutex<State>,
}

struct State {
    ridge: RecursiveRidge,
    /// The last row and its features: a row is usually predicted, and then learned.
    last: (Vec<f64>, Vec<f64>),
}

impl State {
    fn featurize(&mut self, map: &FeatureMap, x_d: Vec<f64>) -> Result<()> {
        if self.last.0 != x_d || self.last.1.is_empty() {
            check(&x_d)?;
            self.last = (Vec::new(), map.row(&x_d)?);
            self.last.0 = x_d;
        }
        Ok(())
    }
}

impl Stream {
    fn with(map: Py<FeatureMap>, ridge: RecursiveRidge) -> Self {
        let last = (Vec::new(), Vec::new());
        Self {
            map,
            state: Mutex::new(State { ridge, last }),
        }
    }

    /// Calls `work` with the features of a row.
    fn on<R>(
        &self,
        x_d: Vec<f64>,
        work: impl FnOnce(&mut RecursiveRidge, &[f64]) -> Result<R>,
    ) -> PyResult<R> {
        let mut state = locked(&self.state);
        let State { ridge, last } = {
            let done = state.featurize(self.map.get(), x_d);
            done.map_err(|e| exception(&e))?;
            &mut *state
        };
        work(ridge, &last.1).map_err(|e| exception(&e))
    }
}

#[pymethods]
impl Stream {
    /// Creates a model without rows, for `targets` targets.
    #[new]
    fn new(map: Py<FeatureMap>, targets: usize, penalty: f64, half_life: f64) -> PyResult<Self> {
        let rule = Recursive {
            penalty,
            half_life,
            intercept: true,
        };
        let ridge = rule.start(map.get().features(), targets);
        Ok(Self::with(map, ridge.map_err(|e| exception(&e))?))
    }

    fn learn(&self, x: Vec<f64>, y: Vec<f64>, weight: f64) -> PyResult<()> {
        self.on(x, |ridge, z_d| ridge.learn(z_d, &y, weight))
    }

    fn predict(&self, x: Vec<f64>) -> PyResult<Vec<f64>> {
        self.on(x, |ridge, z_d| ridge.predict(z_d))
    }

    /// Adds a target that is 0 in all rows so far.
    fn add_target(&self) {
        locked(&self.state).ridge.add_target();
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = locked(&self.state).ridge.to_bytes();
        Ok(PyBytes::new(py, &bytes.map_err(|e| exception(&e))?))
    }

    /// Deserialises the result of [`Self::to_bytes`], on the same map.
    #[staticmethod]
    fn from_bytes(map: Py<FeatureMap>, bytes: &[u8]) -> PyResult<Self> {
        let ridge = RecursiveRidge::from_bytes(bytes).and_then(|ridge| {
            let features = map.get().features();
            if ridge.features() == features {
                return Ok(ridge);
            }
            let of = ridge.features();
            Err(Error::format(format!(
                "a stream of {of} features on a map of {features}"
            )))
        });
        Ok(Self::with(map, ridge.map_err(|e| exception(&e))?))
    }

    #[expect(clippy::type_complexity, reason = "what pickle takes")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Py<FeatureMap>, Bound<'py, PyBytes>))> {
        let read = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((read, (self.map.clone_ref(py), self.to_bytes(py)?)))
    }
}

/// Contextual bandit whose rewards are linear in the row.
#[pyclass(frozen, module = "bochner._native")]
pub(crate) struct Bandit(Mutex<stream::Bandit>);

#[pymethods]
impl Bandit {
    /// Creates a bandit that uses Thompson sampling if `thompson`, otherwise upper confidence
    /// bounds.
    #[new]
    fn new(
        columns: usize,
        arms: usize,
        thompson: bool,
        width: f64,
        penalty: f64,
        half_life: f64,
        seed: u64,
    ) -> PyResult<Self> {
        let rule = Recursive {
            penalty,
            half_life,
            intercept: true,
        };
        let choice = match thompson {
            true => Choice::Thompson(width),
            false => Choice::UpperBound(width),
        };
        let bandit = stream::Bandit::new(rule, columns, arms, choice, Seed(seed));
        Ok(Self(Mutex::new(bandit.map_err(|e| exception(&e))?)))
    }

    fn choose(&self, x: Vec<f64>) -> PyResult<usize> {
        locked(&self.0).choose(&x).map_err(|e| exception(&e))
    }

    fn learn(&self, arm: usize, x: Vec<f64>, reward: f64) -> PyResult<()> {
        let learned = locked(&self.0).learn(arm, &x, reward);
        learned.map_err(|e| exception(&e))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = locked(&self.0).to_bytes();
        Ok(PyBytes::new(py, &bytes.map_err(|e| exception(&e))?))
    }

    /// Deserialises the result of [`Self::to_bytes`].
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let bandit = stream::Bandit::from_bytes(bytes);
        Ok(Self(Mutex::new(bandit.map_err(|e| exception(&e))?)))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let read = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((read, (self.to_bytes(py)?,)))
    }
}
