//! .csv files, row by row.

use super::{AtomicFile, Done, NpyValue};
use crate::error::{Error, Result};
use ndarray::ArrayView2;
use std::borrow::Cow;
use std::io::{BufWriter, Seek, Write};
use std::path::Path;

/// Writes rows of numbers under column names to a .csv file.
///
/// Every number is written with the digits that bring the same f32 or f64 back, whole numbers
/// without a point. The file appears when [`Self::finish`] succeeds, and a failed run leaves an
/// older one untouched: see [`AtomicFile`].
#[derive(Debug)]
pub struct CsvWriter {
    file: BufWriter<AtomicFile>,
    columns: usize,
    rows: u64,
}

impl CsvWriter {
    /// Begins a file at `path` with the row of `names`, quoted where they need it. Errors as
    /// [`AtomicFile::create`] does.
    pub fn create(path: impl AsRef<Path>, names: &[impl AsRef<str>]) -> Result<Self> {
        Self::go_on(AtomicFile::create(path)?, names, Done::default())
    }

    /// Begins a file that is [kept](AtomicFile::keep) between runs, or goes on with one, `done`
    /// being what [`Self::mark`] said last. Errors with [`Error::Io`].
    #[doc(hidden)]
    pub fn go_on(file: AtomicFile, names: &[impl AsRef<str>], done: Done) -> Result<Self> {
        let mut writer = Self {
            file: BufWriter::with_capacity(256 * 1024, file),
            columns: names.len(),
            rows: done.rows,
        };
        if done.bytes > 0 {
            return Ok(writer);
        }
        let mut line = String::new();
        for (j, name) in names.iter().enumerate() {
            if j > 0 {
                line.push(',');
            }
            line.push_str(&Self::quoted(name.as_ref()));
        }
        line.push('\n');
        writer.write(&line)?;
        Ok(writer)
    }

    /// `text` as a cell: in quotes where it has a comma, a quote or the end of a line.
    ///
    /// ```
    /// use bochner::data::CsvWriter;
    /// assert_eq!(CsvWriter::quoted("a,b"), "\"a,b\"");
    /// assert_eq!(CsvWriter::quoted("a b"), "a b");
    /// ```
    #[doc(hidden)]
    pub fn quoted(text: &str) -> Cow<'_, str> {
        if text.contains(['"', ',', '\n', '\r']) {
            format!("\"{}\"", text.replace('"', "\"\"")).into()
        } else {
            text.into()
        }
    }

    /// The shortest text that reads back as `value`, whole numbers without a point.
    ///
    /// ```
    /// use bochner::data::CsvWriter;
    /// assert_eq!([CsvWriter::number(2.0), CsvWriter::number(1e-7)], ["2", "1e-7"]);
    /// ```
    #[doc(hidden)]
    pub fn number(value: impl NpyValue) -> String {
        // Debug turns to exponents where Display would write hundreds of zeros, but ends whole
        // numbers with .0.
        let text = format!("{value:?}");
        text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
    }

    /// The columns of its rows.
    #[doc(hidden)]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Writes all rows so far through to the disk, and says how far the file is. Errors with
    /// [`Error::Io`].
    #[doc(hidden)]
    pub fn mark(&mut self) -> Result<Done> {
        let path = self.file.get_ref().path().to_owned();
        let fail = |error| Error::io(&path, error);
        self.file.flush().map_err(fail)?;
        self.file.get_ref().sync()?;
        Ok(Done {
            rows: self.rows,
            bytes: self.file.stream_position().map_err(fail)?,
        })
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.file
            .write_all(text.as_bytes())
            .map_err(|error| Error::io(self.file.get_ref().path(), error))
    }

    /// Appends `rows` `[n, names]`, n of any size.
    ///
    /// Errors with [`Error::Shape`] if there are not as many columns as names, and with
    /// [`Error::Io`].
    pub fn write_rows<T: NpyValue>(&mut self, rows: ArrayView2<'_, T>) -> Result<()> {
        if rows.ncols() != self.columns {
            return Err(Error::shape(format!(
                "{}: rows of {} columns go under {} names; write one name per column",
                self.file.get_ref().path().display(),
                rows.ncols(),
                self.columns
            )));
        }
        let mut line = String::new();
        for row in rows.rows() {
            line.clear();
            for (j, &value) in row.iter().enumerate() {
                if j > 0 {
                    line.push(',');
                }
                line.push_str(&Self::number(value));
            }
            line.push('\n');
            self.write(&line)?;
        }
        self.rows += rows.nrows() as u64;
        Ok(())
    }

    /// Gives the file its name and returns the number of rows.
    ///
    /// Errors with [`Error::Io`]; then nothing of the new file remains.
    pub fn finish(mut self) -> Result<u64> {
        let path = self.file.get_ref().path().to_owned();
        self.file.flush().map_err(|error| Error::io(&path, error))?;
        let file = self
            .file
            .into_inner()
            .map_err(|error| Error::io(&path, error.into_error()))?;
        file.finish()?;
        Ok(self.rows)
    }
}
