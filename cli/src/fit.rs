//! `bochner fit`: from data to a model, and its score on rows held out.

mod chosen;
mod kernel_machines;
mod lambda;
mod learner;
mod lengthscales;
mod losses;
mod parts;
mod remaining;
mod rows;
mod search;
mod stages;

use crate::{
    args::{DataArgs, RunArgs, fraction},
    checkpoint::CheckpointArgs,
    evaluate::score,
    interrupt::writing,
    map::{BuiltMap, KernelArgs, MapArgs},
    outputs::keep_apart,
    report::{Console, Report, Usage, counted, six_digits},
};
use anyhow::Result;
use bochner::{
    Error, Run, Step,
    analysis::rudi_rosasco,
    data::{AtomicFile, ChunkSource, ColumnChoice, Part, Schema, Split, Survey, TargetUse},
    features::Standardize,
    models::{Conformal, Fit, FitData, LinearModel, WithProbabilities},
    seed::Seed,
    solve::Targets,
};
use chosen::{Chosen, Takes};
use clap::ValueEnum;
use learner::{Ground, LearnerArgs};
use parts::PartArgs;
pub(crate) use parts::{Shard, of_sums};
use remaining::Remaining;
use search::SearchArgs;
use std::path::PathBuf;

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Task {
    Auto,
    Regression,
    Classification,
}

/// A column of at most so many whole numbers is taken for labels.
const MOST_CLASSES: usize = 32;

type Source = Box<dyn ChunkSource>;

/// Rows to fit, rows that intervals are calibrated on, rows that are scored.
struct Sources {
    train: Source,
    kept_back: Option<Source>,
    test: Option<Source>,
}

impl Args {
    /// Where rows come from; what their columns are made of, if that is known.
    fn sources(&self, takes: Takes, known: Option<&Schema>) -> Result<Sources> {
        let (train, test) = self.train_and_test(takes, known)?;
        let Some(fraction) = self.calibrate else {
            let kept_back = None;
            return Ok(Sources {
                train,
                kept_back,
                test,
            });
        };
        // Other draws than those of --test, whose rows are gone already.
        let seed = self.map.kernel.seed.wrapping_add(1);
        let (again, _) = self.train_and_test(takes, known)?;
        Ok(Sources {
            train: Box::new(Split::new(train, Part::Train, fraction, seed)?),
            kept_back: Some(Box::new(Split::new(again, Part::Test, fraction, seed)?)),
            test,
        })
    }

    /// Training rows, and test rows where asked for.
    fn train_and_test(
        &self,
        takes: Takes,
        known: Option<&Schema>,
    ) -> Result<(Source, Option<Source>)> {
        let known = || known.map(|schema| ColumnChoice::Known(Box::new(schema.clone())));
        if let Takes::Rows(found) = takes {
            if self.test.is_some() || self.test_input.is_some() || self.calibrate.is_some() {
                let problem = format!(
                    "--test, --test-input and --calibrate compare predictions with targets, and \
                     {found} have none; leave them out"
                );
                return Err(Usage(problem).into());
            }
            return Ok((self.data.open(&self.input, TargetUse::Ignored)?, None));
        }
        let how = || (TargetUse::Required, known());
        let open = || (self.data).open_beside(&self.input, self.data.targets(), how(), None);
        if let Some(fraction) = self.test {
            let part = |part| {
                Split::new(open()?, part, fraction, self.map.kernel.seed)
                    .map_err(anyhow::Error::new)
            };
            return Ok((
                Box::new(part(Part::Train)?),
                Some(Box::new(part(Part::Test)?)),
            ));
        }
        let train = open()?;
        let Some(path) = &self.test_input else {
            return Ok((train, None));
        };
        let columns = train.column_names().map(ColumnChoice::Matching);
        let columns = known().or(columns);
        let test = self.data.open_beside(
            path,
            self.test_targets.as_deref(),
            (TargetUse::Required, columns),
            Some(train.columns()),
        )?;
        for (what, test, train) in [
            ("feature", test.columns(), train.columns()),
            ("target", test.targets(), train.targets()),
        ] {
            if test != train {
                let test = counted(test as u64, &format!("{what} column"));
                let problem = format!(
                    "has {test}, but {} has {train}; give both the same columns",
                    self.input.display()
                );
                return Err(Error::data(path, problem).into());
            }
        }
        Ok((train, Some(test)))
    }

    /// Whether to classify; says so if nobody asked for it. A target of text has so many kinds.
    fn classifies(&self, survey: &Survey, text: Option<usize>, console: &Console) -> bool {
        let few = match survey.targets.as_slice() {
            [only] if only.whole => only
                .distinct
                .as_ref()
                .map(Vec::len)
                .filter(|&n| n <= MOST_CLASSES),
            _ => None,
        };
        match (self.task, few) {
            (Task::Regression, _) => false,
            (Task::Classification, _) => true,
            (Task::Auto, _) if text.is_some() => {
                let classes = text.unwrap_or(0);
                console.note(&format!(
                    "classification: the target is text of {classes} kinds"
                ));
                true
            }
            (Task::Auto, Some(classes)) => {
                console.note(&format!(
                    "classification: the target has {classes} values, all whole numbers (--task \
                     regression if they are amounts)"
                ));
                true
            }
            (Task::Auto, None) => {
                console.note(
                    "regression: the targets are not a few whole numbers (--task \
                     classification if they are labels)",
                );
                false
            }
        }
    }
}

impl Args {
    /// From a map that is drawn to a model.
    fn fit(
        &self,
        built: BuiltMap,
        train: &mut Source,
        survey: &Survey,
        (chosen, targets): (&Chosen, Targets),
        (run, console): (&Run, &Console),
    ) -> Result<LinearModel> {
        let iterates = chosen.iterates;
        let bar = match iterates {
            true => console.steps("fit", None),
            false => console.bar("fit", Some(survey.rows)),
        };
        let all = survey.rows;
        let remaining = self.learner.residual().map(Remaining::until);
        let run = run.clone().progress(move |step| match step {
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
        let data = FitData {
            source: &mut *train,
            survey,
            targets,
            kernel: Some(built.scaled_kernel()),
            start: None,
            seed: Seed(self.map.kernel.seed),
            run: &run,
        };
        let fit = chosen.fit.as_ref();
        let standardized = built.is_standardized();
        let fitted = match chosen.probabilities {
            true => WithProbabilities(fit).fit(built.map, data),
            false => fit.fit(built.map, data),
        };
        let mut model = fitted.map_err(|error| BuiltMap::advise(standardized, error))?;
        model.name_columns(train);
        Ok(model)
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
    args.search.check(&args.map, &chosen)?;
    let searches = args.search.is_wanted(&args.map);
    args.check_parts(&chosen, searches)?;
    args.map.kernel.rule = Some(chosen.fit.bandwidth());
    if args.map.is_by_rows() && (chosen.ridge.is_none() || args.is_in_parts()) {
        let problem = "--features rudi-rosasco is for --model ridge on all rows in one go; give a \
            number";
        return Err(Usage(problem.into()).into());
    }
    args.data.weight = args.weight.clone();
    let read = [Some(args.input.as_path()), args.data.targets()];
    let tested = [&args.test_input, &args.test_targets].map(Option::as_deref);
    let written = [args.output.as_deref(), args.part.partial.as_deref()];
    keep_apart(written, read.into_iter().chain(tested))?;
    let mut report = Report::default();
    let Sources {
        mut train,
        mut kept_back,
        mut test,
    } = args.sources(chosen.takes, None)?;
    if train.is_weighted() && !chosen.fit.takes_weights() {
        let problem = "--weight is not for this --model, to which all rows count alike";
        return Err(Usage(problem.into()).into());
    }
    for path in written.into_iter().flatten() {
        // A place that cannot be written is better known now than after the fit.
        let _writing = writing();
        drop(AtomicFile::create(path)?);
    }
    let run = args.run.open(&console)?;
    let (survey, seconds) = match landmarks {
        None => {
            let rows = if searches {
                KernelArgs::SEARCHED_ROWS
            } else {
                0
            };
            args.map.survey_at_least(rows, &mut train, &console)?
        }
        Some(landmarks) => args.map.survey_columns(landmarks, &mut train, &console)?,
    };
    report.seconds("survey", seconds);
    if args.map.is_by_rows() {
        let (features, lambda) = rudi_rosasco(survey.rows)?;
        args.map.usual = Some(features);
        chosen.penalise(lambda);
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
    let mut found = None;
    let (built, seconds) = match landmarks {
        None if searches => {
            let rows = search::Rows {
                train: &mut train,
                survey: &survey,
                targets: &targets,
                run: &run,
                console: &console,
            };
            let (built, chose) = args.search.run(&args.map, &mut chosen, rows, &mut report)?;
            found = Some(chose);
            (built, 0.0)
        }
        None => {
            let how = (&console, Standardize::Auto);
            args.map.build(&mut train, Some(&survey), &run, how)?
        }
        Some(landmarks) => {
            let columns = train.columns();
            (args.map).build_columns(landmarks, columns, &survey, &console)?
        }
    };
    report.seconds("map", seconds);
    args.map.describe(&built, &mut report);
    if matches!(targets, Targets::Classes(_)) && kept_back.is_some() {
        let problem = "--calibrate is for regressions; labels have no intervals";
        return Err(Usage(problem.into()).into());
    }
    let how = (&chosen, targets);
    let mut summed = None;
    let mut model = match args.is_in_parts() {
        false => args.fit(built, &mut train, &survey, how, (&run, &console))?,
        true => {
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
        search::describe(found, &survey, args.output.as_ref(), &mut report);
    }
    describe(&model, chosen.takes, &mut report);
    if !matches!(chosen.takes, Takes::Rows(_)) {
        report.set("intercept", args.learner.intercept());
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

fn describe(model: &LinearModel, takes: Takes, report: &mut Report) {
    report.set("learner", &*model.learner);
    report.set("lambda", model.lambda);
    if let Some(curve) = &model.lambda_curve {
        lambda::describe(curve, report);
    }
    if let Some(found) = &model.lengthscales {
        lengthscales::describe(found, report);
    }
    for (name, &value) in &model.facts {
        report.set(name, value);
        // Counts are whole numbers, and read as such.
        let text = match value.fract() == 0.0 && value.abs() < 1e9 {
            true => format!("{value}"),
            false => six_digits(value),
        };
        report.line(name.replace('_', " "), text);
    }
    if let Some(times) = model.times {
        report.seconds("fit", times.accumulate.as_secs_f64());
        report.seconds("solve", times.solve.as_secs_f64());
        report.throughput(model.rows, times.accumulate.as_secs_f64());
        report.line("solve", format!("{:.3} s", times.solve.as_secs_f64()));
    }
    if let Takes::Rows(found) = takes {
        report.set("task", found);
        return;
    }
    match &model.targets {
        Targets::Real { columns, .. } => {
            report.set("task", "regression");
            report.set("targets", *columns);
        }
        Targets::Classes(labels) => {
            report.set("task", "classification");
            match &model.class_names {
                Some(names) => report.set("classes", names.as_slice()),
                None => report.set("classes", labels.as_slice()),
            }
        }
    }
}
