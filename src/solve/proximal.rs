//! Smooth losses with a separable penalty of the coefficients: accelerated proximal steps in the
//! metric of the features' covariance.

use super::{
    coordinates::{Quadratic, Separable},
    preconditioner::Point,
    quasi_newton::Reached,
    risk::Risk,
};
use crate::Result;

/// Maximum number of coordinate descent sweeps per step.
pub(super) const SWEEPS: usize = 200;
/// Inner tolerance: more accuracy than this share of a step's distance to the optimum is wasted.
pub(super) const WITHIN: f64 = 0.1;

/// Minimises a [`Risk`] plus a [`Separable`] cost of coefficients by accelerated proximal steps
/// (Beck & Teboulle 2009) in the metric `H = curvature C + lambda I`, which bounds the loss from
/// above: each step takes one pass over the rows and minimises a quadratic by coordinate descent on
/// sums. The momentum is reset if it points uphill (O'Donoghue & Candes 2015).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Accelerated {
    pub(crate) cost: Separable,
    /// Converged if a step is at most this share of the first, in the metric.
    pub(crate) tolerance: f64,
    /// Maximum number of passes over the rows.
    pub(crate) max_passes: usize,
}

impl Accelerated {
    /// Minimises. `hear` gets the number of passes and the size of the step relative to the first.
    pub(crate) fn solve(
        &self,
        risk: &mut Risk<'_, '_>,
        quadratic: &Quadratic,
        hear: &mut dyn FnMut(usize, f64),
    ) -> Result<Reached> {
        let curvature = risk.loss.curvature();
        let mut scores = risk.scores();
        let mut at = risk.zero();
        let mut ahead = at.clone();
        let (mut momentum, mut first) = (1.0_f64, None);
        let (mut passes, mut residual, mut objective) = (0, f64::INFINITY, f64::INFINITY);
        while passes < self.max_passes && residual > self.tolerance {
            let (values, gradient) = risk.evaluate(&ahead, &mut scores)?;
            passes += 1;
            objective = values.iter().sum();
            let enough = (WITHIN * self.tolerance, SWEEPS);
            let next = quadratic.step(&ahead, &gradient, self.cost, enough);
            let mut step = next.clone();
            step.add(-1.0, &ahead);
            let length = norm(quadratic, curvature, &step, &step).sqrt();
            let first = *first.get_or_insert(length);
            residual = if first > 0.0 { length / first } else { 0.0 };
            hear(passes, residual);

            let mut moved = next.clone();
            moved.add(-1.0, &at);
            // Resets momentum that points against the step.
            if norm(quadratic, curvature, &step, &moved) < 0.0 {
                momentum = 1.0;
            }
            let faster = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            let further = (momentum - 1.0) / faster;
            momentum = faster;
            at = next;
            ahead = at.clone();
            ahead.add(further, &moved);
        }
        let cost: f64 = at.beta_td.iter().map(|&b| self.cost.value(b)).sum();
        let objective = objective + cost;
        Ok(Reached {
            coefficients: risk.coefficients(&at),
            objective,
            passes,
            residual,
            converged: residual <= self.tolerance,
        })
    }
}

/// The inner product of two steps in the metric.
fn norm(quadratic: &Quadratic, curvature: f64, a: &Point, b: &Point) -> f64 {
    let rows = a.beta_td.rows().into_iter().zip(b.beta_td.rows());
    let beta: f64 = rows
        .map(|(a, b)| quadratic.times(&a.to_owned()).dot(&b))
        .sum();
    beta + curvature * a.intercept_t.dot(&b.intercept_t)
}
