use super::{BlockForm, ClosedForm, Gaussian, Kernel, SpectralMeasure};
use crate::{
    error::{Error, Remedy, Result},
    seed::Draws,
};
use std::f64::consts::PI;

/// The arc-cosine kernel of order n = 0, 1 or 2, k(x, y) = (1/pi) |x|^n |y|^n J_n(theta) (Cho &
/// Saul 2009, sec. 2.1): J_0 = pi - theta, J_1 = sin theta + (pi - theta) cos theta, J_2 = 3 sin
/// theta cos theta + (pi - theta)(1 + 2 cos^2 theta).
///
/// It is not shift-invariant, so it has no [`Kernel::spectrum`]; its features are sqrt(2/D) 1[omega
/// . x > 0] (omega . x)^n with omega from [`Self::weights`]. A row of zeros has k = 0, as its
/// features have.
///
/// With a bias beta the features are those of omega . x + b with b ~ N(0, beta^2): steps and ReLUs
/// that are not all hinged at 0. The kernel is then that of rows with one more column, which holds
/// beta.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArcCosineKernel {
    order: u32,
    bias: f64,
}

impl ArcCosineKernel {
    /// Order 0 (steps), 1 (ReLU) or 2 (squared ReLU).
    ///
    /// # Errors
    /// [`Error::Parameter`] for any other order.
    pub fn new(order: u32) -> Result<Self> {
        if order <= 2 {
            return Ok(Self { order, bias: 0.0 });
        }
        Err(Error::parameter(format!(
            "arc-cosine has orders 0, 1 and 2, not {order}"
        )))
    }

    /// The order.
    pub fn order(&self) -> u32 {
        self.order
    }

    /// The same with b ~ N(0, `bias`^2) added to every omega . x.
    ///
    /// ```
    /// use bochner::kernels::{ArcCosineKernel, Kernel};
    /// let plain = ArcCosineKernel::new(1)?;
    /// let biased = plain.with_bias(0.5)?;
    /// let of_longer_rows = plain.evaluate(&[1.0, 2.0, 0.5], &[0.3, -1.0, 0.5]);
    /// assert_eq!(biased.evaluate(&[1.0, 2.0], &[0.3, -1.0]), of_longer_rows);
    /// assert_eq!(biased.spec(), "arc-cosine:1:0.5");
    /// # Ok::<(), bochner::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `bias` is finite and not negative.
    pub fn with_bias(self, bias: f64) -> Result<Self> {
        if bias >= 0.0 && bias.is_finite() {
            Ok(Self { bias, ..self })
        } else {
            Err(Error::parameter(format!(
                "the bias of arc-cosine is a standard deviation, finite and not negative, not \
                 {bias}"
            )))
        }
    }

    /// The standard deviation of what is added to every omega . x; 0 for none.
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// The law of the weights omega of its features: N(0, I), to be drawn by any
    /// [`Sampling`](crate::sampling::Sampling).
    #[doc(hidden)]
    pub fn weights() -> &'static dyn SpectralMeasure {
        &Gaussian
    }

    /// Weights of one length, `(E |omega|^(2n))^(1/(2n))` of those: 1, sqrt(d) and
    /// (d (d + 2))^(1/4) for n = 0, 1, 2.
    ///
    /// A feature is homogeneous of degree n in omega = r u, and r is independent of the direction
    /// u, so E r^(2n) is a factor of the kernel: weights of this length estimate it without bias
    /// too, and without what r adds to the variance. With a bias this holds for omega and b
    /// together, as weights of rows with one more column.
    pub(crate) fn weights_of_one_length(&self) -> impl SpectralMeasure {
        Sphere { order: self.order }
    }
}

/// Uniform on a sphere around 0.
#[derive(Debug)]
struct Sphere {
    order: u32,
}

impl SpectralMeasure for Sphere {
    fn draw(&self, draws: &mut Draws, omega: &mut [f64]) {
        Gaussian.draw(draws, omega);
        let length = omega.iter().map(|w| w * w).sum::<f64>().sqrt();
        let radius = self.radius(omega.len(), draws).unwrap_or(1.0);
        omega.iter_mut().for_each(|w| *w *= radius / length);
    }

    fn cube_dim(&self, _d: usize) -> Option<usize> {
        None
    }

    fn map_cube(&self, _t: &[f64], _omega: &mut [f64]) {
        unreachable!("there is no map of the cube")
    }

    fn radius(&self, d: usize, _draws: &mut Draws) -> Option<f64> {
        let d = d as f64;
        Some(match self.order {
            0 => 1.0,
            1 => d.sqrt(),
            _ => (d * (d + 2.0)).sqrt().sqrt(),
        })
    }
}

impl Kernel for ArcCosineKernel {
    fn spec(&self) -> String {
        match self.bias {
            0.0 => format!("arc-cosine:{}", self.order),
            bias => format!("arc-cosine:{}:{bias}", self.order),
        }
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        let one_more = |v: &[f64]| v.iter().map(|a| a * a).sum::<f64>() + self.bias * self.bias;
        let length = |v: &[f64]| one_more(v).sqrt();
        let (nx, ny) = (length(x), length(y));
        if nx == 0.0 || ny == 0.0 {
            return 0.0;
        }
        // Kahan's angle: acos of the normalised product would lose half the digits near 0 and pi,
        // and could leave [-1, 1].
        let (mut apart, mut along) = (0.0, 0.0);
        let bias = (&self.bias, &self.bias);
        for (a, b) in x.iter().zip(y).chain([bias]) {
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
        let problem = "arc-cosine has no gamma: without a bias a lengthscale only multiplies it";
        Err(Error::unsupported(problem)
            .help(Remedy::words("leave the scale out"))
            .help(Remedy::GiveLengthscale))
    }

    fn arc_cosine(&self) -> Option<ArcCosineKernel> {
        Some(*self)
    }

    fn block_form(&self) -> Option<BlockForm> {
        // Blocks know no bias.
        (self.bias == 0.0).then_some(BlockForm::ArcCosine { order: self.order })
    }

    fn closed_form(&self) -> Option<ClosedForm<'_>> {
        Some(ClosedForm::ArcCosine {
            order: self.order,
            bias: self.bias,
        })
    }
}
