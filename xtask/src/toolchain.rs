//! What compiles for platforms that this machine is not.
//!
//! Three ways lead to a platform's standard library: rustup has it, rustup gets it, or it is
//! compiled from the sources of Debian's compiler for its browsers (packages rustc-web and
//! rust-web-src, unpacked under target/ and not installed).

use crate::folders::{root, target_dir};
use crate::metadata::host;
use crate::process::{capture, cargo};
use crate::software::{debian_packages, has_apt};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The platform of browsers.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";

/// What compiles for a platform.
pub(crate) enum Toolchain {
    /// rustup's, with the platform's standard library.
    Installed,
    /// Debian's, which compiles the standard library first; unpacked in a folder.
    Debian(PathBuf),
}

impl Toolchain {
    /// The first that can be had.
    pub(crate) fn find(target: &str) -> Result<Self> {
        if rustup_has(target) {
            return Ok(Self::Installed);
        }
        let advice = format!("no standard library for it; type `rustup target add {target}`");
        if !cfg!(target_os = "linux") || !has_apt() {
            bail!("{advice}");
        }
        debian().map(Self::Debian).with_context(|| advice)
    }

    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Installed => "rustup's standard library".into(),
            Self::Debian(folder) => {
                let version = capture(&mut debian_rustc(folder));
                let version = version.unwrap_or_default();
                let number = version.split_whitespace().nth(1).unwrap_or("of Debian");
                format!("standard library compiled by Debian's rustc {number}")
            }
        }
    }

    /// Where its commands put what they build for a platform.
    pub(crate) fn built(target: &str) -> PathBuf {
        portability().join(target)
    }

    /// A cargo command for a platform, in a build folder of its own.
    pub(crate) fn cargo(&self, command: &str, target: &str) -> Command {
        let mut cargo = cargo([command, "--target", target]);
        cargo.arg("--target-dir").arg(portability());
        if let Self::Debian(folder) = self {
            let parts = match command {
                "test" | "run" => "std,panic_abort,panic_unwind,test",
                _ => "std,panic_abort",
            };
            cargo
                .arg(format!("-Zbuild-std={parts}"))
                .env("RUSTC", folder.join("usr/bin/rustc"))
                .env("RUSTDOC", folder.join("usr/bin/rustdoc"))
                .env("LD_LIBRARY_PATH", libraries(folder))
                // It is a stable compiler, and only nightly ones may compile the standard library;
                // unless told so.
                .env("RUSTC_BOOTSTRAP", "1");
            if let (true, Ok(linker)) = (target == WASM, rust_lld()) {
                cargo.env(variable(target, "LINKER"), linker);
            }
        }
        cargo
    }
}

/// A program that runs a target's code on this machine.
pub(crate) fn emulator(target: &str) -> Option<String> {
    let machine = target.split('-').next().unwrap_or(target);
    let names = ["", "-static"].map(|end| format!("qemu-{machine}{end}"));
    names
        .into_iter()
        .find(|name| capture(Command::new(name).arg("--version")).is_ok())
}

/// Whether rustup's compiler has a platform's standard library, or gets it now.
pub(crate) fn rustup_has(target: &str) -> bool {
    let mut add = Command::new("rustup");
    add.args(["target", "add", target]).current_dir(root());
    has_standard_library(target) || capture(&mut add).is_ok() && has_standard_library(target)
}

/// Whether rustup's compiler has a platform's standard library.
fn has_standard_library(target: &str) -> bool {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", target]);
    let Ok(directory) = capture(rustc.current_dir(root())) else {
        return false;
    };
    let entries = Path::new(directory.trim()).read_dir();
    let mut entries = entries.into_iter().flatten().flatten();
    entries.any(|entry| entry.file_name().to_string_lossy().starts_with("libcore-"))
}

/// The name of cargo's variable of the environment that says something of a platform.
pub(crate) fn variable(target: &str, what: &str) -> String {
    let target = target.to_uppercase().replace('-', "_");
    format!("CARGO_TARGET_{target}_{what}")
}

/// The linker that lies beside rustup's compiler and links WebAssembly; Debian's compiler comes
/// without.
fn rust_lld() -> Result<PathBuf> {
    let sysroot = capture(
        Command::new("rustc")
            .args(["--print", "sysroot"])
            .current_dir(root()),
    )?;
    let tools = Path::new(sysroot.trim()).join("lib/rustlib").join(host()?);
    Ok(tools.join("bin/rust-lld"))
}

fn portability() -> PathBuf {
    target_dir().join("portability")
}

fn libraries(folder: &Path) -> PathBuf {
    folder
        .join("usr/lib")
        .join(format!("{}-linux-gnu", std::env::consts::ARCH))
}

fn debian_rustc(folder: &Path) -> Command {
    let mut rustc = Command::new(folder.join("usr/bin/rustc"));
    rustc
        .arg("--version")
        .env("LD_LIBRARY_PATH", libraries(folder));
    rustc
}

/// Debian's compiler and the sources of its standard library: fetched the first time, found there
/// later.
fn debian() -> Result<PathBuf> {
    let folder = target_dir().join("rustc-web");
    if capture(&mut debian_rustc(&folder)).is_ok() {
        return Ok(folder);
    }
    eprintln!(
        "fetching Debian's compiler and its sources (package rustc-web, about 140 MB, unpacked only)"
    );
    debian_packages(
        &["rustc-web", "rust-web-src"],
        &["libstd-rust-web", "libllvm"],
        &folder,
    )?;
    capture(&mut debian_rustc(&folder)).context("Debian's compiler does not start")?;
    Ok(folder)
}
