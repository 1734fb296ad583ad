//! Fits the model of a leaf.

use super::Task;
use crate::{
    Error, Result,
    data::{ChunkSource, Survey},
    features::FeatureMap,
    kernels::Norm,
    learn::{
        FitData, Lambda,
        choose::search::{Extent, Plan, Sample, SearchData, Tried},
    },
    metric::{self, MetricOptions, RowsForMap},
    model::{Coefficients, Metric},
    seed::Seed,
};

/// Maximum number of features of the fit that the first metric of a leaf is learnt from.
const EXPLORED: usize = 1000;
/// First lengthscale in the first leaf, and that of the exploring fit, relative to the median
/// distance.
const FIRST: f64 = 0.5;
/// Factor of a lengthscale step, without and with a known good lengthscale.
const COARSE: f64 = 0.5;
const FINE: f64 = 0.7;
/// Maximum number of steps in one direction.
const STEPS: usize = 6;
/// Penalties of the first leaf, starting at the rounding of f32 sums; factors around a penalty that
/// was best before; and factors if only the lengthscale or the metric changes, by little.
const LEAST: f64 = 1e-8;
const LAMBDAS: [f64; 5] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4];
const BESIDE: [f64; 3] = [0.1, 1.0, 10.0];
const SAME: [f64; 1] = [1.0];
/// Another iteration of a metric must reduce the loss to this share.
const GAIN: f64 = 0.99;
/// Leaves with fewer rows are fitted without a hold-out set.
const FEW: u64 = 50;
/// Penalty of these, and of leaves for which no tried penalty can be solved.
const SAFE: f64 = 1e-3;

/// Best settings of a leaf, from which the next one starts.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    /// The learnt metric, if any, with its best lengthscale and penalty.
    kind: Option<MetricOptions>,
    multiple: f64,
    lambda: f64,
    /// The same for the other metrics, when they were last tried.
    others: Vec<(Option<MetricOptions>, f64, f64)>,
}

impl Settings {
    pub(super) fn lambda(&self) -> f64 {
        self.lambda
    }

    /// Lengthscale and penalty of a metric.
    fn find(&self, kind: Option<MetricOptions>) -> Option<(f64, f64)> {
        let own = (self.kind, self.multiple, self.lambda);
        let mut all = std::iter::once(&own).chain(&self.others);
        let found = all.find(|(known, ..)| *known == kind);
        found.map(|&(_, multiple, lambda)| (multiple, lambda))
    }
}

/// A fitted leaf.
pub(super) struct Fitted {
    /// `None` if the model is only an intercept.
    pub(super) map: Option<Box<dyn FeatureMap>>,
    pub(super) coefficients: Coefficients,
    /// Hold-out error, if there was a hold-out set.
    pub(super) error: Option<f64>,
    /// Shares of the columns in the squared gradient, if a search computed them.
    pub(super) importance: Option<Vec<f64>>,
    pub(super) won: Option<Settings>,
}

/// A plan and its result.
struct Done {
    plan: Plan,
    tried: Tried,
}

impl Done {
    /// Criterion to compare trials: the error times the squared error, as in a search.
    fn order(&self) -> f64 {
        self.tried.error * self.tried.squared
    }
}

/// Shares of the columns that vary in the rows of `survey`, normalized to sum 1. Along constant
/// columns the gradient of a model is irrelevant, since no rows differ in them.
pub(super) fn moving(importance: &[f64], survey: &Survey) -> Vec<f64> {
    let constant = survey
        .min
        .iter()
        .zip(&survey.max)
        .map(|(min, max)| min == max);
    let shares = importance.iter().zip(constant);
    let mut shares: Vec<f64> = shares
        .map(|(&share, constant)| if constant { 0.0 } else { share })
        .collect();
    let sum: f64 = shares.iter().sum();
    if sum > 0.0 {
        shares.iter_mut().for_each(|share| *share /= sum);
    }
    shares
}

impl Task<'_> {
    /// Fits leaf `index`, whose rows are not all equal. `last` holds the best settings of the
    /// previous leaf.
    pub(super) fn leaf(
        &self,
        source: &mut dyn ChunkSource,
        survey: &Survey,
        (index, seed): (usize, Seed),
        last: Option<&Settings>,
    ) -> Result<Fitted> {
        if self.search.is_empty() || survey.rows < FEW {
            return self.unsearched(source, survey, seed);
        }
        let targets = self.targets_of(survey);
        let data = SearchData {
            source: &mut *source,
            survey,
            scaling: self.scaling,
            lengthscale: self.lengthscale,
            targets: &targets,
            options: self.options,
            seed,
            run: &self.run,
        };
        let mut sample = Sample::read(data)?;
        let mut tried = self.attempts(&mut sample, index, last)?.into_iter();
        let Some((kind, mut best)) = tried.next() else {
            return self.unsearched(source, survey, seed);
        };
        let others = tried.map(|(kind, done)| (kind, done.plan.multiple, done.tried.lambda));
        let mut others: Vec<_> = others.collect();
        if others.is_empty() {
            others = last.map_or_else(Vec::new, |last| last.others.clone());
        }
        if let Some(options) = kind {
            self.turns(&mut sample, &mut best, options)?;
        }
        if self.search.bandwidth {
            self.walk(&mut sample, &mut best, true)?;
        }
        let won = Settings {
            kind,
            multiple: best.plan.multiple,
            lambda: best.tried.lambda,
            others,
        };
        let error = Some(best.tried.error);
        let importance = match sample.learn((&best.tried, 0), Metric::Diagonal.into()) {
            Ok(metric) => Some(moving(metric.importance(), survey)),
            Err(Error::Unsupported(_)) => None,
            Err(error) => return Err(error),
        };
        let (map, coefficients) = sample.finish(best.tried)?;
        Ok(Fitted {
            map: Some(map),
            coefficients,
            error,
            importance,
            won: Some(won),
        })
    }

    /// Results of each metric that is tried in leaf `index`, the best first.
    fn attempts(
        &self,
        sample: &mut Sample<'_>,
        index: usize,
        last: Option<&Settings>,
    ) -> Result<Vec<(Option<MetricOptions>, Done)>> {
        // All metrics are tried in leaves 0, 1, 3, 7, ..., and in the others only the best one.
        let kinds = match last {
            Some(last) if !(index + 1).is_power_of_two() => vec![last.kind],
            _ => self.kinds(),
        };
        let mut small = None;
        if kinds.iter().any(Option::is_some) {
            let plan = self.plain(sample, Some(EXPLORED), FIRST);
            small = self.attempt(sample, plan, &self.lambdas(None))?;
        }
        let mut tried = Vec::new();
        for kind in kinds {
            let known = last.and_then(|last| last.find(kind));
            let multiple = known.map_or(FIRST, |(multiple, _)| multiple);
            let plan = self.plain(sample, None, multiple);
            let plan = match (kind, &small) {
                (None, _) => plan,
                (Some(_), None) => continue,
                (Some(options), Some(small)) => self.turn(sample, (plan, small), options)?,
            };
            let lambdas = self.lambdas(known.map(|(_, lambda)| lambda));
            let Some(mut done) = self.attempt(sample, plan, &lambdas)? else {
                continue;
            };
            if self.search.bandwidth && known.is_none() {
                self.walk(sample, &mut done, false)?;
            }
            tried.push((kind, done));
        }
        tried.sort_by(|(_, a), (_, b): &(_, Done)| a.order().total_cmp(&b.order()));
        Ok(tried)
    }

    /// Metrics to try, and no metric unless one is required. A kernel of the L1 norm cannot use
    /// directions across columns, so full metrics are skipped for it if a diagonal one is
    /// requested.
    fn kinds(&self) -> Vec<Option<MetricOptions>> {
        let all = &self.search.metrics;
        let alone = |options: &&MetricOptions| options.kind == Metric::Diagonal;
        let few = self.kernel.norm() == Norm::L1 && all.iter().any(|options| alone(&options));
        let learnt = all.iter().filter(|options| !few || alone(options));
        let none = (!self.search.metric_required || all.is_empty()).then_some(None);
        none.into_iter().chain(learnt.copied().map(Some)).collect()
    }

    /// `plan` with the metric of the gradients of a tried fit.
    fn turn(
        &self,
        sample: &Sample<'_>,
        (plan, from): (Plan, &Done),
        options: MetricOptions,
    ) -> Result<Plan> {
        let metric = sample.learn((&from.tried, 0), options)?;
        let median = sample.median(0, Some(&metric), self.kernel.norm());
        let plan = Plan {
            metric: Some(metric),
            turns: from.plan.turns + 1,
            median,
            ..plan
        };
        Ok(plan.at(plan.multiple))
    }

    /// Learns the metric again from the fit that uses it, as long as this improves.
    fn turns(
        &self,
        sample: &mut Sample<'_>,
        best: &mut Done,
        options: MetricOptions,
    ) -> Result<()> {
        for _ in 1..options.iterations {
            let plan = self.turn(sample, (best.plan.clone(), best), options)?;
            let lambdas = self.penalties_beside(best.tried.lambda, &SAME);
            match self.attempt(sample, plan, &lambdas)? {
                Some(next) if next.order() < GAIN * best.order() => *best = next,
                _ => break,
            }
        }
        Ok(())
    }

    /// Fits the given settings without a hold-out set; with few rows, uses a penalty that suits
    /// them.
    fn unsearched(
        &self,
        source: &mut dyn ChunkSource,
        survey: &Survey,
        seed: Seed,
    ) -> Result<Fitted> {
        let lambda = if self.search.lambda && !self.search.is_empty() {
            Lambda::Fixed(SAFE)
        } else {
            self.options.lambda().settled()
        };
        let learner = self.options.with_lambda(lambda);
        let map = metric::draw(
            self.builder.as_ref(),
            RowsForMap {
                source: &mut *source,
                survey,
                scaling: self.scaling,
                run: &self.run,
                seed: Some(seed),
            },
            None,
            self.lengthscale,
        )?;
        let data = FitData {
            source,
            survey,
            targets: self.targets_of(survey),
            kernel: None,
            bandwidth: None,
            start: None,
            seed,
            run: &self.run,
        };
        let model = learner.fit(map, data)?;
        Ok(Fitted {
            map: Some(model.map),
            coefficients: model.coefficients,
            error: None,
            importance: None,
            won: None,
        })
    }

    /// Plan for columns as prepared.
    fn plain(&self, sample: &Sample<'_>, features: Option<usize>, multiple: f64) -> Plan {
        let median = sample.median(0, None, self.kernel.norm());
        let multiple = if self.search.bandwidth {
            multiple
        } else {
            self.lengthscale / median
        };
        self.plan(features, median, multiple)
    }

    /// Penalties of a trial: around the one that was best before, if known.
    fn lambdas(&self, known: Option<f64>) -> Vec<f64> {
        match known {
            Some(lambda) if self.search.lambda => self.penalties_beside(lambda, &BESIDE),
            None if self.search.lambda => LAMBDAS.to_vec(),
            _ => self.options.lambda().tried(),
        }
    }

    /// Multiples of a penalty, not below the least.
    fn penalties_beside(&self, lambda: f64, factors: &[f64]) -> Vec<f64> {
        if self.search.lambda {
            let beside = factors.iter().map(|factor| factor * lambda);
            beside.filter(|lambda| *lambda >= 0.99 * LEAST).collect()
        } else {
            self.lambdas(None)
        }
    }

    /// Tries a plan; `None` if the fit failed numerically.
    fn attempt(
        &self,
        sample: &mut Sample<'_>,
        plan: Plan,
        lambdas: &[f64],
    ) -> Result<Option<Done>> {
        let metric = plan.metric.as_ref();
        let what = match metric {
            Some(metric) => format!("{} metric of turn {}", metric.kind(), plan.turns),
            None => "no metric".into(),
        };
        let tried = match sample.run(&plan, lambdas, Extent::All) {
            Ok(tried) => tried,
            Err(error @ Error::Numerical(_)) => {
                log::info!("{what} at {:.3} medians: {error}", plan.multiple);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        log::info!(
            "{} features at {:.3} medians, {what}, lambda {:.0e}: error {:.5}",
            tried.features(),
            plan.multiple,
            tried.lambda,
            tried.error
        );
        Ok(Some(Done { plan, tried }))
    }

    /// Decreases the lengthscale as long as that improves; if it never did, increases it.
    fn walk(&self, sample: &mut Sample<'_>, best: &mut Done, known: bool) -> Result<()> {
        let (factor, penalties): (f64, &[f64]) = if known {
            (FINE, &SAME)
        } else {
            (COARSE, &BESIDE)
        };
        for factor in [factor, 1.0 / factor] {
            let mut moved = false;
            for _ in 0..STEPS {
                let next = best.plan.at(best.plan.multiple * factor);
                let lambdas = self.penalties_beside(best.tried.lambda, penalties);
                match self.attempt(sample, next, &lambdas)? {
                    Some(done) if done.order() < best.order() => (*best, moved) = (done, true),
                    _ => break,
                }
            }
            if moved {
                break;
            }
        }
        Ok(())
    }
}
