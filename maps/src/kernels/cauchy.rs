use super::{BlockForm, ColumnFactor, Kernel, SpectralMeasure, checked_gamma};
use crate::{error::Result, seed::Draws, special};
use std::f64::consts::LN_2;

/// k(x, y) = prod_m 1/(1 + gamma^2 (x_m - y_m)^2), at unit scale gamma = 1: every coordinate of
/// omega is standard Laplace (Rahimi & Recht 2007, fig. 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cauchy;

impl Kernel for Cauchy {
    fn spec(&self) -> String {
        "cauchy".into()
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        let factor = |(a, b): (&f64, &f64)| 1.0 / (1.0 + (a - b) * (a - b));
        x.iter().zip(y).map(factor).product()
    }

    fn gradient(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> bool {
        let k = self.evaluate(x, y);
        for (out, (x, y)) in out.iter_mut().zip(x.iter().zip(y)) {
            let delta = x - y;
            *out = -2.0 * delta / (1.0 + delta * delta) * k;
        }
        true
    }

    fn spectrum(&self) -> Option<&dyn SpectralMeasure> {
        Some(self)
    }

    fn lengthscale_of_gamma(&self, gamma: f64) -> Result<f64> {
        Ok(1.0 / checked_gamma(gamma)?)
    }

    fn column_factor(&self) -> Option<&dyn ColumnFactor> {
        Some(self)
    }

    fn block_form(&self) -> Option<BlockForm> {
        Some(BlockForm::Cauchy)
    }
}

impl SpectralMeasure for Cauchy {
    fn draw(&self, draws: &mut Draws, omega: &mut [f64]) {
        omega.iter_mut().for_each(|w| *w = draws.laplace());
    }

    fn cube_dim(&self, d: usize) -> Option<usize> {
        Some(d)
    }

    fn map_cube(&self, t: &[f64], omega: &mut [f64]) {
        for (w, &t) in omega.iter_mut().zip(t) {
            *w = special::laplace_quantile(t);
        }
    }

    /// That of the Laplace law, exp(-|w|)/2, of each column.
    fn ln_density(&self, omega: &[f64]) -> Option<f64> {
        Some(omega.iter().map(|w| -w.abs() - LN_2).sum())
    }

    /// The variance of the Laplace law is 2.
    fn second_moment(&self, d: usize) -> Option<f64> {
        Some(2.0 * d as f64)
    }

    /// Isotropic only on the line.
    fn radius(&self, d: usize, draws: &mut Draws) -> Option<f64> {
        (d == 1).then(|| draws.laplace().abs())
    }
}

impl ColumnFactor for Cauchy {
    fn value(&self, delta: f64) -> f64 {
        1.0 / (1.0 + delta * delta)
    }
}
