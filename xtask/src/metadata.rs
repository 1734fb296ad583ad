//! What cargo knows of the workspace and everything below it.

use crate::folders::root;
use crate::process::{capture, cargo};
use anyhow::{Context, Result};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The dependencies of the workspace, of every platform or of one.
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    /// Which platforms' dependencies these are, in words.
    pub(crate) scope: &'static str,
}

/// One package, our own or another's.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    pub(crate) rust_version: Option<String>,
    /// Where it comes from; `None` for our own.
    pub(crate) source: Option<String>,
    /// What it asks for; kept for our own.
    pub(crate) dependencies: Vec<Dependency>,
    /// Those of them that code does not name, by `[package.metadata.cargo-machete]`.
    pub(crate) uncalled: Vec<String>,
    folder: PathBuf,
}

/// A line of a manifest.
#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    /// As code writes it.
    pub(crate) identifier: String,
    /// `dev` is for tests, benches and examples, `build` for build scripts, `normal` for the rest.
    pub(crate) kind: String,
}

impl Metadata {
    /// Of all platforms where their crates are here or can be fetched, else of this one, which a
    /// build has fetched.
    pub(crate) fn read() -> Result<Self> {
        let metadata = ["metadata", "--format-version", "1", "--locked"];
        let everything = capture(cargo(metadata).arg("--offline"));
        let everything = everything.or_else(|_| capture(&mut cargo(metadata)));
        let (text, scope) = match everything {
            Ok(text) => (text, "every platform"),
            Err(_) => {
                let mut command = cargo(metadata);
                command.args(["--offline", "--filter-platform", &host()?]);
                (capture(&mut command)?, "this platform")
            }
        };
        Self::parse(&serde_json::from_str(&text)?, scope)
    }

    pub(crate) fn parse(metadata: &Value, scope: &'static str) -> Result<Self> {
        let packages = metadata["packages"].as_array().context("no packages")?;
        let packages = packages.iter().map(Package::parse);
        Ok(Self {
            packages: packages.collect::<Result<_>>()?,
            scope,
        })
    }

    /// Our own packages.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|package| package.source.is_none())
    }
}

impl Package {
    fn parse(package: &Value) -> Result<Self> {
        let text = |key: &str| package[key].as_str().map(str::to_owned);
        let name = text("name").context("a package without a name")?;
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        let dependencies = dependencies.map(|dependency| {
            let text = |key: &str| dependency[key].as_str();
            let identifier = text("rename").or(text("name")).unwrap_or_default();
            Dependency {
                identifier: identifier.replace('-', "_"),
                kind: text("kind").unwrap_or("normal").to_owned(),
            }
        });
        let uncalled = &package["metadata"]["cargo-machete"]["ignored"];
        let uncalled = uncalled.as_array().into_iter().flatten();
        let uncalled = uncalled.filter_map(Value::as_str);
        let manifest = PathBuf::from(text("manifest_path").unwrap_or_default());
        Ok(Self {
            version: text("version").unwrap_or_default(),
            license: text("license"),
            rust_version: text("rust_version"),
            source: text("source"),
            dependencies: dependencies.collect(),
            uncalled: uncalled.map(|name| name.replace('-', "_")).collect(),
            folder: manifest.parent().unwrap_or(root()).to_owned(),
            name,
        })
    }

    /// The files of its folder that have its licence, by name, each with what it says.
    pub(crate) fn license_texts(&self) -> Vec<(String, String)> {
        let entries = self.folder.read_dir().into_iter().flatten().flatten();
        let mut texts: Vec<_> = entries
            .filter_map(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                let upper = name.to_ascii_uppercase();
                let is_license = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"]
                    .iter()
                    .any(|begin| upper.starts_with(begin));
                let text = fs::read_to_string(entry.path()).ok();
                text.filter(|_| is_license).map(|text| (name, text))
            })
            .collect();
        texts.sort();
        texts
    }

    /// The text of all its Rust files below one of its folders.
    pub(crate) fn code(&self, folder: &str) -> String {
        let mut files = Vec::new();
        collect(&self.folder.join(folder), "rs", &mut files);
        let texts = files
            .iter()
            .map(|file| fs::read_to_string(file).unwrap_or_default());
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// Every file with this extension below a directory.
pub(crate) fn collect(directory: &Path, extension: &str, files: &mut Vec<PathBuf>) {
    for entry in directory.read_dir().into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, extension, files);
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
}

/// The platform that the compiler builds for when nobody says otherwise.
pub(crate) fn host() -> Result<String> {
    let said = capture(Command::new("rustc").arg("-vV").current_dir(root()))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}
