//! Arrays in memory as a source.

use super::checked::require_weights;
use super::rows::{first_non_finite, not_finite};
use super::{Chunk, ChunkSource, Rows, require_rows};
use crate::error::{Error, Result};
use crate::text::counted;
use ndarray::{Array1, Array2, Axis, s};
use std::path::Path;

/// Rows that are taken over at a time.
const HELD: usize = 8192;

/// A dataset held in memory.
///
/// ```
/// use bochner::data::{ChunkSource, MemorySource};
/// let x = ndarray::array![[0.0_f32, 1.0], [2.0, 3.0], [4.0, 5.0]];
/// let y = ndarray::array![[0.0], [1.0], [1.0]];
/// let mut source = MemorySource::new(x, Some(y))?;
/// assert_eq!((source.rows(), source.columns(), source.targets()), (Some(3), 2, 1));
/// let chunk = source.next_chunk(2)?.expect("two of three rows");
/// assert_eq!(chunk.x.nrows(), 2);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct MemorySource {
    x: Rows,
    y: Array2<f64>,
    weights: Option<Array1<f64>>,
    next: usize,
}

impl MemorySource {
    /// A source over `x` `[rows, d]` and, if given, `y` `[rows, targets]`, in any memory layout.
    ///
    /// Errors with [`Error::Shape`] if `x` has no rows or no columns or `y` has another number of
    /// rows, and with [`Error::Data`] if a value is not finite, naming its row and column counted
    /// from 0.
    pub fn new(x: impl Into<Rows>, y: Option<Array2<f64>>) -> Result<Self> {
        // A variant that was built by hand may be in Fortran order.
        let x = match x.into() {
            Rows::F32(x) => Rows::from(x),
            Rows::F64(x) => Rows::from(x),
        };
        let (rows, columns) = (x.nrows(), x.ncols());
        if rows == 0 || columns == 0 {
            return Err(Error::shape(format!(
                "X is [{rows}, {columns}]: no {}; at least one is needed",
                if rows == 0 { "rows" } else { "columns" }
            )));
        }
        x.require_finite()?;
        let y = y.unwrap_or_else(|| Array2::zeros((rows, 0)));
        if y.nrows() != rows {
            return Err(Error::shape(format!(
                "X has {} and y has {}; give one row of y for each row of X",
                counted(rows, "row"),
                y.nrows()
            )));
        }
        if let Some((i, j, value)) = first_non_finite(&y, f64::is_finite) {
            return Err(not_finite(Path::new("y"), "", i, j, value));
        }
        Ok(Self {
            x,
            y,
            weights: None,
            next: 0,
        })
    }

    /// All rows of a source, from its first. Errors as sources do, and when there are none.
    pub fn from_source(source: &mut dyn ChunkSource) -> Result<Self> {
        source.rewind()?;
        let (mut xs, mut ys, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(chunk) = source.next_chunk(HELD)? {
            xs.push(chunk.x);
            ys.push(chunk.y);
            weights.extend(chunk.weights.into_iter().flatten());
        }
        let views: Vec<_> = ys.iter().map(|y| y.view()).collect();
        let y = match views.as_slice() {
            [] => Array2::zeros((0, 0)),
            views => ndarray::concatenate(Axis(0), views)
                .map_err(|error| Error::shape(error.to_string()))?,
        };
        let all = if xs.is_empty() {
            return Err(Error::shape("the data has no rows"));
        } else {
            Self::new(Rows::stack(xs)?, Some(y))?
        };
        if source.is_weighted() {
            all.with_weights(weights)
        } else {
            Ok(all)
        }
    }

    /// The same rows, each with what it counts for, `[rows]`.
    ///
    /// Errors with [`Error::Shape`] on another number of weights than rows, and with
    /// [`Error::Data`] on one that is negative or not finite.
    ///
    /// ```
    /// use bochner::data::{ChunkSource, MemorySource};
    /// let x = ndarray::array![[0.0], [2.0], [4.0]];
    /// let mut source = MemorySource::new(x, None)?.with_weights(vec![1.0, 2.0, 0.5])?;
    /// let chunk = source.next_chunk(2)?.expect("two of three rows");
    /// assert_eq!(chunk.weights, Some(ndarray::array![1.0, 2.0]));
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn with_weights(self, weights: impl Into<Array1<f64>>) -> Result<Self> {
        let weights = weights.into();
        if weights.len() != self.x.nrows() {
            return Err(Error::shape(format!(
                "X has {} and there are {}; give one weight for each row of X",
                counted(self.x.nrows(), "row"),
                counted(weights.len(), "weight")
            )));
        }
        require_weights(&weights, 0)?;
        Ok(Self {
            weights: Some(weights),
            ..self
        })
    }
}

impl ChunkSource for MemorySource {
    fn columns(&self) -> usize {
        self.x.ncols()
    }
    fn targets(&self) -> usize {
        self.y.ncols()
    }
    fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }
    fn rows(&self) -> Option<usize> {
        Some(self.x.nrows())
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        require_rows(max_rows)?;
        let (start, end) = (
            self.next,
            self.x.nrows().min(self.next.saturating_add(max_rows)),
        );
        if start == end {
            return Ok(None);
        }
        self.next = end;
        Ok(Some(Chunk {
            x: self.x.slice(start..end),
            y: self.y.slice(s![start..end, ..]).to_owned(),
            weights: self
                .weights
                .as_ref()
                .map(|w| w.slice(s![start..end]).to_owned()),
        }))
    }
    fn rewind(&mut self) -> Result<()> {
        self.next = 0;
        Ok(())
    }
    fn is_checked(&self) -> bool {
        true
    }
}
