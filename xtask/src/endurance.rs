//! Long runs, longer than CI has time for.

use crate::process::{cargo, run};
use anyhow::Result;

/// Kills of each command.
const KILLS: &str = "20";

/// Kills runs at moments that are drawn, and compares what they come to.
pub(crate) fn kills() -> Result<()> {
    let mut test = cargo([
        "test",
        "--release",
        "--package",
        "bochner-cli",
        "--test",
        "cli",
        "--",
        "--nocapture",
        "kept::",
    ]);
    run(test.env("BOCHNER_KILLS", KILLS))
}
