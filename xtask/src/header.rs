//! The header of the C library, which cbindgen makes of its source.

use crate::dependencies::tool;
use crate::folders::root;
use crate::process::capture;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

fn path() -> PathBuf {
    root().join("capi/include/bochner.h")
}

/// The header as the source has it; `None` where there is no cbindgen.
fn made() -> Result<Option<String>> {
    let Some(program) = tool("cbindgen") else {
        return Ok(None);
    };
    let mut command = Command::new(program);
    command.args(["--quiet", "--crate", "bochner-capi"]);
    let config = root().join("capi/cbindgen.toml");
    command.arg("--config").arg(config).arg(root().join("capi"));
    capture(&mut command).map(Some)
}

/// Writes it.
pub(crate) fn write() -> Result<()> {
    let Some(text) = made()? else {
        bail!("cbindgen is not installed; `cargo xtask tools` builds it");
    };
    let path = path();
    fs::write(&path, text).with_context(|| path.display().to_string())?;
    println!("{}", path.display());
    Ok(())
}

/// Errs if it would be another. Without cbindgen a test of the C library still looks for every
/// function in it.
pub(crate) fn check() -> Result<()> {
    let path = path();
    let there = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    match made()? {
        None => println!(
            "NOT made again: {}, for cbindgen is not installed; `cargo xtask tools` builds it",
            path.display()
        ),
        Some(text) if text == there => println!("{} is that of the source", path.display()),
        Some(_) => bail!(
            "{} is not that of the source; run `cargo xtask header`",
            path.display()
        ),
    }
    Ok(())
}
