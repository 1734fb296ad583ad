//! `bochner bench --check`: every op against f64, on the CPU and on every adapter.

use crate::{
    drivers::quietly,
    flags,
    report::{self, Console, Usage},
};
use anyhow::{Result, bail};
use bochner::{
    Device,
    check::{Extent, Outcome},
    registry::{REGISTRY, Row},
};
use serde_json::{Value, json};
use std::time::Instant;

/// Prints one line for each op and device; an error when any of them fails.
pub(super) fn run(console: &Console, op: Option<&str>, as_json: bool) -> Result<()> {
    let rows = rows(op)?;
    for adapter in quietly(Device::report).adapters {
        if let Some(refusal) = &adapter.refusal {
            console.note(&format!("{} is not checked: {refusal}", adapter.describe()));
        }
    }
    let mut devices = vec![Device::cpu()];
    devices.extend(quietly(Device::all_gpus)?);
    if devices.len() == 1 {
        console.note("no adapter to check; only the CPU is");
    }
    let mut results: Vec<Value> = Vec::new();
    let mut failed = Vec::new();
    for device in &devices {
        let name = device.describe();
        if !as_json {
            report::to_stdout(&format!("{name}\n"))?;
        }
        for row in &rows {
            let start = Instant::now();
            let outcome = (row.check)(device, Extent::Whole);
            let seconds = start.elapsed().as_secs_f64();
            let (passed, line, result) = described(&outcome);
            let verdict = if passed { "ok" } else { "FAILED" };
            if !as_json {
                report::to_stdout(&format!(
                    "  {:<14} {verdict:<6} {line}, {seconds:.1} s\n",
                    row.op
                ))?;
            }
            results.push(json!({
                "device": name,
                "op": row.op,
                "passed": passed,
                "seconds": seconds,
                "outcome": result,
            }));
            if !passed {
                failed.push(format!("{} on {name}", row.op));
            }
        }
    }
    if as_json {
        let object = json!({ "passed": failed.is_empty(), "results": results });
        report::to_stdout(&format!("{object}\n"))?;
    }
    if !failed.is_empty() {
        bail!(
            "{} of {} checks failed: {}; do not trust results of these devices, and please report \
             this",
            failed.len(),
            results.len(),
            failed.join(", ")
        );
    }
    Ok(())
}

/// Whether a check passed, in words for people, and in figures for programs.
fn described(outcome: &bochner::Result<Outcome>) -> (bool, String, Value) {
    match outcome {
        Ok(o) => (
            o.passed(),
            format!(
                "{:5} cases, worst error {:.3} of its bound ({}), least control {:.1e} ({})",
                o.cases, o.worst, o.worst_case, o.control, o.control_case
            ),
            json!({
                "cases": o.cases,
                "worst": o.worst,
                "worst_case": o.worst_case,
                "controls": o.controls,
                "control": o.control,
                "control_case": o.control_case,
            }),
        ),
        Err(error) => {
            let why = report::one_line(&flags::explain(error));
            (false, why.clone(), json!({ "failed": why }))
        }
    }
}

/// All ops, or the one of that name; errs, with the names there are, where there is none.
fn rows(op: Option<&str>) -> Result<Vec<Row>> {
    let asked_for = |row: &&Row| op.is_none_or(|op| row.op == op);
    let rows: Vec<Row> = REGISTRY.iter().filter(asked_for).copied().collect();
    match (rows.is_empty(), op) {
        (true, Some(op)) => {
            let names: Vec<_> = REGISTRY.iter().map(|row| row.op).collect();
            let why = format!("--op {op}: no such check; there are {}", names.join(", "));
            Err(Usage(why).into())
        }
        _ => Ok(rows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_op_is_checked_where_none_is_named() {
        let names = |op| rows(op).map(|rows| rows.iter().map(|row| row.op).collect::<Vec<_>>());
        let all: Vec<_> = REGISTRY.iter().map(|row| row.op).collect();
        assert_eq!(names(None).unwrap(), all);
        assert!(all.len() >= 10 && all.contains(&"projection"), "{all:?}");
        assert_eq!(names(Some("place")).unwrap(), ["place"]);
        let error = names(Some("plate")).unwrap_err().to_string();
        assert!(error.contains("projection, gram"), "{error}");
    }
}
