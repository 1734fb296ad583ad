//! Rows with a value that is missing or not finite, left out.

mod table;

pub(in crate::data) use self::table::GaplessTable;

use super::rows::not_finite;
use super::{Chunk, ChunkSource, Rows};
use crate::error::{Error, Result};
use crate::text::counted;
use ndarray::{Array2, ArrayView1, Axis};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// What becomes of rows in which a value is missing (where nothing stands for it,
/// [`Missing`](super::Missing)), NaN or infinite.
#[derive(Debug, Clone, Default)]
pub enum NanRows {
    /// The first is an error with its place.
    #[default]
    Error,
    /// They are left out, and counted here.
    Drop(Gaps),
    /// Those whose targets are so are left out, and counted here; the first feature is an error.
    DropWithoutTarget(Gaps),
}

impl FromStr for NanRows {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "error" => Ok(Self::Error),
            "drop" => Ok(Self::Drop(Gaps::default())),
            _ => Err(Error::parameter(format!("{text:?} is none of error, drop"))),
        }
    }
}

impl fmt::Display for NanRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Drop(_) => "drop",
            Self::DropWithoutTarget(_) => "drop without target",
        })
    }
}

impl NanRows {
    /// Where rows that are left out are counted.
    #[doc(hidden)]
    pub fn gaps(&self) -> Option<&Gaps> {
        match self {
            Self::Error => None,
            Self::Drop(gaps) | Self::DropWithoutTarget(gaps) => Some(gaps),
        }
    }

    /// Whether targets alone have a row left out.
    pub(in crate::data) fn is_of_targets(&self) -> bool {
        matches!(self, Self::DropWithoutTarget(_))
    }
}

/// How many rows were left out, of all sources that were opened with it, and which.
///
/// ```
/// use bochner::data::{Gaps, NanRows, NpyWriter, OpenOptions, open};
/// let folder = tempfile::tempdir().expect("a folder");
/// let path = folder.path().join("x.npy");
/// let mut writer = NpyWriter::<f64>::create(&path, 1)?;
/// writer.write_rows(ndarray::array![[1.0], [f64::NAN], [3.0]].view())?;
/// writer.finish()?;
/// let gaps = Gaps::default();
/// let nan = NanRows::Drop(gaps.clone());
/// let mut source = open(&path, &OpenOptions { nan, ..OpenOptions::default() })?;
/// let chunk = source.next_chunk(10)?.expect("two rows");
/// assert_eq!((chunk.x.nrows(), gaps.dropped()), (2, 1));
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[doc(hidden)]
pub struct Gaps(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// Of each file the most that one pass left out.
    files: BTreeMap<PathBuf, u64>,
    /// Files of which that was told.
    told: BTreeSet<PathBuf>,
    /// Whether it is kept which.
    listed: bool,
    /// Whether a file may have no row left.
    may_be_empty: bool,
    /// Rows read so far, those left out among them.
    at: u64,
    /// Those left out that nobody has asked for yet, ascending.
    rows: VecDeque<u64>,
}

impl Gaps {
    /// One that also knows which rows were left out, until [`Self::take`] asks for them: for one
    /// pass of one source.
    pub fn listed() -> Self {
        let gaps = Self::default();
        gaps.state().listed = true;
        gaps.allow_empty();
        gaps
    }

    /// Lets a file have no row left: what is written has the places of those that were left out, or
    /// the file is one of several.
    pub(in crate::data) fn allow_empty(&self) {
        self.state().may_be_empty = true;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rows left out, of every file in the pass that left out most.
    pub fn dropped(&self) -> u64 {
        self.state().files.values().sum()
    }

    /// Whether row `row`, counted from 0 with those left out, is one of these; asked of each in
    /// order, once.
    pub fn take(&self, row: u64) -> bool {
        let mut state = self.state();
        let is_next = state.rows.front() == Some(&row);
        if is_next {
            state.rows.pop_front();
        }
        is_next
    }

    /// The rows of some that are kept, by their number; counts the others.
    fn kept(&self, pass: &mut Pass, good: impl Iterator<Item = bool>) -> Vec<usize> {
        let mut state = self.state();
        let mut kept = Vec::new();
        for (i, good) in good.enumerate() {
            if good {
                kept.push(i)
            } else {
                pass.dropped += 1;
                if state.listed {
                    let row = state.at;
                    state.rows.push_back(row);
                }
            }
            pass.read += 1;
            state.at += 1;
        }
        let most = state.files.entry(pass.path.clone()).or_default();
        *most = (*most).max(pass.dropped);
        kept
    }

    /// A pass came to its end. Errors where no row is left and one has to: `why` says what they
    /// miss. Rows that were left out for their targets are told of, once a file.
    fn end(&self, pass: &Pass, of_targets: bool, why: impl FnOnce() -> String) -> Result<()> {
        let mut state = self.state();
        if pass.dropped == 0 {
            return Ok(());
        }
        if pass.dropped == pass.read && !state.may_be_empty {
            return Err(Error::data(&pass.path, why()));
        }
        if of_targets && state.told.insert(pass.path.clone()) {
            let (path, rows) = (pass.path.display(), counted(pass.dropped as usize, "row"));
            log::warn!("{path}: {rows} without a target left out");
        }
        Ok(())
    }

    /// A pass begins again.
    fn rewind(&self, pass: &mut Pass) {
        let mut state = self.state();
        state.at = state.at.saturating_sub(pass.read);
        let at = state.at;
        state.rows.retain(|&row| row < at);
        (pass.read, pass.dropped) = (0, 0);
    }
}

/// What is said where no row is left.
const NONE_LEFT: &str = "every row misses a value or holds one that is not finite, so that none is \
                         left";

/// One pass over a file.
#[derive(Debug)]
struct Pass {
    path: PathBuf,
    read: u64,
    dropped: u64,
}

impl Pass {
    fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            read: 0,
            dropped: 0,
        }
    }
}

/// A source of numbers without the rows that hold others than finite ones, in any column or in a
/// target.
#[derive(Debug)]
pub(in crate::data) struct GaplessSource<S> {
    inner: S,
    gaps: Gaps,
    of_targets: bool,
    pass: Pass,
}

impl<S: ChunkSource> GaplessSource<S> {
    /// Of a source that does not refuse them.
    pub(in crate::data) fn new(inner: S, path: &Path, gaps: &Gaps, of_targets: bool) -> Self {
        Self {
            inner,
            gaps: gaps.clone(),
            of_targets,
            pass: Pass::new(path),
        }
    }

    /// Errors at the first feature of a row with targets that is not finite.
    fn require_features(&self, chunk: &Chunk, kept: &[usize]) -> Result<()> {
        let first = self.pass.read as usize - chunk.x.nrows();
        match chunk.x.select(kept).first_non_finite() {
            None => Ok(()),
            Some((i, j, value)) => Err(not_finite(&self.pass.path, "", first + kept[i], j, value)),
        }
    }
}

impl<S: ChunkSource> ChunkSource for GaplessSource<S> {
    fn columns(&self) -> usize {
        self.inner.columns()
    }
    fn targets(&self) -> usize {
        self.inner.targets()
    }
    /// Not known before they were read.
    fn rows(&self) -> Option<usize> {
        None
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        while let Some(chunk) = self.inner.next_chunk(max_rows)? {
            let rows = chunk.x.nrows();
            let good = |i: usize| {
                let x = || match &chunk.x {
                    Rows::F32(x) => x.row(i).iter().all(|v| v.is_finite()),
                    Rows::F64(x) => finite(x.row(i)),
                };
                (self.of_targets || x()) && finite(chunk.y.row(i))
            };
            let kept = self.gaps.kept(&mut self.pass, (0..rows).map(good));
            if self.of_targets {
                self.require_features(&chunk, &kept)?;
            }
            if kept.len() == rows {
                return Ok(Some(chunk));
            }
            if !kept.is_empty() {
                return Ok(Some(Chunk {
                    x: match &chunk.x {
                        Rows::F32(x) => Rows::F32(x.select(Axis(0), &kept)),
                        Rows::F64(x) => Rows::F64(x.select(Axis(0), &kept)),
                    },
                    y: chunk.y.select(Axis(0), &kept),
                    weights: chunk.weights.map(|w| w.select(Axis(0), &kept)),
                }));
            }
        }
        let why = || {
            if self.of_targets {
                "no row has a target".to_owned()
            } else {
                NONE_LEFT.to_owned()
            }
        };
        self.gaps.end(&self.pass, self.of_targets, why)?;
        Ok(None)
    }
    fn rewind(&mut self) -> Result<()> {
        self.gaps.rewind(&mut self.pass);
        self.inner.rewind()
    }
    fn is_checked(&self) -> bool {
        true
    }
}

fn finite(row: ArrayView1<'_, f64>) -> bool {
    row.iter().all(|v| v.is_finite())
}

/// Puts rows back to where they were among those that were left out, which are NaN: what is
/// written stays beside the rows of the file.
#[derive(Debug)]
#[doc(hidden)]
pub struct Refill {
    gaps: Option<Gaps>,
    /// Rows that went out.
    row: u64,
}

impl Refill {
    /// Of the rows that a source [left out](Gaps::listed); without any, nothing changes.
    pub fn new(gaps: Option<Gaps>) -> Self {
        Self { gaps, row: 0 }
    }

    /// Which of the next `rows` rows goes where, `None` for a row that was left out; all in their
    /// order where none was.
    pub fn places(&mut self, rows: usize) -> Option<Vec<Option<usize>>> {
        let gaps = self.gaps.as_ref()?;
        let mut places = Vec::with_capacity(rows);
        for i in 0..rows {
            while gaps.take(self.row) {
                places.push(None);
                self.row += 1;
            }
            places.push(Some(i));
            self.row += 1;
        }
        Some(places)
    }

    /// As [`Self::places`], of those that were left out behind the last row.
    pub fn rest(&mut self) -> Vec<Option<usize>> {
        let mut places = Vec::new();
        while self.gaps.as_ref().is_some_and(|gaps| gaps.take(self.row)) {
            places.push(None);
            self.row += 1;
        }
        places
    }

    /// The rows at their places.
    pub fn filled<T: Copy>(
        rows: ndarray::ArrayView2<'_, T>,
        places: &[Option<usize>],
        nan: T,
    ) -> Array2<T> {
        Array2::from_shape_fn((places.len(), rows.ncols()), |(i, j)| match places[i] {
            Some(row) => rows[[row, j]],
            None => nan,
        })
    }
}
