//! A kernel on raw rows.

use super::Affine;
use crate::{Error, Result, error::Remedy, kernels::Kernel};
use std::sync::Arc;

/// The kernel that a map estimates, and from raw rows to its unit scale: k(u(x), u(y)).
#[derive(Debug, Clone)]
pub struct ScaledKernel {
    /// The kernel.
    pub kernel: Arc<dyn Kernel>,
    /// u: the scales and lengthscales of columns. Not the input of a map, which has a factor of
    /// its own beside them.
    pub input: Affine,
}

impl ScaledKernel {
    /// ln of the integral of k(u(x), u(y)) over x, in raw units: `ln I_d - sum_j ln |scale_j|` with
    /// I_d that of the kernel at unit scale ([`Kernel::ln_integral`]), over the columns that are
    /// not dropped as constant.
    ///
    /// ```
    /// use bochner::{features::{Affine, ScaledKernel}, kernels::Gaussian};
    /// let input = Affine::identity(1).lengthscale(0.5)?;
    /// let kernel = ScaledKernel { kernel: std::sync::Arc::new(Gaussian), input };
    /// // sigma sqrt(2 pi)
    /// assert!((kernel.ln_integral()?.exp() - 1.2533).abs() < 1e-4);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    ///
    /// Errors with [`Error::Unsupported`] on a kernel whose integral is infinite or not known, and
    /// with [`Error::Shape`] when every column is dropped.
    pub fn ln_integral(&self) -> Result<f64> {
        if !self.input.is_affine() {
            let problem = "a density of clipped or ranked columns is none of the columns";
            return Err(Error::unsupported(problem).help(Remedy::Standardize));
        }
        let (kept, ln_volume) = self.input.volume();
        if kept.is_empty() {
            return Err(Error::shape(
                "every column is constant; a density needs one that varies",
            ));
        }
        let at_unit_scale = self.kernel.ln_integral(kept.len()).ok_or_else(|| {
            let problem = format!(
                "the kernel {} has no finite integral over {} columns that is known, which a \
                 density is divided by",
                self.kernel.spec(),
                kept.len()
            );
            Error::unsupported(problem).help(Remedy::UseKernel("gaussian"))
        })?;
        Ok(at_unit_scale - ln_volume)
    }
}
