//! Rows in: a [`ChunkSource`] yields a dataset chunk by chunk, so that memory does not grow with rows.

use crate::error::Result;
use ndarray::Array2;

/// Consecutive rows `[rows, d]`, row-major, in the precision in which the source holds them: values that f32 holds
/// exactly (f32, f16, 8- and 16-bit integers, booleans) as f32, everything else as f64. Centring and scaling happen in
/// f64 before anything is rounded to f32, so a column of large values with a small spread keeps its digits.
#[derive(Debug, Clone, PartialEq)]
pub enum Rows {
    /// Single precision.
    F32(Array2<f32>),
    /// Double precision.
    F64(Array2<f64>),
}

/// A chunk of a dataset: `x` is `[rows, d]`, `y` is `[rows, targets]` (`targets` may be zero).
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// The features.
    pub x: Rows,
    /// The targets: real values, or class labels as numbers.
    pub y: Array2<f64>,
}

/// A dataset read in order, chunk by chunk, as often as needed.
///
/// Every value a source yields is finite: a NaN or an infinity is an error that names its row and column.
pub trait ChunkSource: Send {
    /// Number of feature columns, d.
    fn columns(&self) -> usize;
    /// Number of target columns; zero when the source has none.
    fn targets(&self) -> usize;
    /// Number of rows where it is known without reading (not for CSV).
    fn rows(&self) -> Option<usize>;
    /// The next at most `max_rows` rows; `None` at the end. Never an empty chunk.
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>>;
    /// Back to the first row.
    fn rewind(&mut self) -> Result<()>;
}
