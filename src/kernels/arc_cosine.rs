use super::{BlockForm, Gaussian, Kernel, SpectralMeasure};
use crate::error::{Error, Remedy, Result};
use std::f64::consts::PI;

/// The arc-cosine kernel of order n = 0, 1 or 2, k(x, y) = (1/pi) |x|^n |y|^n J_n(theta) (Cho &
/// Saul 2009, sec. 2.1): J_0 = pi - theta, J_1 = sin theta + (pi - theta) cos theta, J_2 = 3 sin
/// theta cos theta + (pi - theta)(1 + 2 cos^2 theta).
///
/// It is not shift-invariant, so it has no [`Kernel::spectrum`]; its features are sqrt(2/D) 1[omega
/// . x > 0] (omega . x)^n with omega from [`Self::weights`]. A row of zeros has k = 0, as its
/// features have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArcCosineKernel {
    order: u32,
}

impl ArcCosineKernel {
    /// Order 0 (steps), 1 (ReLU) or 2 (squared ReLU).
    ///
    /// # Errors
    /// [`Error::Parameter`] for any other order.
    pub fn new(order: u32) -> Result<Self> {
        if order <= 2 {
            return Ok(Self { order });
        }
        Err(Error::parameter(format!(
            "arc-cosine has orders 0, 1 and 2, not {order}"
        )))
    }

    /// The order.
    pub fn order(&self) -> u32 {
        self.order
    }

    /// The law of the weights omega of its features: N(0, I), to be drawn by any
    /// [`Sampling`](crate::sampling::Sampling).
    pub fn weights() -> &'static dyn SpectralMeasure {
        &Gaussian
    }
}

impl Kernel for ArcCosineKernel {
    fn spec(&self) -> String {
        format!("arc-cosine:{}", self.order)
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        let length = |v: &[f64]| v.iter().map(|a| a * a).sum::<f64>().sqrt();
        let (nx, ny) = (length(x), length(y));
        if nx == 0.0 || ny == 0.0 {
            return 0.0;
        }
        // Kahan's angle: acos of the normalised product would lose half the digits near 0 and pi,
        // and could leave [-1, 1].
        let (mut apart, mut along) = (0.0, 0.0);
        for (a, b) in x.iter().zip(y) {
            let (a, b) = (a / nx, b / ny);
            apart += (a - b) * (a - b);
            along += (a + b) * (a + b);
        }
        let theta = 2.0 * libm::atan2(apart.sqrt(), along.sqrt());
        let (sin, cos) = (libm::sin(theta), libm::cos(theta));
        match self.order {
            0 => (PI - theta) / PI,
            1 => nx * ny * (sin + (PI - theta) * cos) / PI,
            _ => {
                let j2 = 3.0 * sin * cos + (PI - theta) * (1.0 + 2.0 * cos * cos);
                (nx * ny) * (nx * ny) * j2 / PI
            }
        }
    }

    fn spectrum(&self) -> Option<&dyn SpectralMeasure> {
        None
    }

    fn lengthscale_of_gamma(&self, _gamma: f64) -> Result<f64> {
        let problem = "arc-cosine has no gamma: a lengthscale only multiplies it";
        Err(Error::unsupported(problem)
            .help(Remedy::words("leave the scale out"))
            .help(Remedy::GiveLengthscale))
    }

    fn arc_cosine_order(&self) -> Option<u32> {
        Some(self.order)
    }

    fn block_form(&self) -> Option<BlockForm> {
        Some(BlockForm::ArcCosine { order: self.order })
    }
}
