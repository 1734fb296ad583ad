//! Long runs, longer than CI has time for.

use crate::process::{cargo, run};
use anyhow::Result;

/// Rows of the long run.
const ROWS: &str = "10000000";

/// Fits rows that are made as they are asked for, in memory that does not grow.
pub(crate) fn soak(rows: Option<&String>) -> Result<()> {
    let mut test = cargo([
        "test",
        "--release",
        "--workspace",
        "--test",
        "cpu",
        "--",
        "--nocapture",
        "soak::",
    ]);
    run(test.env("BOCHNER_SOAK_ROWS", rows.map_or(ROWS, String::as_str)))
}

/// Kills of each command.
const KILLS: &str = "20";

/// Kills runs at moments that are drawn, and compares what they come to.
pub(crate) fn kills() -> Result<()> {
    let mut test = cargo([
        "test",
        "--release",
        "--workspace",
        "--test",
        "cli",
        "--",
        "--nocapture",
        "kept::",
    ]);
    run(test.env("BOCHNER_KILLS", KILLS))
}
