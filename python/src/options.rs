//! Reading of options from a Python dict.

use bochner::{
    Error,
    data::Survey,
    features::{Bandwidth, KernelColumns, MapBuilder, MapSpec, Standardize},
    job::Preparation,
    kernels,
    seed::Seed,
};
use pyo3::{
    exceptions::{PyKeyError, PyValueError},
    prelude::*,
    types::PyDict,
};
use std::{str::FromStr, sync::Arc};

use crate::{
    arrays::Table,
    calls::{exception, run, without_gil},
};

/// A dict of options. The value `None` is equivalent to a missing name.
pub(crate) struct Options<'a, 'py>(pub(crate) &'a Bound<'py, PyDict>);

impl<'py> Options<'_, 'py> {
    /// Value of an option, if it is set.
    pub(crate) fn get<T>(&self, name: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
    {
        match self.0.get_item(name)? {
            Some(value) if !value.is_none() => {
                let value = value.extract::<T>().map_err(|e| {
                    let error: PyErr = e.into();
                    PyValueError::new_err(format!("{name}: {error}"))
                })?;
                Ok(Some(value))
            }
            _ => Ok(None),
        }
    }

    /// Value of a required option.
    pub(crate) fn need<T>(&self, name: &str) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
    {
        self.get(name)?
            .ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    /// Value of an option that is text, parsed as on the command line.
    pub(crate) fn parse<T: FromStr<Err: Into<Error>>>(&self, name: &str) -> PyResult<Option<T>> {
        let text: Option<String> = self.get(name)?;
        let value = text.map(|text| text.parse().map_err(|e: T::Err| exception(&e.into())));
        value.transpose()
    }
}

/// A bandwidth: a number or a rule.
#[derive(FromPyObject)]
enum Gamma {
    Number(f64),
    Rule(String),
}

impl Options<'_, '_> {
    /// Map, bandwidth, scaling and seed, from the options `ground`, `map`, `kernel`,
    /// `n_components`, `form`, `sampling`, `landmarks`, `seed`, `gamma`, `lengthscales` and
    /// `standardize`.
    pub(crate) fn preparation(&self) -> PyResult<Preparation> {
        let lengthscales: Option<Vec<f64>> = self.get("lengthscales")?;
        let bandwidth = match (self.get::<Gamma>("gamma")?, lengthscales) {
            (_, Some(lengthscales)) => Bandwidth::SigmaPerColumn(lengthscales),
            (Some(Gamma::Number(gamma)), None) => Bandwidth::Gamma(gamma),
            (Some(Gamma::Rule(rule)), None) => {
                Bandwidth::from_gamma(&rule).map_err(|e| exception(&e))?
            }
            (None, None) => Bandwidth::Scale,
        };
        Ok(Preparation {
            map: self.map()?,
            bandwidth: Some(bandwidth),
            standardize: self.parse("standardize")?.unwrap_or_default(),
            seed: Some(Seed(self.need("seed")?)),
        })
    }

    /// The feature map, or kernel columns for learners that use the kernel itself.
    fn map(&self) -> PyResult<Arc<dyn MapBuilder>> {
        let kernel: String = self.need("kernel")?;
        let kernel = kernels::parse(&kernel).map_err(|e| exception(&e))?;
        let features: Option<usize> = self.get("n_components")?;
        let columns = KernelColumns::new(kernel.clone());
        let ground: Option<String> = self.get("ground")?;
        match ground.as_deref() {
            None => {}
            Some("all rows") => return Ok(Arc::new(columns)),
            Some("landmarks") => {
                let columns = columns.landmarks(features.unwrap_or(MapSpec::FEATURES));
                let choice = self.parse("landmarks")?.unwrap_or_default();
                return Ok(Arc::new(columns.choice(choice)));
            }
            Some(other) => {
                let problem = format!("no learner stands on {other:?}");
                return Err(PyValueError::new_err(problem));
            }
        }
        let map: String = self.need("map")?;
        let map = map.parse().map_err(|e: Error| exception(&e))?;
        let mut spec = MapSpec::new(map, kernel);
        spec.features = features.unwrap_or(spec.features);
        if let Some(form) = self.parse("form")? {
            spec.form = form;
        }
        if let Some(sampling) = self.parse("sampling")? {
            spec.sampling = sampling;
        }
        if let Some(landmarks) = self.parse("landmarks")? {
            spec.landmarks = landmarks;
        }
        Ok(Arc::new(spec))
    }
}

/// Lengthscale of a kernel by the median distance between rows.
#[pyfunction]
#[pyo3(signature = (x, kernel, seed, device, memory=None))]
pub(crate) fn lengthscale_of_rows(
    py: Python<'_>,
    x: Table<'_>,
    kernel: &str,
    seed: u64,
    device: &str,
    memory: Option<u64>,
) -> PyResult<f64> {
    let kernel = kernels::parse(kernel).map_err(|e| exception(&e))?;
    let given = x.given();
    without_gil(py, |interrupt| {
        let run = run(device, memory, interrupt, None)?;
        let mut source = given.source(None, None, interrupt.flag())?;
        let hear = |step| run.say(step);
        let survey = Survey::watched(source.as_mut(), Bandwidth::MEDIAN_ROWS, seed, &hear)?;
        let scaling = Standardize::No.decide(&survey, kernel.is_shift_invariant());
        let found = Bandwidth::Median.lengthscales(kernel.as_ref(), &survey, &scaling)?;
        Ok(found[0])
    })
}

/// Lengthscale of a kernel for the parameter gamma of its formula.
#[pyfunction]
pub(crate) fn lengthscale(kernel: &str, gamma: f64) -> PyResult<f64> {
    let lengthscale = kernels::parse(kernel).and_then(|k| k.lengthscale_of_gamma(gamma));
    lengthscale.map_err(|e| exception(&e))
}
