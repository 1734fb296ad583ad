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
    kernels::{Kernel, Norm},
    models::{
        Lambda,
        metric::{LearnedMetric, Metric, MetricOptions},
    },
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
/// Penalties of a trial without a guess, a power of ten apart.
const PENALTIES: i32 = 7;
/// Penalties beside the best of a trial before, and beside one that is nearly right.
const NEAR: [f64; 3] = [0.1, 1.0, 10.0];
const FINE: [f64; 3] = [0.3, 1.0, 3.0];
/// A kernel is out of the race if its loss is that of the best so many times.
const OUT: f64 = 2.0;
/// Steps of a bandwidth in one direction, at most.
const STEPS: usize = 3;
/// An outer product gains if the loss falls to this share.
const GAIN: f64 = 0.99;
/// Kernels that lost the race and are tried again once the metric is known.
const RIVALS: usize = 2;

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
        let field = self.race(kernels, explored)?;
        let best = self.explore(&field, explored)?;
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
            _ if self.search.lambda => {
                let powers = 0..PENALTIES;
                powers.map(|e| LEAST * 10_f64.powi(e)).collect()
            }
            Lambda::Best { of, .. } => of.clone(),
            Lambda::Fixed(lambda) => vec![*lambda],
        }
    }

    /// The penalties of a trial beside one that had this as its best.
    fn beside(&self, lambda: f64, factors: &[f64]) -> Vec<f64> {
        match self.search.lambda {
            true => {
                let beside = factors.iter().map(|factor| factor * lambda);
                beside.filter(|l| *l >= LEAST).collect()
            }
            false => self.lambdas(),
        }
    }

    fn near(&self, lambda: f64) -> Vec<f64> {
        self.beside(lambda, &NEAR)
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

    /// Kernels at their best bandwidths with few features, the best first; those that lose clearly
    /// are out.
    fn race(
        &mut self,
        kernels: Vec<Arc<dyn Kernel>>,
        explored: Option<usize>,
    ) -> Result<Vec<Plan>> {
        let raced = explored.map(|d| d.min(RACED));
        if kernels.len() == 1 {
            return Ok(vec![self.plan(kernels[0].clone(), raced)?]);
        }
        let lambdas = self.lambdas();
        let mut field: Vec<(Plan, Trial)> = Vec::new();
        for kernel in kernels {
            let plan = self.plan(kernel, raced)?;
            let multiples = match self.search.bandwidth {
                true => MULTIPLES.to_vec(),
                false => vec![plan.multiple],
            };
            let mut best: Option<(Plan, Trial)> = None;
            for multiple in multiples {
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
        let Some(least) = field.first().map(|(_, trial)| trial.loss().0) else {
            return Err(self.nothing());
        };
        field.retain(|(_, trial)| trial.loss().0 <= OUT * least);
        Ok(field.into_iter().map(|(plan, _)| plan).collect())
    }

    /// The best of each norm that is still in the race, with its bandwidth and its metric; then the
    /// other kernels of that norm, which a metric serves differently.
    fn explore(&mut self, field: &[Plan], explored: Option<usize>) -> Result<Step> {
        let mut best: Option<Done> = None;
        let mut norms = Vec::new();
        for plan in field {
            let norm = plan.kernel.norm();
            if norms.contains(&norm) {
                continue;
            }
            norms.push(norm);
            let Some(none) = self.climb(self.resized(plan.clone(), explored)?)? else {
                continue;
            };
            let learned = self.metrics(none)?;
            let alike = field.iter().filter(|plan| plan.kernel.norm() == norm);
            let done = self.rivals(learned, alike.skip(1).collect(), plan)?;
            if (best.as_ref()).is_none_or(|best| done.trial.better_than(&best.trial)) {
                best = Some(done);
            }
        }
        match best {
            Some(best) => Ok(Step::Tried(Box::new(best))),
            None if self.trials.is_empty() => Err(self.nothing()),
            // The race used the budget up.
            None => Ok(Step::Over(self.resized(field[0].clone(), explored)?)),
        }
    }

    /// The best bandwidth, from that of `plan` on.
    fn climb(&mut self, plan: Plan) -> Result<Option<Done>> {
        let raced = plan.lambda > 0.0;
        let lambdas = match raced {
            true => self.near(plan.lambda),
            false => self.lambdas(),
        };
        // The race has bandwidths to either side; more features want shorter ones.
        let factors: &[f64] = match raced {
            false => &[0.5, 2.0],
            true if plan.multiple > 1.0 => &[2.0],
            true => &[0.5],
        };
        let Some(mut best) = self.attempt(plan, &lambdas, Extent::Sample)? else {
            return Ok(None);
        };
        if self.search.bandwidth {
            self.walk(&mut best, factors, &NEAR, Extent::Sample)?;
        }
        Ok(Some(best))
    }

    /// Moves the bandwidth of `best` by one of some factors, as often as that helps.
    fn walk(
        &mut self,
        best: &mut Done,
        factors: &[f64],
        penalties: &[f64],
        extent: Extent,
    ) -> Result<()> {
        for &factor in factors {
            let mut moved = false;
            for _ in 0..STEPS {
                let next = best.plan.at(best.plan.multiple * factor);
                let lambdas = self.beside(best.plan.lambda, penalties);
                match self.attempt(next, &lambdas, extent)? {
                    Some(done) if done.trial.better_than(&best.trial) => {
                        (*best, moved) = (done, true);
                    }
                    _ => break,
                }
            }
            if moved {
                break;
            }
        }
        Ok(())
    }

    /// The best metric, unless none is as good.
    fn metrics(&mut self, none: Done) -> Result<Done> {
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
        for _ in 1..options.iterations {
            match self.turn(&best, options, (&[1.0], &NEAR), Extent::Sample)? {
                Some(next) if next.trial.loss().0 < GAIN * best.trial.loss().0 => best = next,
                _ => break,
            }
        }
        let wins = self.search.metric_required || best.trial.clearly_better_than(&none.trial);
        Ok(if wins { best } else { none })
    }

    /// The metrics to learn for a norm: that of columns one by one has no use for directions across
    /// them, unless nothing else is wanted.
    fn kinds(&self, norm: Norm) -> Vec<MetricOptions> {
        let all = &self.search.metrics;
        let alone = |options: &&MetricOptions| options.kind == Metric::Diagonal;
        match norm == Norm::L1 && all.iter().any(|options| alone(&options)) {
            true => all.iter().filter(alone).copied().collect(),
            false => all.clone(),
        }
    }

    /// A fit with the outer product of another, the best of some bandwidths beside its own.
    fn turn(
        &mut self,
        from: &Done,
        options: MetricOptions,
        (factors, penalties): (&[f64], &[f64]),
        extent: Extent,
    ) -> Result<Option<Done>> {
        if self.is_over() {
            return Ok(None);
        }
        let metric = self.sample.learn(&from.tried, options)?;
        let plan = Plan {
            median: self.sample.median(Some(&metric), from.plan.kernel.norm()),
            metric: Some(metric),
            turns: from.plan.turns + 1,
            ..from.plan.clone()
        };
        let multiples = match self.search.bandwidth {
            true => factors
                .iter()
                .map(|factor| factor * plan.multiple)
                .collect(),
            false => vec![plan.multiple],
        };
        let lambdas = self.beside(plan.lambda, penalties);
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

    /// Kernels that lost to `winner`, with the metric that was found since and a bandwidth that is
    /// as far from the best one as theirs was in the race.
    fn rivals(&mut self, mut best: Done, losers: Vec<&Plan>, winner: &Plan) -> Result<Done> {
        let from = best.plan.clone();
        for rival in losers.into_iter().take(RIVALS) {
            let multiple = match self.search.bandwidth {
                true => from.multiple * rival.multiple / winner.multiple,
                false => rival.multiple,
            };
            let plan = Plan {
                median: self
                    .sample
                    .median(from.metric.as_ref(), rival.kernel.norm()),
                metric: from.metric.clone(),
                turns: from.turns,
                lambda: from.lambda,
                ..rival.clone()
            };
            let plan = self.resized(plan, Some(from.features))?.at(multiple);
            let lambdas = self.near(from.lambda);
            if let Some(done) = self.attempt(plan, &lambdas, Extent::Sample)?
                && done.trial.better_than(&best.trial)
            {
                best = done;
            }
        }
        Ok(best)
    }

    /// The best with all features on all rows, with the metric of these, and at bandwidths to
    /// either side.
    fn last(&mut self, best: Step, all: Option<usize>) -> Result<Plan> {
        let explored = match best {
            Step::Over(plan) => return self.resized(plan, all),
            Step::Tried(done) => done.plan,
        };
        // More rows want less of a penalty.
        let first = self.beside(explored.lambda, &[0.1, 0.3, 1.0, 3.0]);
        let plan = self.resized(explored, all)?;
        let mut tried = self.attempt(plan.clone(), &first, Extent::All)?;
        if tried.is_none() {
            // Other sums may want more of a penalty.
            let more = self.beside(plan.lambda, &[10.0, 100.0, 1000.0]);
            tried = self.attempt(plan.clone(), &more, Extent::All)?;
        }
        let Some(mut best) = tried else {
            return Ok(plan);
        };
        let kinds = self.kinds(best.plan.kernel.norm());
        let kind = best.plan.metric.as_ref().map(LearnedMetric::kind);
        let same = |options: &&MetricOptions| kind.is_none_or(|kind| options.kind == kind);
        if let Some(&options) = kinds.iter().rev().find(same)
            && let Some(done) = self.turn(&best, options, (&[1.0], &FINE), Extent::All)?
            && done.trial.better_than(&best.trial)
        {
            best = done;
        }
        if self.search.bandwidth {
            self.walk(&mut best, &BESIDE, &FINE, Extent::All)?;
        }
        if self.search.lambda {
            best.plan.lambda = self.sample.bearable(&best.tried)?;
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
