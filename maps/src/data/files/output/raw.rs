//! Files of numbers alone, row by row.

use super::{AtomicFile, Done};
use crate::error::{Error, Result};
use ndarray::ArrayView2;
use std::io::{BufWriter, Seek, Write};

/// Writes rows of f32 as they are: little-endian, row after row, nothing before or between them.
/// The file does not say how long its rows are.
///
/// The file appears when [`Self::finish`] succeeds, and a failed run leaves an older one untouched:
/// see [`AtomicFile`].
///
/// ```
/// use bochner::data::{AtomicFile, Done, RawWriter};
/// let folder = tempfile::tempdir().expect("a folder");
/// let path = folder.path().join("z.f32");
/// let mut writer = RawWriter::go_on(AtomicFile::create(&path)?, 2, Done::default());
/// writer.write_rows(ndarray::array![[1.0_f32, 2.0]].view())?;
/// assert_eq!(writer.finish()?, 1);
/// let bytes = [1.0_f32.to_le_bytes(), 2.0_f32.to_le_bytes()].concat();
/// assert_eq!(std::fs::read(&path).expect("is there"), bytes);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug)]
#[doc(hidden)]
pub struct RawWriter {
    file: BufWriter<AtomicFile>,
    columns: usize,
    rows: u64,
}

impl RawWriter {
    /// Begins a file of rows of so many numbers, or goes on with one that is
    /// [kept](AtomicFile::keep) between runs, `done` being what [`Self::mark`] said last.
    pub fn go_on(file: AtomicFile, columns: usize, done: Done) -> Self {
        Self {
            file: BufWriter::with_capacity(256 * 1024, file),
            columns,
            rows: done.rows,
        }
    }

    fn fail(&self, error: std::io::Error) -> Error {
        Error::io(self.file.get_ref().path(), error)
    }

    /// Appends `rows` `[n, columns]`, n of any size.
    ///
    /// Errors with [`Error::Shape`] if the columns differ from those of the file, and with
    /// [`Error::Io`].
    pub fn write_rows(&mut self, rows: ArrayView2<'_, f32>) -> Result<()> {
        if rows.ncols() != self.columns {
            return Err(Error::shape(format!(
                "{}: rows of {} columns go into a file of {}; write rows of those",
                self.file.get_ref().path().display(),
                rows.ncols(),
                self.columns
            )));
        }
        let written = match rows.as_slice() {
            Some(all) if cfg!(target_endian = "little") => {
                self.file.write_all(bytemuck::cast_slice(all))
            }
            _ => {
                let little: Vec<u8> = rows.iter().flat_map(|v| v.to_le_bytes()).collect();
                self.file.write_all(&little)
            }
        };
        written.map_err(|error| self.fail(error))?;
        self.rows += rows.nrows() as u64;
        Ok(())
    }

    /// Writes all rows so far through to the disk, and says how far the file is. Errors with
    /// [`Error::Io`].
    pub fn mark(&mut self) -> Result<Done> {
        self.file.flush().map_err(|error| self.fail(error))?;
        self.file.get_ref().sync()?;
        let bytes = self.file.stream_position();
        Ok(Done {
            rows: self.rows,
            bytes: bytes.map_err(|error| self.fail(error))?,
        })
    }

    /// Gives the file its name and returns the number of rows.
    ///
    /// Errors with [`Error::Io`]; then nothing of the new file remains.
    pub fn finish(self) -> Result<u64> {
        let path = self.file.get_ref().path().to_owned();
        let file = self.file.into_inner();
        let file = file.map_err(|error| Error::io(path, error.into_error()))?;
        file.finish()?;
        Ok(self.rows)
    }
}
