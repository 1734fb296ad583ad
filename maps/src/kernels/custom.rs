use super::{Kernel, SpectralMeasure, no_gamma};
use crate::error::Result;
use std::fmt;

type Exact = dyn Fn(&[f64], &[f64]) -> f64 + Send + Sync;

/// A kernel from a user's own spectral measure and exact formula; a type that implements [`Kernel`]
/// itself does as well.
///
/// A model file keeps the frequencies that were drawn, so such a model can be loaded and predicts;
/// only its kernel's name (`custom:NAME`) cannot be turned back into code.
///
/// ```
/// use bochner::{kernels::{CustomKernel, Gaussian, Kernel}, sampling::Sampling, seed::Seed};
/// // exp(-|Delta|^2/2) written anew, from the Gaussian's measure.
/// let exact = |x: &[f64], y: &[f64]| {
///     let square: f64 = x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum();
///     (-0.5 * square).exp()
/// };
/// let kernel = CustomKernel::new("mine", exact, Gaussian);
/// assert_eq!(kernel.spec(), "custom:mine");
/// let measure = kernel.spectrum().expect("given above");
/// assert_eq!(Sampling::MonteCarlo.draw(measure, 2, 8, false, Seed(0))?.omega_sd.dim(), (8, 2));
/// # Ok::<(), bochner::Error>(())
/// ```
pub struct CustomKernel {
    name: String,
    exact: Box<Exact>,
    measure: Box<dyn SpectralMeasure>,
}

impl CustomKernel {
    /// A kernel called `name` with the formula `exact`, at unit scale, and the measure whose
    /// characteristic function it is.
    pub fn new(
        name: impl Into<String>,
        exact: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static,
        measure: impl SpectralMeasure + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            exact: Box::new(exact),
            measure: Box::new(measure),
        }
    }
}

impl fmt::Debug for CustomKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomKernel")
            .field("name", &self.name)
            .field("measure", &self.measure)
            .finish_non_exhaustive()
    }
}

impl Kernel for CustomKernel {
    fn spec(&self) -> String {
        format!("custom:{}", self.name)
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        (self.exact)(x, y)
    }

    fn spectrum(&self) -> Option<&dyn SpectralMeasure> {
        Some(self.measure.as_ref())
    }

    fn lengthscale_of_gamma(&self, _gamma: f64) -> Result<f64> {
        no_gamma("custom")
    }
}
