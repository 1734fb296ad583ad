//! State of a running search, and single trials.

mod bend;
mod bins;
mod blend;
mod clock;
mod count;
mod explore;
mod finish;
mod prepare;
mod steps;

use super::{
    Member, Search, Size, Trial,
    effort::Effort,
    needs_kernel,
    plan::Plan,
    trials::{Extent, Sample, Tried},
};
use crate::clock::Instant;
use crate::{
    Error, Result,
    features::{MapBuilder, Scaling},
    kernels::Kernel,
    model::LeftOutScores,
};
use bins::FewBins;
use std::sync::Arc;
use steps::NEAR;
#[cfg(test)]
pub(super) use {clock::forecast, explore::close};

/// Least penalty: smaller ones are below the rounding of f32 sums.
const LEAST: f64 = 1e-8;
/// Number of penalties of a trial without a start value, a power of ten apart.
const PENALTIES: i32 = 7;

/// A plan with the result of its trial.
struct Done {
    plan: Plan,
    trial: Trial,
    tried: Tried,
}

/// A running search.
pub(super) struct Rounds<'s, 'a> {
    search: &'s Search,
    builder: &'s Arc<dyn MapBuilder>,
    sample: Sample<'a>,
    start: Instant,
    hear: &'s mut dyn FnMut(&Trial, f64) -> Result<()>,
    trials: Vec<Trial>,
    /// Latest plans of kernels with another norm than the best.
    others: Vec<Plan>,
    /// Random binning that was tried on the sample.
    sampled: Option<FewBins>,
    refused: Option<Error>,
}

impl<'s, 'a> Rounds<'s, 'a> {
    pub(super) fn new(
        search: &'s Search,
        builder: &'s Arc<dyn MapBuilder>,
        sample: Sample<'a>,
        start: Instant,
        hear: &'s mut dyn FnMut(&Trial, f64) -> Result<()>,
    ) -> Self {
        Self {
            search,
            builder,
            sample,
            start,
            hear,
            trials: Vec::new(),
            others: Vec::new(),
            sampled: None,
            refused: None,
        }
    }

    fn effort(&self) -> &'static Effort {
        self.search.budget.effort()
    }

    /// Returns the rows of the last trials, which compare and average the results.
    fn last_rows(&self) -> Extent {
        if self.effort().tries_all_rows {
            Extent::All
        } else {
            Extent::Sample
        }
    }

    /// Returns a preparation of the columns by its index.
    pub(super) fn scaling(&self, number: usize) -> &Scaling {
        self.sample.scaling(number)
    }

    pub(super) fn into_trials(self) -> Vec<Trial> {
        self.trials
    }

    /// Runs all steps until the budget ends, then chooses the number of features if requested.
    pub(super) fn run(&mut self) -> Result<Outcome> {
        let own = self.builder.kernel().ok_or_else(needs_kernel)?;
        let sized_only = self.search.is_only_size() && self.search.features.is_some();
        let (best, done) = if sized_only {
            (self.plan(own, None, 0)?, None)
        } else {
            // If all settings are given, only the given plan is tried.
            self.best(own)?
        };
        if let Some(enough) = self.search.features {
            let (plan, size) = self.sized(best, enough)?;
            return Ok(Outcome {
                plan,
                size: Some(size),
                members: Vec::new(),
                held_out: None,
                importance: None,
            });
        }
        let ((members, held_out), importance) = match done {
            Some(done) => {
                let importance = self.weights(&done.tried, best.scaling)?;
                let importance = importance.map(|metric| metric.importance().to_vec());
                (self.blend(&best, done)?, importance)
            }
            None => ((Vec::new(), None), None),
        };
        Ok(Outcome {
            plan: best,
            size: None,
            importance: importance.filter(|_| !members.is_empty()),
            members,
            held_out,
        })
    }

    /// Makes all choices but the number of features, and returns the last trial.
    fn best(&mut self, own: Arc<dyn Kernel>) -> Result<(Plan, Option<Done>)> {
        let size = self.builder.features();
        let all = size.filter(|&d| self.builder.variant(own.clone(), d).is_some());
        // Maps without a smaller variant are tried at full size.
        let explored = all.map(|d| d.min(self.effort().explored_features));
        let given = self.plan(own.clone(), all, 0)?;
        let mut kernels = vec![own];
        if explored.is_some() {
            for kernel in &self.search.kernels {
                if kernels.iter().all(|known| known.spec() != kernel.spec()) {
                    kernels.push(kernel.clone());
                }
            }
        }
        let field = self.field(kernels, explored)?;
        let finalists = self.explore(&field, explored)?;
        self.last(finalists, &field, (given, all))
    }

    /// Returns the plan for a kernel, a number of features and a preparation, at the given
    /// lengthscale.
    fn plan(
        &self,
        kernel: Arc<dyn Kernel>,
        features: Option<usize>,
        scaling: usize,
    ) -> Result<Plan> {
        let median = self.sample.median(scaling, None, kernel.norm());
        let lengthscale = self.sample.data().lengthscale;
        let plan = Plan {
            builder: self.builder.clone(),
            kernel,
            scaling,
            is_binned: false,
            draw: 0,
            metric: None,
            turns: 0,
            features: 0,
            median,
            multiple: lengthscale / median,
            lengthscale,
            lambda: Plan::AS_GIVEN,
        };
        self.resized(plan, features)
    }

    /// Returns the plan with another number of features.
    fn resized(&self, mut plan: Plan, features: Option<usize>) -> Result<Plan> {
        if let Some(features) = features {
            let builder = self.builder.variant(plan.kernel.clone(), features);
            plan.builder = Arc::from(builder.ok_or_else(needs_kernel)?);
        }
        plan.features = features.or(self.builder.features()).unwrap_or(0);
        Ok(plan)
    }

    /// Returns the penalties of a trial.
    fn lambdas(&self) -> Vec<f64> {
        if self.search.lambda {
            let powers = 0..PENALTIES;
            return powers.map(|e| LEAST * 10_f64.powi(e)).collect();
        }
        self.sample.data().options.lambda().tried()
    }

    /// Returns multiples of the best penalty of an earlier trial.
    fn penalties_beside(&self, lambda: f64, factors: &[f64]) -> Vec<f64> {
        if self.search.lambda {
            let beside = factors.iter().map(|factor| factor * lambda);
            beside.filter(|l| *l >= LEAST).collect()
        } else {
            self.lambdas()
        }
    }

    fn near(&self, lambda: f64) -> Vec<f64> {
        self.penalties_beside(lambda, &NEAR)
    }

    /// Runs a trial; `None` if the budget has ended, or if the trial fails.
    fn attempt(&mut self, plan: Plan, lambdas: &[f64], extent: Extent) -> Result<Option<Done>> {
        if self.ends_before(&plan, extent) {
            return Ok(None);
        }
        let start = Instant::now();
        let tried = match self.sample.run(&plan, lambdas, extent) {
            Ok(tried) => tried,
            Err(error @ (Error::Numerical(_) | Error::Unsupported(_) | Error::Parameter(_))) => {
                self.refused = Some(error);
                return Ok(None);
            }
            // Other maps may fit into memory.
            Err(Error::Limit { .. } | Error::HostMemory { .. }) if plan.is_binned => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let scaling = self.sample.scaling(plan.scaling);
        let trial = Trial {
            map: tried.model().map.kind(),
            standardize: scaling.applied(),
            kernel: plan.kernel.spec(),
            metric: plan.metric.as_ref().map(|m| (m.kind(), plan.turns)),
            multiple: plan.multiple,
            lengthscale: plan.lengthscale,
            lambda: tried.lambda,
            features: if plan.is_binned {
                plan.features
            } else {
                tried.features()
            },
            rows: tried.rows,
            error: tried.error,
            squared: tried.squared,
            seconds: start.elapsed().as_secs_f64(),
        };
        self.trials.push(trial.clone());
        log::info!("trial {}: {trial}", self.trials.len());
        let best = self
            .trials
            .iter()
            .map(|t| t.error)
            .fold(f64::INFINITY, f64::min);
        (self.hear)(&trial, best)?;
        let lambda = tried.lambda;
        Ok(Some(Done {
            plan: Plan { lambda, ..plan },
            trial,
            tried,
        }))
    }

    /// Returns the error if no trial succeeded.
    fn nothing(&mut self) -> Error {
        let none = || Error::numerical("no trial has a finite held-out error");
        self.refused.take().unwrap_or_else(none)
    }
}

#[cfg(test)]
impl Rounds<'_, '_> {
    /// Whether the budget ends before a trial on the sample, and before one on all rows, after a
    /// single `trial`.
    pub(super) fn ends_after(&mut self, trial: Trial) -> Result<[bool; 2]> {
        let kernel = self.builder.kernel().ok_or_else(needs_kernel)?;
        self.trials = vec![trial];
        let plan = self.plan(kernel, self.builder.features(), 0)?;
        Ok([Extent::Sample, Extent::All].map(|extent| self.ends_before(&plan, extent)))
    }
}

/// Outcome of the steps of a search.
pub(super) struct Outcome {
    pub(super) plan: Plan,
    pub(super) size: Option<Size>,
    /// Models to average; empty for a single fit.
    pub(super) members: Vec<Member>,
    /// Held-out scores of the average, if its members have no leave-one-out scores.
    pub(super) held_out: Option<LeftOutScores>,
    /// Importance of the columns for the best plan.
    pub(super) importance: Option<Vec<f64>>,
}

/// State after the first trials.
enum Step {
    /// The budget ended before this plan was tried.
    Over(Plan),
    /// Remaining results, the best first.
    Tried(Vec<Done>),
}
