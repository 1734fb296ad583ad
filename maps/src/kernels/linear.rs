use super::{ClosedForm, Kernel, SpectralMeasure, no_gamma};
use crate::error::Result;

/// k(x, y) = x'y, which random projections estimate. It is not shift-invariant, so it has no
/// [`Kernel::spectrum`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Linear;

impl Kernel for Linear {
    fn spec(&self) -> String {
        "linear".into()
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        x.iter().zip(y).map(|(x, y)| x * y).sum()
    }

    fn spectrum(&self) -> Option<&dyn SpectralMeasure> {
        None
    }

    fn lengthscale_of_gamma(&self, _gamma: f64) -> Result<f64> {
        no_gamma("linear")
    }

    fn closed_form(&self) -> Option<ClosedForm<'_>> {
        Some(ClosedForm::Polynomial {
            degree: 1,
            constant: 0.0,
        })
    }
}
