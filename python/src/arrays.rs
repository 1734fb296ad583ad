//! Conversion of NumPy arrays, SciPy sparse matrices and scans to data sources, without copies.

use crate::{
    file::FileSource,
    scan::{HeldRows, Scan},
    views::{Csr, Source, TableView},
};
use bochner::{
    Result,
    data::{ChunkSource, DataFile},
};
use ndarray::{ArrayView1, ArrayView2};
use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
};
use std::sync::{Arc, atomic::AtomicBool};

/// CSR matrix: values, column indices, start of each row, and number of columns.
type Sparse<'py, T, I> = (
    PyReadonlyArray1<'py, T>,
    PyReadonlyArray1<'py, I>,
    PyReadonlyArray1<'py, I>,
    usize,
);

/// Targets `[n, t]`, and weights `[n]`.
pub(crate) type Y<'py> = Option<PyReadonlyArray2<'py, f64>>;
pub(crate) type Weights<'py> = Option<PyReadonlyArray1<'py, f64>>;

/// Argument X of a call.
pub(crate) enum Table<'py> {
    Single(PyReadonlyArray2<'py, f32>),
    Double(PyReadonlyArray2<'py, f64>),
    Other(Other<'py>),
}

/// Argument X that is not a dense array.
#[derive(FromPyObject)]
pub(crate) enum Other<'py> {
    SparseSingle(Sparse<'py, f32, i32>),
    SparseDouble(Sparse<'py, f64, i32>),
    SparseSingleLong(Sparse<'py, f32, i64>),
    SparseDoubleLong(Sparse<'py, f64, i64>),
    Held(PyRef<'py, HeldRows>),
    File(PyRef<'py, Scan>),
}

/// Tries arrays first. Derived extraction would create an error for each type before, which takes
/// longer than the conversion of a single row.
impl<'py> FromPyObject<'_, 'py> for Table<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(x) = object.cast::<PyArray2<f32>>() {
            return Ok(Self::Single(x.try_readonly()?));
        }
        if let Ok(x) = object.cast::<PyArray2<f64>>() {
            return Ok(Self::Double(x.try_readonly()?));
        }
        object.extract().map(Self::Other)
    }
}

/// Rows in memory, or a file.
#[derive(Clone, Copy)]
pub(crate) enum Given<'a> {
    Rows(TableView<'a>),
    File(&'a DataFile),
}

impl<'a> Given<'a> {
    /// Errors unless targets and weights have the number of rows of X. For a file this is checked
    /// when it is read.
    pub(crate) fn check(
        &self,
        y: Option<ArrayView2<'_, f64>>,
        weights: Option<ArrayView1<'_, f64>>,
    ) -> PyResult<()> {
        let Self::Rows(view) = self else {
            return Ok(());
        };
        let same = |rows: Option<usize>| rows.is_none_or(|rows| rows == view.rows());
        if same(y.map(|y| y.nrows())) && same(weights.map(|w| w.len())) {
            Ok(())
        } else {
            Err(PyValueError::new_err(
                "X, y and sample_weight differ in their rows",
            ))
        }
    }

    /// Creates a source of the rows with targets and weights, which fails once `stop` is set. The
    /// targets of a file are used if `y` is `None`.
    pub(crate) fn source(
        self,
        y: Option<ArrayView2<'a, f64>>,
        weights: Option<ArrayView1<'a, f64>>,
        stop: Arc<AtomicBool>,
    ) -> Result<Box<dyn ChunkSource + 'a>> {
        Ok(match self {
            Self::Rows(view) => {
                let mut source = Source::new(view, stop);
                (source.y, source.weights) = (y, weights);
                Box::new(source)
            }
            Self::File(file) => {
                let mut source = FileSource::open(file, stop)?;
                (source.y, source.weights) = (y, weights);
                Box::new(source)
            }
        })
    }

    /// As [`Self::source`], and encodes columns of a file that are not numbers.
    pub(crate) fn table(
        self,
        y: Option<ArrayView2<'a, f64>>,
        weights: Option<ArrayView1<'a, f64>>,
        stop: Arc<AtomicBool>,
    ) -> Result<Box<dyn ChunkSource + 'a>> {
        let Self::File(file) = self else {
            return self.source(y, weights, stop);
        };
        // Target encoding would use the targets and weights of the file, which are replaced here.
        let file = if y.is_some() || weights.is_some() {
            file.clone().by_target(&[])
        } else {
            file.clone()
        };
        let mut source = FileSource::open(&file, stop)?.of_any_columns();
        (source.y, source.weights) = (y, weights);
        Ok(Box::new(source))
    }
}

impl Table<'_> {
    /// View of the rows, or the file.
    pub(crate) fn given(&self) -> Given<'_> {
        match self {
            Self::Single(x) => Given::Rows(TableView::Single(x.as_array())),
            Self::Double(x) => Given::Rows(TableView::Double(x.as_array())),
            Self::Other(other) => other.given(),
        }
    }

    /// View of the rows. Errors on a file.
    pub(crate) fn view(&self) -> PyResult<TableView<'_>> {
        match self.given() {
            Given::Rows(view) => Ok(view),
            Given::File(_) => Err(PyTypeError::new_err(
                "this takes rows in memory, and no scan of a file",
            )),
        }
    }
}

impl Other<'_> {
    fn given(&self) -> Given<'_> {
        match self {
            Self::SparseSingle(x) => Given::Rows(TableView::SparseSingle(sparse(x))),
            Self::SparseDouble(x) => Given::Rows(TableView::SparseDouble(sparse(x))),
            Self::SparseSingleLong(x) => Given::Rows(TableView::SparseSingleLong(sparse(x))),
            Self::SparseDoubleLong(x) => Given::Rows(TableView::SparseDoubleLong(sparse(x))),
            Self::Held(rows) => Given::Rows(rows.view()),
            Self::File(scan) => Given::File(scan.file()),
        }
    }
}

fn sparse<'a, T: numpy::Element, I: numpy::Element>(
    (values, columns, starts, width): &'a Sparse<'_, T, I>,
) -> Csr<'a, T, I> {
    Csr {
        values: values.as_array(),
        columns: columns.as_array(),
        starts: starts.as_array(),
        width: *width,
    }
}
