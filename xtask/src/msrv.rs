//! The oldest compiler that the workspace promises to compile with: stated, no older than its
//! dependencies', and compiled.

use crate::folders::{root, target_dir};
use crate::metadata::Metadata;
use crate::process::{capture, run};
use anyhow::{Context, Result, bail};
use std::process::Command;

type Version = (u32, u32, u32);

/// Compares, then compiles the library and the program with the stated version; errs where no such
/// compiler is here and none can be fetched.
pub(crate) fn check() -> Result<()> {
    compile(compare()?)
}

/// The same among the checks, which go on where there is no such compiler, and say so: a machine
/// without a network can do everything else.
pub(crate) fn check_if_possible() -> Result<()> {
    let stated = compare()?;
    match toolchain(stated) {
        Ok(_) => compile(stated),
        Err(error) => {
            println!("NOT compiled with the stated rust-version: {error:#}");
            Ok(())
        }
    }
}

/// Into a folder of its own, because other compilers' results are of no use to this one.
fn compile(stated: Version) -> Result<()> {
    let toolchain = toolchain(stated)?;
    println!("compiling with {toolchain}");
    let mut command = Command::new("rustup");
    command
        .args(["run", &toolchain, "cargo", "check", "--locked"])
        .args(["--package", "bochner", "--package", "bochner-cli"])
        .arg("--target-dir")
        .arg(target_dir().join("msrv"))
        .current_dir(root());
    // Set by the cargo that runs this program, for compilers of its own.
    for variable in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(variable);
    }
    run(&mut command)
}

/// The toolchain of that version: one that rustup has, else one that it fetches.
fn toolchain(stated: Version) -> Result<String> {
    let wanted = format!("{}.{}", stated.0, stated.1);
    let find = || -> Result<Option<String>> {
        let listing = capture(Command::new("rustup").args(["toolchain", "list"]))?;
        Ok(toolchain_of(&listing, &wanted).map(str::to_owned))
    };
    if let Some(toolchain) = find().context("rustup is not here")? {
        return Ok(toolchain);
    }
    let install = ["toolchain", "install", &wanted, "--profile", "minimal"];
    eprintln!("fetching rustc {wanted}");
    capture(Command::new("rustup").args(install).current_dir(root())).map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().to_owned();
        anyhow::anyhow!("{reason}; type `rustup {}`", install.join(" "))
    })?;
    find()?.with_context(|| format!("rustup installed no toolchain {wanted}"))
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
    let mut numbers = text.split('.').map(str::parse::<u32>);
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
