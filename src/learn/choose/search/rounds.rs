//! The order of trials: what every step of it needs.

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

/// The least penalty: below, sums of f32 features are rounding.
const LEAST: f64 = 1e-8;
/// Penalties of a trial without a guess, a power of ten apart.
const PENALTIES: i32 = 7;

/// A plan that was tried.
struct Done {
    plan: Plan,
    trial: Trial,
    tried: Tried,
}

/// A search on its way.
pub(super) struct Rounds<'s, 'a> {
    search: &'s Search,
    builder: &'s Arc<dyn MapBuilder>,
    sample: Sample<'a>,
    start: Instant,
    hear: &'s mut dyn FnMut(&Trial, f64) -> Result<()>,
    trials: Vec<Trial>,
    /// Kernels of another norm than the best, as far as they came.
    others: Vec<Plan>,
    /// Bins that were tried on a sample, before all rows are.
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

    /// Rows of the last trials, by which the result is compared and averaged.
    fn last_rows(&self) -> Extent {
        if self.effort().tries_all_rows {
            Extent::All
        } else {
            Extent::Sample
        }
    }

    /// A way in which columns were prepared.
    pub(super) fn scaling(&self, number: usize) -> &Scaling {
        self.sample.scaling(number)
    }

    pub(super) fn into_trials(self) -> Vec<Trial> {
        self.trials
    }

    /// Every step, until the budget ends; how many features were enough, if that is asked for.
    pub(super) fn run(&mut self) -> Result<Outcome> {
        let own = self.builder.kernel().ok_or_else(needs_kernel)?;
        let sized_only = self.search.is_only_size() && self.search.features.is_some();
        let (best, done) = if sized_only {
            (self.plan(own, None, 0)?, None)
        } else {
            // Where all is given, trials are of what is given.
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

    /// Every choice but the number of features, and what was tried of it.
    fn best(&mut self, own: Arc<dyn Kernel>) -> Result<(Plan, Option<Done>)> {
        let size = self.builder.features();
        let all = size.filter(|&d| self.builder.variant(own.clone(), d).is_some());
        // What cannot be had smaller is tried as it is.
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

    /// The map of a kernel and a size at the lengthscale that is given, of columns that are
    /// prepared in this way.
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

    /// The same with another number of features.
    fn resized(&self, mut plan: Plan, features: Option<usize>) -> Result<Plan> {
        if let Some(features) = features {
            let builder = self.builder.variant(plan.kernel.clone(), features);
            plan.builder = Arc::from(builder.ok_or_else(needs_kernel)?);
        }
        plan.features = features.or(self.builder.features()).unwrap_or(0);
        Ok(plan)
    }

    /// The penalties of a trial.
    fn lambdas(&self) -> Vec<f64> {
        if self.search.lambda {
            let powers = 0..PENALTIES;
            return powers.map(|e| LEAST * 10_f64.powi(e)).collect();
        }
        self.sample.data().options.lambda().tried()
    }

    /// The penalties of a trial beside one that had this as its best.
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

    /// Tries a plan; `None` where the budget has ended, or the trial failed by itself.
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
            // Others have room.
            Err(Error::Limit { .. } | Error::HostMemory { .. }) if plan.is_binned => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let scaling = self.sample.scaling(plan.scaling);
        let trial = Trial {
            map: tried.model.map.kind(),
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

    /// No trial came to an end.
    fn nothing(&mut self) -> Error {
        let none = || Error::numerical("no trial has a finite held-out error");
        self.refused.take().unwrap_or_else(none)
    }
}

#[cfg(test)]
impl Rounds<'_, '_> {
    /// Whether the budget ends before a trial of the sample, and before one of all rows, once
    /// `trial` is all that is known.
    pub(super) fn ends_after(&mut self, trial: Trial) -> Result<[bool; 2]> {
        let kernel = self.builder.kernel().ok_or_else(needs_kernel)?;
        self.trials = vec![trial];
        let plan = self.plan(kernel, self.builder.features(), 0)?;
        Ok([Extent::Sample, Extent::All].map(|extent| self.ends_before(&plan, extent)))
    }
}

/// What a search came to.
pub(super) struct Outcome {
    pub(super) plan: Plan,
    pub(super) size: Option<Size>,
    /// What is averaged in the place of one fit; none where there is one.
    pub(super) members: Vec<Member>,
    /// Scores of held-out rows by their mean, if members leave no rows out by themselves.
    pub(super) held_out: Option<LeftOutScores>,
    /// Of the columns to the best.
    pub(super) importance: Option<Vec<f64>>,
}

/// Where a search stands.
enum Step {
    /// The budget ended before this plan was tried with these features.
    Over(Plan),
    /// What was tried and goes on, the best first.
    Tried(Vec<Done>),
}
