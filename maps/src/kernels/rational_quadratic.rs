use super::{BlockForm, Kernel, SpectralMeasure, along, no_gamma, squared_distance};
use crate::{
    error::{Error, Result},
    seed::Draws,
    special,
};
use std::f64::consts::TAU;

/// k(x, y) = (1 + |x - y|^2/(2 alpha l^2))^-alpha (Rasmussen & Williams 2006, eq. 4.19).
///
/// omega = sqrt(tau) g / l with g ~ N(0, I) and tau ~ Gamma(alpha, rate alpha), shared by all
/// coordinates of a frequency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RationalQuadratic {
    alpha: f64,
}

impl RationalQuadratic {
    /// Shape `alpha`: small for heavy tails, the Gaussian in the limit.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless 0 < alpha <= 10,000: beyond, the kernel is the Gaussian to 4
    /// digits.
    pub fn new(alpha: f64) -> Result<Self> {
        if alpha > 0.0 && alpha <= 1e4 {
            return Ok(Self { alpha });
        }
        Err(Error::parameter(format!(
            "rational-quadratic needs an alpha in (0, 10000], not {alpha}; for alpha without bound \
             use gaussian"
        )))
    }

    /// The shape.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }
}

impl Kernel for RationalQuadratic {
    fn spec(&self) -> String {
        format!("rational-quadratic:{}", self.alpha)
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        let ratio = squared_distance(x, y) / (2.0 * self.alpha);
        libm::exp(-self.alpha * libm::log1p(ratio))
    }

    fn gradient(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> bool {
        let ratio = squared_distance(x, y) / (2.0 * self.alpha);
        let slope = -libm::exp(-(self.alpha + 1.0) * libm::log1p(ratio));
        along(slope, x, y, out)
    }

    fn spectrum(&self) -> Option<&dyn SpectralMeasure> {
        Some(self)
    }

    fn lengthscale_of_gamma(&self, _gamma: f64) -> Result<f64> {
        no_gamma("rational-quadratic")
    }

    fn block_form(&self) -> Option<BlockForm> {
        Some(BlockForm::RationalQuadratic { alpha: self.alpha })
    }
}

impl SpectralMeasure for RationalQuadratic {
    fn draw(&self, draws: &mut Draws, omega: &mut [f64]) {
        let scale = (draws.gamma(self.alpha) / self.alpha).sqrt();
        omega.iter_mut().for_each(|w| *w = scale * draws.normal());
    }

    /// One more than d: the mixing variable.
    fn cube_dim(&self, d: usize) -> Option<usize> {
        Some(d + 1)
    }

    fn map_cube(&self, t: &[f64], omega: &mut [f64]) {
        let scale = (special::gamma_quantile(self.alpha, t[omega.len()]) / self.alpha).sqrt();
        for (w, &t) in omega.iter_mut().zip(t) {
            *w = scale * special::normal_quantile(t);
        }
    }

    /// `E (2 pi tau)^(-d/2) exp(-|w|^2/(2 tau))`, where alpha is above d/2, which makes it finite
    /// at 0: with nu = alpha - d/2 it falls as the Matern function of `|w| sqrt(2 alpha)`.
    fn ln_density(&self, omega: &[f64]) -> Option<f64> {
        let half = 0.5 * omega.len() as f64;
        let nu = self.alpha - half;
        if nu <= 0.0 {
            return None;
        }
        let square: f64 = omega.iter().map(|w| w * w).sum();
        let at_zero =
            libm::lgamma(nu) - libm::lgamma(self.alpha) + half * libm::log(self.alpha / TAU);
        let fall = special::matern(nu, (2.0 * self.alpha * square).sqrt());
        Some(at_zero + libm::log(fall))
    }

    /// E tau is 1.
    fn second_moment(&self, d: usize) -> Option<f64> {
        Some(d as f64)
    }

    fn radius(&self, d: usize, draws: &mut Draws) -> Option<f64> {
        let scale = (draws.gamma(self.alpha) / self.alpha).sqrt();
        Some(scale * draws.chi(d as f64))
    }
}
