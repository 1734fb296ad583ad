//! `bochner fit`: from data to a model, and its score on rows held out.

use crate::{
    args::{DataArgs, RunArgs, at_least_one, fraction, positive},
    evaluate::score,
    interrupt::writing,
    map::{BuiltMap, MapArgs},
    report::{Console, Report, Usage, counted},
};
use anyhow::Result;
use bochner::{
    Device, Error,
    data::{AtomicFile, ChunkSource, Part, Split, Survey, TargetUse},
    features::Standardize,
    models::{self, FitOptions, LinearModel, Listener, Step},
    solve::Targets,
};
use clap::ValueEnum;
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
    /// `cholesky` of the normal equations, `cg` (conjugate gradients, which stores no Gram matrix
    /// and featurizes again in every iteration), or `auto`: cg with binning, else cholesky
    #[arg(long, value_enum, default_value_t = Solver::Auto)]
    solver: Solver,
    /// Conjugate gradients end at this relative residual
    #[arg(long, value_name = "T", default_value = "1e-6", value_parser = positive)]
    #[arg(allow_hyphen_values = true)]
    tolerance: f64,
    /// Most iterations of conjugate gradients
    #[arg(long, value_name = "N", default_value = "1000", value_parser = at_least_one)]
    #[arg(allow_hyphen_values = true)]
    iterations: usize,
    #[command(flatten)]
    map: MapArgs,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Task {
    Auto,
    Regression,
    Classification,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Solver {
    Auto,
    Cholesky,
    Cg,
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
        let test =
            self.data
                .open_beside(path, self.test_targets.as_deref(), TargetUse::Required)?;
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
    /// Whether to solve by conjugate gradients; says so if nobody asked for it.
    fn iterates(&self, dense: bool, console: &Console) -> Result<bool> {
        match (self.solver, dense) {
            (Solver::Cg, _) => Ok(true),
            (_, true) => Ok(false),
            (Solver::Auto, false) => {
                console.note(
                    "solver: conjugate gradients, because the columns of binning are too \
                     many for a Gram matrix",
                );
                Ok(true)
            }
            (Solver::Cholesky, false) => {
                let problem = "--solver cholesky needs a Gram matrix, for which binning has too \
                 many columns; use --solver cg";
                Err(Usage(problem.into()).into())
            }
        }
    }

    /// From a map that is drawn to a model.
    fn fit(
        &self,
        built: BuiltMap,
        train: &mut Source,
        survey: &Survey,
        (classify, iterative): (bool, bool),
        (device, console): (&Device, &Console),
    ) -> Result<LinearModel> {
        let targets = match classify {
            true => Targets::classes(survey)?,
            false => Targets::real(survey),
        };
        let bar = match iterative {
            true => console.steps("fit", None),
            false => console.bar("fit", Some(survey.rows)),
        };
        let all = survey.rows;
        let options = FitOptions {
            memory: self.run.memory,
            lambda: self.lambda,
            intercept: !self.no_intercept,
            solver: match iterative {
                true => models::Solver::ConjugateGradients {
                    tolerance: self.tolerance,
                    max_iterations: self.iterations,
                },
                false => models::Solver::Cholesky,
            },
            progress: Listener::to(move |step| match step {
                Step::Rows(rows) if iterative => bar.say(format!("{rows} rows of {all}")),
                Step::Rows(rows) => bar.set_position(rows),
                Step::Iteration(i, residual) => {
                    bar.say(format!("iteration {i}, residual {residual:.1e}"));
                }
                _ => {}
            }),
            ..FitOptions::on(device)
        };
        Ok(LinearModel::fit(built.map, train, targets, &options)?)
    }
}

/// Surveys, fits, scores, saves.
pub(crate) fn run(args: &Args) -> Result<()> {
    let console = args.run.start()?;
    let dense = args.map.check(&console)?.is_dense();
    let iterative = args.iterates(dense, &console)?;
    console.detail(match iterative {
        true => "solver: conjugate gradients, which featurize the rows in every iteration",
        false => "solver: Cholesky of the normal equations, which are summed in one pass",
    });
    let mut report = Report::default();
    let (mut train, test) = args.sources()?;
    if let Some(path) = &args.output {
        // A place that cannot be written is better known now than after the fit.
        let _writing = writing();
        drop(AtomicFile::create(path)?);
    }
    let device = args.run.open(&console)?;
    let (survey, seconds) = args.map.survey(&mut train, &console)?;
    report.seconds("survey", seconds);
    let classify = args.classifies(&survey, &console);
    let (built, seconds) = args.map.build(
        &mut train,
        Some(&survey),
        &device,
        args.run.memory,
        (&console, Standardize::Auto),
    )?;
    report.seconds("map", seconds);
    args.map.describe(&built, &mut report);
    let how = (classify, iterative);
    let model = args.fit(built, &mut train, &survey, how, (&device, &console))?;
    describe(&model, &mut report);
    report.set("intercept", !args.no_intercept);
    report.set("solver", if iterative { "cg" } else { "cholesky" });
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
        let _writing = writing();
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
