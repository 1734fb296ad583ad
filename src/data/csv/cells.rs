//! .csv files as tables of text.

use super::{Header, records::Records};
use crate::data::require_rows;
use crate::data::table::{Batch, Column, Table, Texts, require_columns, short};
use crate::error::Result;
use std::path::Path;

/// A file of separated columns whose fields are read as text, without the white space around them.
///
/// Names and rows are found as [`CsvSource`](super::CsvSource) finds them. Nothing of a field is
/// missing here: an empty one is empty text.
#[derive(Debug)]
pub struct CsvTable {
    records: Records,
    columns: Vec<usize>,
}

impl CsvTable {
    /// Opens `path` and reads its first row.
    ///
    /// Errors with [`Error::Io`](crate::Error::Io) if the file cannot be opened, and with
    /// [`Error::Data`](crate::Error::Data) if it is empty or has no row after the names.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, None)
    }

    /// As [`Self::open`]; what separates columns is given as in
    /// [`CsvOptions::delimiter`](super::CsvOptions::delimiter).
    ///
    /// Errors, besides, with [`Error::Parameter`](crate::Error::Parameter) on a character that
    /// cannot separate.
    pub fn open_with(path: impl AsRef<Path>, delimiter: Option<char>) -> Result<Self> {
        Self::open_headed(path, delimiter, Header::Auto)
    }

    /// As [`Self::open_with`]; whether the first row holds names is said, too.
    pub fn open_headed(
        path: impl AsRef<Path>,
        delimiter: Option<char>,
        header: Header,
    ) -> Result<Self> {
        let mut records = Records::open(path.as_ref(), delimiter, header)?;
        records.require_row()?;
        Ok(Self {
            columns: (0..records.names.len()).collect(),
            records,
        })
    }

    /// The line of a row, as far as the file is as it was.
    fn line(&self, row: u64) -> Option<u64> {
        let mut records = self.records.again().ok()?;
        records.require_row().ok()?;
        for _ in 0..=row {
            records.next().ok().filter(|more| *more)?;
        }
        Some(records.line())
    }
}

impl Table for CsvTable {
    fn path(&self) -> &Path {
        self.records.path()
    }
    fn names(&self) -> &[String] {
        &self.records.names
    }
    fn is_typed(&self) -> bool {
        false
    }
    fn select(&mut self, columns: &[usize]) -> Result<()> {
        require_columns(columns, self.records.names.len())?;
        self.columns = columns.to_vec();
        self.rewind()
    }
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>> {
        require_rows(max_rows)?;
        let mut texts = vec![Texts::default(); self.columns.len()];
        let mut rows = 0;
        while rows < max_rows && self.records.next()? {
            self.records.require_fields()?;
            for (&j, texts) in self.columns.iter().zip(&mut texts) {
                match std::str::from_utf8(self.records.field(j)) {
                    Ok(text) => texts.push(text.trim()),
                    Err(_) => {
                        let name = short(&self.records.names[j]);
                        let says = "is not UTF-8 text; save the file as UTF-8";
                        return Err(self.records.problem(format!(", column {name}: {says}")));
                    }
                }
            }
            rows += 1;
        }
        Ok((rows > 0).then(|| Batch {
            rows,
            columns: texts.into_iter().map(Column::Text).collect(),
        }))
    }
    fn rewind(&mut self) -> Result<()> {
        self.records.rewind()
    }
    fn place(&self, row: u64, column: usize) -> String {
        let name = self.names().get(column).map_or("", String::as_str);
        let place = match self.line(row) {
            Some(line) => format!("line {line}"),
            None => format!("row {row} (counted from 0)"),
        };
        format!("{place}, column {}", short(name))
    }
}
