//! Rows that count for less the older they are.

use super::{Chunk, ChunkSource, Schema, next_checked};
use crate::error::{Error, Result};
use ndarray::Array1;
use std::sync::Arc;

/// Half-lives after which a row counts for nothing: beside the newest it is less than the rounding
/// of f64, and so are all before it together, beside all since.
const FORGOTTEN: f64 = 52.0;

/// Rows that are read at a time to be counted.
const COUNTED: usize = 8192;

/// Errors with [`Error::Parameter`] unless a half-life is a row or more.
#[doc(hidden)]
pub fn check_half_life(rows: f64) -> Result<()> {
    if rows >= 1.0 && rows.is_finite() {
        return Ok(());
    }
    let problem = format!("a half-life is {rows} rows; it is one row or more");
    Err(Error::parameter(problem))
}

/// What a row counts for that is `age` rows older than the newest: `2^(-age / half_life)`, and 0
/// after 52 half-lives. The same bits on every machine.
#[doc(hidden)]
pub fn kept_of(age: u64, half_life: f64) -> f64 {
    let halvings = age as f64 / half_life;
    if halvings < FORGOTTEN {
        libm::exp2(-halvings)
    } else {
        0.0
    }
}

/// A source whose row i of n, counted from 0 in its order, counts for `2^(-(n - 1 - i) / h)` times
/// its own weight: half as much as the newest when it is h rows older, the half-life.
///
/// Weights stand beside that of the newest row, so that none is ever large; what is older than 52
/// half-lives counts for nothing. Where the source does not know n, its rows are counted by a pass
/// of their own before the first.
///
/// ```
/// use bochner::data::{ChunkSource, Forgetting, MemorySource};
/// let x = ndarray::array![[0.0], [2.0], [4.0]];
/// let mut source = Forgetting::new(MemorySource::new(x, None)?, 1.0)?;
/// let chunk = source.next_chunk(9)?.expect("three rows");
/// assert_eq!(chunk.weights, Some(ndarray::array![0.25, 0.5, 1.0]));
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug)]
pub struct Forgetting<S> {
    source: S,
    /// `None` where all rows count alike.
    half_life: Option<f64>,
    /// Number of rows, once it is known.
    rows: Option<u64>,
    /// Rows that were read since the first.
    next: u64,
}

impl<S: ChunkSource> Forgetting<S> {
    /// The rows of `source`, which is at its first, with this half-life in rows.
    ///
    /// Errors with [`Error::Parameter`] unless it is finite and a row or more.
    pub fn new(source: S, half_life: f64) -> Result<Self> {
        Self::maybe(source, Some(half_life))
    }

    /// As [`Self::new`], or the rows as they are.
    #[doc(hidden)]
    pub fn maybe(source: S, half_life: Option<f64>) -> Result<Self> {
        half_life.map_or(Ok(()), check_half_life)?;
        Ok(Self {
            rows: source.rows().map(|rows| rows as u64),
            source,
            half_life,
            next: 0,
        })
    }

    /// How many rows there are: a pass over them where nobody knows.
    fn counted(&mut self) -> Result<u64> {
        if let Some(rows) = self.rows {
            return Ok(rows);
        }
        let mut rows = 0;
        while let Some(chunk) = next_checked(&mut self.source, COUNTED, rows as usize)? {
            rows += chunk.x.nrows() as u64;
        }
        self.source.rewind()?;
        self.rows = Some(rows);
        Ok(rows)
    }

    /// Errors where there are other rows than were counted.
    fn check(&self, rows: u64, ended: bool) -> Result<()> {
        if self.next > rows || (ended && self.next < rows) {
            let found = if ended { "" } else { "at least " };
            return Err(Error::shape(format!(
                "a half-life counts from the newest of {rows} rows, and the data has {found}{}; \
                 leave it alone while it is read",
                self.next
            )));
        }
        Ok(())
    }
}

impl<S: ChunkSource> ChunkSource for Forgetting<S> {
    fn columns(&self) -> usize {
        self.source.columns()
    }
    fn targets(&self) -> usize {
        self.source.targets()
    }
    fn is_weighted(&self) -> bool {
        self.half_life.is_some() || self.source.is_weighted()
    }
    fn rows(&self) -> Option<usize> {
        self.source.rows()
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
        self.source.groups()
    }
    fn is_checked(&self) -> bool {
        self.source.is_checked()
    }
    fn settle(&mut self, failed: bool, takes: &mut dyn FnMut(u64) -> bool) -> Result<bool> {
        let settled = self.source.settle(failed, takes)?;
        if settled {
            self.next = 0;
        }
        Ok(settled)
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let Some(half_life) = self.half_life else {
            return self.source.next_chunk(max_rows);
        };
        super::require_rows(max_rows)?;
        let rows = self.counted()?;
        let first = self.next;
        let Some(mut chunk) = self.source.next_chunk(max_rows)? else {
            self.check(rows, true)?;
            return Ok(None);
        };
        self.next += chunk.x.nrows() as u64;
        self.check(rows, false)?;
        let ages = (first..self.next).map(|row| rows - 1 - row);
        let kept: Array1<f64> = ages.map(|age| kept_of(age, half_life)).collect();
        chunk.weights = Some(match chunk.weights {
            Some(own) if own.len() == kept.len() => own * kept,
            // What is wrong with them says who checks chunks.
            Some(own) => own,
            None => kept,
        });
        Ok(Some(chunk))
    }
    fn rewind(&mut self) -> Result<()> {
        self.next = 0;
        self.source.rewind()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{MemorySource, Survey};
    use ndarray::Array2;

    /// A source that does not say how many rows it has.
    struct Uncounted(MemorySource, Option<usize>);

    impl ChunkSource for Uncounted {
        fn columns(&self) -> usize {
            self.0.columns()
        }
        fn targets(&self) -> usize {
            0
        }
        fn is_weighted(&self) -> bool {
            self.0.is_weighted()
        }
        fn rows(&self) -> Option<usize> {
            self.1
        }
        fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
            self.0.next_chunk(max_rows)
        }
        fn rewind(&mut self) -> Result<()> {
            self.0.rewind()
        }
    }

    fn rows(n: usize) -> MemorySource {
        MemorySource::new(Array2::from_shape_fn((n, 1), |(i, _)| i as f64), None).expect("rows")
    }

    fn weights_of(source: &mut dyn ChunkSource, at_a_time: usize) -> Vec<f64> {
        let mut all = Vec::new();
        source.rewind().expect("rewinds");
        while let Some(chunk) = source.next_chunk(at_a_time).expect("reads") {
            all.extend(chunk.weights.expect("weights"));
        }
        all
    }

    /// The closed form times own weights, in chunks of any size, whether or not n is known, in
    /// every pass.
    #[test]
    fn a_row_counts_for_half_after_a_half_life() {
        let (n, h) = (900, 7.5);
        let own: Vec<f64> = (0..n).map(|i| 1.0 + (i % 4) as f64).collect();
        let expected = |i: usize| 2_f64.powf(-((n - 1 - i) as f64) / h);
        for known in [Some(n), None] {
            for weighted in [false, true] {
                let source = if weighted {
                    rows(n).with_weights(own.clone()).expect("weights")
                } else {
                    rows(n)
                };
                let mut source = Forgetting::new(Uncounted(source, known), h).expect("rows");
                for at_a_time in [1, 64, 5000] {
                    let found = weights_of(&mut source, at_a_time);
                    assert_eq!(found.len(), n);
                    for (i, w) in found.into_iter().enumerate() {
                        let closed = expected(i) * if weighted { own[i] } else { 1.0 };
                        let forgotten = (n - 1 - i) as f64 >= 52.0 * h;
                        let closed = if forgotten { 0.0 } else { closed };
                        assert!((w - closed).abs() <= 1e-14 * closed, "{i}: {w} {closed}");
                    }
                }
            }
        }
    }

    /// Of far more rows than half-lives no weight is infinite or none, and the survey is that of
    /// the last rows.
    #[test]
    fn the_far_past_counts_for_nothing() {
        let mut source = Forgetting::new(rows(400_000), 10.0).expect("rows");
        let survey = Survey::new(&mut source, 50, 1).expect("surveys");
        // The mean age of a geometric law.
        let age = 1.0 / (0.1_f64.exp2() - 1.0);
        let mean = 399_999.0 - age;
        assert!((survey.mean[0] - mean).abs() < 1e-6, "{}", survey.mean[0]);
        assert_eq!(survey.rows, 400_000);
        assert!(survey.sample.iter().all(|x| *x > 399_999.0 - 520.0));
    }

    #[test]
    fn other_rows_than_counted_and_odd_half_lives_are_refused() {
        for half_life in [0.5, 0.0, -3.0, f64::NAN, f64::INFINITY] {
            let problem = Forgetting::new(rows(3), half_life).expect_err("refused");
            assert!(problem.to_string().contains("half-life"), "{problem}");
        }
        for said in [2, 4] {
            let source = Uncounted(rows(3), Some(said));
            let mut source = Forgetting::new(source, 2.0).expect("rows");
            let all = [source.next_chunk(9), source.next_chunk(9)];
            let problem = all.into_iter().find_map(Result::err).expect("refused");
            assert!(
                problem.to_string().contains(&format!("{said} rows")),
                "{problem}"
            );
        }
    }

    /// Without a half-life rows are as they were.
    #[test]
    fn none_leaves_rows_as_they_are() {
        let mut source = Forgetting::maybe(rows(5), None).expect("rows");
        assert!(!source.is_weighted());
        let chunk = source.next_chunk(9).expect("reads").expect("rows");
        assert_eq!(chunk.weights, None);
    }
}
