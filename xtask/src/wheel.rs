//! The Python package as it is handed out: a wheel for this machine or for another one, and what it
//! has to do where it is installed.

use crate::folders::{root, target_dir};
use crate::metadata::host;
use crate::models::{self, JUDGED};
use crate::process::{capture, run};
use crate::python::environment;
use crate::toolchain::rustup_has;
use crate::{pythons, zig};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a wheel may weigh, bytes.
const MOST: u64 = 25_000_000;
/// What builds it: with zig, which links for any Linux.
const BUILDERS: [&str; 1] = ["maturin[zig]>=1.9,<2"];
/// What it needs where it is installed.
const NEEDED: [&str; 2] = ["numpy", "scikit-learn"];

/// Builds what the words of a command line ask for; `usage` is what is shown where they are wrong.
pub(crate) fn run_with(words: &[String], usage: &str) -> Result<()> {
    let host = host()?;
    let (options, targets): (Vec<&str>, Vec<&str>) = words
        .iter()
        .map(String::as_str)
        .partition(|word| word.starts_with("--"));
    let target = match targets[..] {
        [] => None,
        [target] => Some(target),
        _ => bail!("`wheel` takes one target\n\n{usage}"),
    };
    match options[..] {
        ["--source"] if target.is_none() => source(),
        ["--pythons"] => on_others(target.unwrap_or(&host), &host),
        [] if target.is_none_or(|target| target == host) => smoke(&build(target)?, None),
        [] => {
            build(target)?;
            println!("it is not tried, for it is not of this machine, {host}");
            Ok(())
        }
        _ => bail!("`wheel` does not take {}\n\n{usage}", words.join(" ")),
    }
}

/// Builds the wheel for `target`, or for this machine, and errs if it is too large.
fn build(target: Option<&str>) -> Result<PathBuf> {
    let host = host()?;
    if let Some(target) = target.filter(|target| !rustup_has(target)) {
        bail!("no standard library for {target}; type `rustup target add {target}`");
    }
    let (mut build, out) = maturin(target.unwrap_or(&host), "build")?;
    build.args(["--profile", "dist", "--strip"]);
    if let Some(target) = target {
        build.args(["--target", target]);
        if let Some(oldest) = oldest_system(target) {
            build.args(["--zig", "--compatibility", oldest]);
        }
    }
    run(&mut build)?;
    let wheel = only_file(&out)?;
    let bytes = fs::metadata(&wheel)?.len();
    let megabytes = bytes as f64 / 1e6;
    println!("{}: {megabytes:.1} MB", wheel.display());
    if bytes > MOST {
        let most = MOST / 1_000_000;
        bail!("the wheel has {megabytes:.1} MB, more than {most} MB");
    }
    Ok(wheel)
}

/// Has the wheel of `target` fit digits with the oldest Python and with the newest, and the one of
/// this machine with its own: the models are the same to the bit.
fn on_others(target: &str, host: &str) -> Result<()> {
    let interpreters = pythons::of(target)?;
    let wheel = build(Some(target))?;
    let own = if target == host {
        wheel.clone()
    } else {
        build(Some(host))?
    };
    let folder = target_dir().join("wheels");
    let here = folder.join("here.model");
    smoke(&own, Some(&here))?;
    let here = fs::read(here)?;
    let pip = environment("smoke", &NEEDED)?;
    for interpreter in interpreters {
        let there = folder.join(format!("{target}-{}.model", interpreter.version()));
        interpreter.install(&pip, &NEEDED, &wheel)?;
        print!("{}", fit(interpreter.command(), Some(&there))?);
        let there = fs::read(there)?;
        let bytes = models::compare(&here, &there, &JUDGED).context("digits")?;
        println!("all that the model of digits predicts by is as here: {bytes} bytes");
    }
    Ok(())
}

/// Builds the distribution of the sources and tries what pip makes of it.
fn source() -> Result<()> {
    let (mut build, out) = maturin("source", "sdist")?;
    run(&mut build)?;
    let archive = only_file(&out)?;
    println!(
        "{}: {:.1} MB",
        archive.display(),
        fs::metadata(&archive)?.len() as f64 / 1e6
    );
    smoke(&archive, None)
}

/// A command of maturin and the folder, empty so far, that its output comes to.
fn maturin(name: &str, command: &str) -> Result<(Command, PathBuf)> {
    let out = target_dir().join("wheels").join(name);
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| out.display().to_string())?;
    }
    let python = environment("wheels", &BUILDERS)?;
    let mut maturin = Command::new(&python);
    maturin
        // Where maturin looks for the Python that has zig.
        .env("PATH", zig::first(python.parent())?)
        .args(["-m", "maturin", command, "--out"])
        .arg(&out)
        .current_dir(root().join("python"));
    Ok((maturin, out))
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let first = folder.read_dir()?.next();
    Ok(first.context("maturin left nothing")??.path())
}

/// The oldest systems that a wheel of a Linux runs on, by the name of their kind.
fn oldest_system(target: &str) -> Option<&'static str> {
    match target {
        _ if target.ends_with("-linux-gnu") => Some("manylinux_2_17"),
        _ if target.ends_with("-linux-musl") => Some("musllinux_1_2"),
        _ => None,
    }
}

/// Installs a wheel where nothing else of the package is, and runs `python/tests/smoke.py` there;
/// the model of digits may be kept.
fn smoke(wheel: &Path, model: Option<&Path>) -> Result<()> {
    let python = environment("smoke", &NEEDED)?;
    let pip = |arguments: &[&str]| {
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "--disable-pip-version-check"])
            .args(arguments);
        pip
    };
    run(pip(&["install", "--quiet", "--force-reinstall", "--no-deps"]).arg(wheel))?;
    let mut bare = Command::new(&python);
    bare.env_remove("PYTHONPATH");
    let seen = fit(bare, model);
    run(&mut pip(&["uninstall", "--quiet", "--yes", "bochner"]))?;
    print!("{}", seen?);
    Ok(())
}

/// Runs `python/tests/smoke.py` in a folder from which the sources are not found; what it saw.
fn fit(mut python: Command, model: Option<&Path>) -> Result<String> {
    python
        .arg(root().join("python/tests/smoke.py"))
        .current_dir(target_dir().join("wheels"));
    if let Some(model) = model {
        let _ = fs::remove_file(model);
        // The matrix unit of some processors sums in an order of its own.
        python.env("BOCHNER_UNITS", "none");
        python.arg(root().join("data/digits.csv")).arg(model);
    }
    capture(&mut python)
}
