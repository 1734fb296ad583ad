//! What `-h` shows of a command: one screen. `--help` shows all.

use clap::{Arg, Command};

/// Groups of which `-h` shows what stands in [`SHOWN`]; of other options it shows all but [`RARE`].
const GROUPS: &[&str] = &[
    "Job options",
    "Learner options",
    "Search options",
    "Map options",
    "Options of single maps",
    "Data options",
    "Run options",
];

/// What most people use of those groups.
const SHOWN: &[&str] = &[
    "model",
    "lambda",
    "auto",
    "quick",
    "map",
    "features",
    "kernel",
    "sigma",
    "seed",
    "standardize",
    "target",
    "targets",
    "ignore",
    "missing",
    "device",
    "memory",
    "report",
    "json",
    "quiet",
    "verbose",
];

/// What few people use of a command's own options.
const RARE: &[&str] = &[
    "test-targets",
    "group",
    "cv-time",
    "weight",
    "half-life",
    "target-scale",
    "linear",
    "additive",
    "format",
    "delimiter",
    "header",
    "skip-rows",
    "comment",
    "encoding",
    "zero-based",
    "reconstruction-error",
    "scores",
    "variant",
    "outer-features",
];

/// The command with a short help beside the long one, where something is left out of it.
pub(crate) fn shortened(command: Command) -> Command {
    let command = command.mut_args(|argument| {
        let is_rare = is_rare(&argument);
        argument.hide_short_help(is_rare)
    });
    let hidden = command.get_arguments().filter(|a| is_rare(a)).count();
    if hidden == 0 {
        return command;
    }
    let long = command.get_after_help().map(ToString::to_string);
    let more = format!(
        "{hidden} more options: bochner {} --help",
        command.get_name()
    );
    let short = match &long {
        Some(long) => format!("{long}\n{more}"),
        None => more,
    };
    let command = command.after_help(short);
    // Without one of its own, `--help` would end with the short one's.
    command.after_long_help(long.unwrap_or_default())
}

fn is_rare(argument: &Arg) -> bool {
    let name = argument.get_long().unwrap_or_default();
    let heading = argument.get_help_heading().unwrap_or_default();
    if GROUPS.contains(&heading) {
        return !SHOWN.contains(&name);
    }
    RARE.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;

    /// Lines on a terminal of 100 columns.
    #[test]
    fn short_help_is_one_screen_and_long_help_has_all() {
        let mut all = Cli::definition();
        all.build();
        for command in all.get_subcommands_mut() {
            let short = command.render_help().to_string();
            let lines = |line: &str| line.chars().count().div_ceil(100).max(1);
            let height: usize = short.lines().map(lines).sum();
            assert!(height <= 55, "{height} lines\n{short}");
            let long = command.render_long_help().to_string();
            for argument in command.get_arguments().filter(|a| !a.is_hide_set()) {
                if let Some(name) = argument.get_long() {
                    assert!(long.contains(&format!("--{name}")), "{name}");
                }
            }
            assert!(!long.contains("more options: "), "{long}");
        }
    }

    /// A name that no command has any more would be kept for ever.
    #[test]
    fn what_is_named_are_options() {
        let all = Cli::definition();
        for name in SHOWN.iter().chain(RARE) {
            let has = |command: &Command| {
                let mut arguments = command.get_arguments();
                arguments.any(|argument| argument.get_long() == Some(name))
            };
            assert!(all.get_subcommands().any(has), "{name}");
        }
    }
}
