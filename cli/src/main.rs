//! `bochner`: random features and kernel machines on any GPU, from the command line.

mod allocator;
mod args;
mod became;
mod bench;
mod card;
mod checkpoint;
mod columnar;
mod completions;
mod devices;
mod drift;
mod drivers;
mod evaluate;
mod explain;
mod export;
mod featurize;
mod fit;
mod flags;
mod given;
mod help;
mod independence;
mod interrupt;
mod job;
mod kernel_error;
mod map;
mod merge;
mod names;
mod outputs;
mod page;
mod predict;
mod progress;
mod report;
mod reproduce;
mod sample;
mod show;
mod threshold;
mod verdict;

use anyhow::Result;
use clap::{
    CommandFactory, FromArgMatches, Parser, Subcommand,
    error::{ContextKind, ContextValue, ErrorKind},
};
use outputs::Paths;
use report::{OutputArgs, Usage};
use std::{
    ffi::OsString,
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};

/// Random features and kernel machines on any GPU, or on the CPU
#[derive(Debug, Parser)]
#[command(name = "bochner", version, infer_subcommands = true)]
#[command(
    after_help = "INPUT is .npy, .npz (arrays X and y), .csv, .parquet or .arrow. 'bochner COMMAND --help' says more.\n\
    Exit status: 0, 1 (failed, with the reason in one line), 2 (wrong usage) or 130 (Ctrl-C)."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the adapters and the CPU backend, and which one `auto` takes
    Devices(devices::Args),
    /// Write the feature matrix, f32, rows in order
    Featurize(featurize::Args),
    /// Fit a model on random features, streaming the data: ridge regression, or what --model names
    Fit(Box<fit::Args>),
    /// Merge the sums of `fit --shard` into the model of all rows
    Merge(merge::Args),
    /// Predict with a fitted model, on any device
    Predict(predict::Args),
    /// Score a fitted model: accuracy, or RMSE and relative error
    Evaluate(evaluate::Args),
    /// Say what a fitted model goes by: which columns matter, along which curves predictions go,
    /// what each column adds to the prediction of a row
    Explain(Box<explain::Args>),
    /// Say what a model file holds: what it takes and gives, how it was chosen, what matters to it
    Show(show::Args),
    /// Write what is known of a model as a page to put beside it: what it takes, how it was fitted,
    /// how good it is, where it ends
    Card(card::Args),
    /// Write a fitted model as an ONNX file, which other runtimes predict with
    Export(export::Args),
    /// Measure a device's ceilings and every op against them; with --check, every op against f64 on
    /// every device
    Bench(bench::Args),
    /// Compare Z Z' of maps with the exact kernel on sampled rows: relative Frobenius, relative
    /// spectral and largest error
    KernelError(kernel_error::Args),
    /// Test whether two files hold rows of one law (maximum mean discrepancy), and list the columns
    /// that differ most
    Drift(drift::Args),
    /// Test whether columns depend on each other (HSIC), or still do when others are given (RCoT,
    /// RCIT)
    Independence(independence::Args),
    /// Measure published results again, and write them as pages with pictures
    Reproduce(reproduce::Args),
    /// Print the completion script of a shell: bochner completions bash > FILE
    Completions(completions::Args),
}

impl Cli {
    /// The command line as it is parsed, with a short help of one screen. Numbers below zero are
    /// values wherever a value is due, so that an option's own words say what it takes, and not a
    /// guess that a dash begins another option.
    fn definition() -> clap::Command {
        let numbers = |argument: clap::Arg| {
            if argument.get_action().takes_values() {
                argument.allow_negative_numbers(true)
            } else {
                argument
            }
        };
        let command = <Self as CommandFactory>::command();
        command.mut_subcommands(|command| help::shortened(command.mut_args(numbers)))
    }

    /// The command line, and the files that it names.
    fn parse_from_words(
        words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> Result<(Self, Paths), clap::Error> {
        let mut definition = Self::definition();
        let matches = definition.try_get_matches_from_mut(words)?;
        let paths = Paths::given(&definition, &matches);
        Ok((Self::from_arg_matches(&matches)?, paths))
    }
}

impl Command {
    /// What to print, where a command has a choice.
    fn output(&self) -> Option<&OutputArgs> {
        match self {
            Self::Devices(args) => Some(&args.output),
            Self::Featurize(args) => Some(args.run.output()),
            Self::Fit(args) => Some(args.run.output()),
            Self::Merge(args) => Some(args.run.output()),
            Self::Predict(args) => Some(args.run.output()),
            Self::Evaluate(args) => Some(args.run.output()),
            Self::Explain(args) => Some(args.run.output()),
            Self::Show(args) => Some(&args.output),
            Self::Card(args) => Some(&args.print),
            Self::Export(args) => Some(&args.report),
            Self::Bench(args) => Some(&args.output),
            Self::KernelError(args) => Some(args.run.output()),
            Self::Drift(args) => Some(args.run.output()),
            Self::Independence(args) => Some(args.run.output()),
            Self::Reproduce(args) => Some(&args.output),
            Self::Completions(_) => None,
        }
    }
}

fn main() -> ExitCode {
    interrupt::listen();
    let panicked = report_panics();
    let words = match job::expand() {
        Ok(words) => words,
        Err(error) => return failed(&error),
    };
    let (cli, paths) = match Cli::parse_from_words(words) {
        Ok(parsed) => parsed,
        Err(error) => return usage(&error),
    };
    report::log(cli.command.output());
    job::note_left_out();
    // Unwinding, not the hook, ends a run that panics: half-written files are removed on the way.
    let result = catch_unwind(AssertUnwindSafe(|| {
        paths.keep_apart()?;
        run(cli.command)
    }));
    if let (Ok(Err(_)), Some(status)) = (&result, interrupt::status()) {
        drivers::to_stderr(&format!("error: {}", interrupt::said()));
        return ExitCode::from(status);
    }
    match result {
        Ok(Ok(())) if !panicked.load(Ordering::SeqCst) => ExitCode::SUCCESS,
        // A closed pipe is a reader that has seen enough.
        Ok(Err(error)) if report::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Ok(Err(error)) if !panicked.load(Ordering::SeqCst) => failed(&error),
        _ => ExitCode::FAILURE,
    }
}

/// Says why nothing came of it.
fn failed(error: &anyhow::Error) -> ExitCode {
    drivers::to_stderr(&format!("error: {}", report::explain(error)));
    ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Devices(args) => devices::run(&args),
        Command::Featurize(args) => featurize::run(args),
        Command::Fit(args) => fit::run(*args),
        Command::Merge(args) => merge::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Explain(args) => explain::run(*args),
        Command::Show(args) => show::run(&args),
        Command::Card(args) => card::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::KernelError(args) => kernel_error::run(&args),
        Command::Drift(args) => drift::run(args),
        Command::Independence(args) => independence::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Completions(args) => completions::run(&args),
    }
}

/// Makes a panic one line on stderr, once. The flag says whether there was one.
fn report_panics() -> &'static AtomicBool {
    static PANICKED: AtomicBool = AtomicBool::new(false);
    std::panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let what = text.unwrap_or("no message");
        // wgpu panics when a device is lost while it is waited for, and crates may at what a file
        // holds; the library catches that and makes it an error.
        if what.starts_with("Error in Device::poll") || columnar::is_guarded() {
            return;
        }
        if PANICKED.swap(true, Ordering::SeqCst) {
            return;
        }
        let at = panic
            .location()
            .map_or_else(String::new, |l| format!(" at {}:{}", l.file(), l.line()));
        drivers::to_stderr(&format!(
            "error: a fault in bochner{at}: {}; please report it with the command that led to it",
            report::one_line(what)
        ));
    }));
    &PANICKED
}

/// Help and version as clap prints them; any other word of clap's in one line.
fn usage(error: &clap::Error) -> ExitCode {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        // Nothing is left to do for a help text that cannot be written.
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    }
    let text = error.to_string();
    // How to pass a dash as a file is of no use to who mistyped an option, and where no word stands
    // for the value is clear.
    let of_use = |line: &&str| !line.is_empty() && !line.starts_with("tip: to pass ");
    let said = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"))
        .filter(of_use)
        .collect::<Vec<_>>()
        .join(" ")
        .replace(" tip: ", "; tip: ");
    let said = said + &detached().or_else(|| meant(error)).unwrap_or_default();
    let command = std::env::args().nth(1).filter(|name| {
        Cli::definition()
            .get_subcommands()
            .any(|command| command.get_name() == name)
    });
    let help = command.map_or_else(String::new, |name| format!(" {name}"));
    let said = report::one_line(&said);
    drivers::to_stderr(&format!("{said}; try 'bochner{help} --help'"));
    ExitCode::from(2)
}

/// What to write for a value of `--standardize` that stands apart from it: the option may stand
/// alone, so the word after it is an argument of its own.
fn detached() -> Option<String> {
    let words: Vec<String> = job::arguments().collect();
    let apart = |pair: &&[String]| {
        pair[0] == "--standardize" && pair[1].parse::<bochner::features::Standardize>().is_ok()
    };
    let pair = words.windows(2).find(apart)?;
    Some(format!("; write {}={}", pair[0], pair[1]))
}

/// What to write for a model that has another name here.
fn meant(error: &clap::Error) -> Option<String> {
    let value = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let of_model = value(ContextKind::InvalidArg)?.starts_with("--model ");
    let meant = fit::meant(value(ContextKind::InvalidValue)?);
    meant
        .filter(|_| of_model)
        .map(|meant| format!("; write {meant}"))
}

#[cfg(test)]
mod tests {
    use super::Cli;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::definition().debug_assert();
    }
}
