//! Kernels with few features: which of them go on, and how far each of these goes.

use super::{Done, Rounds, Step};
use crate::{
    Result,
    kernels::Kernel,
    learn::choose::search::{Trial, plan::Plan, trials::Extent},
};
use std::sync::Arc;

/// Features of the race of kernels, at most.
pub(super) const RACED: usize = 500;
/// Multiples of the median distance at which kernels race.
pub(super) const MULTIPLES: [f64; 3] = [1.0, 0.5, 2.0];
/// Multiples are the same up to this factor.
const NEAR: f64 = 1.2;
/// A kernel is out of the race if its loss is that of the best so many times.
const OUT: f64 = 2.0;
/// Where there are many more rows than the sample, it tells losses apart that differ so much.
const CLOSE: f64 = 1.05;

impl Rounds<'_, '_> {
    /// Kernels at their best bandwidths with few features, of columns that are prepared in this
    /// way: the best first, those that lose clearly left out; none where the budget ends before.
    pub(super) fn race(
        &mut self,
        kernels: &[Arc<dyn Kernel>],
        raced: Option<usize>,
        scaling: usize,
    ) -> Result<Vec<(Plan, Trial)>> {
        let lambdas = self.lambdas();
        let mut field: Vec<(Plan, Trial)> = Vec::new();
        for (at, kernel) in kernels.iter().enumerate() {
            let plan = self.plan(kernel.clone(), raced, scaling)?;
            // What is given is of the first of them.
            let given = plan.multiple;
            let near = |multiple: &f64| (multiple / given).ln().abs() < NEAR.ln();
            let multiples: Vec<f64> = if !self.search.bandwidth {
                vec![given]
            } else if at == 0 && scaling == 0 {
                let others = MULTIPLES.into_iter().filter(|m| !near(m));
                std::iter::once(given).chain(others).collect()
            } else {
                MULTIPLES.to_vec()
            };
            let mut best: Option<(Plan, Trial)> = None;
            let most = self.effort().raced_multiples;
            for multiple in multiples.into_iter().take(most) {
                let Some(done) = self.attempt(plan.at(multiple), &lambdas, Extent::Few)? else {
                    continue;
                };
                if (best.as_ref()).is_none_or(|(_, trial)| done.trial.better_than(trial)) {
                    best = Some((done.plan, done.trial));
                }
            }
            field.extend(best);
        }
        field.sort_by(|(_, a), (_, b)| a.cmp_to(b));
        if let Some(least) = field.first().map(|(_, trial)| trial.loss().0) {
            field.retain(|(_, trial)| trial.loss().0 <= OUT * least);
        }
        Ok(field)
    }

    /// The best of each norm that is still in the race, with its bandwidth and its metric; then the
    /// other kernels of that norm, which a metric serves differently. The best comes first, and
    /// alone where its rows are all there are.
    pub(super) fn explore(&mut self, field: &[Plan], explored: Option<usize>) -> Result<Step> {
        let mut finalists: Vec<Done> = Vec::new();
        let mut norms = Vec::new();
        for plan in field {
            let norm = plan.kernel.norm();
            if norms.contains(&norm) {
                continue;
            }
            norms.push(norm);
            let Some(none) = self.best_bandwidth(self.resized(plan.clone(), explored)?)? else {
                continue;
            };
            let mut done = self.metrics(none)?;
            let from = done.plan.clone();
            for rival in rivals(field, &from).take(self.effort().rivals) {
                let multiple = if self.search.bandwidth {
                    // As far from the best one as theirs was in the race.
                    from.multiple * rival.multiple / plan.multiple
                } else {
                    rival.multiple
                };
                self.rival(&mut done, rival, multiple, Extent::Sample)?;
            }
            finalists.push(done);
        }
        finalists.sort_by(|a, b| a.trial.cmp_to(&b.trial));
        self.along_curves(&mut finalists)?;
        if finalists.is_empty() {
            return if self.trials.is_empty() {
                Err(self.nothing())
            } else {
                // The race used the budget up.
                Ok(Step::Over(self.resized(field[0].clone(), explored)?))
            };
        }
        self.bins_of_sample(&finalists[0])?;
        let losses: Vec<f64> = finalists.iter().map(|done| done.trial.loss().0).collect();
        let others = finalists.split_off(close(&losses, self.sample.tells()));
        self.others.extend(others.into_iter().map(|done| done.plan));
        Ok(Step::Tried(finalists))
    }

    /// Tries the kernel of `rival` with the metric of `best` at this multiple, and says whether it
    /// is better.
    pub(super) fn rival(
        &mut self,
        best: &mut Done,
        rival: &Plan,
        multiple: f64,
        extent: Extent,
    ) -> Result<bool> {
        let from = &best.plan;
        let plan = Plan {
            scaling: from.scaling,
            median: (self.sample).median(from.scaling, from.metric.as_ref(), rival.kernel.norm()),
            metric: from.metric.clone(),
            turns: from.turns,
            lambda: from.lambda,
            ..rival.clone()
        };
        let lambdas = self.near(from.lambda);
        let plan = self.resized(plan, Some(from.features))?.at(multiple);
        match self.attempt(plan, &lambdas, extent)? {
            Some(done) if done.trial.better_than(&best.trial) => {
                *best = done;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// Kernels of the race that compare rows by the same norm as a plan's, and lost to it.
pub(super) fn rivals<'f>(field: &'f [Plan], winner: &Plan) -> impl Iterator<Item = &'f Plan> {
    let (norm, own) = (winner.kernel.norm(), winner.kernel.spec());
    field
        .iter()
        .filter(move |plan| plan.kernel.norm() == norm && plan.kernel.spec() != own)
}

/// How many of these losses, ascending, a sample cannot tell from the least; one of most rows tells
/// them all.
pub(in crate::learn::choose::search) fn close(losses: &[f64], tells: bool) -> usize {
    if tells {
        losses.len().min(1)
    } else {
        losses.partition_point(|loss| *loss <= CLOSE * losses[0])
    }
}
