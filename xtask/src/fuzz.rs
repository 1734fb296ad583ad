//! Readers of files against many that are damaged at random.

use crate::process::{cargo, run};
use anyhow::{Context, Result};

/// Runs the tests of `tests/data/fuzz.rs`, of models and sums, and of the files of fuzz/corpus with
/// `count` damaged files of each kind.
pub(crate) fn run_many(count: &str) -> Result<()> {
    let count: u64 = count.parse().context("how many files is no whole number")?;
    let mut command = cargo([
        "test",
        "--release",
        "--workspace",
        "--test",
        "data",
        "fuzzed",
    ]);
    command.env("BOCHNER_FUZZ", count.to_string());
    command.args(["--", "--nocapture"]);
    run(&mut command)
}
