//! Comparison of kernels with few features.

use super::{Done, Rounds, Step};
use crate::{
    Result,
    kernels::Kernel,
    learn::choose::search::{Trial, plan::Plan, trials::Extent},
};
use std::sync::Arc;

/// Largest number of features in the first comparison of kernels.
pub(super) const RACED: usize = 500;
/// Multiples of the median distance in the first comparison of kernels.
pub(super) const MULTIPLES: [f64; 3] = [1.0, 0.5, 2.0];
/// Ratio up to which two multiples count as equal.
const NEAR: f64 = 1.2;
/// Ratio to the least loss above which a kernel is dropped.
const OUT: f64 = 2.0;
/// Ratio of losses that a sample of many more rows distinguishes.
const CLOSE: f64 = 1.05;

impl Rounds<'_, '_> {
    /// Compares kernels at several bandwidths with few features and one preparation. Returns the
    /// best plan of each kernel, sorted by loss, without clearly worse kernels; none if the budget
    /// ends.
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
            // The given lengthscale belongs to the first kernel.
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

    /// Refines bandwidth and metric of the best kernel of each norm, then tries other kernels of
    /// that norm with the metric. The best comes first, and alone if the sample has most rows.
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
                    // Keeps the ratio of lengthscales of the first comparison.
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
                // The first comparison used up the budget.
                Ok(Step::Over(self.resized(field[0].clone(), explored)?))
            };
        }
        self.bins_of_sample(&finalists[0])?;
        let losses: Vec<f64> = finalists.iter().map(|done| done.trial.loss().0).collect();
        let others = finalists.split_off(close(&losses, self.sample.tells()));
        self.others.extend(others.into_iter().map(|done| done.plan));
        Ok(Step::Tried(finalists))
    }

    /// Tries the kernel of `rival` with the metric of `best` at this multiple. Returns whether it
    /// is better, and replaces `best` if so.
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

/// Returns the other kernels with the norm of a plan.
pub(super) fn rivals<'f>(field: &'f [Plan], winner: &Plan) -> impl Iterator<Item = &'f Plan> {
    let (norm, own) = (winner.kernel.norm(), winner.kernel.spec());
    field
        .iter()
        .filter(move |plan| plan.kernel.norm() == norm && plan.kernel.spec() != own)
}

/// Returns how many ascending losses a sample cannot distinguish from the least; one if it has most
/// rows.
pub(in crate::learn::choose::search) fn close(losses: &[f64], tells: bool) -> usize {
    if tells {
        losses.len().min(1)
    } else {
        losses.partition_point(|loss| *loss <= CLOSE * losses[0])
    }
}
