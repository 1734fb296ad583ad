//! `Scan` and `Writer`: data files that are read and written in chunks.

use crate::{
    calls::{exception, without_gil},
    file::FileSource,
    file_options::{Cells, Lines, with_cells, with_lines},
    views::TableView,
};
use bochner::{
    Error, Result,
    data::{
        Chunk, ChunkSource, ColumnChoice, CsvWriter, DataFile, NpyWriter, Rows, Survey, TargetUse,
    },
};
use ndarray::{Array1, Array2, Axis, concatenate};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::{
    exceptions::{PyRuntimeError, PyValueError},
    prelude::*,
};
use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

/// Arguments of a scan: path, target columns, file of the targets, feature columns, whether these
/// are only selected if the file has such names, number of features, and options for cells and
/// lines.
type Parts = (
    PathBuf,
    Vec<String>,
    Option<PathBuf>,
    Option<Vec<String>>,
    bool,
    Option<usize>,
    Option<Cells>,
    Option<Lines>,
);

/// A data file, opened when it is read.
#[pyclass(frozen, module = "bochner._native")]
pub(crate) struct Scan {
    file: DataFile,
    parts: Parts,
    columns: usize,
    targets: usize,
    rows: Option<usize>,
    names: Option<Vec<String>>,
}

impl Scan {
    fn open(py: Python<'_>, file: DataFile, parts: Parts) -> PyResult<Self> {
        let source = without_gil(py, |_| file.open())?;
        Ok(Self {
            columns: source.columns(),
            targets: source.targets(),
            rows: source.rows(),
            names: source.column_names(),
            file,
            parts,
        })
    }

    pub(crate) fn file(&self) -> &DataFile {
        &self.file
    }

    /// The same file with other feature columns. If no targets were named, they are read only if
    /// the file has them.
    pub(crate) fn with_columns(&self, py: Python<'_>, choice: ColumnChoice) -> PyResult<Self> {
        let mut file = self.file.clone().columns(choice);
        if self.parts.1.is_empty() {
            file = file.target_use(TargetUse::IfPresent);
        }
        Self::open(py, file, self.parts.clone())
    }
}

/// Number of rows per chunk in [`Scan::take`].
const ROWS: usize = 1 << 14;

#[pymethods]
impl Scan {
    /// Opens the file at `path` with the target columns `target`; `targets` is the file of the
    /// targets of a .npy file. `columns` are the feature columns, with `matching` only if the file
    /// has such names; `width` is the number of features of a .libsvm file.
    #[new]
    #[expect(
        clippy::too_many_arguments,
        reason = "what a file is, by place from Python"
    )]
    #[pyo3(signature = (
        path, target, targets, columns=None, matching=false, width=None, cells=None, lines=None
    ))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        target: Vec<String>,
        targets: Option<PathBuf>,
        columns: Option<Vec<String>>,
        matching: bool,
        width: Option<usize>,
        cells: Option<Cells>,
        lines: Option<Lines>,
    ) -> PyResult<Self> {
        let mut file = DataFile::at(&path);
        for column in &target {
            file = file.target(column);
        }
        if let Some(targets) = &targets {
            file = file.targets(targets);
        }
        if let Some(columns) = &columns {
            file = file.columns(if matching {
                ColumnChoice::Matching(columns.clone())
            } else {
                ColumnChoice::These(columns.clone())
            });
        }
        if let Some(width) = width {
            file = file.width(width);
        }
        if let Some(cells) = &cells {
            file = with_cells(file, cells).map_err(|e| exception(&e))?;
        }
        if let Some(lines) = &lines {
            file = with_lines(file, lines).map_err(|e| exception(&e))?;
        }
        let parts = (
            path, target, targets, columns, matching, width, cells, lines,
        );
        Self::open(py, file, parts)
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.columns
    }

    #[getter]
    fn n_targets(&self) -> usize {
        self.targets
    }

    /// Number of rows, if it is known without reading the file.
    #[getter]
    fn n_samples(&self) -> Option<usize> {
        self.rows
    }

    /// Names of the feature columns, if the file has names.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        self.names.clone()
    }

    /// Number of rows, and means and variances of the feature columns, in one pass.
    fn moments(&self, py: Python<'_>) -> PyResult<(u64, Vec<f64>, Vec<f64>)> {
        without_gil(py, |interrupt| {
            let mut source = FileSource::open(&self.file, interrupt.flag())?;
            let hear = interrupt.hear();
            let survey = Survey::watched(&mut source, 0, 0, &|_| hear())?;
            Ok((survey.rows, survey.mean, survey.variance))
        })
    }

    /// Reads the rows with the given ascending indices, in one pass.
    fn take(&self, py: Python<'_>, rows: Vec<usize>) -> PyResult<HeldRows> {
        let x = without_gil(py, |interrupt| {
            let mut source = FileSource::open(&self.file, interrupt.flag())?;
            let (mut taken, mut first, mut next) = (Vec::new(), 0, 0);
            while let Some(chunk) = source.next_chunk(ROWS)? {
                interrupt.check()?;
                let end = first + chunk.x.nrows();
                let here = rows[next..].iter().take_while(|&&row| row < end);
                let here: Vec<_> = here.map(|row| row - first).collect();
                next += here.len();
                if !here.is_empty() {
                    taken.push(chunk.x.select(&here));
                }
                first = end;
            }
            if next == rows.len() {
                stacked(taken)
            } else {
                Err(Error::shape(format!("the file has {first} rows")))
            }
        })?;
        Ok(HeldRows {
            y: Array2::zeros((x.nrows(), 0)),
            x,
            weights: None,
        })
    }

    /// Iterates over the rows in chunks of at most `rows`.
    fn chunks(&self, py: Python<'_>, rows: usize) -> PyResult<Chunks> {
        let source = without_gil(py, |_| self.file.open())?;
        Ok(Chunks {
            source: Mutex::new(source),
            rows: rows.max(1),
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, Parts) {
        (py.get_type::<Self>().into_any(), self.parts.clone())
    }
}

/// Concatenates rows.
fn stacked(parts: Vec<Rows>) -> Result<Rows> {
    let wrong = |e: ndarray::ShapeError| Error::shape(e.to_string());
    if parts.iter().all(|part| matches!(part, Rows::F32(_))) {
        let views = parts.iter().filter_map(|part| match part {
            Rows::F32(x) => Some(x.view()),
            Rows::F64(_) => None,
        });
        let views: Vec<_> = views.collect();
        return Ok(Rows::F32(concatenate(Axis(0), &views).map_err(wrong)?));
    }
    let parts: Vec<_> = parts.into_iter().map(Rows::into_f64).collect();
    let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
    Ok(Rows::F64(concatenate(Axis(0), &views).map_err(wrong)?))
}

/// Chunk of rows in native memory, which Python passes to other calls.
#[pyclass(frozen, module = "bochner._native")]
pub(crate) struct HeldRows {
    x: Rows,
    y: Array2<f64>,
    weights: Option<Array1<f64>>,
}

impl HeldRows {
    pub(crate) fn view(&self) -> TableView<'_> {
        match &self.x {
            Rows::F32(x) => TableView::Single(x.view()),
            Rows::F64(x) => TableView::Double(x.view()),
        }
    }
}

#[pymethods]
impl HeldRows {
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.x.nrows(), self.x.ncols())
    }

    /// NumPy name of the dtype of the values.
    #[getter]
    fn dtype(&self) -> &'static str {
        match self.x {
            Rows::F32(_) => "float32",
            Rows::F64(_) => "float64",
        }
    }

    /// Copy of the targets, `[n, t]`.
    fn targets<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.y.clone().into_pyarray(py)
    }

    /// Copy of the weights, `[n]`, if the file has weights.
    fn weights<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        Some(self.weights.clone()?.into_pyarray(py))
    }

    /// Copy of the rows as a NumPy array.
    fn numpy<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        match &self.x {
            Rows::F32(x) => x.clone().into_pyarray(py).into_any(),
            Rows::F64(x) => x.clone().into_pyarray(py).into_any(),
        }
    }
}

/// Iterator over chunks of rows.
#[pyclass(frozen, module = "bochner._native")]
pub(crate) struct Chunks {
    source: Mutex<Box<dyn ChunkSource>>,
    rows: usize,
}

#[pymethods]
impl Chunks {
    fn __iter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<HeldRows>> {
        let chunk = without_gil(py, |_| {
            let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
            source.next_chunk(self.rows)
        })?;
        Ok(chunk.map(|Chunk { x, y, weights }| HeldRows { x, y, weights }))
    }
}

/// Open output file.
enum Open {
    Npy(NpyWriter<f64>),
    Csv(CsvWriter),
}

/// Writes rows to a .npy or .csv file, which appears when it is finished.
#[pyclass(frozen, module = "bochner._native")]
pub(crate) struct Writer {
    open: Mutex<Option<Open>>,
}

#[pymethods]
impl Writer {
    /// Creates a file with these columns; with `flat`, a .npy file is one-dimensional.
    #[new]
    fn new(path: PathBuf, names: Vec<String>, flat: bool) -> PyResult<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let open = match extension.as_deref() {
            Some("npy") if flat => NpyWriter::create_1d(&path).map(Open::Npy),
            Some("npy") => NpyWriter::create(&path, names.len()).map(Open::Npy),
            Some("csv") => {
                let names: Vec<_> = names.iter().map(String::as_str).collect();
                CsvWriter::create(&path, &names).map(Open::Csv)
            }
            _ => {
                let path = path.display();
                let problem = format!("output is {path}; use a name that ends in .npy or .csv");
                return Err(PyValueError::new_err(problem));
            }
        };
        Ok(Self {
            open: Mutex::new(Some(open.map_err(|e| exception(&e))?)),
        })
    }

    fn write(&self, py: Python<'_>, rows: PyReadonlyArray2<'_, f64>) -> PyResult<()> {
        let rows = rows.as_array();
        self.with_open(|open| {
            without_gil(py, |_| match open {
                Open::Npy(file) => file.write_rows(rows),
                Open::Csv(file) => file.write_rows(rows),
            })
        })
    }

    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let open = { open }.take().ok_or_else(ended)?;
        without_gil(py, |_| match open {
            Open::Npy(file) => file.finish().map(drop),
            Open::Csv(file) => file.finish().map(drop),
        })
    }
}

fn ended() -> PyErr {
    PyRuntimeError::new_err("the file is finished")
}

impl Writer {
    fn with_open<T>(&self, work: impl FnOnce(&mut Open) -> PyResult<T>) -> PyResult<T> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        work(open.as_mut().ok_or_else(ended)?)
    }
}
