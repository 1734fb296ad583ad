//! Last trials, with all features on all rows.

use super::{
    Done, Rounds, Step,
    explore::rivals,
    steps::{BESIDE, FINE, GAIN},
};
use crate::{
    Result,
    learn::choose::{
        metric::MetricOptions,
        search::{
            plan::Plan,
            score::AMPLE,
            trials::{Extent, HELD_OUT},
        },
    },
    model::LearnedMetric,
};

/// Largest number of alternations between metric and bandwidth.
const ROUNDS: usize = 5;
/// Steps of the bandwidth after which the metric is learned again. With few features and rows a
/// wide kernel wins, which resolves the most relevant column only; a narrow one resolves others,
/// too.
const FAR: usize = 2;

/// Factors of the bandwidth for a metric from many more rows than the sample: it has fewer
/// directions, so a narrower kernel may be better.
const NARROWER: [f64; 2] = [1.0, 0.5];

/// Gain that the choice needs over the given settings, times the square root of the hold-out size.
const CLEAR: f64 = 1.0;

impl Rounds<'_, '_> {
    /// Tries the best finalist with all features on all rows. Metric, bandwidth and other kernels
    /// are refined on all rows with fewer features, at a fraction of the work. The given settings
    /// stay unless the finalist is clearly better.
    pub(super) fn last(
        &mut self,
        finalists: Step,
        field: &[Plan],
        (given, all): (Plan, Option<usize>),
    ) -> Result<(Plan, Option<Done>)> {
        let finalists = match finalists {
            Step::Over(plan) => return Ok((self.resized(plan, all)?, None)),
            Step::Tried(finalists) => finalists,
        };
        if !self.effort().tries_all_rows {
            return self.last_of_sample(finalists, (given, all));
        }
        let first = finalists[0].plan.clone();
        let (found, extent) = if self.are_bins_ahead() {
            (finalists.into_iter().next(), Extent::Sample)
        } else {
            (self.settled(finalists, field)?, Extent::All)
        };
        let Some(found) = found else {
            return Ok((self.resized(first, all)?, None));
        };
        if self.stays(&given, &found, extent)? {
            let lambdas = self.lambdas();
            let done = self.attempt(given.clone(), &lambdas, Extent::All)?;
            let plan = Plan {
                lambda: Plan::AS_GIVEN,
                ..given
            };
            return Ok((plan, done));
        }
        let plan = self.resized(found.plan, all)?;
        let Some(mut best) = self.with_all_rows(plan.clone())? else {
            return Ok((plan, None));
        };
        if !self.are_bins_ahead() {
            self.tell_apart(&mut best)?;
        }
        if self.search.lambda {
            best.plan.lambda = self.sample.bearable(&best.tried)?;
        }
        Ok((best.plan.clone(), Some(best)))
    }

    /// Tries the best finalist, or the given settings unless they are clearly worse, with more
    /// features on the sample. Averaging is decided by this trial.
    fn last_of_sample(
        &mut self,
        finalists: Vec<Done>,
        (given, all): (Plan, Option<usize>),
    ) -> Result<(Plan, Option<Done>)> {
        let Some(found) = finalists.into_iter().next() else {
            return Ok((given, None));
        };
        // Small penalties have to be solvable with all features.
        let judged = match found.plan.lambda < AMPLE {
            true => all,
            false => all.map(|d| d.min(self.effort().judged_features)),
        };
        let done = if self.stays(&given, &found, Extent::Sample)? {
            let (given, lambdas) = (self.resized(given, judged)?, self.lambdas());
            self.attempt(given, &lambdas, Extent::Sample)?
        } else {
            let plan = self.resized(found.plan.clone(), judged)?;
            self.with_all_rows(plan)?
        };
        let mut done = done.unwrap_or(found);
        if self.search.lambda && self.sample.is_all() {
            done.plan.lambda = self.sample.bearable(&done.tried)?;
        }
        let mut plan = self.resized(done.plan.clone(), all)?;
        if !self.sample.is_all() {
            // More rows need a smaller penalty, which their fit chooses.
            plan.lambda = Plan::AS_GIVEN;
        }
        Ok((plan, Some(done)))
    }

    /// Learns curves or metric again with all features, which resolve more than few features do.
    fn tell_apart(&mut self, best: &mut Done) -> Result<()> {
        if self.is_along_curves(&best.plan) {
            self.follow(best, Extent::All)
        } else if best.plan.metric.is_some() && self.sample.tells() {
            self.relearn(best, false).map(|_| ())
        } else {
            Ok(())
        }
    }

    /// Refines the finalists on all rows with their features, and returns the best.
    fn settled(&mut self, finalists: Vec<Done>, field: &[Plan]) -> Result<Option<Done>> {
        let mut best: Option<Done> = None;
        for finalist in finalists {
            let Some(done) = self.settle(finalist)? else {
                continue;
            };
            let beats = (best.as_ref()).is_none_or(|best| done.trial.better_than(&best.trial));
            let loser = if beats {
                best.replace(done)
            } else {
                Some(done)
            };
            self.others.extend(loser.map(|done| done.plan));
        }
        let Some(mut best) = best else {
            return Ok(None);
        };
        if !self.sample.tells() {
            let from = best.plan.clone();
            for rival in rivals(field, &from).take(self.effort().rivals) {
                let multiple = best.plan.multiple;
                if self.rival(&mut best, rival, multiple, Extent::All)? && self.search.bandwidth {
                    self.walk(&mut best, &BESIDE, &FINE, Extent::All)?;
                }
            }
        }
        Ok(Some(best))
    }

    /// Tries a plan from the sample on the rows of the last trials.
    fn with_all_rows(&mut self, plan: Plan) -> Result<Option<Done>> {
        let extent = self.last_rows();
        // More rows need a smaller penalty.
        let first = self.penalties_beside(plan.lambda, &[0.1, 0.3, 1.0, 3.0]);
        if let Some(done) = self.attempt(plan.clone(), &first, extent)? {
            return Ok(Some(done));
        }
        // Other sums may need a larger penalty.
        let more = self.penalties_beside(plan.lambda, &[10.0, 100.0, 1000.0]);
        self.attempt(plan, &more, extent)
    }

    /// Whether the given settings stay: the gain of the best trial is within the noise of the
    /// hold-out set, since the best of many trials is also a lucky one. Both have the same number
    /// of features.
    fn stays(&mut self, given: &Plan, found: &Done, extent: Extent) -> Result<bool> {
        if self.search.metric_required {
            return Ok(false);
        }
        let lambdas = self.lambdas();
        let size = self.builder.features().map(|_| found.plan.features);
        let same_size = self.resized(given.clone(), size)?;
        let Some(done) = self.attempt(same_size, &lambdas, extent)? else {
            return Ok(false);
        };
        Ok(found.trial.loss().0 >= self.clear(extent) * done.trial.loss().0)
    }

    /// Returns the ratio of losses that exceeds the noise of the hold-out set.
    pub(super) fn clear(&self, extent: Extent) -> f64 {
        let held_out = HELD_OUT / (1.0 - HELD_OUT) * self.sample.fitted(extent);
        let held_out = self.sample.splits as f64 * held_out;
        1.0 - CLEAR / held_out.max(1.0).sqrt()
    }

    /// Refines bandwidth and metric of a plan on all rows in turn, as long as the bandwidth moves
    /// far or the metric gains. If the sample has all rows, only finer steps of the bandwidth
    /// remain.
    fn settle(&mut self, sampled: Done) -> Result<Option<Done>> {
        let is_all = self.sample.is_all();
        let tried = if is_all {
            Some(sampled)
        } else {
            self.with_all_rows(sampled.plan)?
        };
        let Some(mut best) = tried else {
            return Ok(None);
        };
        let walks = self.search.bandwidth;
        if self.is_along_curves(&best.plan) {
            // Curves scale columns locally already.
            if walks {
                self.walk(&mut best, &BESIDE, &FINE, Extent::All)?;
            }
            return Ok(Some(best));
        }
        for round in 0..ROUNDS {
            // On more rows the bandwidth comes first: that of the sample is wide.
            let is_first = round == 0 && walks;
            let again = round > usize::from(walks);
            let before = best.trial.loss().0;
            let turned = !is_first && self.relearn(&mut best, again)?;
            if round > 0 && !turned || !walks {
                break;
            }
            let gained = best.trial.loss().0 < GAIN * before;
            let steps = self.walk(&mut best, &BESIDE, &FINE, Extent::All)?;
            let is_done = if is_first {
                is_all && steps == 0
            } else {
                steps < FAR && !gained
            };
            if is_done {
                break;
            }
        }
        Ok(Some(best))
    }

    /// Learns the metric again from this fit, and keeps it if the loss falls. Its kind stays if the
    /// sample has most rows, or in later turns (`again`); otherwise all kinds are tried.
    fn relearn(&mut self, best: &mut Done, again: bool) -> Result<bool> {
        let kinds = self.kinds(best.plan.kernel.norm());
        let kind = best.plan.metric.as_ref().map(LearnedMetric::kind);
        let same = |options: &MetricOptions| kind.is_none_or(|kind| options.kind == kind);
        let more = |options: &MetricOptions| !again || best.plan.turns < options.iterations;
        let kinds: Vec<MetricOptions> = if self.sample.tells() {
            kinds.into_iter().rev().filter(same).take(1).collect()
        } else if again {
            kinds.into_iter().filter(same).collect()
        } else {
            kinds
        };
        let kinds: Vec<MetricOptions> = kinds.into_iter().filter(more).collect();
        let factors: &[f64] = if self.sample.tells() {
            &[1.0]
        } else {
            &NARROWER
        };
        let mut learned: Option<Done> = None;
        for options in kinds {
            let Some(done) = self.turn(best, options, (factors, &FINE), Extent::All)? else {
                continue;
            };
            let simpler = learned.as_ref();
            if simpler.is_none_or(|simpler| done.trial.clearly_better_than(&simpler.trial)) {
                learned = Some(done);
            }
        }
        match learned {
            Some(done) if done.trial.better_than(&best.trial) => {
                *best = done;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}
