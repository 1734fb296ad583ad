//! Columns along curves that a fit has learnt.

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

/// Multiples of the median distance at which columns along their curves are first compared.
const BY_COLUMNS: f64 = 2.0;
const TOGETHER: f64 = 1.0;
/// With so many times the loss of the fit that curves are of, no bandwidth will be better, and no
/// curve of them.
const BEHIND: f64 = 2.5;
/// Steps of a bandwidth in one direction or the other.
const STEPS: [f64; 2] = [2.0, 0.5];

impl Rounds<'_, '_> {
    /// Puts the best plan on columns along curves ahead of `finalists`, where it is clearly better
    /// than the first of them, whose fit the first curves are of.
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

    /// Learns curves anew by the fit along those before, as long as that gains.
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

    /// Whether a plan has its columns along curves.
    pub(super) fn is_along_curves(&self, plan: &Plan) -> bool {
        self.scaling(plan.scaling).applied() == Standardize::Learned
    }

    /// Kernels for columns along curves, each with the multiple to begin at: one that compares them
    /// one by one, as curves do, and that of a plan.
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

    /// The best of some kernels at the best of their bandwidths on columns along the curves of a
    /// fit. Those that are not the best may stand beside it in the end. With all features on all
    /// rows bandwidths stay as they are: steps before found them.
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
        // Sums of columns along curves may want more of a penalty.
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
