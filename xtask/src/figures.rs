//! `cargo xtask figures`: the commands of the documents are run, and what pages show is what they
//! print.
//!
//! A page is run from its beginning to its end in a folder of its own, with data/ beside it, on the
//! CPU. Blocks of `sh` are commands; those of `text` behind them show lines of what these print, on
//! stdout and stderr; those of `csv` and `toml` are files. A command on a file in backquotes among
//! words has to be one that the program knows. Code is tested elsewhere: Rust by tests/build.rs,
//! Python by python/tests/test_documents.py.

mod compare;
mod page;
mod rules;
mod run;

use crate::folders::root;
use crate::process::{cargo, run};
use anyhow::{Result, bail};
use rules::{NOT_RUN, Rule, SLOW};
use run::{Outcome, folder_of, run_page};
use std::fs;
use std::time::Instant;

/// Builds the program and runs the pages of these names, all where none are named.
pub(crate) fn check(names: &[String]) -> Result<()> {
    run(&mut cargo(["build", "--release", "--workspace", "--bins"]))?;
    let pages = pages()?;
    for name in names {
        if !pages.contains(name) {
            bail!("no page {name}: say one of {}", pages.join(", "));
        }
    }
    let chosen = pages
        .iter()
        .filter(|p| names.is_empty() || names.contains(p));
    run_pages(chosen, &[])
}

/// Runs all pages but what is slow, by the program that was built.
pub(crate) fn check_short() -> Result<()> {
    run_pages(&pages()?, &SLOW)
}

/// The README and every page of docs/.
fn pages() -> Result<Vec<String>> {
    let mut pages = vec!["README.md".to_owned()];
    for entry in root().join("docs").read_dir()? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".md") {
            pages.push(format!("docs/{name}"));
        }
    }
    pages.sort();
    Ok(pages)
}

fn run_pages<'a>(names: impl IntoIterator<Item = &'a String>, slow: &[Rule]) -> Result<()> {
    let (mut run, mut left_out, mut shown, mut faults) = (0, 0, 0, Vec::new());
    for name in names {
        let start = Instant::now();
        let found = run_one(name, slow).unwrap_or_else(|error| Outcome {
            faults: vec![format!("{error:#}")],
            ..Outcome::default()
        });
        if found.run > 0 || !found.left_out.is_empty() {
            let reasons = found.left_out.iter().map(|why| format!("; not: {why}"));
            let reasons: String = reasons.collect();
            let seconds = start.elapsed().as_secs_f64();
            println!("{name}: {} run in {seconds:.1} s{reasons}", found.run);
        }
        run += found.run;
        left_out += found.left_out.len();
        shown += found.shown;
        faults.extend(found.faults.iter().map(|fault| format!("{name}:{fault}")));
    }
    if !faults.is_empty() {
        bail!("{} faults of pages:\n{}", faults.len(), faults.join("\n"));
    }
    println!("{run} blocks of commands run, {left_out} not; {shown} lines shown are printed");
    Ok(())
}

/// Runs a page, without what is slow.
fn run_one(name: &str, slow: &[Rule]) -> Result<Outcome> {
    let text = fs::read_to_string(root().join(name))?;
    let rules = NOT_RUN.iter().chain(slow);
    let rules: Vec<&Rule> = rules.filter(|rule| rule.page == name).collect();
    run_page(&text, &folder_of(name)?, &rules)
}
