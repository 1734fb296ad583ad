//! .libsvm files: a label and the values of a row that are not zero, streamed.

use super::csv::{Decimals, Lines, number};
use super::rows::EXACT;
use super::table::short;
use super::{Chunk, ChunkSource, Rows, TargetUse, require_rows};
use crate::error::{Error, Result};
use ndarray::Array2;
use std::path::Path;

/// How a [`LibsvmSource`] reads its file.
#[derive(Debug, Clone, Default)]
pub struct LibsvmOptions {
    /// Number of feature columns, d. `None`: the largest index of the file.
    pub width: Option<usize>,
    /// Whether indices count from 0, and not from 1 as LIBSVM has it.
    pub zero_based: bool,
    /// Whether the labels are read.
    pub target_use: TargetUse,
}

/// A file of sparse rows as LIBSVM and SVMlight write it: a label and pairs of index and value,
/// `1 3:0.5 17:2`, one row a line; plain or compressed by gzip or Zstandard.
///
/// Indices ascend from 1; what is not there is 0. `qid:` and what follows a `#` are left out. Rows
/// are read in chunks that have their zeros, so memory is that of a chunk; how many rows and
/// columns there are, and that each line is right, is found by reading the file once when it is
/// opened.
///
/// ```
/// use bochner::data::{ChunkSource, LibsvmOptions, LibsvmSource, Rows};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("rows.svm");
/// std::fs::write(&path, "1 1:0.5 3:2\n-1 2:7 # a comment\n").unwrap();
/// let mut source = LibsvmSource::open(&path, LibsvmOptions::default())?;
/// let chunk = source.next_chunk(9)?.expect("two rows");
/// assert_eq!(chunk.x, Rows::F64(ndarray::array![[0.5, 0.0, 2.0], [0.0, 7.0, 0.0]]));
/// assert_eq!(chunk.y, ndarray::array![[1.0], [-1.0]]);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug)]
pub struct LibsvmSource {
    lines: Lines,
    decimals: Decimals,
    options: LibsvmOptions,
    columns: usize,
    targets: usize,
    rows: usize,
    next: usize,
}

pub(in crate::data) use crate::limits::SPARSE_COLUMNS as MOST;

impl LibsvmSource {
    /// Opens `path` and reads it once.
    ///
    /// Errors with [`Error::Io`] if the file cannot be read, and with [`Error::Data`] on a line
    /// that is none of this format, a value that is not finite, indices that do not ascend or lie
    /// beyond the width, more than 4,194,304 columns, no rows, and a label that is missing where
    /// it is required.
    pub fn open(path: impl AsRef<Path>, options: LibsvmOptions) -> Result<Self> {
        let mut source = Self {
            lines: Lines::open_unquoted(path.as_ref())?,
            decimals: Decimals::default(),
            columns: options.width.unwrap_or(MOST),
            options,
            targets: 1,
            rows: 0,
            next: 0,
        };
        if source.columns > MOST {
            return Err(Error::parameter(format!(
                "{} columns are asked for, and {MOST} can be read",
                source.columns
            )));
        }
        let (mut width, mut labelled) = (0, 0);
        let mut place = 0.0;
        while source.lines.find()? {
            let (label, last) = source.read(|_, value| place = value)?;
            if source.blank() {
                continue;
            }
            width = width.max(last.map_or(0, |j| j + 1));
            labelled += usize::from(label.is_some());
            source.rows += 1;
        }
        let fail = |problem: &str| Err(Error::data(source.lines.path(), problem));
        if source.rows == 0 {
            return fail("is empty; a line is a label and pairs of index:value");
        }
        if width == 0 && source.options.width.is_none() {
            return fail("has no values, only labels; a line is a label and pairs of index:value");
        }
        source.targets = match source.options.target_use {
            TargetUse::Ignored => 0,
            _ if labelled == source.rows => 1,
            TargetUse::IfPresent => 0,
            TargetUse::Required => {
                let problem = format!(
                    "has {} rows without a label; begin each line with one",
                    source.rows - labelled
                );
                return fail(&problem);
            }
        };
        source.columns = source.options.width.unwrap_or(width);
        source.rewind()?;
        Ok(source)
    }

    /// Whether the line holds nothing but blanks and a comment.
    fn blank(&self) -> bool {
        tokens(self.lines.plain()).next().is_none()
    }

    /// Reads the line: its label if it has one, its last column, and each value into `take`.
    fn read(&mut self, mut take: impl FnMut(usize, f64)) -> Result<(Option<f64>, Option<usize>)> {
        let (mut label, mut last) = (None, None);
        for (k, token) in tokens(self.lines.plain()).enumerate() {
            let wrong = |says: String| {
                let token = short(&String::from_utf8_lossy(token));
                self.lines.problem(&format!(", {token}: {says}"))
            };
            let Some(colon) = memchr::memchr(b':', token) else {
                if k > 0 {
                    return Err(wrong("is no index:value".into()));
                }
                if self.options.target_use != TargetUse::Ignored {
                    label = Some(self::label(token).map_err(wrong)?);
                }
                continue;
            };
            let (index, value) = (&token[..colon], &token[colon + 1..]);
            if index == b"qid" {
                continue;
            }
            let first = usize::from(!self.options.zero_based);
            let j = match whole(index) {
                Some(index) if index >= first => index - first,
                Some(_) => {
                    return Err(wrong(
                        "counts from 0, where LIBSVM counts from 1; say that the indices are \
                         zero-based if all of them are"
                            .into(),
                    ));
                }
                None => return Err(wrong("has no whole number as its index".into())),
            };
            if j >= self.columns {
                let columns = self.columns;
                return Err(wrong(match self.options.width {
                    Some(_) => format!("lies beyond the {columns} columns that are asked for"),
                    None => format!("lies beyond {columns} columns, which is what can be read"),
                }));
            }
            if last.is_some_and(|last| last >= j) {
                return Err(wrong(
                    "does not ascend; sort the indices of each row".into(),
                ));
            }
            last = Some(j);
            take(j, self.decimals.parse(value).map_err(wrong)?);
        }
        Ok((label, last))
    }
}

/// A label: a number that f64 holds exactly.
fn label(token: &[u8]) -> std::result::Result<f64, String> {
    if token.contains(&b',') {
        return Err("is several labels; one for each row can be read".into());
    }
    let (value, exact) = number(token).map_err(|wrong| wrong.to_string())?;
    if exact || value.abs() < EXACT {
        Ok(value)
    } else {
        Err(
            "is a whole number beyond 2^53, which f64 cannot hold exactly; renumber \
                      the targets"
                .into(),
        )
    }
}

/// What blanks separate, up to a comment.
fn tokens(line: Option<&[u8]>) -> impl Iterator<Item = &[u8]> {
    let line = line.unwrap_or_default();
    let end = memchr::memchr(b'#', line).unwrap_or(line.len());
    line[..end]
        .split(u8::is_ascii_whitespace)
        .filter(|token| !token.is_empty())
}

/// A whole number of digits alone.
fn whole(text: &[u8]) -> Option<usize> {
    let mut value = 0_usize;
    for digit in text {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value
            .checked_mul(10)?
            .checked_add(usize::from(digit - b'0'))?;
    }
    (!text.is_empty()).then_some(value)
}

impl ChunkSource for LibsvmSource {
    fn columns(&self) -> usize {
        self.columns
    }
    fn targets(&self) -> usize {
        self.targets
    }
    fn rows(&self) -> Option<usize> {
        Some(self.rows)
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        require_rows(max_rows)?;
        let wanted = max_rows.min(self.rows - self.next);
        let (mut x, mut y) = (Vec::new(), Vec::new());
        x.try_reserve_exact(wanted.saturating_mul(self.columns))
            .map_err(|_| {
                let columns = self.columns;
                let problem = format!(
                    "does not fit: a chunk of {wanted} rows x {columns} columns exceeds the \
                     memory; read fewer rows at a time"
                );
                Error::data(self.lines.path(), problem)
            })?;
        let mut rows = 0;
        while rows < wanted && self.lines.find()? {
            if self.blank() {
                continue;
            }
            let start = x.len();
            x.resize(start + self.columns, 0.0);
            let (label, _) = self.read(|j, value| x[start + j] = value)?;
            if self.targets == 1 {
                y.extend(label);
            }
            rows += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        self.next += rows;
        let fail = |error: ndarray::ShapeError| Error::data(self.lines.path(), error.to_string());
        Ok(Some(Chunk {
            x: Rows::F64(Array2::from_shape_vec((rows, self.columns), x).map_err(fail)?),
            y: Array2::from_shape_vec((rows, self.targets), y).map_err(fail)?,
            weights: None,
        }))
    }
    fn rewind(&mut self) -> Result<()> {
        self.next = 0;
        self.lines.rewind()
    }
    fn is_checked(&self) -> bool {
        true
    }
}
