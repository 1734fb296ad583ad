//! `bochner reproduce`: published results, measured again, as pages with pictures.
//!
//! An experiment is one file with an [`Experiment`], and one line in [`ALL`].

mod binning;
mod datasets;
mod digits;
mod double_descent;
mod fastfood;
mod files;
mod findings;
mod first_fit;
mod learning_rates;
mod maps;
mod metric;
mod qmc;
mod variance;

use crate::{
    args::{DeviceArgs, at_least_one, named, whole},
    names,
    progress::Bar,
    report::{Console, OutputArgs, Report, Usage},
};
use anyhow::{Result, anyhow};
use bochner::{Device, Run, seed::Seed};
use datasets::{Dataset, Table};
use findings::Findings;
use serde_json::json;
use std::{
    cell::RefCell,
    path::{Path, PathBuf},
};

/// Arguments of `bochner reproduce`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: bochner reproduce digits\n\
    Data sets that this program does not bring are looked for in --data as NAME/train.npz and NAME/test.npz, arrays X and y each.")]
pub(crate) struct Args {
    /// An experiment, or `all`; an unknown name lists them
    name: String,
    /// Folder with the data sets
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Folder for pages, numbers and pictures
    #[arg(long = "output", short, value_name = "DIR", default_value = "results")]
    #[arg(value_parser = named())]
    output_folder: PathBuf,
    /// Seed of all draws; repeats take those after it
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
    /// Repeats of everything that is drawn [default: each experiment's own]
    #[arg(long, value_name = "K", value_parser = at_least_one)]
    trials: Option<usize>,
    /// Folder for the tables that first-fit draws, as other programs read them:
    /// NUMBER-TRIAL-train.csv and -judges.csv, the target last
    #[arg(long, value_name = "DIR", value_parser = named())]
    tables: Option<PathBuf>,
    /// Few sizes and few repeats, to see that all works; no figure of it is comparable
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// A published result that is measured again.
pub(crate) struct Experiment {
    /// What it is called on the command line, and its files.
    name: &'static str,
    /// What it shows, as a heading.
    title: &'static str,
    /// The data sets that it cannot do without; each is left out where it is missing.
    data: &'static [&'static Dataset],
    /// Measures.
    run: fn(&Context<'_>) -> Result<Findings>,
}

/// All experiments, in the order in which `all` runs them.
const ALL: &[Experiment] = &[
    binning::EXPERIMENT,
    digits::EXPERIMENT,
    double_descent::EXPERIMENT,
    fastfood::EXPERIMENT,
    first_fit::EXPERIMENT,
    learning_rates::EXPERIMENT,
    maps::EXPERIMENT,
    metric::EXPERIMENT,
    qmc::EXPERIMENT,
    variance::EXPERIMENT,
];

/// What an experiment has at hand.
pub(crate) struct Context<'a> {
    run: Run,
    seed: u64,
    trials: Option<usize>,
    quick: bool,
    data: Option<&'a Path>,
    tables: Option<&'a Path>,
    console: Console,
    bar: Option<Bar>,
    /// What was left out, and why.
    missing: RefCell<Vec<String>>,
}

impl Context<'_> {
    /// Where and with how much memory.
    fn run(&self) -> &Run {
        &self.run
    }

    /// The device of all fits.
    fn device(&self) -> &Device {
        &self.run.device
    }

    /// Whether a short form is asked for.
    fn is_quick(&self) -> bool {
        self.quick
    }

    /// How often to repeat: as was asked for, else `usual`, and in a short form twice.
    fn trials(&self, usual: usize) -> usize {
        let usual = if self.quick { usual.min(2) } else { usual };
        self.trials.unwrap_or(usual)
    }

    /// The seed of a repeat, counted from 0.
    fn seed(&self, trial: usize) -> Seed {
        Seed(self.seed.wrapping_add(trial as u64))
    }

    /// What is at work now.
    fn say(&self, text: impl Into<String>) {
        let text = text.into();
        match &self.bar {
            Some(bar) => bar.say(text),
            None => self.console.detail(&text),
        }
    }

    /// Where tables that are drawn are written, if anywhere.
    fn tables(&self) -> Option<&Path> {
        self.tables
    }

    /// A data set, or none with a note of what it is and where it is to be had.
    fn load(&self, dataset: &Dataset) -> Result<Option<Table>> {
        match self.data.filter(|_| dataset.is_in(self.data)) {
            Some(folder) => Ok(Some(dataset.read(folder)?)),
            None => {
                let said = dataset.missing(self.data);
                self.missing.borrow_mut().push(said.clone());
                match &self.bar {
                    Some(bar) => bar.above(|| self.console.note(&said)),
                    None => self.console.note(&said),
                }
                Ok(None)
            }
        }
    }
}

/// An experiment that was measured.
struct Measured {
    experiment: &'static Experiment,
    seconds: f64,
    findings: Findings,
}

/// An experiment that was not, and why.
struct LeftOut {
    experiment: &'static Experiment,
    why: String,
}

/// Measures what is asked for and writes its files.
pub(crate) fn run(args: &Args) -> Result<()> {
    let chosen = args.chosen()?;
    args.check(&chosen)?;
    let console = Console::new(&args.output);
    args.prepare_folders()?;
    args.device.start(&console)?;
    let device = args.device.open(&console)?;
    let mut report = Report::default();
    report.device(&device);
    report.set("seed", args.seed);
    let (mut measured, mut left_out) = (Vec::new(), Vec::new());
    for experiment in chosen {
        if let Some(why) = args.absent(experiment) {
            console.note(&format!("{} is left out: {why}", experiment.name));
            left_out.push(LeftOut { experiment, why });
            continue;
        }
        let done = args.measure(experiment, &device, console)?;
        let page = args.output_folder.join(format!("{}.html", experiment.name));
        report.line(
            experiment.name,
            format!("{}, in {:.1} s", page.display(), done.seconds),
        );
        measured.push(done);
    }
    args.describe(&measured, &left_out, &mut report);
    if args.name == "all" {
        files::index(&args.output_folder, &measured, &left_out)?;
        let index = args.output_folder.join("index.html");
        report.line("index", index.display().to_string());
    }
    report.print(args.output.json)
}

impl Args {
    /// The experiments of this name.
    fn chosen(&self) -> Result<Vec<&'static Experiment>> {
        let chosen: Vec<&Experiment> = ALL
            .iter()
            .filter(|experiment| self.name == "all" || experiment.name == self.name)
            .collect();
        if chosen.is_empty() {
            let known: Vec<&str> = ALL.iter().map(|experiment| experiment.name).collect();
            let known = known.join(", ");
            let problem = format!("{}: no such experiment; use {known} or all", self.name);
            return Err(Usage(problem).into());
        }
        Ok(chosen)
    }

    /// Errors on what cannot be read, before the work.
    fn check(&self, chosen: &[&Experiment]) -> Result<()> {
        let draws = |experiment: &&Experiment| experiment.name == first_fit::EXPERIMENT.name;
        if self.tables.is_some() && !chosen.iter().any(draws) {
            let problem = format!("--tables belongs to {}", first_fit::EXPERIMENT.name);
            return Err(Usage(problem).into());
        }
        if let Some(folder) = self.data.as_deref().filter(|folder| !folder.is_dir()) {
            let problem = format!(
                "--data {}: no such folder; check the name",
                folder.display()
            );
            return Err(Usage(problem).into());
        }
        if self.name != "all"
            && let Some(why) = self.absent(chosen[0])
        {
            return Err(anyhow!("{}: {why}", self.name));
        }
        Ok(())
    }

    /// Errors where nothing can be written, before the work.
    fn prepare_folders(&self) -> Result<()> {
        files::prepare(&self.output_folder)?;
        match &self.tables {
            Some(folder) => files::prepare(folder),
            None => Ok(()),
        }
    }

    /// What is missing of an experiment that stands on data sets and finds none of them.
    fn absent(&self, experiment: &Experiment) -> Option<String> {
        let folder = self.data.as_deref();
        let first = experiment.data.first()?;
        let is_found = experiment.data.iter().any(|dataset| dataset.is_in(folder));
        (!is_found).then(|| first.missing(folder))
    }

    /// Runs one experiment and writes its files.
    fn measure(
        &self,
        experiment: &'static Experiment,
        device: &Device,
        console: Console,
    ) -> Result<Measured> {
        let context = Context {
            run: Run::on(device),
            seed: self.seed,
            trials: self.trials,
            quick: self.quick,
            data: self.data.as_deref(),
            tables: self.tables.as_deref(),
            console,
            bar: Some(console.steps(experiment.name, None)),
            missing: RefCell::default(),
        };
        let (mut findings, seconds) = console.timed(|| (experiment.run)(&context))?;
        findings.missing = context.missing.take();
        drop(context);
        let facts = self.facts(device, seconds);
        files::write(&self.output_folder, experiment, &facts, &findings)?;
        Ok(Measured {
            experiment,
            seconds,
            findings,
        })
    }

    /// How the figures came about.
    fn facts(&self, device: &Device, seconds: f64) -> Vec<(&'static str, String)> {
        let words = std::env::args().skip(1).map(names::quoted);
        let words: Vec<String> = words.collect();
        let mut facts = vec![
            ("command", format!("bochner {}", words.join(" "))),
            ("seed", self.seed.to_string()),
            ("device", device.describe()),
            ("version", format!("bochner {}", env!("CARGO_PKG_VERSION"))),
            ("time", format!("{seconds:.1} s")),
        ];
        if self.quick {
            let said = "few sizes and repeats: no figure is comparable";
            facts.push(("short form", said.into()));
        }
        facts
    }

    /// What was done and left out, for programs.
    fn describe(&self, measured: &[Measured], left_out: &[LeftOut], report: &mut Report) {
        let listed = measured.iter().map(|done| {
            json!({"name": done.experiment.name, "seconds": done.seconds,
                   "numbers": done.findings.numbers(), "missing": done.findings.missing})
        });
        report.set("experiments", listed.collect::<Vec<_>>());
        let names = left_out.iter().map(|left_out| left_out.experiment.name);
        report.set("left_out", names.collect::<Vec<_>>());
        report.set("output", self.output_folder.display().to_string());
    }
}
