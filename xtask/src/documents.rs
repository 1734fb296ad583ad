//! Whether what documents name is there: links, their headings, and files of this repository.

use crate::folders::root;
use crate::metadata::collect;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Documents beside those of docs/. CHANGELOG.md also names what was there once.
const DOCUMENTS: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Endings of names that are files of this repository wherever they stand.
const ENDINGS: [&str; 4] = ["rs", "wgsl", "md", "py"];
/// Folders whose files are named by paths that begin so.
const FOLDERS: [&str; 12] = [
    "benches", "capi", "cli", "data", "docs", "examples", "maps", "python", "shaders", "src",
    "tests", "xtask",
];
/// Where a path may begin, beside its document's folder: a document on the code leaves out
/// `maps/src/`.
const BASES: [&str; 5] = ["", "src", "maps/src", "maps/src/ops", "maps/src/features"];

/// Every link of the documents leads somewhere, and every file that they name exists.
pub(crate) fn check() -> Result<()> {
    let mut documents: Vec<PathBuf> = DOCUMENTS.iter().map(|name| root().join(name)).collect();
    collect(&root().join("docs"), "md", &mut documents);
    documents.sort();
    let mut sources = Vec::new();
    for folder in FOLDERS {
        for ending in ENDINGS {
            collect(&root().join(folder), ending, &mut sources);
        }
    }
    let (mut count, mut found) = (0, Vec::new());
    for document in &documents {
        let text = fs::read_to_string(document).with_context(|| document.display().to_string())?;
        let folder = document.parent().unwrap_or(root());
        let name = document.strip_prefix(root()).unwrap_or(document).display();
        let is_there = |path: &str| {
            let mut bases = BASES
                .iter()
                .map(|base| root().join(base))
                .chain([folder.into()]);
            // A name alone goes on from words that name its folder.
            let alone = |file: &PathBuf| !path.contains('/') && file.ends_with(path);
            bases.any(|base| base.join(path).exists()) || sources.iter().any(alone)
        };
        for (index, line) in text.lines().enumerate() {
            for link in links(line) {
                count += 1;
                if let Some(fault) = fault_of(link, document)? {
                    found.push(format!("{name}:{}: {fault}", index + 1));
                }
            }
            for path in files(line) {
                count += 1;
                if !is_there(path) {
                    found.push(format!("{name}:{}: there is no {path}", index + 1));
                }
            }
        }
    }
    if count == 0 || !found.is_empty() {
        bail!(
            "{} of {count} names lead nowhere:\n{}",
            found.len(),
            found.join("\n")
        );
    }
    println!(
        "{} documents, all of the {count} files and links they name are there",
        documents.len()
    );
    Ok(())
}

/// Targets of the links in a line that stay within the repository.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|target| !target.contains("://"))
}

/// What is wrong with the link to `target` in `document`.
fn fault_of(target: &str, document: &Path) -> Result<Option<String>> {
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let file = match path {
        "" => document.to_owned(),
        _ => document.with_file_name(path),
    };
    if !file.exists() {
        return Ok(Some(format!("there is no {path}")));
    }
    if heading.is_empty() {
        return Ok(None);
    }
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let known = text
        .lines()
        .filter(|line| line.starts_with('#'))
        .any(|line| anchor(line) == heading);
    Ok((!known).then(|| format!("no heading of {} is #{heading}", file.display())))
}

/// What a link calls a heading: lower case, hyphens for blanks, no other punctuation.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The words of a line that name a file or folder of this repository. What holds `NAME` or `*`
/// stands for many.
fn files(line: &str) -> impl Iterator<Item = &str> {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '*' | ':');
    line.split(move |c: char| !inside(c))
        .map(|word| word.trim_end_matches(['.', ':']))
        .filter(|word| {
            let ending = word.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
            let names = ending.is_some_and(|(_, ending)| ENDINGS.contains(&ending));
            let folder = word
                .split_once('/')
                .is_some_and(|(first, rest)| FOLDERS.contains(&first) && !rest.is_empty());
            let one = !word.contains("NAME") && !word.contains(['*', ':']);
            (names || folder) && one && !word.starts_with(['/', '.'])
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_of_this_repository_pass() {
        check().unwrap();
    }

    #[test]
    fn names_of_files_are_told_from_other_words() {
        let of = |line: &'static str| files(line).collect::<Vec<_>>();
        assert_eq!(
            of("see `flow/run.rs`, (maps/src/ops/)."),
            ["flow/run.rs", "maps/src/ops/"]
        );
        assert_eq!(
            of("ops/gram.rs    | data/digits.csv"),
            ["ops/gram.rs", "data/digits.csv"]
        );
        for line in [
            "data.csv and/or new.csv",
            "`src/NAME.rs`",
            "sampling/*.rs",
            "D/2",
            "a.rs::b",
            ".rs",
        ] {
            assert_eq!(of(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn links_are_followed_to_their_headings() {
        let line = "[a](docs/maps.md#kernel-error), [b](https://example.org/x.md) ![c](p.svg)";
        assert_eq!(
            links(line).collect::<Vec<_>>(),
            ["docs/maps.md#kernel-error", "p.svg"]
        );
        assert_eq!(anchor("### 5. A model, in `use`"), "5-a-model-in-use");
        let readme = root().join("README.md");
        let fault = |target: &str| fault_of(target, &readme).unwrap();
        assert_eq!(fault("docs/guide.md#glossary"), None);
        assert!(fault("docs/guide.md#gloss").unwrap().contains("no heading"));
        assert!(fault("docs/nothing.md").unwrap().contains("nothing.md"));
    }
}
