//! Tables that stand below lines of titles, which errors say how to skip.

use super::delimiter::LIKELY;
use super::head::is_amount;
use super::record::FIELDS;
use super::records::Records;
use crate::data::files::input::encoding::windows_1252;
use crate::error::{Remedy, Result};
use std::borrow::Cow;

/// What separates the columns of some files, and stands in names of others.
const RARE: [u8; 4] = *b" ^~:";
/// Records that are looked at, and bytes after which no other is.
const LOOKED_AT: usize = 32;
const BYTES: usize = 1 << 20;

/// A record among the first of a file.
struct Looked {
    cells: Vec<String>,
    /// Lines of the file in front of it.
    lines: u64,
}

impl Looked {
    /// Whether its cells may be names: no two are the same, and none is a number.
    fn may_be_names(&self) -> bool {
        let mut sorted: Vec<&str> = self.cells.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        let each = |pair: &[&str]| pair[0] != pair[1];
        let is_name = |cell: &&str| !is_amount(cell.as_bytes());
        sorted.windows(2).all(each) && sorted.iter().all(is_name)
    }

    /// Whether it may be a title above rows of so many cells.
    fn may_be_title(&self, width: usize) -> bool {
        self.cells.len() != width || self.cells.iter().any(String::is_empty)
    }
}

impl Records {
    /// What helps where no column is called `name`: the first row may hold the names, or a row
    /// below titles, or something else may separate them.
    pub(super) fn remedy(&self, name: &str) -> Option<Remedy> {
        self.names_elsewhere(name)
            .or_else(|| self.rare_delimiter(name))
    }

    /// What separates the names in the first line, if they are one.
    fn rare_delimiter(&self, name: &str) -> Option<Remedy> {
        let is_open = self.layout.delimiter.is_none() && self.names.len() == 1;
        let mut rare = RARE.into_iter().filter(|_| is_open);
        let found = rare.find(|&mark| {
            let records = self.look(mark).unwrap_or_default();
            let has = |first: &Looked| first.cells.iter().any(|cell| cell == name);
            records
                .first()
                .is_some_and(|first| first.cells.len() > 1 && has(first))
        });
        found.map(|mark| Remedy::Delimiter(char::from(mark)))
    }

    fn names_elsewhere(&self, name: &str) -> Option<Remedy> {
        self.delimiters().into_iter().find_map(|delimiter| {
            let records = self.look(delimiter).ok()?;
            let has = |record: &Looked| record.cells.iter().any(|cell| cell == name);
            let at = records.iter().position(has)?;
            let (above, found) = (&records[..at], &records[at]);
            let width = found.cells.len();
            match above {
                [] => (!self.header && width == self.names.len()).then_some(Remedy::FirstLineNames),
                _ => {
                    let below = found.may_be_names() && above.iter().all(|r| r.may_be_title(width));
                    below.then_some(Remedy::SkipRows(found.lines))
                }
            }
        })
    }

    /// Lines in front of a table that begins below titles: of records of another number of cells.
    pub(super) fn titles(&self) -> Option<u64> {
        let below = |delimiter| {
            let records = self.look(delimiter).ok()?;
            let width = records.last()?.cells.len();
            let above = |record: &Looked| record.cells.len() != width;
            let first = records.iter().rposition(above)? + 1;
            let (is_table, has_titles) = (records.len() >= first + 2, above(&records[0]));
            (is_table && has_titles && width > 1).then_some((width, records[first].lines))
        };
        let found = self.delimiters().into_iter().filter_map(below);
        // The first of those with the most columns.
        found
            .reduce(|a, b| if b.0 > a.0 { b } else { a })
            .map(|(_, lines)| lines)
    }

    /// What may separate: as was said, or else what does, and what may do so below a title.
    fn delimiters(&self) -> Vec<u8> {
        let own = self.lines.delimiter();
        let mut all = vec![own];
        if self.layout.delimiter.is_none() {
            all.extend(LIKELY.into_iter().filter(|&likely| likely != own));
        }
        all
    }

    /// The first records.
    fn look(&self, delimiter: u8) -> Result<Vec<Looked>> {
        let mut lines = self.lines.again(delimiter)?;
        let (mut found, mut bytes) = (Vec::new(), 0);
        while found.len() < LOOKED_AT && bytes < BYTES && lines.find()? {
            lines.split();
            bytes += lines.raw().len();
            let cell = |j| text(lines.field(j)).trim().to_owned();
            found.push(Looked {
                cells: (0..lines.len().min(FIELDS)).map(cell).collect(),
                lines: lines.number().saturating_sub(1),
            });
        }
        Ok(found)
    }
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => windows_1252(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::files::csv::Layout;

    fn records(text: &str) -> (tempfile::TempDir, Records) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.csv");
        std::fs::write(&path, text).expect("written");
        let records = Records::open(&path, &Layout::default()).expect("opens");
        (folder, records)
    }

    #[test]
    fn names_are_found_below_titles() {
        let skip = |lines| Some(Remedy::SkipRows(lines));
        for (text, helps) in [
            ("Sales\na,y\n1,2\n3,4\n", skip(1)),
            ("Sales\n\nof 2024\na;y\n1;2\n3;4\n", skip(3)),
            ("Sales, 2024,\na,b,y\n1,2,3\n", skip(1)),
            ("Sales,,\na,b,y\n1,2,3\n", skip(1)),
            ("5,6,2021\n1,2,3\n", None),
            // A cell, no name.
            ("a,b\nx,y\nz,w\n", None),
            ("a,b\n1,y\n", None),
        ] {
            assert_eq!(records(text).1.remedy("y"), helps, "{text:?}");
        }
        // The folder stays, for the file is read again.
        let (_folder, numbers) = records("2019,2020\n1,2\n");
        assert_eq!(numbers.remedy("2020"), Some(Remedy::FirstLineNames));
        assert_eq!(numbers.remedy("2021"), None);
        for (text, mark) in [("a b y\n1 2 3\n", ' '), ("a^y\n1^2\n", '^')] {
            let helps = Some(Remedy::Delimiter(mark));
            assert_eq!(records(text).1.remedy("y"), helps, "{text:?}");
        }
        assert_eq!(records("a b\n1\n").1.remedy("y"), None);
    }

    #[test]
    fn tables_below_titles_are_told_from_broken_rows() {
        for (text, lines) in [
            ("Sales\na,b\n1,2\n", Some(1)),
            ("Sales\n\nX; Y, Z\na;b;c\n1,5;2;3\n", Some(3)),
            ("a,b\n1,2\n1,2,3\n4,5\n6,7\n", None),
            ("a,b\n1,2,3\n4,5\n", None),
            ("a\n1\n2\n", None),
        ] {
            assert_eq!(records(text).1.titles(), lines, "{text:?}");
        }
    }
}
