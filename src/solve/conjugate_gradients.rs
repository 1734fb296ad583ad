//! Ridge regression by conjugate gradients on products with Z, for maps whose Gram matrix is never
//! formed.

mod preconditioning;
mod steps;
mod system;
#[cfg(test)]
pub(super) mod tests;

use crate::{Error, Result, error::Remedy, linalg::cholesky::Lower, model::Coefficients};
pub use preconditioning::Preconditioning;

use super::{FeatureProducts, sketch::CgPreconditioner};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use preconditioning::{Schedule, Size};
use steps::{Inverse, Left, Steps};
use system::{Middle, System};

/// Ridge regression `beta = (Z'Z + lambda n I)^-1 Z'y`, lambda PER SAMPLE as in
/// [`Cholesky`](super::Cholesky), the intercept from centring and not penalised, by preconditioned
/// conjugate gradients (Hestenes & Stiefel 1952; Saad 2003, alg. 9.1). All targets take their steps
/// together. Memory is `8 t (2 n + 6 D)` bytes plus that of the operator and of
/// [`Preconditioning`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConjugateGradients {
    /// The penalty per sample, lambda > 0.
    pub lambda: f64,
    /// Whether to fit an intercept.
    pub intercept: bool,
    /// Converged if `|b - A beta| <= tolerance |b|` for each target, with A the centred, penalised
    /// Gram matrix and b = Z'y centred.
    pub tolerance: f64,
    /// Maximum number of products with Z'Z.
    pub max_iterations: usize,
    /// The preconditioner, which reduces their number.
    pub preconditioning: Preconditioning,
}

impl Default for ConjugateGradients {
    /// lambda = 1e-6 with an intercept, tolerance 1e-6, at most 1000 iterations, and automatic
    /// preconditioning.
    fn default() -> Self {
        Self {
            lambda: 1e-6,
            intercept: true,
            tolerance: 1e-6,
            max_iterations: 1000,
            preconditioning: Preconditioning::Auto,
        }
    }
}

/// Result of conjugate gradients.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The coefficients.
    pub coefficients: Coefficients,
    /// Number of products with Z'Z.
    pub iterations: usize,
    /// Number of directions of the sketch; 0 for a diagonal preconditioner.
    pub rank: usize,
    /// `|b - A beta| / |b|` of each target, recomputed at the end instead of by recurrence, `[t]`.
    pub residual_t: Array1<f64>,
    /// Whether all residuals are within the tolerance.
    pub converged: bool,
}

impl Solution {
    /// The coefficients, or [`Error::Numerical`] if the iteration ended before the tolerance.
    #[doc(hidden)]
    pub fn require_converged(self) -> Result<Coefficients> {
        if self.converged {
            return Ok(self.coefficients);
        }
        let worst = self.residual_t.fold(0.0, |m: f64, &r| m.max(r));
        Err(Error::numerical(format!(
            "conjugate gradients stand at a relative residual of {worst:.1e} after {} iterations",
            self.iterations
        ))
        .help(Remedy::LargerLambda)
        .help(Remedy::MoreIterations)
        .help(Remedy::LargerTolerance))
    }
}

impl ConjugateGradients {
    pub(crate) fn check(&self) -> Result<()> {
        for (name, value) in [("lambda", self.lambda), ("the tolerance", self.tolerance)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::parameter(format!(
                    "{name} is {value}; it must be positive and finite"
                )));
            }
        }
        if self.max_iterations == 0 {
            return Err(Error::parameter(
                "the number of iterations is 0; use at least 1",
            ));
        }
        Ok(())
    }

    /// Solves for targets `y` `[t, n]`. `progress` receives the number of iterations and the
    /// largest relative residual.
    ///
    /// Ends at the tolerance or after [`Self::max_iterations`]; see [`Solution::converged`]. Errors
    /// with [`Error::Parameter`] on parameters outside their domain, with [`Error::Shape`] if `y`
    /// has another number of rows or there are none, and with [`Error::Numerical`] if a product is
    /// not finite.
    pub fn solve(
        &self,
        features: &mut dyn FeatureProducts,
        y_tn: ArrayView2<'_, f64>,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Solution> {
        self.solve_weighted(features, y_tn, None, progress)
    }

    /// As [`Self::solve`] with weights of rows, `[n]`; n is then their sum.
    pub fn solve_weighted(
        &self,
        features: &mut dyn FeatureProducts,
        y_tn: ArrayView2<'_, f64>,
        weights_n: Option<ArrayView1<'_, f64>>,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Solution> {
        self.solve_preconditioned(features, y_tn, weights_n, None, progress)
    }

    /// As [`Self::solve_weighted`], with an optional Cholesky factor of an approximation `P = A /
    /// n` instead of the diagonal. Residuals are then `(r'P^-1 r / b'P^-1 b)^{1/2}`, approximately
    /// the relative error of beta in the norm of A: directions of small eigenvalues count as much
    /// as others.
    pub(crate) fn solve_preconditioned(
        &self,
        features: &mut dyn FeatureProducts,
        y_tn: ArrayView2<'_, f64>,
        weights_n: Option<ArrayView1<'_, f64>>,
        factor: Option<&Lower>,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Solution> {
        self.check()?;
        let (targets, rows) = y_tn.dim();
        let middle = self.middle(features, y_tn, weights_n)?;
        let (n, penalty) = (middle.n, self.lambda * middle.n);
        let b_td = middle.right_side(features, y_tn, weights_n)?;
        let (by, preconditioning) = match factor {
            None => (middle.diagonal(penalty), self.preconditioning),
            Some(factor) => (
                CgPreconditioner::Factor(factor, n),
                Preconditioning::Diagonal,
            ),
        };
        let mut inverse = Inverse::new(by, factor.is_some(), &b_td);
        let mut system = System {
            features,
            mean_d: middle.mean_d,
            weights_n,
            n,
            penalty,
            r_tn: Array2::zeros((targets, rows)),
        };
        let of = Size {
            rows,
            columns: system.features.columns(),
            targets,
        };
        let mut schedule = Schedule::new(preconditioning, of);
        let rank = schedule.at_once();
        if rank > 0
            && let Some(sketch) = system.sketch(rank)?
        {
            inverse.by = sketch;
        }
        let reached = self.iterate((&mut system, &b_td), &mut inverse, &mut schedule, progress)?;
        let (steps, left, iterations) = reached;
        let beta_td = steps.beta_td;
        let intercept_t = if self.intercept {
            &middle.shift_t - &beta_td.dot(&system.mean_d)
        } else {
            Array1::zeros(targets)
        };
        Ok(Solution {
            coefficients: Coefficients {
                beta_dt: beta_td.reversed_axes().as_standard_layout().into_owned(),
                intercept_t,
            },
            iterations,
            rank: inverse.by.rank(),
            converged: left.worst() <= self.tolerance,
            residual_t: left.residual_t,
        })
    }

    /// Takes steps until all residuals are within the tolerance, up to the maximum; returns their
    /// number.
    fn iterate(
        &self,
        (system, b_td): (&mut System<'_, '_>, &Array2<f64>),
        inverse: &mut Inverse<'_>,
        schedule: &mut Schedule,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<(Steps, Left, usize)> {
        let mut left = inverse.left(b_td);
        let mut steps = Steps::from(b_td, &left);
        let mut iterations = 0;
        while iterations < self.max_iterations && left.worst() > self.tolerance {
            steps.advance(system, &left)?;
            iterations += 1;
            let mut next = inverse.left(&steps.r_td);
            let mut restart = false;
            if next.worst() <= self.tolerance || iterations == self.max_iterations {
                // The recurrence accumulates rounding errors, so the final residual is recomputed.
                steps.compute_residual(system, b_td)?;
                next = inverse.left(&steps.r_td);
                restart = true;
            }
            let now = next.finite()?;
            progress(iterations, now);
            let rank = if now > self.tolerance && iterations < self.max_iterations {
                schedule.worth(iterations, now, self.tolerance)
            } else {
                0
            };
            if rank > 0
                && let Some(sketch) = system.sketch(rank)?
            {
                log::info!("a sketch of {} directions", sketch.rank());
                schedule.begin(rank, sketch.rank(), (iterations, now));
                inverse.by = sketch;
                next = inverse.left(&steps.r_td);
                // Directions are no longer conjugate after a change of the preconditioner.
                restart = true;
            }
            let before = (!restart).then_some(&left);
            steps.turn(&next, before);
            left = next;
        }
        Ok((steps, left, iterations))
    }

    /// Weighted means of features and targets. Errors on inconsistent numbers of rows or weights,
    /// and without rows.
    fn middle(
        &self,
        features: &mut dyn FeatureProducts,
        y_tn: ArrayView2<'_, f64>,
        weights_n: Option<ArrayView1<'_, f64>>,
    ) -> Result<Middle> {
        let (targets, rows) = y_tn.dim();
        let columns = features.columns();
        if rows == 0 || rows != features.rows() {
            return Err(Error::shape(format!(
                "{rows} targets for {} rows of features; both must be the same and not zero",
                features.rows()
            )));
        }
        let n = weights_n.map_or(rows as f64, |weights_n| weights_n.sum());
        let mut moments = Array2::zeros((2, columns));
        features.moments(&mut moments)?;
        let mut weighted_tn = y_tn.to_owned();
        if let Some(weights_n) = weights_n {
            if weights_n.len() != rows || n <= 0.0 {
                return Err(Error::shape(format!(
                    "{} weights with a sum of {n} for {rows} rows",
                    weights_n.len()
                )));
            }
            // Approximate squares suffice: they are only used for the preconditioner.
            moments *= n / rows as f64;
            let mut sums = Array2::zeros((1, columns));
            features.transposed(weights_n.insert_axis(Axis(0)), &mut sums)?;
            moments.row_mut(0).assign(&sums.row(0));
            weighted_tn *= &weights_n;
        }
        let (mean_d, shift_t) = if self.intercept {
            (&moments.row(0) / n, weighted_tn.sum_axis(Axis(1)) / n)
        } else {
            (Array1::zeros(columns), Array1::zeros(targets))
        };
        Ok(Middle {
            n,
            mean_d,
            shift_t,
            square_d: moments.row(1).to_owned(),
        })
    }
}
