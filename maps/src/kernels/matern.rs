use super::{
    BlockForm, Kernel, SpectralMeasure, along, canonical_ratio, no_gamma, squared_distance,
};
use crate::{
    error::{Error, Result},
    seed::Draws,
    special,
};
use std::f64::consts::{LN_2, PI, TAU};

/// The Matern kernel of smoothness nu > 0, k(x, y) = 2^(1-nu)/Gamma(nu) z^nu K_nu(z) with z =
/// sqrt(2 nu) |x - y| / l (Rasmussen & Williams 2006, eq. 4.14).
///
/// omega = g sqrt(2 nu / chi^2_{2 nu}) / l with g ~ N(0, I) and one chi^2 shared by all coordinates
/// of a frequency: a multivariate t with 2 nu degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matern {
    nu: f64,
}

impl Matern {
    /// nu = 3/2.
    pub const THREE_HALVES: Self = Self { nu: 1.5 };
    /// nu = 5/2.
    pub const FIVE_HALVES: Self = Self { nu: 2.5 };
    /// nu = 1/2, whose kernel has a name of its own: [`Exponential`](super::Exponential).
    pub(super) const HALF: Self = Self { nu: 0.5 };

    /// Smoothness `nu`.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless 0 < nu <= 10,000: beyond, the kernel is the Gaussian to 4
    /// digits.
    pub fn new(nu: f64) -> Result<Self> {
        if nu > 0.0 && nu <= 1e4 {
            return Ok(Self { nu });
        }
        Err(Error::parameter(format!(
            "matern needs a smoothness nu in (0, 10000], not {nu}; for nu without bound use \
             gaussian"
        )))
    }

    /// The smoothness.
    pub fn nu(&self) -> f64 {
        self.nu
    }

    /// sqrt(2 nu / chi^2) for half the chi^2; the bound keeps a vanishing draw (tiny nu) from
    /// giving infinity.
    fn scale(&self, half_chi_squared: f64) -> f64 {
        (self.nu / half_chi_squared.max(f64::MIN_POSITIVE)).sqrt()
    }
}

impl Kernel for Matern {
    fn spec(&self) -> String {
        match *self {
            Self::THREE_HALVES => "matern32".into(),
            Self::FIVE_HALVES => "matern52".into(),
            Self { nu } => format!("matern:{nu}"),
        }
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        let z = (2.0 * self.nu).sqrt() * squared_distance(x, y).sqrt();
        match *self {
            Self::HALF => libm::exp(-z),
            Self::THREE_HALVES => (1.0 + z) * libm::exp(-z),
            Self::FIVE_HALVES => (1.0 + z + z * z / 3.0) * libm::exp(-z),
            Self { nu } => special::matern(nu, z),
        }
    }

    /// From `d/dz z^nu K_nu(z) = -z^nu K_(nu-1)(z)` (DLMF 10.29.4).
    fn gradient(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> bool {
        let z = (2.0 * self.nu).sqrt() * squared_distance(x, y).sqrt();
        // The derivative by z over z, which is finite at 0 for nu > 1.
        let over_z = match *self {
            _ if z == 0.0 => 0.0,
            Self::HALF => -libm::exp(-z) / z,
            Self::THREE_HALVES => -libm::exp(-z),
            Self::FIVE_HALVES => -(1.0 + z) / 3.0 * libm::exp(-z),
            Self { nu } => {
                let log_factor = (1.0 - nu) * LN_2 - libm::lgamma(nu) + (nu - 1.0) * libm::log(z);
                -special::weighted_bessel_k((nu - 1.0).abs(), z, log_factor)
            }
        };
        along(2.0 * self.nu * over_z, x, y, out)
    }

    fn spectrum(&self) -> Option<&dyn SpectralMeasure> {
        Some(self)
    }

    fn lengthscale_of_gamma(&self, _gamma: f64) -> Result<f64> {
        no_gamma("matern")
    }

    /// Over its integral the kernel has the Fourier transform `(1 + |w|^2/(2 nu))^-(nu + d/2)`:
    /// minus its second derivative at 0 is the variance, `1 + d/(2 nu)`, and the integral of its
    /// square over `(2 pi)^d` is R.
    fn smooths_as_gaussian(&self, d: usize) -> Option<f64> {
        let (nu, columns) = (self.nu, d as f64);
        let half = 0.5 * columns;
        let ln_roughness = half * libm::log(2.0 * nu * PI) - columns * libm::log(TAU)
            + libm::lgamma(2.0 * nu + half)
            - libm::lgamma(2.0 * nu + columns);
        let variance = 1.0 + half / nu;
        Some(canonical_ratio(ln_roughness, variance, d))
    }

    fn block_form(&self) -> Option<BlockForm> {
        match *self {
            Self::HALF => Some(BlockForm::Exponential),
            Self::THREE_HALVES => Some(BlockForm::Matern32),
            Self::FIVE_HALVES => Some(BlockForm::Matern52),
            _ => None,
        }
    }
}

impl SpectralMeasure for Matern {
    fn draw(&self, draws: &mut Draws, omega: &mut [f64]) {
        let scale = self.scale(draws.gamma(self.nu));
        omega.iter_mut().for_each(|w| *w = scale * draws.normal());
    }

    /// One more than d: the mixing variable.
    fn cube_dim(&self, d: usize) -> Option<usize> {
        Some(d + 1)
    }

    fn map_cube(&self, t: &[f64], omega: &mut [f64]) {
        let scale = self.scale(special::gamma_quantile(self.nu, t[omega.len()]));
        for (w, &t) in omega.iter_mut().zip(t) {
            *w = scale * special::normal_quantile(t);
        }
    }

    /// The multivariate t with 2 nu degrees of freedom.
    fn ln_density(&self, omega: &[f64]) -> Option<f64> {
        let half = 0.5 * omega.len() as f64;
        let square: f64 = omega.iter().map(|w| w * w).sum();
        let power = self.nu + half;
        let at_zero =
            libm::lgamma(power) - libm::lgamma(self.nu) - half * libm::log(2.0 * self.nu * PI);
        Some(at_zero - power * libm::log1p(square / (2.0 * self.nu)))
    }

    /// That of the multivariate t with 2 nu degrees of freedom.
    fn second_moment(&self, d: usize) -> Option<f64> {
        Some(if self.nu > 1.0 {
            d as f64 * self.nu / (self.nu - 1.0)
        } else {
            f64::INFINITY
        })
    }

    fn radius(&self, d: usize, draws: &mut Draws) -> Option<f64> {
        let scale = self.scale(draws.gamma(self.nu));
        Some(scale * draws.chi(d as f64))
    }
}
