//! `bochner fit`: from data to a model, and its score on rows held out.

mod chosen;
mod describe;
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
mod search;
mod sources;
mod stages;
mod task;

use crate::{
    args::{DataArgs, RunArgs, fraction},
    checkpoint::CheckpointArgs,
    evaluate::score,
    interrupt::writing,
    map::{BuiltMap, MapArgs, hint},
    outputs::keep_apart,
    report::{Console, Report, Usage, counted},
};
use anyhow::Result;
use bochner::{
    Step,
    analysis::rudi_rosasco,
    data::{AtomicFile, ChunkSource, Schema, TargetUse},
    features::{Bandwidth, MapBuilder, Standardize},
    job::{DrawnMap, Job, Preparation, Rows, check_weights},
    models::{Conformal, Fit, Lambda, LinearModel},
    seed::Seed,
    solve::Targets,
};
use chosen::{Chosen, Takes};
use describe::describe;
use learner::{Ground, LearnerArgs};
use parts::PartArgs;
pub(crate) use parts::{Shard, of_sums};
use remaining::Remaining;
use search::SearchArgs;
use sources::{Source, Sources};
use std::{path::PathBuf, sync::Arc};
use task::Task;

/// Arguments of `bochner fit`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: bochner fit data/digits.csv --target label --features 2000 --test 0.5 \
     -o digits.model"
)]
pub(crate) struct Args {
    /// Rows to fit: .npy with --targets, .npz with an array y, or .csv with --target
    input: PathBuf,
    /// Where the model goes; without it, it is fitted and scored only
    #[arg(long, short, value_name = "MODEL")]
    output: Option<PathBuf>,
    /// Share of rows, chosen by the seed, that are held out and scored
    #[arg(long, value_name = "FRACTION", conflicts_with = "test_input", value_parser = fraction)]
    #[arg(allow_hyphen_values = true)]
    test: Option<f64>,
    /// Rows of another file that are scored
    #[arg(long, value_name = "FILE")]
    test_input: Option<PathBuf>,
    /// Targets of a .npy test input
    #[arg(long, value_name = "FILE.npy", requires = "test_input")]
    test_targets: Option<PathBuf>,
    /// Share of the training rows, chosen by the seed, that the fit does not see: intervals for
    /// `predict --interval` are calibrated on them
    #[arg(long, value_name = "FRACTION", value_parser = fraction)]
    #[arg(allow_hyphen_values = true)]
    calibrate: Option<f64>,
    /// Column of a .csv that says what each row counts for, which is no feature
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    /// What the targets are; `auto` takes one column of text, or of at most 32 whole numbers, for
    /// class labels
    #[arg(long, value_enum, default_value_t = Task::Auto)]
    task: Task,
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
}

impl Args {
    /// The job that the options ask for, of this map.
    fn job<'a>(&self, chosen: &'a Chosen, map: Arc<dyn MapBuilder>) -> Job<&'a dyn Fit> {
        let kernel = &self.map.kernel;
        let searches = self.search.is_wanted(&self.map);
        let job = Job::of(chosen.fit.as_ref(), map.clone());
        Job {
            preparation: Preparation {
                map,
                bandwidth: Some(kernel.bandwidth()),
                standardize: kernel.standardize().unwrap_or(Standardize::Auto),
                seed: Some(Seed(kernel.seed)),
            },
            probabilities: chosen.probabilities,
            class_weights: chosen.class_weights.clone(),
            calibrate: self.calibrate,
            search: searches.then(|| self.search.search(&self.map, chosen)),
            leaves: self.search.leaves,
            ..job
        }
    }

    /// From a map that is drawn to a model.
    fn fit(
        &self,
        job: &Job<&dyn Fit>,
        (drawn, iterates): (DrawnMap, bool),
        mut rows: Rows<'_>,
        console: &Console,
    ) -> Result<LinearModel> {
        let all = rows.survey.rows;
        let bar = match iterates {
            true => console.steps("fit", None),
            false => console.bar("fit", Some(all)),
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
pub(crate) fn run(mut args: Args) -> Result<()> {
    let console = args.run.start()?;
    args.map.usual = args.search.features();
    let landmarks = match args.learner.ground() {
        Ground::Features => None,
        Ground::AllRows => Some(0),
        Ground::Landmarks(landmarks) => Some(landmarks),
    };
    let dense = match landmarks {
        None => args.map.check_searched(&console)?.is_dense(),
        Some(landmarks) => {
            args.map.check_columns(&args.learner.name(), landmarks)?;
            true
        }
    };
    let mut chosen = args.learner.choose(dense, &console)?;
    args.search.check(&args.map)?;
    let searches = args.search.is_wanted(&args.map);
    let job = args.job(&chosen, Arc::new(args.map.spec()));
    if let Some(refused) = job.refused(args.weight.is_some(), args.is_in_parts()) {
        return Err(refused::usage(refused, &args.learner.name()).into());
    }
    args.check_parts()?;
    args.check_leaves(&chosen, dense, searches)?;
    if searches || args.search.leaves.is_some() || args.is_in_parts() || args.map.is_by_rows() {
        chosen.leave_usual();
    }
    args.data.weight = args.weight.clone();
    let rule = Some(chosen.fit.bandwidth());
    let (data, input) = (&args.data, &args.input);
    args.map
        .settle(rule, || data.open(input, TargetUse::Ignored))?;
    if args.map.is_by_rows() && (chosen.ridge.is_none() || args.is_in_parts()) {
        let problem = "--features rudi-rosasco is for --model ridge on all rows in one go; give a \
            number";
        return Err(Usage(problem.into()).into());
    }
    let read = [Some(args.input.as_path()), args.data.targets()];
    let tested = [&args.test_input, &args.test_targets].map(Option::as_deref);
    let written = [
        args.output.as_deref(),
        args.part.partial.as_deref(),
        args.run.page(),
    ];
    keep_apart(written, read.into_iter().chain(tested))?;
    let mut report = Report::default();
    let Sources {
        mut train,
        mut kept_back,
        mut test,
    } = args.sources(chosen.takes, None)?;
    check_weights(chosen.fit.as_ref(), train.is_weighted())?;
    for path in written.into_iter().flatten() {
        // A place that cannot be written is better known now than after the fit.
        let _writing = writing();
        drop(AtomicFile::create(path)?);
    }
    let run = args.run.open(&console)?;
    args.fit_search(&chosen, &train, (&run, &console));
    let mut run = args.plan_choice((&mut chosen, dense), &mut train, (run, &console))?;
    let (survey, seconds) = match landmarks {
        None => {
            let searches = searches || args.search.leaves.is_some();
            let rows = if searches { Bandwidth::MEDIAN_ROWS } else { 0 };
            args.map.survey_at_least(rows, &mut train, &console)?
        }
        Some(landmarks) => args.map.survey_columns(landmarks, &mut train, &console)?,
    };
    report.seconds("survey", seconds);
    args.data.describe_gaps(&mut report);
    let landmarks = landmarks.map(|m| args.learner.landmarks_among(m, survey.rows));
    if args.map.is_by_rows() {
        let (features, lambda) = rudi_rosasco(survey.rows)?;
        args.map.usual = Some(features);
        chosen.penalise(Lambda::Fixed(lambda));
    }
    let args = args;
    if let Some(schema) = train.schema() {
        if args.part.shard.is_some() {
            let problem = "--shard takes files of numbers: sums do not say what columns of text \
                           became; fit this table in one process, with --checkpoint";
            return Err(Usage(problem.into()).into());
        }
        // What the training rows made of the columns holds for the others.
        let others = args.sources(chosen.takes, Some(schema))?;
        (kept_back, test) = (others.kept_back, others.test);
        report.line("columns", format!("{schema}: {} in all", schema.width()));
    }
    let text = train
        .schema()
        .and_then(Schema::classes)
        .map(<[String]>::len);
    let targets = match chosen.takes {
        Takes::Labels => Targets::classes(&survey)?,
        Takes::NumbersOrLabels if args.classifies(&survey, text, &console) => {
            Targets::classes(&survey)?
        }
        Takes::Numbers if args.task == Task::Classification => {
            let problem = "--task classification is not for this --model, which takes amounts";
            return Err(Usage(problem.into()).into());
        }
        Takes::NumbersOrLabels | Takes::Numbers => Targets::real(&survey),
        Takes::Rows(_) => Targets::none(),
    };
    if let (Targets::Real { columns: 1.., .. }, Some(schema)) = (&targets, train.schema()) {
        schema.require_amounts()?;
    }
    run = args.plan_rows(&chosen, (survey.rows, targets.outputs()), &mut train, run)?;
    let (mut spec, selection) = match landmarks {
        None => args.map.chosen(train.columns(), &run, &console)?,
        Some(_) => (args.map.spec(), None),
    };
    args.search.drawn_as(&mut spec, &args.map);
    let map: Arc<dyn MapBuilder> = match landmarks {
        None => Arc::new(spec.clone()),
        Some(landmarks) => Arc::new(args.map.columns(landmarks)),
    };
    let job = args.job(&chosen, map.clone());
    let scales = job.scales(&survey)?;
    if (searches || job.leaves.is_some()) && scales.lengthscales.len() > 1 {
        return Err(Usage(search::ONE_SIGMA.into()).into());
    }
    let mut rows = Rows {
        source: train.as_mut(),
        survey: &survey,
        scales: &scales,
        targets: &targets,
        run: &run,
    };
    if job.leaves.is_some() {
        return args.fit_leaves((&job, &chosen), rows, (test, &console), report);
    }
    let found = match searches {
        false => None,
        true => Some(
            args.search
                .run(&job, &spec, rows.again(), (&console, &mut report))?,
        ),
    };
    drop(job);
    if let Some(found) = &found {
        chosen.take(found, args.search.tries(&args.map));
    } else {
        hint(&scales.scaling, &scales.lengthscales, &console);
    }
    let (drawn, seconds) = {
        let bar = console.bar("map", Some(survey.rows));
        let told = run.clone().progress(bar.follow());
        let job = args.job(&chosen, map.clone());
        let rows = Rows {
            run: &told,
            ..rows.again()
        };
        console.timed(|| job.draw(rows, found.as_ref()))?
    };
    console.detail(&format!("map: {}", drawn.map.describe()));
    let choice = landmarks.is_none().then_some(spec.map);
    let from = (&args.map.kernel, spec.kernel, &scales);
    let built = BuiltMap::of_fit(drawn, from, found.as_ref(), (selection, choice))?;
    if found.is_some() {
        run = args.plan_found((&chosen, built.drawn.map.output_dim()), &mut train, run)?;
    }
    report.seconds("map", seconds);
    args.map.describe(&built, &mut report);
    chosen.choose_if_cheap(built.drawn.map.output_dim(), targets.outputs());
    if matches!(targets, Targets::Classes(_)) && kept_back.is_some() {
        let problem = "--calibrate is for regressions; labels have no intervals";
        return Err(Usage(problem.into()).into());
    }
    let mut summed = None;
    let mut model = match args.is_in_parts() {
        false => {
            let job = args.job(&chosen, map);
            let rows = Rows {
                source: train.as_mut(),
                survey: &survey,
                scales: &scales,
                targets: &targets,
                run: &run,
            };
            args.fit(&job, (built.drawn, chosen.iterates), rows, &console)?
        }
        true => {
            let how = (&chosen, targets);
            let sum = || args.sum(built, &mut train, &survey, how, (&run, &console));
            let (summing, seconds) = console.timed(sum)?;
            report.seconds("fit", seconds);
            if let Some(path) = &args.part.partial {
                let _writing = writing();
                summing.save(path, &mut report)?;
                report.device(&run.device);
                return args.run.print(&report);
            }
            let learner = chosen.fit.of_sums();
            let learner = learner.ok_or_else(|| Usage("this learner sums no rows".into()))?;
            let mut model = summing.model(learner, &run)?;
            model.name_columns(train.as_ref());
            if let Some(times) = &mut model.times {
                times.accumulate = std::time::Duration::from_secs_f64(seconds);
            }
            summed = Some(summing);
            model
        }
    };
    if let Some(found) = &found {
        found.keep(&mut model);
        let how = (args.output.as_ref(), args.search.tries(&args.map));
        search::describe(found, &survey, how, &mut report);
    }
    describe(&model, &chosen, &mut report);
    if !matches!(chosen.takes, Takes::Rows(_)) {
        report.set("intercept", args.learner.intercept());
        if chosen.ridge.as_ref().is_some_and(|ridge| ridge.penalised) {
            report.set("penalised_intercept", true);
        }
    }
    // Who solves by conjugate gradients says where they ended.
    let found = |fact| model.learner == "ridge" && model.facts.contains_key(fact);
    let solver = match () {
        () if found("relative_residual") => "cg",
        () if found("rows_in_memory") => "dual",
        () => chosen.solver,
    };
    report.set("solver", solver);
    report.device(&run.device);
    if let Some(mut kept_back) = kept_back {
        let calibrated = console.timed(|| model.calibrate(&mut kept_back, &run));
        report.seconds("calibrate", calibrated?.1);
        let rows = model.conformal.as_ref().map_or(0, Conformal::rows);
        report.set("calibration_rows", rows);
        report.line(
            "intervals",
            format!("calibrated on {}", counted(rows as u64, "row")),
        );
    }
    if let Some(mut test) = test {
        let (scores, seconds) = score(&model, &run, &mut test, (&console, "test"))?;
        report.seconds("test", seconds);
        report.set("test_rows", scores.rows());
        scores.describe(&mut report, "held-out rows");
    }
    // Last, so that a run that fails leaves an older model as it was.
    if let Some(path) = &args.output {
        let _writing = writing();
        model.save(path)?;
        report.output("model", path);
    }
    if let Some(summed) = summed {
        summed.finish();
    }
    args.run.print(&report)
}
