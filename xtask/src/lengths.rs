//! Whether files and functions of the library, of the doors, and of this program, are short enough
//! to be read in one go.

use crate::folders::root;
use crate::metadata::collect;
use anyhow::{Result, bail};
use std::fs;

/// Folders in which the limits hold: all that is no test of its own.
const FOLDERS: [&str; 7] = [
    "capi/src",
    "cli/src",
    "maps/src",
    "python/src",
    "src",
    "web/src",
    "xtask/src",
];
/// Lines of a file, with its tests.
const FILE: usize = 400;
/// Lines of a function, from its name to the brace that closes it.
const FUNCTION: usize = 60;

/// Errs on files and functions that have more lines, with their places.
pub(crate) fn check() -> Result<()> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root().join(folder), "rs", &mut files);
    }
    if files.is_empty() {
        bail!("no .rs file under {}", FOLDERS.join(", "));
    }
    files.sort();
    let mut found = Vec::new();
    for file in &files {
        let path = file.strip_prefix(root()).unwrap_or(file).display();
        let text = fs::read_to_string(file)?;
        let lines = text.lines().count();
        if lines > FILE {
            found.push(format!("{path}: {lines} lines, at most {FILE}; part it"));
        }
        for function in functions(&text).filter(|function| function.lines > FUNCTION) {
            found.push(format!(
                "{path}:{}: {} has {} lines, at most {FUNCTION}; cut it by what it does",
                function.first, function.name, function.lines
            ));
        }
    }
    if !found.is_empty() {
        bail!("too long to be read in one go:\n{}", found.join("\n"));
    }
    println!("{} files, none too long", files.len());
    Ok(())
}

/// Where a function begins, and how many lines it has.
#[derive(Debug, PartialEq)]
struct Function<'a> {
    name: &'a str,
    first: usize,
    lines: usize,
}

/// The functions of a text that rustfmt has formatted: each ends with a brace that stands as far
/// from the left as its first word.
fn functions(text: &str) -> impl Iterator<Item = Function<'_>> {
    let lines: Vec<&str> = text.lines().collect();
    (0..lines.len()).filter_map(move |at| {
        let name = named(lines[at])?;
        let indent = &lines[at][..lines[at].len() - lines[at].trim_start().len()];
        // One of a trait may have no body.
        let opened = lines[at..]
            .iter()
            .position(|line| line.ends_with(['{', '}', ';']))?;
        let length = if lines[at + opened].ends_with('{') {
            let is_end = |line: &&str| line.strip_prefix(indent) == Some("}");
            lines[at..].iter().position(is_end)? + 1
        } else {
            opened + 1
        };
        Some(Function {
            name,
            first: at + 1,
            lines: length,
        })
    })
}

/// The name of the function that begins in a line, whoever may see it.
fn named(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let (before, after) = match line.strip_prefix("fn ") {
        Some(after) => ("", after),
        None => line.split_once(" fn ")?,
    };
    let leads = ["pub", "const", "async", "unsafe", "extern"];
    let is_function = before.is_empty() || leads.iter().any(|lead| before.starts_with(lead));
    is_function.then(|| after.split(['(', '<']).next())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured_to_their_own_brace() {
        let text = "\
fn short() {}

impl A {
    /// `fn no() {`
    pub(in crate::a) fn long<T>(
        &self,
        list: [u8; 3],
    ) -> bool
    where
        T: B,
    {
        let inner = || {
            1
        };
        fn nested() {
            2
        }
    }
}

trait B {
    fn none(
        &self,
    );
    const fn one() -> u8 {
        1
    }
}
";
        let found: Vec<_> = functions(text)
            .map(|function| (function.name, function.first, function.lines))
            .collect();
        let expected = [
            ("short", 1, 1),
            ("long", 5, 14),
            ("nested", 15, 3),
            ("none", 22, 3),
            ("one", 25, 3),
        ];
        assert_eq!(found, expected);
    }
}
