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
    args::{DeviceArgs, at_least_one, whole},
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
    time::Instant,
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
    output_folder: PathBuf,
    /// Seed of all draws; repeats take those after it
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
    /// Repeats of everything that is drawn [default: each experiment's own]
    #[arg(long, value_name = "K", value_parser = at_least_one)]
    trials: Option<usize>,
    /// Folder for the tables that first-fit draws, as other programs read them:
    /// NUMBER-TRIAL-train.csv and -judges.csv, the target last
    #[arg(long, value_name = "DIR")]
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

/// Measures what is asked for and writes its files.
pub(crate) fn run(args: &Args) -> Result<()> {
    let chosen: Vec<&Experiment> = ALL
        .iter()
        .filter(|experiment| args.name == "all" || experiment.name == args.name)
        .collect();
    if chosen.is_empty() {
        let known: Vec<&str> = ALL.iter().map(|experiment| experiment.name).collect();
        let known = known.join(", ");
        return Err(Usage(format!(
            "{}: no such experiment; use {known} or all",
            args.name
        ))
        .into());
    }
    let draws = |experiment: &&Experiment| experiment.name == first_fit::EXPERIMENT.name;
    if args.tables.is_some() && !chosen.iter().any(draws) {
        let problem = format!("--tables belongs to {}", first_fit::EXPERIMENT.name);
        return Err(Usage(problem).into());
    }
    if let Some(folder) = args.data.as_deref().filter(|folder| !folder.is_dir()) {
        let problem = format!(
            "--data {}: no such folder; check the name",
            folder.display()
        );
        return Err(Usage(problem).into());
    }
    let console = Console::new(&args.output);
    // What cannot be read or written is said before the work.
    if let (false, Some(said)) = (args.name == "all", absent(args, chosen[0])) {
        return Err(anyhow!("{}: {said}", args.name));
    }
    files::prepare(&args.output_folder)?;
    if let Some(folder) = &args.tables {
        files::prepare(folder)?;
    }
    args.device.start(&console)?;
    let device = args.device.open(&console)?;
    let mut report = Report::default();
    report.device(&device);
    report.set("seed", args.seed);
    let (mut done, mut left_out) = (Vec::new(), Vec::new());
    for experiment in chosen {
        if let Some(said) = absent(args, experiment) {
            console.note(&format!("{} is left out: {said}", experiment.name));
            left_out.push((experiment, said));
            continue;
        }
        let context = Context {
            run: Run::on(&device),
            seed: args.seed,
            trials: args.trials,
            quick: args.quick,
            data: args.data.as_deref(),
            tables: args.tables.as_deref(),
            console,
            bar: Some(console.steps(experiment.name, None)),
            missing: RefCell::default(),
        };
        let begun = Instant::now();
        let mut findings = (experiment.run)(&context)?;
        let seconds = begun.elapsed().as_secs_f64();
        findings.missing = context.missing.take();
        drop(context);
        let facts = facts(args, &device, seconds);
        files::write(&args.output_folder, experiment, &facts, &findings)?;
        let page = args.output_folder.join(format!("{}.html", experiment.name));
        report.line(
            experiment.name,
            format!("{}, in {seconds:.1} s", page.display()),
        );
        done.push((experiment, seconds, findings));
    }
    let listed: Vec<_> = done
        .iter()
        .map(|(experiment, seconds, findings)| {
            json!({"name": experiment.name, "seconds": seconds, "numbers": findings.numbers(),
                   "missing": findings.missing})
        })
        .collect();
    report.set("experiments", listed);
    let names = |of: &[(&Experiment, String)]| -> Vec<String> {
        of.iter()
            .map(|(experiment, _)| experiment.name.to_owned())
            .collect()
    };
    report.set("left_out", names(&left_out));
    report.set("output", args.output_folder.display().to_string());
    if args.name == "all" {
        files::index(&args.output_folder, &done, &left_out)?;
        let index = args.output_folder.join("index.html");
        report.line("index", index.display().to_string());
    }
    report.print(args.output.json)
}

/// What is missing of an experiment that stands on data sets and finds none of them.
fn absent(args: &Args, experiment: &Experiment) -> Option<String> {
    let folder = args.data.as_deref();
    let is_there = |dataset: &&&Dataset| dataset.is_in(folder);
    match (
        experiment.data.first(),
        experiment.data.iter().find(is_there),
    ) {
        (Some(first), None) => Some(first.missing(folder)),
        _ => None,
    }
}

/// How the figures came about.
fn facts(args: &Args, device: &Device, seconds: f64) -> Vec<(&'static str, String)> {
    let words = std::env::args().skip(1).map(names::quoted);
    let words: Vec<String> = words.collect();
    let mut facts = vec![
        ("command", format!("bochner {}", words.join(" "))),
        ("seed", args.seed.to_string()),
        ("device", device.describe()),
        ("version", format!("bochner {}", env!("CARGO_PKG_VERSION"))),
        ("time", format!("{seconds:.1} s")),
    ];
    if args.quick {
        let said = "few sizes and repeats: no figure is comparable";
        facts.push(("short form", said.into()));
    }
    facts
}
