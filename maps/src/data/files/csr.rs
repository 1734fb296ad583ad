//! Sparse matrices of scipy as a source, streamed.

use super::input::open_file;
use super::libsvm::MOST;
use super::npy::{ArrayLocation, ArrayReader, Input, Role};
use super::npz::{array, entry};
use super::{Chunk, ChunkSource, Rows, require_rows};
use crate::error::{Error, Result};
use crate::text::counted;
use ndarray::Array2;
use std::io::Read;
use std::path::Path;

/// Entries of a row that are read at a time: a damaged file may claim any number.
const ENTRIES: usize = 1 << 16;

/// A sparse matrix in compressed rows, as `scipy.sparse.save_npz` writes it, and perhaps a file of
/// targets.
///
/// Rows are read in chunks that have their zeros, so memory is that of a chunk; the arrays of the
/// archive are streamed side by side and held to their checksums. An array `y` in the archive is
/// the targets, too.
#[derive(Debug)]
pub struct CsrSource {
    /// Where each row begins among the entries, and where the last one ends, `[rows + 1]`.
    starts: ArrayReader,
    /// The column of each entry.
    places: ArrayReader,
    /// The value of each entry.
    values: ArrayReader,
    y: Option<ArrayReader>,
    rows: usize,
    columns: usize,
    next: usize,
    /// Where the next row begins.
    start: usize,
    /// Whether other values are refused.
    finite: bool,
}

impl CsrSource {
    /// Whether the archive at `path` holds a sparse matrix. Errors as
    /// [`NpzSource::open`](super::NpzSource::open) does.
    pub(in crate::data) fn is_one(path: &Path) -> Result<bool> {
        Ok(entry(path, "format")?.is_some() && entry(path, "X")?.is_none())
    }

    /// Opens the matrix at `path` and, if given, the .npy file of targets at `y`.
    ///
    /// Errors with [`Error::Io`] if a file cannot be opened, and with [`Error::Data`] if it is no
    /// matrix in compressed rows, has none or more than 4,194,304 columns, no rows, or targets of
    /// another number of rows. Damage and values that are not finite are found when their chunk is
    /// read.
    pub fn open(path: impl AsRef<Path>, y: Option<&Path>) -> Result<Self> {
        let path = path.as_ref();
        let fail = |problem: String| Err(Error::data(path, problem));
        match format(path)?.as_str() {
            "csr" => {}
            other => {
                return fail(format!(
                    "is a sparse matrix of format {other:?}, and \"csr\" can be read; save it as \
                     .tocsr()"
                ));
            }
        }
        let require = |name: &str| match array(path, name, Role::Targets)? {
            Some(array) if array.columns() == 1 => Ok(array),
            _ => Err(Error::data(
                path,
                format!(
                    "has no array {name} of one dimension; write it with scipy.sparse.save_npz"
                ),
            )),
        };
        let mut shape = require("shape")?;
        let shape = match shape.rows() {
            2 => shape.read_targets(2)?,
            _ => return fail("is no matrix: its shape is not of two numbers".into()),
        };
        let [rows, columns] = [shape[[0, 0]], shape[[1, 0]]];
        let starts = require("indptr")?;
        let (places, values) = (require("indices")?, require("data")?);
        if !(columns >= 1.0 && columns <= MOST as f64) {
            return fail(format!(
                "has {columns} columns; from 1 to {MOST} can be read with their zeros"
            ));
        }
        if starts.rows() as f64 != rows + 1.0 || places.rows() != values.rows() || rows < 1.0 {
            return fail(format!(
                "is damaged: {rows} rows and {} places where rows begin, {} columns for {} \
                 values; write it with scipy.sparse.save_npz",
                starts.rows(),
                places.rows(),
                values.rows()
            ));
        }
        let y = open_targets((path, y), rows)?;
        let mut source = Self {
            rows: starts.rows() - 1,
            columns: columns as usize,
            starts,
            places,
            values,
            y,
            next: 0,
            start: 0,
            finite: true,
        };
        source.begin()?;
        Ok(source)
    }

    /// Reads where the first row begins.
    fn begin(&mut self) -> Result<()> {
        (self.next, self.start) = (0, 0);
        match self.starts.read_targets(1)?[[0, 0]] {
            0.0 => Ok(()),
            other => Err(self.damaged(format!("the first row begins at {other}"))),
        }
    }

    fn damaged(&self, how: String) -> Error {
        (self.starts.place()).problem(format!(
            "is damaged: {how}; write the file again with scipy.sparse.save_npz"
        ))
    }

    /// Reads the entries of `rows` more rows into `x`.
    fn read(&mut self, rows: usize, x: &mut Array2<f64>) -> Result<()> {
        let ends = self.starts.read_targets(rows)?;
        let all = self.values.rows();
        let mut lengths = Vec::with_capacity(rows);
        for (i, &end) in ends.iter().enumerate() {
            let length = end - self.start as f64;
            if !(length >= 0.0 && end <= all as f64) || end.fract() != 0.0 {
                let how = format!(
                    "row {} (counted from 0) ends at {end} of {all} entries after {}",
                    self.next + i,
                    self.start
                );
                return Err(self.damaged(how));
            }
            lengths.push(length as usize);
            self.start = end as usize;
        }
        for (mut row, length) in x.rows_mut().into_iter().zip(lengths) {
            // A row may have more entries than columns: those of one place add up, as in scipy.
            let mut left = length;
            while left > 0 {
                let count = left.min(ENTRIES);
                let places = self.places.read_targets(count)?;
                let values = self.values.read_targets(count)?;
                for (&j, &value) in places.iter().zip(&values) {
                    if !(j >= 0.0 && j < self.columns as f64 && j.fract() == 0.0) {
                        return Err(self.places.place().problem(format!(
                            "is damaged: it holds column {j} of {}; write the file again",
                            self.columns
                        )));
                    }
                    row[j as usize] += value;
                }
                left -= count;
            }
        }
        self.next += rows;
        if self.next == self.rows && self.start != all {
            return Err(self.damaged(format!("rows end at {}, values at {all}", self.start)));
        }
        if !self.finite || x.iter().all(|value| value.is_finite()) {
            Ok(())
        } else {
            Err(self.damaged("entries of one place exceed f64".into()))
        }
    }
}

/// What the array `format` of the archive says.
fn format(path: &Path) -> Result<String> {
    let Some(entry) = entry(path, "format")? else {
        let problem = "is no sparse matrix; write it with scipy.sparse.save_npz";
        return Err(Error::data(path, problem));
    };
    let mut bytes = Vec::new();
    (entry.take(4096).read_to_end(&mut bytes)).map_err(|error| Error::io(path, error))?;
    // Text of one or, as Python 3 once had it, of four bytes a character, after the header.
    let end = bytes.iter().rposition(|&byte| byte == b'\n');
    let text = bytes.split_off(end.map_or(0, |end| end + 1));
    let text: Vec<_> = text.into_iter().filter(|&byte| byte != 0).collect();
    Ok(String::from_utf8_lossy(&text).into_owned())
}

impl CsrSource {
    /// Values that are not finite are read as they are, and not refused.
    pub(in crate::data) fn any_values(mut self) -> Self {
        self.finite = false;
        self.values = self.values.any_values();
        self.y = self.y.map(ArrayReader::any_values);
        self
    }
}

impl ChunkSource for CsrSource {
    fn columns(&self) -> usize {
        self.columns
    }
    fn targets(&self) -> usize {
        self.y.as_ref().map_or(0, ArrayReader::columns)
    }
    fn rows(&self) -> Option<usize> {
        Some(self.rows)
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        require_rows(max_rows)?;
        let rows = max_rows.min(self.rows - self.next);
        if rows == 0 {
            return Ok(None);
        }
        let mut x = Vec::new();
        x.try_reserve_exact(rows.saturating_mul(self.columns))
            .map_err(|_| {
                self.values.place().problem(format!(
                    "does not fit: a chunk of {rows} rows x {} columns exceeds the memory; read \
                     fewer rows at a time",
                    self.columns
                ))
            })?;
        x.resize(rows * self.columns, 0.0);
        let mut x = Array2::from_shape_vec((rows, self.columns), x)
            .map_err(|error| Error::shape(error.to_string()))?;
        self.read(rows, &mut x)?;
        let y = match &mut self.y {
            Some(y) => y.read_targets(rows)?,
            None => Array2::zeros((rows, 0)),
        };
        Ok(Some(Chunk {
            x: Rows::F64(x),
            y,
            weights: None,
        }))
    }
    fn rewind(&mut self) -> Result<()> {
        for array in [&mut self.starts, &mut self.places, &mut self.values] {
            array.rewind()?;
        }
        self.y.as_mut().map_or(Ok(()), ArrayReader::rewind)?;
        self.begin()
    }
    fn is_checked(&self) -> bool {
        true
    }
}

/// The targets of so many rows: in a file of their own, or in the archive.
fn open_targets((path, y): (&Path, Option<&Path>), rows: f64) -> Result<Option<ArrayReader>> {
    let y = match y {
        Some(y) => {
            let place = ArrayLocation {
                path: y.to_owned(),
                array: None,
            };
            let y = Input::File(open_file(y)?);
            Some(ArrayReader::new(place, y, Role::Targets)?)
        }
        None => array(path, "y", Role::Targets)?,
    };
    if let Some(y) = &y
        && y.rows() as f64 != rows
    {
        return Err(y.place().problem(format!(
            "has {}, but the features have {rows}; give one row of targets for each row of \
             features",
            counted(y.rows(), "row")
        )));
    }
    Ok(y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// An array of whole numbers as .npy has it.
    fn npy(values: &[i64]) -> Vec<u8> {
        let count = values.len();
        let head = format!("{{'descr': '<i8', 'fortran_order': False, 'shape': ({count},), }}");
        let mut bytes = b"\x93NUMPY\x01\x00v\x00".to_vec();
        bytes.extend(format!("{head:117}\n").bytes());
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }

    /// Two columns; the second row has more entries than are read at a time.
    #[test]
    fn rows_may_have_more_entries_than_columns() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.npz");
        let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).expect("a file"));
        let long = 2 * ENTRIES as i64 + 1;
        let places: Vec<i64> = (0..3 + long).map(|i| (i + 1) % 2).collect();
        let values = vec![1; places.len()];
        for (name, bytes) in [
            ("format", b"\ncsr".to_vec()),
            ("shape", npy(&[3, 2])),
            ("indptr", npy(&[0, 3, 3 + long, 3 + long])),
            ("indices", npy(&places)),
            ("data", npy(&values)),
        ] {
            let options = zip::write::SimpleFileOptions::default();
            let options = options.compression_method(zip::CompressionMethod::Stored);
            let name = format!("{name}.npy");
            zip.start_file(name, options).expect("begins");
            zip.write_all(&bytes).expect("writes");
        }
        zip.finish().expect("ends");
        let mut source = CsrSource::open(&path, None).expect("opens");
        let chunk = source.next_chunk(9).expect("reads").expect("rows");
        let n = ENTRIES as f64;
        let right = ndarray::array![[1.0, 2.0], [n + 1.0, n], [0.0, 0.0]];
        assert_eq!(chunk.x, Rows::F64(right));
    }
}
