//! Concatenation of two samples.

use crate::{
    Result,
    data::{Chunk, ChunkSource, Schema, require_alike},
};
use ndarray::Array2;

/// Two sources with the same columns, concatenated, without their targets and weights. A chunk
/// never contains rows of both.
#[doc(hidden)]
pub struct Pooled<'a> {
    parts: [&'a mut dyn ChunkSource; 2],
    at: usize,
    read: u64,
    /// Known after the part was read to its end.
    rows: [Option<u64>; 2],
}

impl std::fmt::Debug for Pooled<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pooled({} columns)", self.columns())
    }
}

impl<'a> Pooled<'a> {
    /// Concatenates the rows of `a` and `b`.
    ///
    /// Errors with [`Error::Shape`](crate::Error::Shape) if they have different numbers of columns
    /// or, if both have names, different names.
    pub fn new(a: &'a mut dyn ChunkSource, b: &'a mut dyn ChunkSource) -> Result<Self> {
        require_alike(&*a, &*b)?;
        Ok(Self {
            parts: [a, b],
            at: 0,
            read: 0,
            rows: [None, None],
        })
    }

    /// Number of rows of each sample, after all were read, for example by a survey.
    pub(super) fn counts(&self) -> Option<[u64; 2]> {
        Some([self.rows[0]?, self.rows[1]?])
    }
}

impl ChunkSource for Pooled<'_> {
    fn columns(&self) -> usize {
        self.parts[0].columns()
    }

    fn targets(&self) -> usize {
        0
    }

    fn rows(&self) -> Option<usize> {
        Some(self.parts[0].rows()? + self.parts[1].rows()?)
    }

    fn column_names(&self) -> Option<Vec<String>> {
        let [a, b] = &self.parts;
        a.column_names().or_else(|| b.column_names())
    }

    /// The shared schema, since [`Alike`](crate::data::Alike) reads both with the same one.
    fn schema(&self) -> Option<&Schema> {
        self.parts[0].schema()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        while let Some(part) = self.parts.get_mut(self.at) {
            if let Some(chunk) = part.next_chunk(max_rows)? {
                let rows = chunk.x.nrows();
                self.read += rows as u64;
                return Ok(Some(Chunk {
                    x: chunk.x,
                    y: Array2::zeros((rows, 0)),
                    weights: None,
                }));
            }
            self.rows[self.at] = Some(self.read);
            self.read = 0;
            self.at += 1;
        }
        Ok(None)
    }

    fn rewind(&mut self) -> Result<()> {
        for part in &mut self.parts {
            part.rewind()?;
        }
        (self.at, self.read) = (0, 0);
        Ok(())
    }

    fn is_checked(&self) -> bool {
        self.parts.iter().all(|part| part.is_checked())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{MemorySource, Survey};
    use ndarray::array;

    #[test]
    fn rows_come_in_order_and_are_counted() {
        let source = |x| MemorySource::new(x, None).expect("a source");
        let (mut a, mut b) = (source(array![[1.0], [2.0], [3.0]]), source(array![[4.0]]));
        let mut pooled = Pooled::new(&mut a, &mut b).expect("one column each");
        assert_eq!((pooled.rows(), pooled.counts()), (Some(4), None));
        for _ in 0..2 {
            let mut seen = Vec::new();
            while let Some(chunk) = pooled.next_chunk(2).expect("reads") {
                seen.push(chunk.x.into_f64().into_raw_vec_and_offset().0);
            }
            assert_eq!(seen, [vec![1.0, 2.0], vec![3.0], vec![4.0]]);
            assert_eq!(pooled.counts(), Some([3, 1]));
            pooled.rewind().expect("rewinds");
        }
        assert_eq!(Survey::new(&mut pooled, 0, 0).expect("reads").mean, [2.5]);
        let mut wide = source(array![[1.0, 2.0]]);
        assert!(Pooled::new(&mut a, &mut wide).is_err());
    }
}
