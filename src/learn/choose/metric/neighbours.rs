//! Learns weights of columns that minimise the leave-one-out error of a nearest-neighbour (kernel)
//! regression.
//!
//! Gradients of a smooth fit show slow changes. If the target of a row is determined by its few
//! nearest rows, as for geographic positions, the columns that identify these matter, although a
//! fit that does not resolve them has small gradients along them. Here weights are learnt without a
//! fit, for the kernel-weighted mean of the neighbours (Weinberger & Tesauro 2007, "Metric learning
//! for kernel regression", AISTATS), with a sum of distances along columns instead of a squared
//! norm.

use crate::{
    instructions::{Loops, vectorized},
    linalg::entries,
    parallel,
    seed::{Seed, Stream},
};
use ndarray::{Array1, Array2, ArrayView1, Axis};

/// Maximum number of rows.
const MOST_ROWS: usize = 8000;
/// Rows per stochastic gradient step, and number of steps.
const TOLD: usize = 128;
const STEPS: usize = 60;
/// Bound on the number of distances along a column: with many columns fewer rows are used.
const DISTANCES: usize = 6_000_000_000;
const FEWEST_ROWS: usize = 500;
/// Learning rate for the logarithms of weights (Adam, Kingma & Ba 2015, with these decays), which
/// decreases after two thirds of the steps.
const RATE: f64 = 0.3;
const DECAY: f64 = 0.8;
const DECAY_OF_SQUARES: f64 = 0.9;
/// Initial mean distance of two rows: a few of 16,000 are near.
const APART: f64 = 16.0;
/// If at least one row in `MANY` is near, slopes are summed over all rows in order.
const MANY: usize = 16;
/// Rows that are evaluated together.
const TOGETHER: usize = 4;
/// Parallel partial sums.
const PLACES: usize = 32;
/// Rows whose distance exceeds that of the nearest by more than this are ignored: their relative
/// weight is below 1e-4.
const NEAR: f64 = 9.0;

/// Rows with their targets, for predicting each row from the others.
#[derive(Debug)]
pub(in crate::learn) struct Neighbours {
    /// Column-major, in f32: distances need no more precision.
    v_dn: Array2<f32>,
    /// Targets over their standard deviations.
    y_nt: Array2<f64>,
    /// Weight of each row.
    count_n: Array1<f64>,
}

impl Neighbours {
    /// Takes as many rows as the time bound allows, evenly spaced, since files may be sorted.
    pub(in crate::learn) fn new(
        v_nd: &Array2<f64>,
        y_nt: &Array2<f64>,
        count_n: Option<ArrayView1<'_, f64>>,
    ) -> Self {
        let (n, d) = v_nd.dim();
        let most = (DISTANCES / (TOLD * STEPS * d.max(1))).clamp(FEWEST_ROWS, MOST_ROWS);
        let taken = n.min(most);
        let places: Vec<usize> = (0..taken).map(|i| i * n / taken).collect();
        let v_dn = v_nd.select(Axis(0), &places).t().mapv(|v| v as f32);
        let ones = || Array1::ones(taken);
        Self {
            v_dn: v_dn.as_standard_layout().into_owned(),
            y_nt: y_nt.select(Axis(0), &places),
            count_n: count_n.map_or_else(ones, |count_n| count_n.select(Axis(0), &places)),
        }
    }

    /// Finds weights a_d > 0 of the columns that minimise
    ///
    /// `L = mean_i |f_i - y_i|^2`, `f_i = sum_{k != i} c_k e^-D_ik y_k / sum_{k != i} c_k e^-D_ik`,
    /// `D_ik = sum_j a_j |v_ij - v_kj|`
    ///
    /// by stochastic gradient descent, with c_k the weight of row k. `None` for fewer than three
    /// rows, and if all rows are equal.
    pub(in crate::learn) fn weights(&self, seed: Seed) -> Option<Array1<f64>> {
        let (d, n) = self.v_dn.dim();
        let mut draws = seed.stream(Stream::Iteration, 0);
        let apart = self.mean_distance();
        if n < 3 || !(apart > 0.0 && apart.is_finite()) {
            return None;
        }
        let mut log_d = Array1::from_elem(d, (APART / apart).ln());
        let (mut mean_d, mut square_d) = (Array1::<f64>::zeros(d), Array1::<f64>::zeros(d));
        for step in 0..STEPS {
            let told: Vec<usize> = (0..TOLD).map(|_| draws.below(n as u64) as usize).collect();
            let gradient_d = self.gradient(&told, &log_d.mapv(f64::exp)).1;
            mean_d = DECAY * &mean_d + (1.0 - DECAY) * &gradient_d;
            square_d = DECAY_OF_SQUARES * &square_d
                + (1.0 - DECAY_OF_SQUARES) * gradient_d.mapv(|g| g * g);
            let passed = step as i32 + 1;
            let unbiased = (
                1.0 - DECAY.powi(passed),
                1.0 - DECAY_OF_SQUARES.powi(passed),
            );
            let left = (STEPS - step) as f64 / STEPS as f64;
            let rate = RATE * (3.0 * left).min(1.0);
            for ((log, mean), square) in log_d.iter_mut().zip(&mean_d).zip(&square_d) {
                let root = (square / unbiased.1).sqrt();
                if root > 0.0 {
                    *log -= rate * (mean / unbiased.0) / root;
                }
            }
        }
        log_d
            .iter()
            .all(|log| log.is_finite())
            .then(|| log_d.mapv(f64::exp))
    }

    /// Mean over pairs of consecutive rows of the sum of their differences.
    fn mean_distance(&self) -> f64 {
        let n = self.v_dn.ncols();
        let of_column = |v_n: ArrayView1<'_, f32>| {
            let differences = v_n.iter().zip(v_n.iter().skip(1));
            differences
                .map(|(v, w)| f64::from((v - w).abs()))
                .sum::<f64>()
        };
        self.v_dn.rows().into_iter().map(of_column).sum::<f64>() / n.saturating_sub(1).max(1) as f64
    }

    /// L over these rows, and its derivative with respect to the logarithms of the weights.
    fn gradient(&self, told: &[usize], weights_d: &Array1<f64>) -> (f64, Array1<f64>) {
        let narrow_d = weights_d.mapv(|a| a as f32);
        let groups: Vec<&[usize]> = told.chunks(TOGETHER).collect();
        let each = parallel::usual().map(groups.len(), &|g| self.of_rows(groups[g], &narrow_d));
        let count: f64 = told.iter().map(|&i| self.count_n[i]).sum();
        let (mut loss, mut slope_d) = (0.0, Array1::zeros(weights_d.len()));
        for (of_rows, slope_of_rows_d) in each {
            loss += of_rows;
            slope_d += &slope_of_rows_d;
        }
        if count > 0.0 {
            loss /= count;
            slope_d /= count;
        }
        (loss, slope_d * weights_d)
    }

    /// Sums over rows i of `c_i |f_i - y_i|^2` and of its derivative with respect to the weights,
    /// `-2 c_i sum_k w_k (y_k - f_i)'(f_i - y_i) |v_ij - v_kj|`, with w_k the share of row k in
    /// f_i.
    fn of_rows(&self, rows: &[usize], weights_d: &Array1<f32>) -> (f64, Array1<f64>) {
        let each = rows.iter().zip(self.distances(rows, weights_d));
        let each: Vec<Told> = each
            .map(|(&i, distance_n)| self.told(i, &distance_n))
            .collect();
        let loss = each.iter().map(|told| told.loss).sum();
        (loss, -2.0 * self.slopes(&each))
    }

    /// D from each of some rows to all. A column is still in the cache when the second row needs
    /// it.
    fn distances(&self, rows: &[usize], weights_d: &Array1<f32>) -> Vec<Vec<f32>> {
        let mut all = vec![vec![0.0_f32; self.v_dn.ncols()]; rows.len()];
        for (v_n, &weight) in self.columns().zip(weights_d) {
            for (&i, distance_n) in rows.iter().zip(&mut all) {
                let own = v_n[i];
                vectorized(AddDistances {
                    v_n,
                    own,
                    weight,
                    distance_n,
                });
            }
        }
        all
    }

    /// Prediction of row i from the others.
    fn told(&self, i: usize, distance_n: &[f32]) -> Told {
        let others = |k: &usize| *k != i && self.count_n[*k] > 0.0;
        let all = (0..distance_n.len()).filter(others);
        let nearest = all
            .clone()
            .map(|k| f64::from(distance_n[k]))
            .fold(f64::INFINITY, f64::min);
        let near: Vec<usize> = all
            .filter(|&k| f64::from(distance_n[k]) < nearest + NEAR)
            .collect();
        let mut share_m = Array1::from_iter(near.iter().map(|&k| -f64::from(distance_n[k])));
        entries::exp_below(share_m.view_mut(), -nearest);
        share_m.zip_mut_with(&self.count_n.select(Axis(0), &near), |share, count| {
            *share *= count
        });
        let sum = share_m.sum();
        if sum.is_nan() || sum <= 0.0 {
            return Told {
                row: i,
                loss: 0.0,
                near: Vec::new(),
                along_m: Array1::zeros(0),
            };
        }
        share_m /= sum;
        let y_mt = self.y_nt.select(Axis(0), &near);
        let told_t = share_m.dot(&y_mt);
        let error_t = &told_t - &self.y_nt.row(i);
        let count = self.count_n[i];
        Told {
            row: i,
            loss: count * error_t.dot(&error_t),
            along_m: count * (y_mt - &told_t).dot(&error_t) * &share_m,
            near,
        }
    }

    /// `sum_i sum_k a_ik |v_ij - v_kj|` for each column j, over the rows k near row i. If these are
    /// many, all rows are read in memory order, which is faster than gathering.
    fn slopes(&self, each: &[Told]) -> Array1<f64> {
        let n = self.v_dn.ncols();
        let all_along = each.iter().map(|told| {
            (told.near.len() >= n / MANY).then(|| {
                let mut along_n = vec![0.0_f32; n];
                for (&k, &along) in told.near.iter().zip(&told.along_m) {
                    along_n[k] = along as f32;
                }
                along_n
            })
        });
        let all_along: Vec<Option<Vec<f32>>> = all_along.collect();
        let of_column = |v_n: &[f32]| {
            let of_row = |(told, along_n): (&Told, &Option<Vec<f32>>)| {
                let own = v_n[told.row];
                match along_n {
                    Some(along_n) => vectorized(SumAlong { v_n, own, along_n }),
                    None => {
                        let pairs = told.near.iter().zip(&told.along_m);
                        pairs
                            .map(|(&k, along)| along * f64::from((v_n[k] - own).abs()))
                            .sum()
                    }
                }
            };
            each.iter().zip(&all_along).map(of_row).sum::<f64>()
        };
        self.columns().map(of_column).collect()
    }

    fn columns(&self) -> impl Iterator<Item = &[f32]> {
        self.v_dn
            .rows()
            .into_iter()
            .filter_map(|v_n| v_n.to_slice())
    }
}

/// Prediction of a row from the other rows.
struct Told {
    row: usize,
    /// `c_i |f_i - y_i|^2`
    loss: f64,
    /// Rows with a non-negligible weight.
    near: Vec<usize>,
    /// `c_i w_k (y_k - f_i)'(f_i - y_i)` for each of these.
    along_m: Array1<f64>,
}

/// `D_k += a |v_k - own|`
struct AddDistances<'a> {
    v_n: &'a [f32],
    own: f32,
    weight: f32,
    distance_n: &'a mut [f32],
}

impl Loops for AddDistances<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (distance, &v) in self.distance_n.iter_mut().zip(self.v_n) {
            *distance += self.weight * (v - self.own).abs();
        }
    }
}

/// `sum_k a_k |v_k - own|`, in as many partial sums as two registers have lanes, a fixed number for
/// all processors.
struct SumAlong<'a> {
    v_n: &'a [f32],
    own: f32,
    along_n: &'a [f32],
}

impl Loops for SumAlong<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let own = self.own;
        let mut sums = [0.0_f32; PLACES];
        let (v_chunks, v_rest) = self.v_n.as_chunks::<PLACES>();
        let (along_chunks, along_rest) = self.along_n.as_chunks::<PLACES>();
        for (v, along) in v_chunks.iter().zip(along_chunks) {
            for p in 0..PLACES {
                sums[p] += along[p] * (v[p] - own).abs();
            }
        }
        for ((v, along), sum) in v_rest.iter().zip(along_rest).zip(&mut sums) {
            *sum += along * (v - own).abs();
        }
        sums.iter().map(|&sum| f64::from(sum)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Draws;

    /// Rows of four columns; the first target often jumps with the third column, the second depends
    /// a little on the first.
    fn rows(n: usize) -> (Array2<f64>, Array2<f64>, Draws) {
        let mut draws = Seed(8).stream(Stream::Data, 0);
        let v_nd = Array2::from_shape_simple_fn((n, 4), || draws.normal());
        let y_nt = Array2::from_shape_fn((n, 2), |(i, t)| match t {
            0 => f64::from((v_nd[[i, 2]] * 5.0).floor() as i32 % 2),
            _ => 0.1 * v_nd[[i, 0]],
        });
        (v_nd, y_nt, draws)
    }

    /// The gradient equals differences of L, if many rows are near and if few are. A missing factor
    /// of 2, a wrong column, or the row itself among its neighbours would fail.
    #[test]
    fn the_gradient_is_that_of_differences() {
        let (v_nd, y_nt, mut draws) = rows(120);
        let count_n = Array1::from_shape_simple_fn(120, || draws.uniform() + 0.1);
        let of = Neighbours::new(&v_nd, &y_nt, Some(count_n.view()));
        let told: Vec<usize> = (0..42).collect();
        for narrow in [0.0, 2.5] {
            let log_d = ndarray::array![0.3, -0.4, 0.8, 0.1] + narrow;
            let (loss, gradient_d) = of.gradient(&told, &log_d.mapv(f64::exp));
            assert!(loss > 0.05 && loss < 1.0, "{loss}");
            let size = gradient_d.mapv(f64::abs).sum();
            for j in 0..4 {
                let at = |by: f64| {
                    let mut moved_d = log_d.clone();
                    moved_d[j] += by;
                    of.gradient(&told, &moved_d.mapv(f64::exp)).0
                };
                let expected = (at(5e-3) - at(-5e-3)) / 1e-2;
                let off = (gradient_d[j] - expected).abs();
                assert!(off < 3e-3 * size, "{gradient_d} {expected} {j}");
            }
        }
    }

    /// L of two rows with weight and one without, computed by hand.
    #[test]
    fn a_row_is_told_by_the_others_that_count() {
        let v_nd = ndarray::array![[0.0], [1.0], [3.0], [0.1]];
        let y_nt = ndarray::array![[1.0], [2.0], [4.0], [9.0]];
        let count_n = ndarray::array![1.0, 2.0, 0.5, 0.0];
        let of = Neighbours::new(&v_nd, &y_nt, Some(count_n.view()));
        let (near, far) = (2.0 * (-0.5_f64).exp(), 0.5 * (-1.5_f64).exp());
        let told = (near * 2.0 + far * 4.0) / (near + far);
        let (loss, _) = of.gradient(&[0], &ndarray::array![0.5]);
        assert!(
            (loss - (told - 1.0_f64).powi(2)).abs() < 1e-6,
            "{loss} {told}"
        );
    }

    #[test]
    fn columns_that_tell_get_weights_and_others_lose_them() {
        let (v_nd, y_nt, _) = rows(3000);
        let of = Neighbours::new(&v_nd, &y_nt, None);
        let weights_d = of.weights(Seed(1)).expect("weights");
        let others = weights_d[1].max(weights_d[3]);
        assert!(weights_d[2] > 20.0 * others, "{weights_d}");
        assert_eq!(
            of.weights(Seed(1)).expect("weights"),
            weights_d,
            "one seed, one answer"
        );
        let same = Array2::ones((9, 3));
        assert_eq!(
            Neighbours::new(&same, &Array2::ones((9, 1)), None).weights(Seed(1)),
            None
        );
    }
}
