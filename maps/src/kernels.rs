//! Kernels: exact k(x, y) and the spectral measure behind it. One file per kernel.

mod arc_cosine;
mod block_form;
mod cauchy;
mod chi2;
mod closed_form;
mod custom;
mod domain;
mod exponential;
mod factor;
mod gaussian;
mod hat;
mod laplacian;
mod linear;
mod matern;
mod matrix;
mod mixture;
mod parse;
mod polynomial;
mod product;
mod rational_quadratic;
mod shared;

pub use arc_cosine::ArcCosineKernel;
pub use block_form::BlockForm;
pub use cauchy::Cauchy;
pub use chi2::{AdditiveChi2, SkewedChi2Kernel};
pub use closed_form::ClosedForm;
pub use custom::CustomKernel;
pub use domain::Domain;
pub use exponential::Exponential;
pub use factor::ColumnFactor;
pub use gaussian::Gaussian;
pub use hat::Hat;
pub use laplacian::Laplacian;
pub use linear::Linear;
pub use matern::Matern;
pub use matrix::{cross, gram};
pub use mixture::{Component, Mixture};
pub use parse::parse;
pub use polynomial::Polynomial;
pub use product::Product;
pub use rational_quadratic::RationalQuadratic;

use crate::{
    error::{Error, Remedy, Result},
    seed::{Draws, Seed, Stream},
};
use std::{
    f64::consts::{PI, TAU},
    fmt::Debug,
};

/// A kernel at unit scale: inputs are already divided by the lengthscale of their column, and k(x,
/// y) is written for sigma = l = 1 (Laplacian and Cauchy: gamma = 1). An `Arc` of one, such as
/// [`parse`] gives for a kernel chosen at run time, is a kernel, too.
pub trait Kernel: Debug + Send + Sync {
    /// The kernel as the command line and model files spell it, parameters included (`gaussian`,
    /// `matern:0.75`): [`parse`] of it gives the same kernel back.
    fn spec(&self) -> String;

    /// The exact k(x, y) of two rows of one length, at unit scale.
    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64;

    /// The spectral measure p(omega), for shift-invariant kernels (Bochner's theorem).
    fn spectrum(&self) -> Option<&dyn SpectralMeasure>;

    /// The lengthscale for a given `gamma` where the kernel's own formula has a gamma, else an
    /// error that asks for a lengthscale.
    fn lengthscale_of_gamma(&self, gamma: f64) -> Result<f64>;

    /// The gamma that [`Self::lengthscale_of_gamma`] turns into `lengthscale`; `None` where the
    /// formula has no gamma.
    fn gamma_of_lengthscale(&self, lengthscale: f64) -> Option<f64> {
        // A gamma is a whole power of the lengthscale in every formula, and two of its values give
        // the power.
        let (one, two) = (
            self.lengthscale_of_gamma(1.0).ok()?,
            self.lengthscale_of_gamma(2.0).ok()?,
        );
        let power = (two / one).log2().recip().round();
        Some((lengthscale / one).powf(power))
    }

    /// Writes the gradient of k(x, y) by x to `out`, three slices of one length, at unit scale: 0
    /// at the kink of a kernel that has one. Returns false, and writes nothing, where no closed
    /// form is known.
    ///
    /// ```
    /// use bochner::kernels::{Gaussian, Kernel};
    /// let mut gradient = [0.0];
    /// assert!(Gaussian.gradient(&[1.0], &[0.0], &mut gradient));
    /// assert!((gradient[0] + (-0.5_f64).exp()).abs() < 1e-15);
    /// ```
    fn gradient(&self, _x: &[f64], _y: &[f64], _out: &mut [f64]) -> bool {
        false
    }

    /// Whether k(x, y) depends on x - y alone, so that columns can be centred without a change.
    /// Every kernel with a spectral measure does.
    fn is_shift_invariant(&self) -> bool {
        self.spectrum().is_some()
    }

    /// The distance between rows that the `median` rule takes.
    fn norm(&self) -> Norm {
        Norm::L2
    }

    /// Draws one grid pitch delta of random binning, once per coordinate and grid, from p(delta) =
    /// delta k''(delta), for kernels that are a product of one convex factor per coordinate; `None`
    /// for all others.
    fn draw_pitch(&self, _draws: &mut Draws) -> Option<f64> {
        None
    }

    /// The slope -k'(0) of the factor of one column for the kernels that [`Self::draw_pitch`]
    /// serves, which is E 1/delta over the pitches and the Lipschitz constant of k in the L1 norm;
    /// `None` for all others.
    fn slope_at_zero(&self) -> Option<f64> {
        None
    }

    /// ln of the integral of k(x, 0) over all x of d columns, at unit scale: what divides k to a
    /// density. `None` where it is infinite or not known.
    ///
    /// Until said otherwise it is `(2 pi)^d p(0)`, p the density of the spectral measure
    /// ([`SpectralMeasure::ln_density`]), of which k is the Fourier transform.
    fn ln_integral(&self, d: usize) -> Option<f64> {
        let at_zero = self.spectrum()?.ln_density(&vec![0.0; d])?;
        Some(d as f64 * libm::log(TAU) + at_zero)
    }

    /// The lengthscale with which the kernel smooths a density of d columns as a Gaussian of
    /// lengthscale 1 does: the ratio of canonical bandwidths,
    /// `[(R/R_G)/(v/v_G)^2]^(1/(d + 4))` with R the integral of the squared density and v the
    /// variance of a column (Marron & Nolan 1988). `None` where v is infinite or the ratio not
    /// known.
    fn smooths_as_gaussian(&self, _d: usize) -> Option<f64> {
        None
    }

    /// The function of one column's difference whose product over the columns the kernel is; `None`
    /// for all others.
    fn column_factor(&self) -> Option<&dyn ColumnFactor> {
        None
    }

    /// The arc-cosine kernel that this is; `None` for all others.
    fn arc_cosine(&self) -> Option<ArcCosineKernel> {
        None
    }

    /// The polynomial kernel that this is; `None` for all others.
    fn polynomial(&self) -> Option<Polynomial> {
        None
    }

    /// The skewed chi-squared kernel that this is; `None` for all others.
    fn skewed_chi2(&self) -> Option<SkewedChi2Kernel> {
        None
    }

    /// The values that its columns may hold, at unit scale.
    fn domain(&self) -> Domain {
        Domain::Any
    }

    /// The closed form that blocks of the kernel matrix are computed by in f32; `None` leaves them
    /// to [`Self::evaluate`], on the CPU alone.
    fn block_form(&self) -> Option<BlockForm> {
        None
    }

    /// k written out, which is what models for other runtimes hold of it; `None` where it is code,
    /// or a function that those lack.
    fn closed_form(&self) -> Option<ClosedForm<'_>> {
        self.block_form().map(ClosedForm::Block)
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

/// A probability measure on frequencies, at unit scale, with characteristic function k: E cos(omega
/// . Delta) = k(Delta).
pub trait SpectralMeasure: Debug + Send + Sync {
    /// Draws one frequency into `omega` (length d).
    fn draw(&self, draws: &mut Draws, omega: &mut [f64]);

    /// How many coordinates of the unit cube [`Self::map_cube`] takes for d columns; `None` when
    /// there is no such map.
    fn cube_dim(&self, d: usize) -> Option<usize>;

    /// Maps a point `t` of the open unit cube (length `cube_dim(d)`) to a frequency (length d),
    /// coordinate by coordinate.
    fn map_cube(&self, t: &[f64], omega: &mut [f64]);

    /// Draws |omega| for d columns when the measure is isotropic, else `None` without having drawn
    /// anything.
    fn radius(&self, d: usize, draws: &mut Draws) -> Option<f64>;

    /// ln p(omega), p the density of the measure with respect to lengths, areas and so on; `None`
    /// where it has none that is known and finite at 0.
    fn ln_density(&self, _omega: &[f64]) -> Option<f64> {
        None
    }

    /// E |omega|^2 for d columns, sigma_p^2 of the uniform bound (Rahimi & Recht 2007, claim 1):
    /// infinite where the tails are heavy, `None` where it is not known. It is minus the sum of the
    /// second derivatives of k at 0.
    fn second_moment(&self, _d: usize) -> Option<f64> {
        None
    }
}

/// Checks that a `gamma` is positive and finite.
fn checked_gamma(gamma: f64) -> Result<f64> {
    if gamma > 0.0 && gamma.is_finite() {
        return Ok(gamma);
    }
    Err(Error::parameter(format!(
        "gamma must be a positive number, not {gamma}"
    )))
}

/// sum_m (x_m - y_m)^2.
fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// sum_m |x_m - y_m|.
fn l1_distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| (a - b).abs()).sum()
}

/// [`Kernel::smooths_as_gaussian`] of a density whose square has an integral of this ln, and whose
/// columns have this variance.
fn canonical_ratio(ln_roughness: f64, variance: f64, d: usize) -> f64 {
    let d = d as f64;
    // The Gaussian's own are (4 pi)^(-d/2) and 1.
    let ln_ratio = ln_roughness + 0.5 * d * libm::log(4.0 * PI) - 2.0 * libm::log(variance);
    libm::exp(ln_ratio / (d + 4.0))
}

/// The gradient by x of a function of |x - y| whose derivative over the distance is `slope`.
fn along(slope: f64, x: &[f64], y: &[f64], out: &mut [f64]) -> bool {
    for (out, (x, y)) in out.iter_mut().zip(x.iter().zip(y)) {
        *out = slope * (x - y);
    }
    true
}

/// The answer of a kernel whose formula has no gamma.
fn no_gamma(kernel: &str) -> Result<f64> {
    let problem = format!("the {kernel} kernel is written with a lengthscale, not with gamma");
    Err(Error::unsupported(problem).help(Remedy::GiveLengthscale))
}

/// Whether directions under `measure` are uniform for d columns: [`SpectralMeasure::radius`], tried
/// on a throw-away stream.
pub(crate) fn is_isotropic(measure: &dyn SpectralMeasure, d: usize) -> bool {
    let mut scratch = Seed(0).stream(Stream::Radii, 0);
    measure.radius(d, &mut scratch).is_some()
}

/// Checks one part of a mixture or product.
fn check_lengthscale(kernel: &dyn Kernel, lengthscale: f64) -> Result<()> {
    if kernel.spectrum().is_none() {
        return Err(Error::unsupported(format!(
            "{} has no spectral measure, so it cannot be part of a mixture or product; put its features beside the others \
             with a union of maps",
            kernel.spec()
        )));
    }
    if lengthscale > 0.0 && lengthscale.is_finite() {
        return Ok(());
    }
    Err(Error::parameter(format!(
        "the lengthscale of {} must be a positive number, not {lengthscale}",
        kernel.spec()
    )))
}

/// `gaussian@2`, with parentheses where the kernel is itself made of parts.
fn part_spec(kernel: &dyn Kernel, lengthscale: f64) -> String {
    let spec = kernel.spec();
    if spec.contains(['+', '*', '@', '(']) {
        format!("({spec})@{lengthscale}")
    } else {
        format!("{spec}@{lengthscale}")
    }
}

fn scaled(x: &[f64], lengthscale: f64) -> Vec<f64> {
    x.iter().map(|v| v / lengthscale).collect()
}

#[cfg(test)]
mod tests {
    use super::{Cauchy, Gaussian, Kernel, Laplacian, Matern, Norm, Polynomial, parse};

    /// The distance that a kernel sees, and so the rows that its median bandwidth is near.
    #[test]
    fn norms_are_l1_only_where_all_parts_are() {
        for (spec, norm) in [
            ("gaussian", Norm::L2),
            ("exponential", Norm::L2),
            ("cauchy", Norm::L2),
            ("laplacian", Norm::L1),
            ("hat", Norm::L1),
            ("mixture:1*laplacian@1+2*laplacian@3", Norm::L1),
            ("mixture:1*laplacian@1+2*gaussian@1", Norm::L2),
            ("product:laplacian@1*laplacian@3", Norm::L1),
            ("product:gaussian@1*laplacian@1", Norm::L2),
        ] {
            assert_eq!(parse(spec).expect("known").norm(), norm, "{spec}");
        }
    }

    /// A kernel of one column at distance 0.7, written with gamma.
    type WithGamma = fn(f64) -> f64;

    #[test]
    fn gamma_is_that_of_the_formula() {
        let kernels: [(&dyn Kernel, WithGamma); 3] = [
            (&Gaussian, |gamma| (-gamma * 0.7 * 0.7).exp()),
            (&Laplacian, |gamma| (-gamma * 0.7).exp()),
            (&Cauchy, |gamma| 1.0 / (1.0 + gamma * gamma * 0.7 * 0.7)),
        ];
        for (kernel, formula) in kernels {
            for gamma in [0.04, 0.3, 1.0, 2.5] {
                let lengthscale = kernel.lengthscale_of_gamma(gamma).expect("has a gamma");
                let k = kernel.evaluate(&[0.7 / lengthscale, 2.0], &[0.0, 2.0]);
                assert!(
                    (k - formula(gamma)).abs() < 1e-14,
                    "{kernel:?} {gamma}: {k}"
                );
            }
            for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
                assert!(kernel.lengthscale_of_gamma(gamma).is_err(), "{kernel:?}");
            }
        }
        // No other has one in its formula: a lengthscale is asked for.
        for spec in [
            "exponential",
            "matern32",
            "matern:0.8",
            "rational-quadratic:2",
            "mixture:1*gaussian@1+1*cauchy@2",
            "product:gaussian@1*laplacian@2",
            "hat",
            "arc-cosine:1",
            "additive-chi2",
            "skewed-chi2",
        ] {
            let kernel = parse(spec).expect("known");
            let error = kernel.lengthscale_of_gamma(1.0).expect_err("has no gamma");
            assert!(error.to_string().contains("lengthscale"), "{spec}: {error}");
        }
    }

    #[test]
    fn gamma_and_lengthscale_are_inverses() {
        let polynomial = Polynomial::new(3, 1.0).expect("a kernel");
        let kernels: [&dyn Kernel; 4] = [&Gaussian, &Laplacian, &Cauchy, &polynomial];
        for kernel in kernels {
            for gamma in [1e-6, 0.3, 1.0, 7.0, 1e6] {
                let lengthscale = kernel.lengthscale_of_gamma(gamma).expect("has a gamma");
                let back = kernel.gamma_of_lengthscale(lengthscale);
                let error = (back.expect("has a gamma") / gamma - 1.0).abs();
                assert!(error < 1e-14, "{kernel:?} {gamma}: {error:e}");
            }
        }
        let matern = Matern::new(1.5).expect("a kernel");
        assert_eq!(matern.gamma_of_lengthscale(2.0), None);
    }
}
