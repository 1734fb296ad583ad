//! The Python package as it is handed out: a wheel for this machine or for another one, and what it
//! has to do where it is installed.

use crate::folders::{root, target_dir};
use crate::metadata::host;
use crate::process::{capture, run};
use crate::python::environment;
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

/// Builds the wheel for `target`, or for this machine, and errs if it is too large; one of this
/// machine is installed, and has to fit and predict.
pub(crate) fn build(target: Option<&str>) -> Result<()> {
    if target == Some("--source") {
        return source();
    }
    let host = host()?;
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
    if target.is_none_or(|target| target == host) {
        smoke(&wheel)
    } else {
        println!("it is not tried, for it is not of this machine, {host}");
        Ok(())
    }
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
    smoke(&archive)
}

/// A command of maturin and the folder, empty so far, that its output comes to.
fn maturin(name: &str, command: &str) -> Result<(Command, PathBuf)> {
    let out = target_dir().join("wheels").join(name);
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| out.display().to_string())?;
    }
    let python = environment("wheels", &BUILDERS)?;
    // Where maturin looks for the Python that has zig.
    let own = python.parent().map(Path::to_owned);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = own.into_iter().chain(std::env::split_paths(&path));
    let mut maturin = Command::new(&python);
    maturin
        .env("PATH", std::env::join_paths(folders)?)
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

/// Installs a wheel where nothing else of the package is, and runs `python/tests/smoke.py` there.
fn smoke(wheel: &Path) -> Result<()> {
    let python = environment("smoke", &NEEDED)?;
    let pip = |arguments: &[&str]| {
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "--disable-pip-version-check"])
            .args(arguments);
        pip
    };
    run(pip(&["install", "--quiet", "--force-reinstall", "--no-deps"]).arg(wheel))?;
    // In a folder from which the sources are not found.
    let folder: PathBuf = target_dir().join("wheels");
    let mut smoke = Command::new(&python);
    smoke
        .arg(root().join("python/tests/smoke.py"))
        .current_dir(folder);
    let seen = capture(smoke.env_remove("PYTHONPATH"));
    run(&mut pip(&["uninstall", "--quiet", "--yes", "bochner"]))?;
    print!("{}", seen?);
    Ok(())
}
