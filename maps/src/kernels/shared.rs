//! A shared kernel is a kernel: one that is chosen at run time goes wherever a type of kernel does.

use super::{
    ArcCosineKernel, BlockForm, ClosedForm, ColumnFactor, Domain, Kernel, Norm, Polynomial,
    SkewedChi2Kernel, SpectralMeasure,
};
use crate::{error::Result, seed::Draws};
use std::sync::Arc;

#[deny(
    clippy::missing_trait_methods,
    reason = "a default in the place of the kernel's own method would be another kernel"
)]
impl<K: Kernel + ?Sized> Kernel for Arc<K> {
    fn spec(&self) -> String {
        (**self).spec()
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        (**self).evaluate(x, y)
    }

    fn spectrum(&self) -> Option<&dyn SpectralMeasure> {
        (**self).spectrum()
    }

    fn lengthscale_of_gamma(&self, gamma: f64) -> Result<f64> {
        (**self).lengthscale_of_gamma(gamma)
    }

    fn gamma_of_lengthscale(&self, lengthscale: f64) -> Option<f64> {
        (**self).gamma_of_lengthscale(lengthscale)
    }

    fn gradient(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> bool {
        (**self).gradient(x, y, out)
    }

    fn is_shift_invariant(&self) -> bool {
        (**self).is_shift_invariant()
    }

    fn norm(&self) -> Norm {
        (**self).norm()
    }

    fn draw_pitch(&self, draws: &mut Draws) -> Option<f64> {
        (**self).draw_pitch(draws)
    }

    fn slope_at_zero(&self) -> Option<f64> {
        (**self).slope_at_zero()
    }

    fn ln_integral(&self, d: usize) -> Option<f64> {
        (**self).ln_integral(d)
    }

    fn smooths_as_gaussian(&self, d: usize) -> Option<f64> {
        (**self).smooths_as_gaussian(d)
    }

    fn column_factor(&self) -> Option<&dyn ColumnFactor> {
        (**self).column_factor()
    }

    fn arc_cosine(&self) -> Option<ArcCosineKernel> {
        (**self).arc_cosine()
    }

    fn polynomial(&self) -> Option<Polynomial> {
        (**self).polynomial()
    }

    fn skewed_chi2(&self) -> Option<SkewedChi2Kernel> {
        (**self).skewed_chi2()
    }

    fn domain(&self) -> Domain {
        (**self).domain()
    }

    fn block_form(&self) -> Option<BlockForm> {
        (**self).block_form()
    }

    fn closed_form(&self) -> Option<ClosedForm<'_>> {
        (**self).closed_form()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernels::parse,
        seed::{Seed, Stream},
    };

    /// What a kernel says of itself, by each of its methods.
    fn said(kernel: &dyn Kernel) -> String {
        let (x, y, mut gradient) = ([0.3, 1.2], [0.9, 0.1], [0.0; 2]);
        let has_gradient = kernel.gradient(&x, &y, &mut gradient);
        let pitch = kernel.draw_pitch(&mut Seed(3).stream(Stream::Data, 0));
        let rows = (
            kernel.spec(),
            kernel.evaluate(&x, &y),
            (has_gradient, gradient),
            kernel.norm(),
            kernel.domain(),
            kernel.is_shift_invariant(),
            kernel.lengthscale_of_gamma(0.7).ok(),
            kernel.gamma_of_lengthscale(0.7),
        );
        let forms = (
            kernel.spectrum().is_some(),
            kernel.column_factor().is_some(),
            kernel.arc_cosine(),
            kernel.polynomial(),
            kernel.skewed_chi2(),
            kernel.block_form(),
            kernel.closed_form().is_some(),
        );
        let numbers = (
            pitch,
            kernel.slope_at_zero(),
            kernel.ln_integral(2),
            kernel.smooths_as_gaussian(2),
        );
        format!("{rows:?} {forms:?} {numbers:?}")
    }

    #[test]
    fn a_shared_kernel_says_what_the_kernel_says() {
        for spec in [
            "gaussian",
            "laplacian",
            "hat",
            "arc-cosine:1",
            "polynomial:2",
            "skewed-chi2:1",
        ] {
            let kernel = parse(spec).expect("known");
            assert_eq!(said(&kernel), said(kernel.as_ref()), "{spec}");
        }
    }
}
