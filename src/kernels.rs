//! Kernels: exact k(x, y) and the spectral measure behind it. One file per kernel.

mod gaussian;

pub use gaussian::Gaussian;

use crate::{
    error::{Error, Result},
    seed::Draws,
};
use std::{fmt::Debug, sync::Arc};

/// A kernel at unit scale: inputs are already divided by the lengthscale of their column, and k(x, y) is written for
/// sigma = l = 1 (Laplacian and Cauchy: gamma = 1).
pub trait Kernel: Debug + Send + Sync {
    /// The kernel as the command line and model files spell it, parameters included (`gaussian`, `matern:0.75`):
    /// [`parse`] of it gives the same kernel back.
    fn spec(&self) -> String;

    /// The exact k(x, y) of two rows of one length, at unit scale.
    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64;

    /// The spectral measure p(omega), for shift-invariant kernels (Bochner's theorem).
    fn spectrum(&self) -> Option<&dyn SpectralMeasure>;

    /// The lengthscale for a given `gamma` where the kernel's own formula has a gamma, else an error that names `--sigma`.
    fn lengthscale_of_gamma(&self, gamma: f64) -> Result<f64>;

    /// The gamma that [`Self::lengthscale_of_gamma`] turns into `lengthscale`; `None` where the formula has no gamma.
    fn gamma_of_lengthscale(&self, lengthscale: f64) -> Option<f64> {
        // A gamma is a whole power of the lengthscale in every formula, and two of its values give the power.
        let (one, two) = (
            self.lengthscale_of_gamma(1.0).ok()?,
            self.lengthscale_of_gamma(2.0).ok()?,
        );
        let power = (two / one).log2().recip().round();
        Some((lengthscale / one).powf(power))
    }

    /// The distance between rows that the `median` rule takes.
    fn norm(&self) -> Norm {
        Norm::L2
    }
}

/// Which distance a kernel sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norm {
    /// Sum of absolute differences.
    L1,
    /// Euclidean.
    L2,
}

/// A probability measure on frequencies, at unit scale, with characteristic function k: E cos(omega . Delta) = k(Delta).
pub trait SpectralMeasure: Debug + Send + Sync {
    /// Draws one frequency into `omega` (length d).
    fn draw(&self, draws: &mut Draws, omega: &mut [f64]);

    /// How many coordinates of the unit cube [`Self::map_cube`] takes for d columns; `None` when there is no such map.
    fn cube_dim(&self, d: usize) -> Option<usize>;

    /// Maps a point `t` of the open unit cube (length `cube_dim(d)`) to a frequency (length d), coordinate by coordinate.
    fn map_cube(&self, t: &[f64], omega: &mut [f64]);

    /// Draws |omega| for d columns when the measure is isotropic, else `None` without having drawn anything.
    fn radius(&self, d: usize, draws: &mut Draws) -> Option<f64>;
}

/// The kernel that a specification names.
///
/// ```
/// let kernel = bochner::kernels::parse("gaussian")?;
/// assert_eq!(kernel.evaluate(&[0.0, 0.0], &[1.0, 1.0]), (-1.0_f64).exp());
/// assert_eq!(kernel.spec(), "gaussian");
/// # Ok::<(), bochner::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`] for an unknown name or a parameter outside its domain.
pub fn parse(spec: &str) -> Result<Arc<dyn Kernel>> {
    match spec.trim() {
        "gaussian" => Ok(Arc::new(Gaussian)),
        other => Err(Error::Parameter(format!(
            "unknown kernel '{other}'; use gaussian"
        ))),
    }
}

/// Checks that a `gamma` is positive and finite.
fn checked_gamma(gamma: f64) -> Result<f64> {
    if gamma > 0.0 && gamma.is_finite() {
        return Ok(gamma);
    }
    Err(Error::Parameter(format!(
        "gamma must be a positive number, not {gamma}"
    )))
}

/// sum_m (x_m - y_m)^2.
fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[cfg(test)]
mod tests {
    use super::{Gaussian, Kernel};

    #[test]
    fn gamma_and_lengthscale_are_inverses() {
        for gamma in [1e-6, 0.3, 1.0, 7.0, 1e6] {
            let lengthscale = Gaussian.lengthscale_of_gamma(gamma).expect("has a gamma");
            let back = Gaussian.gamma_of_lengthscale(lengthscale);
            let error = (back.expect("has a gamma") / gamma - 1.0).abs();
            assert!(error < 1e-14, "{gamma}: {error:e}");
        }
    }
}
