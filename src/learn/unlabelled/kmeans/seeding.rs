//! Initial centres of clusters.

use super::{Kept, Points};
use crate::{Error, Result, parallel, seed::Draws, text::counted};
use ndarray::{Array2, ArrayView2};
use std::collections::BTreeSet;

/// k-means++: the first centre is a uniform random point, each other one is drawn with probability
/// proportional to its squared distance to the nearest centre. Of 2 + ln k candidates the one with
/// the smallest remaining sum of squared distances is kept (Arthur and Vassilvitskii 2007;
/// candidates as in scikit-learn). Weights of points, `[rows]`, count in each draw and each sum.
///
/// Errors with [`Error::Numerical`] if there are fewer distinct points than centres.
pub(super) fn plus_plus(
    points: &mut dyn Points,
    weights_n: Option<&[f64]>,
    k: usize,
    draws: &mut Draws,
) -> Result<Array2<f64>> {
    let rows = points.rows();
    let candidates = 2 + (k as f64).ln() as usize;
    let mut centres_kd = Array2::zeros((k, points.columns()));
    let mut nearest = vec![f64::INFINITY; rows];
    let weighed = |distances: &[f64]| match weights_n {
        None => distances.to_vec(),
        Some(weights_n) => distances
            .iter()
            .zip(weights_n)
            .map(|(d, w)| d * w)
            .collect(),
    };
    for c in 0..k {
        let drawn: Vec<usize> = match (c, weights_n) {
            (0, None) => vec![draws.below(rows as u64) as usize],
            (0, Some(weights_n)) => drawn(weights_n, draws).into_iter().collect(),
            _ => {
                let shares = weighed(&nearest);
                let each = (0..candidates).filter_map(|_| drawn(&shares, draws));
                each.collect()
            }
        };
        let (drawn_rd, places) = rows_of(points, &drawn)?;
        let left = distances(points, drawn_rd.view(), &nearest)?;
        let sums: Vec<f64> = left.iter().map(|left| sum(&weighed(left))).collect();
        let best = places
            .into_iter()
            .min_by(|&a, &b| sums[a].total_cmp(&sums[b]));
        let Some(best) = best else {
            return Err(Error::numerical(format!(
                "the rows (or a sample of them) are {} in feature space, which do not make {k} \
                 clusters; ask for fewer clusters",
                counted(c, "different point")
            )));
        };
        nearest.clone_from(&left[best]);
        let centre = drawn_rd.row(best).mapv(f64::from);
        centres_kd.row_mut(c).assign(&centre);
    }
    Ok(centres_kd)
}

/// The points with these indices, each once, and the row of each index.
fn rows_of(points: &mut dyn Points, numbers: &[usize]) -> Result<(Array2<f32>, Vec<usize>)> {
    let mut wanted = vec![false; points.rows()];
    numbers.iter().for_each(|&i| wanted[i] = true);
    let kept = Kept::wanted(points, &wanted)?;
    let ascending: BTreeSet<usize> = numbers.iter().copied().collect();
    let ascending: Vec<usize> = ascending.into_iter().collect();
    let place = |i: &usize| ascending.partition_point(|other| other < i);
    Ok((kept.points_nd, numbers.iter().map(place).collect()))
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

/// Draws a point with probability proportional to `weights`; `None` if all are zero.
fn drawn(weights: &[f64], draws: &mut Draws) -> Option<usize> {
    let total = sum(weights);
    let mut rest = draws.uniform() * total;
    let mut last = None;
    for (i, &weight) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
        last = Some(i);
        rest -= weight;
        if rest <= 0.0 {
            break;
        }
    }
    last
}

/// Squared distance of every point to each of `centres_rd`, capped at `nearest`: `[centres][rows]`.
fn distances(
    points: &mut dyn Points,
    centres_rd: ArrayView2<'_, f32>,
    nearest: &[f64],
) -> Result<Vec<Vec<f64>>> {
    let centres: Vec<Vec<f32>> = centres_rd.rows().into_iter().map(|c| c.to_vec()).collect();
    let mut found = vec![Vec::with_capacity(nearest.len()); centres.len()];
    let all = vec![true; points.rows()];
    points.for_each_block(&all, &mut |rows, z_nd| {
        let z_nd = z_nd.as_standard_layout();
        for (found, centre) in found.iter_mut().zip(&centres) {
            found.extend(parallel::at_least(128).numbers(rows.len(), &|at| {
                let row = z_nd.row(at);
                let row = row.as_slice().unwrap_or_default();
                nearest[rows[at]].min(squared_distance(row, centre))
            }));
        }
        Ok(())
    })?;
    Ok(found)
}

/// `|a - b|^2`, in partial sums that fit into vector registers: exactly 0 for equal points.
pub(super) fn squared_distance(a: &[f32], b: &[f32]) -> f64 {
    const LANES: usize = 32;
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += (a - b) * (a - b);
        }
    }
    let rest: f32 = a_rest
        .iter()
        .zip(b_rest)
        .map(|(a, b)| (a - b).powi(2))
        .sum();
    sums.iter().map(|&s| f64::from(s)).sum::<f64>() + f64::from(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};
    use ndarray::array;

    fn kept(points_nd: Array2<f32>) -> Kept {
        Kept { points_nd }
    }

    /// From 0, the points 1 and 3 are drawn with 1/10 and 9/10; with two candidates, 1 is kept only
    /// if both are 1.
    #[test]
    fn centres_are_drawn_by_squared_distances_and_the_best_candidate_is_taken() {
        let points = array![[0.0_f32], [1.0], [3.0]];
        let (mut first, mut near) = ([0; 3], 0);
        let seeds = 30_000;
        for seed in 0..seeds {
            let mut draws = Seed(seed).stream(Stream::Iteration, 1);
            let centres =
                plus_plus(&mut kept(points.clone()), None, 2, &mut draws).expect("three points");
            let place = [0.0, 1.0, 3.0].map(|p| p == centres[[0, 0]]);
            first[place.iter().position(|p| *p).expect("a point")] += 1;
            near += usize::from(place[0] && centres[[1, 0]] == 1.0);
        }
        // A third of all draws, with a standard deviation of 82.
        assert!(
            first.iter().all(|&n: &i32| (n - 10_000).abs() < 330),
            "{first:?}"
        );
        // One hundredth of 10,000, with a standard deviation of 10.
        assert!((60..140).contains(&near), "{near}");
        let mut draws = Seed(0).stream(Stream::Iteration, 1);
        let twice = array![[2.0_f32], [2.0]];
        assert!(matches!(
            plus_plus(&mut kept(twice), None, 2, &mut draws),
            Err(Error::Numerical(_))
        ));
    }

    /// With weights 1, 0, 2, 1 at 0, 1, 3, 2 the first centre is drawn by weight, and after 0 the
    /// others with 0, 0, 18, 4: with two candidates, the one at 2 leaves 2, that at 3 leaves 1.
    #[test]
    fn centres_are_drawn_by_weights_times_squared_distances() {
        let points = array![[0.0_f32], [1.0], [3.0], [2.0]];
        let weights = [1.0, 0.0, 2.0, 1.0];
        let (mut first, mut second) = ([0; 4], 0);
        let seeds = 30_000;
        for seed in 0..seeds {
            let mut draws = Seed(seed).stream(Stream::Iteration, 1);
            let centres = plus_plus(&mut kept(points.clone()), Some(&weights), 2, &mut draws);
            let centres = centres.expect("three points that count");
            let at = |c: usize| {
                let place = points.iter().position(|p| f64::from(*p) == centres[[c, 0]]);
                place.expect("a point")
            };
            first[at(0)] += 1;
            second += usize::from(at(0) == 0 && at(1) == 3);
        }
        // Standard deviations of at most 87.
        let expected = [7500, 0, 15_000, 7500];
        let off = first
            .iter()
            .zip(expected)
            .map(|(n, e): (&i32, i32)| (n - e).abs());
        assert!(off.max() < Some(330) && first[1] == 0, "{first:?}");
        // (4 / 22)^2 of 7,500 = 248, with a standard deviation of 16.
        assert!((185..311).contains(&second), "{second}");
    }

    #[test]
    fn squared_distances_are_sums_of_squares() {
        for columns in [1, 31, 32, 33, 100] {
            let [a, b] = [1, 2].map(|seed| crate::check::normal(1, columns, seed).row(0).to_vec());
            let each = a.iter().zip(&b).map(|(a, b)| f64::from(a - b).powi(2));
            let own: f64 = each.sum();
            assert!(
                (squared_distance(&a, &b) / own - 1.0).abs() < 1e-6,
                "{columns}"
            );
        }
    }
}
