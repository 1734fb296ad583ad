//! Fits by sums of rows: kept on the way, and shards of several processes.

use super::{Args, Shard, Source, chosen::Chosen, describe};
use crate::{
    Cli, Command,
    args::named,
    checkpoint::Folder,
    given::{self, Given},
    interrupt,
    map::BuiltMap,
    outputs::names_file,
    report::{Console, Report, Usage, counted},
};
use anyhow::Result;
use bochner::{
    Error, Run,
    data::{ChunkSource, Pieces, Rescaled, Survey},
    features::FeatureMap,
    job::Settings,
    models::{
        AnySums, Basis, FitAnySums, Keep, LinearModel, ModelContext, Partial, Resume, RowsToSum,
        Sums, Targets,
    },
    seed::Seed,
};
use std::{ffi::OsString, mem, path::PathBuf, sync::Arc};

/// Which part of the rows is summed, and where the sums go.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Run options")]
pub(crate) struct PartArgs {
    /// Sum part I of N of the rows alone, I from 1: for `bochner merge`, with --partial
    #[arg(long, value_name = "I/N", requires = "partial")]
    #[arg(conflicts_with_all = ["output", "test", "test_input", "calibrate", "probabilities"])]
    pub(crate) shard: Option<Shard>,
    /// Where the sums of a --shard go
    #[arg(long, value_name = "FILE", requires = "shard", value_parser = named())]
    pub(crate) partial: Option<PathBuf>,
}

/// The options of a shard that says how many there are.
pub(crate) const SHARDS: &str = "number of shards";
/// The file of sums in a checkpoint.
const SUMS: &str = "sums";

impl Args {
    /// Whether rows are summed in parts.
    pub(super) fn is_in_parts(&self) -> bool {
        self.part.shard.is_some() || self.steps.checkpoint.is_some()
    }

    /// Errors on options that need the rows themselves, beside those that all doors refuse.
    pub(super) fn check_parts(&self) -> Result<()> {
        if let (true, Some(option)) = (self.is_in_parts(), self.data.drops_rows()) {
            let problem = format!(
                "{option} does not go with --checkpoint and --shard, which count rows; remove the \
                 rows first"
            );
            return Err(Usage(problem).into());
        }
        Ok(())
    }

    /// The sums of the rows of this run, of so many that were surveyed; kept on the way.
    pub(super) fn sum(
        &self,
        mut basis: Basis,
        chosen: &Chosen,
        train: &mut Source,
        surveyed: u64,
        run: &Run,
        console: &Console,
    ) -> Result<Summing> {
        let problem = || Usage("this learner does not sum rows".into());
        let learner = chosen.fit.of_sums().ok_or_else(problem)?;
        let shard = self.shard();
        basis.name_columns(train.as_ref());
        let mut summing = Summing {
            partial: Partial {
                basis: self.of_steps(&basis, shard, run)?,
                sums: AnySums::of_none(),
                parts: vec![shard.to_string()],
            },
            folder: self.steps.open()?,
        };
        let begun = summing.resume()?;
        let (first, end) = shard.rows(surveyed);
        if let Some(folder) = &summing.folder {
            folder.note(summing.partial.sums.rows(), console);
        }
        if !begun || summing.partial.sums.rows() < end - first {
            let bar = console.bar("fit", Some(end - first));
            let _steps = summing.folder.as_ref().map(|_| interrupt::steps());
            let run = run.clone().progress(bar.follow());
            let mut pieces = Pieces::new(train)?;
            let mut rows = pieces.piece(first, end - first);
            summing.sum(learner, &mut rows, begun, self.steps.step(), &run)?;
            if summing.partial.sums.rows() != end - first {
                let problem = format!(
                    "had {} when it was surveyed and has others now; leave it alone while it is \
                     read",
                    counted(surveyed, "row")
                );
                return Err(Error::data(&self.input, problem).into());
            }
            summing.keep()?;
        }
        summing.partial.basis = basis;
        Ok(summing)
    }

    /// The part of the rows that this run sums.
    fn shard(&self) -> Shard {
        self.part.shard.unwrap_or(Shard::WHOLE)
    }

    /// What the sums of all shards are sums of.
    pub(super) fn basis(
        &self,
        built: BuiltMap,
        survey: &Survey,
        targets: Targets,
        job: Settings,
    ) -> Basis {
        let mut basis = Basis {
            kernel: built.drawn.kernel,
            seed: Seed(self.map.kernel.seed),
            job: Some(job),
            rescaled: Rescaled::from_survey(survey),
            options: given::options(&["--memory", "--test-input", "--test-targets"]),
            ..Basis::new(Arc::from(built.drawn.map), targets)
        };
        let digest = given::digest(format!("{survey:?}").as_bytes());
        let data = format!("{}, digest {digest}", counted(survey.rows, "row"));
        basis.options.insert("data".into(), data);
        let shards = self.shard().count.to_string();
        basis.options.insert(SHARDS.to_owned(), shards);
        basis
    }

    /// As [`Self::basis`], for the steps of one shard: bits hang on more than sums that merge.
    fn of_steps(&self, basis: &Basis, shard: Shard, run: &Run) -> Result<Basis> {
        let mut of_steps = basis.clone();
        of_steps.options.extend(given::options(&[]));
        for (name, value) in [
            ("file", given::file(&self.input)?),
            ("device", run.device.describe()),
            ("shard", shard.to_string()),
        ] {
            of_steps.options.insert(name.into(), value);
        }
        if let Some(targets) = self.data.targets() {
            let value = given::file(targets)?;
            of_steps.options.insert("file of targets".into(), value);
        }
        Ok(of_steps)
    }
}

/// Sums, and where they are kept on the way.
#[derive(Debug)]
pub(super) struct Summing {
    partial: Partial<AnySums>,
    folder: Option<Folder>,
}

impl Summing {
    /// Takes up what is there, and says whether there was some.
    fn resume(&mut self) -> Result<bool> {
        let Some(folder) = &self.folder else {
            return Ok(false);
        };
        if !folder.has(SUMS)? {
            return Ok(false);
        }
        let kept = Partial::<AnySums>::load(folder.at(SUMS)?)?;
        let own = &self.partial.basis;
        if let Some(difference) = given::difference(&kept.basis.options, &own.options) {
            return Err(folder.differs(&difference));
        }
        if let Some(difference) = kept.basis.difference(own)? {
            return Err(folder.differs(&difference));
        }
        self.partial.sums = kept.sums;
        Ok(true)
    }

    /// Sums rows, behind those that were summed before where some were, and keeps the sums whenever
    /// `every` rows more are in them.
    fn sum(
        &mut self,
        learner: &dyn FitAnySums,
        rows: &mut dyn ChunkSource,
        begun: bool,
        every: u64,
        run: &Run,
    ) -> Result<()> {
        let basis = self.partial.basis.clone();
        let from = begun.then(|| mem::replace(&mut self.partial.sums, AnySums::of_none()));
        let mut kept = from.as_ref().map_or(0, Sums::rows);
        // What ends the work is an error of this program, not of the library.
        let mut ended = None;
        let mut keep = |sums: AnySums| {
            let rows = sums.rows();
            if rows.saturating_sub(kept) < every && interrupt::status().is_none() {
                return Ok(sums);
            }
            kept = rows;
            self.partial.sums = sums;
            match self.keep() {
                Ok(()) => Ok(mem::replace(&mut self.partial.sums, AnySums::of_none())),
                Err(error) => {
                    ended = Some(error);
                    Err(Error::unsupported("the run has ended"))
                }
            }
        };
        let keep = Some(&mut keep as &mut Keep<'_, AnySums>);
        let sum = |map: &dyn FeatureMap, data: RowsToSum<'_>| {
            learner.sum_any_on(map, data, Resume { from, keep })
        };
        let sums = basis.sum(rows, run, sum);
        if let Some(error) = ended {
            return Err(error);
        }
        self.partial.sums = sums?;
        Ok(())
    }

    /// Writes the sums so far. Errors when the run is interrupted.
    fn keep(&self) -> Result<()> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        self.partial.save(folder.at(SUMS)?)?;
        folder.stepped(self.partial.sums.rows())
    }

    /// The model of all rows, when they are.
    pub(super) fn model(
        &self,
        learner: &dyn FitAnySums,
        run: &Run,
    ) -> bochner::Result<LinearModel> {
        solve(learner, &self.partial, run)
    }

    /// Writes the sums of a shard, and what there is to say of them.
    pub(super) fn save(self, path: &std::path::Path, report: &mut Report) -> Result<()> {
        self.partial.save(path)?;
        report.set("rows", self.partial.sums.rows());
        report.set("shard", self.partial.parts[0].as_str());
        report.line("rows", counted(self.partial.sums.rows(), "row"));
        report.output("sums", path);
        self.finish();
        Ok(())
    }

    /// What was kept is not needed any more.
    pub(super) fn finish(self) {
        if let Some(folder) = self.folder {
            folder.finish(&[SUMS]);
        }
    }
}

/// From sums to a model.
fn solve(
    learner: &dyn FitAnySums,
    partial: &Partial<AnySums>,
    run: &Run,
) -> bochner::Result<LinearModel> {
    let sums = partial.sums.clone();
    let solve = |map, known: ModelContext<'_>| learner.model_of(map, sums, known);
    partial.basis.model(learner, run, solve)
}

/// The model of sums that `--shard` wrote, by the options that it was given.
pub(crate) fn of_sums(
    all: &Partial<AnySums>,
    run: &Run,
    console: &Console,
    report: &mut Report,
) -> Result<LinearModel> {
    let given = &all.basis.options;
    let own = env!("CARGO_PKG_VERSION");
    let version = given.get(given::VERSION).map_or("unknown", |v| v);
    if version != own {
        let problem = format!("sums of bochner {version}, and this is {own}; sum the rows again");
        return Err(Usage(problem).into());
    }
    let mut args = arguments_of(given)?;
    args.learner.counts_rows = args.half_life.is_some();
    let chosen = args.learner.choose(true, console)?;
    let learner = chosen.fit.of_sums();
    let learner = learner.ok_or_else(|| Usage("this learner sums no rows".into()))?;
    let model = solve(learner, all, run)?;
    report.line("map", model.map.describe());
    report.set("map", model.map.describe());
    report.set("solver", chosen.solved_by(&model));
    describe(&model, &chosen, false, report);
    Ok(model)
}

/// The arguments of `fit` that were [given](given::options) to another run.
fn arguments_of(given: &Given) -> Result<Box<Args>> {
    let definition = Cli::definition();
    let command = definition.find_subcommand("fit");
    let mut words: Vec<OsString> = ["bochner", "fit", "-"].map(OsString::from).into();
    for argument in command.into_iter().flat_map(clap::Command::get_arguments) {
        let Some(long) = argument.get_long().map(|long| format!("--{long}")) else {
            continue;
        };
        let takes = argument.get_action().takes_values();
        match given.get(&long) {
            // Sums come from anywhere, and no file is read at their word.
            Some(value) if names_file(argument, value) => {}
            Some(value) if takes => words.push(format!("{long}={value}").into()),
            Some(_) => words.push(long.into()),
            None => {}
        }
    }
    match Cli::parse_from_words(words).map(|(cli, _)| cli.command) {
        Ok(Command::Fit(args)) => Ok(args),
        _ => Err(Usage("its options are none of `fit`; sum the rows again".into()).into()),
    }
}
