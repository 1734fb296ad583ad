//! Choices that validation makes: kernel, bandwidth, penalty and metric of ridge regression.

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

/// What is chosen by rows held out; everything else stays as the learner has it.
///
/// A fifth of the rows is held out inside the training rows: of regressions the error is the root
/// mean squared one over the deviation of the target, of classifications the share of wrong labels.
/// Trials are compared by the error times the squared error, because wrong labels alone are few.
///
/// 1. Kernels race over multiples of the median distance with 500 features, 5,000 rows and
///    penalties 1e-8 to 1e-2 from the same sums. Frequencies are the same in all trials. Kernels
///    of twice the least loss are out.
/// 2. The best of each norm (Euclidean, or of columns one by one) goes on with up to 1,000 features
///    and 20,000 rows, to its bandwidth and its metric: the outer product of its gradients, the
///    median distance anew, as long as that gains. Two other kernels of its norm are tried with
///    that metric.
/// 3. With the same features on all rows the best moves to bandwidths to either side, and to the
///    metric of these rows, in turn as long as that gains. Beyond 50,000 rows the sample says less:
///    the best of both norms go on if they are close, the metric is learnt anew as long as that
///    gains, and two other kernels are tried in the end. Where [`Self::preparation`] is asked for,
///    columns go along curves that the best fit of the sample has learnt, up to four in turn, if
///    that is clearly better. Where few bins of a sample have two thirds of the loss, this step is
///    left out.
/// 4. What the fit would be without a search is tried with as many features, and stays unless the
///    best lowers the loss by more than chance does: by 1 over the root of the number of rows held
///    out. What was chosen is tried with all features on all rows, with penalties between, and
///    with the curves or the metric of that fit, as long as these gain.
/// 5. As many features as [`Self::features`] asks for are found last.
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
    /// Whether columns may be prepared without far values, by quartiles or ranks, or along curves
    /// of which equal steps change predictions alike ([`Standardize::Learned`]), where that is
    /// better.
    pub preparation: bool,
    /// What is averaged in the end.
    pub blend: Blend,
    /// What the number of features is chosen by, after everything else; all are tried within
    /// `8 D^2` bytes of the memory of the run.
    pub features: Option<Enough>,
    /// When it ends.
    pub budget: Budget,
}

/// What a search averages in the end, in the place of one fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blend {
    /// Draws of the features that were found, with a fit of each, or fewer where these have the
    /// squared error of all but for a quarter of a per cent; 1 for one fit.
    pub draws: usize,
    /// Whether a fit of [`Binning`](crate::features::Binning) stands beside them where rows held
    /// out are predicted better so: it is right where targets jump.
    pub binning: bool,
    /// Whether a fit of as many [`Nystrom`](crate::features::Nystrom) features of the kernel that
    /// was found stands beside them, likewise: they follow the rows, and each row that is predicted
    /// is compared with every landmark.
    pub nystrom: bool,
}

impl Default for Blend {
    /// One fit.
    fn default() -> Self {
        Self {
            draws: 1,
            binning: false,
            nystrom: false,
        }
    }
}

/// When a search ends: the best until then is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Budget {
    /// When there is nothing left to try.
    #[default]
    All,
    /// After a short list of trials on at most 8,400 rows with few features: about the work of two
    /// to three fits. The same rows give the same result.
    Brief,
    /// After so many trials, 1 at least.
    Trials(usize),
    /// Before the first trial that would end after this time, by what those before took, with the
    /// fit to all rows, for which half of the time is kept at most. The result may change from run
    /// to run.
    Time(Duration),
}

impl Search {
    /// Everything: the kernels Gaussian, Matern 5/2 and 3/2, exponential and Laplacian, the
    /// bandwidth, the penalty, both metrics, the preparation of the columns, and in the end the
    /// mean of five draws with binning beside them.
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

    /// As [`Self::everything`], in about the time of three fits: the map's own kernel and the
    /// Laplacian one, one metric, no preparation but curves, and two draws in the mean.
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

    /// The kernels that `--kernel auto` races.
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

    /// Whether nothing is to be chosen.
    #[doc(hidden)]
    pub fn is_empty(&self) -> bool {
        self.features.is_none() && self.is_only_size()
    }

    /// Whether nothing is to be chosen but the number of features.
    fn is_only_size(&self) -> bool {
        self.kernels.is_empty() && !self.bandwidth && !self.lambda && self.metrics.is_empty()
    }

    /// Tries and chooses. `hear` hears of every trial, with the best error so far; an error that it
    /// gives back ends the search.
    ///
    /// Errors with [`Error::Unsupported`] for maps that have no gradient where a metric is wanted,
    /// for those that cannot be stored, and as fits do; a trial that fails by itself is left out.
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
        // What no option asked for must not hang on the order of rows.
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
            // What is given has won, and its fit chooses.
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

/// Distinct rows below which a brief search is none: copies are held out together, and twenty rows
/// tell too little.
const LEAST_DISTINCT: usize = 100;
/// The loss of a trial that is clearly better, over the other's: one per cent of an amount's error.
const CLEARLY: f64 = 0.97;

/// What a search looks at.
#[expect(missing_debug_implementations, reason = "a source has none")]
pub struct SearchData<'a> {
    /// The training rows.
    pub source: &'a mut dyn ChunkSource,
    /// A survey of them, with 2,000 sampled rows at least if there are so many.
    pub survey: &'a Survey,
    /// How columns are prepared.
    pub scaling: &'a Scaling,
    /// The lengthscale: where it is to be chosen, one trial of it stays unless another is clearly
    /// better.
    pub lengthscale: f64,
    /// What the targets mean.
    pub targets: &'a Targets,
    /// The learner: intercept, and the penalty where it is not chosen.
    pub options: &'a dyn FitPenalised,
    /// The seed of the map, and of the rows held out.
    pub seed: Seed,
    /// Where.
    pub run: &'a Run,
}

/// One trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The map, by its name.
    pub map: &'static str,
    /// The kernel.
    pub kernel: String,
    /// How columns were prepared.
    pub standardize: Standardize,
    /// The metric, and after how many outer products.
    pub metric: Option<(Metric, usize)>,
    /// The lengthscale over the median distance of the rows as the kernel sees them.
    pub multiple: f64,
    /// The lengthscale.
    pub lengthscale: f64,
    /// The best penalty of those that were tried.
    pub lambda: f64,
    /// D, or the number of grids.
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

/// What trials are compared by: the error times the squared error. Wrong labels alone are few on
/// rows held out, so that chance decides between trials; squares alone punish what is far on the
/// right side. Of amounts it is the cube of the error. Squares decide between equals.
fn loss(error: f64, squared: f64) -> (f64, f64) {
    (error * squared, squared)
}

impl Trial {
    fn loss(&self) -> (f64, f64) {
        loss(self.error, self.squared)
    }

    /// The order of trials: most features first, for they are another league, in which the last
    /// choice is made; then the least loss.
    fn cmp_to(&self, other: &Self) -> std::cmp::Ordering {
        let (own, others) = (self.loss(), other.loss());
        (other.features.cmp(&self.features))
            .then(own.0.total_cmp(&others.0))
            .then(own.1.total_cmp(&others.1))
    }

    /// Whether it is worth a metric that is less simple: a hundredth less of error and squares
    /// together, or of two that have the same wrong labels a tenth less of the squares.
    fn clearly_better_than(&self, other: &Self) -> bool {
        let same = self.error <= other.error && self.squared < 0.9 * other.squared;
        self.loss().0 < CLEARLY * other.loss().0 || same
    }

    fn better_than(&self, other: &Self) -> bool {
        self.loss() < other.loss()
    }
}

/// The error of a map that cannot be searched.
fn needs_kernel() -> Error {
    Error::unsupported("this map is not made of a kernel, so there is nothing to choose of it")
}
