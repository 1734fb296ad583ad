//! `bochner fit`: from data to a model, and its score on rows held out.

use crate::{
    args::{DataArgs, MapArgs, RunArgs, fraction, positive},
    evaluate::score,
    report::{Console, Report},
};
use anyhow::Result;
use bochner::{
    Error,
    data::{AtomicFile, ChunkSource, Part, Split, Survey, TargetUse},
    models::{FitOptions, LinearModel, RidgeClassifier, RidgeRegressor},
    normal::Targets,
    solve::Ridge,
};
use clap::ValueEnum;
use std::path::PathBuf;

/// Arguments of `bochner fit`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: bochner fit data/digits.csv --target label --features 2000 --test 0.5 -o digits.model"
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
    /// What the targets are; `auto` takes one column of at most 32 whole numbers for class labels
    #[arg(long, value_enum, default_value_t = Task::Auto)]
    task: Task,
    /// Ridge penalty per sample
    #[arg(long, value_name = "L", default_value = "1e-6", value_parser = positive)]
    #[arg(allow_hyphen_values = true)]
    lambda: f64,
    /// Fit without an intercept
    #[arg(long)]
    no_intercept: bool,
    #[command(flatten)]
    map: MapArgs,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    run: RunArgs,
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

impl Args {
    /// Training rows, and test rows where asked for.
    fn sources(&self) -> Result<(Source, Option<Source>)> {
        let open = || self.data.open(&self.input, TargetUse::Required);
        if let Some(fraction) = self.test {
            let part = |part| {
                Split::new(open()?, part, fraction, self.map.seed).map_err(anyhow::Error::new)
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
        let test =
            self.data
                .open_beside(path, self.test_targets.as_deref(), TargetUse::Required)?;
        for (what, test, train) in [
            ("feature", test.columns(), train.columns()),
            ("target", test.targets(), train.targets()),
        ] {
            if test != train {
                let problem = format!(
                    "has {test} {what} columns, but {} has {train}; give both the same columns",
                    self.input.display()
                );
                return Err(Error::data(path, problem).into());
            }
        }
        Ok((train, Some(test)))
    }

    /// Whether to classify; says so if nobody asked for it.
    fn classifies(&self, survey: &Survey, console: &Console) -> bool {
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
            (Task::Auto, Some(classes)) => {
                console.note(&format!(
                    "classification: the target has {classes} values, all whole numbers (--task regression if they are amounts)"
                ));
                true
            }
            (Task::Auto, None) => {
                console.note("regression: the targets are not a few whole numbers (--task classification if they are labels)");
                false
            }
        }
    }
}

/// Surveys, fits, scores, saves.
pub(crate) fn run(args: &Args) -> Result<()> {
    args.map.check()?;
    let console = args.run.console();
    let mut report = Report::default();
    let (mut train, test) = args.sources()?;
    if let Some(path) = &args.output {
        // A place that cannot be written is better known now than after the fit.
        drop(AtomicFile::create(path)?);
    }
    let device = args.run.open(&console)?;
    let (survey, seconds) = args.map.survey(&mut train, &console)?;
    report.seconds("survey", seconds);
    let classify = args.classifies(&survey, &console);
    let built = args.map.build(train.columns(), Some(&survey))?;
    args.map.describe(&built, &mut report);

    let options = FitOptions {
        ridge: Ridge {
            lambda: args.lambda,
            intercept: !args.no_intercept,
        },
        memory: args.run.memory,
        ..FitOptions::on(&device)
    };
    let bar = console.bar("fit", Some(survey.rows));
    let fit = match classify {
        true => RidgeClassifier::fit,
        false => RidgeRegressor::fit,
    };
    let model = fit(built.map, &mut train, &survey, &options, &mut |rows| {
        bar.set_position(rows)
    })?;
    drop(bar);
    describe(&model, &mut report);
    report.set("intercept", options.ridge.intercept);
    report.device(&device);
    if let Some(mut test) = test {
        let predictor = model.on(&device, args.run.memory)?;
        let (scores, seconds) = score(predictor, &mut test, &console, "test")?;
        report.seconds("test", seconds);
        report.set("test_rows", scores.rows());
        scores.describe(&mut report, "held-out rows");
    }
    // Last, so that a run that fails leaves an older model as it was.
    if let Some(path) = &args.output {
        model.save(path)?;
        report.output("model", path);
    }
    args.run.print(&report)
}

fn describe(model: &LinearModel, report: &mut Report) {
    report.set("lambda", model.lambda);
    if let Some(times) = model.times {
        report.seconds("fit", times.accumulate.as_secs_f64());
        report.seconds("solve", times.solve.as_secs_f64());
        report.throughput(model.rows, times.accumulate.as_secs_f64());
        report.line("solve", format!("{:.3} s", times.solve.as_secs_f64()));
    }
    match &model.targets {
        Targets::Real { columns, .. } => {
            report.set("task", "regression");
            report.set("targets", *columns);
        }
        Targets::Classes(labels) => {
            report.set("task", "classification");
            report.set("classes", labels.as_slice());
        }
    }
}
