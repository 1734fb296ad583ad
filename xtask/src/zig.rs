//! Building for other systems by zig, which has their C libraries, compiles C for them and links.

use crate::metadata::host;
use crate::process::cargo;
use crate::python::environment;
use crate::toolchain::{rustup_has, variable};
use anyhow::{Result, bail};
use std::env;
use std::path::Path;
use std::process::Command;

/// What Python's index has of it: zig itself comes with the second.
const TOOLS: [&str; 2] = ["cargo-zigbuild>=0.24,<1", "ziglang>=0.16,<1"];
/// The oldest C library that what is made for Linux loads, that of systems of 2014.
const OLDEST_GLIBC: &str = "2.17";

/// A build for `target`: by zig where it is of another system and cargo was told of no linker.
pub(crate) fn build(target: &str) -> Result<Command> {
    if target == host()? {
        return Ok(cargo(["build"]));
    }
    if !links(target) || env::var_os(variable(target, "LINKER")).is_some() {
        let mut plain = cargo(["build"]);
        plain.args(["--target", target]);
        return Ok(plain);
    }
    if !rustup_has(target) {
        bail!("no standard library for {target}; type `rustup target add {target}`");
    }
    let python = environment("zig", &TOOLS)?;
    let mut build = cargo(["zigbuild"]);
    build
        .env("PATH", first(python.parent())?)
        .args(["--target", &spelled(target)]);
    Ok(build)
}

/// Whether zig has all of the system that our programs link to.
fn links(target: &str) -> bool {
    target.contains("-linux-") || target.contains("-windows-gnu")
}

/// The target with the C library that it is for.
fn spelled(target: &str) -> String {
    if target.ends_with("-linux-gnu") {
        format!("{target}.{OLDEST_GLIBC}")
    } else {
        target.to_owned()
    }
}

/// PATH with a folder before all others: there the Python is found that has zig.
pub(crate) fn first(folder: Option<&Path>) -> Result<std::ffi::OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    let own = folder.map(Path::to_owned).into_iter();
    Ok(env::join_paths(own.chain(env::split_paths(&path)))?)
}
