//! What stands in front of the records of a text file: the line that names the delimiter, titles,
//! lines of `#`.

use super::Layout;
use super::delimiter::{named, sniffed};
use super::lines::Lines;
use super::record::cells;
use crate::data::schema::NoValue;
use crate::error::Result;
use std::path::Path;

/// Lines of `#` in a row beyond which they are rows.
const MOST_MARKED: u64 = 1 << 16;

/// What the first lines of a file say of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Head {
    /// Lines in front of the first record.
    pub(super) lines: u64,
    /// How many of them begin with `#`, which nobody said to leave out.
    pub(super) marked: u64,
    pub(super) delimiter: u8,
    /// Whether the names begin with a `#` between blanks, which is none of them.
    pub(super) is_mark_alone: bool,
}

impl Head {
    /// Opens the file at `path` before its first record, which its first lines tell as far as
    /// nobody says so.
    pub(super) fn open(path: &Path, layout: &Layout) -> Result<(Lines, Self)> {
        let mut lines = Lines::open(path, layout)?;
        let head = Self::read(&mut lines, layout)?;
        lines.begin_with(head.delimiter, head.lines)?;
        Ok((lines, head))
    }

    /// Of lines at their beginning, of which only the comments are known.
    fn read(lines: &mut Lines, layout: &Layout) -> Result<Self> {
        let mut given = layout.delimiter_byte()?;
        let mut head = Self {
            lines: layout.skip_rows as u64,
            marked: 0,
            delimiter: b',',
            is_mark_alone: false,
        };
        if let Some(first) = lines.step()?
            && let Some(own) = named(lines.bytes(first))
        {
            given = given.or(Some(own));
            head.lines = head.lines.max(1);
        }
        lines.start_behind(head.lines)?;
        if layout.comment.is_none()
            && let Some(marked) = Marked::read(lines)?
        {
            return head.behind(lines, &marked, given);
        }
        head.delimiter = match given {
            Some(delimiter) => delimiter,
            None => {
                lines.rewind()?;
                lines.find()?;
                sniffed(lines.raw(), lines.path())
            }
        };
        Ok(head)
    }

    /// Where the names are among lines of `#`, or behind them. Of these the last few that have as
    /// many cells as the row behind them are a table's own: names, and rows.
    fn behind(mut self, lines: &mut Lines, marked: &Marked, given: Option<u8>) -> Result<Self> {
        lines.start_behind(self.lines + marked.lines)?;
        lines.find()?;
        let row = lines.raw().to_vec();
        let next = if lines.find()? {
            lines.raw().to_vec()
        } else {
            Vec::new()
        };
        self.delimiter = given.unwrap_or_else(|| {
            // What it has tells it where it has as many cells as the row.
            let own = sniffed(&marked.last, lines.path());
            let width = cells(&row, own).len();
            if width > 1 && names(&marked.last, own).len() == width {
                own
            } else {
                sniffed(&row, lines.path())
            }
        });
        let row = cells(&row, self.delimiter);
        let mut own = None;
        if !are_names(&row, &cells(&next, self.delimiter)) {
            lines.start_behind(self.lines)?;
            let mut count = 0;
            for line in 0..marked.lines {
                let Some(found) = lines.step()? else { break };
                let text = lines.bytes(found);
                if text.is_empty() {
                    continue;
                }
                let this = (line, count, is_mark_alone(text, self.delimiter));
                own = if names(text, self.delimiter).len() != row.len() {
                    None
                } else if row.len() > 1 {
                    // Of one column every line has as many.
                    own.or(Some(this))
                } else {
                    Some(this)
                };
                count += 1;
            }
        }
        let (before, count, alone) = own.unwrap_or((marked.lines, marked.count, false));
        (self.marked, self.is_mark_alone) = (count, alone);
        self.lines += before;
        Ok(self)
    }
}

/// The cells of a line of `#`, without a first one that is nothing else.
fn names(line: &[u8], delimiter: u8) -> Vec<Vec<u8>> {
    let mut found = cells(line, delimiter);
    if is_mark_alone(line, delimiter) {
        found.remove(0);
    }
    found
}

/// As `numpy.savetxt` writes names.
fn is_mark_alone(line: &[u8], delimiter: u8) -> bool {
    delimiter == b' ' && line.starts_with(b"# ")
}

/// Lines of `#`, and empty ones among them, at the beginning of a file.
struct Marked {
    /// How many there are in front of the first other line, and how many of these are of `#`.
    lines: u64,
    count: u64,
    /// The last of `#`.
    last: Vec<u8>,
}

impl Marked {
    /// `None` where the first line is another, and where there is no other or too many of these.
    fn read(lines: &mut Lines) -> Result<Option<Self>> {
        let mut found = Self {
            lines: 0,
            count: 0,
            last: Vec::new(),
        };
        while let Some(line) = lines.step()? {
            match lines.bytes(line) {
                text @ [b'#', ..] => {
                    found.count += 1;
                    found.last = text.to_vec();
                }
                [] => {}
                _ => return Ok((found.count > 0).then_some(found)),
            }
            found.lines += 1;
            if found.count > MOST_MARKED {
                break;
            }
        }
        Ok(None)
    }
}

/// Whether a row holds names, as the one behind it tells: it has no number, and below one of its
/// texts there is one.
fn are_names(row: &[Vec<u8>], next: &[Vec<u8>]) -> bool {
    let no_value = NoValue::from_given(None);
    let is_text = |cell: &[u8]| {
        let text = std::str::from_utf8(cell).map(str::trim);
        !is_amount(cell) && text.is_ok_and(|text| !no_value.says(text))
    };
    row.len() == next.len()
        && !row.iter().any(|cell| is_amount(cell))
        && (row.iter().zip(next)).any(|(cell, below)| is_text(cell) && is_amount(below))
}

/// Whether a cell is a number or a date, however it is written.
pub(super) fn is_amount(cell: &[u8]) -> bool {
    let part = |byte: &u8| byte.is_ascii_digit() || b"+-.,:/%eE ".contains(byte);
    cell.iter().any(u8::is_ascii_digit) && cell.iter().all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(name: &str, text: &str, layout: &Layout) -> (Head, Vec<String>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        let (mut lines, head) = Head::open(&path, layout).expect("opens");
        lines.find().expect("reads");
        let first = cells(lines.raw(), head.delimiter);
        let first = first
            .into_iter()
            .map(|cell| String::from_utf8_lossy(&cell).into_owned());
        (head, first.collect())
    }

    #[test]
    fn names_are_told_from_lines_in_front_of_them() {
        for (name, text, lines, marked, first) in [
            ("x.csv", "a,b\n1,2\n", 0, 0, vec!["a", "b"]),
            ("x.csv", "sep=;\na;b\n1,5;2\n", 1, 0, vec!["a", "b"]),
            (
                "x.csv",
                "sep=\t\r\n# a, b\r\na\tb\r\n1\t2\r\n",
                2,
                1,
                vec!["a", "b"],
            ),
            (
                "x.csv",
                "# made by X\n#\n\n# 2024, v2\na,b\n1,2\n",
                4,
                3,
                vec!["a", "b"],
            ),
            // As many cells as the rows.
            ("x.csv", "#a,b\n1,2\n", 0, 0, vec!["#a", "b"]),
            ("x.csv", "# made by X\n#a;b\n1,5;2\n", 1, 1, vec!["#a", "b"]),
            ("x.csv", "# a, b\n1,2\n3,4\n", 0, 0, vec!["# a", " b"]),
            (
                "x.csv",
                "#code,v\n#ff0000,1\n#00ff00,2\nred,3\nblue,4\n",
                0,
                0,
                vec!["#code", "v"],
            ),
            ("x.csv", "#k,v\nx,\ny,3\n", 0, 0, vec!["#k", "v"]),
            ("x.csv", "#x\n1\n2\n", 0, 0, vec!["#x"]),
            ("x.csv", "# one\n# two\n1\n2\n", 1, 1, vec!["# two"]),
            // No other line: they are rows.
            ("x.csv", "#1,2\n#3,4\n", 0, 0, vec!["#1", "2"]),
            ("x.csv", "#a,b\n", 0, 0, vec!["#a", "b"]),
            // What has names behind it is none.
            ("x.csv", "# X, 2024\na,b\n1,2\n", 1, 1, vec!["a", "b"]),
            ("x.csv", "# title\nvalue\n1\n", 1, 1, vec!["value"]),
            ("x.txt", "# x y\n1 2\n3 4\n", 0, 0, vec!["#", "x", "y"]),
            (
                "x.txt",
                "# measured by hand\n1 2\n3 4\n",
                1,
                1,
                vec!["1", "2"],
            ),
        ] {
            let (head, found) = head(name, text, &Layout::default());
            assert_eq!((head.lines, head.marked), (lines, marked), "{text:?}");
            assert_eq!(found, first, "{text:?}");
            assert_eq!(head.is_mark_alone, first[0] == "#", "{text:?}");
        }
    }

    #[test]
    fn what_is_said_counts() {
        let skipping = |skip_rows| Layout {
            skip_rows,
            ..Layout::default()
        };
        let (found, first) = head("x.csv", "Title\n\na;b\n1;2\n", &skipping(2));
        assert_eq!((found.lines, found.marked, found.delimiter), (2, 0, b';'));
        assert_eq!(first, ["a", "b"]);
        // Lines are those of the file, and the first one still names the delimiter.
        let (found, first) = head("x.csv", "sep=;\nT, U\n# c\na,b;c\n1;2\n", &skipping(2));
        assert_eq!((found.lines, found.marked, found.delimiter), (3, 1, b';'));
        assert_eq!(first, ["a,b", "c"]);
        let comments = Layout {
            comment: Some("#".into()),
            delimiter: Some('|'),
            ..Layout::default()
        };
        let (found, first) = head("x.csv", "# \"x\n#a|b\nc|d\n", &comments);
        assert_eq!((found.lines, found.marked, found.delimiter), (0, 0, b'|'));
        assert_eq!(first, ["c", "d"]);
    }
}
