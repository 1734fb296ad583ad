//! Sheets of spreadsheets and tables of databases, as tables of text.

#[cfg(feature = "excel")]
mod excel;
mod room;
#[cfg(feature = "sqlite")]
mod sqlite;

use super::table::{Batch, Column, Table, Texts, require_columns, short};
use super::{Format, Layout, require_rows};
use super::{container, format};
use crate::error::{Error, Remedy, Result};
use std::path::{Path, PathBuf};

/// A sheet of a spreadsheet, the first or the one behind `#` as in `book.xlsx#prices`, or a table
/// of a database, as in `shop.sqlite#orders`.
///
/// Its cells are texts, as those of a .csv are, and are read by the same rules: numbers and truth
/// values as they are written there, dates by ISO 8601, times as `13:45:00`. It is read as a whole
/// when it is opened, and kept in memory.
pub struct CellTable {
    path: PathBuf,
    names: Vec<String>,
    rows: Vec<Row>,
    /// Whether rows have numbers that whoever opens the file sees.
    is_sheet: bool,
    /// Of each column the first row that holds bytes, which are no cell.
    bytes: Vec<Option<u64>>,
    selected: Vec<usize>,
    at: usize,
}

/// One row, of a cell for each column.
struct Row {
    /// Its number in the sheet, from 1, or in the table, from 0.
    number: u64,
    cells: Vec<Option<Box<str>>>,
}

/// What was read of a file.
struct Cells {
    names: Vec<String>,
    rows: Vec<Row>,
    bytes: Vec<Option<u64>>,
}

impl std::fmt::Debug for CellTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CellTable({})", self.path.display())
    }
}

impl CellTable {
    /// Opens a file that is [`Format::Excel`] or [`Format::Sqlite`]. Of a sheet `layout` may say
    /// how many rows stand above the names, and whether there are names.
    ///
    /// Errors with [`Error::Io`] if it cannot be opened, with [`Error::Data`] if it is damaged, has
    /// no rows, or not the sheet or the table, and with [`Error::Unsupported`] on another format,
    /// or where the library was built without the feature that reads it.
    pub fn open(path: impl AsRef<Path>, format: Format, layout: &Layout) -> Result<Self> {
        let path = path.as_ref();
        let (file, part) = format::split(path);
        let Cells { names, rows, bytes } = match format {
            #[cfg(feature = "excel")]
            Format::Excel => excel::read((path, file), part, layout)?,
            #[cfg(feature = "sqlite")]
            Format::Sqlite => sqlite::read((path, file), part)?,
            _ => {
                let _ = (file, part, layout);
                return Err(container::unread(path, format));
            }
        };
        if rows.is_empty() {
            return Err(Error::data(path, "has no rows; add at least one"));
        }
        Ok(Self {
            path: path.to_owned(),
            selected: (0..names.len()).collect(),
            names,
            rows,
            is_sheet: format == Format::Excel,
            bytes,
            at: 0,
        })
    }
}

impl Table for CellTable {
    fn path(&self) -> &Path {
        &self.path
    }
    fn names(&self) -> &[String] {
        &self.names
    }
    fn is_typed(&self) -> bool {
        false
    }
    fn rows(&self) -> Option<usize> {
        Some(self.rows.len())
    }
    fn select(&mut self, columns: &[usize]) -> Result<()> {
        require_columns(columns, self.names.len())?;
        let refused = |&&j: &&usize| self.bytes[j].is_some();
        if let Some(&j) = columns.iter().find(refused) {
            let row = self.bytes[j].unwrap_or_default();
            let error = self.fault(row, j, "holds bytes, which are neither text nor a number");
            return Err(error.help(Remedy::words("leave the column out")));
        }
        self.selected = columns.to_vec();
        self.at = 0;
        Ok(())
    }
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>> {
        require_rows(max_rows)?;
        let end = self.rows.len().min(self.at.saturating_add(max_rows));
        let rows = &self.rows[self.at..end];
        if rows.is_empty() {
            return Ok(None);
        }
        self.at = end;
        let column = |&j: &usize| {
            let mut texts = Texts::default();
            for row in rows {
                match &row.cells[j] {
                    Some(text) => texts.push(text),
                    None => texts.push_missing(),
                }
            }
            Column::Text(texts)
        };
        Ok(Some(Batch {
            rows: rows.len(),
            columns: self.selected.iter().map(column).collect(),
        }))
    }
    fn rewind(&mut self) -> Result<()> {
        self.at = 0;
        Ok(())
    }
    fn place(&self, row: u64, column: usize) -> String {
        let name = short(self.names.get(column).map_or("", String::as_str));
        let known = self.rows.get(row as usize).filter(|_| self.is_sheet);
        match known {
            Some(known) => format!("row {} of the sheet, column {name}", known.number),
            None => format!("row {row} (counted from 0), column {name}"),
        }
    }
}

/// The names, for a message.
fn listed(names: &[String]) -> String {
    super::table::shortened(names)
}
