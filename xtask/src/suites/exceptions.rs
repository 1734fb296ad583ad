//! What one test may take of the processors, and which may take more, with reasons.

use crate::folders::root;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;

/// Seconds of processors that a test takes at most.
pub(super) const MOST: f64 = 20.0;
/// Lines of `seconds name: reason`; those that begin with # say how to read it.
const FILE: &str = "tests/slow.txt";

/// What some tests may take, by the ends of their names.
pub(super) struct Exceptions(BTreeMap<String, f64>);

impl Exceptions {
    pub(super) fn read() -> Result<Self> {
        let text = fs::read_to_string(root().join(FILE)).context(FILE)?;
        Self::parse(&text)
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut all = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let parts = line.split_once(' ').and_then(|(seconds, rest)| {
                let (name, reason) = rest.split_once(": ")?;
                Some((seconds.parse::<f64>().ok()?, name, reason))
            });
            match parts {
                Some((seconds, name, reason)) if seconds > MOST && !reason.trim().is_empty() => {
                    all.insert(name.to_owned(), seconds);
                }
                _ => bail!(
                    "{FILE}:{}: {line:?} is not `SECONDS NAME: REASON` with more than {MOST} seconds",
                    at + 1
                ),
            }
        }
        Ok(Self(all))
    }

    /// Those that are of no test that ran.
    pub(super) fn idle<'s>(&'s self, tests: &[&str]) -> Vec<&'s str> {
        let names = self.0.keys().map(String::as_str);
        names.filter(|name| !tests.contains(name)).collect()
    }

    /// What a test may take.
    pub(super) fn most(&self, test: &str) -> f64 {
        self.0.get(test).copied().unwrap_or(MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_has_its_seconds_and_its_reason() {
        let read = Exceptions::parse("# how\n\n90 parity::a: tiles are compiled\n").unwrap();
        assert_eq!((read.most("parity::a"), read.most("b")), (90.0, MOST));
        assert_eq!(read.idle(&["b"]), ["parity::a"]);
        assert!(read.idle(&["parity::a"]).is_empty());
        for line in [
            "90 parity::a",
            "9 parity::a: why",
            "x parity::a: why",
            "90 a: ",
        ] {
            assert!(Exceptions::parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn the_file_is_read() {
        Exceptions::read().unwrap();
    }
}
