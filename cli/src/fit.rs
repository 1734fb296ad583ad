//! `bochner fit`: from data to a model, and its score on rows held out.

mod chosen;
mod describe;
mod fitting;
mod folds;
mod kernel_machines;
mod lambda;
mod learner;
mod leaves;
mod lengthscales;
mod losses;
mod parts;
mod plan;
mod refused;
mod remaining;
mod rows;
mod scoring;
mod search;
mod shard;
mod sources;
mod stages;
mod task;
mod test_rows;

use crate::{
    args::{DataArgs, RunArgs, fraction, half_life, named},
    checkpoint::CheckpointArgs,
    interrupt::writing,
    job::JobArgs,
    map::{BuiltMap, MapArgs},
    report::{Console, Usage},
};
use anyhow::Result;
use bochner::{
    Step,
    data::{AtomicFile, Folds, TargetUse},
    features::{Additive, Bandwidth, Linear, MapBuilder, MapKind, Standardize},
    job::{Around, DrawnMap, Job, Preparation, Rows, TargetScale},
    models::{Fit, LinearModel},
    seed::Seed,
};
use chosen::Chosen;
use describe::describe;
use fitting::Fitting;
use folds::FoldArgs;
use learner::LearnerArgs;
pub(crate) use learner::meant;
use parts::PartArgs;
pub(crate) use parts::of_sums;
use remaining::Remaining;
use search::SearchArgs;
pub(crate) use shard::Shard;
use sources::Source;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use task::Task;
use test_rows::TestRows;

/// Minimum `--memory` for the search of a fit without options, which holds 8,400 rows and their
/// features.
const SEARCH_BYTES: u64 = 512 << 20;

/// Arguments of `bochner fit`.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Example: bochner fit data/digits.csv --target label --features 2000 --test 0.5 \
     -o digits.model"
)]
pub(crate) struct Args {
    /// Rows to fit: .csv, .parquet, .arrow with --target, .libsvm, .npy with --targets, .npz with y
    input: PathBuf,
    /// Where the model goes; without it, it is fitted and scored only
    #[arg(long, short, value_name = "MODEL", value_parser = named())]
    output: Option<PathBuf>,
    /// Share of rows that are held out and scored
    ///
    /// They are chosen by the seed, or with `last:FRACTION` they are the last in their order.
    #[arg(long, value_name = "FRACTION", conflicts_with = "test_input")]
    #[arg(allow_hyphen_values = true)]
    test: Option<TestRows>,
    /// Rows of another file that are scored
    #[arg(long, value_name = "FILE")]
    test_input: Option<PathBuf>,
    /// Targets of a .npy test input
    #[arg(long, value_name = "FILE.npy", requires = "test_input")]
    test_targets: Option<PathBuf>,
    /// Share of the training rows that intervals are calibrated on
    ///
    /// The rows are chosen by the seed, and the fit does not see them; `predict --interval` gives
    /// the intervals.
    #[arg(long, value_name = "FRACTION", value_parser = fraction)]
    #[arg(allow_hyphen_values = true)]
    calibrate: Option<f64>,
    /// Column of a .csv that says what each row counts for
    ///
    /// It is no feature.
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    /// Rows after which a row counts for half of what the newest does, the last
    ///
    /// Row i of the n that are fitted, in the order of the input, counts for
    /// 2^(-(n - 1 - i) / ROWS) times its --weight. Rows held out count alike.
    #[arg(long, value_name = "ROWS", value_parser = half_life, allow_hyphen_values = true)]
    half_life: Option<f64>,
    /// What the targets are
    ///
    /// `auto` takes one column of text, or of at most 32 whole numbers, for class labels.
    #[arg(long, value_enum, default_value_t = Task::Auto)]
    task: Task,
    /// On what scale amounts are fitted: `as-is`, `log`, `rank`, or `auto`
    ///
    /// `log` fits the logarithms, of amounts above 0; `rank` fits the ranks, for long tails; `auto`
    /// does as predicts rows left out better where the bandwidth is chosen so.
    #[arg(long, value_name = "SCALE", default_value_t = TargetScale::Auto)]
    target_scale: TargetScale,
    /// Whether the columns themselves stand beside the features: `yes`, `no`, or `auto`
    ///
    /// They serve what is linear in them; `auto` does as predicts rows left out better where the
    /// bandwidth is chosen so.
    #[arg(long, value_name = "WHETHER", default_value_t = Linear::Auto)]
    linear: Linear,
    /// Fit a sum of functions of single columns, each of a small map (a generalised additive model)
    ///
    /// `--additive=pairs` adds functions of pairs of columns, of those that tell more together.
    /// --features are shared between the parts; `--report` draws each.
    #[arg(long, value_name = "PARTS", num_args = 0..=1, require_equals = true)]
    #[arg(default_value_t = Additive::No, default_missing_value = "columns")]
    additive: Additive,
    #[command(flatten)]
    folds: FoldArgs,
    #[command(flatten)]
    job: JobArgs,
    #[command(flatten)]
    learner: LearnerArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    map: MapArgs,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    part: PartArgs,
    #[command(flatten)]
    steps: CheckpointArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// The fold whose rows are held out, in the place of `test`.
    #[arg(skip)]
    held_out: Option<(Folds, usize)>,
    /// Which rows are in one fold, and are left out together.
    #[arg(skip)]
    parted: Option<Folds>,
}

impl Args {
    /// The job that the options ask for, of this map.
    fn job<'a>(&self, chosen: &'a Chosen, map: Arc<dyn MapBuilder>) -> Job<&'a dyn Fit> {
        let kernel = &self.map.kernel;
        let searches = self.search.is_wanted(&self.map);
        let job = Job::new(chosen.fit.as_ref(), map.clone());
        Job {
            preparation: Preparation {
                map,
                bandwidth: Some(kernel.bandwidth()),
                standardize: kernel.standardize().unwrap_or(Standardize::Auto),
                seed: Some(Seed(kernel.seed)),
            },
            probabilities: chosen.probabilities,
            class_weights: chosen.class_weights.clone(),
            half_life: self.half_life,
            calibrate: self.calibrate,
            search: searches.then(|| self.search.search(&self.map, chosen)),
            leaves: self.search.leaves,
            target_scale: self.target_scale,
            linear: self.linear,
            additive: self.additive,
            ..job
        }
    }

    /// Whether no option names a learner, a map, a kernel, a bandwidth or a penalty, or asks for
    /// what a search cannot do.
    fn is_open(&self) -> bool {
        let map = &self.map;
        self.learner.is_open()
            && map.kernel.is_open()
            && !map.is_map_given()
            && !map.is_by_rows()
            && !map.is_by_error()
            && self.additive == Additive::No
            && !self.is_in_parts()
            && self
                .run
                .given_memory()
                .is_none_or(|bytes| bytes >= SEARCH_BYTES)
    }

    /// Errors on options that do not go together, or not with the learner.
    fn check(&self, chosen: &Chosen, dense: bool, searches: bool) -> Result<()> {
        self.search.check(&self.map)?;
        self.learner
            .check_zero(self.map.spec().map.has(MapKind::Identity))?;
        let job = self.job(chosen, Arc::new(self.map.spec()));
        let around = Around {
            weighted: self.weight.is_some(),
            parts: self.is_in_parts(),
            folds: self.folds.is_asked() || self.folds.part_rows(),
        };
        if let Some(refused) = job.refused(around) {
            return Err(refused::usage(refused, &self.learner.name()).into());
        }
        self.check_parts()?;
        self.check_leaves(chosen, dense, searches)?;
        if self.map.is_by_rows() && (chosen.ridge.is_none() || self.is_in_parts()) {
            let problem = "--features rudi-rosasco is for --model ridge on all rows in one go; \
                give a number";
            return Err(Usage(problem.into()).into());
        }
        Ok(())
    }

    /// What hangs on other options: the column of weights, the rule for the bandwidth.
    fn settle(&mut self, chosen: &Chosen) -> Result<()> {
        self.data.weight = self.weight.clone();
        self.data.group = self.folds.group.clone();
        // Sums in parts do not say what columns became.
        self.data.all_columns |= self.part.shard.is_some();
        self.data.codes &= self.part.shard.is_none();
        let (data, input) = (&self.data, &self.input);
        let rule = Some(chosen.fit.usual().bandwidth);
        (self.map).settle(rule, || data.open(input, TargetUse::Ignored))
    }

    /// How many rows are kept to choose preparation and bandwidth by; where none are, the bandwidth
    /// is that of a rule.
    fn decide_by_rows(&mut self, chosen: &Chosen, width: (usize, usize)) {
        let job = self.job(chosen, Arc::new(self.map.spec()));
        let looks = !matches!(chosen.takes, chosen::Takes::Rows(_));
        let rows = if looks { job.deciding_rows(width) } else { 0 };
        let kernel = &mut self.map.kernel;
        kernel.deciding = rows;
        if rows == 0 && kernel.bandwidth() == Bandwidth::Chosen {
            kernel.settle_for(Bandwidth::Scale, None);
        }
    }

    /// Files that are written.
    fn outputs(&self) -> [Option<&Path>; 3] {
        [
            self.output.as_deref(),
            self.part.partial.as_deref(),
            self.run.page(),
        ]
    }

    /// Errors where a file cannot be written, which is better known now than after the fit.
    fn claim_outputs(&self) -> Result<()> {
        for path in self.outputs().into_iter().flatten() {
            let _writing = writing();
            drop(AtomicFile::create(path)?);
        }
        Ok(())
    }

    /// From a map that is drawn to a model.
    fn fit(
        &self,
        job: &Job<&dyn Fit>,
        drawn: DrawnMap,
        iterates: bool,
        mut rows: Rows<'_>,
        console: &Console,
    ) -> Result<LinearModel> {
        let all = rows.survey.rows;
        let bar = if iterates {
            console.steps("fit", None)
        } else {
            console.bar("fit", Some(all))
        };
        let remaining = self.learner.residual().map(Remaining::until);
        let run = rows.run.clone().progress(move |step| match step {
            Step::Rows(rows) if iterates => bar.say(format!("{rows} rows of {all}")),
            Step::Rows(rows) => bar.set_position(rows),
            Step::Iteration(i, gained) if !iterates => {
                bar.say(format!("step {i} gained {gained:.1e}"));
            }
            Step::Iteration(i, residual) => {
                let left = remaining
                    .as_ref()
                    .and_then(|remaining| remaining.after(residual));
                let left = left.unwrap_or_default();
                bar.say(format!("iteration {i}, residual {residual:.1e}{left}"));
            }
            _ => {}
        });
        let standardized = rows.scales.scaling.is_standardized();
        let data = job.fit_data(
            Rows {
                run: &run,
                ..rows.again()
            },
            drawn.kernel,
        );
        let fitted = job.learn(drawn.map, data);
        fitted.map_err(|error| BuiltMap::advise(standardized, error).into())
    }
}

/// Surveys, fits, scores, saves.
pub(crate) fn run(args: Args) -> Result<()> {
    let asked = args.clone();
    let mut fitting = Fitting::begin(args)?;
    let mut at = fitting.prepare()?;
    let folds = fitting.folds(&at)?;
    let mut model = fitting.model(&mut at)?;
    fitting.say_device();
    if let Some(model) = &mut model {
        fitting.score(model)?;
    }
    if let Some(folds) = folds {
        fitting.cross_validate(&asked, &at, &folds)?;
    }
    fitting.finish(model.as_ref())
}
