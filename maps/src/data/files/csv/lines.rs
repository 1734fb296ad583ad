//! Text cut into records and records into fields, in memory that does not grow with either.

use super::Layout;
use super::record::{FIELDS, Record, RecordEnd, unquoted};
use crate::data::{TextEncoding, files::input::Input};
use crate::error::{Error, Result};
use crate::limits::RECORD_BYTES as RECORD;
use memchr::{memchr, memchr2, memchr3};
use std::path::Path;

/// Bytes read at a time.
const BUFFER: usize = 256 * 1024;

/// A text file at one of its records.
///
/// A record ends at a line feed, a carriage return, or both, outside of quotes; empty lines are
/// none. A field that begins with a quote goes on to the next one that is not doubled. With the
/// delimiter `' '` any number of blanks in a row are one.
#[derive(Debug)]
pub(in crate::data) struct Lines {
    input: Input,
    delimiter: u8,
    /// Lines in front of the first record, and what those begin with that are none; empty where
    /// there are none.
    skipped: u64,
    comment: Vec<u8>,
    /// Whether quotes are quotes, or a character like others.
    quotes: bool,
    buffer: Vec<u8>,
    /// What of the buffer is filled.
    filled: usize,
    /// Where in the buffer the next record begins.
    next: usize,
    /// How far into the unpacked file the buffer begins.
    before: u64,
    /// Whether the file has no bytes after those of the buffer.
    ended: bool,
    record: Record,
    /// The longest record: less in tests.
    longest: usize,
}

impl Lines {
    /// The file at `path` at its beginning, without the lines that are comments.
    pub(super) fn open(path: &Path, layout: &Layout) -> Result<Self> {
        let mut lines = Self::from_input(Input::open_text(path, layout.encoding)?)?;
        lines.comment = layout.comment_bytes()?;
        Ok(lines)
    }

    /// Goes on behind so many lines, with records of this delimiter.
    pub(super) fn begin_with(&mut self, delimiter: u8, behind: u64) -> Result<()> {
        self.delimiter = delimiter;
        self.start_behind(behind)
    }

    /// As [`Self::open`], for lines in which quotes mean nothing.
    pub(in crate::data) fn open_unquoted(path: &Path) -> Result<Self> {
        let mut lines = Self::from_input(Input::open(path)?)?;
        lines.quotes = false;
        Ok(lines)
    }

    fn from_input(input: Input) -> Result<Self> {
        let mut lines = Self {
            input,
            delimiter: b',',
            skipped: 0,
            comment: Vec::new(),
            quotes: true,
            buffer: vec![0; BUFFER],
            filled: 0,
            next: 0,
            before: 0,
            ended: false,
            record: Record::default(),
            longest: RECORD,
        };
        lines.begin()?;
        Ok(lines)
    }

    /// The same file before its first record, read on its own and separated by `delimiter`.
    pub(super) fn again(&self, delimiter: u8) -> Result<Self> {
        let mut lines = Self::from_input(self.input.again()?)?;
        lines.delimiter = delimiter;
        lines.comment.clone_from(&self.comment);
        lines.start_behind(self.skipped)?;
        Ok(lines)
    }

    /// Has records begin behind so many lines of the file, and goes there.
    pub(super) fn start_behind(&mut self, lines: u64) -> Result<()> {
        self.skipped = lines;
        self.rewind()
    }

    /// The file.
    pub(in crate::data) fn path(&self) -> &Path {
        self.input.path()
    }

    /// What separates fields.
    pub(super) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// What text became UTF-8 from, if it is none.
    pub(super) fn encoding(&self) -> Option<TextEncoding> {
        self.input.encoding()
    }

    /// Back to before the first record.
    pub(in crate::data) fn rewind(&mut self) -> Result<()> {
        self.input.rewind()?;
        self.begin()
    }

    fn begin(&mut self) -> Result<()> {
        (self.filled, self.next, self.before) = (0, 0, 0);
        self.ended = false;
        self.record.start = 0;
        self.record.end = 0;
        while self.filled < 3 && self.more(0)? {}
        // A mark of the byte order, which some programs write before UTF-8.
        self.next = if self.buffer[..self.filled].starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        for _ in 0..self.skipped {
            if self.step()?.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Goes behind the next line, whatever it holds, and says where it lies in [`Self::bytes`];
    /// `None` at the end. Quotes mean nothing.
    pub(super) fn step(&mut self) -> Result<Option<(usize, usize)>> {
        let mut seen = 0;
        loop {
            let rest = &self.buffer[self.next..self.filled];
            if let Some(found) = memchr2(b'\n', b'\r', &rest[seen..]) {
                let length = seen + found;
                let returns = rest[length] == b'\r';
                if returns && length + 1 == rest.len() && self.more(self.next)? {
                    // Whether a line feed belongs to it is read only now.
                    seen = length;
                    continue;
                }
                let feeds = self.buffer[..self.filled].get(self.next + length + 1) == Some(&b'\n');
                let line = (self.next, self.next + length);
                self.next += length + 1 + usize::from(returns && feeds);
                return Ok(Some(line));
            }
            seen = rest.len();
            if seen > self.longest {
                return Err(self.too_long("a record"));
            }
            if !self.more(self.next)? {
                let line = (self.next, self.filled);
                self.next = self.filled;
                return Ok((line.0 < line.1).then_some(line));
            }
        }
    }

    /// What lies there, until more is read.
    pub(super) fn bytes(&self, (start, end): (usize, usize)) -> &[u8] {
        &self.buffer[start..end]
    }

    /// Reads more bytes, keeping those of the buffer from `keep` on; false at the end of the file.
    fn more(&mut self, keep: usize) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if keep > 0 && self.buffer.len() - self.filled < self.buffer.len() / 4 {
            self.buffer.copy_within(keep..self.filled, 0);
            self.before += keep as u64;
            self.filled -= keep;
            self.next -= keep;
        }
        if self.filled == self.buffer.len() {
            self.buffer
                .resize((2 * self.filled).min(self.longest + BUFFER), 0);
        }
        let read = self.input.read(&mut self.buffer[self.filled..])?;
        self.filled += read;
        self.ended = read == 0;
        Ok(read > 0)
    }

    /// Goes to the next record, whose fields are not yet told apart unless it has quotes; false at
    /// the end.
    pub(in crate::data) fn find(&mut self) -> Result<bool> {
        let mut empty = 0;
        loop {
            let rest = &self.buffer[self.next..self.filled];
            match rest.iter().position(|b| !matches!(b, b'\r' | b'\n')) {
                Some(blank) => {
                    self.next += blank;
                    if !self.is_comment()? {
                        break;
                    }
                    self.step()?;
                }
                None => {
                    (empty, self.next) = (empty + rest.len(), self.filled);
                    if empty > self.longest {
                        return Err(self.too_long("empty lines"));
                    }
                    if !self.more(self.next)? {
                        return Ok(false);
                    }
                }
            }
        }
        let mut seen = 0;
        loop {
            let rest = &self.buffer[self.next..self.filled];
            let found = if self.quotes {
                memchr3(b'\n', b'\r', b'"', &rest[seen..])
            } else {
                memchr2(b'\n', b'\r', &rest[seen..])
            };
            let found = found.map(|at| seen + at);
            match found {
                Some(at) if self.quotes && rest[at] == b'"' => return self.find_quoted(),
                Some(at) => {
                    self.set(at, false);
                    return Ok(true);
                }
                None => {}
            }
            seen = rest.len();
            if seen > self.longest {
                return Err(self.too_long("a record"));
            }
            if !self.more(self.next)? {
                self.set(seen, false);
                return Ok(true);
            }
        }
    }

    /// Whether the next line is no record.
    fn is_comment(&mut self) -> Result<bool> {
        if self.comment.is_empty() {
            return Ok(false);
        }
        while self.filled - self.next < self.comment.len() && self.more(self.next)? {}
        Ok(self.buffer[self.next..self.filled].starts_with(&self.comment))
    }

    /// As the end of [`Self::find`], of a record with quotes.
    fn find_quoted(&mut self) -> Result<bool> {
        loop {
            let rest = &self.buffer[self.next..self.filled];
            let end = unquoted(rest, self.delimiter, &mut self.record);
            match end {
                RecordEnd::At(length) => {
                    self.set(length, true);
                    return Ok(true);
                }
                RecordEnd::Beyond { inside } if rest.len() > self.longest => {
                    self.next += inside.unwrap_or(0);
                    return Err(self.too_long("a record"));
                }
                RecordEnd::Beyond { .. } => {
                    // As many again before it is looked at once more.
                    let wanted = (2 * rest.len()).min(self.longest + 1);
                    while self.filled - self.next < wanted && self.more(self.next)? {}
                    if !self.ended {
                        continue;
                    }
                    // What was read last may end the record.
                    let rest = &self.buffer[self.next..self.filled];
                    let (length, open) = match unquoted(rest, self.delimiter, &mut self.record) {
                        RecordEnd::At(length) => (length, None),
                        RecordEnd::Beyond { inside } => (rest.len(), inside),
                    };
                    if let Some(quote) = open {
                        self.next += quote;
                        self.set(0, true);
                        let problem = "has a quote left open to the end of the file; close it, or \
                                       copy the file again if it was cut";
                        return Err(self.problem(problem));
                    }
                    self.set(length, true);
                    return Ok(true);
                }
            }
        }
    }

    /// The record is the next `length` bytes.
    fn set(&mut self, length: usize, quoted: bool) {
        self.record.start = self.next;
        self.record.end = self.next + length;
        self.record.byte = self.before + self.next as u64;
        self.record.quoted = quoted;
        self.next += length;
    }

    fn too_long(&mut self, what: &str) -> Error {
        self.set(0, false);
        let most = self.longest >> 20;
        self.problem(&format!(
            "begins {what} of more than {most} MiB; is a quote left open, or is it no table?"
        ))
    }

    /// Tells the fields of the record apart.
    pub(super) fn split(&mut self) {
        let Record { start, end, .. } = self.record;
        let blank = self.delimiter == b' ';
        if self.record.quoted {
            return;
        }
        self.record.fields.clear();
        self.record.count = 0;
        let mut at = start;
        loop {
            let field = memchr(self.delimiter, &self.buffer[at..end]).map_or(end, |n| at + n);
            if !blank || field > at {
                self.record.add(at, field, FIELDS);
            }
            if field == end {
                return;
            }
            at = field + 1;
        }
    }

    /// The whole record, if it has no quotes.
    pub(in crate::data) fn plain(&self) -> Option<&[u8]> {
        (!self.record.quoted).then(|| self.raw())
    }

    /// The whole record as it stands.
    pub(super) fn raw(&self) -> &[u8] {
        self.bytes((self.record.start, self.record.end))
    }

    /// Number of fields of a record that was split.
    pub(super) fn len(&self) -> usize {
        self.record.count
    }

    /// Field `j` of a record that was split.
    pub(super) fn field(&self, j: usize) -> &[u8] {
        let (start, end) = self.record.fields[j];
        if self.record.quoted {
            &self.record.text[start..end]
        } else {
            &self.buffer[start..end]
        }
    }

    /// `what` about the line of the record.
    pub(in crate::data) fn problem(&self, what: &str) -> Error {
        let gap = if what.starts_with(',') { "" } else { " " };
        let path = self.input.path();
        Error::data(path, format!("line {}{gap}{what}", self.number()))
    }

    /// The line on which the record begins, the first of the file being 1. Reads the file again, as
    /// only errors and warnings ask.
    pub(super) fn number(&self) -> u64 {
        let again = self.input.again();
        again
            .and_then(|input| line_at(input, self.record.byte))
            .unwrap_or(0)
    }
}

/// The line, counted from 1, that holds `byte` of the unpacked file.
fn line_at(mut input: Input, byte: u64) -> Result<u64> {
    let mut buffer = vec![0; BUFFER];
    let (mut line, mut at, mut previous) = (1, 0, 0);
    loop {
        let read = input.read(&mut buffer)?;
        for &b in &buffer[..read] {
            if at >= byte {
                return Ok(line);
            }
            line += u64::from(b == b'\r' || (b == b'\n' && previous != b'\r'));
            (previous, at) = (b, at + 1);
        }
        if read == 0 {
            return Ok(line);
        }
    }
}

#[cfg(test)]
mod tests;
