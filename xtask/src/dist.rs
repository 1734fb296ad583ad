//! What is handed out: the program in an archive with licences and completions, and the C library.

mod tried;

use crate::folders::{root, target_dir};
use crate::metadata::{Metadata, host};
use crate::process::{capture, cargo, run};
use crate::zig;
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tried::Program;

/// What the program may weigh, bytes: it reads .parquet and draws pictures.
const MOST_OF_PROGRAM: u64 = 32_000_000;
/// What the library may weigh.
const MOST_OF_LIBRARY: u64 = 16_000_000;

/// The file of the licences of all that is linked.
pub(crate) const LICENSES: &str = "LICENSES-OF-OTHERS.txt";

/// A package to build, what comes of it, and where in the archive that lies.
struct Part {
    package: &'static str,
    most: u64,
    /// File names, by the system of the target.
    files: Vec<String>,
    folder: &'static str,
}

/// Builds all for `target`, or for this machine, and errs if something is too large.
pub(crate) fn build(target: Option<&str>) -> Result<()> {
    let host = host()?;
    let target = target.unwrap_or(&host);
    let names = Names::for_target(target);
    let name = name(target);
    let all = target_dir().join("dist-archives");
    let folder = all.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    for part in parts(names) {
        // One after the other: together each would have the other's features.
        build_one(part.package, target)?;
        part.copy(&built(target, &host), &folder)?;
    }
    copy_documents(target, &folder)?;
    let program = folder.join(names.program());
    match Program::find(&program, target) {
        Some(program) => {
            program.completions(&folder.join("completions"))?;
            if target != host {
                try_out(&program, &host)?;
            }
        }
        None => println!("no completions: a program for {target} does not run here"),
    }
    archive(&all, &name)?;
    if target.contains("musl") {
        println!(
            "this program is static, and such a program loads no Vulkan at run time: it computes \
             on the CPU; the archive of {} finds GPUs",
            target.replace("musl", "gnu")
        );
    }
    Ok(())
}

/// Has the program of another target fit digits; the model is that of this machine's program, where
/// its archive was made before.
fn try_out(program: &Program, host: &str) -> Result<()> {
    let archives = target_dir().join("dist-archives");
    let own = archives
        .join(name(host))
        .join(Names::for_target(host).program());
    match Program::find(&own, host) {
        Some(own) => program.against(&own, &target_dir().join("dist-models")),
        None => {
            println!("no model is compared: `cargo xtask dist` makes the program of this machine");
            Ok(())
        }
    }
}

/// What an archive, and the folder in it, is called.
fn name(target: &str) -> String {
    format!("bochner-{}-{target}", env!("CARGO_PKG_VERSION"))
}

/// What an archive has that is built.
fn parts(names: Names) -> [Part; 2] {
    [
        Part {
            package: "bochner-cli",
            most: MOST_OF_PROGRAM,
            files: vec![names.program()],
            folder: "",
        },
        Part {
            package: "bochner-capi",
            most: MOST_OF_LIBRARY,
            files: names.libraries(),
            folder: "lib",
        },
    ]
}

impl Part {
    /// Copies what was built to its place under `folder`; errs if it is too large.
    fn copy(&self, from: &Path, folder: &Path) -> Result<()> {
        let to = folder.join(self.folder);
        fs::create_dir_all(&to)?;
        for file in &self.files {
            let built = from.join(file);
            let bytes = fs::metadata(&built)
                .with_context(|| built.display().to_string())?
                .len();
            println!("{file}: {:.1} MB", bytes as f64 / 1e6);
            // Of what is linked into another program it takes only what that needs.
            let linked = file.ends_with(".a") || file.ends_with(".lib");
            if bytes > self.most && !linked {
                bail!(
                    "{file} has more than {} MB; see what came in with `cargo tree`",
                    self.most / 1_000_000
                );
            }
            fs::copy(&built, to.join(file))?;
        }
        Ok(())
    }
}

/// Copies what is for reading, the header of the C library, and the licences of all that is linked.
fn copy_documents(target: &str, folder: &Path) -> Result<()> {
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md"] {
        fs::copy(root().join(file), folder.join(file))?;
    }
    fs::create_dir_all(folder.join("include"))?;
    let header = "include/bochner.h";
    fs::copy(root().join("capi").join(header), folder.join(header))?;
    let packages = ["bochner-cli", "bochner-capi"];
    fs::write(folder.join(LICENSES), licenses(target, &packages)?)?;
    Ok(())
}

/// Packs the folder of that name beside itself.
fn archive(all: &Path, name: &str) -> Result<()> {
    let archive = all.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.arg("-czf").arg(&archive).arg("-C").arg(all).arg(name);
    run(&mut tar)?;
    let bytes = fs::metadata(&archive)?.len();
    println!("{}: {:.1} MB", archive.display(), bytes as f64 / 1e6);
    Ok(())
}

/// Builds the program alone, for this machine, and returns where it is.
pub(crate) fn program() -> Result<PathBuf> {
    let host = host()?;
    build_one("bochner-cli", &host)?;
    Ok(built(&host, &host).join(Names::for_target(&host).program()))
}

fn build_one(package: &str, target: &str) -> Result<()> {
    let mut command = zig::build(target)?;
    command.args(["--profile", "dist", "--locked", "--package", package]);
    run(&mut command).with_context(|| format!("for {target}"))
}

fn built(target: &str, host: &str) -> PathBuf {
    if target == host {
        target_dir().join("dist")
    } else {
        target_dir().join(target).join("dist")
    }
}

/// How a system calls its files.
#[derive(Clone, Copy)]
enum Names {
    Linux,
    /// It has no shared libraries.
    Static,
    Mac,
    Windows,
    /// By the tools of GNU.
    Mingw,
}

impl Names {
    fn for_target(target: &str) -> Self {
        match target {
            _ if target.contains("windows-gnu") => Self::Mingw,
            _ if target.contains("windows") => Self::Windows,
            _ if target.contains("apple") => Self::Mac,
            _ if target.contains("musl") => Self::Static,
            _ => Self::Linux,
        }
    }

    fn program(self) -> String {
        match self {
            Self::Windows | Self::Mingw => "bochner.exe".into(),
            _ => "bochner".into(),
        }
    }

    fn libraries(self) -> Vec<String> {
        let names: &[&str] = match self {
            Self::Linux => &["libbochner_c.so", "libbochner_c.a"],
            Self::Static => &["libbochner_c.a"],
            Self::Mac => &["libbochner_c.dylib", "libbochner_c.a"],
            Self::Windows => &["bochner_c.dll", "bochner_c.dll.lib", "bochner_c.lib"],
            Self::Mingw => &["bochner_c.dll", "libbochner_c.dll.a", "libbochner_c.a"],
        };
        names.iter().map(|name| (*name).to_owned()).collect()
    }
}

/// The licences of all that is linked to these packages: each one's name, and the texts that it
/// comes with.
pub(crate) fn licenses(target: &str, packages: &[&str]) -> Result<String> {
    let mut tree = cargo(["tree", "--locked", "--edges", "normal", "--prefix", "none"]);
    tree.args(packages.iter().flat_map(|name| ["--package", name]))
        .args(["--target", target, "--format", "{p}"]);
    let linked = capture(&mut tree)?;
    let linked: BTreeSet<String> = linked
        .lines()
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    let metadata = Metadata::read()?;
    let mut text = String::from("What bochner is linked with, and the licences of that.\n");
    let mut without = Vec::new();
    // The same words stand once: most are those of one licence.
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for package in metadata.packages.iter().filter(|p| p.source.is_some()) {
        let name = format!("{} v{}", package.name, package.version);
        if !linked.contains(&name) {
            continue;
        }
        let license = package.license.as_deref().unwrap_or("see below");
        text += &format!("\n{}\n{name}: {license}\n", "-".repeat(80));
        let texts = package.license_texts();
        for (file, words) in &texts {
            let key = words.split_whitespace().collect::<Vec<_>>().join(" ");
            if let Some(first) = seen.get(&key) {
                text += &format!("\n[{file}]: the words of {first}\n");
                continue;
            }
            seen.insert(key, format!("{file} of {name}"));
            text += &format!("\n[{file}]\n\n{}\n", words.trim_end());
        }
        if texts.is_empty() {
            without.push(name);
        }
    }
    if !without.is_empty() {
        println!(
            "come without a text of their licence: {}",
            without.join(", ")
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_called_as_their_system_does() {
        for (target, program, library) in [
            ("x86_64-unknown-linux-gnu", "bochner", "libbochner_c.so"),
            ("x86_64-unknown-linux-musl", "bochner", "libbochner_c.a"),
            ("aarch64-apple-darwin", "bochner", "libbochner_c.dylib"),
            ("x86_64-pc-windows-msvc", "bochner.exe", "bochner_c.dll"),
            ("x86_64-pc-windows-gnu", "bochner.exe", "bochner_c.dll"),
        ] {
            let names = Names::for_target(target);
            assert_eq!(names.program(), program);
            assert_eq!(names.libraries()[0], library);
        }
    }

    /// What `cargo binstall` asks for is what an archive is called, and where in it the program is.
    #[test]
    fn what_installs_a_program_finds_it_in_the_archive() {
        let manifest = fs::read_to_string(root().join("cli/Cargo.toml")).unwrap();
        let value = |key: &str| {
            let mut lines = manifest.lines();
            let line = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
            let text = line.unwrap().trim_matches('"');
            text.replace("{ version }", env!("CARGO_PKG_VERSION"))
                .replace("{ target }", "aarch64-apple-darwin")
                .replace("{ bin }{ binary-ext }", "bochner")
        };
        let name = name("aarch64-apple-darwin");
        assert!(value("pkg-url").ends_with(&format!("/{name}.tar.gz")));
        assert_eq!(value("bin-dir"), format!("{name}/bochner"));
    }

    #[test]
    fn licences_of_what_is_linked_have_their_texts() {
        let text = licenses(&host().unwrap(), &["bochner-cli"]).unwrap();
        assert!(text.contains("\nrayon v") && text.contains("\nwgpu v"));
        assert!(text.contains("Permission is hereby granted, free of charge"));
        // The Apache licence is that of most; its words stand once, but where a crate has others.
        let words = text.matches("TERMS AND CONDITIONS FOR USE").count();
        let named = text.matches("]: the words of LICENSE-APACHE of").count();
        assert!(words < 33 && named > 50, "{words} texts, {named} names");
        // A tool of tests is not linked.
        assert!(!text.contains("\ncriterion v") && !text.contains("\nbochner v"));
    }
}
