//! Building the tests: one set of features and one profile for all, whatever is asked for, so that
//! no dependency is compiled twice.

use crate::adapters::program;
use crate::budget;
use crate::folders::root;
use crate::process::{cargo, run, shown};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// A program of tests.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Executable {
    /// The package and what of it: `bochner-tests/devices`, `bochner/unit`.
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// Where its package lies, in which it runs.
    pub(super) folder: PathBuf,
}

/// Units of dependencies that may be compiled again for the tests: pest's macro asks for two small
/// ones on the host, without features that the program has.
const AGAIN: usize = 2;

/// Builds the programs and the tests of these targets, of all where none are named.
///
/// Errs if all of it compiles a dependency again that the README's first command has compiled: a
/// feature is asked for by one package alone, and belongs into `cli/Cargo.toml`.
pub(super) fn build(targets: &[String]) -> Result<Vec<Executable>> {
    let mut first = Vec::new();
    // Of some tests, the program is asked for adapters alone, and an older one knows them too.
    if targets.is_empty() || !program().exists() {
        let start = Instant::now();
        first = messages(&mut cargo(["build", "--release"]))?;
        let seconds = start.elapsed().as_secs_f64();
        println!("the program: built in {seconds:.0} s");
        budget::note("the program", seconds);
    }
    let start = Instant::now();
    let mut tests = cargo(["test", "--release", "--workspace", "--no-run"]);
    if !targets.is_empty() {
        // Whoever asks for some is at work on them: what a change does not reach is kept.
        tests.env("CARGO_INCREMENTAL", "1");
    }
    let second = messages(tests.args(targets))?;
    let executables = executables(&second)?;
    if executables.is_empty() {
        bail!("`{}` built no test", shown(&tests));
    }
    if targets.is_empty() {
        let again = again(&first, &second);
        println!("dependencies compiled again for the tests: {}", again.len());
        if again.len() > AGAIN {
            bail!(
                "{} are compiled for the tests after the program has compiled them, for features \
                 differ: ask for those in cli/Cargo.toml, too (`cargo tree -e features`)",
                again.join(", ")
            );
        }
        // The library for Python is no test's dependency.
        run(&mut cargo(["build", "--release", "--workspace", "--lib"]))?;
        budget::note("building the tests", start.elapsed().as_secs_f64());
    }
    Ok(executables)
}

/// What cargo says of each unit that it built, or found as it was.
fn messages(command: &mut Command) -> Result<Vec<Value>> {
    command.arg("--message-format=json-render-diagnostics");
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output();
    let output = output.context("cannot start cargo")?;
    if !output.status.success() {
        bail!("`{}` failed ({})", shown(command), output.status);
    }
    let text = String::from_utf8(output.stdout).context("cargo wrote no UTF-8")?;
    let lines = text.lines().filter(|line| line.starts_with('{'));
    lines
        .map(|line| serde_json::from_str(line).context("a message of cargo's"))
        .collect()
}

/// Packages of others that the second of two builds made other files of than the first.
fn again(first: &[Value], second: &[Value]) -> Vec<String> {
    let units = |messages: &[Value]| -> BTreeSet<(String, String)> {
        let artifacts = messages
            .iter()
            .filter(|m| m["reason"] == "compiler-artifact");
        let units = artifacts.map(|m| (m["package_id"].to_string(), m["filenames"].to_string()));
        units
            .filter(|(package, _)| !package.contains("path+file"))
            .collect()
    };
    let (first, second) = (units(first), units(second));
    let known: BTreeSet<&String> = first.iter().map(|(package, _)| package).collect();
    let others = second.difference(&first);
    let again = others.filter(|(package, _)| known.contains(package));
    again
        .map(|(package, _)| {
            let name = package.rsplit(['#', '/']).next().unwrap_or(package);
            name.trim_matches('"').to_owned()
        })
        .collect()
}

/// The programs of tests among cargo's messages.
fn executables(messages: &[Value]) -> Result<Vec<Executable>> {
    let mut found = Vec::new();
    for message in messages {
        let (Some(path), true) = (
            message["executable"].as_str(),
            message["profile"]["test"] == true,
        ) else {
            continue;
        };
        let manifest = message["manifest_path"].as_str().context("a manifest")?;
        let folder = Path::new(manifest).parent().context("a folder")?.to_owned();
        let package = match folder.strip_prefix(root()) {
            Ok(inner) if inner == Path::new("") => "bochner".to_owned(),
            Ok(inner) => inner.display().to_string(),
            Err(_) => folder.display().to_string(),
        };
        let kind = message["target"]["kind"][0].as_str().unwrap_or_default();
        // Examples and benches have no tests, and the library of a test is not run.
        let target = match kind {
            "test" => message["target"]["name"].as_str().context("a name")?,
            "lib" | "bin" | "cdylib" => "unit",
            _ => continue,
        };
        found.push(Executable {
            name: format!("{package}/{target}"),
            path: path.into(),
            folder,
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn programs_of_tests_are_told_from_other_products() {
        let product = |folder: &str, kind: &str, name: &str, test: bool| {
            let manifest = root().join(folder).join("Cargo.toml");
            let target = json!({"kind": [kind], "name": name});
            json!({"executable": format!("/t/{name}"), "profile": {"test": test},
                   "manifest_path": manifest, "target": target})
        };
        let messages = [
            product("", "lib", "bochner", true),
            product("cli", "bin", "bochner", false),
            product("tests", "test", "devices", true),
            product("", "example", "merge", true),
            json!({"reason": "build-finished"}),
        ];
        let names: Vec<String> = executables(&messages)
            .unwrap()
            .into_iter()
            .map(|executable| executable.name)
            .collect();
        assert_eq!(names, ["bochner/unit", "tests/devices"]);
    }

    #[test]
    fn what_is_compiled_twice_is_seen() {
        let unit = |package: &str, file: &str| json!({"reason": "compiler-artifact", "package_id": package, "filenames": [file]});
        let first = [
            unit("registry+x#memchr@2.8.3", "memchr-1"),
            unit("registry+x#syn@3.0.9", "syn-1"),
            unit("path+file:///p#0.1.0", "p-1"),
        ];
        let second = [
            unit("registry+x#memchr@2.8.3", "memchr-2"),
            unit("registry+x#syn@3.0.9", "syn-1"),
            unit("registry+x#csv@1.4.0", "csv-1"),
            unit("path+file:///p#0.1.0", "p-2"),
        ];
        assert_eq!(again(&first, &second), ["memchr@2.8.3"]);
        assert!(again(&first, &first).is_empty());
    }
}
