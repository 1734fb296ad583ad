//! Options that Python hands over by name.

use bochner::{
    Error,
    features::{Bandwidth, MapSpec, Standardize},
    kernels,
    seed::Seed,
};
use pyo3::{
    exceptions::{PyKeyError, PyValueError},
    prelude::*,
    types::PyDict,
};
use std::str::FromStr;

use crate::calls::exception;

/// A dictionary of options. `None` is as if a name were not there.
pub(crate) struct Options<'a, 'py>(pub(crate) &'a Bound<'py, PyDict>);

impl<'py> Options<'_, 'py> {
    /// An option, if it is there.
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

    /// An option that has to be there.
    pub(crate) fn need<T>(&self, name: &str) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
    {
        self.get(name)?
            .ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    /// An option that is text, read as the command line reads it.
    pub(crate) fn parse<T: FromStr<Err: Into<Error>>>(&self, name: &str) -> PyResult<Option<T>> {
        let text: Option<String> = self.get(name)?;
        let value = text.map(|text| text.parse().map_err(|e: T::Err| exception(&e.into())));
        value.transpose()
    }
}

/// What decides a map, how its columns are scaled, and how wide its kernel is.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) spec: MapSpec,
    pub(crate) bandwidth: Bandwidth,
    pub(crate) standardize: Standardize,
}

/// A bandwidth: a number or a rule.
#[derive(FromPyObject)]
enum Gamma {
    Number(f64),
    Rule(String),
}

impl Prepared {
    /// From the options `map`, `kernel`, `n_components`, `form`, `sampling`, `landmarks`, `seed`,
    /// `gamma`, `lengthscales` and `standardize`.
    pub(crate) fn read(options: &Options<'_, '_>) -> PyResult<Self> {
        let kernel: String = options.need("kernel")?;
        let kernel = kernels::parse(&kernel).map_err(|e| exception(&e))?;
        let map: String = options.need("map")?;
        let mut spec = MapSpec::new(map.parse().map_err(|e: Error| exception(&e))?, kernel);
        spec.features = options.need("n_components")?;
        spec.seed = Seed(options.need("seed")?);
        if let Some(form) = options.parse("form")? {
            spec.form = form;
        }
        if let Some(sampling) = options.parse("sampling")? {
            spec.sampling = sampling;
        }
        if let Some(landmarks) = options.parse("landmarks")? {
            spec.landmarks = landmarks;
        }
        let lengthscales: Option<Vec<f64>> = options.get("lengthscales")?;
        let bandwidth = match (options.get::<Gamma>("gamma")?, lengthscales) {
            (_, Some(lengthscales)) => Bandwidth::SigmaPerColumn(lengthscales),
            (Some(Gamma::Number(gamma)), None) => Bandwidth::Gamma(gamma),
            (Some(Gamma::Rule(rule)), None) => {
                Bandwidth::from_gamma(&rule).map_err(|e| exception(&e))?
            }
            (None, None) => Bandwidth::Scale,
        };
        Ok(Self {
            spec,
            bandwidth,
            standardize: options.parse("standardize")?.unwrap_or_default(),
        })
    }
}

/// The lengthscale of a kernel whose formula has this gamma.
#[pyfunction]
pub(crate) fn lengthscale(kernel: &str, gamma: f64) -> PyResult<f64> {
    let lengthscale = kernels::parse(kernel).and_then(|k| k.lengthscale_of_gamma(gamma));
    lengthscale.map_err(|e| exception(&e))
}
