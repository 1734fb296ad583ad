//! Arguments that name files, and outputs that would replace what a command reads.

use crate::report::Usage;
use anyhow::Result;
use bochner::data;
use clap::{Arg, ArgMatches, Command};
use std::{
    any::TypeId,
    path::{Path, PathBuf},
};

/// Arguments, by their ids, whose files a command writes. All others are read.
const WRITTEN: [&str; 6] = [
    "output",
    "output_folder",
    "probabilities",
    "report",
    "checkpoint",
    "tables",
];
/// Arguments whose file may be replaced: commands that a search prints name the model that they fit
/// again, which keeps what is read of it.
const REPLACED: [&str; 1] = ["metric_from"];
/// Options whose value is a word or the name of a .npy file.
const WORD_OR_ARRAY: [&str; 2] = ["landmarks_choice", "landmark_rows"];

/// Whether an argument of this command is written. `merge` reads what `fit --partial` writes.
fn is_written(command: &str, id: &str) -> bool {
    WRITTEN.contains(&id) || (command == "fit" && id == "partial")
}

/// Whether the value of an argument is a path.
pub(crate) fn takes_file(argument: &Arg) -> bool {
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

/// Whether this value of an argument names a file.
pub(crate) fn names_file(argument: &Arg, value: &str) -> bool {
    let is_array = WORD_OR_ARRAY.contains(&argument.get_id().as_str()) && value.ends_with(".npy");
    takes_file(argument) || is_array
}

/// The paths that a command line names.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    read: Vec<PathBuf>,
    written: Vec<PathBuf>,
}

impl Paths {
    /// Those of the arguments that were given, whichever they are: an argument that nothing here
    /// knows counts as read.
    pub(crate) fn given(definition: &Command, matches: &ArgMatches) -> Self {
        let mut paths = Self::default();
        let Some((name, given)) = matches.subcommand() else {
            return paths;
        };
        let command = definition.find_subcommand(name);
        for argument in command.into_iter().flat_map(Command::get_arguments) {
            let id = argument.get_id().as_str();
            let values = given.get_raw(id).into_iter().flatten();
            let values = values.filter(|value| names_file(argument, &value.to_string_lossy()));
            // Standard input and output.
            let values = values
                .map(PathBuf::from)
                .filter(|path| path != Path::new("-"));
            if is_written(name, id) {
                paths.written.extend(values);
            } else if !REPLACED.contains(&id) {
                paths.read.extend(values);
            }
        }
        paths
    }

    /// Errors when two of these are the same file: an output and an input, or two outputs. Files
    /// that are not there yet are no trouble, and neither are folders, pipes and devices.
    pub(crate) fn keep_apart(&self) -> Result<()> {
        // What a folder or a pattern stands for is read, too.
        let files = |input: &PathBuf| data::parts(input).unwrap_or_else(|_| vec![input.clone()]);
        let inputs = self.read.iter().flat_map(files);
        let inputs: Vec<_> = inputs.map(|input| real(data::file_of(&input))).collect();
        let is_replaced = |output: &&PathBuf| output.is_file() || !output.exists();
        let mut written: Vec<PathBuf> = Vec::new();
        for output in self.written.iter().filter(is_replaced) {
            let place = real(output);
            let refuse = |problem: &str| {
                let output = output.display();
                Err(Usage(format!("{output}: {problem}; name another output")).into())
            };
            if inputs.contains(&place) {
                return refuse("is read by this command and would be replaced");
            }
            if written.contains(&place) {
                return refuse("is named for two outputs");
            }
            written.push(place);
        }
        Ok(())
    }
}

/// A path without links; of a file that is not there yet that of its folder.
fn real(path: &Path) -> PathBuf {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    path.canonicalize().unwrap_or_else(|_| {
        let folder = folder.unwrap_or(Path::new(".")).canonicalize();
        match (folder, path.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            _ => path.to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;

    /// Every argument that names a file, and whether it is written: a new one has to be looked at.
    #[test]
    fn every_argument_that_names_a_file_is_known() {
        let mut definition = Cli::definition();
        definition.build();
        let mut found = [Vec::new(), Vec::new()];
        for command in definition.get_subcommands() {
            for argument in command
                .get_arguments()
                .filter(|argument| takes_file(argument))
            {
                let (name, id) = (command.get_name(), argument.get_id().as_str());
                found[usize::from(is_written(name, id))].push(format!("{name} {id}"));
            }
        }
        let [read, written] = found.map(|mut names| {
            names.sort();
            names.join("\n")
        });
        assert_eq!(read, READ.join("\n"));
        assert_eq!(written, WRITES.join("\n"));
        // What a .npy file may stand for in a word is in the list of such options.
        for command in definition.get_subcommands() {
            for argument in command
                .get_arguments()
                .filter(|argument| !takes_file(argument))
            {
                let help = argument
                    .get_help()
                    .map(ToString::to_string)
                    .unwrap_or_default();
                let is_listed = WORD_OR_ARRAY.contains(&argument.get_id().as_str());
                assert_eq!(help.contains("a .npy"), is_listed, "{argument}");
            }
        }
    }

    const READ: [&str; 33] = [
        "card model",
        "drift a",
        "drift b",
        "drift landmark_kernel",
        "drift targets",
        "evaluate input",
        "evaluate model",
        "evaluate targets",
        "explain input",
        "explain model",
        "explain targets",
        "export model",
        "featurize input",
        "featurize landmark_kernel",
        "featurize targets",
        "fit input",
        "fit job",
        "fit landmark_kernel",
        "fit like",
        "fit metric_from",
        "fit targets",
        "fit test_input",
        "fit test_targets",
        "independence input",
        "independence landmark_kernel",
        "kernel-error input",
        "kernel-error landmark_kernel",
        "kernel-error targets",
        "merge partial",
        "predict input",
        "predict model",
        "reproduce data",
        "show model",
    ];
    const WRITES: [&str; 24] = [
        "bench report",
        "card output",
        "drift report",
        "evaluate report",
        "explain output",
        "explain report",
        "export output",
        "featurize checkpoint",
        "featurize output",
        "featurize report",
        "fit checkpoint",
        "fit output",
        "fit partial",
        "fit report",
        "independence report",
        "kernel-error report",
        "merge output",
        "merge report",
        "predict checkpoint",
        "predict output",
        "predict probabilities",
        "predict report",
        "reproduce output_folder",
        "reproduce tables",
    ];
}
