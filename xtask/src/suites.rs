//! The test suites: on the CPU and on every adapter, with a tally at the end.

use crate::process::{cargo, shown, step};
use crate::{adapters, python};
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Instant;

/// Sets up adapters and runs every test, doctests included; `arguments` go to `cargo test`. Without
/// any the tests of the Python package follow.
///
/// Errs if a test fails, if none ran, or if there is no adapter to run on.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (environment, adapters) = adapters::prepare()?;
    let start = Instant::now();
    let mut command = cargo(["test", "--release", "--workspace"]);
    environment.apply(command.args(arguments).stdout(Stdio::piped()));
    let mut child = command.spawn().context("cannot start cargo")?;

    // Cargo's own messages go to stderr untouched; stdout is passed on line by line and counted.
    let mut tally = Tally::default();
    let stdout = child.stdout.take().expect("stdout was piped");
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line?;
        tally.add(&String::from_utf8_lossy(&line));
        let mut out = std::io::stdout().lock();
        out.write_all(&line)?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
    let status = child.wait()?;

    let names: Vec<&str> = adapters
        .iter()
        .map(|adapter| adapter.name.as_str())
        .collect();
    println!(
        "in all: {} passed, {} failed, {} ignored in {} suites, {:.1} s",
        tally.passed,
        tally.failed,
        tally.ignored,
        tally.suites,
        start.elapsed().as_secs_f64()
    );
    println!("adapters tested: {}", names.join("; "));
    if !status.success() {
        bail!("`{}` failed ({status})", shown(&command));
    }
    if tally.passed == 0 {
        bail!("`{}` ran no test", shown(&command));
    }
    match arguments.is_empty() {
        true => step("Python package", python::test),
        false => Ok(()),
    }
}

#[derive(Debug, Default, PartialEq)]
struct Tally {
    suites: usize,
    passed: usize,
    failed: usize,
    ignored: usize,
}

impl Tally {
    /// Adds a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; ...`;
    /// others count for nothing.
    fn add(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        self.suites += 1;
        let counts = result.split_once(". ").map_or("", |(_, counts)| counts);
        for count in counts.split("; ") {
            let Some((number, what)) = count.split_once(' ') else {
                continue;
            };
            let number: usize = number.parse().unwrap_or(0);
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_add_up() {
        let mut tally = Tally::default();
        for line in [
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test a ... ok",
            "test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 9 filtered out; finished in 1.00s",
        ] {
            tally.add(line);
        }
        let expected = Tally {
            suites: 2,
            passed: 7,
            failed: 2,
            ignored: 1,
        };
        assert_eq!(tally, expected);
    }
}
