//! Smooth losses: limited-memory quasi-Newton steps, preconditioned by the curvature of the loss,
//! which is updated as it changes.

mod descent;

use super::{
    preconditioner::{Point, Preconditioner},
    risk::Risk,
};
use crate::{Device, Result, model::Coefficients};
use descent::{Descent, ahead, flatten, norm, turn, worst};
use ndarray::{Array2, s};
use std::ops::Range;
/// Passes with the first preconditioner before the next is computed, doubled for each next one:
/// near the minimum the curvature changes less, and the history of steps is worth more.
const PASSES: usize = 3;

/// Newton's method with a block-diagonal Hessian, with quasi-Newton steps in between: L-BFGS
/// (Nocedal & Wright 2006, alg. 7.4) on a [`Risk`], starting from the inverse of a preconditioner
/// close to the Hessian, so that the first step needs no line search and few more are needed. The
/// first preconditioner is the Hessian at zero, `curvature C + lambda I`; later ones are computed
/// from Gram matrices of rows weighted by the curvature of the loss at their scores (one pass).
/// Each trial takes one pass over the rows; after a rejected trial, the best step along its line is
/// computed from the known scores.
#[derive(Debug, Clone)]
pub(crate) struct QuasiNewton {
    /// Converged if the gradient, preconditioned by the first preconditioner, has decreased to this
    /// share.
    pub(crate) tolerance: f64,
    /// Maximum number of passes over the rows.
    pub(crate) max_passes: usize,
    /// Device that sums Gram matrices.
    pub(crate) device: Device,
    /// Memory in bytes for such sums of several outputs, in addition to one output.
    pub(crate) memory: u64,
    /// Warm start; convergence is measured relative to zero all the same.
    pub(crate) start: Option<Point>,
}

/// Result of a solver.
#[derive(Debug, Clone)]
pub(crate) struct Reached {
    pub(crate) coefficients: Coefficients,
    /// The objective, summed over outputs.
    pub(crate) objective: f64,
    /// Passes over the rows.
    pub(crate) passes: usize,
    /// Relative residual, compared with the tolerance.
    pub(crate) residual: f64,
    pub(crate) converged: bool,
}

/// Copies the rows of `outputs`.
fn copy_rows(to: &mut Array2<f64>, from: &Array2<f64>, outputs: Range<usize>) {
    let from = from.slice(s![outputs.clone(), ..]);
    to.slice_mut(s![outputs, ..]).assign(&from);
}

fn copy_point(to: &mut Point, from: &Point, outputs: Range<usize>) {
    copy_rows(&mut to.beta_td, &from.beta_td, outputs.clone());
    let end = from.intercept_t.slice(s![outputs.clone()]);
    to.intercept_t.slice_mut(s![outputs]).assign(&end);
}

/// A point, and the scores of all rows there.
struct ScoredPoint {
    at: Point,
    scores_tn: Array2<f64>,
}

/// Results of one pass over the rows at a point.
struct Found {
    values: Vec<f64>,
    gradient: Point,
    /// The gradient, preconditioned by the first preconditioner.
    whitened: Point,
}

impl ScoredPoint {
    fn zero(risk: &Risk<'_, '_>) -> Self {
        Self {
            at: risk.zero(),
            scores_tn: risk.scores(),
        }
    }

    fn look(&mut self, risk: &mut Risk<'_, '_>, first: &Preconditioner) -> Result<Found> {
        let (values, gradient) = risk.evaluate(&self.at, &mut self.scores_tn)?;
        let whitened = first.whiten(&gradient);
        Ok(Found {
            values,
            gradient,
            whitened,
        })
    }
}

/// The current preconditioner, and the schedule of the next one.
struct Curvature<'m> {
    first: &'m Preconditioner,
    current: Option<Preconditioner>,
    /// Passes with this one.
    since: usize,
    /// Passes until the next; `None` if this is the last.
    wait: Option<usize>,
}

impl<'m> Curvature<'m> {
    fn at_zero(first: &'m Preconditioner) -> Self {
        Self {
            first,
            current: None,
            since: 0,
            wait: Some(PASSES),
        }
    }

    /// The preconditioner, and whether it was computed at another point.
    fn preconditioner(&self) -> (&Preconditioner, bool) {
        let preconditioner = self.current.as_ref().unwrap_or(self.first);
        (preconditioner, self.current.is_none())
    }

    fn is_due(&self) -> bool {
        self.wait.is_some_and(|passes| self.since >= passes)
    }

    /// Computes the preconditioner at these scores in one pass; returns whether that was possible.
    fn renew(
        &mut self,
        risk: &mut Risk<'_, '_>,
        scores_tn: &Array2<f64>,
        room: (&Device, u64),
    ) -> Result<bool> {
        // Frees the old factors before the new ones are allocated.
        drop(self.current.take());
        self.current = risk.preconditioner(scores_tn, room)?;
        let is_new = self.current.is_some();
        self.wait = self.wait.filter(|_| is_new).map(|passes| 2 * passes);
        self.since = 0;
        Ok(is_new)
    }
}

impl QuasiNewton {
    /// Minimises, from the preconditioner at zero. `hear` gets the number of passes and the largest
    /// relative gradient.
    pub(crate) fn solve(
        &self,
        risk: &mut Risk<'_, '_>,
        first: &Preconditioner,
        hear: &mut dyn FnMut(usize, f64),
    ) -> Result<Reached> {
        let (mut place, mut trial) = (ScoredPoint::zero(risk), ScoredPoint::zero(risk));
        let found = place.look(risk, first)?;
        let blocks = risk.blocks().into_iter();
        let mut descents: Vec<_> = blocks.map(|block| Descent::new(block, &found)).collect();
        let mut curvature = Curvature::at_zero(first);
        let room = (&self.device, self.memory);
        let mut passes = 1;
        if let Some(start) = &self.start {
            place.at = start.clone();
            passes += self.begin(&mut descents, risk, &mut place, &mut curvature)?;
        }
        turn(
            &mut descents,
            |_| true,
            curvature.preconditioner(),
            risk.zero(),
        );
        while passes < self.max_passes && descents.iter().any(|d| !d.done) {
            trial.at = ahead(&descents, &place.at, risk.zero());
            let found = trial.look(risk, first)?;
            passes += 1;
            curvature.since += 1;
            let moved = self.judge(&mut descents, risk, &mut place, (&trial, &found));
            hear(passes, worst(&descents));
            let more = passes + 1 < self.max_passes && descents.iter().any(|d| !d.done);
            let anew =
                more && curvature.is_due() && curvature.renew(risk, &place.scores_tn, room)?;
            if anew {
                passes += 1;
                // The history of steps belongs to the previous curvature.
                descents.iter_mut().for_each(|d| d.pairs.clear());
            }
            // Replaces trials along an old direction by a new one.
            let turns = |d: &Descent| anew || moved.contains(&d.outputs.start);
            turn(
                &mut descents,
                turns,
                curvature.preconditioner(),
                risk.zero(),
            );
        }
        let residual = worst(&descents);
        Ok(Reached {
            coefficients: risk.coefficients(&place.at),
            objective: descents.iter().map(|d| d.value).sum(),
            passes,
            residual,
            converged: residual <= self.tolerance,
        })
    }

    /// Starts at a point that is not zero; returns the number of passes.
    fn begin(
        &self,
        descents: &mut [Descent],
        risk: &mut Risk<'_, '_>,
        place: &mut ScoredPoint,
        curvature: &mut Curvature<'_>,
    ) -> Result<usize> {
        let found = place.look(risk, curvature.first)?;
        for d in descents.iter_mut() {
            d.begin_at(&found, self.tolerance);
        }
        // The curvature at zero is not representative of that here.
        let is_new = descents.iter().any(|d| !d.done)
            && curvature.renew(risk, &place.scores_tn, (&self.device, self.memory))?;
        Ok(1 + usize::from(is_new))
    }

    /// Accepts the trial step if it is good enough, and returns the first outputs of the groups
    /// that have moved; otherwise the next trial is the best point along its line.
    fn judge(
        &self,
        descents: &mut [Descent],
        risk: &Risk<'_, '_>,
        place: &mut ScoredPoint,
        (trial, found): (&ScoredPoint, &Found),
    ) -> Vec<usize> {
        let mut moved = Vec::new();
        for d in descents.iter_mut().filter(|d| !d.done) {
            let outputs = d.outputs.clone();
            let value: f64 = found.values[outputs.clone()].iter().sum();
            let flat = flatten(&found.gradient, outputs.clone());
            if d.takes(value, &flat) || (d.searched && value < d.value) {
                d.take(
                    value,
                    flat,
                    norm(&flatten(&found.whitened, outputs.clone())),
                );
                d.done = d.residual() <= self.tolerance;
                copy_rows(&mut place.scores_tn, &trial.scores_tn, outputs.clone());
                copy_point(&mut place.at, &trial.at, outputs.clone());
                moved.push(outputs.start);
            } else if d.searched {
                // The best step along the line does not improve: only rounding is left.
                d.done = true;
            } else {
                let scores = (&place.scores_tn, &trial.scores_tn);
                let best = risk.search(outputs, scores, (&place.at, &trial.at));
                d.step *= best;
                d.searched = true;
                d.done = best == 0.0;
            }
        }
        moved
    }
}
