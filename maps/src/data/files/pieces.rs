//! Pieces of a source, one after the other: what is done when a run is cut into steps.

use super::{Chunk, ChunkSource, Schema, checked::next_checked};
use crate::error::Result;

/// Rows of a source that are skipped at a time.
const SKIPPED: usize = 8192;

/// A source that is taken piece by piece. One read after the other costs no row twice.
///
/// ```
/// use bochner::data::{ChunkSource, MemorySource, Pieces};
/// let mut source = MemorySource::new(ndarray::array![[0.0], [1.0], [2.0]], None)?;
/// let mut pieces = Pieces::new(&mut source)?;
/// let rows = pieces.piece(1, 2).next_chunk(9)?.expect("two rows").x.nrows();
/// assert_eq!(rows, 2);
/// assert!(pieces.piece(3, 2).next_chunk(9)?.is_none());
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug)]
#[doc(hidden)]
pub struct Pieces<S> {
    source: S,
    /// Rows that were read since the source was rewound.
    at: u64,
}

impl<S: ChunkSource> Pieces<S> {
    /// Pieces of a source, which is rewound. Errors as that does.
    pub fn new(mut source: S) -> Result<Self> {
        source.rewind()?;
        Ok(Self { source, at: 0 })
    }

    /// At most `rows` rows from row `first` on, counted from 0; fewer, or none, at the end of the
    /// source. Rows before it are read and left out.
    pub fn piece(&mut self, first: u64, rows: u64) -> Piece<'_, S> {
        let end = first.saturating_add(rows);
        Piece {
            pieces: self,
            first,
            end,
        }
    }

    /// Rows that were read, those of pieces and those before them.
    #[doc(hidden)]
    pub fn rows_read(&self) -> u64 {
        self.at
    }

    /// Reads on to a row, or to the end.
    fn seek(&mut self, row: u64) -> Result<()> {
        if self.at > row {
            self.source.rewind()?;
            self.at = 0;
        }
        while self.at < row {
            let left = usize::try_from(row - self.at).unwrap_or(SKIPPED);
            match self.next(left.min(SKIPPED))? {
                Some(_) => {}
                None => break,
            }
        }
        Ok(())
    }

    fn next(&mut self, rows: usize) -> Result<Option<Chunk>> {
        let at = usize::try_from(self.at).unwrap_or(usize::MAX);
        let chunk = next_checked(&mut self.source, rows, at)?;
        self.at += chunk.as_ref().map_or(0, |chunk| chunk.x.nrows() as u64);
        Ok(chunk)
    }
}

/// Rows of a source from one row to another: see [`Pieces`].
#[derive(Debug)]
#[doc(hidden)]
pub struct Piece<'a, S> {
    pieces: &'a mut Pieces<S>,
    first: u64,
    end: u64,
}

impl<S: ChunkSource> ChunkSource for Piece<'_, S> {
    fn columns(&self) -> usize {
        self.pieces.source.columns()
    }
    fn targets(&self) -> usize {
        self.pieces.source.targets()
    }
    fn is_weighted(&self) -> bool {
        self.pieces.source.is_weighted()
    }
    fn rows(&self) -> Option<usize> {
        let all = self.pieces.source.rows()? as u64;
        let rows = self.end.min(all).saturating_sub(self.first);
        usize::try_from(rows).ok()
    }
    fn column_names(&self) -> Option<Vec<String>> {
        self.pieces.source.column_names()
    }
    fn target_names(&self) -> Option<Vec<String>> {
        self.pieces.source.target_names()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        super::require_rows(max_rows)?;
        if self.pieces.at < self.first {
            self.pieces.seek(self.first)?;
        }
        let left = self.end.saturating_sub(self.pieces.at);
        match usize::try_from(left).unwrap_or(max_rows).min(max_rows) {
            0 => Ok(None),
            rows => self.pieces.next(rows),
        }
    }
    fn rewind(&mut self) -> Result<()> {
        self.pieces.seek(self.first)
    }
    fn schema(&self) -> Option<&Schema> {
        self.pieces.source.schema()
    }
    fn is_checked(&self) -> bool {
        // Chunks are checked as they pass.
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::MemorySource;
    use ndarray::Array2;

    fn firsts(source: &mut dyn ChunkSource, at_most: usize) -> Vec<f64> {
        let mut found = Vec::new();
        while let Some(chunk) = source.next_chunk(at_most).expect("reads") {
            assert!(chunk.x.nrows() <= at_most);
            found.extend(chunk.y.column(0));
        }
        found
    }

    #[test]
    fn pieces_are_the_rows_between_two_places_and_come_again() {
        let y = Array2::from_shape_fn((23, 1), |(i, _)| i as f64);
        let source = MemorySource::new(y.clone(), Some(y)).expect("a source");
        let mut pieces = Pieces::new(source).expect("rewinds");
        let rows = |from: u32, to: u32| (from..to).map(f64::from).collect::<Vec<_>>();
        for (first, count, expected) in [
            (0, 10, rows(0, 10)),
            (10, 10, rows(10, 20)),
            (20, 10, rows(20, 23)),
            (30, 10, vec![]),
            (5, u64::MAX, rows(5, 23)),
            (7, 0, vec![]),
        ] {
            let mut piece = pieces.piece(first, count);
            assert_eq!(piece.rows(), Some(expected.len()), "{first}");
            piece.rewind().expect("rewinds");
            for at_most in [4, 100] {
                assert_eq!(firsts(&mut piece, at_most), expected, "{first} {at_most}");
                piece.rewind().expect("rewinds");
            }
        }
    }
}
