//! Whether every file of code is part of a program: one that no `mod` names is never compiled, and
//! tests in it never run.

use crate::folders::root;
use crate::metadata::collect;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, fs};

/// Files that begin a program or a library.
const ROOTS: [&str; 3] = ["main.rs", "lib.rs", "build.rs"];
/// Folders of a crate in which each file is a program of its own.
const PROGRAMS: [&str; 4] = ["examples", "benches", "tests", "targets"];

/// Errs on files that nothing compiles, with their names.
pub(crate) fn check() -> Result<()> {
    let mut files = Vec::new();
    for folder in [
        "src", "maps", "shaders", "capi", "cli", "python", "web", "xtask", "tests", "benches",
        "examples", "fuzz",
    ] {
        collect(&root().join(folder), "rs", &mut files);
    }
    let mut texts = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(&file)?;
        texts.insert(file, text);
    }
    let is_crate = |folder: &Path| folder.join("Cargo.toml").exists();
    let lost: Vec<String> = lost(&texts, is_crate)
        .iter()
        .map(|file| {
            file.strip_prefix(root())
                .unwrap_or(file)
                .display()
                .to_string()
        })
        .collect();
    if lost.is_empty() {
        return Ok(());
    }
    bail!(
        "no `mod` names these, so nothing compiles them: {}",
        lost.join(", ")
    )
}

/// The files of `texts` that no other one names. Files beside a manifest, in folders of programs,
/// begin one each.
fn lost(texts: &BTreeMap<PathBuf, String>, is_crate: impl Fn(&Path) -> bool) -> Vec<&PathBuf> {
    let named_by_path = |file: &Path| {
        texts.iter().any(|(other, text)| {
            let folder = other.parent().unwrap_or(other);
            paths(text).any(|path| same(&folder.join(path), file))
        })
    };
    let is_of_programs = |folder: &Path| {
        let is_named = folder
            .file_name()
            .is_some_and(|name| PROGRAMS.iter().any(|p| name == *p));
        is_named && folder.parent().is_some_and(&is_crate)
    };
    let is_lost = |file: &&PathBuf| {
        let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
            return false;
        };
        let name = name.to_string_lossy();
        if ROOTS.contains(&name.as_ref()) {
            return false;
        }
        if is_of_programs(folder) {
            return false;
        }
        let (stem, folder) = match name.as_ref() {
            "mod.rs" => (
                folder.file_name().unwrap_or_default(),
                folder.parent().unwrap_or(folder),
            ),
            _ => (file.file_stem().unwrap_or_default(), folder),
        };
        let stem = stem.to_string_lossy();
        let parents = [
            folder.with_extension("rs"),
            folder.join("mod.rs"),
            folder.join("main.rs"),
            folder.join("lib.rs"),
        ];
        let names = |parent: &PathBuf| texts.get(parent).is_some_and(|text| declares(text, &stem));
        // Programs side by side may share a module.
        let beside = || {
            let mut programs = texts
                .iter()
                .filter(|(other, _)| other.parent() == Some(folder));
            is_of_programs(folder) && programs.any(|(_, text)| declares(text, &stem))
        };
        !parents.iter().any(names) && !beside() && !named_by_path(file)
    };
    texts.keys().filter(is_lost).collect()
}

/// Whether a line of `text` is `mod name;`, whoever may see it.
fn declares(text: &str, name: &str) -> bool {
    let declared = format!("mod {name};");
    text.lines().any(|line| {
        let line = line.trim();
        line == declared || (line.starts_with("pub") && line.ends_with(&format!(" {declared}")))
    })
}

/// What `#[path = ".."]` names in `text`.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let of_line = |line: &'_ str| -> Option<(usize, usize)> {
        let from = line.find("path = \"")? + "path = \"".len();
        let to = from + line[from..].find('"')?;
        Some((from, to))
    };
    text.lines()
        .filter_map(move |line| of_line(line).map(|(from, to)| &line[from..to]))
}

/// Whether two paths are of one file, whatever steps up they take.
fn same(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| one == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_no_mod_names_is_lost() {
        let texts: BTreeMap<PathBuf, String> = [
            (
                "/c/src/lib.rs",
                "mod kept;\npub(crate) mod deep;\n// mod lost;\n",
            ),
            ("/c/src/kept.rs", "mod inner;"),
            ("/c/src/kept/inner.rs", ""),
            ("/c/src/kept/other.rs", ""),
            ("/c/src/lost.rs", ""),
            ("/c/src/deep/mod.rs", ""),
            ("/c/examples/own.rs", "mod shared;"),
            ("/c/examples/shared/mod.rs", ""),
            ("/c/tests/data/main.rs", "mod npy;"),
            ("/c/tests/data/npy.rs", ""),
            ("/c/tests/data/npz.rs", ""),
        ]
        .map(|(file, text)| (file.into(), text.into()))
        .into();
        let found = lost(&texts, |folder| folder == Path::new("/c"));
        let expected = [
            "/c/src/kept/other.rs",
            "/c/src/lost.rs",
            "/c/tests/data/npz.rs",
        ];
        assert_eq!(
            found,
            expected.map(PathBuf::from).iter().collect::<Vec<_>>()
        );
        assert_eq!(
            paths("#[path = \"../a.rs\"]\nmod b;").collect::<Vec<_>>(),
            ["../a.rs"]
        );
    }
}
