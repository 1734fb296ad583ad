//! Options that Python hands over by name.

use bochner::{
    Error, Result, Run,
    data::{ChunkSource, Survey},
    features::{
        Bandwidth, FeatureMap, KernelColumns, MapBuilder, MapSpec, ScaledKernel, Scaling,
        Standardize,
    },
    kernels,
    seed::Seed,
};
use pyo3::{
    exceptions::{PyKeyError, PyValueError},
    prelude::*,
    types::PyDict,
};
use std::str::FromStr;

use crate::{
    arrays::Table,
    calls::{exception, run, without_gil},
};

/// Rows that the median rule looks at.
const MEDIAN_ROWS: usize = 2000;

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

/// What a learner stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ground {
    /// The features of a map.
    Features,
    /// The kernel of all rows.
    AllRows,
    /// The kernel of landmark rows.
    Landmarks,
}

/// What decides a map, how its columns are scaled, and how wide its kernel is.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) spec: MapSpec,
    ground: Ground,
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
    /// From the options `ground`, `map`, `kernel`, `n_components`, `form`, `sampling`, `landmarks`,
    /// `seed`, `gamma`, `lengthscales` and `standardize`.
    pub(crate) fn read(options: &Options<'_, '_>) -> PyResult<Self> {
        let kernel: String = options.need("kernel")?;
        let kernel = kernels::parse(&kernel).map_err(|e| exception(&e))?;
        let ground: Option<String> = options.get("ground")?;
        let ground = match ground.as_deref() {
            None => Ground::Features,
            Some("all rows") => Ground::AllRows,
            Some("landmarks") => Ground::Landmarks,
            Some(other) => {
                let problem = format!("no learner stands on {other:?}");
                return Err(PyValueError::new_err(problem));
            }
        };
        let map: String = match ground {
            Ground::Features => options.need("map")?,
            _ => "nystrom".into(),
        };
        let mut spec = MapSpec::new(map.parse().map_err(|e: Error| exception(&e))?, kernel);
        spec.features = options.get("n_components")?.unwrap_or(spec.features);
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
            ground,
            bandwidth,
            standardize: options.parse("standardize")?.unwrap_or_default(),
        })
    }

    /// The kernel of rows, of a learner that takes no map.
    fn columns(&self) -> Option<KernelColumns> {
        let spec = &self.spec;
        let columns = KernelColumns::of(spec.kernel.clone()).seed(spec.seed);
        match self.ground {
            Ground::Features => None,
            Ground::AllRows => Some(columns),
            Ground::Landmarks => {
                let columns = columns.landmarks(spec.features);
                Some(columns.choice(spec.landmarks.clone()))
            }
        }
    }

    /// Surveys `source`, decides on scales, and draws the map.
    pub(crate) fn build(
        &self,
        source: &mut dyn ChunkSource,
        run: &Run,
    ) -> Result<(Box<dyn FeatureMap>, Survey)> {
        let (rows, seed) = (self.sampled_rows(), self.spec.seed.0);
        let survey = Survey::watched(source, rows, seed, &|step| run.say(step))?;
        let map = self.draw(&survey, source, run)?;
        Ok((map, survey))
    }

    /// Rows that the bandwidth and the map want to see.
    pub(crate) fn sampled_rows(&self) -> usize {
        let rows = match self.bandwidth {
            Bandwidth::Median => MEDIAN_ROWS,
            _ => 0,
        };
        let drawn = match self.columns() {
            Some(columns) => columns.sample_rows(),
            None => self.spec.sample_rows(),
        };
        rows.max(drawn)
    }

    /// How columns are prepared, and the lengthscales after that: one, or one for each column.
    pub(crate) fn scales(&self, survey: &Survey) -> Result<(Scaling, Vec<f64>)> {
        let (shift_invariant, domain) = match &self.columns() {
            Some(columns) => (columns.is_shift_invariant(), columns.domain()),
            None => (self.spec.is_shift_invariant(), self.spec.domain()),
        };
        let scaling = self
            .standardize
            .beside(&self.bandwidth)
            .within(domain)
            .decide(survey, shift_invariant);
        let kernel = self.spec.kernel.as_ref();
        let lengthscales = self.bandwidth.lengthscales(kernel, survey, &scaling)?;
        Ok((scaling, lengthscales))
    }

    /// The kernel that the map estimates, on raw rows; `None` of maps that are made of none.
    pub(crate) fn scaled_kernel(&self, survey: &Survey) -> Result<Option<ScaledKernel>> {
        let Some(kernel) = self.spec.kernel() else {
            return Ok(None);
        };
        let (scaling, lengthscales) = self.scales(survey)?;
        let input = scaling.input(&lengthscales)?;
        Ok(Some(ScaledKernel { kernel, input }))
    }

    /// Decides on scales and draws the map, of rows that were surveyed.
    pub(crate) fn draw(
        &self,
        survey: &Survey,
        source: &mut dyn ChunkSource,
        run: &Run,
    ) -> Result<Box<dyn FeatureMap>> {
        let (scaling, lengthscales) = self.scales(survey)?;
        let input = scaling.input(&lengthscales)?;
        Ok(match self.columns() {
            Some(columns) => Box::new(columns.build(input, &survey.sample)?),
            None => self.spec.build(input, &survey.sample, source, run)?,
        })
    }
}

/// The lengthscale of a kernel by the median distance between rows.
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
        let survey = Survey::watched(source.as_mut(), MEDIAN_ROWS, seed, &hear)?;
        let scaling = Standardize::No.decide(&survey, kernel.is_shift_invariant());
        let found = Bandwidth::Median.lengthscales(kernel.as_ref(), &survey, &scaling)?;
        Ok(found[0])
    })
}

/// The lengthscale of a kernel whose formula has this gamma.
#[pyfunction]
pub(crate) fn lengthscale(kernel: &str, gamma: f64) -> PyResult<f64> {
    let lengthscale = kernels::parse(kernel).and_then(|k| k.lengthscale_of_gamma(gamma));
    lengthscale.map_err(|e| exception(&e))
}
