//! What is told at the end: build and run apart, what took longest, and what took too long.

use super::Request;
use super::exceptions::Exceptions;
use super::work::Outcome;
use crate::adapters::Driver;
use crate::folders::target_dir;
use anyhow::{Context, Result, bail};
use std::fs;
use std::time::Duration;

/// How many of the slowest are named.
const SLOWEST: usize = 10;

/// Prints all of it; errs if a test failed, if none ran, and in CI if one took too long.
pub(super) fn tell(
    outcomes: &[Outcome],
    [building, running]: [Duration; 2],
    request: &Request,
    drivers: &[Driver],
) -> Result<()> {
    let mut jobs: Vec<(&str, f64)> = outcomes
        .iter()
        .map(|outcome| {
            let seconds = outcome.took.as_secs_f64();
            (outcome.name.as_str(), outcome.processors.unwrap_or(seconds))
        })
        .collect();
    slowest("processes", &mut jobs);
    let mut tests: Vec<(String, f64)> = Vec::new();
    for outcome in outcomes {
        let own = outcome.tests.iter();
        tests.extend(own.map(|(test, s)| (format!("{} {test}", outcome.name), *s)));
    }
    let mut named: Vec<_> = tests.iter().map(|(name, s)| (name.as_str(), *s)).collect();
    slowest("tests", &mut named);
    let all = target_dir().join("test-times.txt");
    let lines = named.iter().map(|(name, s)| format!("{s:.2} {name}\n"));
    fs::write(&all, lines.collect::<String>()).with_context(|| all.display().to_string())?;
    println!("all of them: {}", all.display());

    let sum = |of: fn(&Outcome) -> usize| outcomes.iter().map(of).sum::<usize>();
    let failed = sum(|outcome| outcome.failed);
    let (passed, skipped) = (
        sum(|outcome| outcome.passed),
        sum(|outcome| outcome.skipped),
    );
    let names: Vec<&str> = drivers.iter().map(|driver| driver.name.as_str()).collect();
    println!("adapters tested: {}", names.join("; "));
    println!(
        "built in {:.0} s, ran in {:.0} s",
        building.as_secs_f64(),
        running.as_secs_f64()
    );
    let ill: Vec<&str> = outcomes
        .iter()
        .filter(|outcome| !outcome.ended_well || outcome.failed > 0)
        .map(|outcome| outcome.name.as_str())
        .collect();
    let exceptions = Exceptions::read()?;
    let test = |name: &'_ str| name.rsplit(' ').next().unwrap_or_default().to_owned();
    let paths: Vec<String> = named.iter().map(|(name, _)| test(name)).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let idle = match request.is_all() {
        true => exceptions.idle(&paths),
        false => Vec::new(),
    };
    let too_long: Vec<String> = named
        .iter()
        .filter(|(name, seconds)| *seconds > exceptions.most(&test(name)))
        .map(|(name, seconds)| format!("{name} took {seconds:.1} s of processors"))
        .collect();
    // The last line, by which a run is counted.
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    if !ill.is_empty() {
        bail!("tests failed in {}", ill.join(", "));
    }
    if passed == 0 {
        bail!("no test ran");
    }
    if !idle.is_empty() {
        bail!(
            "tests/slow.txt excuses tests that are not there: {}",
            idle.join(", ")
        );
    }
    if !too_long.is_empty() && !request.whole {
        let told = format!(
            "{}; a test takes 20 s at most, unless tests/slow.txt says why",
            too_long.join(", ")
        );
        match std::env::var_os("CI") {
            Some(_) => bail!("{told}"),
            None => println!("note: {told}"),
        }
    }
    Ok(())
}

fn slowest(what: &str, all: &mut [(&str, f64)]) {
    all.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    println!("the slowest {what}, seconds of processors:");
    for (name, seconds) in all.iter().take(SLOWEST) {
        println!("  {seconds:7.1}  {name}");
    }
}
