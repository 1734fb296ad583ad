//! The rows of a .csv file as fields, and the names of its columns.

use super::decimal::{Decimals, Slot};
use super::head::Head;
use super::header::Header;
use super::layout::Layout;
use super::lines::Lines;
use super::record::FIELDS;
use crate::data::{files::input::encoding::windows_1252, files::table::short};
use crate::error::{Error, Remedy, Result};
use crate::text::counted;
use std::borrow::Cow;
use std::path::Path;

/// What is said of a file where nobody said how it is read. The names of options are those of the
/// command line and of programs.
const LATIN: &str = "text that is no UTF-8 is read as windows-1252; the option --encoding \
                     (encoding=) says otherwise";
const NUMBERS: &str = "its first line is all numbers and taken for a row; --header yes \
                       (header=\"yes\") takes it for names";

/// A file at one of its rows.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) lines: Lines,
    /// What was said of the file, and what its first lines say.
    pub(super) layout: Layout,
    head: Head,
    /// Whether the first row holds names.
    pub(super) header: bool,
    pub(super) names: Vec<String>,
    /// What was found that nobody said.
    notes: Vec<String>,
    /// Whether a text that is no UTF-8 was told of.
    told: bool,
}

impl Records {
    /// Opens `path`, reads the names of its columns and stands before the second record.
    ///
    /// Errors with [`Error::Io`] if the file cannot be opened, with [`Error::Parameter`] on a
    /// delimiter that cannot separate, and with [`Error::Data`] if the file is empty or its first
    /// record cannot be names.
    pub(super) fn open(path: &Path, layout: &Layout) -> Result<Self> {
        let (lines, head) = Head::open(path, layout)?;
        let mut records = Self {
            lines,
            layout: layout.clone(),
            head,
            header: true,
            names: Vec::new(),
            notes: Vec::new(),
            told: false,
        };
        records.read_names()?;
        records.note();
        Ok(records)
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        self.lines.path()
    }

    /// The same file at its first row.
    pub(super) fn again(&self) -> Result<Self> {
        let mut records = Self {
            lines: self.lines.again(self.lines.delimiter())?,
            layout: self.layout.clone(),
            head: self.head,
            header: self.header,
            names: self.names.clone(),
            notes: Vec::new(),
            told: true,
        };
        records.rewind()?;
        Ok(records)
    }

    /// Errors unless there is a row, and stands before it.
    pub(super) fn require_row(&mut self) -> Result<()> {
        if self.header && !self.lines.find()? {
            return Err(Error::data(
                self.path(),
                "has no rows after the column names; add at least one",
            ));
        }
        self.rewind()
    }

    /// Back to the first row.
    pub(super) fn rewind(&mut self) -> Result<()> {
        self.lines.rewind()?;
        if self.header {
            self.lines.find()?;
        }
        Ok(())
    }

    /// Reads the next row; false at the end.
    pub(super) fn next(&mut self) -> Result<bool> {
        let more = self.find()?;
        if more {
            self.split();
        }
        Ok(more)
    }

    /// As [`Self::next`], but the fields of the row are told apart by [`Self::split`].
    pub(super) fn find(&mut self) -> Result<bool> {
        self.lines.find()
    }

    /// Tells the fields of the row apart.
    pub(super) fn split(&mut self) {
        self.lines.split();
    }

    /// Reads the numbers of the row, which [`Self::find`] found, in one go; false if it has to be
    /// read field by field.
    pub(super) fn take(
        &self,
        decimals: &mut Decimals,
        slots: &[Slot],
        rows: (&mut [f64], &mut [f64]),
    ) -> bool {
        (self.lines.plain())
            .is_some_and(|text| decimals.take(text, self.lines.delimiter(), slots, rows))
    }

    /// Field `j` of the row.
    pub(super) fn field(&self, j: usize) -> &[u8] {
        self.lines.field(j)
    }

    /// Field `j` of the row, which is no UTF-8, as text in Windows-1252. Errors where somebody said
    /// that it is another.
    pub(super) fn latin(&mut self, j: usize) -> Result<String> {
        if self.layout.encoding.is_some() {
            let name = short(&self.names[j]);
            let problem = format!(", column {name}: is not UTF-8 text");
            return Err(self
                .problem(problem)
                .help(Remedy::OtherEncoding("windows-1252")));
        }
        if !std::mem::replace(&mut self.told, true) {
            log::warn!("{}: {LATIN}", self.path().display());
        }
        Ok(windows_1252(self.field(j)).into_owned())
    }

    /// The first word of a line of one field, as words below a table are: `Source: own data`.
    fn footer(&self) -> Option<String> {
        let is_line =
            self.lines.len() == 1 && self.names.len() > 1 && self.layout.comment.is_none();
        let line = std::str::from_utf8(self.lines.raw())
            .ok()
            .filter(|_| is_line)?;
        let word = line.split_whitespace().next()?;
        word.starts_with(char::is_alphabetic)
            .then(|| word.to_owned())
    }

    /// Errors unless the row has a field under each name.
    pub(super) fn require_fields(&self) -> Result<()> {
        let count = self.lines.len();
        if count == self.names.len() {
            return Ok(());
        }
        let kept = count.min(FIELDS);
        let hint = if (0..kept).any(|j| self.field(j).contains(&b'\n')) {
            " (is a quote left open?)"
        } else {
            ""
        };
        let mut error = self.problem(format!(
            "has {}, but the first row has {}{hint}",
            counted(count, "field"),
            self.names.len()
        ));
        if count == self.names.len() + 1 && self.header {
            let is_apostrophe = |j: usize| self.field(j).starts_with(b"'");
            let above = self.layout.skip_rows as u64 + self.head.marked;
            let help = if self.field(count - 1).is_empty() {
                "leave out the delimiter at the end of the lines"
            } else if (0..kept).any(is_apostrophe) {
                "put \" around fields that hold a delimiter in the place of '"
            } else if self.line() > above + 2 {
                "put \" around a field of it that holds a delimiter"
            } else {
                "give the first column a name in the first line, if it has none"
            };
            error = error.help(Remedy::words(help));
        } else if self.layout.comment.is_none() && self.lines.raw().starts_with(b"#") {
            error = error.help(Remedy::Comment("#".into()));
        } else if let Some(lines) = self.titles() {
            error = error.help(Remedy::SkipRows(lines));
        } else if let Some(word) = self.footer() {
            error = error.help(Remedy::Comment(word));
        }
        Err(error.help(Remedy::words("give every row the same columns")))
    }

    fn read_names(&mut self) -> Result<()> {
        if !self.next()? {
            let problem = match self.layout.skip_rows {
                0 => "is empty; its first line must hold the column names".to_owned(),
                lines => format!("has no row behind the {lines} lines that are left out"),
            };
            return Err(Error::data(self.path(), problem));
        }
        let count = self.lines.len();
        if count > FIELDS {
            let problem = format!(
                "has {count} columns, and {FIELDS} can be read; is it a table of samples in rows?"
            );
            return Err(Error::data(self.path(), problem));
        }
        let mut names = Vec::with_capacity(count);
        for j in usize::from(self.head.is_mark_alone)..count {
            let name = match std::str::from_utf8(self.field(j)) {
                Ok(name) => Cow::Borrowed(name),
                Err(_) if self.layout.encoding.is_none() => {
                    self.notes.extend((!self.told).then(|| LATIN.to_owned()));
                    self.told = true;
                    windows_1252(self.field(j))
                }
                Err(_) => {
                    let problem = format!("the name of column {j} is not UTF-8 text");
                    let error = Error::data(self.path(), problem);
                    return Err(error.help(Remedy::OtherEncoding("windows-1252")));
                }
            };
            names.push(name.trim().to_owned());
        }
        if names.iter().any(|name| name.contains('\0')) {
            let problem = "its first line holds zero bytes, as text in UTF-16 does";
            let help = Remedy::OtherEncoding("utf-16");
            return Err(Error::data(self.path(), problem).help(help));
        }
        let counts = names.len() >= 4
            && names
                .iter()
                .enumerate()
                .all(|(j, name)| *name == j.to_string());
        self.header = match self.layout.header {
            Header::Auto if self.head.is_mark_alone => true,
            Header::Auto => counts || !names.iter().all(|name| name.parse::<f64>().is_ok()),
            said => said == Header::Yes,
        };
        if !self.header && self.layout.header == Header::Auto && self.may_be_names(&names)? {
            self.notes.push(NUMBERS.to_owned());
        }
        for (j, name) in names.iter_mut().enumerate() {
            if name.is_empty() || !self.header {
                *name = j.to_string();
            }
        }
        self.names = names;
        Ok(())
    }

    /// Whether a first row of numbers may be names all the same: whole numbers in even steps, such
    /// as years, above a row that is none of such.
    fn may_be_names(&mut self, first: &[String]) -> Result<bool> {
        let steps = |cells: &[String]| {
            let whole: Option<Vec<i64>> = cells.iter().map(|cell| cell.parse().ok()).collect();
            whole.is_some_and(|all| {
                let step = |pair: &[i64]| pair[1].checked_sub(pair[0]);
                let first = all.get(..2).and_then(step).filter(|step| *step != 0);
                all.len() > 2 && first.is_some() && all.windows(2).all(|pair| step(pair) == first)
            })
        };
        if !steps(first) || !self.next()? {
            return Ok(false);
        }
        let second = (0..self.lines.len().min(first.len())).map(|j| self.field(j));
        let second: Vec<_> = second
            .map(|field| String::from_utf8_lossy(field).trim().to_owned())
            .collect();
        Ok(!steps(&second))
    }

    /// Notes what was found of the file and nobody said.
    fn note(&mut self) {
        if self.layout.encoding.is_none()
            && let Some(found) = self.lines.encoding()
        {
            self.notes.push(format!(
                "read as {found}, as its first bytes say; the option --encoding (encoding=) says \
                 otherwise"
            ));
        }
        let lines = match self.head.marked {
            0 => return,
            1 => "1 line that begins with # is".to_owned(),
            count => format!("{count} lines that begin with # are"),
        };
        let note = format!("{lines} left out in front of the first row");
        self.notes.push(note);
    }

    /// Says what was found.
    pub(super) fn say(&mut self) {
        for note in std::mem::take(&mut self.notes) {
            log::warn!("{}: {note}", self.path().display());
        }
    }

    /// `what` reads on from the line of the current record.
    pub(super) fn problem(&self, what: String) -> Error {
        self.lines.problem(&what)
    }

    /// The line on which the row begins, the first of the file being 1.
    pub(super) fn line(&self) -> u64 {
        self.lines.number()
    }
}
