//! Learned curves of columns.

use super::{
    Done, Rounds,
    steps::{GAIN, NEAR},
};
use crate::{
    Result,
    features::Standardize,
    kernels::{Kernel, Norm},
    learn::choose::search::{CLEARLY, plan::Plan, trials::Extent},
};
use std::sync::Arc;

/// First multiples of the median distance for transformed columns, for L1 and Euclidean kernels.
const BY_COLUMNS: f64 = 2.0;
const TOGETHER: f64 = 1.0;
/// Ratio to the loss of the fit behind the curves above which they are not refined.
const BEHIND: f64 = 2.5;
/// Factors of the bandwidth in both directions.
const STEPS: [f64; 2] = [2.0, 0.5];

impl Rounds<'_, '_> {
    /// Inserts the best plan with transformed columns at the front, if it is clearly better than
    /// the first finalist, whose fit gives the first curves.
    pub(super) fn along_curves(&mut self, finalists: &mut Vec<Done>) -> Result<()> {
        let Some(first) = finalists.first().filter(|_| self.search.preparation) else {
            return Ok(());
        };
        let starts = self.kernels_along(&first.plan);
        let Some(mut best) = self.turn_along(first, starts, Extent::Sample)? else {
            return Ok(());
        };
        if best.trial.loss().0 < BEHIND * first.trial.loss().0 {
            self.follow(&mut best, Extent::Sample)?;
        }
        let clearly = CLEARLY.min(self.clear(Extent::Sample));
        if best.trial.loss().0 < clearly * first.trial.loss().0 {
            finalists.insert(0, best);
        }
        Ok(())
    }

    /// Learns curves again from the fit with the current ones, as long as the loss falls.
    pub(super) fn follow(&mut self, best: &mut Done, extent: Extent) -> Result<()> {
        for _ in 1..self.effort().curves {
            let start = vec![(best.plan.kernel.clone(), best.plan.multiple)];
            match self.turn_along(best, start, extent)? {
                Some(next) if next.trial.loss().0 < GAIN * best.trial.loss().0 => *best = next,
                _ => break,
            }
        }
        Ok(())
    }

    /// Whether a plan uses learned curves.
    pub(super) fn is_along_curves(&self, plan: &Plan) -> bool {
        self.scaling(plan.scaling).applied() == Standardize::Learned
    }

    /// Returns the kernels for transformed columns with their first multiples: an L1 kernel, and
    /// that of the plan.
    fn kernels_along(&self, plan: &Plan) -> Vec<(Arc<dyn Kernel>, f64)> {
        let all = self.search.kernels.iter().chain([&plan.kernel]);
        let by_columns = all.clone().find(|kernel| kernel.norm() == Norm::L1);
        let own = Some(&plan.kernel).filter(|own| own.norm() != Norm::L1);
        let kernels = by_columns.into_iter().chain(own);
        let is_had = |kernel: &&Arc<dyn Kernel>| {
            let variant = self.builder.variant((*kernel).clone(), plan.features);
            variant.is_some()
        };
        let kernels = kernels.filter(is_had).map(|kernel| match kernel.norm() {
            Norm::L1 => (kernel.clone(), BY_COLUMNS),
            Norm::L2 => (kernel.clone(), TOGETHER),
        });
        kernels.collect()
    }

    /// Tries kernels on columns transformed by the curves of a fit, and refines their bandwidths
    /// unless all rows are used. Other kernels than the best are kept for averaging.
    fn turn_along(
        &mut self,
        from: &Done,
        starts: Vec<(Arc<dyn Kernel>, f64)>,
        extent: Extent,
    ) -> Result<Option<Done>> {
        if self.is_over() {
            return Ok(None);
        }
        let Some(curves) = self.sample.curves(&from.tried)? else {
            return Ok(None);
        };
        let survey = self.sample.data().survey;
        let scaling = self.sample.scaling(0).along(curves, survey);
        let scaling = self.sample.prepare(scaling)?;
        // Transformed columns may need a larger penalty.
        let lambdas = self.penalties_beside(from.plan.lambda, &[0.1, 1.0, 10.0, 100.0]);
        let mut best: Option<Done> = None;
        for (kernel, multiple) in starts {
            let plan = Plan {
                scaling,
                median: self.sample.median(scaling, None, kernel.norm()),
                kernel,
                metric: None,
                turns: 0,
                ..from.plan.clone()
            };
            let plan = self.resized(plan, Some(from.plan.features))?.at(multiple);
            let Some(mut done) = self.attempt(plan, &lambdas, extent)? else {
                continue;
            };
            if extent == Extent::Sample && done.trial.loss().0 < BEHIND * from.trial.loss().0 {
                self.walk(&mut done, &STEPS, &NEAR, extent)?;
            }
            let beats = (best.as_ref()).is_none_or(|best| done.trial.better_than(&best.trial));
            let loser = if beats {
                best.replace(done)
            } else {
                Some(done)
            };
            self.others.extend(loser.map(|done| done.plan));
        }
        Ok(best)
    }
}
