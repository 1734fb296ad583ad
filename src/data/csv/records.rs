//! The rows of a .csv file as fields, and the names of its columns.

use super::decimal::{Decimals, Slot};
use super::header::Header;
use super::lines::{FIELDS, Lines};
use crate::error::{Error, Result};
use std::path::Path;

/// A file at one of its rows.
#[derive(Debug)]
pub(super) struct Records {
    lines: Lines,
    /// What was said of the first row, and whether it holds names.
    said: Header,
    header: bool,
    pub(super) names: Vec<String>,
}

impl Records {
    /// Opens `path`, reads the names of its columns and stands before the second record. Without a
    /// delimiter the first line tells it.
    ///
    /// Errors with [`Error::Io`] if the file cannot be opened, with [`Error::Parameter`] on a
    /// delimiter that cannot separate, and with [`Error::Data`] if the file is empty or its first
    /// record cannot be names.
    pub(super) fn open(path: &Path, delimiter: Option<char>, said: Header) -> Result<Self> {
        let delimiter = delimiter.map(checked).transpose()?;
        let mut records = Self {
            lines: Lines::open(path, delimiter)?,
            said,
            header: true,
            names: Vec::new(),
        };
        records.read_names()?;
        Ok(records)
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        self.lines.path()
    }

    /// The same file at its first row.
    pub(super) fn again(&self) -> Result<Self> {
        Self::open(
            self.path(),
            Some(char::from(self.lines.delimiter())),
            self.said,
        )
    }

    /// Errors unless there is a row, and stands before it.
    pub(super) fn require_row(&mut self) -> Result<()> {
        if self.header && !self.lines.find()? {
            return Err(Error::data(
                self.path(),
                "has no rows after the column names; add at least one",
            ));
        }
        self.rewind()
    }

    /// Back to the first row.
    pub(super) fn rewind(&mut self) -> Result<()> {
        self.lines.rewind()?;
        if self.header {
            self.lines.find()?;
        }
        Ok(())
    }

    /// Reads the next row; false at the end.
    pub(super) fn next(&mut self) -> Result<bool> {
        let more = self.find()?;
        if more {
            self.split();
        }
        Ok(more)
    }

    /// As [`Self::next`], but the fields of the row are told apart by [`Self::split`].
    pub(super) fn find(&mut self) -> Result<bool> {
        self.lines.find()
    }

    /// Tells the fields of the row apart.
    pub(super) fn split(&mut self) {
        self.lines.split();
    }

    /// Reads the numbers of the row, which [`Self::find`] found, in one go; false if it has to be
    /// read field by field.
    pub(super) fn take(
        &self,
        decimals: &mut Decimals,
        slots: &[Slot],
        rows: (&mut [f64], &mut [f64]),
    ) -> bool {
        (self.lines.plain())
            .is_some_and(|text| decimals.take(text, self.lines.delimiter(), slots, rows))
    }

    /// Field `j` of the row.
    pub(super) fn field(&self, j: usize) -> &[u8] {
        self.lines.field(j)
    }

    /// Errors unless the row has a field under each name.
    pub(super) fn require_fields(&self) -> Result<()> {
        let count = self.lines.len();
        if count == self.names.len() {
            return Ok(());
        }
        let kept = count.min(FIELDS);
        let hint = if (0..kept).any(|j| self.field(j).contains(&b'\n')) {
            " (is a quote left open?)"
        } else {
            ""
        };
        Err(self.problem(format!(
            "has {count} fields, but the first row has {}{hint}; give every row the same columns",
            self.names.len()
        )))
    }

    fn read_names(&mut self) -> Result<()> {
        if !self.next()? {
            return Err(Error::data(
                self.path(),
                "is empty; its first line must hold the column names",
            ));
        }
        let count = self.lines.len();
        if count > FIELDS {
            let problem = format!(
                "has {count} columns, and {FIELDS} can be read; is it a table of samples in rows?"
            );
            return Err(Error::data(self.path(), problem));
        }
        let mut names = Vec::with_capacity(count);
        for j in 0..count {
            let name = std::str::from_utf8(self.field(j)).map_err(|_| {
                Error::data(
                    self.path(),
                    format!("the name of column {j} is not UTF-8 text; save the file as UTF-8"),
                )
            })?;
            names.push(name.trim().to_owned());
        }
        let counts = names.len() >= 4
            && names
                .iter()
                .enumerate()
                .all(|(j, name)| *name == j.to_string());
        self.header = match self.said {
            Header::Auto => counts || !names.iter().all(|name| name.parse::<f64>().is_ok()),
            said => said == Header::Yes,
        };
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
        self.lines.problem(&what)
    }

    /// The line on which the row begins, the first of the file being 1.
    pub(super) fn line(&self) -> u64 {
        self.lines.number()
    }
}

/// A delimiter of one byte that is none of a number's and ends no line.
fn checked(delimiter: char) -> Result<u8> {
    match u8::try_from(delimiter) {
        Ok(byte)
            if byte.is_ascii()
                && !byte.is_ascii_alphanumeric()
                && !b"\"\r\n+-.".contains(&byte) =>
        {
            Ok(byte)
        }
        _ => Err(Error::parameter(format!(
            "{delimiter:?} cannot separate columns; take one character of ASCII that numbers do not \
             have, such as a comma or a tab"
        ))),
    }
}
