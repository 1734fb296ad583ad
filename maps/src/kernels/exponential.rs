use super::{BlockForm, Kernel, Matern, SpectralMeasure, no_gamma, squared_distance};
use crate::error::Result;

/// k(x, y) = exp(-|x - y|_2 / l), the Matern kernel of smoothness 1/2: omega is multivariate Cauchy
/// (a t with one degree of freedom). Falkon's and EigenPro's "Laplacian"; for the L1 norm see
/// [`Laplacian`](super::Laplacian).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exponential;

impl Kernel for Exponential {
    fn spec(&self) -> String {
        "exponential".into()
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        libm::exp(-squared_distance(x, y).sqrt())
    }

    fn gradient(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> bool {
        Matern::HALF.gradient(x, y, out)
    }

    fn spectrum(&self) -> Option<&dyn SpectralMeasure> {
        Some(&Matern::HALF)
    }

    fn lengthscale_of_gamma(&self, _gamma: f64) -> Result<f64> {
        no_gamma("exponential")
    }

    fn smooths_as_gaussian(&self, d: usize) -> Option<f64> {
        Matern::HALF.smooths_as_gaussian(d)
    }

    fn block_form(&self) -> Option<BlockForm> {
        Some(BlockForm::Exponential)
    }
}
