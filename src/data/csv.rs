//! .csv files as a source, streamed.

use super::choice::ColumnChoice;
use super::open::{open_file, shortened};
use super::rows::EXACT;
use super::{Chunk, ChunkSource, Rows, require_rows};
use crate::error::{Error, Result};
use ::csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use ndarray::Array2;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek};
use std::path::{Path, PathBuf};

/// Which columns of a [`CsvSource`] are targets.
#[derive(Debug, Clone, Default)]
pub struct CsvOptions {
    /// Their names, in the order in which a chunk's `y` has them. Empty: every column is a feature.
    pub target: Vec<String>,
    /// Whether they must be there.
    pub target_use: TargetUse,
    /// Which of the others are features.
    pub columns: ColumnChoice,
}

/// What becomes of target columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TargetUse {
    /// Read; a missing one is an error. For fitting and scoring.
    #[default]
    Required,
    /// Read if all are there. If some are missing, the others are left out and there are no
    /// targets.
    IfPresent,
    /// Left out, unread, wherever they are there. For predicting on rows that may or may not be
    /// labelled.
    Ignored,
}

/// A comma-separated file with one row per sample.
///
/// The first row holds the column names. Only if all its fields are numbers is it data, and the
/// columns are then named "0", "1" and so on; a first row of at least four fields that counts 0, 1,
/// 2, ... is again one of names, which is what pandas writes for unnamed columns. A column with an
/// empty name is called by its index.
///
/// Fields may be quoted, and white space around them does not count. Every field but those of
/// ignored targets and of columns left out must be a finite number: text, empty and missing values
/// are errors with the line (the file's first is 1) and the column's name. Features are f64: a
/// warning names the first whole number that it rounds, which in a target is an error.
#[derive(Debug)]
pub struct CsvSource {
    path: PathBuf,
    file: File,
    reader: Reader<File>,
    record: ByteRecord,
    header: bool,
    names: Vec<String>,
    features: Vec<usize>,
    targets: Vec<usize>,
    /// Rows of the last chunk: what the next one reserves.
    expected: usize,
    /// Whether a rounded feature was warned of.
    warned: bool,
}

impl CsvSource {
    /// Opens `path`, reads its first row and finds the targets.
    ///
    /// Errors with [`Error::Io`] if the file cannot be opened, with [`Error::Parameter`] if a
    /// target is named twice, and with [`Error::Data`] if the file is empty or has no row after the
    /// names, a required target is not there or not unique, or no feature column is left. What a
    /// row holds is checked when its chunk is read.
    pub fn open(path: impl AsRef<Path>, options: CsvOptions) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let file = open_file(&path)?;
        let reader = read_from_start(&path, &file)?;
        let mut source = Self {
            path,
            file,
            reader,
            record: ByteRecord::new(),
            header: true,
            names: Vec::new(),
            features: Vec::new(),
            targets: Vec::new(),
            expected: 0,
            warned: false,
        };
        source.read_names()?;
        source.choose(&options)?;
        if source.header && !source.read_record()? {
            return Err(Error::data(
                &source.path,
                "has no rows after the column names; add at least one",
            ));
        }
        source.rewind()?;
        Ok(source)
    }

    /// The names of the feature columns, in order.
    pub fn feature_names(&self) -> Vec<&str> {
        self.features.iter().map(|&j| &*self.names[j]).collect()
    }

    /// The names of the target columns, in the order of the chunks' `y`.
    pub fn target_names(&self) -> Vec<&str> {
        self.targets.iter().map(|&j| &*self.names[j]).collect()
    }

    fn read_names(&mut self) -> Result<()> {
        if !self.read_record()? {
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

    /// Tells features and targets apart.
    fn choose(&mut self, options: &CsvOptions) -> Result<()> {
        let mut found = Vec::new();
        let mut missing = false;
        for (k, target) in options.target.iter().enumerate() {
            let target = target.trim();
            if options.target[..k]
                .iter()
                .any(|other| other.trim() == target)
            {
                return Err(Error::parameter(format!(
                    "target column {target:?} is named twice; name it once"
                )));
            }
            let mut columns = (0..self.names.len()).filter(|&j| self.names[j] == target);
            match (columns.next(), columns.next()) {
                (Some(j), None) => found.push(j),
                (Some(_), Some(_)) => {
                    let problem = format!(
                        "has several columns called {target:?}; give the target a name of its own"
                    );
                    return Err(Error::data(&self.path, problem));
                }
                (None, _) if options.target_use == TargetUse::Required => {
                    let shown: Vec<_> = self.names.iter().map(|name| short(name)).collect();
                    let problem = format!(
                        "has no column {:?} for the target; its columns are {}",
                        target,
                        shortened(&shown)
                    );
                    return Err(Error::data(&self.path, problem));
                }
                (None, _) => missing = true,
            }
        }
        self.features = options.columns.among(&self.names, &found, &self.path)?;
        if self.features.is_empty() {
            let problem = match options.columns {
                ColumnChoice::AllBut(_) => "has no column left; leave out fewer",
                _ => "has only target columns; at least one column of features is needed",
            };
            return Err(Error::data(&self.path, problem));
        }
        if !missing && options.target_use != TargetUse::Ignored {
            self.targets = found;
        }
        Ok(())
    }

    /// Reads the next row into `self.record`; false at the end.
    fn read_record(&mut self) -> Result<bool> {
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

    /// Appends the chosen columns of `self.record` to `x` and `y`.
    fn take_record(&mut self, x: &mut Vec<f64>, y: &mut Vec<f64>) -> Result<()> {
        if self.record.len() != self.names.len() {
            let hint = if self.record.iter().any(|field| field.contains(&b'\n')) {
                " (is a quote left open?)"
            } else {
                ""
            };
            return Err(self.problem(format!(
                "has {} fields, but the first row has {}{hint}; give every row the same columns",
                self.record.len(),
                self.names.len()
            )));
        }
        let of_column = |j: usize, says: &str| {
            self.problem(format!(", column {}: {says}", short(&self.names[j])))
        };
        let mut rounded = None;
        for (columns, out) in [(&self.features, x), (&self.targets, y)] {
            for &j in columns {
                let (value, exact) =
                    number(&self.record[j]).map_err(|problem| of_column(j, &problem))?;
                out.push(value);
                if exact {
                    continue;
                }
                if self.targets.contains(&j) {
                    // Two labels could become one.
                    let says = "is a whole number beyond 2^53, which f64 cannot hold exactly; \
                                renumber the targets";
                    return Err(of_column(j, says));
                }
                rounded = rounded.or(Some(j));
            }
        }
        if let Some(j) = rounded.filter(|_| !self.warned) {
            let says = "is a whole number beyond 2^53, of which f64 keeps 15 digits; subtract an \
                        offset before saving if the last ones matter";
            log::warn!("{}", of_column(j, says));
            self.warned = true;
        }
        Ok(())
    }

    /// `what` reads on from the line of the current record.
    fn problem(&self, what: String) -> Error {
        let line = self.record.position().map_or(0, |position| {
            line_at(&self.path, position.byte()).unwrap_or_else(|_| position.line())
        });
        let gap = if what.starts_with(',') { "" } else { " " };
        Error::data(&self.path, format!("line {line}{gap}{what}"))
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
        let names = self.features.iter().map(|&j| self.names[j].clone());
        Some(names.collect())
    }
    fn target_names(&self) -> Option<Vec<String>> {
        let names = self.targets.iter().map(|&j| self.names[j].clone());
        Some(names.collect())
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        require_rows(max_rows)?;
        let expected = self.expected.min(max_rows);
        let mut x = Vec::with_capacity(expected * self.features.len());
        let mut y = Vec::with_capacity(expected * self.targets.len());
        let mut rows = 0;
        while rows < max_rows && self.read_record()? {
            self.take_record(&mut x, &mut y)?;
            rows += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        self.expected = rows;
        let array = |values, columns| {
            Array2::from_shape_vec((rows, columns), values)
                .map_err(|error| Error::data(&self.path, error.to_string()))
        };
        Ok(Some(Chunk {
            x: Rows::F64(array(x, self.features.len())?),
            y: array(y, self.targets.len())?,
            weights: None,
        }))
    }
    fn rewind(&mut self) -> Result<()> {
        self.reader = read_from_start(&self.path, &self.file)?;
        if self.header {
            self.read_record()?;
        }
        Ok(())
    }
    fn is_checked(&self) -> bool {
        true
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

/// The finite number that a field holds, and whether it is no whole number that f64 had to round;
/// otherwise what is wrong and what to do.
fn number(field: &[u8]) -> std::result::Result<(f64, bool), String> {
    let text = match std::str::from_utf8(field) {
        Ok(text) => text.trim(),
        Err(_) => return Err("is not UTF-8 text; write it as a number".into()),
    };
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((value, value.abs() < EXACT || is_exact(text, value))),
        Ok(value) => {
            let value = if value.is_nan() { "NaN" } else { "infinite" };
            Err(format!(
                "is {value}; remove the row or fill in a finite value"
            ))
        }
        Err(_) if text.is_empty() => Err("is empty; remove the row or fill in a value".into()),
        Err(_) => Err(format!(
            "holds the text {}; encode it as a number or remove it",
            short(text)
        )),
    }
}

/// Whether `value` is `text`, if that is a whole number written without a point or an exponent.
fn is_exact(text: &str, value: f64) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return true;
    }
    // What i128 does not hold has more digits than anything that is counted.
    text.parse::<i128>()
        .is_ok_and(|whole| value as i128 == whole)
}

/// `text` quoted, on one line, and not long.
fn short(text: &str) -> String {
    const SHOWN: usize = 40;
    if text.chars().count() <= SHOWN {
        return format!("{text:?}");
    }
    format!("{:?}...", text.chars().take(SHOWN).collect::<String>())
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
