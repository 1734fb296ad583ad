//! Laplace approximation of a posterior: a normal distribution around its mode, whose covariance is
//! the inverse of the Hessian there, and the mean of a sigmoid under it.

mod classes;
#[cfg(test)]
mod tests;

use crate::{
    Error, Result, device::memory_left, error::Remedy, linalg::cholesky::Lower, model::Spread,
    normal::NormalEquations,
};
pub use classes::ClassLaplace;
pub(crate) use classes::{ClassHessian, contrasts};

use ndarray::{Array1, Array2, ArrayView1};
use std::f64::consts::TAU;

/// Normal approximation around the mode of the coefficients of one score `s(x) = z(x)'beta + b`.
#[derive(Debug, Clone, PartialEq)]
pub struct Laplace {
    /// Covariance of coefficients and intercept, `H^-1`, as a [`Spread`] with noise 1.
    pub spread: Spread,
    /// The logarithm of the evidence, with a flat prior of density 1 for an intercept.
    pub log_evidence: f64,
}

impl Laplace {
    /// Approximates around `beta_d` with the prior `beta ~ N(0, I / precision)` and a flat one for
    /// the intercept (MacKay 1992, "The evidence framework applied to classification networks";
    /// Bishop 2006, sections 4.4 and 4.5.1). `curved` are sums over the rows weighted by the second
    /// derivative of their losses with respect to the score, `C = diag(w p (1 - p))` for logistic
    /// regression; `log_likelihood` is that of all rows at the mode. With one Cholesky factor of `H
    /// = Z'CZ + precision I`, where an intercept centres Z by its mean under C, `log p(y) =
    /// log_likelihood - precision/2 |beta|^2 + D/2 log precision - 1/2 log |H|` (Bishop 2006, eq.
    /// 4.137), plus `1/2 log (2 pi / tr C)` for an intercept. If z(x)'z(y) is the kernel, it is the
    /// approximation of Rasmussen & Williams (2006, eq. 3.32).
    ///
    /// Errors on sums without weight, with [`Error::Limit`] if there is no room for three matrices
    /// of D x D, and with [`Error::Numerical`] if rounding leaves H not positive definite.
    pub fn new(
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
