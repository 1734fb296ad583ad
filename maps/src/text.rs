//! Words for people.

use crate::{Error, Result};

/// `1.5 GB` and the like.
pub fn human_bytes(bytes: u64) -> String {
    let b = bytes as f64;
    match bytes {
        0..1_000_000 => format!("{:.1} kB", b / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", b / 1e6),
        _ => format!("{:.1} GB", b / 1e9),
    }
}

/// The one of `all` that is displayed as `text`.
pub fn spelled<T: Copy + std::fmt::Display>(what: &str, text: &str, all: &[T]) -> Result<T> {
    let spells = |one: &&T| one.to_string() == text;
    all.iter().find(spells).copied().ok_or_else(|| {
        let words: Vec<String> = all.iter().map(T::to_string).collect();
        let (last, others) = words.split_last().expect("there is a word");
        Error::parameter(format!(
            "{what} is {text:?}; use {} or {last}",
            others.join(", ")
        ))
    })
}

/// A driver's message on one line.
pub(crate) fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `1 row`, `2 rows`.
pub fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
