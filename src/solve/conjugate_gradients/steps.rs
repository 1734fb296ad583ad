//! Conjugate gradient steps for all targets together.

use super::system::System;
use crate::{Error, Result, error::Remedy, solve::sketch::CgPreconditioner};
use ndarray::{Array1, Array2};

/// A preconditioner, and the norm of residuals.
pub(super) struct Inverse<'p> {
    pub(super) by: CgPreconditioner<'p>,
    /// Whether residuals are measured in its norm.
    pub(super) is_norm: bool,
    /// Squared norms of the right-hand sides.
    pub(super) size_t: Vec<f64>,
}

/// Remaining residuals of each target.
pub(super) struct Left {
    /// Preconditioned residuals.
    pub(super) z_td: Array2<f64>,
    /// Inner products of these with the residuals.
    pub(super) rho_t: Vec<f64>,
    /// Residuals relative to the right-hand sides.
    pub(super) residual_t: Array1<f64>,
}

impl<'p> Inverse<'p> {
    pub(super) fn new(by: CgPreconditioner<'p>, is_norm: bool, b_td: &Array2<f64>) -> Self {
        let size_t = if is_norm {
            dots(b_td, &by.inverse(b_td))
        } else {
            dots(b_td, b_td)
        };
        Self {
            by,
            is_norm,
            size_t,
        }
    }

    pub(super) fn left(&self, r_td: &Array2<f64>) -> Left {
        let z_td = self.by.inverse(r_td);
        let rho_t = dots(r_td, &z_td);
        let squares = if self.is_norm {
            rho_t.clone()
        } else {
            dots(r_td, r_td)
        };
        let of_size = squares.iter().zip(&self.size_t);
        let residual_t = of_size.map(|(&r, &b)| ratio(r, b).sqrt()).collect();
        Left {
            z_td,
            rho_t,
            residual_t,
        }
    }
}

impl Left {
    /// The largest residual, or NaN if one is.
    pub(super) fn worst(&self) -> f64 {
        let larger = |m: f64, &r: &f64| if r.is_nan() { r } else { m.max(r) };
        self.residual_t.fold(0.0, larger)
    }

    /// The largest residual. Errors with [`Error::Numerical`] if one is NaN.
    pub(super) fn finite(&self) -> Result<f64> {
        let worst = self.worst();
        if worst.is_finite() {
            return Ok(worst);
        }
        Err(Error::numerical(
            "conjugate gradients met a product that is not \
             finite: the features or targets are too large",
        )
        .help(Remedy::Standardize))
    }
}

/// State of the iteration.
pub(super) struct Steps {
    pub(super) beta_td: Array2<f64>,
    /// Residuals, by recurrence.
    pub(super) r_td: Array2<f64>,
    /// Directions.
    pub(super) p_td: Array2<f64>,
    /// Scratch: the last product.
    pub(super) product_td: Array2<f64>,
}

impl Steps {
    /// Starts from zero.
    pub(super) fn from(b_td: &Array2<f64>, left: &Left) -> Self {
        Self {
            beta_td: Array2::zeros(b_td.dim()),
            r_td: b_td.clone(),
            p_td: left.z_td.clone(),
            product_td: Array2::zeros(b_td.dim()),
        }
    }

    /// Minimises along the direction of each target.
    pub(super) fn advance(&mut self, system: &mut System<'_, '_>, left: &Left) -> Result<()> {
        system.product(self.p_td.view(), &mut self.product_td)?;
        let curvatures = dots(&self.p_td, &self.product_td);
        let lengths: Vec<f64> = (left.rho_t.iter().zip(curvatures))
            .map(|(&rho, curvature)| ratio(rho, curvature))
            .collect();
        add_scaled(&mut self.beta_td, &lengths, &self.p_td);
        let back: Vec<f64> = lengths.iter().map(|length| -length).collect();
        add_scaled(&mut self.r_td, &back, &self.product_td);
        Ok(())
    }

    /// Recomputes residuals without the recurrence.
    pub(super) fn compute_residual(
        &mut self,
        system: &mut System<'_, '_>,
        b_td: &Array2<f64>,
    ) -> Result<()> {
        system.product(self.beta_td.view(), &mut self.product_td)?;
        self.r_td.assign(&(b_td - &self.product_td));
        Ok(())
    }

    /// Sets directions conjugate to the directions of `before`; without it, along the gradient.
    pub(super) fn turn(&mut self, left: &Left, before: Option<&Left>) {
        let share = |k: usize| before.map_or(0.0, |b| ratio(left.rho_t[k], b.rho_t[k]));
        let rows = self.p_td.rows_mut().into_iter().zip(left.z_td.rows());
        for (k, (mut p, z)) in rows.enumerate() {
            let turn = share(k);
            for (p, z) in p.iter_mut().zip(z) {
                *p = z + turn * *p;
            }
        }
    }
}

/// The inner products of each target's pair of rows.
fn dots(a_td: &Array2<f64>, b_td: &Array2<f64>) -> Vec<f64> {
    let rows = a_td.rows().into_iter().zip(b_td.rows());
    rows.map(|(a, b)| a.dot(&b)).collect()
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

/// `a / b`, and zero for a converged target.
fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}
