use super::{
    BlockForm, ColumnFactor, Kernel, Norm, SpectralMeasure, canonical_ratio, checked_gamma,
    l1_distance,
};
use crate::{error::Result, seed::Draws, special};
use std::f64::consts::PI;

/// k(x, y) = exp(-gamma |x - y|_1), at unit scale gamma = 1: every coordinate of omega is standard
/// Cauchy (Rahimi & Recht 2007, fig. 1). scikit-learn's `laplacian_kernel`; for the Euclidean norm
/// see [`Exponential`](super::Exponential).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Laplacian;

impl Kernel for Laplacian {
    fn spec(&self) -> String {
        "laplacian".into()
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        libm::exp(-l1_distance(x, y))
    }

    fn gradient(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> bool {
        let k = self.evaluate(x, y);
        for (out, (x, y)) in out.iter_mut().zip(x.iter().zip(y)) {
            *out = if x == y { 0.0 } else { -k * (x - y).signum() };
        }
        true
    }

    fn spectrum(&self) -> Option<&dyn SpectralMeasure> {
        Some(self)
    }

    fn lengthscale_of_gamma(&self, gamma: f64) -> Result<f64> {
        Ok(1.0 / checked_gamma(gamma)?)
    }

    fn norm(&self) -> Norm {
        Norm::L1
    }

    /// Gamma(2, 1): delta k''(delta) for k = exp(-delta).
    fn draw_pitch(&self, draws: &mut Draws) -> Option<f64> {
        Some(draws.gamma(2.0))
    }

    fn slope_at_zero(&self) -> Option<f64> {
        Some(1.0)
    }

    /// The square of exp(-|t|)/2 has an integral of 1/4, and its variance is 2.
    fn smooths_as_gaussian(&self, d: usize) -> Option<f64> {
        Some(canonical_ratio(d as f64 * libm::log(0.25), 2.0, d))
    }

    fn column_factor(&self) -> Option<&dyn ColumnFactor> {
        Some(self)
    }

    fn block_form(&self) -> Option<BlockForm> {
        Some(BlockForm::Laplacian)
    }
}

impl SpectralMeasure for Laplacian {
    fn draw(&self, draws: &mut Draws, omega: &mut [f64]) {
        omega.iter_mut().for_each(|w| *w = draws.cauchy());
    }

    fn cube_dim(&self, d: usize) -> Option<usize> {
        Some(d)
    }

    fn map_cube(&self, t: &[f64], omega: &mut [f64]) {
        for (w, &t) in omega.iter_mut().zip(t) {
            *w = special::cauchy_quantile(t);
        }
    }

    /// That of the Cauchy law, 1/(pi (1 + w^2)), of each column.
    fn ln_density(&self, omega: &[f64]) -> Option<f64> {
        let columns = omega.iter().map(|w| -libm::log(PI) - libm::log1p(w * w));
        Some(columns.sum())
    }

    /// The Cauchy law has none.
    fn second_moment(&self, _d: usize) -> Option<f64> {
        Some(f64::INFINITY)
    }

    /// Isotropic only on the line.
    fn radius(&self, d: usize, draws: &mut Draws) -> Option<f64> {
        (d == 1).then(|| draws.cauchy().abs())
    }
}

/// Integrals in closed form: frequencies of a Cauchy law can be of any size.
impl ColumnFactor for Laplacian {
    fn value(&self, delta: f64) -> f64 {
        libm::exp(-delta)
    }

    fn mean_cosine(&self, omega: f64, width: f64) -> f64 {
        let (sin, cos) = (libm::sin(omega * width), libm::cos(omega * width));
        let edge = libm::exp(-width) * (omega * sin - cos);
        (1.0 + edge) / (width * (1.0 + omega * omega))
    }

    fn mean_square(&self, width: f64) -> f64 {
        -libm::expm1(-2.0 * width) / (2.0 * width)
    }
}
