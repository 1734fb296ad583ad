//! The rows of a .csv file as fields, and the names of its columns.

use crate::data::open::open_file;
use crate::error::{Error, Result};
use ::csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek};
use std::path::{Path, PathBuf};

/// A file at one of its rows.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) path: PathBuf,
    file: File,
    reader: Reader<File>,
    record: ByteRecord,
    header: bool,
    pub(super) names: Vec<String>,
}

impl Records {
    /// Opens `path`, reads the names of its columns and stands before the first row.
    ///
    /// Errors with [`Error::Io`] if the file cannot be opened, and with [`Error::Data`] if it is
    /// empty or has no row after the names.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let path = path.to_owned();
        let file = open_file(&path)?;
        let reader = read_from_start(&path, &file)?;
        let mut records = Self {
            path,
            file,
            reader,
            record: ByteRecord::new(),
            header: true,
            names: Vec::new(),
        };
        records.read_names()?;
        Ok(records)
    }

    /// Errors unless there is a row, and stands before it.
    pub(super) fn require_row(&mut self) -> Result<()> {
        if self.header && !self.next()? {
            return Err(Error::data(
                &self.path,
                "has no rows after the column names; add at least one",
            ));
        }
        self.rewind()
    }

    /// Back to the first row.
    pub(super) fn rewind(&mut self) -> Result<()> {
        self.reader = read_from_start(&self.path, &self.file)?;
        if self.header {
            self.next()?;
        }
        Ok(())
    }

    /// Reads the next row; false at the end.
    pub(super) fn next(&mut self) -> Result<bool> {
        match self.reader.read_byte_record(&mut self.record) {
            Ok(more) => Ok(more),
            Err(error) => Err(match error.into_kind() {
                ErrorKind::Io(error) => Error::io(&self.path, error),
                other => Error::data(
                    &self.path,
                    format!("cannot be read as CSV: {other:?}; write it again"),
                ),
            }),
        }
    }

    /// Field `j` of the row.
    pub(super) fn field(&self, j: usize) -> &[u8] {
        &self.record[j]
    }

    /// Errors unless the row has a field under each name.
    pub(super) fn require_fields(&self) -> Result<()> {
        if self.record.len() == self.names.len() {
            return Ok(());
        }
        let hint = if self.record.iter().any(|field| field.contains(&b'\n')) {
            " (is a quote left open?)"
        } else {
            ""
        };
        Err(self.problem(format!(
            "has {} fields, but the first row has {}{hint}; give every row the same columns",
            self.record.len(),
            self.names.len()
        )))
    }

    fn read_names(&mut self) -> Result<()> {
        if !self.next()? {
            return Err(Error::data(
                &self.path,
                "is empty; its first line must hold the column names",
            ));
        }
        let mut names = Vec::new();
        for (j, field) in self.record.iter().enumerate() {
            let name = std::str::from_utf8(field).map_err(|_| {
                Error::data(
                    &self.path,
                    format!("the name of column {j} is not UTF-8 text; save the file as UTF-8"),
                )
            })?;
            names.push(name.trim().to_owned());
        }
        if let [only] = &names[..]
            && let Some(found) = only.chars().find(|c| matches!(c, ';' | '\t'))
        {
            let problem = format!("separates its columns by {found:?}; separate them by commas");
            return Err(Error::data(&self.path, problem));
        }
        let counts = names.len() >= 4
            && names
                .iter()
                .enumerate()
                .all(|(j, name)| *name == j.to_string());
        self.header = counts || !names.iter().all(|name| name.parse::<f64>().is_ok());
        for (j, name) in names.iter_mut().enumerate() {
            if name.is_empty() || !self.header {
                *name = j.to_string();
            }
        }
        self.names = names;
        Ok(())
    }

    /// `what` reads on from the line of the current record.
    pub(super) fn problem(&self, what: String) -> Error {
        let line = self.line();
        let gap = if what.starts_with(',') { "" } else { " " };
        Error::data(&self.path, format!("line {line}{gap}{what}"))
    }

    /// The line on which the row begins, the first of the file being 1.
    pub(super) fn line(&self) -> u64 {
        self.record.position().map_or(0, |position| {
            line_at(&self.path, position.byte()).unwrap_or_else(|_| position.line())
        })
    }
}

fn read_from_start(path: &Path, file: &File) -> Result<Reader<File>> {
    let mut file = file.try_clone().map_err(|error| Error::io(path, error))?;
    file.rewind().map_err(|error| Error::io(path, error))?;
    Ok(ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(256 * 1024)
        .from_reader(file))
}

/// The line, counted from 1, of the record that begins at `byte`. The csv crate's own count starts
/// before the blank lines and the second half of a line ending that come first, so this counts
/// again; only errors need it.
fn line_at(path: &Path, byte: u64) -> std::io::Result<u64> {
    let mut reader = BufReader::with_capacity(1 << 18, File::open(path)?);
    let (mut line, mut at, mut previous) = (1, 0, 0);
    loop {
        let buffer = reader.fill_buf()?;
        let length = buffer.len();
        if length == 0 {
            return Ok(line);
        }
        for &b in buffer {
            if at >= byte && !matches!(b, b'\r' | b'\n') {
                return Ok(line);
            }
            line += u64::from(b == b'\r' || (b == b'\n' && previous != b'\r'));
            previous = b;
            at += 1;
        }
        reader.consume(length);
    }
}
