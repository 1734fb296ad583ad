//! The order of trials.

use super::{
    Budget, Search, Trial,
    ground::{Extent, Sample, Tried},
    needs_kernel,
    plan::Plan,
};
use crate::{
    Error, Result,
    features::MapBuilder,
    kernels::Kernel,
    models::{Lambda, metric::MetricOptions},
};
use std::{sync::Arc, time::Instant};

/// Features of the trials before the last, at most, and of the race of kernels.
const EXPLORED: usize = 1000;
const RACED: usize = 500;
/// Multiples of the median distance at which kernels race.
const MULTIPLES: [f64; 3] = [1.0, 0.5, 2.0];
/// A bandwidth to either side of the last, for a metric that is new.
const BESIDE: [f64; 2] = [0.7, 1.4];
/// The least penalty: below, sums of f32 features are rounding.
const LEAST: f64 = 1e-8;
/// Steps of a bandwidth in one direction, at most.
const STEPS: usize = 3;
/// An outer product gains if the error falls to this share.
const GAIN: f64 = 0.997;

/// A plan that was tried.
struct Done {
    plan: Plan,
    trial: Trial,
    tried: Tried,
}

/// A search on its way.
pub(super) struct Course<'s, 'a> {
    search: &'s Search,
    builder: &'s Arc<dyn MapBuilder>,
    sample: Sample<'a>,
    start: Instant,
    hear: &'s mut dyn FnMut(&Trial, f64),
    trials: Vec<Trial>,
    refused: Option<Error>,
}

impl<'s, 'a> Course<'s, 'a> {
    pub(super) fn new(
        search: &'s Search,
        builder: &'s Arc<dyn MapBuilder>,
        sample: Sample<'a>,
        start: Instant,
        hear: &'s mut dyn FnMut(&Trial, f64),
    ) -> Self {
        Self {
            search,
            builder,
            sample,
            start,
            hear,
            trials: Vec::new(),
            refused: None,
        }
    }

    pub(super) fn into_trials(self) -> Vec<Trial> {
        self.trials
    }

    /// Every step, until the budget ends.
    pub(super) fn run(&mut self) -> Result<Plan> {
        let own = self.builder.kernel().ok_or_else(needs_kernel)?;
        let size = self.builder.features();
        let all = size.filter(|&d| self.builder.variant(own.clone(), d).is_some());
        // What cannot be had smaller is tried as it is.
        let explored = all.map(|d| d.min(EXPLORED));
        let mut kernels = vec![own];
        if explored.is_some() {
            for kernel in &self.search.kernels {
                if kernels.iter().all(|known| known.spec() != kernel.spec()) {
                    kernels.push(kernel.clone());
                }
            }
        }
        let first = self.race(kernels, explored)?;
        let none = self.climb(self.resized(first, explored)?)?;
        let best = self.metrics(none)?;
        self.last(best, all)
    }

    fn is_over(&self) -> bool {
        match self.search.budget {
            _ if self.trials.is_empty() => false,
            Budget::All => false,
            Budget::Trials(most) => self.trials.len() >= most,
            Budget::Time(most) => self.start.elapsed() >= most,
        }
    }

    /// The map of a kernel and a size, over the median distance.
    fn plan(&self, kernel: Arc<dyn Kernel>, features: Option<usize>) -> Result<Plan> {
        let median = self.sample.median(None, kernel.norm());
        let multiple = match self.search.bandwidth {
            true => 1.0,
            false => self.sample.data().lengthscale / median,
        };
        let plan = Plan {
            builder: self.builder.clone(),
            kernel,
            metric: None,
            turns: 0,
            features: 0,
            median,
            multiple,
            lengthscale: multiple * median,
            lambda: 0.0,
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
        match &self.sample.data().options.lambda {
            _ if self.search.lambda => (0..7).map(|e| LEAST * 10_f64.powi(e)).collect(),
            Lambda::Best { of, .. } => of.clone(),
            Lambda::Fixed(lambda) => vec![*lambda],
        }
    }

    /// The penalties of a trial beside one that had this as its best.
    fn near(&self, lambda: f64) -> Vec<f64> {
        match self.search.lambda {
            true => {
                let near = [0.1, 1.0, 10.0].map(|factor| factor * lambda);
                near.into_iter().filter(|l| *l >= LEAST).collect()
            }
            false => self.lambdas(),
        }
    }

    /// Tries a plan; `None` where the budget has ended, or the trial failed by itself.
    fn attempt(&mut self, plan: Plan, lambdas: &[f64], extent: Extent) -> Result<Option<Done>> {
        if self.is_over() {
            return Ok(None);
        }
        let start = Instant::now();
        let tried = match self.sample.run(&plan, lambdas, extent) {
            Ok(tried) => tried,
            Err(error @ (Error::Numerical(_) | Error::Unsupported(_) | Error::Parameter(_))) => {
                self.refused = Some(error);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let trial = Trial {
            kernel: plan.kernel.spec(),
            metric: plan.metric.as_ref().map(|m| (m.kind(), plan.turns)),
            multiple: plan.multiple,
            lengthscale: plan.lengthscale,
            lambda: tried.lambda,
            features: tried.features(),
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
        (self.hear)(&trial, best);
        let lambda = tried.lambda;
        Ok(Some(Done {
            plan: Plan { lambda, ..plan },
            trial,
            tried,
        }))
    }

    /// The best kernel with few features.
    fn race(&mut self, kernels: Vec<Arc<dyn Kernel>>, explored: Option<usize>) -> Result<Plan> {
        let raced = explored.map(|d| d.min(RACED));
        if kernels.len() == 1 {
            return self.plan(kernels[0].clone(), raced);
        }
        let lambdas = self.lambdas();
        let mut best: Option<(Plan, Trial)> = None;
        for kernel in kernels {
            let plan = self.plan(kernel, raced)?;
            let multiples = match self.search.bandwidth {
                true => MULTIPLES.to_vec(),
                false => vec![plan.multiple],
            };
            for multiple in multiples {
                let Some(done) = self.attempt(plan.at(multiple), &lambdas, Extent::Few)? else {
                    continue;
                };
                if best
                    .as_ref()
                    .is_none_or(|(_, trial)| done.trial.better_than(trial))
                {
                    best = Some((done.plan, done.trial));
                }
            }
        }
        match best {
            Some((plan, _)) => Ok(plan),
            None => Err(self.nothing()),
        }
    }

    /// The best bandwidth, from that of `plan` on.
    fn climb(&mut self, plan: Plan) -> Result<Step> {
        let lambdas = self.lambdas();
        let Some(mut best) = self.attempt(plan.clone(), &lambdas, Extent::Sample)? else {
            return match self.trials.is_empty() {
                true => Err(self.nothing()),
                // The race used the budget up.
                false => Ok(Step::Over(plan)),
            };
        };
        if !self.search.bandwidth {
            return Ok(Step::Tried(Box::new(best)));
        }
        for factor in [0.5, 2.0] {
            let mut moved = false;
            for _ in 0..STEPS {
                let next = best.plan.at(best.plan.multiple * factor);
                let near = self.near(best.plan.lambda);
                let Some(done) = self.attempt(next, &near, Extent::Sample)? else {
                    break;
                };
                if !done.trial.better_than(&best.trial) {
                    break;
                }
                (best, moved) = (done, true);
            }
            if moved {
                break;
            }
        }
        Ok(Step::Tried(Box::new(best)))
    }

    /// The best of each metric, and the simplest of those.
    fn metrics(&mut self, none: Step) -> Result<Step> {
        let Step::Tried(none) = none else {
            return Ok(none);
        };
        let mut learned: Vec<Done> = Vec::new();
        for options in self.search.metrics.clone() {
            learned.extend(self.learn(&none, options)?);
        }
        let mut best: Option<Done> = match self.search.metric_required && !learned.is_empty() {
            true => None,
            false => Some(*none),
        };
        for done in learned {
            if best
                .as_ref()
                .is_none_or(|best| done.trial.clearly_better_than(&best.trial))
            {
                best = Some(done);
            }
        }
        best.map(|best| Step::Tried(Box::new(best)))
            .ok_or_else(|| self.nothing())
    }

    /// Outer product and fit in turn, from `none` on, a bandwidth to either side of the
    /// last, as long as rows held out gain.
    fn learn(&mut self, none: &Done, options: MetricOptions) -> Result<Option<Done>> {
        let mut best: Option<Done> = None;
        for turn in 1..=options.iterations {
            let from = best.as_ref().unwrap_or(none);
            let metric = self.sample.learn(&from.tried, options)?;
            let plan = Plan {
                median: self.sample.median(Some(&metric), from.plan.kernel.norm()),
                metric: Some(metric),
                turns: turn,
                ..from.plan.clone()
            };
            let multiples = match self.search.bandwidth {
                true => BESIDE.map(|factor| factor * plan.multiple).to_vec(),
                false => vec![plan.multiple],
            };
            let near = self.near(plan.lambda);
            let mut next: Option<Done> = None;
            for multiple in multiples {
                let Some(done) = self.attempt(plan.at(multiple), &near, Extent::Sample)? else {
                    continue;
                };
                if (next.as_ref()).is_none_or(|next| done.trial.better_than(&next.trial)) {
                    next = Some(done);
                }
            }
            let Some(next) = next else {
                break;
            };
            let least = best.as_ref().map(|best| best.trial.error);
            if least.is_some_and(|least| next.trial.error >= GAIN * least) {
                break;
            }
            best = Some(next);
        }
        Ok(best)
    }

    /// The best with all features, and on all rows.
    fn last(&mut self, best: Step, all: Option<usize>) -> Result<Plan> {
        let explored = match best {
            Step::Over(plan) => return self.resized(plan, all),
            Step::Tried(done) => done.plan,
        };
        let lambda = explored.lambda;
        let between: Vec<f64> = match self.search.lambda {
            true => {
                let between = [0.3, 1.0, 3.0].map(|factor| factor * lambda);
                between.into_iter().filter(|l| *l >= LEAST).collect()
            }
            false => self.lambdas(),
        };
        let plan = self.resized(explored, all)?;
        let Some(mut best) = self.attempt(plan.clone(), &between, Extent::Sample)? else {
            return Ok(plan);
        };
        for _ in 0..2 {
            if !self.search.bandwidth {
                break;
            }
            let shorter = best.plan.at(best.plan.multiple * BESIDE[0]);
            match self.attempt(shorter, &between, Extent::Sample)? {
                Some(done) if done.trial.better_than(&best.trial) => best = done,
                _ => break,
            }
        }
        if !self.sample.is_whole()
            && let Some(done) = self.attempt(best.plan.clone(), &between, Extent::All)?
        {
            best = done;
        }
        Ok(best.plan)
    }

    /// No trial came to an end.
    fn nothing(&mut self) -> Error {
        let none = || Error::numerical("no trial has a finite held-out error");
        self.refused.take().unwrap_or_else(none)
    }
}

/// Where a search stands.
enum Step {
    /// The budget ended before this plan was tried with these features.
    Over(Plan),
    /// The best that was tried.
    Tried(Box<Done>),
}
