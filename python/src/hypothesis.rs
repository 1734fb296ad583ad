//! Hypothesis tests: two samples, independence, conditional independence.

use crate::{
    arrays::{Given, Table},
    calls::{Interrupt, device, without_gil},
    options::Options,
};
use bochner::{
    Error, Result, Run,
    data::{Chunk, ChunkSource, Rows},
    features::{Form, Fourier},
    hypothesis::{
        ConditionalIndependence, ConditionalOptions, Independence, Null, Outcome, TwoSample,
        Variant,
    },
    job::Preparation,
    kernels::Gaussian,
    models::{Learner, RowsAlone},
};
use ndarray::{Array2, Axis, concatenate};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};
use std::{collections::BTreeMap, ops::Range};

/// Statistic, p-value and other results, by name.
type Found = BTreeMap<&'static str, f64>;

fn found(outcome: Outcome) -> Found {
    [
        ("statistic", outcome.statistic),
        ("pvalue", outcome.p_value),
    ]
    .into()
}

/// Column-wise concatenation of several tables or files with the same number of rows.
struct Beside<'a> {
    parts: Vec<Box<dyn ChunkSource + 'a>>,
}

impl<'a> Beside<'a> {
    fn open(parts: &[Given<'a>], interrupt: &Interrupt) -> Result<Self> {
        let open = |part: &Given<'a>| part.source(None, None, interrupt.flag());
        let parts = parts.iter().map(open).collect::<Result<_>>()?;
        Ok(Self { parts })
    }

    /// Column indices of each part.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut from = 0;
        let group = |columns: usize| {
            let own: Range<usize> = from..from + columns;
            from = own.end;
            own.collect()
        };
        let columns = self.parts.iter().map(|part| part.columns());
        columns.map(group).collect()
    }
}

/// Reads the next `rows` rows of a source, or fewer at its end.
fn next_rows(source: &mut dyn ChunkSource, rows: usize) -> Result<Array2<f64>> {
    let (mut taken, mut left) = (Vec::new(), rows);
    while left > 0
        && let Some(chunk) = source.next_chunk(left)?
    {
        left -= chunk.x.nrows();
        taken.push(chunk.x.into_f64());
    }
    let views: Vec<_> = taken.iter().map(|rows| rows.view()).collect();
    if views.is_empty() {
        Ok(Array2::zeros((0, source.columns())))
    } else {
        concatenate(Axis(0), &views).map_err(|e| Error::shape(e.to_string()))
    }
}

impl ChunkSource for Beside<'_> {
    fn columns(&self) -> usize {
        self.parts.iter().map(|part| part.columns()).sum()
    }
    fn targets(&self) -> usize {
        0
    }
    fn rows(&self) -> Option<usize> {
        self.parts.iter().find_map(|part| part.rows())
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let parts = self.parts.iter_mut();
        let parts = parts.map(|part| next_rows(part.as_mut(), max_rows));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let rows = parts.first().map_or(0, Array2::nrows);
        if parts.iter().any(|part| part.nrows() != rows) {
            return Err(Error::shape(
                "X, Y and Z differ in their rows; give one row of each for each row of X",
            ));
        }
        if rows == 0 {
            return Ok(None);
        }
        let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
        let x = concatenate(Axis(1), &views).map_err(|e| Error::shape(e.to_string()))?;
        Ok(Some(Chunk {
            x: Rows::F64(x),
            y: Array2::zeros((rows, 0)),
            weights: None,
        }))
    }
    fn rewind(&mut self) -> Result<()> {
        self.parts.iter_mut().try_for_each(|part| part.rewind())
    }
    // Tables were validated in Python.
    fn is_checked(&self) -> bool {
        self.parts.iter().all(|part| part.is_checked())
    }
}

/// Settings that all tests share: map, scales, device, memory, and null distribution.
struct Setting {
    preparation: Preparation,
    device: String,
    memory: u64,
    null: Option<Null>,
}

impl Setting {
    fn read(options: &Options<'_, '_>) -> PyResult<Self> {
        let permutations: Option<usize> = options.get("permutations")?;
        Ok(Self {
            preparation: options.preparation()?,
            device: options.need("device")?,
            memory: options.get("memory")?.unwrap_or(Run::DEFAULT_MEMORY),
            null: permutations.map(|n| match n {
                0 => Null::Asymptotic,
                n => Null::Permutation(n),
            }),
        })
    }

    fn learner<O: Default>(&self, interrupt: &Interrupt) -> Result<Learner<O, RowsAlone>> {
        let hear = interrupt.hear();
        Ok(Learner::prepared_by(self.preparation.clone())
            .device(&device(&self.device)?)
            .memory(self.memory)
            .progress(move |_| hear()))
    }
}

/// Tests whether the rows of `a` and of `b` have the same distribution.
#[pyfunction]
pub(crate) fn two_sample(
    py: Python<'_>,
    a: Table<'_>,
    b: Table<'_>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Found> {
    let setting = Setting::read(&Options(options))?;
    let (a, b) = (a.given(), b.given());
    without_gil(py, |interrupt| {
        let mut test: TwoSample = setting.learner(interrupt)?;
        if let Some(null) = setting.null {
            test = test.null(null);
        }
        let mut a = a.source(None, None, interrupt.flag())?;
        let mut b = b.source(None, None, interrupt.flag())?;
        let outcome = test.test_sources(a.as_mut(), b.as_mut())?;
        let mut all = found(outcome.outcome);
        all.extend([("biased", outcome.biased), ("unbiased", outcome.unbiased)]);
        Ok(all)
    })
}

/// Tests whether `x` and `y` are independent.
#[pyfunction]
pub(crate) fn independence(
    py: Python<'_>,
    x: Table<'_>,
    y: Table<'_>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Found> {
    let setting = Setting::read(&Options(options))?;
    let parts = [x.given(), y.given()];
    without_gil(py, |interrupt| {
        let mut test: Independence = setting.learner(interrupt)?;
        if let Some(null) = setting.null {
            test = test.null(null);
        }
        let mut source = Beside::open(&parts, interrupt)?;
        let groups = source.groups();
        let outcome = test.test_columns(&mut source, &groups[0], &groups[1])?;
        let mut all = found(outcome.outcome);
        all.insert("hsic", outcome.hsic);
        Ok(all)
    })
}

/// Tests whether `x` and `y` are conditionally independent given `z`.
#[pyfunction]
pub(crate) fn conditional_independence(
    py: Python<'_>,
    x: Table<'_>,
    y: Table<'_>,
    z: Table<'_>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Found> {
    let options = Options(options);
    let setting = Setting::read(&options)?;
    let variant: String = options.need("variant")?;
    let variant = match variant.as_str() {
        "rcot" => Variant::Rcot,
        "rcit" => Variant::Rcit,
        other => {
            let problem = format!("variant is {other:?}; use 'rcot' or 'rcit'");
            return Err(PyValueError::new_err(problem));
        }
    };
    let outer: Option<usize> = options.get("n_outer")?;
    let parts = [x.given(), y.given(), z.given()];
    without_gil(py, |interrupt| {
        let test: ConditionalIndependence = setting.learner::<ConditionalOptions>(interrupt)?;
        let mut test = test.variant(variant);
        if let Some(features) = outer {
            let map = Fourier::new(Gaussian).form(Form::Phase).features(features);
            test = test.outer(map);
        }
        let mut source = Beside::open(&parts, interrupt)?;
        let groups = source.groups();
        let [x, y, z] = [&groups[0], &groups[1], &groups[2]].map(Vec::as_slice);
        Ok(found(test.test_columns(&mut source, [x, y, z])?.outcome))
    })
}
