//! Choices that validation makes: kernel, bandwidth, penalty and metric of ridge regression.

mod course;
mod ground;
mod plan;

use super::{
    Lambda, LinearModel, Ridge, RidgeClassifier, RidgeOptions,
    metric::{self, Ground, LearnedMetric, Metric, MetricOptions},
};
use crate::{
    Error, Result, Run,
    data::{ChunkSource, Survey},
    features::{Auto, FeatureMap, Fourier, MapBuilder, Scaling},
    kernels::{self, Kernel},
    normal::Targets,
    sampling::Sampling,
    seed::Seed,
};
use course::Course;
use ground::Sample;
use plan::Plan;
use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

/// What is chosen by rows held out; everything else stays as the learner has it.
///
/// A fifth of the rows is held out inside the training rows: of regressions the error is the root
/// mean squared one over the deviation of the target, of classifications the share of wrong labels.
/// Trials see 20,000 rows at most, the race of kernels 5,000, and up to a thousand features until
/// the
/// last.
///
/// 1. Kernels race over multiples of the median distance with few features, penalties 1e-8 to 1e-2
///    from the same sums. Frequencies are the same in all trials.
/// 2. Each metric is learnt from the best so far: the outer product of its gradients, the median
///    distance anew, a bandwidth to either side of the last, as long as that gains.
/// 3. The best is tried with all features, shorter bandwidths and penalties between, on all rows if
///    they are more.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Kernels to race beside the map's own.
    pub kernels: Vec<Arc<dyn Kernel>>,
    /// Whether the bandwidth is chosen among multiples of the median distance.
    pub bandwidth: bool,
    /// Whether the penalty is chosen.
    pub lambda: bool,
    /// Metrics that are learnt beside none; the simplest that is best to one per cent wins.
    pub metrics: Vec<MetricOptions>,
    /// Whether one of [`Self::metrics`] is taken even if rows held out say that none is better.
    pub metric_required: bool,
    /// When it ends.
    pub budget: Budget,
}

/// When a search ends: the best until then is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Budget {
    /// When there is nothing left to try.
    #[default]
    All,
    /// After so many trials, 1 at least.
    Trials(usize),
    /// After the trial in which this time is over, so that the result may change from run to run.
    Time(Duration),
}

impl Search {
    /// Everything: the kernels Gaussian, Matern 5/2 and 3/2, exponential and Laplacian, the
    /// bandwidth, the penalty, and both metrics.
    pub fn everything() -> Self {
        Self {
            kernels: Self::catalogue(),
            bandwidth: true,
            lambda: true,
            metrics: vec![Metric::Diagonal.into(), Metric::Full.into()],
            metric_required: false,
            budget: Budget::All,
        }
    }

    /// The kernels that `--kernel auto` races.
    pub fn catalogue() -> Vec<Arc<dyn Kernel>> {
        vec![
            Arc::new(kernels::Gaussian),
            Arc::new(kernels::Matern::FIVE_HALVES),
            Arc::new(kernels::Matern::THREE_HALVES),
            Arc::new(kernels::Exponential),
            Arc::new(kernels::Laplacian),
        ]
    }

    /// Whether nothing is to be chosen.
    pub fn is_empty(&self) -> bool {
        self.kernels.is_empty() && !self.bandwidth && !self.lambda && self.metrics.is_empty()
    }

    /// Tries and chooses. `hear` hears of every trial, with the best error so far.
    ///
    /// Errors with [`Error::Unsupported`] for maps that have no gradient where a metric is wanted,
    /// for those that cannot be stored, and as fits do; a trial that fails by itself is left out.
    pub fn run(
        &self,
        builder: &Arc<dyn MapBuilder>,
        data: SearchData<'_>,
        hear: &mut dyn FnMut(&Trial, f64),
    ) -> Result<Found> {
        let start = Instant::now();
        let sample = Sample::of(data)?;
        let mut course = Course::new(self, builder, sample, start, hear);
        let best = course.run()?;
        let mut trials = course.into_trials();
        trials.sort_by(|a, b| a.rank().cmp_to(&b.rank()));
        Ok(best.found(trials))
    }
}

/// What a search looks at.
#[expect(missing_debug_implementations, reason = "a source has none")]
pub struct SearchData<'a> {
    /// The training rows.
    pub source: &'a mut dyn ChunkSource,
    /// A survey of them, with 2,000 sampled rows at least if there are so many.
    pub survey: &'a Survey,
    /// How columns are prepared.
    pub scaling: &'a Scaling,
    /// The lengthscale, where it is not chosen.
    pub lengthscale: f64,
    /// What the targets mean.
    pub targets: &'a Targets,
    /// The learner: intercept, and the penalty where it is not chosen.
    pub options: &'a RidgeOptions,
    /// The seed of the map, and of the rows held out.
    pub seed: Seed,
    /// Where.
    pub run: &'a Run,
}

/// One trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The kernel.
    pub kernel: String,
    /// The metric, and after how many outer products.
    pub metric: Option<(Metric, usize)>,
    /// The lengthscale over the median distance of the rows as the kernel sees them.
    pub multiple: f64,
    /// The lengthscale.
    pub lengthscale: f64,
    /// The best penalty of those that were tried.
    pub lambda: f64,
    /// D.
    pub features: usize,
    /// Rows that were fitted.
    pub rows: u64,
    /// The error on the rows held out: of labels the share of wrong ones, else the root mean
    /// squared error over the deviation of the target.
    pub error: f64,
    /// Mean squared error of targets over their variance, of labels of -1 and 1: what decides
    /// between equal errors.
    pub squared: f64,
    /// How long it took.
    pub seconds: f64,
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:.3} medians", self.kernel, self.multiple)?;
        if let Some((kind, turns)) = self.metric {
            write!(f, ", {kind} metric of turn {turns}")?;
        }
        let Self {
            features,
            lambda,
            error,
            ..
        } = self;
        write!(
            f,
            ", {features} features, lambda {lambda:.0e}: error {error:.5}"
        )
    }
}

/// Errors in the order in which they are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rank {
    features: usize,
    error: f64,
    squared: f64,
}

impl Rank {
    /// More features are another league, in which the last choice is made.
    fn cmp_to(&self, other: &Self) -> std::cmp::Ordering {
        (other.features.cmp(&self.features))
            .then(self.error.total_cmp(&other.error))
            .then(self.squared.total_cmp(&other.squared))
    }
}

impl Trial {
    fn rank(&self) -> Rank {
        Rank {
            features: self.features,
            error: self.error,
            squared: self.squared,
        }
    }

    /// Whether it is worth a metric that is less simple: a hundredth less of the error, or of two
    /// that have the same wrong labels a tenth less of the squares.
    fn clearly_better_than(&self, other: &Self) -> bool {
        let same = self.error <= other.error && self.squared < 0.9 * other.squared;
        self.error < 0.99 * other.error || same
    }

    fn better_than(&self, other: &Self) -> bool {
        (self.error, self.squared) < (other.error, other.squared)
    }
}

/// What a search chose.
#[derive(Debug, Clone)]
pub struct Found {
    /// The map, of the kernel that was chosen.
    pub builder: Arc<dyn MapBuilder>,
    /// The kernel.
    pub kernel: Arc<dyn Kernel>,
    /// The metric, if one was better.
    pub metric: Option<LearnedMetric>,
    /// The lengthscale of the metric's distances.
    pub lengthscale: f64,
    /// The penalty.
    pub lambda: Lambda,
    /// What was tried: most features first, of these the best first.
    pub trials: Vec<Trial>,
}

impl Found {
    /// Draws the map that was chosen. Errors as the builder does.
    pub fn draw(&self, ground: Ground<'_>) -> Result<Box<dyn FeatureMap>> {
        metric::draw(
            self.builder.as_ref(),
            ground,
            self.metric.as_ref(),
            self.lengthscale,
        )
    }

    /// The learner with the penalty that was chosen.
    pub fn options(&self, options: &RidgeOptions) -> RidgeOptions {
        RidgeOptions {
            lambda: self.lambda.clone(),
            ..options.clone()
        }
    }

    /// Has `model`, fitted to the map that [`Self::draw`] gave, keep the metric.
    pub fn keep(&self, model: &mut LinearModel) {
        model.metric = self.metric.clone();
    }
}

impl Auto {
    /// Ridge regression whose kernel, bandwidth, penalty and metric are chosen by rows held out
    /// ([`Search::everything`]), on 2,000 orthogonal Fourier features.
    ///
    /// ```
    /// use bochner::prelude::*;
    /// use ndarray::Array;
    /// let x = Array::from_shape_fn((200, 3), |(i, j)| ((i * (3 * j + 7)) % 31) as f64 / 31.0);
    /// let y: Vec<f64> = x.rows().into_iter().map(|x| (4.0 * x[1]).sin()).collect();
    /// # use bochner::models::{Budget, Search};
    /// # let budget = Budget::Trials(2);
    /// # let few = Search { budget, ..Search::everything() };
    /// # let quick = Ridge::on(Fourier::new(Gaussian).features(60)).search(few);
    /// let automatic = Auto::regression();
    /// # let automatic = quick.device(&Device::cpu());
    /// let predicted = automatic.fit((&x, &y))?.predict(&x)?;
    /// assert!(predicted.iter().zip(&y).all(|(p, y)| (p - y).abs() < 0.1));
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn regression() -> Ridge {
        Ridge::on(automatic()).search(Search::everything())
    }

    /// As [`Self::regression`], of classes.
    pub fn classification() -> RidgeClassifier {
        RidgeClassifier::on(automatic()).search(Search::everything())
    }
}

/// The map of automatic choices.
fn automatic() -> Fourier {
    let map = Fourier::new(kernels::Gaussian).sampling(Sampling::Orthogonal);
    map.features(2000)
}

/// The error of a map that cannot be searched.
fn needs_kernel() -> Error {
    Error::unsupported("this map is not made of a kernel, so there is nothing to choose of it")
}

/// The plan that was best, as what is found.
impl Plan {
    fn found(self, trials: Vec<Trial>) -> Found {
        Found {
            builder: self.builder,
            kernel: self.kernel,
            metric: self.metric,
            lengthscale: self.lengthscale,
            lambda: Lambda::Fixed(self.lambda),
            trials,
        }
    }
}
