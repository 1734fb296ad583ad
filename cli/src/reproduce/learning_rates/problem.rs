//! A regression of which everything is known: the target, the noise, and kernel ridge regression
//! itself, which for this kernel takes n operations instead of n^3.

use bochner::{
    prelude::Seed,
    seed::{Draws, Stream},
};
use ndarray::Array2;
use std::f64::consts::TAU;

/// The kernel is exp(-|x - y| / l) with this l: long, so that few functions have large eigenvalues.
pub(super) const LENGTH: f64 = 1.0;
/// Standard deviation of the noise; that of the target is 1.
pub(super) const NOISE: f64 = 0.5;
/// Cosines of the target.
pub(super) const TERMS: usize = 1000;
/// Where the target has its cusp.
const CUSP: f64 = 0.3;
/// Points of the midpoint rule for the excess risk: more than twice as many as cosines.
const POINTS: usize = 4096;

/// `f(x) = c sum_k k^(-3/2) cos(2 pi k (x - 0.3))`, k to 1000, c such that f has variance 1 for x
/// uniform. The eigenvalues of the kernel fall as k^-2, so that f is on the edge of its space.
#[derive(Debug)]
pub(super) struct Target {
    amplitudes: Vec<f64>,
}

impl Target {
    pub(super) fn new() -> Self {
        let raw = (1..=TERMS).map(|k| (k as f64).powf(-1.5));
        let raw: Vec<f64> = raw.collect();
        let variance: f64 = raw.iter().map(|a| a * a / 2.0).sum();
        let amplitudes = raw.iter().map(|a| a / variance.sqrt()).collect();
        Self { amplitudes }
    }

    pub(super) fn at(&self, x: f64) -> f64 {
        // Clenshaw's recurrence.
        let cosine = (TAU * (x - CUSP)).cos();
        let (mut next, mut after) = (0.0, 0.0);
        for a in self.amplitudes.iter().rev() {
            (next, after) = (a + 2.0 * cosine * next - after, next);
        }
        cosine * next - after
    }
}

/// Rows in ascending order, with noisy targets.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
}

impl Sample {
    /// x uniform on [0, 1], y = f(x) + 0.5 normal.
    pub(super) fn draw(target: &Target, n: usize, seed: Seed) -> Self {
        let mut draws: Draws = seed.stream(Stream::Data, n as u64);
        let mut x: Vec<f64> = (0..n).map(|_| draws.uniform()).collect();
        x.sort_by(f64::total_cmp);
        let y = x.iter().map(|&x| target.at(x) + NOISE * draws.normal());
        let y = y.collect();
        Self { x, y }
    }

    pub(super) fn column(&self) -> Array2<f64> {
        column(&self.x)
    }

    /// Kernel ridge regression with the penalty `lambda` per row: its values at `at`, ascending.
    ///
    /// Values of a Gaussian process with this kernel are a Markov chain along x, so that the
    /// inverse P of the kernel matrix has three diagonals, and K (K + n lambda I)^-1 y is the
    /// solution of (I + n lambda P) f = y. Between two rows f is what the process is expected to
    /// be.
    pub(super) fn exact(&self, lambda: f64, at: &[f64]) -> Vec<f64> {
        let n = self.x.len();
        let penalty = n as f64 * lambda;
        // Correlation of neighbours, and one less its square.
        let apart = |from: f64, to: f64| {
            let steps = (to - from) / LENGTH;
            ((-steps).exp(), -(-2.0 * steps).exp_m1())
        };
        let pairs: Vec<(f64, f64)> = self.x.windows(2).map(|w| apart(w[0], w[1])).collect();
        let mut diagonal = vec![1.0 + penalty; n];
        for (i, (_, rest)) in pairs.iter().enumerate() {
            // 1 / (1 - r^2) is one more than r^2 / (1 - r^2).
            let more = penalty * (1.0 / rest - 1.0);
            diagonal[i] += more;
            diagonal[i + 1] += more;
        }
        let mut f = self.y.clone();
        for (i, (r, rest)) in pairs.iter().enumerate() {
            let factor = penalty * r / rest / diagonal[i];
            diagonal[i + 1] -= factor * penalty * r / rest;
            f[i + 1] += factor * f[i];
        }
        f[n - 1] /= diagonal[n - 1];
        for (i, (r, rest)) in pairs.iter().enumerate().rev() {
            f[i] = (f[i] + penalty * r / rest * f[i + 1]) / diagonal[i];
        }
        let between = |&x: &f64| {
            let above = self.x.partition_point(|row| *row <= x);
            match above {
                0 => f[0] * apart(x, self.x[0]).0,
                above if above == n => f[n - 1] * apart(self.x[n - 1], x).0,
                above => {
                    let (a, rest_a) = apart(self.x[above - 1], x);
                    let (b, rest_b) = apart(x, self.x[above]);
                    (a * rest_b * f[above - 1] + b * rest_a * f[above]) / pairs[above - 1].1
                }
            }
        };
        at.iter().map(between).collect()
    }
}

fn column(x: &[f64]) -> Array2<f64> {
    Array2::from_shape_fn((x.len(), 1), |(i, _)| x[i])
}

/// Where predictions are compared with the target.
#[derive(Debug)]
pub(super) struct Judge {
    pub(super) points: Vec<f64>,
    values: Vec<f64>,
}

impl Judge {
    pub(super) fn new(target: &Target) -> Self {
        let points = (0..POINTS).map(|i| (i as f64 + 0.5) / POINTS as f64);
        let points: Vec<f64> = points.collect();
        let values = points.iter().map(|&x| target.at(x)).collect();
        Self { points, values }
    }

    pub(super) fn rows(&self) -> Array2<f64> {
        column(&self.points)
    }

    /// The integral of (g - f)^2, which is the risk of g less that of f.
    pub(super) fn excess<'a>(&self, predicted: impl IntoIterator<Item = &'a f64>) -> f64 {
        let pairs = predicted.into_iter().zip(&self.values);
        pairs.map(|(g, f)| (g - f) * (g - f)).sum::<f64>() / POINTS as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner::{
        features::{Bandwidth, KernelColumns, Standardize},
        kernels::Exponential,
        models::KernelRidge,
    };
    use ndarray::Array1;

    #[test]
    fn the_chain_is_kernel_ridge_regression() {
        let target = Target::new();
        let sample = Sample::draw(&target, 150, Seed(3));
        let judge = Judge::new(&target);
        for lambda in [0.1, 1e-3] {
            let model = KernelRidge::on(KernelColumns::new(Exponential))
                .bandwidth(Bandwidth::Sigma(LENGTH))
                .standardize(Standardize::No)
                .lambda(lambda)
                .intercept(false)
                .device(&bochner::Device::cpu())
                .fit((&sample.column(), &Array1::from(sample.y.clone())))
                .unwrap();
            let library: Array1<f64> = model.predict(judge.rows()).unwrap();
            let chain = sample.exact(lambda, &judge.points);
            let off = |(a, b): (&f64, &f64)| (a - b).abs();
            let worst = library.iter().zip(&chain).map(off).fold(0.0, f64::max);
            assert!(worst < 1e-4, "{lambda}: {worst}");
        }
    }

    #[test]
    fn the_target_is_its_sum_and_has_variance_one() {
        let target = Target::new();
        for x in [0.0, 0.123, 0.3, 0.77] {
            let terms = target.amplitudes.iter().enumerate();
            let sum: f64 = terms
                .map(|(k, a)| a * (TAU * (k + 1) as f64 * (x - CUSP)).cos())
                .sum();
            assert!((target.at(x) - sum).abs() < 1e-9, "{x}");
        }
        let judge = Judge::new(&target);
        assert!((judge.excess(&vec![0.0; POINTS]) - 1.0).abs() < 1e-9);
    }
}
