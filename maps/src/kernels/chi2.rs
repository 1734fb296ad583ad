//! The chi-squared kernels of histograms: their columns are counts or shares, and not negative.

use super::{ClosedForm, Domain, Kernel, SpectralMeasure, no_gamma};
use crate::{
    error::{Error, Result},
    seed::Draws,
};
use std::f64::consts::{FRAC_PI_2, PI};

/// k(x, y) = sum_m 2 x_m y_m / (x_m + y_m) of values that are not negative, 0 where both are 0
/// (Vedaldi & Zisserman 2012, sec. 2): half the chi-squared distance away from the mean of the two
/// sums. [`AdditiveChi2Features`](crate::features::AdditiveChi2Features) approximate it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AdditiveChi2;

impl Kernel for AdditiveChi2 {
    fn spec(&self) -> String {
        "additive-chi2".into()
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        let column = |(&x, &y): (&f64, &f64)| {
            if x + y == 0.0 {
                0.0
            } else {
                2.0 * x * y / (x + y)
            }
        };
        x.iter().zip(y).map(column).sum()
    }

    fn spectrum(&self) -> Option<&dyn SpectralMeasure> {
        None
    }

    fn lengthscale_of_gamma(&self, _gamma: f64) -> Result<f64> {
        no_gamma("additive-chi2")
    }

    fn domain(&self) -> Domain {
        Domain::NonNegative
    }

    fn closed_form(&self) -> Option<ClosedForm<'_>> {
        Some(ClosedForm::AdditiveChi2)
    }
}

/// k(x, y) = prod_m 2 sqrt(x_m + c) sqrt(y_m + c) / (x_m + y_m + 2 c) of values above -c (Li,
/// Ionescu & Sminchisescu 2010, sec. 3.2).
///
/// It is the hyperbolic secant of half the difference of the logarithms, so that Fourier features
/// of `ln(x + c)` estimate it ([`SkewedChi2`](crate::features::SkewedChi2)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SkewedChi2Kernel {
    skewedness: f64,
}

impl SkewedChi2Kernel {
    /// c.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `skewedness` is finite.
    pub fn new(skewedness: f64) -> Result<Self> {
        if skewedness.is_finite() {
            Ok(Self { skewedness })
        } else {
            Err(Error::parameter(format!(
                "the skewedness of skewed-chi2 is a finite number, not {skewedness}"
            )))
        }
    }

    /// c.
    pub fn skewedness(&self) -> f64 {
        self.skewedness
    }

    /// The law of the frequencies of its features of logarithms, to be drawn by any
    /// [`Sampling`](crate::sampling::Sampling): sech(pi omega) in every column.
    #[doc(hidden)]
    pub fn frequencies() -> &'static dyn SpectralMeasure {
        &Sech
    }
}

impl Kernel for SkewedChi2Kernel {
    fn spec(&self) -> String {
        format!("skewed-chi2:{}", self.skewedness)
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        let column = |(x, y): (&f64, &f64)| {
            let (x, y) = (x + self.skewedness, y + self.skewedness);
            2.0 * (x * y).sqrt() / (x + y)
        };
        x.iter().zip(y).map(column).product()
    }

    fn spectrum(&self) -> Option<&dyn SpectralMeasure> {
        None
    }

    fn lengthscale_of_gamma(&self, _gamma: f64) -> Result<f64> {
        no_gamma("skewed-chi2")
    }

    fn domain(&self) -> Domain {
        Domain::Above(-self.skewedness)
    }

    fn skewed_chi2(&self) -> Option<SkewedChi2Kernel> {
        Some(*self)
    }

    fn closed_form(&self) -> Option<ClosedForm<'_>> {
        Some(ClosedForm::SkewedChi2 {
            skewedness: self.skewedness,
        })
    }
}

/// The measure of density sech(pi omega) in every column, with the characteristic function
/// prod sech(Delta_m / 2).
#[derive(Debug)]
struct Sech;

impl SpectralMeasure for Sech {
    fn draw(&self, draws: &mut Draws, omega: &mut [f64]) {
        omega
            .iter_mut()
            .for_each(|w| *w = quantile(draws.uniform()));
    }

    fn cube_dim(&self, d: usize) -> Option<usize> {
        Some(d)
    }

    fn map_cube(&self, t: &[f64], omega: &mut [f64]) {
        for (w, &t) in omega.iter_mut().zip(t) {
            *w = quantile(t);
        }
    }

    fn radius(&self, d: usize, draws: &mut Draws) -> Option<f64> {
        (d == 1).then(|| quantile(draws.uniform()).abs())
    }

    fn ln_density(&self, omega: &[f64]) -> Option<f64> {
        Some(omega.iter().map(|w| -libm::log(libm::cosh(PI * w))).sum())
    }

    /// 1/4 in each column: minus the second derivative of sech(Delta / 2) at 0.
    fn second_moment(&self, d: usize) -> Option<f64> {
        Some(0.25 * d as f64)
    }
}

/// The integral of sech(pi w) to omega is 2/pi atan(e^(pi omega)).
fn quantile(t: f64) -> f64 {
    libm::log(libm::tan(FRAC_PI_2 * t)) / PI
}
