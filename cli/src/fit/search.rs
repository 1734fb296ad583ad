//! `--auto`, `--metric`, `--features auto`: choices that rows held out make before the fit.

mod budget;
mod describe;

pub(super) use describe::{describe, importance, shorten};

use super::chosen::Chosen;
use crate::{
    args::{at_least_one, fraction, positive},
    map::MapArgs,
    report::{Console, Report, Usage, six_digits},
};
use anyhow::Result;
use bochner::{
    Error,
    features::MapSpec,
    job::{Job, Rows, Scales},
    metric::MetricOptions,
    models::{Blend, Budget, Enough, Fit, FitPenalised, Found, LinearModel, Metric, Search, Trial},
};
use clap::Args;
use std::{path::PathBuf, str::FromStr, sync::Arc};

/// Default number of features of a full search, of a brief one, whose final fit has to cost at most
/// about twice that of a plain fit to 1,000 features, and of each leaf.
const FULL_FEATURES: usize = 2000;
const BRIEF_FEATURES: usize = 1500;
const LEAF_FEATURES: usize = 3000;
/// The accuracy that `--features auto` may lose, unless something else is given.
const ACCURACY_LOSS: f64 = 0.01;

/// What may stand beside the features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Beside {
    /// Random binning.
    Binning,
    /// Landmarks in the place of frequencies.
    Nystrom,
    /// Either or both.
    #[value(name = "binning+nystrom")]
    Both,
    /// Nothing.
    None,
}

/// What is searched for.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Search options")]
pub(super) struct SearchArgs {
    /// Search kernel, bandwidth, penalty, metric and preparation at length (ridge only)
    ///
    /// Candidates are compared on held-out rows, and the best is refitted. Options that are given
    /// are kept. Without any of --model, --map, --kernel, --gamma, --sigma, --lambda and the search
    /// options, `fit` searches briefly, as with --auto --budget brief.
    #[arg(long)]
    auto: bool,
    /// Fit once, without a search: bandwidth, preparation and penalty by leave-one-out errors
    #[arg(long, conflicts_with = "auto")]
    quick: bool,
    /// With --features auto: as many features as leave the kernel matrix of 1,000 rows off by this
    /// at most, relative and in the Frobenius norm
    #[arg(long, value_name = "ERROR", value_parser = fraction, allow_hyphen_values = true)]
    #[arg(conflicts_with = "accuracy_loss")]
    kernel_error: Option<f64>,
    /// With --features auto: as many features as it takes until twice as many lower the error on
    /// rows held out by less than this share [default: 0.01]
    #[arg(long, value_name = "SHARE", value_parser = fraction, allow_hyphen_values = true)]
    accuracy_loss: Option<f64>,
    /// Limit the search: a number of trials, a time such as 60s or 5m, or `brief`
    ///
    /// A time may give another model in the next run. `brief` takes about as long as three fits.
    #[arg(long, value_name = "TRIALS|TIME|brief", value_parser = budget::parse)]
    budget: Option<Budget>,
    /// Average so many fits, of other draws of the features that were found, or fewer that have
    /// their error [default: 1, with --auto 5]
    #[arg(long, value_name = "K", value_parser = at_least_one, allow_hyphen_values = true)]
    bag: Option<usize>,
    /// What may stand beside the features that were found, where rows held out like it: `binning`,
    /// which is right where targets jump, `nystrom`, `binning+nystrom` or `none` [default: binning
    /// with --auto, unless --map, --kernel or --lambda is given]
    ///
    /// `nystrom` has as many landmarks of the kernel that was found; a model with them takes many
    /// times as long to predict, and the search half as long again.
    #[arg(long, value_name = "MAP", value_enum)]
    beside: Option<Beside>,
    /// Learn by what rows are compared: `diagonal`, `full`, `none`, or `auto`
    ///
    /// `diagonal` is a lengthscale for each column, `full` are directions across them, `auto` is
    /// the better of these and `none`. Bandwidth and penalty are found with it unless given.
    #[arg(long, value_name = "METRIC")]
    metric: Option<MetricOption>,
    /// Compare rows by the outer product of the gradients to this power, 1 or 0.5 [default: 1]
    #[arg(long, value_name = "P", value_parser = positive, allow_hyphen_values = true)]
    metric_power: Option<f64>,
    /// Fits and outer products in turn, at most [default: 5]
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_hyphen_values = true)]
    metric_iterations: Option<usize>,
    /// Compare rows by the metric that this model has learnt, of the same columns
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["auto", "metric"])]
    metric_from: Option<PathBuf>,
    /// Part the rows by a tree into leaves of at most so many, and fit a model in each
    ///
    /// With --auto lengthscale, penalty and metric are chosen inside each leaf. Rows that do not
    /// fit into --memory lie in temporary files meanwhile.
    #[arg(long, value_name = "ROWS", value_parser = at_least_one, allow_hyphen_values = true)]
    pub(super) leaves: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MetricOption {
    None,
    Auto,
    One(Metric),
}

impl FromStr for MetricOption {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "none" => Ok(Self::None),
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::One).map_err(|_| {
                Error::parameter(format!("{text:?} is none of none, diagonal, full and auto"))
            }),
        }
    }
}

impl SearchArgs {
    /// Whether something is to be chosen here, or was.
    pub(super) fn is_wanted(&self, map: &MapArgs) -> bool {
        self.tries(map) || map.is_by_error() || self.metric_from.is_some()
    }

    /// Whether more than the number of features is chosen.
    pub(super) fn tries(&self, map: &MapArgs) -> bool {
        let metric = self
            .metric
            .is_some_and(|metric| metric != MetricOption::None);
        self.auto || metric || map.kernel.has_auto()
    }

    /// What the number of features is chosen by.
    fn enough(&self, map: &MapArgs) -> Option<Enough> {
        let by_loss = || Enough::AccuracyLoss(self.accuracy_loss.unwrap_or(ACCURACY_LOSS));
        let enough = self.kernel_error.map(Enough::KernelError);
        map.is_by_error().then(|| enough.unwrap_or_else(by_loss))
    }

    /// D where none is given.
    pub(super) fn features(&self) -> Option<usize> {
        let usual = match self.leaves {
            Some(_) => LEAF_FEATURES,
            None if self.is_brief() => BRIEF_FEATURES,
            None => FULL_FEATURES,
        };
        self.auto.then_some(usual)
    }

    /// Whether there is a budget, or a metric of another model.
    pub(super) fn ends_or_is_given(&self) -> bool {
        self.budget.is_some() || self.metric_from.is_some()
    }

    /// The map that is searched for, `auto` resolved: with --auto of orthogonal frequencies unless
    /// it is said how they are drawn.
    pub(super) fn drawn_as(&self, spec: &mut MapSpec, map: &MapArgs) {
        if self.auto && !map.is_sampling_given() {
            spec.sampling =
                bochner::sampling::Sampling::Orthogonal.for_kernel(spec.kernel.as_ref());
        }
    }

    /// Errors on options that have no effect.
    pub(super) fn check(&self, map: &MapArgs) -> Result<()> {
        let learns =
            self.auto || matches!(self.metric, Some(MetricOption::One(_) | MetricOption::Auto));
        for (option, given) in [
            ("--metric-power", self.metric_power.is_some()),
            ("--metric-iterations", self.metric_iterations.is_some()),
        ] {
            if given && !learns {
                return Err(Usage(format!("{option} is for --metric or --auto; give one")).into());
            }
        }
        for (option, given) in [
            ("--kernel-error", self.kernel_error.is_some()),
            ("--accuracy-loss", self.accuracy_loss.is_some()),
        ] {
            if given && !map.is_by_error() {
                let problem = format!("{option} is for --features auto; give both");
                return Err(Usage(problem).into());
            }
        }
        if map.is_by_error() && self.leaves.is_some() {
            let problem = "--features auto is for one model of all rows, not for --leaves; give a \
                number of features";
            return Err(Usage(problem.into()).into());
        }
        if map.is_by_error() && self.metric_from.is_some() {
            let problem = "--features auto searches, which --metric-from leaves out; give a number \
                of features";
            return Err(Usage(problem.into()).into());
        }
        let wanted = self.is_wanted(map);
        let searches = self.tries(map) && self.leaves.is_none() && !map.is_by_error();
        for (option, given) in [("--bag", self.bag), ("--beside", self.beside.map(|_| 1))] {
            if given.is_some() && !searches {
                let problem = format!(
                    "{option} is for what a search finds, in one model of a given size; give \
                     --auto, --metric, --kernel auto or --sigma auto"
                );
                return Err(Usage(problem).into());
            }
        }
        if self.budget.is_some() && (!wanted || self.metric_from.is_some()) {
            let problem = "--budget ends a search; give --auto, --metric, --kernel auto, --sigma \
                auto or --features auto";
            return Err(Usage(problem.into()).into());
        }
        Ok(())
    }

    /// What is averaged in the end: of --auto five draws, with binning beside them where the map
    /// and its kernel are left open.
    fn blend(&self, map: &MapArgs, chosen: &Chosen) -> Blend {
        let given = map.is_map_given() || map.kernel.is_given() || chosen.lambda_given;
        Blend {
            draws: match self.bag {
                Some(draws) => draws,
                None if self.auto => self.defaults().blend.draws,
                None => 1,
            },
            binning: match self.beside {
                Some(beside) => matches!(beside, Beside::Binning | Beside::Both),
                None => self.auto && !given,
            },
            nystrom: matches!(self.beside, Some(Beside::Nystrom | Beside::Both)),
        }
    }

    /// What rows held out choose.
    pub(super) fn search(&self, map: &MapArgs, chosen: &Chosen) -> Search {
        let kernel = &map.kernel;
        let learns =
            self.auto || matches!(self.metric, Some(MetricOption::One(_) | MetricOption::Auto));
        let options = |kind: Metric| MetricOptions {
            power: self.metric_power.unwrap_or(1.0),
            iterations: self.metric_iterations.unwrap_or(5),
            ..kind.into()
        };
        let defaults = self.defaults();
        let kinds: Vec<Metric> = match self.metric {
            Some(MetricOption::None) => Vec::new(),
            Some(MetricOption::One(one)) => vec![one],
            Some(MetricOption::Auto) => vec![Metric::Diagonal, Metric::Full],
            None if self.auto => defaults
                .metrics
                .iter()
                .map(|options| options.kind)
                .collect(),
            None => Vec::new(),
        };
        Search {
            kernels: if kernel.is_auto() || (self.auto && !kernel.is_given()) {
                defaults.kernels
            } else {
                Vec::new()
            },
            bandwidth: kernel.is_sigma_auto() || (learns && !kernel.is_bandwidth_given()),
            lambda: !chosen.lambda_given && self.tries(map),
            metrics: kinds.into_iter().map(options).collect(),
            metric_required: matches!(self.metric, Some(MetricOption::One(_))),
            preparation: self.auto
                && !kernel.is_standardize_given()
                && !kernel.is_bandwidth_given(),
            blend: self.blend(map, chosen),
            features: self.enough(map),
            budget: self.budget.unwrap_or_default(),
        }
    }

    /// Searches, and says what is tried.
    pub(super) fn run(
        &self,
        job: &Job<&dyn Fit>,
        spec: &MapSpec,
        mut rows: Rows<'_>,
        console: &Console,
        report: &mut Report,
    ) -> Result<Found> {
        let (Some(options), Some(search)) = (job.learner.penalised(), &job.search) else {
            return Err(Usage("--auto is for --model ridge".into()).into());
        };
        if let Some(path) = &self.metric_from {
            return given(path, spec, rows.scales, options);
        }
        let bar = console.steps("search", None);
        let mut tried = 0;
        let mut hear = |trial: &Trial, best: f64| {
            tried += 1;
            let best = six_digits(best);
            bar.say(format!("trial {tried}: {trial}; best {best}"));
            Ok(())
        };
        let found = console.timed(|| job.choose(search, rows.again(), &mut hear));
        drop(bar);
        let (chosen, seconds) = found?;
        report.seconds("search", seconds);
        Ok(chosen.found)
    }
}

/// Why columns that have lengthscales of their own are not searched.
pub(super) const ONE_SIGMA: &str =
    "one --sigma for each column leaves no metric to learn; give one for all";

/// A map with the metric of a model.
fn given(
    path: &std::path::Path,
    spec: &MapSpec,
    scales: &Scales,
    options: &dyn FitPenalised,
) -> Result<Found> {
    let model = LinearModel::load(path)?;
    let Some(metric) = model.metric else {
        let problem = "has learnt no metric; fit it with --metric or --auto";
        return Err(Error::data(path, problem).into());
    };
    let &[lengthscale] = scales.lengthscales.as_slice() else {
        return Err(Usage(ONE_SIGMA.into()).into());
    };
    Ok(Found {
        kernel: spec.kernel.clone(),
        builder: Arc::new(spec.clone()),
        metric: Some(metric),
        lengthscale,
        lambda: options.lambda().clone(),
        scaling: None,
        members: Vec::new(),
        held_out: None,
        importance: None,
        size: None,
        trials: Vec::new(),
    })
}
