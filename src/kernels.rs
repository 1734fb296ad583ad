//! Shift-invariant kernels: exact k(x, y) and the spectral measure behind it. One file per kernel.

use crate::{error::Result, seed::Draws};
use std::fmt::Debug;

/// A kernel at unit scale: inputs are already divided by the lengthscale of their column, and k(x, y) is written for
/// sigma = l = 1 (Laplacian and Cauchy: gamma = 1).
pub trait Kernel: Debug + Send + Sync {
    /// The kernel as the command line and model files spell it, parameters included (`gaussian`, `matern:0.75`).
    fn spec(&self) -> String;
    /// The exact k(x, y) of two rows at unit scale.
    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64;
    /// The spectral measure p(omega), for kernels that have one (Bochner's theorem).
    fn spectrum(&self) -> Option<&dyn SpectralMeasure>;
    /// The lengthscale for a given `gamma` where the kernel's own formula has a gamma, else an error that names `--sigma`.
    fn lengthscale_of_gamma(&self, gamma: f64) -> Result<f64>;
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

/// A probability measure on frequencies, at unit scale, with characteristic function k.
pub trait SpectralMeasure: Debug + Send + Sync {
    /// Draws one frequency into `omega` (length d).
    fn draw(&self, draws: &mut Draws, omega: &mut [f64]);
    /// How many coordinates of the unit cube [`Self::from_cube`] takes for d columns; `None` when there is no such map.
    fn cube_dim(&self, d: usize) -> Option<usize>;
    /// Maps a point of the open unit cube to a frequency, coordinate by coordinate.
    fn from_cube(&self, t: &[f64], omega: &mut [f64]);
    /// Draws |omega| for d columns when the measure is isotropic, else `None`.
    fn radius(&self, d: usize, draws: &mut Draws) -> Option<f64>;
}
