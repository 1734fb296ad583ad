//! The Laplace approximation of a posterior: a normal law around its mode, whose covariance is the
//! inverse of the Hessian there, and what a sigmoid is on the average under it.

mod classes;
#[cfg(test)]
mod tests;

pub(crate) use classes::{ClassHessian, MeanSoftmax, contrasts};
pub use classes::{ClassLaplace, ClassSpread};

use super::Spread;
use crate::{
    Error, Result, device::memory_left, error::Remedy, linalg::cholesky::Lower,
    normal::NormalEquations,
};
use ndarray::{Array1, Array2, ArrayView1};
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// A normal law around the mode of the coefficients of one score `s(x) = z(x)'beta + b`.
#[derive(Debug, Clone, PartialEq)]
pub struct Laplace {
    /// The covariance of coefficients and intercept, `H^-1`: that of [`Spread`] where the noise is
    /// 1.
    pub spread: Spread,
    /// The logarithm of the evidence, with a flat prior of density 1 for an intercept.
    pub log_evidence: f64,
}

impl Laplace {
    /// Around `beta_d` with the prior `beta ~ N(0, I / precision)` and a flat one for the intercept
    /// (MacKay 1992, "The evidence framework applied to classification networks"; Bishop 2006,
    /// sections 4.4 and 4.5.1). `curved` are sums over the rows in which each counts by the second
    /// derivative of its loss by the score, `C = diag(w p (1 - p))` for logistic regression;
    /// `log_likelihood` is that of all rows at the mode. With one Cholesky factor of
    /// `H = Z'CZ + precision I`, where an intercept centres Z by its mean under C,
    /// `log p(y) = log_likelihood - precision/2 |beta|^2 + D/2 log precision - 1/2 log |H|` (Bishop
    /// 2006, eq. 4.137), with `1/2 log (2 pi / tr C)` beside it for an intercept. Where z(x)'z(y)
    /// is the kernel it is the approximation of Rasmussen & Williams (2006, eq. 3.32).
    ///
    /// Errors on sums without weight, with [`Error::Limit`] when there is no room for three
    /// matrices of D x D, and with [`Error::Numerical`] when rounding leaves H not positive
    /// definite.
    pub fn of(
        curved: &NormalEquations,
        (beta_d, intercept): (ArrayView1<'_, f64>, bool),
        precision: f64,
        log_likelihood: f64,
    ) -> Result<Self> {
        let (features, weight) = (curved.z_sum_d.len(), curved.weight);
        if weight <= 0.0 {
            let problem = "no row has a loss that bends: all probabilities are 0 or 1";
            return Err(Error::numerical(problem).help(Remedy::LargerLambda));
        }
        memory_left::require_square(features, 24, || {
            format!("the covariance of {features} coefficients")
        })?;
        let mut factor = Lower::from_matrix(&curved.gram_dd);
        let mean_d = if intercept {
            &curved.z_sum_d / weight
        } else {
            Array1::zeros(features)
        };
        for (i, &mean) in mean_d.iter().enumerate() {
            let row = factor.row_mut(i);
            for (h, other) in row.iter_mut().zip(&mean_d) {
                *h -= weight * mean * other;
            }
            row[i] += precision;
        }
        if !factor.factor() {
            let problem = "the Hessian of the loss is not positive definite";
            return Err(Error::numerical(problem).help(Remedy::LargerLambda));
        }
        let diagonal = (0..features).map(|i| factor.row(i)[i].ln());
        let log_determinant = 2.0 * diagonal.sum::<f64>();
        let of_intercept = if intercept { (TAU / weight).ln() } else { 0.0 };
        let square = precision * beta_d.dot(&beta_d);
        let of_prior = features as f64 * precision.ln() - square;
        // L^-1, whose transpose is a square root of H^-1.
        let mut inverse_dd = Array2::eye(features);
        factor.solve(&mut inverse_dd);
        Ok(Self {
            log_evidence: log_likelihood + 0.5 * (of_prior - log_determinant + of_intercept),
            spread: Spread {
                shift_d: inverse_dd.dot(&mean_d),
                root_dd: inverse_dd.t().as_standard_layout().into_owned(),
                noise_t: Array1::ones(1),
                intercept: if intercept { weight.recip() } else { 0.0 },
            },
        })
    }
}

/// Points of the trapezium rule lie so far apart.
const STEP: f64 = 0.5;

/// `E 1 / (1 + exp(-s))` for `s ~ N(mean, variance)`, to about 1e-9: the integral of Bishop (2006,
/// eq. 4.149), by the trapezium rule, whose error falls exponentially for integrands without
/// singularities near the real line. Where the normal law is narrow, it is the one that is
/// integrated over; where it is wide, the logistic law is: that of a variable whose distribution
/// function is the sigmoid.
pub(crate) fn mean_sigmoid(mean: f64, variance: f64) -> f64 {
    let deviation = variance.sqrt();
    let points = |reach: f64| {
        let most = (reach / STEP) as i32;
        (-most..=most).map(|i| STEP * f64::from(i))
    };
    if deviation < 1.0 {
        let terms = points(9.0).map(|u| sigmoid(mean + deviation * u) * (-0.5 * u * u).exp());
        return STEP * terms.sum::<f64>() / TAU.sqrt();
    }
    let terms = points(38.0).map(|e| {
        0.5 * libm::erfc(-(mean + e) / deviation * FRAC_1_SQRT_2) * sigmoid(e) * sigmoid(-e)
    });
    STEP * terms.sum::<f64>()
}

/// Without overflow.
fn sigmoid(s: f64) -> f64 {
    let small = (-s.abs()).exp();
    if s >= 0.0 {
        1.0 / (1.0 + small)
    } else {
        small / (1.0 + small)
    }
}
