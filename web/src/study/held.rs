//! Rows of a file as the numbers that its columns became, in memory: read once, fitted to often.

use bochner::{
    Error, Result,
    data::{Chunk, ChunkSource, Rows, Schema},
};
use ndarray::{Array2, Axis, concatenate, s};
use std::sync::Arc;

/// Rows that are read at a time.
const READ: usize = 8192;

/// All rows, and what their columns are.
#[derive(Debug)]
struct All {
    x_nd: Rows,
    y_nt: Array2<f64>,
    column_names: Option<Vec<String>>,
    target_names: Option<Vec<String>>,
    schema: Option<Schema>,
}

/// Some of the rows, one after the other.
#[derive(Debug, Clone)]
pub(super) struct Held {
    all: Arc<All>,
    first: usize,
    end: usize,
    next: usize,
}

impl Held {
    /// All rows of a source whose columns are settled. Errors as it does, and where it has none.
    pub(super) fn of(source: &mut dyn ChunkSource) -> Result<Self> {
        source.rewind()?;
        let (mut x, mut y) = (Vec::new(), Vec::new());
        while let Some(chunk) = source.next_chunk(READ)? {
            x.push(chunk.x);
            y.push(chunk.y);
        }
        if x.is_empty() {
            return Err(Error::shape(
                "there are no rows in this part; give more rows",
            ));
        }
        let views: Vec<_> = y.iter().map(|y| y.view()).collect();
        let y_nt = concatenate(Axis(0), &views).map_err(|e| Error::shape(e.to_string()))?;
        let x_nd = Rows::stack(x)?;
        let end = x_nd.nrows();
        let all = Arc::new(All {
            x_nd,
            y_nt,
            column_names: source.column_names(),
            target_names: source.target_names(),
            schema: source.schema().cloned(),
        });
        Ok(Self {
            all,
            first: 0,
            end,
            next: 0,
        })
    }

    /// The rows from `first` on, at most so many.
    pub(super) fn part(&self, first: usize, rows: usize) -> Self {
        let (first, end) = (
            first.min(self.end),
            first.saturating_add(rows).min(self.end),
        );
        Self {
            all: self.all.clone(),
            first,
            end,
            next: first,
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.end - self.first
    }

    /// Features `[n, d]` and targets `[n, t]`.
    pub(super) fn arrays(&self) -> (Rows, Array2<f64>) {
        let x_nd = self.all.x_nd.slice(self.first..self.end);
        let y_nt = self.all.y_nt.slice(s![self.first..self.end, ..]).to_owned();
        (x_nd, y_nt)
    }
}

impl ChunkSource for Held {
    fn columns(&self) -> usize {
        self.all.x_nd.ncols()
    }

    fn targets(&self) -> usize {
        self.all.y_nt.ncols()
    }

    fn rows(&self) -> Option<usize> {
        Some(self.len())
    }

    fn column_names(&self) -> Option<Vec<String>> {
        self.all.column_names.clone()
    }

    fn target_names(&self) -> Option<Vec<String>> {
        self.all.target_names.clone()
    }

    fn schema(&self) -> Option<&Schema> {
        self.all.schema.as_ref()
    }

    fn is_checked(&self) -> bool {
        true
    }

    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let part = self.part(self.next, max_rows.min(self.end - self.next));
        if part.len() == 0 {
            return Ok(None);
        }
        self.next = part.end;
        let (x, y) = part.arrays();
        let weights = None;
        Ok(Some(Chunk { x, y, weights }))
    }

    fn rewind(&mut self) -> Result<()> {
        self.next = self.first;
        Ok(())
    }
}
