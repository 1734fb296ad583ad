//! .csv files as tables of text.

use super::{Layout, records::Records};
use crate::data::files::table::{Batch, Column, Table, Texts, require_columns, short};
use crate::data::require_rows;
use crate::error::{Remedy, Result};
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
        Self::open_with(path, &Layout::default())
    }

    /// As [`Self::open`], of a file of which some is said.
    ///
    /// Errors, besides, with [`Error::Parameter`](crate::Error::Parameter) on a delimiter that
    /// cannot separate, or a text that cannot begin comments.
    pub fn open_with(path: impl AsRef<Path>, layout: &Layout) -> Result<Self> {
        let mut records = Records::open(path.as_ref(), layout)?;
        records.say();
        records.require_row()?;
        Ok(Self {
            columns: (0..records.names.len()).collect(),
            records,
        })
    }

    /// The line of a row, as far as the file is as it was.
    fn line(&self, row: u64) -> Option<u64> {
        let mut records = self.records.again().ok()?;
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
                    Err(_) => texts.push(self.records.latin(j)?.trim()),
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
    fn remedy(&self, name: &str) -> Option<Remedy> {
        self.records.remedy(name)
    }
    fn has_decimal_commas(&self) -> bool {
        self.records.lines.delimiter() == b';'
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
