use super::{
    BlockForm, ColumnFactor, Kernel, SpectralMeasure, along, checked_gamma, squared_distance,
};
use crate::{error::Result, seed::Draws, special};
use std::f64::consts::{FRAC_PI_2, PI, SQRT_2, TAU};

/// k(x, y) = exp(-gamma |x - y|^2), gamma = 1/(2 sigma^2); at unit scale exp(-|x - y|^2 / 2) with
/// omega ~ N(0, I) (Rahimi & Recht 2007, fig. 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gaussian;

impl Kernel for Gaussian {
    fn spec(&self) -> String {
        "gaussian".into()
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        libm::exp(-0.5 * squared_distance(x, y))
    }

    fn gradient(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> bool {
        along(-self.evaluate(x, y), x, y, out)
    }

    fn spectrum(&self) -> Option<&dyn SpectralMeasure> {
        Some(self)
    }

    fn lengthscale_of_gamma(&self, gamma: f64) -> Result<f64> {
        Ok((0.5 / checked_gamma(gamma)?).sqrt())
    }

    fn smooths_as_gaussian(&self, _d: usize) -> Option<f64> {
        Some(1.0)
    }

    fn column_factor(&self) -> Option<&dyn ColumnFactor> {
        Some(self)
    }

    fn block_form(&self) -> Option<BlockForm> {
        Some(BlockForm::Gaussian)
    }
}

impl SpectralMeasure for Gaussian {
    fn draw(&self, draws: &mut Draws, omega: &mut [f64]) {
        omega.iter_mut().for_each(|w| *w = draws.normal());
    }

    fn cube_dim(&self, d: usize) -> Option<usize> {
        Some(d)
    }

    fn map_cube(&self, t: &[f64], omega: &mut [f64]) {
        for (w, &t) in omega.iter_mut().zip(t) {
            *w = special::normal_quantile(t);
        }
    }

    fn ln_density(&self, omega: &[f64]) -> Option<f64> {
        let columns = omega.iter().map(|w| -0.5 * (w * w + libm::log(TAU)));
        Some(columns.sum())
    }

    fn second_moment(&self, d: usize) -> Option<f64> {
        Some(d as f64)
    }

    fn radius(&self, d: usize, draws: &mut Draws) -> Option<f64> {
        Some(draws.chi(d as f64))
    }
}

/// Integrals in closed form (Avron, Sindhwani, Yang & Mahoney 2016, sec. 4).
impl ColumnFactor for Gaussian {
    fn value(&self, delta: f64) -> f64 {
        libm::exp(-0.5 * delta * delta)
    }

    fn mean_cosine(&self, omega: f64, width: f64) -> f64 {
        let part = special::damped_erf(width / SQRT_2, omega / SQRT_2);
        FRAC_PI_2.sqrt() / width * part
    }

    fn mean_square(&self, width: f64) -> f64 {
        PI.sqrt() * libm::erf(width) / (2.0 * width)
    }
}
