//! Workflows of the usual hosting are thin: each of their steps is a command that anyone can type,
//! and each action that they take is one commit of it.

use crate::folders::root;
use crate::process::run;
use crate::python::environment;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// What looks for holes in them.
const LINTERS: [&str; 1] = ["zizmor>=1.32,<2"];

/// Where they lie.
fn folder() -> PathBuf {
    root().join(".github/workflows")
}

/// Errs where a workflow calls what is not there, or takes an action by a name that may move.
/// `commands` are those of `cargo xtask`.
pub(crate) fn check(commands: &[&str]) -> Result<()> {
    let folder = folder();
    let mut faults = Vec::new();
    for entry in folder
        .read_dir()
        .with_context(|| folder.display().to_string())?
    {
        let path = entry?.path();
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let name = path.strip_prefix(root()).unwrap_or(&path).display();
        for (line, fault) in self::faults(&text, commands) {
            faults.push(format!("{name}:{line}: {fault}"));
        }
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    Ok(())
}

/// As [`check`], and has zizmor look at them, of a virtual environment under target/.
pub(crate) fn lint(commands: &[&str]) -> Result<()> {
    check(commands)?;
    let python = environment("workflows", &LINTERS)?;
    let zizmor = python.with_file_name("zizmor");
    run(Command::new(zizmor)
        .args(["--offline", "--quiet"])
        .arg(folder()))
}

/// What is wrong with the lines of a workflow, which count from 1.
fn faults(text: &str, commands: &[&str]) -> Vec<(usize, String)> {
    let mut faults = Vec::new();
    for (line, words) in (1..).zip(text.lines().map(str::trim)) {
        let words = words.strip_prefix("- ").unwrap_or(words);
        for call in words.split("cargo xtask ").skip(1) {
            let end = call.find(|c: char| !c.is_ascii_lowercase() && c != '-');
            let command = &call[..end.unwrap_or(call.len())];
            if !words.starts_with('#') && !commands.contains(&command) {
                faults.push((line, format!("there is no `cargo xtask {command}`")));
            }
        }
        let Some(action) = words.strip_prefix("uses: ") else {
            continue;
        };
        let (action, comment) = action.split_once(" # ").unwrap_or((action, ""));
        let commit = action.split_once('@').map_or("", |(_, commit)| commit);
        let is_pinned = commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit());
        let is_own = action.starts_with("./");
        if !is_own && (!is_pinned || !comment.starts_with('v')) {
            let fault = format!("{action} is not a commit of 40 digits with its version behind it");
            faults.push((line, fault));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::faults;

    #[test]
    fn commands_that_are_not_there_and_actions_that_may_move_are_found() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let text = format!(
            "# cargo xtask nothing\n- run: cargo xtask test --whole\n  run: cargo xtask tests\n\
             - {{ what: a, command: cargo xtask soak }}\n- uses: a/b@{commit} # v1.2\n\
             - uses: a/b@{commit}\n- uses: a/b@v1 # v1\n- uses: ./.github/workflows/a.yml\n"
        );
        let found: Vec<usize> = faults(&text, &["test"])
            .iter()
            .map(|(line, _)| *line)
            .collect();
        assert_eq!(found, [3, 4, 6, 7]);
    }
}
