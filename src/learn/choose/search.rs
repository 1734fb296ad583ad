//! Search for kernel, bandwidth, penalty and metric of ridge regression on held-out rows.

mod blend;
mod curves;
mod effort;
mod fitted;
mod found;
mod near;
mod parting;
mod plan;
mod prepared;
mod rounds;
mod score;
mod size;
#[cfg(test)]
mod tests;
mod trial_fits;
mod trials;

pub use found::{Found, Member};
pub use size::{Enough, Size};

use crate::{
    Error, Result, Run,
    clock::Instant,
    data::{ChunkSource, Survey},
    features::{MapBuilder, Scaling, Standardize},
    kernels::{self, Kernel},
    learn::{FitPenalised, Lambda, choose::metric::MetricOptions},
    model::{Metric, Targets},
    seed::Seed,
};
pub(in crate::learn) use plan::Plan;
use rounds::{Outcome, Rounds};
use std::{fmt, sync::Arc, time::Duration};
pub(in crate::learn) use trials::{Extent, MOST_ROWS, Sample, Tried};

/// Options of a search; settings that are not searched keep the values of the learner.
///
/// A fifth of the training rows is held out. The error is the root mean squared error over the
/// standard deviation of the target for regression, and the share of wrong labels for
/// classification. Trials are compared by the loss `error * squared error`, since wrong labels
/// alone are few.
///
/// 1. Kernels are compared at multiples of the median distance, with 500 features, 5,000 rows
///    and penalties from 1e-8 to 1e-2 from the same sums. All trials share their frequencies.
///    Kernels with twice the least loss are dropped.
/// 2. The best kernel of each norm (Euclidean or L1) continues with up to 1,000 features and
///    20,000 rows: its bandwidth is refined, then its metric, the outer product of its
///    gradients, as long as the loss falls. Two other kernels of the norm are tried with that
///    metric.
/// 3. With the same features on all rows, bandwidth and metric are refined in turn as long as
///    the loss falls. Above 50,000 rows the sample is less reliable: the best kernels of both
///    norms continue if they are close, and two other kernels are tried at the end. With
///    [`Self::preparation`], columns are transformed by up to four learned curves in turn if
///    that is clearly better. This step is skipped if random binning has two thirds of the loss
///    on a sample.
/// 4. The settings without a search are tried with the same number of features, and stay unless
///    the loss falls below `1 - 1/sqrt(m)` of theirs, with m held-out rows. The choice is tried
///    with all features on all rows, with finer penalties, and with curves or a metric from that
///    fit as long as these reduce the loss.
/// 5. The number of features is chosen last, if [`Self::features`] is set.
///
/// ```
/// use bochner::{models::{Enough, Search}, prelude::*};
/// use ndarray::Array;
/// let x = Array::from_shape_fn((200, 2), |(i, j)| ((i * (3 * j + 7)) % 31) as f64 / 31.0);
/// let y: Vec<f64> = x.rows().into_iter().map(|x| (3.0 * x[0]).sin()).collect();
/// let enough = Search { features: Some(Enough::KernelError(0.1)), ..Search::default() };
/// let ridge = Ridge::on(Fourier::new(Gaussian)).device(&Device::cpu()).search(enough);
/// let model = ridge.fit((&x, &y))?;
/// assert!(model.linear().map.output_dim() < 1000);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Kernels to compare with that of the map.
    pub kernels: Vec<Arc<dyn Kernel>>,
    /// Whether the bandwidth is chosen among multiples of the median distance.
    pub bandwidth: bool,
    /// Whether the penalty is chosen.
    pub lambda: bool,
    /// Metrics to compare with none; the simplest within 1 % of the least error wins.
    pub metrics: Vec<MetricOptions>,
    /// Whether to use one of [`Self::metrics`] even if the error without a metric is less.
    pub metric_required: bool,
    /// Whether other preparations of columns are tried: robust scales, ranks, and learned curves
    /// along which predictions change evenly ([`Standardize::Learned`]).
    pub preparation: bool,
    /// Models that are averaged.
    pub blend: Blend,
    /// Criterion for the number of features, chosen after everything else; at most as many as fit
    /// into the memory of the run at `8 D^2` bytes.
    pub features: Option<Enough>,
    /// Limit of the search.
    pub budget: Budget,
}

/// Models that a search averages in place of a single fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blend {
    /// Number of draws of the chosen features, with a fit for each; fewer if these are within 0.25
    /// % of the squared error; 1 for a single fit.
    pub draws: usize,
    /// Whether a fit with [`Binning`](crate::features::Binning) is included if that reduces the
    /// held-out error: it suits targets with jumps.
    pub binning: bool,
    /// Whether a fit with as many [`Nystrom`](crate::features::Nystrom) landmarks of the chosen
    /// kernel is included if that reduces the held-out error. Each prediction then evaluates the
    /// kernel at every landmark.
    pub nystrom: bool,
}

impl Default for Blend {
    /// A single fit.
    fn default() -> Self {
        Self {
            draws: 1,
            binning: false,
            nystrom: false,
        }
    }
}

/// Limit of a search; the best trial so far is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Budget {
    /// No limit: all steps run.
    #[default]
    All,
    /// A short list of trials on at most 8,400 rows with few features: about the work of two to
    /// three fits. The result does not depend on the order of the rows.
    Brief,
    /// Number of trials, at least 1.
    Trials(usize),
    /// Time limit: no trial starts whose predicted end, including the final fit (at most half of
    /// the time), is later. The result may differ between runs.
    Time(Duration),
}

impl Search {
    /// Searches everything: Gaussian, Matern 5/2 and 3/2, exponential and Laplacian kernels,
    /// bandwidth, penalty, both metrics, preparation of the columns, and an average of five draws
    /// and random binning.
    pub fn everything() -> Self {
        Self {
            kernels: Self::catalogue(),
            bandwidth: true,
            lambda: true,
            metrics: vec![Metric::Diagonal.into(), Metric::Full.into()],
            metric_required: false,
            preparation: true,
            blend: Blend {
                draws: 5,
                binning: true,
                nystrom: false,
            },
            features: None,
            budget: Budget::All,
        }
    }

    /// Searches in about the time of three fits: the kernel of the map and the Laplacian one,
    /// bandwidth, penalty, the diagonal metric, learned curves, and an average of two draws and
    /// random binning.
    pub fn brief() -> Self {
        Self {
            kernels: vec![Arc::new(kernels::Laplacian)],
            metrics: vec![Metric::Diagonal.into()],
            blend: Blend {
                draws: 2,
                ..Self::everything().blend
            },
            budget: Budget::Brief,
            ..Self::everything()
        }
    }

    /// Returns the kernels of `--kernel auto`.
    #[doc(hidden)]
    pub fn catalogue() -> Vec<Arc<dyn Kernel>> {
        vec![
            Arc::new(kernels::Gaussian),
            Arc::new(kernels::Matern::FIVE_HALVES),
            Arc::new(kernels::Matern::THREE_HALVES),
            Arc::new(kernels::Exponential),
            Arc::new(kernels::Laplacian),
        ]
    }

    /// Whether nothing is searched.
    #[doc(hidden)]
    pub fn is_empty(&self) -> bool {
        self.features.is_none() && self.is_only_size()
    }

    /// Whether at most the number of features is searched.
    fn is_only_size(&self) -> bool {
        self.kernels.is_empty() && !self.bandwidth && !self.lambda && self.metrics.is_empty()
    }

    /// Runs the search. Calls `hear` for each trial, with the best error so far; an error from it
    /// ends the search.
    ///
    /// Errors with [`Error::Unsupported`] for maps without gradients if a metric is searched, for
    /// maps that cannot be stored, and as fits do; trials that fail numerically are skipped.
    #[doc(hidden)]
    pub fn run(
        &self,
        builder: &Arc<dyn MapBuilder>,
        data: SearchData<'_>,
        hear: &mut dyn FnMut(&Trial, f64) -> Result<()>,
    ) -> Result<Found> {
        let start = Instant::now();
        if let Some(enough) = self.features {
            size::check(enough)?;
        }
        let given = data.options.lambda().clone();
        let effort = self.budget.effort();
        // A brief search does not depend on the order of the rows.
        let sample = Sample::parted(data, effort.sample_rows, !effort.tries_all_rows)?;
        let distinct = sample.parting.repeats.distinct_rows();
        if self.budget == Budget::Brief && distinct.is_some_and(|rows| rows < LEAST_DISTINCT) {
            return Err(Error::unsupported(format!(
                "a brief search holds out a fifth of {LEAST_DISTINCT} distinct rows or more"
            )));
        }
        let mut rounds = Rounds::new(self, builder, sample, start, hear);
        let Outcome {
            plan: best,
            size,
            members,
            held_out,
            importance,
        } = rounds.run()?;
        let scaling = (best.scaling > 0).then(|| rounds.scaling(best.scaling).clone());
        let mut trials = rounds.into_trials();
        trials.sort_by(Trial::cmp_to);
        let lambda = if self.is_only_size() {
            given.settled()
        } else if best.lambda == Plan::AS_GIVEN {
            // The given settings stay; their fit chooses the penalty.
            given
        } else {
            Lambda::Fixed(best.lambda)
        };
        Ok(Found {
            builder: best.builder,
            kernel: best.kernel,
            metric: best.metric,
            lengthscale: best.lengthscale,
            lambda,
            scaling,
            members,
            held_out,
            importance,
            size,
            trials,
        })
    }
}

/// Least number of distinct rows for a brief search: copies are held out together, and a hold-out
/// set of fewer than twenty distinct rows is too small.
const LEAST_DISTINCT: usize = 100;
/// Ratio of losses from which a trial counts as clearly better: 1 % of a root mean squared error.
const CLEARLY: f64 = 0.97;

/// Input of a search.
#[expect(missing_debug_implementations, reason = "a source has none")]
pub struct SearchData<'a> {
    /// The training rows.
    pub source: &'a mut dyn ChunkSource,
    /// Their survey, with at least 2,000 sampled rows if there are as many.
    pub survey: &'a Survey,
    /// Preparation of the columns.
    pub scaling: &'a Scaling,
    /// Lengthscale without a search, which stays unless another is clearly better.
    pub lengthscale: f64,
    /// Encoding of the targets.
    pub targets: &'a Targets,
    /// Learner: intercept, and the penalty if it is not searched.
    pub options: &'a dyn FitPenalised,
    /// Seed of the map and of the hold-out set.
    pub seed: Seed,
    /// Device and memory.
    pub run: &'a Run,
}

/// Settings and errors of one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Name of the map.
    pub map: &'static str,
    /// The kernel.
    pub kernel: String,
    /// Preparation of the columns.
    pub standardize: Standardize,
    /// Metric, and number of outer products behind it.
    pub metric: Option<(Metric, usize)>,
    /// Lengthscale over the median distance of the prepared rows.
    pub multiple: f64,
    /// The lengthscale.
    pub lengthscale: f64,
    /// Best penalty of the trial.
    pub lambda: f64,
    /// Number of features, or of grids.
    pub features: usize,
    /// Number of fitted rows.
    pub rows: u64,
    /// Held-out error: share of wrong labels, or root mean squared error over the standard
    /// deviation of the target.
    pub error: f64,
    /// Held-out mean squared error over the variance of the targets; labels are -1 and 1.
    pub squared: f64,
    /// Duration in seconds.
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

/// Returns the loss that trials are compared by, `error * squared`, with the squared error to break
/// ties. Wrong labels alone are few in a hold-out set, so chance would decide; squares alone
/// penalize scores that are far on the right side. For regression it is the cube of the error.
fn loss(error: f64, squared: f64) -> (f64, f64) {
    (error * squared, squared)
}

impl Trial {
    fn loss(&self) -> (f64, f64) {
        loss(self.error, self.squared)
    }

    /// Orders trials by decreasing number of features, since the final choice is made among those
    /// with most features, then by loss.
    fn cmp_to(&self, other: &Self) -> std::cmp::Ordering {
        let (own, others) = (self.loss(), other.loss());
        (other.features.cmp(&self.features))
            .then(own.0.total_cmp(&others.0))
            .then(own.1.total_cmp(&others.1))
    }

    /// Whether the gain justifies a more complex metric: 3 % less loss, or 10 % less squared error
    /// with no more wrong labels.
    fn clearly_better_than(&self, other: &Self) -> bool {
        let same = self.error <= other.error && self.squared < 0.9 * other.squared;
        self.loss().0 < CLEARLY * other.loss().0 || same
    }

    fn better_than(&self, other: &Self) -> bool {
        self.loss() < other.loss()
    }
}

/// Returns the error for a map that cannot be searched.
fn needs_kernel() -> Error {
    Error::unsupported("this map is not made of a kernel, so there is nothing to choose of it")
}
