//! Ridge regression by conjugate gradients on products with Z alone, for maps whose Gram matrix is
//! never formed.

mod preconditioning;
#[cfg(test)]
pub(super) mod tests;

pub use preconditioning::Preconditioning;

use super::{
    Coefficients, FeatureProducts,
    features::weigh,
    sketch::{Centred, Preconditioner},
};
use crate::{Error, Result, error::Remedy, linalg::cholesky::Lower};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, Zip};
use preconditioning::{Schedule, Size};

/// Ridge regression `beta = (Z'Z + lambda n I)^-1 Z'y`, lambda PER SAMPLE as in
/// [`Cholesky`](super::Cholesky), the intercept from centring and never penalised, by
/// preconditioned conjugate gradients (Hestenes & Stiefel 1952; Saad 2003, alg. 9.1). All targets
/// take their steps together; memory is `8 t (2 n + 6 D)` bytes beside the operator's own, and that
/// of [`Preconditioning`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConjugateGradients {
    /// The penalty per sample, lambda > 0.
    pub lambda: f64,
    /// Whether an intercept is fitted.
    pub intercept: bool,
    /// Done when `|b - A beta| <= tolerance |b|` for each target, A the centred, penalised Gram
    /// matrix and b = Z'y centred.
    pub tolerance: f64,
    /// Most products with Z'Z.
    pub max_iterations: usize,
    /// What makes them few.
    pub preconditioning: Preconditioning,
}

impl Default for ConjugateGradients {
    /// lambda = 1e-6 with an intercept, tolerance 1e-6, at most 1000 iterations, and
    /// the preconditioner that pays.
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

/// What conjugate gradients reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The coefficients.
    pub coefficients: Coefficients,
    /// Products with Z'Z that were taken.
    pub iterations: usize,
    /// Directions of the sketch; 0 if the diagonal did.
    pub rank: usize,
    /// `|b - A beta| / |b|` of each target, computed afresh and not by recurrence, `[t]`.
    pub residual_t: Array1<f64>,
    /// Whether all residuals are within the tolerance.
    pub converged: bool,
}

impl Solution {
    /// The coefficients, or [`Error::Numerical`] when the iteration ended before the tolerance.
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

/// The centred, penalised Gram matrix, as products.
struct System<'a, 'f> {
    features: &'a mut (dyn FeatureProducts + 'f),
    /// Column means, zero without an intercept.
    mean_d: Array1<f64>,
    weights_n: Option<ArrayView1<'a, f64>>,
    /// The sum of the weights.
    n: f64,
    penalty: f64,
    r_tn: Array2<f64>,
}

impl System<'_, '_> {
    /// `out = (Z'WZ - n m m' + lambda n I) v`, W the weights.
    fn product(&mut self, v_td: ArrayView2<'_, f64>, out_td: &mut Array2<f64>) -> Result<()> {
        self.r_tn.fill(0.0);
        let weights_n = self.weights_n;
        let between = &mut |row0, r_tm: ArrayViewMut2<'_, f64>| weigh(r_tm, weights_n, row0);
        self.features
            .round_trip_through(v_td, &mut self.r_tn, between, out_td)?;
        for (mut out, v) in out_td.rows_mut().into_iter().zip(v_td.rows()) {
            let along = self.n * dot(self.mean_d.view(), v);
            for ((out, v), m) in out.iter_mut().zip(v).zip(&self.mean_d) {
                *out += self.penalty * v - along * m;
            }
        }
        Ok(())
    }

    /// The preconditioner of a sketch.
    fn sketch<'p>(&mut self, rank: usize) -> Result<Option<Preconditioner<'p>>> {
        let of = Centred {
            mean_d: &self.mean_d,
            weights_n: self.weights_n,
            n: self.n,
            penalty: self.penalty,
        };
        Preconditioner::sketch(self.features, &of, rank)
    }
}

fn dot(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    a.dot(&b)
}

/// The inner products of each target's pair of rows.
fn dots(a_td: &Array2<f64>, b_td: &Array2<f64>) -> Vec<f64> {
    let rows = a_td.rows().into_iter().zip(b_td.rows());
    rows.map(|(a, b)| dot(a, b)).collect()
}

/// `to_k += factor_k from_k` for each target k.
fn add_scaled(to_td: &mut Array2<f64>, factors: &[f64], from_td: &Array2<f64>) {
    for ((mut to, from), &f) in to_td
        .rows_mut()
        .into_iter()
        .zip(from_td.rows())
        .zip(factors)
    {
        to.scaled_add(f, &from);
    }
}

/// `a / b`, and zero where a target has nothing left to do.
fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
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

    /// Solves for targets `y` `[t, n]`. `progress` hears the number of iterations and the largest
    /// relative residual.
    ///
    /// Ends at the tolerance or after [`Self::max_iterations`], and says which. Errors with
    /// [`Error::Parameter`] on parameters outside their domain, with [`Error::Shape`] when `y` has
    /// another number of rows or there are none, and with [`Error::Numerical`] when a product is
    /// not finite.
    pub fn solve(
        &self,
        features: &mut dyn FeatureProducts,
        y_tn: ArrayView2<'_, f64>,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Solution> {
        self.solve_weighted(features, y_tn, None, progress)
    }

    /// As [`Self::solve`], with what each row counts for, `[n]`, n then the sum of these.
    pub fn solve_weighted(
        &self,
        features: &mut dyn FeatureProducts,
        y_tn: ArrayView2<'_, f64>,
        weights_n: Option<ArrayView1<'_, f64>>,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Solution> {
        self.solve_preconditioned(features, y_tn, weights_n, None, progress)
    }

    /// As [`Self::solve_weighted`], with a Cholesky factor of about `P = A / n` in place of the
    /// diagonal, if there is one. Residuals then are `(r'P^-1 r / b'P^-1 b)^{1/2}`, which is about
    /// how far beta is off in the norm of A: directions of small eigenvalues count as the others.
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
            // Squares need not be exact: they are for the preconditioner alone.
            moments *= n / rows as f64;
            let mut sums = Array2::zeros((1, columns));
            features.transposed(weights_n.insert_axis(Axis(0)), &mut sums)?;
            moments.row_mut(0).assign(&sums.row(0));
            weighted_tn *= &weights_n;
        }
        let true_mean = &moments.row(0) / n;
        let y_mean = weighted_tn.sum_axis(Axis(1)) / n;
        drop(weighted_tn);
        let (mean_d, shift_t) = match self.intercept {
            true => (true_mean, y_mean),
            false => (Array1::zeros(columns), Array1::zeros(targets)),
        };
        let penalty = self.lambda * n;
        // Jacobi: 1 / diag(Z'Z - n m m' + lambda n I).
        let inverse_d = Zip::from(&moments.row(1))
            .and(&mean_d)
            .map_collect(|&square, &m| 1.0 / ((square - n * m * m).max(0.0) + penalty));
        let mut inverse = match factor {
            None => Preconditioner::Diagonal(inverse_d),
            Some(factor) => Preconditioner::Factor(factor, n),
        };
        let mut b = Array2::zeros((targets, columns));
        let mut centred = &y_tn - &shift_t.view().insert_axis(Axis(1));
        if let Some(weights_n) = weights_n {
            centred *= &weights_n;
        }
        features.transposed(centred.view(), &mut b)?;
        drop(centred);
        let mut system = System {
            features,
            mean_d,
            weights_n,
            n,
            penalty,
            r_tn: Array2::zeros((targets, rows)),
        };
        let size = match factor {
            None => dots(&b, &b),
            Some(_) => dots(&b, &inverse.inverse(&b)),
        };
        // What is left: z, the inner products of r and z, the residual of each target.
        let left = |inverse: &Preconditioner<'_>, r: &Array2<f64>| {
            let z = inverse.inverse(r);
            let rho = dots(r, &z);
            let squares = match factor {
                None => dots(r, r),
                Some(_) => rho.clone(),
            };
            let of_size = squares.iter().zip(&size);
            let residual = of_size.map(|(&r, &b)| ratio(r, b).sqrt()).collect();
            (z, rho, residual)
        };
        let worst = |residual: &Array1<f64>| {
            residual.fold(0.0, |m: f64, &r| if r.is_nan() { r } else { m.max(r) })
        };

        let mut beta = Array2::zeros((targets, columns));
        let mut a_p = Array2::zeros((targets, columns));
        let mut r = b.clone();
        let preconditioning = match factor {
            None => self.preconditioning,
            Some(_) => Preconditioning::Diagonal,
        };
        let of = Size {
            rows,
            columns,
            targets,
        };
        let mut schedule = Schedule::new(preconditioning, of);
        let rank = schedule.at_once();
        if rank > 0
            && let Some(sketch) = system.sketch(rank)?
        {
            inverse = sketch;
        }
        let (mut p, mut rho, mut residual): (_, _, Array1<f64>) = left(&inverse, &r);
        let mut iterations = 0;
        while iterations < self.max_iterations && worst(&residual) > self.tolerance {
            system.product(p.view(), &mut a_p)?;
            iterations += 1;
            let alpha: Vec<f64> = rho
                .iter()
                .zip(dots(&p, &a_p))
                .map(|(&rho, pap)| ratio(rho, pap))
                .collect();
            add_scaled(&mut beta, &alpha, &p);
            let back: Vec<f64> = alpha.iter().map(|a| -a).collect();
            add_scaled(&mut r, &back, &a_p);
            let (mut z, mut next);
            (z, next, residual) = left(&inverse, &r);
            let mut restart = false;
            if worst(&residual) <= self.tolerance || iterations == self.max_iterations {
                // The recurrence drifts from the truth: what is reported and relied on is computed
                // afresh.
                system.product(beta.view(), &mut a_p)?;
                r.assign(&(&b - &a_p));
                (z, next, residual) = left(&inverse, &r);
                restart = true;
            }
            let now = worst(&residual);
            if !now.is_finite() {
                return Err(Error::numerical(
                    "conjugate gradients met a product that is not \
                     finite: the features or targets are too large",
                )
                .help(Remedy::Standardize));
            }
            progress(iterations, now);
            let rank = match now > self.tolerance && iterations < self.max_iterations {
                true => schedule.worth(iterations, now, self.tolerance),
                false => 0,
            };
            if rank > 0
                && let Some(sketch) = system.sketch(rank)?
            {
                log::info!("a sketch of {} directions", sketch.rank());
                schedule.begin(rank, sketch.rank(), (iterations, now));
                inverse = sketch;
                (z, next, residual) = left(&inverse, &r);
                // Directions that were conjugate before are not any more.
                restart = true;
            }
            let turn: Vec<f64> = match restart {
                true => vec![0.0; targets],
                false => next
                    .iter()
                    .zip(&rho)
                    .map(|(&next, &rho)| ratio(next, rho))
                    .collect(),
            };
            for ((mut p, z), turn) in p.rows_mut().into_iter().zip(z.rows()).zip(turn) {
                for (p, z) in p.iter_mut().zip(z) {
                    *p = z + turn * *p;
                }
            }
            rho = next;
        }
        let intercept_t = match self.intercept {
            true => &shift_t - &beta.dot(&system.mean_d),
            false => Array1::zeros(targets),
        };
        Ok(Solution {
            coefficients: Coefficients {
                beta_dt: beta.reversed_axes().as_standard_layout().into_owned(),
                intercept_t,
            },
            iterations,
            rank: inverse.rank(),
            converged: worst(&residual) <= self.tolerance,
            residual_t: residual,
        })
    }
}
