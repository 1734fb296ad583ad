//! Points for repeated passes: features of a stream, or rows in memory.

use crate::{
    Error, Result,
    data::ChunkSource,
    features::{Branch, Destination, FeatureMap, Featurizer},
    flow::{Run, watch_chunks},
    seed::Draws,
};
use ndarray::{Array2, ArrayView2, Axis, s};

/// Callback that gets the indices of some points, and the points, `[rows, columns]`.
pub(in crate::learn) type Take<'t> = &'t mut dyn FnMut(&[usize], ArrayView2<'_, f32>) -> Result<()>;

/// Points of a space that can be read in order any number of times.
pub(in crate::learn) trait Points {
    /// Number of points.
    fn rows(&self) -> usize;

    /// Dimension of the space.
    fn columns(&self) -> usize;

    /// Calls `take` with the points that are `wanted`, `[rows]`, in order and in blocks: their
    /// indices, and the points.
    fn for_each_block(&mut self, wanted: &[bool], take: Take<'_>) -> Result<()>;
}

/// Points computed in each pass: outputs of a pipeline branch, transformed by `finish`.
pub(in crate::learn) struct Streamed<'a> {
    featurizer: Featurizer<'a>,
    source: &'a mut dyn ChunkSource,
    rows: usize,
    columns: usize,
    chunk: usize,
    finish: Option<Finish<'a>>,
}

/// Transforms outputs of a branch to points, `[rows, columns]`.
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

    /// Outputs of coefficients transformed by `finish`, `columns` wide.
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

/// Points per block of points in memory.
const BLOCK: usize = 2048;

impl Kept {
    /// Reads all points into memory.
    pub(super) fn all(points: &mut dyn Points) -> Result<Self> {
        let all = vec![true; points.rows()];
        Self::wanted(points, &all)
    }

    /// A uniform sample of `most` points, in order, or all if there are fewer.
    pub(in crate::learn) fn sample(
        points: &mut dyn Points,
        most: usize,
        draws: &mut Draws,
    ) -> Result<Self> {
        let wanted = sample_of(&vec![true; points.rows()], most, draws);
        Self::wanted(points, &wanted)
    }

    /// Reads the points that are `wanted`, `[rows]`, into memory.
    pub(super) fn wanted(points: &mut dyn Points, wanted: &[bool]) -> Result<Self> {
        let rows = wanted.iter().filter(|wanted| **wanted).count();
        let mut points_nd = Array2::zeros((rows, points.columns()));
        let mut at = 0;
        points.for_each_block(wanted, &mut |rows, block| {
            points_nd
                .slice_mut(s![at..at + rows.len(), ..])
                .assign(&block);
            at += rows.len();
            Ok(())
        })?;
        Ok(Self { points_nd })
    }

    /// The points, `[rows, columns]`.
    pub(in crate::learn) fn points(&self) -> ArrayView2<'_, f32> {
        self.points_nd.view()
    }
}

impl Points for Kept {
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

/// Subset of other points, by ascending indices.
pub(super) struct Subset<'a> {
    pub(super) points: &'a mut dyn Points,
    pub(super) numbers: Vec<usize>,
}

impl Points for Subset<'_> {
    fn rows(&self) -> usize {
        self.numbers.len()
    }

    fn columns(&self) -> usize {
        self.points.columns()
    }

    fn for_each_block(&mut self, wanted: &[bool], take: Take<'_>) -> Result<()> {
        let mut wanted_of_all = vec![false; self.points.rows()];
        let rows: Vec<usize> = (0..wanted.len()).filter(|&i| wanted[i]).collect();
        for &i in &rows {
            wanted_of_all[self.numbers[i]] = true;
        }
        let mut done = 0;
        self.points
            .for_each_block(&wanted_of_all, &mut |block, z_nd| {
                let own = &rows[done..done + block.len()];
                done += block.len();
                take(own, z_nd)
            })
    }
}

/// Marks a uniform sample of `most` of the points marked in `count`, `[rows]` (Knuth's algorithm
/// S), or all of these if there are fewer.
pub(super) fn sample_of(count: &[bool], most: usize, draws: &mut Draws) -> Vec<bool> {
    let mut to_come = count.iter().filter(|counts| **counts).count();
    let mut left = most.min(to_come);
    let draw = |&counts: &bool| {
        if !counts {
            return false;
        }
        // If all remaining points are needed, nothing is drawn.
        let take = left == to_come || draws.below(to_come as u64) < left as u64;
        left -= usize::from(take);
        to_come -= 1;
        take
    };
    count.iter().map(draw).collect()
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
        // Expected: 500 each, with a standard deviation of sqrt(2000 / 4 * 3 / 4) = 19.4.
        assert!(counts.iter().all(|c| (c - 500).abs() < 90), "{counts:?}");
        let mut draws = Seed(0).stream(Stream::Iteration, 0);
        let whole = Kept::sample(&mut all, 99, &mut draws).expect("takes");
        assert_eq!(whole.points(), all.points());
        // Samples from marked points only.
        let odd: Vec<bool> = (0..20).map(|i| i % 2 == 1).collect();
        for most in [4, 10, 99] {
            let wanted = sample_of(&odd, most, &mut draws);
            let numbers: Vec<usize> = (0..20).filter(|&i| wanted[i]).collect();
            assert_eq!(numbers.len(), most.min(10));
            assert!(numbers.iter().all(|i| i % 2 == 1));
            let of = |i: &usize| *i as f32;
            let expected: Vec<f32> = numbers.iter().map(of).collect();
            let kept = Kept::wanted(&mut all, &wanted).expect("takes");
            assert_eq!(kept.points().column(0).to_vec(), expected);
            let points = &mut all;
            let mut some = Subset { points, numbers };
            let kept = Kept::all(&mut some).expect("takes");
            assert_eq!(kept.points().column(0).to_vec(), expected);
            let first = some.rows() - 1;
            let last: Vec<bool> = (0..some.rows()).map(|i| i == first).collect();
            let take = &mut |rows: &[usize], z_nd: ArrayView2<'_, f32>| {
                assert_eq!((rows, z_nd[[0, 0]]), (&[first][..], expected[first]));
                Ok(())
            };
            some.for_each_block(&last, take).expect("takes");
        }
    }
}
