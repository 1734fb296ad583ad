//! The program as it is handed out.

use crate::process::{cargo, run, target_dir};
use anyhow::{Context, Result, bail};
use std::fs;

/// What it may weigh, bytes.
const MOST: u64 = 16_000_000;

/// Builds it, and errs if it is too large.
pub(crate) fn build() -> Result<()> {
    run(&mut cargo([
        "build",
        "--profile",
        "dist",
        "--package",
        "bochner-cli",
        "--locked",
    ]))?;
    let name = format!("bochner{}", std::env::consts::EXE_SUFFIX);
    let program = target_dir().join("dist").join(name);
    let bytes = fs::metadata(&program)
        .with_context(|| program.display().to_string())?
        .len();
    let megabytes = bytes as f64 / 1e6;
    println!("{}: {megabytes:.1} MB", program.display());
    if bytes > MOST {
        bail!(
            "the program has {megabytes:.1} MB, more than {} MB; see what came in with `cargo tree`",
            MOST / 1_000_000
        );
    }
    Ok(())
}
