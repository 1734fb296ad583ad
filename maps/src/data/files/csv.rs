//! .csv files as a source, streamed.

mod cells;
mod decimal;
mod delimiter;
mod head;
mod header;
mod layout;
mod lines;
mod number;
mod record;
mod records;
mod titles;

pub use self::cells::CsvTable;
pub(in crate::data) use self::decimal::Decimals;
pub use self::header::Header;
pub use self::layout::Layout;
pub(in crate::data) use self::lines::Lines;
pub(in crate::data) use self::number::{BEYOND, ROUNDED, number};

use self::decimal::Slot;
use self::number::Wrong;
use self::records::Records;
use super::choice::{self, ColumnChoice, TargetUse};
use super::schema::fill_note;
use super::table::short;
use super::{Chunk, ChunkSource, Rows, require_rows};
use crate::error::{Error, Result};
use ndarray::Array2;
use std::path::Path;

/// Which columns of a [`CsvSource`] are targets.
#[derive(Debug, Clone, Default)]
pub struct CsvOptions {
    /// Their names, in the order in which a chunk's `y` has them. Empty: every column is a feature.
    pub target: Vec<String>,
    /// Whether they must be there.
    pub target_use: TargetUse,
    /// Which of the others are features.
    pub columns: ColumnChoice,
    /// How the file is laid out.
    pub layout: Layout,
}

/// A file of separated columns with one row per sample: comma-separated, tab-separated and the
/// like, plain or compressed by gzip or Zstandard, which its first bytes tell.
///
/// The first row holds the column names. Only if all its fields are numbers is it data, and the
/// columns are then named "0", "1" and so on; a first row of at least four fields that counts 0, 1,
/// 2, ... is again one of names, which is what pandas writes for unnamed columns. A column with an
/// empty name is called by its index.
///
/// What stands in front of that row, and how characters are written, is found as [`Layout`] says.
///
/// Fields may be quoted, and white space around them does not count. Every field but those of
/// ignored targets and of columns left out must be a finite number: text, empty and missing values
/// are errors with the line (the file's first is 1) and the column's name. Features are f64: a
/// warning names the first whole number that it rounds, which in a target is an error.
#[derive(Debug)]
pub struct CsvSource {
    records: Records,
    /// Where the numbers of each column go.
    slots: Vec<Slot>,
    decimals: Decimals,
    features: Vec<usize>,
    targets: Vec<usize>,
    /// Rows of the last chunk: what the next one reserves.
    expected: usize,
    /// Fill value of each feature column.
    means: Option<Vec<f64>>,
    /// Whether notes on a rounded and on a missing feature were logged.
    warned: [bool; 2],
}

impl CsvSource {
    /// Opens `path`, reads its first row and finds the targets.
    ///
    /// Errors with [`Error::Io`] if the file cannot be opened, with [`Error::Parameter`] if a
    /// target is named twice or the delimiter is none, and with [`Error::Data`] if the file is
    /// empty or has no row after the names, a required target is not there or not unique, or no
    /// feature column is left. What a row holds is checked when its chunk is read.
    pub fn open(path: impl AsRef<Path>, options: CsvOptions) -> Result<Self> {
        let mut source = Self::open_quietly(path, options)?;
        source.records.say();
        Ok(source)
    }

    /// As [`Self::open`], where another reader of the file says what was found of it.
    pub(in crate::data) fn open_quietly(
        path: impl AsRef<Path>,
        options: CsvOptions,
    ) -> Result<Self> {
        let mut source = Self {
            records: Records::open(path.as_ref(), &options.layout)?,
            slots: Vec::new(),
            decimals: Decimals::default(),
            features: Vec::new(),
            targets: Vec::new(),
            expected: 0,
            means: None,
            warned: [false; 2],
        };
        source.choose(&options)?;
        source.slots = vec![Slot::Skipped; source.records.names.len()];
        for (k, &j) in source.features.iter().enumerate() {
            source.slots[j] = Slot::Feature(k);
        }
        for (k, &j) in source.targets.iter().enumerate() {
            source.slots[j] = Slot::Target(k);
        }
        source.records.require_row()?;
        Ok(source)
    }

    /// The names of the feature columns, in order.
    pub fn feature_names(&self) -> Vec<&str> {
        self.features
            .iter()
            .map(|&j| &*self.records.names[j])
            .collect()
    }

    /// The names of the target columns, in the order of the chunks' `y`.
    pub fn target_names(&self) -> Vec<&str> {
        self.targets
            .iter()
            .map(|&j| &*self.records.names[j])
            .collect()
    }

    /// Sets the fill value of each feature column.
    pub(in crate::data) fn set_fill_values(&mut self, means: &[f64]) {
        self.means = Some(means.to_vec()).filter(|means| means.len() == self.features.len());
    }

    /// Tells features and targets apart.
    fn choose(&mut self, options: &CsvOptions) -> Result<()> {
        let (names, path) = (&self.records.names, self.records.path());
        let found = choice::targets(&options.target, options.target_use, names, path)?;
        let missing = found.len() < options.target.len();
        self.features = options.columns.features(names, &found, path)?;
        if !missing && options.target_use != TargetUse::Ignored {
            self.targets = found;
        }
        Ok(())
    }

    /// Writes the chosen columns of the record to `x` and `y`, field by field.
    fn take_record(&mut self, x: &mut [f64], y: &mut [f64]) -> Result<()> {
        self.records.split();
        let records = &self.records;
        records.require_fields()?;
        let of_column = |j: usize, says: &str| {
            records.problem(format!(", column {}: {says}", short(&records.names[j])))
        };
        let (mut rounded, mut filled) = (None, None);
        for (k, (columns, out)) in [(&self.features, x), (&self.targets, y)]
            .into_iter()
            .enumerate()
        {
            for (i, (&j, out)) in columns.iter().zip(out).enumerate() {
                let mean = self.means.as_ref().filter(|_| k == 0).map(|means| means[i]);
                let (value, exact) = match (number(records.field(j)), mean) {
                    (Err(Wrong::Missing(says)), Some(mean)) => {
                        filled = filled.or(Some((j, says)));
                        (mean, true)
                    }
                    (found, _) => {
                        found.map_err(|wrong| wrong.error(k == 0, |says| of_column(j, says)))?
                    }
                };
                *out = value;
                if exact {
                    continue;
                }
                if self.targets.contains(&j) {
                    return Err(of_column(j, BEYOND));
                }
                rounded = rounded.or(Some(j));
            }
        }
        let [warned_rounded, warned_filled] = &mut self.warned;
        if let Some(j) = rounded.filter(|_| !*warned_rounded) {
            log::warn!("{}", of_column(j, ROUNDED));
            *warned_rounded = true;
        }
        if let Some((j, says)) = filled.filter(|_| !*warned_filled) {
            log::warn!("{}", of_column(j, &fill_note(&says)));
            *warned_filled = true;
        }
        Ok(())
    }
}

impl ChunkSource for CsvSource {
    fn columns(&self) -> usize {
        self.features.len()
    }
    fn targets(&self) -> usize {
        self.targets.len()
    }
    fn rows(&self) -> Option<usize> {
        None
    }
    fn column_names(&self) -> Option<Vec<String>> {
        let names = self.features.iter().map(|&j| self.records.names[j].clone());
        Some(names.collect())
    }
    fn target_names(&self) -> Option<Vec<String>> {
        let names = self.targets.iter().map(|&j| self.records.names[j].clone());
        Some(names.collect())
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        require_rows(max_rows)?;
        let expected = self.expected.min(max_rows);
        let mut x = Vec::with_capacity(expected * self.features.len());
        let mut y = Vec::with_capacity(expected * self.targets.len());
        let mut rows = 0;
        let (features, targets) = (self.features.len(), self.targets.len());
        while rows < max_rows && self.records.find()? {
            x.resize((rows + 1) * features, 0.0);
            y.resize((rows + 1) * targets, 0.0);
            let (x, y) = (&mut x[rows * features..], &mut y[rows * targets..]);
            let plain = self
                .records
                .take(&mut self.decimals, &self.slots, (&mut *x, &mut *y));
            if !plain {
                self.take_record(x, y)?;
            }
            rows += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        self.expected = rows;
        let array = |values, columns| {
            Array2::from_shape_vec((rows, columns), values)
                .map_err(|error| Error::data(self.records.path(), error.to_string()))
        };
        Ok(Some(Chunk {
            x: Rows::F64(array(x, self.features.len())?),
            y: array(y, self.targets.len())?,
            weights: None,
        }))
    }
    fn rewind(&mut self) -> Result<()> {
        self.records.rewind()
    }
    fn is_checked(&self) -> bool {
        true
    }
}
