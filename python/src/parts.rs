//! Distributed fits: surveys of parts of the rows, and merges of surveys and sums.

use crate::{
    arrays::{Table, Weights, Y},
    calls::{Interrupt, exception, without_gil},
    options::Options,
};
use bochner::{
    Error, Result,
    data::{self, Chunk, ChunkSource},
    features::Bandwidth,
    job::Preparation,
    models::{AnySums, Sums},
};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};

/// Survey of some of the rows. Surveys can be merged in any order.
#[pyclass(frozen, module = "bochner._native")]
pub(crate) struct SurveyPart(pub(crate) data::SurveyPart);

#[pymethods]
impl SurveyPart {
    /// Surveys rows; `first_row` is the index of the first among all rows. For `y` None the targets
    /// of the file are read.
    #[staticmethod]
    fn from_rows(
        py: Python<'_>,
        x: Table<'_>,
        y: Y<'_>,
        weights: Weights<'_>,
        first_row: u64,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let preparation = Options(options).preparation()?;
        let (given, y) = (x.given(), y.as_ref().map(|y| y.as_array()));
        let weights = weights.as_ref().map(|weights| weights.as_array());
        given.check(y, weights)?;
        let part = without_gil(py, |interrupt: &Interrupt| {
            let mut source = given.source(y, weights, interrupt.flag())?;
            let (rows, seed) = (sampled(&preparation), preparation.seed().0);
            data::SurveyPart::new(source.as_mut(), first_row, rows, seed)
        })?;
        Ok(Self(part))
    }

    /// Number of rows that a fit with these options samples. If it is 0, `first_row` is not used.
    #[staticmethod]
    fn sampled_rows(options: &Bound<'_, PyDict>) -> PyResult<usize> {
        Ok(sampled(&Options(options).preparation()?))
    }

    /// Merges two surveys.
    fn merge(&self, other: &Self) -> PyResult<Self> {
        let mut both = self.0.clone();
        both.merge(&other.0).map_err(|e| exception(&e))?;
        Ok(Self(both))
    }

    /// Number of rows, and whether any column varies.
    fn facts(&self) -> PyResult<(u64, bool)> {
        let survey = self.0.clone().finish().map_err(|e| exception(&e))?;
        let columns = 0..survey.mean.len();
        let varies = columns.into_iter().any(|j| !survey.is_constant(j));
        Ok((survey.rows, varies))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let read = py.get_type::<Self>().getattr("from_bytes")?;
        let bytes = self.0.to_bytes().map_err(|e| exception(&e))?;
        Ok((read, (PyBytes::new(py, &bytes),)))
    }

    /// Deserialises a survey, for pickle.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let part = data::SurveyPart::from_bytes(bytes);
        part.map(Self).map_err(|e| exception(&e))
    }
}

fn sampled(preparation: &Preparation) -> usize {
    preparation.sample_rows(&preparation.bandwidth_or(Bandwidth::Scale))
}

/// Merges two serialised sums. The order and grouping of merges do not matter.
#[pyfunction]
pub(crate) fn merge_sums<'py>(
    py: Python<'py>,
    a: &[u8],
    b: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = without_gil(py, |_| {
        let mut sums = <AnySums as Sums>::from_bytes(a)?;
        sums.merge(&<AnySums as Sums>::from_bytes(b)?)?;
        Sums::to_bytes(&sums)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// Placeholder source for rows in other processes. Reading it is an error, since a map that needs a
/// pass over the rows cannot be drawn here.
pub(crate) struct Elsewhere {
    pub(crate) columns: usize,
    pub(crate) targets: usize,
    /// Whether there are rows in other processes; if not, the source is empty.
    pub(crate) elsewhere: bool,
}

impl ChunkSource for Elsewhere {
    fn columns(&self) -> usize {
        self.columns
    }

    fn targets(&self) -> usize {
        self.targets
    }

    fn rows(&self) -> Option<usize> {
        None
    }

    fn next_chunk(&mut self, _: usize) -> Result<Option<Chunk>> {
        if !self.elsewhere {
            return Ok(None);
        }
        Err(Error::unsupported(
            "a binning map is made by a pass over all rows, which lie in several processes; take \
             another map, or fit in one process",
        ))
    }

    fn rewind(&mut self) -> Result<()> {
        Ok(())
    }
}
