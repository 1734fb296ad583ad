//! What is told at the end: build and run apart, what took longest, and what took too long.

use super::Request;
use super::exceptions::Exceptions;
use super::work::Outcome;
use crate::adapters::Driver;
use crate::folders::target_dir;
use anyhow::{Context, Result, bail};
use std::fs;
use std::time::Duration;

/// A test that takes so many times what it may fails a run in CI.
const OVER: f64 = 3.0;

/// How many of the slowest are named.
const SLOWEST: usize = 10;

/// Prints all of it; errs if a test failed, if none ran, and in CI if one took too long.
pub(super) fn tell(
    outcomes: &[Outcome],
    [building, running]: [Duration; 2],
    request: &Request,
    drivers: &[Driver],
) -> Result<()> {
    let tests = tell_times(outcomes)?;
    let names: Vec<&str> = drivers.iter().map(|driver| driver.name.as_str()).collect();
    println!("adapters tested: {}", names.join("; "));
    println!(
        "built in {:.0} s, ran in {:.0} s",
        building.as_secs_f64(),
        running.as_secs_f64()
    );
    let exceptions = Exceptions::read()?;
    require_passes(outcomes)?;
    if request.is_all() {
        require_use(&exceptions, &tests)?;
    }
    if request.whole {
        return Ok(());
    }
    let is_ci = std::env::var_os("CI").is_some();
    if let Some(note) = require_short(&exceptions, &tests, is_ci)? {
        println!("note: {note}");
    }
    Ok(())
}

/// Prints what took longest, and writes the times of all tests to a file. Returns those times,
/// longest first.
fn tell_times(outcomes: &[Outcome]) -> Result<Vec<(String, f64)>> {
    let processes = outcomes.iter().map(|outcome| {
        let seconds = outcome.took.as_secs_f64();
        (outcome.name.clone(), outcome.processors.unwrap_or(seconds))
    });
    slowest("processes", &mut processes.collect::<Vec<_>>());
    let mut tests: Vec<(String, f64)> = Vec::new();
    for outcome in outcomes {
        let own = outcome.tests.iter();
        tests.extend(own.map(|(test, s)| (format!("{} {test}", outcome.name), *s)));
    }
    slowest("tests", &mut tests);
    let all = target_dir().join("test-times.txt");
    let lines = tests.iter().map(|(name, s)| format!("{s:.2} {name}\n"));
    fs::write(&all, lines.collect::<String>()).with_context(|| all.display().to_string())?;
    println!("all of them: {}", all.display());
    Ok(tests)
}

/// Prints how many passed, in the last line, by which a run is counted. Errs if one failed, or none
/// ran.
fn require_passes(outcomes: &[Outcome]) -> Result<()> {
    let sum = |of: fn(&Outcome) -> usize| outcomes.iter().map(of).sum::<usize>();
    let passed = sum(|outcome| outcome.passed);
    let failed = sum(|outcome| outcome.failed);
    let skipped = sum(|outcome| outcome.skipped);
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    let ill: Vec<&str> = outcomes
        .iter()
        .filter(|outcome| !outcome.ended_well || outcome.failed > 0)
        .map(|outcome| outcome.name.as_str())
        .collect();
    if !ill.is_empty() {
        bail!("tests failed in {}", ill.join(", "));
    }
    if passed == 0 {
        bail!("no test ran");
    }
    Ok(())
}

/// Errs if a test is excused that did not run.
fn require_use(exceptions: &Exceptions, tests: &[(String, f64)]) -> Result<()> {
    let paths: Vec<&str> = tests.iter().map(|(name, _)| path(name)).collect();
    let idle = exceptions.idle(&paths);
    if !idle.is_empty() {
        bail!(
            "tests/slow.txt excuses tests that are not there: {}",
            idle.join(", ")
        );
    }
    Ok(())
}

/// Which tests took longer than they may, in words. Errs in CI where they took [`OVER`] times as
/// long: machines differ by two and more.
fn require_short(
    exceptions: &Exceptions,
    tests: &[(String, f64)],
    is_ci: bool,
) -> Result<Option<String>> {
    let longer = |times: f64| -> Vec<String> {
        let over = tests
            .iter()
            .filter(|(name, seconds)| *seconds > times * exceptions.most(path(name)));
        over.map(|(name, seconds)| format!("{name} took {seconds:.1} s of processors"))
            .collect()
    };
    let told = |tests: &[String]| {
        format!(
            "{}; a test takes 20 s at most, unless tests/slow.txt says why",
            tests.join(", ")
        )
    };
    let far = longer(OVER);
    if is_ci && !far.is_empty() {
        bail!("{}", told(&far));
    }
    let some = longer(1.0);
    Ok((!some.is_empty()).then(|| told(&some)))
}

/// The path of a test, without the name of its process.
fn path(name: &str) -> &str {
    name.rsplit(' ').next().unwrap_or_default()
}

/// Sorts by time, longest first, and prints the first of them.
fn slowest(what: &str, all: &mut [(String, f64)]) {
    all.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    println!("the slowest {what}, seconds of processors:");
    for (name, seconds) in all.iter().take(SLOWEST) {
        println!("  {seconds:7.1}  {name}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A test may take what it may; up to three times as long is a note, and more an error in CI.
    #[test]
    fn only_what_takes_three_times_as_long_fails() {
        let exceptions = Exceptions::parse("40 b::slow: tiles are compiled").unwrap();
        let short = |tests: &[(&str, f64)], is_ci| {
            let named = |(name, seconds): &(&str, f64)| (format!("process {name}"), *seconds);
            let tests: Vec<_> = tests.iter().map(named).collect();
            require_short(&exceptions, &tests, is_ci).map_err(|error| error.to_string())
        };
        assert_eq!(short(&[("a", 20.0), ("b::slow", 40.0)], true), Ok(None));
        let note = short(&[("a", 60.0), ("b::slow", 41.0), ("c", 19.0)], true);
        let note = note.unwrap().unwrap();
        let says =
            "process a took 60.0 s of processors, process b::slow took 41.0 s of processors;";
        assert!(note.starts_with(says), "{note}");
        for far in [("a", 60.5), ("b::slow", 120.5)] {
            let error = short(&[far, ("c", 30.0)], true).unwrap_err();
            let says = format!("process {} took {:.1} s of processors;", far.0, far.1);
            assert!(error.starts_with(&says), "{error}");
            assert!(matches!(short(&[far], false), Ok(Some(_))));
        }
    }
}
