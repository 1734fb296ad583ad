//! What continuous integration may take, part by part: `.ci/budget.txt` beside what it took.
//!
//! Machines differ, so that a part's minutes are those of a machine on which building the program
//! takes [`REFERENCE`] minutes, and what was measured is brought to that by the program's own
//! build.

use crate::folders::root;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;

/// Names the file that parts write their seconds to.
const TIMES: &str = "XTASK_TIMES";
const FILE: &str = ".ci/budget.txt";
/// The part that measures the machine.
const PROGRAM: &str = "the program";
/// Its minutes on the machine of the budget.
const REFERENCE: f64 = 7.5;
/// A part that is so much over its minutes is told of.
const GROWN: f64 = 1.1;
/// All of it fails when it is so much over: half again as much, for a clock is no measure.
const MOST: f64 = 1.5;

/// Notes what a part took, where somebody adds that up.
pub(crate) fn note(part: &str, seconds: f64) {
    let Some(path) = std::env::var_os(TIMES) else {
        return;
    };
    let file = OpenOptions::new().create(true).append(true).open(path);
    let written = file.and_then(|mut file| writeln!(file, "{seconds:.1} {part}"));
    if let Err(error) = written {
        eprintln!("note: what {part} took is not noted: {error}");
    }
}

/// Prints what the parts took beside what they may take; errs where all of them take half again as
/// much, and where a part has no line.
pub(crate) fn compare() -> Result<()> {
    let path = std::env::var_os(TIMES).with_context(|| format!("{TIMES} names no file"))?;
    let took = parse(&fs::read_to_string(path)?)?;
    let budget = parse(&fs::read_to_string(root().join(FILE)).context(FILE)?)?;
    let (table, verdict) = table(&took, &budget);
    println!("{table}");
    verdict
}

/// Lines of `number part`, those of one part together; those that begin with # say how to read it.
fn parse(text: &str) -> Result<BTreeMap<String, f64>> {
    let mut all = BTreeMap::new();
    for line in text
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
    {
        let parts = line.split_once(' ');
        let number = parts.and_then(|(number, part)| Some((number.parse::<f64>().ok()?, part)));
        let (number, part) = number.with_context(|| format!("{line:?} is not `NUMBER PART`"))?;
        let part = part.split(':').next().unwrap_or(part).trim();
        *all.entry(part.to_owned()).or_insert(0.0) += number;
    }
    Ok(all)
}

fn table(took: &BTreeMap<String, f64>, budget: &BTreeMap<String, f64>) -> (String, Result<()>) {
    let program = took.get(PROGRAM).copied().unwrap_or(0.0) / 60.0;
    let may = |part: &str| budget.get(part).copied().unwrap_or(0.0);
    let all_may: f64 = budget.values().sum();
    let all: f64 = took.values().sum::<f64>() / 60.0;
    let mut lines = vec![format!("{:>8} {:>8} {:>8}", "minutes", "there", "may take")];
    // A build that found its parts says nothing of the machine.
    let is_measured = program > 0.5;
    let scale = if is_measured {
        REFERENCE / program
    } else {
        f64::NAN
    };
    let mut grown = Vec::new();
    for (part, seconds) in took {
        let minutes = seconds / 60.0;
        let there = minutes * scale;
        // Seconds are no growth.
        let is_grown = there > GROWN * may(part) && minutes > may(part) / scale + 0.1;
        lines.push(format!(
            "{minutes:8.1} {there:8.1} {:8.1} {part}{}",
            may(part),
            if is_grown { ": GROWN" } else { "" }
        ));
        if is_grown {
            grown.push(part.as_str());
        }
    }
    let there = all * scale;
    lines.push(format!("{all:8.1} {there:8.1} {all_may:8.1} all"));
    lines.push(if is_measured {
        format!("there: where building the program takes {REFERENCE} minutes; here {program:.1}")
    } else {
        "the program was there before, so that nothing tells how fast this machine is".into()
    });
    if !grown.is_empty() {
        lines.push(format!(
            "note: say in {FILE} what pays for {}, or make it shorter",
            grown.join(", ")
        ));
    }
    let unknown: Vec<_> = took
        .keys()
        .filter(|part| !budget.contains_key(*part))
        .collect();
    let verdict = if !unknown.is_empty() {
        Err(anyhow::anyhow!("{FILE} has no line for {unknown:?}"))
    } else if there > MOST * all_may {
        Err(anyhow::anyhow!(
            "{there:.0} minutes are half again the {all_may:.0} of {FILE}"
        ))
    } else {
        Ok(())
    };
    (lines.join("\n"), verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_held_to_their_minutes_on_any_machine() {
        let budget = parse("# how\n7.5 the program\n10 tests: why\n").unwrap();
        let of = |program: f64, tests: f64| {
            let took = format!("{program} the program\n{tests} tests\n");
            table(&parse(&took).unwrap(), &budget)
        };
        for speed in [1.0, 3.0] {
            let (told, verdict) = of(450.0 / speed, 600.0 / speed);
            assert!(verdict.is_ok() && !told.contains("GROWN"), "{told}");
            let (told, verdict) = of(450.0 / speed, 700.0 / speed);
            assert!(verdict.is_ok() && told.contains("tests: GROWN"), "{told}");
            assert!(of(450.0 / speed, 1200.0 / speed).1.is_err());
        }
        // A program that was there before measures nothing.
        assert!(of(1.0, 1200.0).1.is_ok());
        let unknown = parse("9 tools\n").unwrap();
        assert!(table(&unknown, &budget).1.is_err());
        assert!(parse("tests 9").is_err());
    }

    #[test]
    fn the_file_is_read_and_keeps_to_28_minutes() {
        let text = fs::read_to_string(root().join(FILE)).unwrap();
        let all: f64 = parse(&text).unwrap().values().sum();
        assert!(all <= 28.0 + 1e-9, "{all}");
    }
}
