use super::{BlockForm, Kernel, Norm, SpectralMeasure, no_gamma};
use crate::{error::Result, seed::Draws};

/// k(x, y) = prod_m max(0, 1 - |x_m - y_m|/delta), at unit scale delta = 1: the kernel that one
/// grid of pitch delta, shifted uniformly, estimates (Rahimi & Recht 2007, sec. 4). For random
/// binning only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hat;

impl Kernel for Hat {
    fn spec(&self) -> String {
        "hat".into()
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        let factor = |(a, b): (&f64, &f64)| (1.0 - (a - b).abs()).max(0.0);
        x.iter().zip(y).map(factor).product()
    }

    fn spectrum(&self) -> Option<&dyn SpectralMeasure> {
        None
    }

    fn lengthscale_of_gamma(&self, _gamma: f64) -> Result<f64> {
        no_gamma("hat")
    }

    fn is_shift_invariant(&self) -> bool {
        true
    }

    fn norm(&self) -> Norm {
        Norm::L1
    }

    fn draw_pitch(&self, _draws: &mut Draws) -> Option<f64> {
        Some(1.0)
    }

    fn slope_at_zero(&self) -> Option<f64> {
        Some(1.0)
    }

    fn block_form(&self) -> Option<BlockForm> {
        Some(BlockForm::Hat)
    }
}
