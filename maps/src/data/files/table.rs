//! Files of named columns of several types, read in batches.

use super::{CsvWriter, schema::date_text};
use crate::error::{Error, Remedy, Result};
use std::path::Path;

/// A file of named columns, each of numbers, text or truth values, which may miss some.
///
/// A [`ChunkSource`](super::ChunkSource) has numbers alone; how the columns of a table become
/// numbers, a [`CsvTable`](super::CsvTable) being one, is decided above it. Rows are counted from 0
/// within the file, columns by their place among [`Self::names`].
///
/// ```
/// use bochner::data::{Column, CsvTable, Table};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("flats.csv");
/// std::fs::write(&path, "size,city\n50,Bern\n,Basel\n").unwrap();
/// let mut flats = CsvTable::open(&path)?;
/// assert_eq!(flats.names(), ["size", "city"]);
/// flats.select(&[1])?;
/// let batch = flats.next_batch(100)?.expect("two rows");
/// let Column::Text(cities) = &batch.columns[0] else { panic!("text") };
/// assert_eq!(cities.iter().collect::<Vec<_>>(), [Some("Bern"), Some("Basel")]);
/// assert_eq!(flats.place(1, 0), "line 3, column \"size\"");
/// # Ok::<(), bochner::Error>(())
/// ```
pub trait Table: Send {
    /// The file, as messages name it.
    fn path(&self) -> &Path;
    /// The names of all columns, in the order of the file. A column without a name is called by its
    /// place, counted from 0.
    fn names(&self) -> &[String];
    /// Whether columns have types. If not, all are text, and what is text may stand for a number, a
    /// truth value or nothing.
    fn is_typed(&self) -> bool {
        true
    }
    /// Number of rows where it is known without reading.
    fn rows(&self) -> Option<usize> {
        None
    }
    /// The names of the columns that a column of lists became, which the file calls so.
    fn parts(&self, name: &str) -> Option<Vec<String>> {
        let _ = name;
        None
    }
    /// What helps where no column has this name, if the file shows it.
    fn remedy(&self, name: &str) -> Option<Remedy> {
        let _ = name;
        None
    }
    /// Whether the file is one in which a comma between digits stands before a fraction where it
    /// may do so, for semicolons separate its columns.
    fn has_decimal_commas(&self) -> bool {
        false
    }
    /// Which columns the batches hold from now on, in this order; all, until said otherwise. The
    /// table is at its first row again.
    ///
    /// Errors with [`Error::Parameter`] on a column that there is not, and as [`Self::rewind`]
    /// does.
    fn select(&mut self, columns: &[usize]) -> Result<()>;
    /// The next at most `max_rows` rows; `None` at the end. Never an empty batch;
    /// [`Error::Parameter`] for `max_rows` = 0.
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>>;
    /// Back to the first row.
    fn rewind(&mut self) -> Result<()>;
    /// The number that a row has in its own file, where several are one table.
    fn row_in_file(&self, row: u64) -> u64 {
        row
    }
    /// Where a value stands, for messages: by row and column, where files have no lines. It may
    /// read the file again, apart from what batches read.
    fn place(&self, row: u64, column: usize) -> String {
        let name = self.names().get(column).map_or("", String::as_str);
        format!("row {row} (counted from 0), column {}", short(name))
    }
    /// The error about the value at [`Self::place`], which `says` what is wrong with it.
    fn fault(&self, row: u64, column: usize, says: &str) -> Error {
        Error::data(self.path(), format!("{}: {says}", self.place(row, column)))
    }
}

/// Consecutive rows of a [`Table`], column by column.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// Number of rows, at least one.
    pub rows: usize,
    /// The selected columns, in their order, each of so many rows.
    pub columns: Vec<Column>,
}

/// One column of a [`Batch`]. A table of types has the same type in every batch, but for whole
/// numbers that f64 does not hold: a batch with such is text.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Numbers; NaN where one is missing.
    Numbers(Vec<f64>),
    /// Dates and times: days since 1970-01-01; NaN where one is missing.
    Dates(Vec<f64>),
    /// Truth values; `None` where one is missing.
    Booleans(Vec<Option<bool>>),
    /// Text.
    Text(Texts),
}

impl Column {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) | Self::Dates(values) => values.len(),
            Self::Booleans(values) => values.len(),
            Self::Text(texts) => texts.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its values as the cells of a .csv, dates by ISO 8601; what is missing is an empty one.
    ///
    /// ```
    /// use bochner::data::Column;
    /// assert_eq!(Column::Numbers(vec![0.5, f64::NAN]).cells(), ["0.5", ""]);
    /// assert_eq!(Column::Dates(vec![1.5]).cells(), ["1970-01-02T12:00:00"]);
    /// ```
    pub fn cells(&self) -> Vec<String> {
        let of = |values: &[f64], text: &dyn Fn(f64) -> String| {
            let cell = |&value: &f64| {
                if value.is_nan() {
                    String::new()
                } else {
                    text(value)
                }
            };
            values.iter().map(cell).collect()
        };
        match self {
            Self::Numbers(values) => of(values, &CsvWriter::number),
            Self::Dates(values) => of(values, &date_text),
            Self::Booleans(values) => {
                let cell = |value: &Option<bool>| value.map_or_else(String::new, |v| v.to_string());
                values.iter().map(cell).collect()
            }
            Self::Text(texts) => {
                let cell = |text: Option<&str>| CsvWriter::quoted(text.unwrap_or("")).into_owned();
                texts.iter().map(cell).collect()
            }
        }
    }
}

/// Pieces of text in one allocation, some of which may be missing.
///
/// ```
/// use bochner::data::Texts;
/// let mut texts = Texts::default();
/// texts.push("a");
/// texts.push_missing();
/// texts.push("");
/// assert_eq!(texts.iter().collect::<Vec<_>>(), [Some("a"), None, Some("")]);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Texts {
    all: String,
    /// Where each ends in `all`.
    ends: Vec<usize>,
    /// Which are missing, ascending.
    missing: Vec<usize>,
}

impl Texts {
    /// Adds a piece of text.
    pub fn push(&mut self, text: &str) {
        self.all.push_str(text);
        self.ends.push(self.all.len());
    }

    /// Adds the place of one that is missing.
    pub fn push_missing(&mut self) {
        self.missing.push(self.ends.len());
        self.ends.push(self.all.len());
    }

    /// How many there are, missing ones too.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All in order; `None` for those that are missing.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        let (mut start, mut missing) = (0, self.missing.iter().peekable());
        self.ends.iter().enumerate().map(move |(i, &end)| {
            let text = &self.all[start..end];
            start = end;
            missing
                .next_if(|&&gone| gone == i)
                .is_none()
                .then_some(text)
        })
    }
}

/// Errors unless every column is one of so many.
pub(in crate::data) fn require_columns(columns: &[usize], all: usize) -> Result<()> {
    match columns.iter().find(|&&j| j >= all) {
        None => Ok(()),
        Some(j) => Err(Error::parameter(format!(
            "column {j} is asked for of {all}, counted from 0"
        ))),
    }
}

/// `text` quoted, on one line, and not long.
pub(in crate::data) fn short(text: &str) -> String {
    const SHOWN: usize = 40;
    if text.chars().count() <= SHOWN {
        return format!("{text:?}");
    }
    format!("{:?}...", text.chars().take(SHOWN).collect::<String>())
}

/// A name as it is, or quoted where it has characters that are not seen: marks, zero-width ones.
pub(in crate::data) fn seen(name: &str) -> String {
    let quoted = format!("{name:?}");
    let is_plain = quoted[1..quoted.len() - 1] == *name;
    if is_plain { name.to_owned() } else { quoted }
}

/// The first few names, and how many follow.
pub(in crate::data) fn shortened(names: &[impl AsRef<str>]) -> String {
    const SHOWN: usize = 8;
    let mut text = names
        .iter()
        .take(SHOWN)
        .map(AsRef::as_ref)
        .collect::<Vec<_>>()
        .join(", ");
    if names.is_empty() {
        text.push_str("none");
    }
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}
