//! What a run was given, in words: to be compared with what another one was given.

use crate::{Cli, job};
use bochner::{Error, data::parts};
use clap::parser::ValueSource;
use std::{
    collections::BTreeMap,
    io::{Read, Seek, SeekFrom},
    path::Path,
    time::UNIX_EPOCH,
};

/// Options by their names.
pub(crate) type Given = BTreeMap<String, String>;

/// The version that made what is compared.
pub(crate) const VERSION: &str = "version of bochner";

/// Options that change no result.
const WITHOUT_EFFECT: &[&str] = &[
    "--json",
    "--quiet",
    "--verbose",
    "--progress-every",
    "--threads",
    "--device",
    "--output",
    "--checkpoint",
    "--every",
    "--shard",
    "--partial",
    "--job",
    "--like",
];

/// The options of this run that change its results, but for `others`; files are named by what is in
/// them ([`file`]).
pub(crate) fn options(others: &[&str]) -> Given {
    let mut given = Given::new();
    let definition = Cli::definition();
    let Ok(matches) = definition.clone().try_get_matches_from(job::words()) else {
        return given;
    };
    let Some((name, matches)) = matches.subcommand() else {
        return given;
    };
    let command = definition.find_subcommand(name);
    for argument in command.into_iter().flat_map(clap::Command::get_arguments) {
        let (id, Some(long)) = (argument.get_id().as_str(), argument.get_long()) else {
            continue;
        };
        let long = format!("--{long}");
        let without_effect = WITHOUT_EFFECT.contains(&&*long) || others.contains(&&*long);
        if without_effect || matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        let words = matches.get_raw(id).into_iter().flatten();
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        given.insert(long, words.join(","));
    }
    given.insert(VERSION.into(), env!("CARGO_PKG_VERSION").into());
    given
}

/// What tells a file from others: its length, when it was changed, and both of its ends. Of a
/// folder or a pattern, that of each file.
pub(crate) fn file(path: &Path) -> bochner::Result<String> {
    if path == Path::new("-") {
        return Err(Error::unsupported(
            "standard input is gone when work is taken up again; save it to a file first",
        ));
    }
    let files = parts(path)?;
    let told: bochner::Result<Vec<_>> = files.iter().map(|file| one(file)).collect();
    Ok(told?.join("; "))
}

fn one(path: &Path) -> bochner::Result<String> {
    const END: u64 = 1 << 16;
    let fail = |error| Error::io(path, error);
    let found = std::fs::metadata(path).map_err(fail)?;
    // A source says what is wrong with anything else.
    if !found.is_file() {
        return Ok(String::new());
    }
    let mut file = std::fs::File::open(path).map_err(fail)?;
    let mut ends = Vec::new();
    (&mut file).take(END).read_to_end(&mut ends).map_err(fail)?;
    let last = found.len().saturating_sub(END);
    file.seek(SeekFrom::Start(last)).map_err(fail)?;
    file.take(END).read_to_end(&mut ends).map_err(fail)?;
    let changed = found.modified().map_err(fail)?.duration_since(UNIX_EPOCH);
    let changed = changed.map_or(0, |since| since.as_nanos());
    let bytes = found.len();
    let digest = digest(&ends);
    Ok(format!(
        "{bytes} bytes changed at {changed}, digest {digest}"
    ))
}

/// FNV-1a of 64 bits: tells contents apart that differ by mistake, not on purpose.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, step);
    format!("{hash:016x}")
}

/// The first thing that differs, in words.
pub(crate) fn difference(then: &Given, now: &Given) -> Option<String> {
    let names = then.keys().chain(now.keys());
    let name = names
        .into_iter()
        .find(|name| then.get(*name) != now.get(*name))?;
    let value = |given: &Given| given.get(name).map_or("not given", |v| v).to_owned();
    Some(format!("{name} was {} and is {}", value(then), value(now)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_told_apart() {
        // The published value for "a".
        assert_eq!(digest(b"a"), "af63dc4c8601ec8c");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        std::fs::write(&path, "abc").expect("writes");
        let first = file(&path).expect("reads");
        assert_eq!(file(&path).expect("reads"), first);
        std::fs::write(&path, "abd").expect("writes");
        assert_ne!(file(&path).expect("reads"), first);
        let (a, b) = (
            Given::from([("--x".into(), "1".into())]),
            Given::from([("--y".into(), "2".into())]),
        );
        assert_eq!(difference(&a, &a), None);
        let said = difference(&a, &b).expect("differ");
        assert_eq!(said, "--x was 1 and is not given");
    }
}
