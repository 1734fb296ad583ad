//! Views of rows in Python's memory, and a data source of them.

use crate::calls::interrupted;
use bochner::{
    Error, Result,
    data::{Chunk, ChunkSource, Rows, SparseRows},
};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, s};
use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Compressed sparse rows.
#[derive(Clone, Copy)]
pub(crate) struct Csr<'a, T, I> {
    pub(crate) values: ArrayView1<'a, T>,
    pub(crate) columns: ArrayView1<'a, I>,
    /// Start of each row in `values` and `columns`, and the end of the last (`indptr` in SciPy).
    pub(crate) starts: ArrayView1<'a, I>,
    pub(crate) width: usize,
}

impl<T: Copy + Default + std::ops::AddAssign, I: Copy + TryInto<usize>> Csr<'_, T, I> {
    fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Copies some rows to a dense array.
    fn dense(&self, rows: Range<usize>) -> Result<Array2<T>> {
        let wrong = || Error::format("the sparse rows hold indices beyond their ends");
        let place = |i: I| i.try_into().map_err(|_| wrong());
        let mut all = Array2::from_elem((rows.len(), self.width), T::default());
        for (i, mut row) in rows.zip(all.rows_mut()) {
            let entries = place(self.starts[i])?..place(self.starts[i + 1])?;
            if entries.start > entries.end || entries.end > self.columns.len() {
                return Err(wrong());
            }
            for at in entries {
                let value = self.values.get(at).ok_or_else(wrong)?;
                // Duplicate entries are summed.
                *row.get_mut(place(self.columns[at])?).ok_or_else(wrong)? += *value;
            }
        }
        Ok(all)
    }
}

impl<T: Copy + Into<f64>, I: Copy + TryInto<usize>> Csr<'_, T, I> {
    /// Copies some rows as sparse rows.
    fn sparse(&self, rows: Range<usize>) -> Result<SparseRows> {
        let wrong = || Error::format("the sparse rows hold indices beyond their ends");
        let place = |i: I| i.try_into().map_err(|_| wrong());
        let starts = (self.starts.slice(s![rows.start..=rows.end]).iter())
            .map(|&start| place(start))
            .collect::<Result<Vec<usize>>>()?;
        let (first, last) = (starts[0], starts[rows.len()]);
        if first > last || last > self.columns.len() || last > self.values.len() {
            return Err(wrong());
        }
        let column = |&j: &I| u32::try_from(place(j)?).map_err(|_| wrong());
        let columns = self.columns.slice(s![first..last]);
        SparseRows::new(
            starts
                .iter()
                .map(|start| start.checked_sub(first).ok_or_else(wrong))
                .collect::<Result<_>>()?,
            columns.iter().map(column).collect::<Result<_>>()?,
            (self.values.slice(s![first..last]).iter())
                .map(|&v| v.into())
                .collect(),
            self.width,
        )
    }
}

/// View of rows in Python's memory.
#[derive(Clone, Copy)]
pub(crate) enum TableView<'a> {
    Single(ArrayView2<'a, f32>),
    Double(ArrayView2<'a, f64>),
    SparseSingle(Csr<'a, f32, i32>),
    SparseDouble(Csr<'a, f64, i32>),
    SparseSingleLong(Csr<'a, f32, i64>),
    SparseDoubleLong(Csr<'a, f64, i64>),
}

impl TableView<'_> {
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Single(x) => x.nrows(),
            Self::Double(x) => x.nrows(),
            Self::SparseSingle(x) => x.rows(),
            Self::SparseDouble(x) => x.rows(),
            Self::SparseSingleLong(x) => x.rows(),
            Self::SparseDoubleLong(x) => x.rows(),
        }
    }

    pub(crate) fn columns(&self) -> usize {
        match self {
            Self::Single(x) => x.ncols(),
            Self::Double(x) => x.ncols(),
            Self::SparseSingle(x) => x.width,
            Self::SparseDouble(x) => x.width,
            Self::SparseSingleLong(x) => x.width,
            Self::SparseDoubleLong(x) => x.width,
        }
    }

    /// Copies some rows as sparse rows; `None` if they are dense.
    pub(crate) fn sparse_part(&self, rows: Range<usize>) -> Result<Option<SparseRows>> {
        Ok(match self {
            Self::Single(_) | Self::Double(_) => None,
            Self::SparseSingle(x) => Some(x.sparse(rows)?),
            Self::SparseDouble(x) => Some(x.sparse(rows)?),
            Self::SparseSingleLong(x) => Some(x.sparse(rows)?),
            Self::SparseDoubleLong(x) => Some(x.sparse(rows)?),
        })
    }

    /// Copies some rows, as dense rows.
    pub(crate) fn part(&self, rows: Range<usize>) -> Result<Rows> {
        Ok(match self {
            Self::Single(x) => Rows::from(x.slice(s![rows, ..])),
            Self::Double(x) => Rows::from(x.slice(s![rows, ..])),
            Self::SparseSingle(x) => Rows::F32(x.dense(rows)?),
            Self::SparseDouble(x) => Rows::F64(x.dense(rows)?),
            Self::SparseSingleLong(x) => Rows::F32(x.dense(rows)?),
            Self::SparseDoubleLong(x) => Rows::F64(x.dense(rows)?),
        })
    }
}

/// Source of rows, targets and weights in Python's memory, which fails once `stop` is set.
pub(crate) struct Source<'a> {
    pub(crate) x: TableView<'a>,
    /// `[n, t]`.
    pub(crate) y: Option<ArrayView2<'a, f64>>,
    pub(crate) weights: Option<ArrayView1<'a, f64>>,
    pub(crate) stop: Arc<AtomicBool>,
    next: usize,
}

impl<'a> Source<'a> {
    pub(crate) fn new(x: TableView<'a>, stop: Arc<AtomicBool>) -> Self {
        Self {
            x,
            y: None,
            weights: None,
            stop,
            next: 0,
        }
    }
}

impl ChunkSource for Source<'_> {
    fn columns(&self) -> usize {
        self.x.columns()
    }
    fn targets(&self) -> usize {
        self.y.map_or(0, |y| y.ncols())
    }
    fn rows(&self) -> Option<usize> {
        Some(self.x.rows())
    }
    fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(interrupted());
        }
        let rows = self.next..self.x.rows().min(self.next.saturating_add(max_rows));
        if rows.is_empty() {
            return Ok(None);
        }
        self.next = rows.end;
        let y = match self.y {
            Some(y) => y.slice(s![rows.clone(), ..]).to_owned(),
            None => Array2::zeros((rows.len(), 0)),
        };
        let weights = self
            .weights
            .map(|w| -> Array1<f64> { w.slice(s![rows.clone()]).to_owned() });
        let x = self.x.part(rows)?;
        Ok(Some(Chunk { x, y, weights }))
    }
    fn rewind(&mut self) -> Result<()> {
        self.next = 0;
        Ok(())
    }
    // Arrays were validated in Python.
    fn is_checked(&self) -> bool {
        true
    }
}
