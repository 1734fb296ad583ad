//! Cases by request, for scripts that time other software in turn with this one.
//!
//! Each line of stdin is a JSON object: `{"op": NAME, "rows": N, "dim": d, "features": D}` names a
//! case, which stays loaded until another is named; `"times": n` times it n times, warm
//! (`"batch": k` waits once for k runs); `"error": true` compares it with f64. Each is answered by
//! one line: `{"seconds": [...], "tile": ..., "blocks": ..., "error": ...}` or `{"failed": why}`.
//! The first line says which device it is, and how much of a result is compared.

use crate::report;
use anyhow::Result;
use bochner::{
    Device, Error,
    bench::{COMPARED_COLUMNS, COMPARED_ROWS, COMPARED_TRANSFORMS, OpBench, Prepared, Shape},
    registry,
};
use serde_json::{Value, json};
use std::io::BufRead;

/// Answers until stdin ends.
pub(super) fn run(device: &Device) -> Result<()> {
    let hello = json!({
        "device": device.describe(),
        "version": env!("CARGO_PKG_VERSION"),
        "compared": {
            "rows": COMPARED_ROWS,
            "transforms": COMPARED_TRANSFORMS,
            "columns": COMPARED_COLUMNS,
        },
    });
    report::to_stdout(&format!("{hello}\n"))?;
    let mut loaded: Option<(&'static str, Shape, Prepared)> = None;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| Error::io("stdin", error))?;
        let answer = answer(device, &line, &mut loaded);
        let answer = answer.unwrap_or_else(|error| {
            let why = report::explain(&error);
            json!({ "failed": why })
        });
        report::to_stdout(&format!("{answer}\n"))?;
    }
    Ok(())
}

fn answer(
    device: &Device,
    line: &str,
    loaded: &mut Option<(&'static str, Shape, Prepared)>,
) -> Result<Value> {
    let request: Value = serde_json::from_str(line)?;
    let number = |key: &str| {
        let value = request[key].as_u64().unwrap_or(0);
        usize::try_from(value).unwrap_or(usize::MAX)
    };
    let op: &'static OpBench = registry::bench(request["op"].as_str().unwrap_or_default())?;
    let shape = op.shape(number("rows"), number("dim"), number("features"));
    if !matches!(loaded, Some((name, s, _)) if *name == op.name && *s == shape) {
        // Its memory goes before the next case takes some.
        *loaded = None;
        *loaded = Some((op.name, shape, Prepared::new(device, op, shape)?));
    }
    let Some((_, _, prepared)) = loaded else {
        unreachable!("just loaded")
    };
    let seconds = prepared.time_exactly(number("times"), number("batch").max(1))?;
    let error = match request["error"].as_bool() {
        Some(true) => Some(prepared.error()?),
        _ => None,
    };
    Ok(json!({
        "seconds": seconds,
        "tile": prepared.tile(),
        "blocks": prepared.blocks(),
        "error": error,
    }))
}
