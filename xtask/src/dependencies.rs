//! Licences, sources, versions and use of all dependencies, held against deny.toml.
//!
//! cargo-deny and cargo-machete say the same and more, but take longer to build than all else that
//! is checked. So their questions are answered here from `cargo metadata`, in a second and without
//! a network, and asked of them where they are.

mod licenses;

use crate::folders::{root, target_dir};
use crate::metadata::{Metadata, Package};
use crate::process::{capture, cargo, run};
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// What `cargo xtask tools` builds.
const TOOLS: [&str; 3] = ["cargo-deny", "cargo-machete", "cbindgen"];

/// What is read of deny.toml: two lists, whose texts stand between quotes.
#[derive(Debug, Default)]
struct Rules {
    /// `[licenses] allow = ["A", ...]`.
    allow: Vec<String>,
    /// `[bans] skip = [{ crate = "name@version", reason = "..." }, ...]`, an entry a line.
    skip: Vec<(String, String)>,
}

impl Rules {
    fn parse(text: &str) -> Self {
        let mut rules = Self::default();
        let mut list = "";
        for line in text
            .lines()
            .map(str::trim)
            .filter(|line| !line.starts_with('#'))
        {
            if line.starts_with("allow = [") || line.starts_with("skip = [") {
                list = line;
            }
            let mut texts = line.split('"').skip(1).step_by(2).map(str::to_owned);
            if list.starts_with("allow") {
                rules.allow.extend(texts);
            } else if list.starts_with("skip")
                && let Some(spec) = texts.next()
            {
                rules.skip.push((spec, texts.next().unwrap_or_default()));
            }
            if line.ends_with(']') {
                list = "";
            }
        }
        rules
    }
}

/// Every question, and the tools' answers where they are installed.
pub(crate) fn check() -> Result<()> {
    let text = fs::read_to_string(root().join("deny.toml")).context("deny.toml")?;
    let rules = Rules::parse(&text);
    let metadata = Metadata::read()?;
    let (count, scope) = (metadata.packages.len(), metadata.scope);
    let mut faults = licenses::forbidden(&metadata, &rules.allow);
    faults.extend(sources(&metadata));
    faults.extend(duplicates(&metadata, &rules, scope == "every platform"));
    for member in metadata.members() {
        faults.extend(unused(member));
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    println!(
        "{count} packages of {scope}: licences, sources, duplicates and use are as deny.toml has them"
    );
    deny()?;
    match tool("cargo-machete") {
        Some(program) => run(Command::new(program).arg(root())),
        None => Ok(()),
    }
}

/// Builds the tools into target/tools, which takes minutes.
pub(crate) fn install() -> Result<()> {
    let tools = target_dir().join("tools");
    for name in TOOLS {
        run(cargo(["install", "--debug", "--locked", name])
            .arg("--root")
            .arg(&tools))?;
    }
    Ok(())
}

/// A tool in target/tools, or on the PATH.
pub(crate) fn tool(name: &str) -> Option<PathBuf> {
    let own = target_dir().join("tools/bin").join(name);
    let candidates = [own, PathBuf::from(name)];
    candidates
        .into_iter()
        .find(|program| capture(Command::new(program).arg("--version")).is_ok())
}

/// `cargo deny check`, where it is installed; of its questions only the advisories need a network.
fn deny() -> Result<()> {
    let Some(program) = tool("cargo-deny") else {
        println!(
            "NOT checked: advisories (known vulnerabilities), for cargo-deny is not installed; `cargo xtask tools` builds it"
        );
        return Ok(());
    };
    let deny = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(root());
        command
    };
    run(&mut deny(&[
        "--offline",
        "check",
        "bans",
        "licenses",
        "sources",
    ]))?;
    let fetched = capture(&mut deny(&["fetch", "db"]));
    if let Err(error) = fetched {
        let reason = error.to_string();
        let reason = reason.lines().next().unwrap_or_default();
        println!("NOT checked: advisories, whose database cannot be fetched here ({reason})");
        return Ok(());
    }
    run(&mut deny(&["check", "advisories"]))
}

/// Packages from anywhere but one registry.
fn sources(metadata: &Metadata) -> Vec<String> {
    let mut registries: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in &metadata.packages {
        if let Some(source) = package.source.as_deref() {
            registries.entry(source).or_default().push(&package.name);
        }
    }
    let main = registries.values().map(Vec::len).max();
    let odd = registries.iter().filter(|(source, packages)| {
        !source.starts_with("registry+") || Some(packages.len()) != main
    });
    odd.map(|(source, packages)| {
        format!(
            "{} come from {source}; take them from the registry",
            packages.join(", ")
        )
    })
    .collect()
}

/// Packages of several versions that deny.toml gives no reason for; and reasons that have lost
/// their cause, where all platforms' packages are known.
fn duplicates(metadata: &Metadata, rules: &Rules, all: bool) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in &metadata.packages {
        versions
            .entry(&package.name)
            .or_default()
            .insert(&package.version);
    }
    let mut faults = Vec::new();
    let mut excused = BTreeSet::new();
    for (spec, reason) in &rules.skip {
        if reason.is_empty() {
            faults.push(format!("deny.toml: {spec} is skipped without a reason"));
        }
        let (name, version) = spec.split_once('@').unwrap_or((spec, ""));
        let found = versions.get(name);
        let stale = found.is_none_or(|found| found.len() < 2 || !found.contains(version));
        if stale && all {
            faults.push(format!(
                "deny.toml: {spec} is skipped, but is no duplicate any more"
            ));
        }
        excused.insert((name, version));
    }
    for (name, found) in versions {
        let left: Vec<&str> = found
            .into_iter()
            .filter(|&v| !excused.contains(&(name, v)))
            .collect();
        if left.len() > 1 {
            faults.push(format!(
                "{name} is built in versions {}; agree on one, or list the others with the reason under [bans] skip in \
                 deny.toml",
                left.join(" and ")
            ));
        }
    }
    faults
}

/// Dependencies of a member that its code never names. Those that only choose features of another's
/// are named with their reason under `[package.metadata.cargo-machete]`.
fn unused(member: &Package) -> Vec<String> {
    let code = |folders: &[&str]| {
        let texts = folders.iter().map(|folder| member.code(folder));
        texts.collect::<Vec<_>>().join("\n")
    };
    // The package of tests has no library, and a folder for each of its programs.
    let all = code(&[
        "src", "tests", "benches", "examples", "common", "cpu", "devices", "data",
    ]);
    let library = match code(&["src"]) {
        code if code.is_empty() => all.clone(),
        code => code,
    };
    let idle = member.dependencies.iter().filter(|dependency| {
        let code = if dependency.kind == "dev" {
            &all
        } else {
            &library
        };
        dependency.kind != "build"
            && !member.uncalled.contains(&dependency.identifier)
            && !names(code, &dependency.identifier)
    });
    let mut faults: Vec<String> = idle
        .map(|dependency| {
            let section = if dependency.kind == "dev" {
                "[dev-dependencies]"
            } else {
                "[dependencies]"
            };
            format!(
                "{}: {} under {section} is not used",
                member.name, dependency.identifier
            )
        })
        .collect();
    faults.dedup();
    faults
}

/// Whether code names a crate: `name::`, `use name`, `extern crate name`, but for comments on lines
/// of their own.
fn names(code: &str, identifier: &str) -> bool {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    code.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .any(|line| {
            line.match_indices(identifier).any(|(at, _)| {
                let (before, after) = (&line[..at], &line[at + identifier.len()..]);
                let whole = !before.ends_with(is_word) && !after.starts_with(is_word);
                // `::name::` begins at the root, `module::name::` does not.
                let root = before.strip_suffix("::").unwrap_or(before);
                let inside =
                    root.len() < before.len() && root.ends_with(|c| is_word(c) || c == '>');
                let path = after.starts_with("::") && !inside;
                let import = ["use ", "extern crate "]
                    .iter()
                    .any(|word| before.ends_with(word));
                whole && (path || import)
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn metadata(packages: Value) -> Metadata {
        Metadata::parse(&json!({ "packages": packages }), "a test").unwrap()
    }

    #[test]
    fn sources_other_than_the_registry_are_faults() {
        let from = |source: Value| {
            sources(&metadata(json!([
                {"name": "own", "source": null},
                {"name": "a", "source": "registry+main"},
                {"name": "b", "source": "registry+main"},
                {"name": "c", "source": source}])))
        };
        assert!(from(json!("registry+main")).is_empty());
        assert!(from(json!("registry+other"))[0].contains("c come"));
        assert!(from(json!("git+main"))[0].contains("git+main"));
    }

    #[test]
    fn a_duplicate_needs_a_reason_and_a_reason_a_duplicate() {
        let two = metadata(json!([
            {"name": "a", "version": "1.0.0"}, {"name": "a", "version": "2.0.0"},
            {"name": "b", "version": "1.0.0"}]));
        let faults = |skip: &[(&str, &str)]| {
            let owned = skip
                .iter()
                .map(|&(spec, why)| (spec.to_owned(), why.to_owned()));
            let rules = Rules {
                skip: owned.collect(),
                ..Rules::default()
            };
            duplicates(&two, &rules, true)
        };
        assert!(faults(&[])[0].contains("a is built in versions 1.0.0 and 2.0.0"));
        let old = ("a@1.0.0", "c needs it");
        assert!(faults(&[old]).is_empty());
        assert!(faults(&[("a@1.0.0", "")])[0].contains("without a reason"));
        assert!(faults(&[old, ("b@1.0.0", "once")])[0].contains("no duplicate any more"));
    }

    #[test]
    fn both_lists_are_read_and_nothing_else() {
        let rules = Rules::parse(
            "[graph]\ntargets = [\n  \"x\",\n]\n[licenses]\n# \"No\"\nallow = [\n  \"MIT\",\n  \"ISC\",\n]\n\
             wildcards = \"deny\"\nskip = [\n  { crate = \"a@1\", reason = \"b\" },\n  { crate = \"c@2\" },\n]\n",
        );
        assert_eq!(rules.allow, ["MIT", "ISC"]);
        let skip = [("a@1", "b"), ("c@2", "")].map(|(spec, why)| (spec.to_owned(), why.to_owned()));
        assert_eq!(rules.skip, skip);
    }

    #[test]
    fn a_crate_is_used_where_code_names_it() {
        for code in [
            "use serde::Value;",
            "let a = ::serde::from(1);",
            "let a = serde::from(1);",
            "extern crate serde;",
            "use serde;",
        ] {
            assert!(names(code, "serde"), "{code}");
        }
        for code in [
            "use serde_json::Value;",
            "// serde::from",
            "let serde = 1;",
            "a::serde::b()",
            "",
        ] {
            assert!(!names(code, "serde"), "{code}");
        }
    }
}
