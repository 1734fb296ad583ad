//! Where clusters start.

use crate::{Error, Result, parallel, seed::Draws, text::counted};
use ndarray::{Array2, ArrayView2};

/// k-means++: the first centre is a uniform point, each other one a point drawn by its squared
/// distance to the nearest centre; of 2 + ln k candidates the one that leaves the least of it is
/// taken (Arthur and Vassilvitskii 2007; the candidates as in scikit-learn). Where points have
/// weights, `[rows]`, each draw and each sum counts them.
///
/// Errors with [`Error::Numerical`] when there are fewer different points than centres.
pub(super) fn plus_plus(
    points_nd: ArrayView2<'_, f32>,
    weights_n: Option<&[f64]>,
    k: usize,
    draws: &mut Draws,
) -> Result<Array2<f64>> {
    let (rows, columns) = points_nd.dim();
    let candidates = 2 + (k as f64).ln() as usize;
    let mut centres_kd = Array2::zeros((k, columns));
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
        let chosen = match c {
            0 => {
                let first = match weights_n {
                    None => Some(draws.below(rows as u64) as usize),
                    Some(weights_n) => drawn(weights_n, draws),
                };
                first.map(|first| (first, distances(points_nd, first, &nearest)))
            }
            _ => {
                let shares = weighed(&nearest);
                (0..candidates)
                    .filter_map(|_| {
                        let i = drawn(&shares, draws)?;
                        Some((i, distances(points_nd, i, &nearest)))
                    })
                    .min_by(|(_, a), (_, b)| sum(&weighed(a)).total_cmp(&sum(&weighed(b))))
            }
        };
        let Some((i, left)) = chosen else {
            return Err(Error::numerical(format!(
                "the rows (or a sample of them) are {} in feature space, which do not make {k} \
                 clusters; ask for fewer clusters",
                counted(c, "different point")
            )));
        };
        nearest = left;
        centres_kd
            .row_mut(c)
            .assign(&points_nd.row(i).mapv(f64::from));
    }
    Ok(centres_kd)
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

/// A point with the probability of its share of `weights`; `None` when all are zero.
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

/// The squared distance of every point to point `i`, or what is `nearest` if that is less.
fn distances(points_nd: ArrayView2<'_, f32>, i: usize, nearest: &[f64]) -> Vec<f64> {
    let centre = points_nd.row(i).to_vec();
    parallel::at_least(128).numbers(nearest.len(), &|j| {
        let row = points_nd.row(j);
        let square = match row.as_slice() {
            Some(row) => squared_distance(row, &centre),
            None => squared_distance(&row.to_vec(), &centre),
        };
        nearest[j].min(square)
    })
}

/// `|a - b|^2`, in partial sums that stay in vector registers: exactly 0 for equal points.
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

    /// From 0, the points 1 and 3 are drawn with 1/10 and 9/10; two candidates leave 1 only if both
    /// are 1.
    #[test]
    fn centres_are_drawn_by_squared_distances_and_the_best_candidate_is_taken() {
        let points = array![[0.0_f32], [1.0], [3.0]];
        let (mut first, mut near) = ([0; 3], 0);
        let seeds = 30_000;
        for seed in 0..seeds {
            let mut draws = Seed(seed).stream(Stream::Iteration, 1);
            let centres = plus_plus(points.view(), None, 2, &mut draws).expect("three points");
            let place = [0.0, 1.0, 3.0].map(|p| p == centres[[0, 0]]);
            first[place.iter().position(|p| *p).expect("a point")] += 1;
            near += usize::from(place[0] && centres[[1, 0]] == 1.0);
        }
        // A third of all, with a deviation of 82.
        assert!(
            first.iter().all(|&n: &i32| (n - 10_000).abs() < 330),
            "{first:?}"
        );
        // One hundredth of 10,000, with a deviation of 10.
        assert!((60..140).contains(&near), "{near}");
        let mut draws = Seed(0).stream(Stream::Iteration, 1);
        let twice = array![[2.0_f32], [2.0]];
        assert!(matches!(
            plus_plus(twice.view(), None, 2, &mut draws),
            Err(Error::Numerical(_))
        ));
    }

    /// With weights 1, 0, 2, 1 at 0, 1, 3, 2 the first centre is drawn by them, and beside 0 the
    /// others by 0, 0, 18, 4: of two candidates the one at 2 leaves 2, that at 3 leaves 1.
    #[test]
    fn centres_are_drawn_by_weights_times_squared_distances() {
        let points = array![[0.0_f32], [1.0], [3.0], [2.0]];
        let weights = [1.0, 0.0, 2.0, 1.0];
        let (mut first, mut second) = ([0; 4], 0);
        let seeds = 30_000;
        for seed in 0..seeds {
            let mut draws = Seed(seed).stream(Stream::Iteration, 1);
            let centres = plus_plus(points.view(), Some(&weights), 2, &mut draws);
            let centres = centres.expect("three points that count");
            let at = |c: usize| {
                let place = points.iter().position(|p| f64::from(*p) == centres[[c, 0]]);
                place.expect("a point")
            };
            first[at(0)] += 1;
            second += usize::from(at(0) == 0 && at(1) == 3);
        }
        // Deviations of at most 87.
        let expected = [7500, 0, 15_000, 7500];
        let off = first
            .iter()
            .zip(expected)
            .map(|(n, e): (&i32, i32)| (n - e).abs());
        assert!(off.max() < Some(330) && first[1] == 0, "{first:?}");
        // (4 / 22)^2 of 7,500 = 248, with a deviation of 16.
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
