//! The files that a folder or a pattern stands for.

use super::format::{Format, READ};
use crate::error::{Error, Result};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The files that `path` stands for, in the order of their names: those of a folder whose names
/// end like data, without those that begin with a dot or an underscore; those of a pattern like
/// `rows-*.csv.gz`, in whose last part `*` stands for any characters and `?` for one; or else the
/// path itself.
///
/// Errors with [`Error::Io`] if a folder cannot be read, and with [`Error::Data`] if it has no such
/// file, or files of several formats.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// for name in ["b.csv", "a.csv", "_SUCCESS", "notes.md"] {
///     std::fs::write(folder.join(name), "x\n1\n").unwrap();
/// }
/// let files = bochner::data::parts(folder)?;
/// assert_eq!(files, [folder.join("a.csv"), folder.join("b.csv")]);
/// assert_eq!(bochner::data::parts(folder.join("b*"))?, [folder.join("b.csv")]);
/// # Ok::<(), bochner::Error>(())
/// ```
#[doc(hidden)]
pub fn parts(path: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
    let path = path.as_ref();
    let (folder, pattern) = match (path.is_dir(), path.file_name().and_then(OsStr::to_str)) {
        (true, _) => (path, None),
        (false, Some(name)) if name.contains(['*', '?']) && !path.exists() => {
            let parent = path
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty());
            (parent.unwrap_or(Path::new(".")), Some(name))
        }
        _ => return Ok(vec![path.to_owned()]),
    };
    let fail = |error| Error::io(path, error);
    let mut found = Vec::new();
    for entry in folder.read_dir().map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let taken = match pattern {
            Some(pattern) => matches(pattern, name),
            None => !name.starts_with(['.', '_']),
        };
        let file = if folder == Path::new(".") && !path.starts_with(".") {
            PathBuf::from(name)
        } else {
            folder.join(name)
        };
        // Of a folder, notes and databases beside the rows are none of them.
        let is_data = |format: Format| pattern.is_some() || !format.holds_tables();
        if taken && Format::from_path(name).is_some_and(is_data) && !file.is_dir() {
            found.push(file);
        }
    }
    found.sort();
    let Some(first) = found.first() else {
        let problem = match pattern {
            Some(_) => format!("stands for no file that can be read; {READ} can"),
            None => format!("is a directory without a file that can be read; {READ} can"),
        };
        return Err(Error::data(path, problem));
    };
    let format = Format::from_path(first);
    if let Some(other) = found.iter().find(|file| Format::from_path(file) != format) {
        let problem = format!(
            "has files of several formats, {} and {}; name those of one by a pattern such as \
             \"*.csv\"",
            first.display(),
            other.display()
        );
        return Err(Error::data(path, problem));
    }
    Ok(found)
}

/// Whether `name` is one that `pattern` stands for.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<_>, Vec<_>) = (pattern.chars().collect(), name.chars().collect());
    // Where the last star stood, and what of the name it has taken.
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    (p, n) = (at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each short pattern against each short name, by the definition.
    #[test]
    fn patterns_are_what_they_stand_for() {
        fn by_definition(pattern: &[u8], name: &[u8]) -> bool {
            match (pattern, name) {
                ([], []) => true,
                ([b'*', rest @ ..], _) => {
                    (0..=name.len()).any(|taken| by_definition(rest, &name[taken..]))
                }
                ([b'?', rest @ ..], [_, after @ ..]) => by_definition(rest, after),
                ([p, rest @ ..], [n, after @ ..]) => p == n && by_definition(rest, after),
                _ => false,
            }
        }
        let words = |letters: &[u8], length: u32| -> Vec<String> {
            let all = letters.len().pow(length);
            let word = |mut code: usize| {
                let letter = |_| {
                    let letter = letters[code % letters.len()];
                    code /= letters.len();
                    char::from(letter)
                };
                (0..length).map(letter).collect()
            };
            (0..all).map(word).collect()
        };
        for pattern in (0..5).flat_map(|length| words(b"ab*?", length)) {
            for name in (0..6).flat_map(|length| words(b"ab", length)) {
                let expected = by_definition(pattern.as_bytes(), name.as_bytes());
                assert_eq!(matches(&pattern, &name), expected, "{pattern:?} {name:?}");
            }
        }
    }
}
