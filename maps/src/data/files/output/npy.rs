//! .npy files, row by row.

use super::{AtomicFile, Done};
use crate::error::{Error, Result};
use ndarray::ArrayView2;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::Path;

/// A value that [`NpyWriter`] and [`CsvWriter`](super::CsvWriter) write: f32 or f64.
pub trait NpyValue: bytemuck::Pod + std::fmt::Debug + sealed::Sealed {
    /// The dtype without its byte order.
    const NAME: &'static str;
}
impl NpyValue for f32 {
    const NAME: &'static str = "f4";
}
impl NpyValue for f64 {
    const NAME: &'static str = "f8";
}

mod sealed {
    #[expect(
        unnameable_types,
        reason = "sealed: that nobody else can name it is its purpose"
    )]
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// Long enough for any shape, and a multiple of 64 as the format asks.
const HEADER: usize = 128;

/// Writes rows to a .npy file as they come; how many there are is only written at the end.
///
/// The file appears when [`Self::finish`] succeeds, and a failed run leaves an older one untouched:
/// see [`AtomicFile`].
#[derive(Debug)]
pub struct NpyWriter<T> {
    file: BufWriter<AtomicFile>,
    /// `None` for a 1-D array.
    columns: Option<usize>,
    rows: u64,
    value: PhantomData<T>,
}

impl<T: NpyValue> NpyWriter<T> {
    /// Begins a 2-D array `[rows, columns]` at `path`. Errors as [`AtomicFile::create`] does.
    pub fn create(path: impl AsRef<Path>, columns: usize) -> Result<Self> {
        Self::begin(path.as_ref(), Some(columns))
    }

    /// Begins a 1-D array `[rows]` at `path`; its rows have one column. Errors as
    /// [`AtomicFile::create`] does.
    pub fn create_1d(path: impl AsRef<Path>) -> Result<Self> {
        Self::begin(path.as_ref(), None)
    }

    fn begin(path: &Path, columns: Option<usize>) -> Result<Self> {
        Self::go_on(AtomicFile::create(path)?, columns, Done::default())
    }

    /// Begins an array in a file that is [kept](AtomicFile::keep) between runs, or goes on with
    /// one: `columns` is `None` for a 1-D array, `done` what [`Self::mark`] said last.
    ///
    /// Errors with [`Error::Io`].
    ///
    /// ```
    /// use bochner::data::{AtomicFile, Done, NpyWriter};
    /// let folder = tempfile::tempdir().expect("a folder");
    /// let (path, part) = (folder.path().join("z.npy"), folder.path().join("z.part"));
    /// let rows = ndarray::array![[1.0_f32], [2.0]];
    /// let file = AtomicFile::keep(&path, &part, 0)?;
    /// let mut writer = NpyWriter::go_on(file, None, Done::default())?;
    /// writer.write_rows(rows.view())?;
    /// let done = writer.mark()?;
    /// drop(writer);
    /// let file = AtomicFile::keep(&path, &part, done.bytes)?;
    /// let mut writer = NpyWriter::go_on(file, None, done)?;
    /// writer.write_rows(rows.view())?;
    /// assert_eq!(writer.finish()?, 4);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn go_on(file: AtomicFile, columns: Option<usize>, done: Done) -> Result<Self> {
        let mut writer = Self {
            file: BufWriter::with_capacity(256 * 1024, file),
            columns,
            rows: done.rows,
            value: PhantomData,
        };
        if done.bytes == 0 {
            writer.write_header()?;
        }
        Ok(writer)
    }

    /// The columns of its rows.
    #[doc(hidden)]
    pub fn columns(&self) -> usize {
        self.columns.unwrap_or(1)
    }

    /// Writes all rows so far through to the disk, and says how far the file is. Errors with
    /// [`Error::Io`].
    #[doc(hidden)]
    pub fn mark(&mut self) -> Result<Done> {
        self.file.flush().map_err(|error| self.fail(error))?;
        self.file.get_ref().sync()?;
        let bytes = self.file.stream_position();
        Ok(Done {
            rows: self.rows,
            bytes: bytes.map_err(|error| self.fail(error))?,
        })
    }

    fn fail(&self, error: std::io::Error) -> Error {
        Error::io(self.file.get_ref().path(), error)
    }

    fn write_header(&mut self) -> Result<()> {
        let order = if cfg!(target_endian = "big") {
            '>'
        } else {
            '<'
        };
        let columns = self
            .columns
            .map_or_else(String::new, |columns| format!(" {columns}"));
        let mut header = b"\x93NUMPY\x01\x00".to_vec();
        header.extend(((HEADER - 10) as u16).to_le_bytes());
        let dict = format!(
            "{{'descr': '{order}{}', 'fortran_order': False, 'shape': ({},{columns}), }}",
            T::NAME,
            self.rows
        );
        header.extend(dict.as_bytes());
        header.resize(HEADER - 1, b' ');
        header.push(b'\n');
        self.file
            .write_all(&header)
            .map_err(|error| self.fail(error))
    }

    /// Appends `rows` `[n, columns]`, n of any size.
    ///
    /// Errors with [`Error::Shape`] if the columns differ from those of the file, and with
    /// [`Error::Io`].
    pub fn write_rows(&mut self, rows: ArrayView2<'_, T>) -> Result<()> {
        let columns = self.columns.unwrap_or(1);
        if rows.ncols() != columns {
            return Err(Error::shape(format!(
                "{}: rows of {} columns go into an array of {columns}; write rows of {columns}",
                self.file.get_ref().path().display(),
                rows.ncols()
            )));
        }
        let rows = rows.as_standard_layout();
        let bytes = rows
            .as_slice()
            .map(bytemuck::cast_slice)
            .unwrap_or_default();
        self.file
            .write_all(bytes)
            .map_err(|error| self.fail(error))?;
        self.rows += rows.nrows() as u64;
        Ok(())
    }

    /// Writes the number of rows into the header, gives the file its name, and returns that number.
    ///
    /// Errors with [`Error::Io`]; then nothing of the new file remains.
    pub fn finish(mut self) -> Result<u64> {
        self.file
            .seek(SeekFrom::Start(0))
            .map_err(|error| self.fail(error))?;
        self.write_header()?;
        self.file.flush().map_err(|error| self.fail(error))?;
        let rows = self.rows;
        let path = self.file.get_ref().path().to_owned();
        let file = self
            .file
            .into_inner()
            .map_err(|error| Error::io(path, error.into_error()))?;
        file.finish()?;
        Ok(rows)
    }
}
