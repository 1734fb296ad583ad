//! Options that a model file may carry: settings of a fit that name no file.

use crate::{Cli, report::Usage};
use anyhow::Result;
use std::{any::TypeId, path::PathBuf};

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

/// Errors unless a model file may set this option: options about the run, its outputs and files of
/// any kind are for the user alone, whatever a model from a stranger says.
pub(super) fn require(command: &clap::Command, name: &str, at: &str) -> Result<()> {
    let mut arguments = command.get_arguments();
    let may = arguments
        .find(|argument| argument.get_long() == Some(name))
        .is_some_and(may_be_set);
    if may {
        return Ok(());
    }
    let problem = format!(
        "{at}: names the option {name:?}, which a model cannot set; name the options of the fit \
         in place of --like, or fit the model again"
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

/// Whether the value of an option is a path.
fn takes_file(argument: &clap::Arg) -> bool {
    let is_path = argument.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    let names = argument.get_value_names().unwrap_or_default();
    // `FILE.html`, `K.npy`, `DIR`; not `C,C,..`.
    let is_named_so = |name: &clap::builder::Str| {
        let mut endings = name.as_str().split('.').skip(1);
        let has_ending = endings.any(|end| end.starts_with(|c: char| c.is_ascii_alphabetic()));
        has_ending || name.contains("FILE") || name.contains("DIR")
    };
    is_path || names.iter().any(is_named_so)
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

    /// No option that names a file, writes one or belongs to the run can come from a model, and
    /// settings of learners and maps can.
    #[test]
    fn models_set_no_files_and_no_outputs() {
        let command = command().expect("fit");
        let refused = [
            "report",
            "output",
            "checkpoint",
            "partial",
            "test-input",
            "test-targets",
            "input",
            "job",
            "like",
            "targets",
            "landmark-kernel",
            "metric-from",
            "device",
            "memory",
            "json",
            "quiet",
            "no-such-option",
        ];
        for name in refused {
            assert!(require(&command, name, "m").is_err(), "{name}");
        }
        for name in [
            "model", "lambda", "map", "kernel", "sigma", "seed", "task", "missing",
        ] {
            assert!(require(&command, name, "m").is_ok(), "{name}");
        }
        let paths = command
            .get_arguments()
            .filter(|argument| takes_file(argument));
        for argument in paths {
            assert!(!may_be_set(argument), "{argument:?}");
        }
    }
}
