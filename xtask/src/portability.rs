//! Whether the library and the programs compile for the platforms that this machine is not, and
//! whether tests pass on ARM.

use crate::folders::target_dir;
use crate::metadata::host;
use crate::models::{JUDGED, SOLVED, compare};
use crate::process::{capture, cargo, run};
use crate::toolchain::{Toolchain, WASM, emulator};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGETS: [&str; 4] = [ARM, "aarch64-apple-darwin", "x86_64-pc-windows-msvc", WASM];
/// Those of them whose programs are checked, too.
const DESKS: [&str; 2] = ["aarch64-apple-darwin", "x86_64-pc-windows-msvc"];
const ARM: &str = "aarch64-unknown-linux-gnu";

/// Tests that need no adapter and go through every op on the CPU.
const SUITES: [&str; 4] = ["invariants::", "edges::", "extremes::", "kernel_block::"];

/// The compiler that links ARM's code here.
const LINKER: &str = "aarch64-linux-gnu-gcc";
const INSTALL: &str = "sudo apt-get install qemu-user gcc-aarch64-linux-gnu";

/// Checks every platform that can be reached, then runs ARM's tests where they can run; says what
/// was done and what not. With `checks_only` nothing is run.
///
/// Errs if something that was tried failed; what could not be tried is no fault, and comes with the
/// command to type.
pub(crate) fn run_all(checks_only: bool) -> Result<()> {
    let (mut done, mut left, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for target in TARGETS {
        eprintln!("==> {target}");
        let toolchain = match Toolchain::find(target) {
            Ok(toolchain) => toolchain,
            Err(reason) => {
                left.push(format!("{target}: {reason:#}"));
                continue;
            }
        };
        match check(&toolchain, target) {
            Ok(what) => done.push(format!(
                "{target}: compiled {what} ({})",
                toolchain.describe()
            )),
            Err(error) => failed.push(format!("{target}: {error:#}")),
        }
        if target != ARM {
            continue;
        }
        if checks_only {
            left.push(format!(
                "{target}: its tests; type `cargo xtask portability`"
            ));
        } else if host()? == ARM {
            left.push(format!(
                "{target}: its tests, for it is this machine; type `cargo xtask test`"
            ));
        } else if let Some(emulator) = runner() {
            match tests(&toolchain, &emulator) {
                Ok(words) => done.push(format!("{target}: {words}, under {emulator}")),
                Err(error) => failed.push(format!("{target}: {error:#}")),
            }
        } else {
            left.push(format!(
                "{target}: its tests, which need qemu-user and a linker; type `{INSTALL}`"
            ));
        }
    }
    for line in &done {
        println!("checked      {line}");
    }
    for line in &left {
        println!("NOT checked  {line}");
    }
    if !failed.is_empty() {
        bail!("{}", failed.join("\n"));
    }
    Ok(())
}

/// Checks the library and, for what people have on their desks, the program, the C library and the
/// package of Python; the words for what was checked.
fn check(toolchain: &Toolchain, target: &str) -> Result<&'static str> {
    let mut library = toolchain.cargo("check", target);
    run(library.args(["--lib", "--package", "bochner"]))?;
    if !cfg!(unix) || !DESKS.contains(&target) {
        return Ok("the library");
    }
    let mut programs = toolchain.cargo("check", target);
    for package in ["bochner-cli", "bochner-capi", "bochner-python"] {
        programs.args(["--package", package]);
    }
    let nothing = no_compiler()?;
    let name = target.replace('-', "_");
    for tool in ["CC", "AR"] {
        programs.env(format!("{tool}_{name}"), &nothing);
    }
    run(&mut programs)?;
    Ok("the library, the program, the C library and the package of Python, but for C")
}

/// A compiler and archiver of C that leaves empty files: Rust is checked without what it makes, and
/// nothing is linked.
fn no_compiler() -> Result<PathBuf> {
    let path = target_dir().join("portability/no-compiler");
    fs::write(&path, NO_COMPILER)?;
    run(Command::new("chmod").arg("+x").arg(&path))?;
    Ok(path)
}

const NO_COMPILER: &str = r#"#!/bin/sh
# Leaves an empty file wherever a compiler or an archiver would leave one.
while [ $# -gt 0 ]; do
    case "$1" in
        [-/]out:*) : > "${1#?out:}" ;;
        [-/]Fo*) : > "${1#?Fo}" ;;
        -o) shift; : > "$1" ;;
        -o?*) : > "${1#-o}" ;;
        *.a) : > "$1" ;;
    esac
    shift
done
"#;

/// A program that runs ARM's code, where the linker is here too.
fn runner() -> Option<String> {
    let linker = || capture(Command::new(LINKER).arg("--version")).is_ok();
    emulator(ARM).filter(|_| linker())
}

/// Runs the tests that need no adapter, then fits the digits there and here: the same parameters to
/// the bit, and as good.
fn tests(toolchain: &Toolchain, emulator: &str) -> Result<String> {
    let on_arm = |command: &str| {
        let mut cargo = toolchain.cargo(command, ARM);
        cargo
            .arg("--release")
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER)
            .env(
                "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
                format!("{emulator} -L /usr/aarch64-linux-gnu"),
            )
            .env("BOCHNER_CACHE", "off")
            .env_remove("BOCHNER_REQUIRE_GPU");
        cargo
    };
    run(on_arm("test").args(["--package", "bochner", "--package", "bochner-maps", "--lib"]))?;
    let mut suites = on_arm("test");
    suites.args(["--package", "bochner-tests", "--test", "devices", "--"]);
    run(suites.args(SUITES))?;

    let folder = target_dir().join("portability");
    let [there, here] = ["arm.model", "here.model"].map(|name| folder.join(name));
    let fit = |mut cargo: Command, model: &Path| -> Result<f64> {
        cargo.args([
            "--package",
            "bochner-cli",
            "--bin",
            "bochner",
            "--",
            "fit",
            "data/digits.csv",
        ]);
        cargo.args(["--target", "label", "--features", "2000", "--test", "0.5"]);
        cargo
            .args(["--device", "cpu", "--json", "--quiet", "--output"])
            .arg(model);
        let report: Value = serde_json::from_str(&capture(&mut cargo)?)?;
        report["accuracy"]
            .as_f64()
            .context("a report without `accuracy`")
    };
    let on_arm = fit(on_arm("run"), &there)?;
    let native = fit(cargo(["run", "--release"]), &here)?;
    let [there, here] = [fs::read(there)?, fs::read(here)?];
    let compared = compare(&there, &here, &[SOLVED, JUDGED].concat())? / 4;
    // Half of 1797 rows are held out: one of them decided otherwise is .0011.
    if (on_arm - native).abs() > 0.0035 {
        bail!("digits: accuracy {on_arm:.4} there and {native:.4} here");
    }
    Ok(format!(
        "unit tests, {} pass; digits {on_arm:.4} (here {native:.4}) with {compared} drawn parameters the same to the bit",
        SUITES.join(", ")
    ))
}
