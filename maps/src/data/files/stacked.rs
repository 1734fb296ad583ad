//! Two tables as one.

use super::table::{Batch, Table};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// The rows of a table before those of another, with the columns of the first. No batch holds rows
/// of both.
pub(in crate::data) struct Stacked {
    tables: [Box<dyn Table>; 2],
    /// The files, as messages about both name them.
    path: PathBuf,
    /// Of each column of the first table the one that it is in the second.
    pairs: Vec<usize>,
    at: usize,
    read: u64,
    /// Rows of the first, once they were read.
    first: Option<u64>,
}

impl Stacked {
    pub(in crate::data) fn new(tables: [Box<dyn Table>; 2], pairs: Vec<usize>) -> Self {
        let [a, b] = tables.each_ref().map(|table| table.path().display());
        Self {
            path: format!("{a} and {b}").into(),
            tables,
            pairs,
            at: 0,
            read: 0,
            first: None,
        }
    }

    /// The table that a row is in, and its number there.
    fn locate(&self, row: u64) -> (usize, u64) {
        match self.first {
            Some(first) if row >= first => (1, row - first),
            _ => (0, row),
        }
    }

    /// The table that a cell is in, its row and its column there.
    fn cell(&self, row: u64, column: usize) -> (&dyn Table, u64, usize) {
        let (at, row) = self.locate(row);
        let column = if at == 0 { column } else { self.pairs[column] };
        (self.tables[at].as_ref(), row, column)
    }
}

impl Table for Stacked {
    fn path(&self) -> &Path {
        &self.path
    }
    fn names(&self) -> &[String] {
        self.tables[0].names()
    }
    fn is_typed(&self) -> bool {
        self.tables.iter().all(|table| table.is_typed())
    }
    fn has_decimal_commas(&self) -> bool {
        self.tables.iter().all(|table| table.has_decimal_commas())
    }
    fn select(&mut self, columns: &[usize]) -> Result<()> {
        let second: Vec<usize> = columns.iter().map(|&j| self.pairs[j]).collect();
        let [a, b] = &mut self.tables;
        a.select(columns)?;
        b.select(&second)?;
        (self.at, self.read) = (0, 0);
        Ok(())
    }
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>> {
        while let Some(table) = self.tables.get_mut(self.at) {
            if let Some(batch) = table.next_batch(max_rows)? {
                self.read += batch.rows as u64;
                return Ok(Some(batch));
            }
            if self.at == 0 {
                self.first = Some(self.read);
            }
            self.at += 1;
        }
        Ok(None)
    }
    fn rewind(&mut self) -> Result<()> {
        for table in &mut self.tables {
            table.rewind()?;
        }
        (self.at, self.read) = (0, 0);
        Ok(())
    }
    fn row_in_file(&self, row: u64) -> u64 {
        self.locate(row).1
    }
    fn place(&self, row: u64, column: usize) -> String {
        let (table, row, column) = self.cell(row, column);
        table.place(row, column)
    }
    fn fault(&self, row: u64, column: usize, says: &str) -> Error {
        let (table, row, column) = self.cell(row, column);
        table.fault(row, column, says)
    }
}
