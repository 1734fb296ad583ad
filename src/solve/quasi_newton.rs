//! Smooth losses: limited-memory quasi-Newton steps in coordinates that the curvature of the loss
//! makes even, taken anew as it changes.

mod descent;

use super::{
    preconditioner::{Point, Preconditioner},
    risk::Risk,
};
use crate::{Device, Result, model::Coefficients};
use descent::{Descent, ahead, flatten, norm, turn, worst};
use ndarray::{Array2, s};
use std::ops::Range;
/// Passes with the first preconditioner before the next is taken, and twice as many with each next
/// one: the nearer the least, the less the curvature changes, and the more what steps have learnt
/// is worth.
const PASSES: usize = 3;

/// Newton's method in the block-diagonal of the Hessian with quasi-Newton steps between: L-BFGS
/// (Nocedal & Wright 2006, alg. 7.4) on a [`Risk`] from the inverse of a preconditioner near the
/// Hessian, so that the first step needs no search and few more are needed. The
/// first preconditioner is the Hessian at zero, `curvature C + lambda I`; now and then another is
/// taken from Gram matrices of rows weighted by the curvature of the loss at their scores (one
/// pass). Each trial is one pass over the rows; a trial that is refused leads, by the scores that
/// are there, to the best step along its line.
#[derive(Debug, Clone)]
pub(crate) struct QuasiNewton {
    /// Done when the gradient in the coordinates of the first preconditioner has fallen to this
    /// share.
    pub(crate) tolerance: f64,
    /// Most passes over the rows.
    pub(crate) max_passes: usize,
    /// Where Gram matrices are summed.
    pub(crate) device: Device,
    /// Bytes that such sums for many outputs may take beside those of one.
    pub(crate) memory: u64,
    /// Where to begin, if not at zero; what is done is measured from zero all the same.
    pub(crate) start: Option<Point>,
}

/// What a solver reached.
#[derive(Debug, Clone)]
pub(crate) struct Reached {
    pub(crate) coefficients: Coefficients,
    /// The objective, summed over outputs.
    pub(crate) objective: f64,
    /// Passes over the rows.
    pub(crate) passes: usize,
    /// What was to fall to the tolerance.
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

/// A place, and the scores of all rows there.
struct ScoredPoint {
    at: Point,
    scores_tn: Array2<f64>,
}

/// What one pass over the rows finds at a place.
struct Found {
    values: Vec<f64>,
    gradient: Point,
    /// The gradient in the first coordinates.
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

/// The preconditioner that directions come of, and when the next is taken.
struct Curvature<'m> {
    first: &'m Preconditioner,
    current: Option<Preconditioner>,
    /// Passes with this one.
    since: usize,
    /// Passes until the next, if there is one.
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

    /// The preconditioner, and whether it is of another place.
    fn preconditioner(&self) -> (&Preconditioner, bool) {
        let preconditioner = self.current.as_ref().unwrap_or(self.first);
        (preconditioner, self.current.is_none())
    }

    fn is_due(&self) -> bool {
        self.wait.is_some_and(|passes| self.since >= passes)
    }

    /// Takes that of the scores, if there is one: then it has cost a pass.
    fn renew(
        &mut self,
        risk: &mut Risk<'_, '_>,
        scores_tn: &Array2<f64>,
        room: (&Device, u64),
    ) -> Result<bool> {
        // The old factors go before the new ones come.
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
    /// share of a gradient that is left.
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
                // What steps have learnt is of an older curvature.
                descents.iter_mut().for_each(|d| d.pairs.clear());
            }
            // What was tried along an old direction is given up for a better one.
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

    /// Begins at a place that is not zero, and says how many passes that took.
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
        // The curvature at zero says little of that here.
        let is_new = descents.iter().any(|d| !d.done)
            && curvature.renew(risk, &place.scores_tn, (&self.device, self.memory))?;
        Ok(1 + usize::from(is_new))
    }

    /// Takes the trial step where it is good enough, and gives the first outputs of those that have
    /// moved; elsewhere the next trial is at the best place along its line.
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
                // The best step along a line does not gain: rounding is all that is left.
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
