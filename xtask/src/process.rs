//! Running programs and announcing steps.

use crate::{budget, folders::root};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The cargo that runs this program, started in the workspace's root.
pub(crate) fn cargo<const N: usize>(arguments: [&str; N]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// The command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    let words = std::iter::once(name).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// Runs to the end with the output going to the terminal; errs on a status other than zero.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start `{}`", shown(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

/// Runs to the end and returns what it wrote on stdout; errs, quoting stderr, on a status other
/// than zero.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{}`", shown(command)))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!(
            "`{}` failed ({}): {}",
            shown(command),
            output.status,
            stderr.trim()
        );
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{}` wrote no UTF-8", shown(command)))
}

/// Runs one announced step and says how long it took; its name stands before whatever went wrong.
pub(crate) fn step(name: &str, body: impl FnOnce() -> Result<()>) -> Result<()> {
    eprintln!("==> {name}");
    let start = Instant::now();
    body().with_context(|| format!("step `{name}`"))?;
    let seconds = start.elapsed().as_secs_f64();
    eprintln!("==> {name}: passed, {seconds:.1} s");
    budget::note(name, seconds);
    Ok(())
}
