//! Refinement of bandwidth and metric.

use super::{Done, Rounds};
use crate::{
    Result,
    kernels::Norm,
    learn::choose::{
        metric::MetricOptions,
        search::{plan::Plan, trials::Extent},
    },
    model::Metric,
};

/// Factors of the bandwidth that are tried with a new metric.
pub(super) const BESIDE: [f64; 2] = [0.7, 1.4];
/// Factors of the best penalty of an earlier trial, coarse and fine.
pub(super) const NEAR: [f64; 3] = [0.1, 1.0, 10.0];
pub(super) const FINE: [f64; 3] = [0.3, 1.0, 3.0];
/// Largest number of steps of the bandwidth in one direction.
const STEPS: usize = 8;
/// Ratio of losses below which an outer product counts as a gain.
pub(super) const GAIN: f64 = 0.99;

impl Rounds<'_, '_> {
    /// Refines the bandwidth of a plan.
    pub(super) fn best_bandwidth(&mut self, plan: Plan) -> Result<Option<Done>> {
        let raced = plan.lambda > 0.0;
        let lambdas = if raced {
            self.near(plan.lambda)
        } else {
            self.lambdas()
        };
        // The first comparison had bandwidths to both sides; more features allow shorter ones.
        let factors: &[f64] = if !(raced && (0.5..=2.0).contains(&plan.multiple)) {
            &[0.5, 2.0]
        } else if plan.multiple > 1.0 {
            &[2.0]
        } else {
            &[0.5]
        };
        let Some(mut best) = self.attempt(plan, &lambdas, Extent::Sample)? else {
            return Ok(None);
        };
        if self.search.bandwidth {
            self.walk(&mut best, factors, &NEAR, Extent::Sample)?;
        }
        Ok(Some(best))
    }

    /// Multiplies the bandwidth of `best` by one of some factors as long as the loss falls. Returns
    /// the number of steps.
    pub(super) fn walk(
        &mut self,
        best: &mut Done,
        factors: &[f64],
        penalties: &[f64],
        extent: Extent,
    ) -> Result<usize> {
        for &factor in factors {
            let mut moved = 0;
            while moved < STEPS {
                let next = best.plan.at(best.plan.multiple * factor);
                let lambdas = self.penalties_beside(best.plan.lambda, penalties);
                match self.attempt(next, &lambdas, extent)? {
                    Some(done) if done.trial.better_than(&best.trial) => {
                        (*best, moved) = (done, moved + 1);
                    }
                    _ => break,
                }
            }
            if moved > 0 {
                return Ok(moved);
            }
        }
        Ok(0)
    }

    /// Learns metrics, and returns the best result with or without one.
    pub(super) fn metrics(&mut self, none: Done) -> Result<Done> {
        let mut learned: Option<(MetricOptions, Done)> = None;
        for options in self.kinds(none.plan.kernel.norm()) {
            let Some(next) = self.turn(&none, options, (&BESIDE, &NEAR), Extent::Sample)? else {
                continue;
            };
            if (learned.as_ref())
                .is_none_or(|(_, best)| next.trial.clearly_better_than(&best.trial))
            {
                learned = Some((options, next));
            }
        }
        let Some((options, mut best)) = learned else {
            return Ok(none);
        };
        if !self.search.metric_required && none.trial.better_than(&best.trial) {
            return Ok(none);
        }
        for _ in 1..options.iterations {
            match self.turn(&best, options, (&[1.0], &NEAR), Extent::Sample)? {
                Some(next) if next.trial.better_than(&best.trial) => {
                    let gained = next.trial.loss().0 < GAIN * best.trial.loss().0;
                    best = next;
                    if !gained {
                        break;
                    }
                }
                _ => break,
            }
        }
        let wins = self.search.metric_required || best.trial.clearly_better_than(&none.trial);
        Ok(if wins { best } else { none })
    }

    /// Returns the metrics to learn for a norm: the L1 norm has no use for directions across
    /// columns, unless nothing else is requested.
    pub(super) fn kinds(&self, norm: Norm) -> Vec<MetricOptions> {
        let all = &self.search.metrics;
        let alone = |options: &&MetricOptions| options.kind == Metric::Diagonal;
        if norm == Norm::L1 && all.iter().any(|options| alone(&options)) {
            all.iter().filter(alone).copied().collect()
        } else {
            all.clone()
        }
    }

    /// Tries the metric of the outer product of another fit, at several bandwidths.
    pub(super) fn turn(
        &mut self,
        from: &Done,
        options: MetricOptions,
        (factors, penalties): (&[f64], &[f64]),
        extent: Extent,
    ) -> Result<Option<Done>> {
        if self.is_over() {
            return Ok(None);
        }
        let scaling = from.plan.scaling;
        let metric = self.sample.learn((&from.tried, scaling), options)?;
        let norm = from.plan.kernel.norm();
        let plan = Plan {
            median: self.sample.median(scaling, Some(&metric), norm),
            metric: Some(metric),
            turns: from.plan.turns + 1,
            ..from.plan.clone()
        };
        let multiples = if self.search.bandwidth {
            factors
                .iter()
                .map(|factor| factor * plan.multiple)
                .collect()
        } else {
            vec![plan.multiple]
        };
        let lambdas = self.penalties_beside(plan.lambda, penalties);
        let mut best: Option<Done> = None;
        for multiple in multiples {
            let Some(done) = self.attempt(plan.at(multiple), &lambdas, extent)? else {
                continue;
            };
            if (best.as_ref()).is_none_or(|best| done.trial.better_than(&best.trial)) {
                best = Some(done);
            }
        }
        Ok(best)
    }
}
