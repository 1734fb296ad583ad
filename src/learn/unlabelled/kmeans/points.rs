//! Points that are gone over many times: features of a stream, or rows that are kept.

use crate::{
    Error, Result,
    data::ChunkSource,
    features::{Branch, Destination, FeatureMap, Featurizer},
    flow::{Run, watch_chunks},
    seed::Draws,
};
use ndarray::{Array2, ArrayView2, Axis, s};

/// Takes the numbers of some points, and the points, `[rows, columns]`.
pub(in crate::learn) type Take<'t> = &'t mut dyn FnMut(&[usize], ArrayView2<'_, f32>) -> Result<()>;

/// Points of some space, in order, as often as needed.
pub(in crate::learn) trait Points {
    /// Number of points.
    fn rows(&self) -> usize;

    /// Whether they lie in memory, where one of them costs no pass over all.
    fn is_kept(&self) -> bool {
        false
    }

    /// Dimension of the space.
    fn columns(&self) -> usize;

    /// Hands `take` the points that are `wanted`, `[rows]`, in order and in blocks: their numbers,
    /// and themselves.
    fn for_each_block(&mut self, wanted: &[bool], take: Take<'_>) -> Result<()>;
}

/// Points that are computed as they are asked for: what comes off a branch, and what `finish` makes
/// of it.
pub(in crate::learn) struct Streamed<'a> {
    featurizer: Featurizer<'a>,
    source: &'a mut dyn ChunkSource,
    rows: usize,
    columns: usize,
    chunk: usize,
    finish: Option<Finish<'a>>,
}

/// From what comes off a branch to points, `[rows, columns]`.
pub(in crate::learn) type Finish<'a> = Box<dyn Fn(ArrayView2<'_, f32>) -> Array2<f32> + 'a>;

impl<'a> Streamed<'a> {
    /// The features of a map.
    pub(in crate::learn) fn features(
        map: &'a dyn FeatureMap,
        source: &'a mut dyn ChunkSource,
        rows: u64,
        run: &Run,
    ) -> Result<Self> {
        Self::new(
            Branch::features(map)?,
            map.output_dim(),
            None,
            source,
            rows,
            run,
        )
    }

    /// What `finish` makes of the outputs of coefficients, `columns` wide.
    pub(in crate::learn) fn outputs(
        (map, beta_dt): (&'a dyn FeatureMap, &'a Array2<f64>),
        (finish, columns): (Finish<'a>, usize),
        source: &'a mut dyn ChunkSource,
        rows: u64,
        run: &Run,
    ) -> Result<Self> {
        let branch = Branch::outputs(map, beta_dt);
        Self::new(branch, columns, Some(finish), source, rows, run)
    }

    fn new(
        branch: Branch<'a>,
        columns: usize,
        finish: Option<Finish<'a>>,
        source: &'a mut dyn ChunkSource,
        rows: u64,
        run: &Run,
    ) -> Result<Self> {
        let featurizer = Featurizer::new(
            vec![branch],
            source.targets(),
            Destination::Host,
            run.silent(),
        )?;
        let rows = usize::try_from(rows)
            .map_err(|_| Error::shape(format!("{rows} rows do not fit this machine")))?;
        Ok(Self {
            chunk: featurizer.chunk_rows(source),
            featurizer,
            source,
            rows,
            columns,
            finish,
        })
    }
}

impl Points for Streamed<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn for_each_block(&mut self, wanted: &[bool], take: Take<'_>) -> Result<()> {
        let Self {
            featurizer,
            source,
            chunk,
            finish,
            ..
        } = self;
        let mut first = 0;
        let rows = watch_chunks(
            *source,
            *chunk,
            |_| {},
            |chunk| {
                let last = first + chunk.x.nrows();
                let all = wanted.get(first..last).ok_or_else(changed)?;
                let rows: Vec<usize> = (first..last).filter(|&i| wanted[i]).collect();
                let picked = if rows.len() == all.len() {
                    chunk.x
                } else {
                    let inside: Vec<usize> = rows.iter().map(|i| i - first).collect();
                    chunk.x.select(&inside)
                };
                first = last;
                if rows.is_empty() {
                    return Ok(());
                }
                featurizer.rows(&picked, |branches, range| match finish {
                    None => take(&rows[range], branches[0]),
                    Some(finish) => take(&rows[range], finish(branches[0]).view()),
                })
            },
        )?;
        if rows == wanted.len() as u64 {
            Ok(())
        } else {
            Err(changed())
        }
    }
}

fn changed() -> Error {
    Error::shape(
        "the data has other rows than when it was read before; leave it as it is meanwhile",
    )
}

/// Points in memory.
pub(in crate::learn) struct Kept {
    pub(super) points_nd: Array2<f32>,
}

/// Points in memory that are handed over at a time.
const BLOCK: usize = 2048;

impl Kept {
    /// A uniform sample of `most` points, in order (Knuth's algorithm S); all of them if there are
    /// no more.
    pub(in crate::learn) fn sample(
        points: &mut dyn Points,
        most: usize,
        draws: &mut Draws,
    ) -> Result<Self> {
        let all = vec![true; points.rows()];
        Ok(Self::sample_of(points, &all, most, draws)?.0)
    }

    /// As [`Self::sample`], of the points that `count`, `[rows]`, with their numbers.
    pub(in crate::learn) fn sample_of(
        points: &mut dyn Points,
        count: &[bool],
        most: usize,
        draws: &mut Draws,
    ) -> Result<(Self, Vec<usize>)> {
        let mut to_come = count.iter().filter(|counts| **counts).count();
        let mut left = most.min(to_come);
        let mut points_nd = Array2::zeros((left, points.columns()));
        let draw = |&counts: &bool| {
            if !counts {
                return false;
            }
            // With as many left as to come all are taken, and nothing is drawn.
            let take = left == to_come || draws.below(to_come as u64) < left as u64;
            left -= usize::from(take);
            to_come -= 1;
            take
        };
        let wanted: Vec<bool> = count.iter().map(draw).collect();
        let mut numbers = Vec::with_capacity(points_nd.nrows());
        let mut at = 0;
        points.for_each_block(&wanted, &mut |rows, block| {
            points_nd
                .slice_mut(s![at..at + rows.len(), ..])
                .assign(&block);
            at += rows.len();
            numbers.extend_from_slice(rows);
            Ok(())
        })?;
        Ok((Self { points_nd }, numbers))
    }

    /// The points, `[rows, columns]`.
    pub(in crate::learn) fn points(&self) -> ArrayView2<'_, f32> {
        self.points_nd.view()
    }
}

impl Points for Kept {
    fn is_kept(&self) -> bool {
        true
    }

    fn rows(&self) -> usize {
        self.points_nd.nrows()
    }

    fn columns(&self) -> usize {
        self.points_nd.ncols()
    }

    fn for_each_block(&mut self, wanted: &[bool], take: Take<'_>) -> Result<()> {
        let rows: Vec<usize> = (0..wanted.len()).filter(|&i| wanted[i]).collect();
        rows.chunks(BLOCK).try_for_each(|rows| {
            let (first, last) = (rows[0], rows[rows.len() - 1] + 1);
            if last - first == rows.len() {
                take(rows, self.points_nd.slice(s![first..last, ..]))
            } else {
                take(rows, self.points_nd.select(Axis(0), rows).view())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};

    #[test]
    fn samples_are_uniform_and_in_order() {
        let points_nd = Array2::from_shape_fn((20, 1), |(i, _)| i as f32);
        let mut all = Kept { points_nd };
        let mut counts = [0_i32; 20];
        for seed in 0..2000 {
            let mut draws = Seed(seed).stream(Stream::Iteration, 0);
            let some = Kept::sample(&mut all, 5, &mut draws).expect("takes");
            let some = some.points().column(0).to_vec();
            assert!(
                some.len() == 5 && some.is_sorted_by(|a, b| a < b),
                "{some:?}"
            );
            some.iter().for_each(|&i| counts[i as usize] += 1);
        }
        // 500 each, with a deviation of sqrt(2000 / 4 * 3 / 4) = 19.4.
        assert!(counts.iter().all(|c| (c - 500).abs() < 90), "{counts:?}");
        let mut draws = Seed(0).stream(Stream::Iteration, 0);
        let whole = Kept::sample(&mut all, 99, &mut draws).expect("takes");
        assert_eq!(whole.points(), all.points());
        // Of those that count alone, with their numbers.
        let odd: Vec<bool> = (0..20).map(|i| i % 2 == 1).collect();
        for most in [4, 10, 99] {
            let (some, numbers) = Kept::sample_of(&mut all, &odd, most, &mut draws).expect("takes");
            assert_eq!(numbers.len(), most.min(10));
            assert!(numbers.iter().all(|i| i % 2 == 1));
            let of = |i: &usize| *i as f32;
            assert_eq!(
                some.points().column(0).to_vec(),
                numbers.iter().map(of).collect::<Vec<_>>()
            );
        }
    }
}
