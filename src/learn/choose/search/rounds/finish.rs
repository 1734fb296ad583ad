//! The best with all features on all rows.

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
            Trial,
            plan::Plan,
            trials::{Extent, HELD_OUT},
        },
    },
    model::LearnedMetric,
};

/// A metric of gradients and the walk behind it, in turn, at most.
const ROUNDS: usize = 5;
/// A bandwidth that moved so many steps is another one than that at which the metric was learnt,
/// which is learnt anew. Fewer features and rows, on which the search begins, want a wide kernel:
/// it sees the column that matters most, and a narrow one the others beside it.
const FAR: usize = 2;

/// Bandwidths beside that of the fit before, for a metric of all rows where a sample has no say: it
/// is of fewer directions, and bears a narrower kernel.
const NARROWER: [f64; 2] = [1.0, 0.5];

/// What is found must lower the loss by this over the root of the number of rows held out.
const CLEAR: f64 = 1.0;

impl Rounds<'_, '_> {
    /// The best of the finalists with all features on all rows. Where they were found on a sample,
    /// other kernels are tried in its place. What is given stays unless that is clearly better.
    pub(super) fn last(
        &mut self,
        finalists: Step,
        field: &[Plan],
        (given, all): (Plan, Option<usize>),
    ) -> Result<(Plan, Option<Done>)> {
        let finalists = match finalists {
            Step::Over(plan) => return Ok((self.resized(plan, all)?, None)),
            Step::Tried(mut plans) => {
                plans.truncate(if self.are_bins_ahead() {
                    1
                } else {
                    plans.len()
                });
                plans
            }
        };
        let mut best: Option<Done> = None;
        for plan in &finalists {
            let Some(done) = self.settle(self.resized(plan.clone(), all)?)? else {
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
            return Ok((self.resized(finalists[0].clone(), all)?, None));
        };
        let is_behind = self.are_bins_ahead();
        if self.is_along_curves(&best.plan) && !is_behind {
            self.follow(&mut best, Extent::All)?;
        }
        if !self.sample.is_all() && !is_behind {
            let from = best.plan.clone();
            for rival in rivals(field, &from) {
                let multiple = best.plan.multiple;
                if self.rival(&mut best, rival, multiple, Extent::All)? && self.search.bandwidth {
                    self.walk(&mut best, &BESIDE, &FINE, Extent::All)?;
                }
            }
        }
        if let Some(done) = self.stays(&given, &best.trial)? {
            let plan = Plan {
                lambda: Plan::AS_GIVEN,
                ..given
            };
            return Ok((plan, Some(done)));
        }
        if self.search.lambda {
            best.plan.lambda = self.sample.bearable(&best.tried)?;
        }
        Ok((best.plan.clone(), Some(best)))
    }

    /// What is given, if it stays: what was found is better by no more than so few rows held out
    /// can tell, for the best of many trials is the luckiest of them, too.
    fn stays(&mut self, given: &Plan, found: &Trial) -> Result<Option<Done>> {
        if self.search.metric_required {
            return Ok(None);
        }
        let lambdas = self.lambdas();
        let Some(done) = self.attempt(given.clone(), &lambdas, Extent::All)? else {
            return Ok(None);
        };
        let stays = found.loss().0 >= self.clear(Extent::All) * done.trial.loss().0;
        Ok(stays.then_some(done))
    }

    /// The share of a loss that another must fall to, for chance among the rows held out.
    pub(super) fn clear(&self, extent: Extent) -> f64 {
        let held_out = HELD_OUT / (1.0 - HELD_OUT) * self.sample.fitted(extent);
        1.0 - CLEAR / held_out.max(1.0).sqrt()
    }

    /// A plan with all features on all rows: the metric of these and bandwidths to either side, in
    /// turn as long as the bandwidth goes far and the metric of it gains. On more rows than the
    /// sample a metric that gains much is worth another turn, too: these are its first with them.
    fn settle(&mut self, plan: Plan) -> Result<Option<Done>> {
        // More rows want less of a penalty.
        let first = self.penalties_beside(plan.lambda, &[0.1, 0.3, 1.0, 3.0]);
        let mut tried = self.attempt(plan.clone(), &first, Extent::All)?;
        if tried.is_none() {
            // Other sums may want more of a penalty.
            let more = self.penalties_beside(plan.lambda, &[10.0, 100.0, 1000.0]);
            tried = self.attempt(plan, &more, Extent::All)?;
        }
        let Some(mut best) = tried else {
            return Ok(None);
        };
        if self.are_bins_ahead() {
            return Ok(Some(best));
        }
        let walks = self.search.bandwidth;
        if self.is_along_curves(&best.plan) {
            // Curves scale columns already, place by place.
            if walks {
                self.walk(&mut best, &BESIDE, &FINE, Extent::All)?;
            }
            return Ok(Some(best));
        }
        // On more rows than the sample the bandwidth comes first: that of the sample is wide.
        let walks_first = walks && !self.sample.is_all();
        for round in 0..ROUNDS {
            let is_first = round == 0 && walks_first;
            let again = round > usize::from(walks_first);
            let before = best.trial.loss().0;
            let turned = !is_first && self.relearn(&mut best, again)?;
            if round > 0 && !turned || !walks {
                break;
            }
            let gained = best.trial.loss().0 < GAIN * before;
            let steps = self.walk(&mut best, &BESIDE, &FINE, Extent::All)?;
            if steps < FAR && !gained && !is_first {
                break;
            }
        }
        Ok(Some(best))
    }

    /// The metric of this fit, if it is better than the one that the fit has: of the same kind
    /// where that was found on all rows, else of any. Once it is, however many turns there were.
    /// Of any kind is `again` that which won before.
    fn relearn(&mut self, best: &mut Done, again: bool) -> Result<bool> {
        let kinds = self.kinds(best.plan.kernel.norm());
        let kind = best.plan.metric.as_ref().map(LearnedMetric::kind);
        let same = |options: &MetricOptions| kind.is_none_or(|kind| options.kind == kind);
        let more = |options: &MetricOptions| !again || best.plan.turns < options.iterations;
        let kinds: Vec<MetricOptions> = if self.sample.is_all() {
            kinds.into_iter().rev().filter(same).take(1).collect()
        } else if again {
            kinds.into_iter().filter(same).collect()
        } else {
            kinds
        };
        let kinds: Vec<MetricOptions> = kinds.into_iter().filter(more).collect();
        let factors: &[f64] = if self.sample.is_all() {
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
