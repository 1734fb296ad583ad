//! Options that a model file may carry: settings of a fit that name no file.

use crate::{
    Cli,
    outputs::{names_file, takes_file},
    report::Usage,
};
use anyhow::Result;

/// Headings of the help whose options describe a fit.
const HEADINGS: [&str; 5] = [
    "Learner options",
    "Search options",
    "Map options",
    "Options of single maps",
    "Data options",
];

/// Options without a heading that describe a fit.
const UNHEADED: [&str; 9] = [
    "additive",
    "calibrate",
    "columns",
    "group",
    "half-life",
    "linear",
    "target-scale",
    "task",
    "weight",
];

/// Errors unless a model file may set this option to these values: options about the run, its
/// outputs and files of any kind are for the user alone, whatever a model from a stranger says.
pub(super) fn require(
    command: &clap::Command,
    (name, values): (&str, &[String]),
    at: &str,
) -> Result<()> {
    let mut arguments = command.get_arguments();
    let argument = arguments.find(|argument| argument.get_long() == Some(name));
    let may = argument.is_some_and(|argument| {
        let mut values = values.iter();
        may_be_set(argument) && !values.any(|value| names_file(argument, value))
    });
    if may {
        return Ok(());
    }
    let problem = format!(
        "{at}: names the option {name:?}, or a file in it, which a model cannot set; name the \
         options of the fit in place of --like, or fit the model again"
    );
    Err(Usage(problem).into())
}

fn may_be_set(argument: &clap::Arg) -> bool {
    let is_of_fit = match argument.get_help_heading() {
        Some(heading) => HEADINGS.contains(&heading),
        None => argument
            .get_long()
            .is_some_and(|name| UNHEADED.contains(&name)),
    };
    is_of_fit && !takes_file(argument)
}

/// The command whose options a model names.
pub(super) fn command() -> Option<clap::Command> {
    let mut definition = Cli::definition();
    definition.build();
    definition.find_subcommand("fit").cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every option of `fit` is in one of two lists: a new one has to be looked at. None that names
    /// a file, writes one or belongs to the run can come from a model.
    #[test]
    fn every_option_is_allowed_to_a_model_or_refused() {
        let command = command().expect("fit");
        let mut found = [Vec::new(), Vec::new()];
        for argument in command.get_arguments() {
            let name = argument.get_long().unwrap_or(argument.get_id().as_str());
            let may = require(&command, (name, &[]), "m").is_ok();
            found[usize::from(may)].push(name);
        }
        let [refused, allowed] = found.map(|mut names| {
            names.sort_unstable();
            names.join("\n")
        });
        assert_eq!(refused, REFUSED.join("\n"));
        assert_eq!(allowed, ALLOWED.join("\n"));
        assert!(require(&command, ("no-such-option", &[]), "m").is_err());
    }

    const ALLOWED: [&str; 96] = [
        "accuracy-loss",
        "additive",
        "all-columns",
        "auto",
        "bag",
        "beside",
        "block",
        "bound",
        "budget",
        "by-target",
        "calibrate",
        "categorical",
        "class-weights",
        "clusters",
        "columns",
        "comment",
        "components",
        "date-format",
        "dates",
        "decimal",
        "delimiter",
        "drop-rows-without-target",
        "encoding",
        "entries",
        "epsilon",
        "explained",
        "features",
        "folds",
        "form",
        "format",
        "gamma",
        "group",
        "half-life",
        "header",
        "held-out",
        "ignore",
        "iterations",
        "kernel",
        "kernel-error",
        "l1",
        "lambda",
        "lambda-by",
        "landmark-rows",
        "landmarks",
        "landmarks-choice",
        "laplace",
        "leaves",
        "lengthscales",
        "leverage-lambda",
        "leverage-pool",
        "linear",
        "log-density",
        "loss",
        "map",
        "metric",
        "metric-iterations",
        "metric-power",
        "missing",
        "model",
        "most-categories",
        "multiples",
        "na",
        "nan",
        "no-intercept",
        "noise",
        "nu",
        "numeric",
        "oversampling",
        "passes",
        "pca-solver",
        "penalised-intercept",
        "probabilities",
        "quantile",
        "quick",
        "rank",
        "sample-interval",
        "sampling",
        "seed",
        "shrinkage",
        "sigma",
        "signal",
        "skip-rows",
        "solver",
        "sorf-radii",
        "standardize",
        "starts",
        "steps",
        "target",
        "target-scale",
        "task",
        "thousands",
        "tolerance",
        "weight",
        "width",
        "words",
        "zero-based",
    ];
    const REFUSED: [&str; 25] = [
        "checkpoint",
        "cv",
        "cv-time",
        "device",
        "every",
        "help",
        "input",
        "job",
        "json",
        "landmark-kernel",
        "like",
        "memory",
        "metric-from",
        "output",
        "partial",
        "progress-every",
        "quiet",
        "report",
        "shard",
        "targets",
        "test",
        "test-input",
        "test-targets",
        "threads",
        "verbose",
    ];

    #[test]
    fn words_that_name_a_file_are_refused() {
        let command = command().expect("fit");
        for name in ["landmarks-choice", "landmark-rows"] {
            let may = |value: &str| require(&command, (name, &[value.to_owned()]), "m").is_ok();
            assert!(may("k-means") && !may("../rows.npy"), "{name}");
        }
    }
}
