//! What separates the fields of a file that does not say so.

use std::path::Path;

/// What separates the fields of a first line: what it has most of outside of quotes; else what the
/// name of the file says, or a comma.
pub(super) fn sniffed(line: &[u8], path: &Path) -> u8 {
    let name = path.file_name().map(|name| name.to_string_lossy());
    let name = name.map_or_else(String::new, |name| name.to_lowercase());
    let mut counts = [(b',', 0), (b'\t', 0), (b';', 0), (b'|', 0)];
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
}
