//! One page: its commands in a folder of its own, and what it shows beside what they print.

use super::compare::difference;
use super::page::{Block, Kind, blocks};
use super::rules::{Rule, write_tables};
use crate::folders::{root, target_dir};
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// How a reader of the README builds and runs the program.
const BY_CARGO: &str = "cargo run --release --";
/// The exit status of a command that the program does not know.
const USAGE: i32 = 2;

/// What came of a page.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Blocks of commands that ran, and the lines of theirs that the page shows.
    pub(super) run: usize,
    pub(super) shown: usize,
    /// Why others did not.
    pub(super) left_out: Vec<&'static str>,
    /// Where the page is wrong, each from the number of its line on.
    pub(super) faults: Vec<String>,
}

/// A folder for a page, made anew, with data/ and the tables that stand for its reader's own.
pub(super) fn folder_of(page: &str) -> Result<PathBuf> {
    let folder = target_dir().join("figures").join(page);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    for inner in ["data", EMPTY] {
        fs::create_dir_all(folder.join(inner)).with_context(|| folder.display().to_string())?;
    }
    let digits = "data/digits.csv";
    fs::copy(root().join(digits), folder.join(digits)).context(digits)?;
    write_tables(page, &folder)?;
    Ok(folder)
}

/// A folder without files, in which a command that the program knows finds none of its files.
const EMPTY: &str = "empty";

/// Runs the commands of a page but for those that rules leave out, each of which has to fit some.
pub(super) fn run_page(text: &str, folder: &Path, rules: &[&Rule]) -> Result<Outcome> {
    let blocks = blocks(text)?;
    let stale = |rule: &&&Rule| !blocks.iter().any(|block| rule.fits(block));
    if let Some(Rule { words, .. }) = rules.iter().find(stale) {
        bail!("0: no commands have {words:?}: take this rule out of figures/rules.rs");
    }
    let (mut found, mut printed) = (Outcome::default(), None);
    for block in &blocks {
        match &block.kind {
            Kind::Code => {}
            Kind::File(name) => fs::write(folder.join(name), &block.text).context(name.clone())?,
            Kind::Mentioned => found.faults.extend(fault_of_mentioned(block, folder)?),
            Kind::Commands => {
                let rule = rules.iter().find(|rule| rule.fits(block));
                found.left_out.extend(rule.map(|rule| rule.reason));
                found.run += usize::from(rule.is_none());
                printed = match rule {
                    Some(_) => None,
                    None => Some(run_commands(block, folder)?),
                };
            }
            Kind::Printed => {
                if let Some(printed) = &mut printed {
                    found.shown += block.text.lines().count();
                    found.faults.extend(fault_of_printed(block, printed));
                }
            }
        }
    }
    Ok(found)
}

/// The first line of a block that is not printed; `printed` loses those that are.
fn fault_of_printed(block: &Block, printed: &mut Vec<String>) -> Option<String> {
    let (place, own) = difference(&block.text, printed)?;
    let shown = block.text.lines().nth(place)?;
    let line = block.line + place;
    Some(format!(
        "{line}: the page has\n    {shown}\nprinted is\n    {own}"
    ))
}

/// What the program says of a command that it does not know.
fn fault_of_mentioned(block: &Block, folder: &Path) -> Result<Option<String>> {
    let (status, printed) = shell(&block.text, &folder.join(EMPTY))?;
    let (line, text) = (block.line, &block.text);
    let unknown = status.code() == Some(USAGE);
    Ok(unknown.then(|| format!("{line}: `{text}` is no command:\n{printed}")))
}

/// The lines that commands write to stdout and stderr; errs where one fails.
fn run_commands(block: &Block, folder: &Path) -> Result<Vec<String>> {
    let (status, printed) = shell(&block.text.replace(BY_CARGO, "bochner"), folder)?;
    if !status.success() {
        bail!("{}: fails ({status}):\n{}{printed}", block.line, block.text);
    }
    Ok(printed.lines().map(str::to_owned).collect())
}

/// Runs a script up to the first command that fails, with the program that was built, on the CPU.
fn shell(script: &str, folder: &Path) -> Result<(ExitStatus, String)> {
    let programs = target_dir().join("release");
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(programs).chain(std::env::split_paths(&others));
    let output = folder.join("printed");
    let file = File::create(&output).with_context(|| output.display().to_string())?;
    let status = Command::new("sh")
        .args(["-e", "-c", script])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(path)?)
        .env("BOCHNER_DEVICE", "cpu")
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .status()
        .context("cannot start `sh`")?;
    let printed = fs::read(&output)?;
    Ok((status, String::from_utf8_lossy(&printed).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of a page of one block that prints two lines.
    fn run(name: &str, shown: &str, rules: &[&Rule]) -> Result<Outcome> {
        let page = format!("```sh\necho accuracy 0.979; echo of 6 >&2\n```\n{shown}\n");
        run_page(&page, &folder_of(name)?, rules)
    }

    #[test]
    fn a_page_that_shows_what_is_not_printed_is_seen() {
        let shown = |text: &str| {
            let found = run("shown", &format!("```text\n{text}\n```"), &[]).unwrap();
            (found.shown, found.faults)
        };
        assert_eq!(shown("accuracy 0.979\nof 6"), (2, vec![]));
        let fault = "5: the page has\n    accuracy 0.972\nprinted is\n    accuracy 0.979";
        assert_eq!(shown("accuracy 0.972"), (1, vec![fault.to_owned()]));
    }

    #[test]
    fn a_command_among_words_that_the_program_does_not_know_is_seen() {
        let found = run("mentioned", "`bochner t.csv || exit 2`", &[]).unwrap();
        assert!(found.faults[0].starts_with("4: `bochner t.csv || exit 2` is no command"));
        let found = run("mentioned", "`bochner t.csv || exit 1`", &[]).unwrap();
        assert_eq!(found.faults, [""; 0]);
    }

    #[test]
    fn commands_that_fail_and_rules_that_fit_nothing_are_seen() {
        let error =
            |shown: &str, rules: &[&Rule]| format!("{:#}", run("fails", shown, rules).unwrap_err());
        assert!(error("```sh\nfalse\ntrue\n```", &[]).starts_with("5: fails"));
        let mut rule = Rule {
            page: "",
            words: "acc",
            reason: "why",
        };
        let found = run("left_out", "```text\nany\n```", &[&rule]).unwrap();
        assert_eq!((found.run, found.left_out), (0, vec!["why"]));
        rule.words = "none";
        assert!(error("", &[&rule]).contains("no commands have"));
    }
}
