use super::{ClosedForm, Kernel, SpectralMeasure, checked_gamma};
use crate::error::{Error, Result};

/// k(x, y) = (gamma x'y + c)^p, at unit scale gamma = 1: all products of up to p columns. Tensor
/// sketches estimate it ([`TensorSketch`](crate::features::TensorSketch)).
///
/// It is not shift-invariant, so it has no [`Kernel::spectrum`]. A lengthscale l is a gamma of
/// 1/l^2.
///
/// ```
/// use bochner::kernels::{Kernel, Polynomial};
/// let kernel = Polynomial::new(3, 1.0)?;
/// assert_eq!(kernel.evaluate(&[1.0, 2.0], &[3.0, -1.0]), 8.0);
/// assert_eq!(kernel.spec(), "polynomial:3:1");
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Polynomial {
    degree: u32,
    constant: f64,
}

impl Polynomial {
    /// p and c.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless the degree is from 1 to 64, and the constant finite and not
    /// negative: the kernel is positive definite only then.
    pub fn new(degree: u32, constant: f64) -> Result<Self> {
        if !(1..=64).contains(&degree) {
            return Err(Error::parameter(format!(
                "the degree of a polynomial kernel is from 1 to 64, not {degree}"
            )));
        }
        if !(constant >= 0.0 && constant.is_finite()) {
            return Err(Error::parameter(format!(
                "the constant of a polynomial kernel is finite and not negative, not {constant}"
            )));
        }
        Ok(Self { degree, constant })
    }

    /// p.
    pub fn degree(&self) -> u32 {
        self.degree
    }

    /// c.
    pub fn constant(&self) -> f64 {
        self.constant
    }
}

impl Kernel for Polynomial {
    fn spec(&self) -> String {
        format!("polynomial:{}:{}", self.degree, self.constant)
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        let product: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
        (product + self.constant).powi(self.degree as i32)
    }

    fn gradient(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> bool {
        let product: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
        let slope = (product + self.constant).powi(self.degree as i32 - 1);
        for (out, y) in out.iter_mut().zip(y) {
            *out = f64::from(self.degree) * slope * y;
        }
        true
    }

    fn spectrum(&self) -> Option<&dyn SpectralMeasure> {
        None
    }

    fn lengthscale_of_gamma(&self, gamma: f64) -> Result<f64> {
        Ok(1.0 / checked_gamma(gamma)?.sqrt())
    }

    fn polynomial(&self) -> Option<Polynomial> {
        Some(*self)
    }

    fn closed_form(&self) -> Option<ClosedForm<'_>> {
        Some(ClosedForm::Polynomial {
            degree: self.degree,
            constant: self.constant,
        })
    }
}
