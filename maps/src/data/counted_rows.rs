//! Rows of weight above 0.

use super::{Chunk, ChunkSource, Schema, next_checked, require_rows};
use crate::error::{Error, Result};
use ndarray::Axis;
use std::sync::Arc;

/// Rows that are read at a time to be looked at.
const AT_A_TIME: usize = 8192;

/// Largest weights between this and its inverse stay as they are.
const SMALL: f64 = 1e-15;

/// The rows of a source without those of weight 0, so that nothing that counts or numbers rows
/// sees them.
///
/// Where the largest weight lies beyond 1e-15 to 1e15, weights are multiplied by the power of two
/// that brings it to 1 or just above, since sums of f32 or squares of weights could not hold them.
/// This and which groups are left needs one more pass over rows with weights, which
/// [`ChunkSource::settle`] makes; the rows of a source without weights pass as they are.
///
/// ```
/// use bochner::data::{ChunkSource, CountedRows, MemorySource};
/// let x = ndarray::array![[0.0], [2.0], [4.0]];
/// let rows = MemorySource::new(x, None)?.with_weights(vec![1.0, 0.0, 3.0])?;
/// let chunk = CountedRows::new(rows).next_chunk(9)?.expect("two rows");
/// assert_eq!(chunk.weights, Some(ndarray::array![1.0, 3.0]));
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug)]
pub struct CountedRows<S> {
    source: S,
    keeps_unit: bool,
    found: Option<Found>,
    /// Rows of the source that were read since the first.
    next: usize,
    /// Whether this pass has yielded a row.
    any: bool,
}

/// Results of a pass over the rows.
#[derive(Debug, Clone)]
struct Found {
    /// Number of rows of weight above 0.
    rows: usize,
    /// Groups of these.
    groups: Option<Arc<[u32]>>,
    factor: f64,
}

impl<S: ChunkSource> CountedRows<S> {
    /// The rows of `source`, which is at its first.
    pub fn new(source: S) -> Self {
        Self {
            source,
            keeps_unit: false,
            found: None,
            next: 0,
            any: false,
        }
    }

    /// Has weights keep their unit, however large it is: where a fit says something in it.
    #[must_use]
    pub fn keep_unit(mut self, keeps: bool) -> Self {
        self.keeps_unit = keeps;
        self
    }

    /// Counts the rows and finds their largest weight, then goes back to the first row.
    fn look(&mut self) -> Result<Found> {
        let all = self.source.groups();
        let (mut groups, mut read) = (Vec::new(), 0);
        let (mut rows, mut largest) = (0, 0.0_f64);
        self.source.rewind()?;
        while let Some(chunk) = next_checked(&mut self.source, AT_A_TIME, read)? {
            for (i, &weight) in chunk.weights.iter().flatten().enumerate() {
                if weight > 0.0 {
                    rows += 1;
                    largest = largest.max(weight);
                    groups.extend(all.as_ref().and_then(|all| all.get(read + i)));
                }
            }
            read += chunk.x.nrows();
        }
        self.source.rewind()?;
        let is_usual =
            largest == 0.0 || self.keeps_unit || (SMALL..=1.0 / SMALL).contains(&largest);
        Ok(Found {
            rows,
            groups: all.map(|_| groups.into()),
            factor: if is_usual {
                1.0
            } else {
                libm::exp2(-largest.log2().floor())
            },
        })
    }

    /// The rows of a chunk that count, if there are any.
    fn counted(&self, chunk: Chunk) -> Option<Chunk> {
        let Some(mut weights) = chunk.weights else {
            return Some(chunk);
        };
        let (mut x, mut y) = (chunk.x, chunk.y);
        if weights.iter().any(|&weight| weight == 0.0) {
            let keep: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
            if keep.is_empty() {
                return None;
            }
            x = x.select(&keep);
            y = y.select(Axis(0), &keep);
            weights = weights.select(Axis(0), &keep);
        }
        let factor = self.found.as_ref().map_or(1.0, |found| found.factor);
        if factor != 1.0 {
            weights *= factor;
        }
        let weights = Some(weights);
        Some(Chunk { x, y, weights })
    }
}

impl<S: ChunkSource> ChunkSource for CountedRows<S> {
    fn columns(&self) -> usize {
        self.source.columns()
    }
    fn targets(&self) -> usize {
        self.source.targets()
    }
    fn is_weighted(&self) -> bool {
        self.source.is_weighted()
    }
    fn rows(&self) -> Option<usize> {
        match &self.found {
            Some(found) => Some(found.rows),
            None if self.source.is_weighted() => None,
            None => self.source.rows(),
        }
    }
    fn column_names(&self) -> Option<Vec<String>> {
        self.source.column_names()
    }
    fn target_names(&self) -> Option<Vec<String>> {
        self.source.target_names()
    }
    fn schema(&self) -> Option<&Schema> {
        self.source.schema()
    }
    fn groups(&self) -> Option<Arc<[u32]>> {
        match &self.found {
            Some(found) => found.groups.clone(),
            None => self.source.groups(),
        }
    }
    fn is_checked(&self) -> bool {
        // Chunks are checked here, where row numbers are those of the source.
        true
    }
    fn settle(&mut self, failed: bool, takes: &mut dyn FnMut(u64) -> bool) -> Result<bool> {
        let settled = self.source.settle(failed, takes)?;
        (self.next, self.any) = (0, false);
        self.found = None;
        if self.source.is_weighted() {
            // The pass after settling reports the error again.
            match self.look() {
                Ok(found) => self.found = Some(found),
                Err(_) => self.source.rewind()?,
            }
        }
        Ok(settled)
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        require_rows(max_rows)?;
        while let Some(chunk) = next_checked(&mut self.source, max_rows, self.next)? {
            self.next += chunk.x.nrows();
            if let Some(chunk) = self.counted(chunk) {
                self.any = true;
                return Ok(Some(chunk));
            }
        }
        if self.next > 0 && !self.any {
            return Err(Error::data("weights", "all rows have weight 0"));
        }
        Ok(None)
    }
    fn rewind(&mut self) -> Result<()> {
        (self.next, self.any) = (0, false);
        self.source.rewind()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        data::{MemorySource, Survey},
        seed::Seed,
    };
    use ndarray::Array2;

    fn rows(weights: Vec<f64>) -> MemorySource {
        let x = Array2::from_shape_fn((weights.len(), 1), |(i, _)| i as f64);
        let rows = MemorySource::new(&x, Some(x.clone())).expect("rows");
        rows.with_weights(weights).expect("weights")
    }

    /// As a source that never had the rows, in chunks of any size, groups and survey included.
    #[test]
    fn rows_of_weight_0_are_as_if_not_there() {
        let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
        let groups: Vec<usize> = (0..60).map(|i| i / 7).collect();
        let keep: Vec<usize> = (0..60).filter(|i| i % 3 > 0).collect();
        let x = Array2::from_shape_fn((40, 1), |(i, _)| keep[i] as f64);
        let other = MemorySource::new(&x, Some(x.clone())).expect("rows");
        let other = other.with_weights(keep.iter().map(|&i| weights[i]).collect::<Vec<_>>());
        let mut other = other.expect("weights");
        let grouped = super::super::Grouped::by(rows(weights), &groups, Seed(0)).expect("groups");
        let all = grouped.groups().expect("groups");
        let mut counted = CountedRows::new(grouped);
        let survey = Survey::new(&mut counted, 20, 3).expect("a survey");
        assert_eq!(survey, Survey::new(&mut other, 20, 3).expect("a survey"));
        assert_eq!(counted.rows(), Some(40));
        let left: Vec<u32> = keep.iter().map(|&i| all[i]).collect();
        assert_eq!(&counted.groups().expect("groups")[..], &left[..]);
        for at_a_time in [1, 7, 100] {
            counted.rewind().expect("rewinds");
            let mut found = Vec::new();
            while let Some(chunk) = counted.next_chunk(at_a_time).expect("reads") {
                assert!(chunk.x.nrows() > 0);
                found.extend(chunk.y.iter().copied());
            }
            assert_eq!(found, x.iter().copied().collect::<Vec<_>>());
        }
    }

    /// Weights beyond what squares and f32 hold are scaled, others keep their bits.
    #[test]
    fn weights_of_any_unit_are_near_one() {
        let of = |unit: f64| {
            let mut counted = CountedRows::new(rows(vec![0.3 * unit, 0.0, 0.7 * unit]));
            Survey::new(&mut counted, 0, 0).expect("a survey");
            let chunk = counted.next_chunk(9).expect("reads").expect("rows");
            chunk.weights.expect("weights").to_vec()
        };
        assert_eq!(of(1.0), [0.3, 0.7]);
        assert_eq!(of(1e-3), [0.3 * 1e-3, 0.7 * 1e-3]);
        for unit in [1e-300, 1e-150, 1e150, 1e300] {
            let found = of(unit);
            assert!((1.0..2.0).contains(&found[1]), "{unit:e}: {found:?}");
            assert!((found[0] / found[1] - 3.0 / 7.0).abs() < 1e-15);
        }
    }

    /// The row of a bad value has its number in the source.
    #[test]
    fn errors_count_all_rows() {
        struct Bad(MemorySource);
        impl ChunkSource for Bad {
            fn columns(&self) -> usize {
                1
            }
            fn targets(&self) -> usize {
                1
            }
            fn is_weighted(&self) -> bool {
                true
            }
            fn rows(&self) -> Option<usize> {
                self.0.rows()
            }
            fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
                let mut chunk = self.0.next_chunk(max_rows)?;
                for y in chunk.iter_mut().flat_map(|chunk| chunk.y.iter_mut()) {
                    *y = if *y == 4.0 { f64::NAN } else { *y };
                }
                Ok(chunk)
            }
            fn rewind(&mut self) -> Result<()> {
                self.0.rewind()
            }
        }
        let weights = vec![0.0, 0.0, 1.0, 1.0, 1.0];
        let mut counted = CountedRows::new(Bad(rows(weights)));
        let error = Survey::new(&mut counted, 0, 0).expect_err("not finite");
        assert!(error.to_string().contains("row 4"), "{error}");
    }
}
