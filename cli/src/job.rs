//! `fit --job` and `fit --like`: options out of a file or a model, in the place where they would
//! stand on the command line.

mod model_options;
mod source;

use crate::{Cli, report::Usage};
use anyhow::Result;
use bochner::models::LinearModel;
use clap::{ArgMatches, Command, parser::ValueSource};
use source::Options;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// Where options of a fit come from that do not stand on the command line.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Job options")]
pub(crate) struct JobArgs {
    /// Take options from this file, lines of TOML such as `features = 2000`
    ///
    /// Options have the names that they have here; `input` is one, too. What stands beside it on
    /// the command line counts.
    #[arg(long, value_name = "FILE.toml", conflicts_with = "like")]
    job: Option<PathBuf>,
    /// Fit as this model was fitted: learner, map, scales, columns and seed
    ///
    /// What stands beside it counts; with another --model or --map the old one's own options are
    /// left out.
    #[arg(long, value_name = "MODEL")]
    like: Option<PathBuf>,
}

impl JobArgs {
    /// An option as messages name it: with the file that it is out of, where it does not stand on
    /// the command line.
    pub(crate) fn said(&self, option: &str) -> String {
        let is_typed = std::env::args_os().any(|word| {
            let word = word.to_string_lossy();
            let rest = word.strip_prefix(option);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        });
        match (&self.job, &self.like) {
            (Some(path), _) if !is_typed => format!("{option} of --job {}", path.display()),
            (_, Some(path)) if !is_typed => format!("{option} of --like {}", path.display()),
            _ => option.to_owned(),
        }
    }
}

static EXPANDED: OnceLock<Expanded> = OnceLock::new();

/// The words of the command line with those that a job stands for, and the options of the job that
/// do not go with what is given.
#[derive(Debug, Default)]
struct Expanded {
    words: Vec<OsString>,
    left_out: Vec<String>,
}

impl Expanded {
    fn of_words(words: Vec<OsString>) -> Self {
        Self {
            words,
            left_out: Vec::new(),
        }
    }
}

/// The words of the command line, with those that a job stands for.
pub(crate) fn words() -> &'static [OsString] {
    &EXPANDED
        .get_or_init(|| Expanded::of_words(std::env::args_os().collect()))
        .words
}

/// Says which options of a job are left out.
pub(crate) fn note_left_out() {
    if let Some(Expanded { left_out, .. }) = EXPANDED.get().filter(|of| !of.left_out.is_empty()) {
        let left_out = left_out.join(", ");
        log::warn!("{left_out} of the job: left out beside another --model or --map");
    }
}

/// As text, without the name of the program.
pub(crate) fn arguments() -> impl Iterator<Item = String> {
    let words = words().iter().skip(1);
    words.map(|word| word.to_string_lossy().into_owned())
}

/// Puts what `--job` or `--like` stands for into [`words`]. Errors when the file cannot be read,
/// and on options that there are not.
pub(crate) fn expand() -> Result<&'static [OsString]> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let expanded = expanded(words)?;
    Ok(&EXPANDED.get_or_init(|| expanded).words)
}

fn expanded(mut words: Vec<OsString>) -> Result<Expanded> {
    let asks = |word: &OsString| {
        let word = word.to_string_lossy();
        word.starts_with("--job") || word.starts_with("--like")
    };
    if !words.iter().any(asks) {
        return Ok(Expanded::of_words(words));
    }
    // What is wrong with the words is told when all of them are there.
    let mut definition = Cli::definition().ignore_errors(true);
    let Ok(matches) = definition.try_get_matches_from_mut(&words) else {
        return Ok(Expanded::of_words(words));
    };
    definition.build();
    let (Some(("fit", given)), Some(command)) =
        (matches.subcommand(), definition.find_subcommand("fit"))
    else {
        return Ok(Expanded::of_words(words));
    };
    let file = |name| given.get_one::<PathBuf>(name);
    let options = match (file("job"), file("like")) {
        (Some(path), None) => Options::of_file(path)?,
        (None, Some(path)) => {
            Options::of_model(&LinearModel::load(path)?, path, is_given(given, "weight"))?
        }
        _ => return Ok(Expanded::of_words(words)),
    };
    let more = expand_options(&options, command, given)?;
    // After the program and the name of the command.
    words.splice(2..2, more.words);
    Ok(Expanded { words, ..more })
}

/// What `--like` takes out of the model of this file, as lines of TOML for `--job`. Errors when it
/// keeps no job.
pub(crate) fn lines(model: &LinearModel, path: &Path) -> Result<String> {
    let options = Options::of_model(model, path, true)?;
    let is_weighted = model.job.as_ref().and_then(|job| job.get("weighted"));
    let mut lines = options.lines();
    if is_weighted.is_some() && options.get("weight").is_none() {
        lines.insert_str(
            0,
            "# The rows had weights: name their column, weight = \"...\".\n",
        );
    }
    Ok(lines)
}

fn is_given(given: &ArgMatches, id: &str) -> bool {
    given.value_source(id) == Some(ValueSource::CommandLine)
}

/// What `--auto` chooses, unless it is given beside it.
const CHOSEN: &[&str] = &[
    "kernel",
    "gamma",
    "sigma",
    "lambda",
    "lambda-by",
    "folds",
    "metric",
    "metric-power",
    "metric-iterations",
];

/// Models that stand on the kernel itself, and take no map.
const OF_KERNEL: [&str; 2] = ["kernel-ridge", "falkon"];
/// What few models take, and these.
const TAKERS: [(&str, &[&str]); 3] = [
    ("leaves", &["ridge"]),
    ("linear", &["ridge", "logistic", "svm", "svr"]),
    ("target-scale", &["ridge", "kernel-ridge", "falkon"]),
];

/// Whether an option, of maps or not, does not go with this model.
fn is_refused(model: &str, name: &str, of_map: bool) -> bool {
    let of_features = of_map || matches!(name, "map" | "features" | "additive");
    let taker = TAKERS.iter().find(|(option, _)| *option == name);
    let is_of_others = taker.is_some_and(|(_, takers)| !takers.contains(&model));
    (of_features && name != "kernel" && OF_KERNEL.contains(&model)) || is_of_others
}

/// The words of options, but for those that stand back before what is given.
fn expand_options(options: &Options, command: &Command, given: &ArgMatches) -> Result<Expanded> {
    let stays = |name: &str| !is_given(given, name) || options.get(name) == value_of(given, name);
    let (same_model, same_map) = (stays("model"), stays("map"));
    let is_auto = is_given(given, "auto");
    let model = value_of(given, "model").filter(|_| !same_model);
    let conflicts = |argument: &clap::Arg| {
        let others = command.get_arguments();
        let mut others = others.filter(|other| is_given(given, other.get_id().as_str()));
        others.any(|other| {
            let of = |one, other: &clap::Arg| {
                let conflicts = command.get_arg_conflicts_with(one);
                conflicts.iter().any(|arg| arg.get_id() == other.get_id())
            };
            of(argument, other) || of(other, argument)
        })
    };
    let mut expanded = Expanded::default();
    for option in options.iter() {
        let name = option.name.as_str();
        let found = command.get_arguments().find(|argument| {
            argument.get_long() == Some(name) || (argument.is_positional() && name == "input")
        });
        let Some(argument) = found.filter(|_| !matches!(name, "job" | "like")) else {
            let problem = format!(
                "{}: `bochner fit` has no option {name:?}; `bochner fit --help` lists them",
                option.at
            );
            return Err(Usage(problem).into());
        };
        let of_learner = matches!(
            argument.get_help_heading(),
            Some("Learner options" | "Search options")
        );
        let of_map = argument.get_help_heading() == Some("Options of single maps")
            || matches!(name, "kernel" | "form" | "sampling");
        let is_given = is_given(given, argument.get_id().as_str());
        let is_of_others = (of_learner && name != "leaves" && !same_model)
            || (of_map && !same_map)
            || model.is_some_and(|model| is_refused(model, name, of_map));
        let stands_back = is_given || (is_auto && CHOSEN.contains(&name)) || conflicts(argument);
        if is_of_others && !is_given {
            expanded.left_out.push(name.to_owned());
        } else if !stands_back {
            expanded.words.extend(option.words(argument)?);
        }
    }
    Ok(expanded)
}

fn value_of<'a>(given: &'a ArgMatches, id: &str) -> Option<&'a str> {
    given.get_raw(id)?.next()?.to_str()
}

#[cfg(test)]
mod tests;
