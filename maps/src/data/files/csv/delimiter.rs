//! What separates the fields of a file of which nobody says so.

use super::layout::separates;
use std::path::Path;

/// What may separate, the likeliest first.
pub(super) const LIKELY: [u8; 4] = *b",\t;|";

/// What separates the fields of a first line: what it has most of outside of quotes; else what the
/// name of the file says, or a comma.
pub(super) fn sniffed(line: &[u8], path: &Path) -> u8 {
    let name = path.file_name().map(|name| name.to_string_lossy());
    let name = name.map_or_else(String::new, |name| name.to_lowercase());
    let mut counts = LIKELY.map(|known| (known, 0));
    if name.contains(".tsv") {
        counts.swap(0, 1);
    }
    let mut inside = false;
    for &byte in line {
        inside ^= byte == b'"';
        if let Some((_, count)) = counts
            .iter_mut()
            .find(|(known, _)| *known == byte && !inside)
        {
            *count += 1;
        }
    }
    // The first of those that are as many.
    let most = counts.iter().rev().max_by_key(|(_, count)| *count);
    match most {
        Some((delimiter, 1..)) => *delimiter,
        _ if name.contains(".txt") => b' ',
        _ => counts[0].0,
    }
}

/// The delimiter of a line `sep=;`, which spreadsheets put in front of a table to name it.
pub(super) fn named(line: &[u8]) -> Option<u8> {
    let quoted = line.strip_prefix(b"\"").and_then(|l| l.strip_suffix(b"\""));
    let (word, rest) = quoted.unwrap_or(line).split_at_checked(4)?;
    let (&delimiter, rest) = rest.split_first()?;
    let alone = word.eq_ignore_ascii_case(b"sep=") && rest.iter().all(|&byte| byte == b' ');
    separates(char::from(delimiter)).filter(|_| alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_tells_what_separates() {
        let of = |line: &str, name: &str| char::from(sniffed(line.as_bytes(), Path::new(name)));
        assert_eq!(of("a,b", "x.csv"), ',');
        assert_eq!(of("a;b", "x.csv"), ';');
        assert_eq!(of("a\tb c|d\te", "x.csv"), '\t');
        assert_eq!(of("a|b", "x.txt.gz"), '|');
        assert_eq!(of("\"a;b;c\",d", "x.csv"), ',');
        // As many of both: what the name says, or else the comma.
        assert_eq!(of("a,b\tc", "x.TSV"), '\t');
        assert_eq!(of("a,b\tc", "x.csv"), ',');
        assert_eq!(of("1 2 3", "x.txt"), ' ');
        assert_eq!(of("1 2 3", "x.csv"), ',');
        assert_eq!(of("a", "x.tsv"), '\t');
    }

    #[test]
    fn a_line_may_name_what_separates() {
        for (line, expected) in [
            ("sep=;", Some(b';')),
            ("SEP=,", Some(b',')),
            ("sep=\t", Some(b'\t')),
            ("sep=|  ", Some(b'|')),
            ("\"sep=;\"", Some(b';')),
            ("sep=", None),
            ("sep=;;", None),
            ("sep=a", None),
            ("sep=1", None),
            ("sep;y", None),
            ("", None),
        ] {
            assert_eq!(named(line.as_bytes()), expected, "{line:?}");
        }
    }
}
