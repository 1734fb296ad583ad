//! The oldest compiler that the workspace promises to compile with: stated, no older than its
//! dependencies', and compiled.

use crate::metadata::{Metadata, compiler_version};
use crate::process::{capture, cargo, run, target_dir};
use anyhow::{Context, Result, bail};
use std::process::Command;

type Version = (u32, u32, u32);

/// Compares, then compiles everything with the stated version; errs where no such compiler is here.
pub(crate) fn check() -> Result<()> {
    let stated = compare()?;
    if is(&compiler_version()?, stated)? {
        // It is the compiler of every other build here.
        return run(&mut cargo([
            "check",
            "--release",
            "--workspace",
            "--all-targets",
            "--locked",
        ]));
    }
    compile_with(stated)
}

/// The same among the checks, where clippy compiles everything with the compiler in use anyway.
pub(crate) fn check_beside_clippy() -> Result<()> {
    let stated = compare()?;
    let used = compiler_version()?;
    if is(&used, stated)? {
        println!("rustc {used}, with which clippy compiles everything below, is of that version");
        return Ok(());
    }
    compile_with(stated)
}

/// With a toolchain of that version that rustup has, into a folder of its own.
fn compile_with(stated: Version) -> Result<()> {
    let wanted = format!("{}.{}", stated.0, stated.1);
    let missing = format!(
        "nothing was compiled with {wanted}, the stated rust-version; type `rustup toolchain install {wanted} --profile \
         minimal`, or state the version that is compiled here"
    );
    let toolchains = capture(Command::new("rustup").args(["toolchain", "list"]));
    let toolchains = toolchains.with_context(|| missing.clone())?;
    let Some(toolchain) = toolchain_of(&toolchains, &wanted) else {
        bail!("{missing}");
    };
    println!("compiling with {toolchain}");
    let mut command = Command::new("rustup");
    command
        .args([
            "run",
            toolchain,
            "cargo",
            "check",
            "--workspace",
            "--all-targets",
            "--locked",
        ])
        .arg("--target-dir")
        .arg(target_dir().join("msrv"))
        .current_dir(crate::process::root());
    // Set by the cargo that runs this program, for compilers of its own.
    for variable in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(variable);
    }
    run(&mut command)
}

/// The toolchain in a listing of rustup's that is of this version.
fn toolchain_of<'a>(listing: &'a str, wanted: &str) -> Option<&'a str> {
    let names = listing
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    names.into_iter().find(|name| {
        let version = name.split('-').next().unwrap_or_default();
        version == wanted
            || version
                .strip_prefix(wanted)
                .is_some_and(|rest| rest.starts_with('.'))
    })
}

/// Whether a compiler's version is the stated one, whose last number does not count: it only mends
/// faults.
fn is(compiler: &str, stated: Version) -> Result<bool> {
    let (major, minor, _) = parse(compiler)?;
    Ok((major, minor) == (stated.0, stated.1))
}

/// The workspace's `rust-version`, which must be no less than any that its dependencies state.
fn compare() -> Result<Version> {
    let metadata = Metadata::read()?;
    let (stated, text) = compare_versions(&metadata)?;
    println!("{text}, dependencies of {}", metadata.scope);
    Ok(stated)
}

fn compare_versions(metadata: &Metadata) -> Result<(Version, String)> {
    let (mut stated, mut needed) = (None, None);
    for package in &metadata.packages {
        let name = package.name.as_str();
        let version = package.rust_version.as_deref();
        let version = version.map(|v| parse(v).map(|v| (v, name))).transpose()?;
        if package.source.is_none() {
            let version = version.with_context(|| format!("{name} states no rust-version"))?;
            stated = Some(stated.map_or(version, |lowest| version.min(lowest)));
        } else {
            needed = needed.max(version);
        }
    }
    let (stated, member) = stated.context("no workspace member")?;
    let (needed, dependency) = needed.unwrap_or_default();
    let shown = |(major, minor, patch)| format!("{major}.{minor}.{patch}");
    let (stated_text, needed_text) = (shown(stated), shown(needed));
    if stated < needed {
        bail!(
            "{member} states rust-version {stated_text}, but {dependency} needs {needed_text}; \
             raise rust-version in Cargo.toml or take an older {dependency}"
        );
    }
    let text = format!("rust-version {stated_text} >= {needed_text} ({dependency})");
    Ok((stated, text))
}

fn parse(text: &str) -> Result<Version> {
    // What follows a dash is a channel: 1.97.0-nightly.
    let number = text.split('-').next().unwrap_or_default();
    let mut numbers = number.split('.').map(str::parse::<u32>);
    let mut next = || numbers.next().unwrap_or(Ok(0));
    let version = (next(), next(), next());
    match version {
        (Ok(major), Ok(minor), Ok(patch)) => Ok((major, minor, patch)),
        _ => bail!("{text:?} is not a version"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_dependency_may_not_need_more_than_is_stated() {
        let compare = |packages| {
            let metadata = Metadata::parse(&json!({"packages": packages}), "a test")?;
            compare_versions(&metadata)
        };
        let needed = |needed: &str| {
            compare(json!([
                {"name": "a", "source": null, "rust_version": "1.89"},
                {"name": "b", "source": "registry", "rust_version": needed},
                {"name": "c", "source": "registry", "rust_version": null}]))
        };
        assert!(needed("1.89.0").is_ok());
        assert!(needed("1.9").is_ok());
        let error = needed("1.89.1").unwrap_err();
        assert!(error.to_string().contains("b needs 1.89.1"), "{error}");
        assert!(needed("new").is_err());
        assert!(compare(json!([{"name": "a", "source": null, "rust_version": null}])).is_err());
    }

    #[test]
    fn the_stated_version_is_told_from_its_neighbours() {
        assert!(is("1.95.0", (1, 95, 0)).unwrap() && is("1.95.1-nightly", (1, 95, 0)).unwrap());
        assert!(!is("1.96.0", (1, 95, 0)).unwrap() && !is("1.9.5", (1, 95, 0)).unwrap());
        let listing =
            "stable-x (active, default)\n1.9.0-x\n1.95.0-x86_64-unknown-linux-gnu\n1.950-x\n";
        assert_eq!(
            toolchain_of(listing, "1.95"),
            Some("1.95.0-x86_64-unknown-linux-gnu")
        );
        assert_eq!(toolchain_of(listing, "1.9"), Some("1.9.0-x"));
        assert_eq!(toolchain_of(listing, "1.94"), None);
    }
}
