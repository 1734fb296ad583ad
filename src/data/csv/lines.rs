//! Text cut into records and records into fields, in memory that does not grow with either.

use super::delimiter::sniffed;
use crate::data::input::Input;
use crate::error::{Error, Result};
use memchr::{memchr, memchr2, memchr3};
use std::path::Path;

/// The longest record, in bytes. A longer one is a quote that was left open, or no table.
const RECORD: usize = 64 << 20;
/// The most fields of a record, in each of which a first row names a column.
pub(super) const FIELDS: usize = 1 << 22;
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

/// One record: where it lies, and its fields.
#[derive(Debug, Default)]
struct Record {
    /// Where in the buffer it begins and ends.
    start: usize,
    end: usize,
    /// How far into the unpacked file it begins.
    byte: u64,
    /// Whether it has quotes; its fields are then in `text` and not in the buffer.
    quoted: bool,
    text: Vec<u8>,
    /// Where each field begins and ends.
    fields: Vec<(usize, usize)>,
    /// How many there are: more than are kept, if there are too many.
    count: usize,
}

impl Record {
    fn add(&mut self, start: usize, end: usize, most: usize) {
        self.count += 1;
        if self.count <= most {
            self.fields.push((start, end));
        }
    }
}

impl Lines {
    /// Opens the file at `path` before its first record. Without a delimiter, that is what the
    /// first line has most of, or else a comma.
    pub(super) fn open(path: &Path, delimiter: Option<u8>) -> Result<Self> {
        let mut lines = Self::begun(path)?;
        lines.delimiter = match delimiter {
            Some(delimiter) => delimiter,
            None => {
                lines.find()?;
                let first = lines.line();
                let found = sniffed(&lines.buffer[first.0..first.1], path);
                lines.rewind()?;
                found
            }
        };
        Ok(lines)
    }

    /// As [`Self::open`], for lines in which quotes mean nothing.
    pub(in crate::data) fn open_unquoted(path: &Path) -> Result<Self> {
        let mut lines = Self::begun(path)?;
        lines.quotes = false;
        Ok(lines)
    }

    fn begun(path: &Path) -> Result<Self> {
        let mut lines = Self {
            input: Input::open(path)?,
            delimiter: b',',
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

    /// The file.
    pub(in crate::data) fn path(&self) -> &Path {
        self.input.path()
    }

    /// What separates fields.
    pub(super) fn delimiter(&self) -> u8 {
        self.delimiter
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
        self.next = match self.buffer[..self.filled].starts_with(b"\xef\xbb\xbf") {
            true => 3,
            false => 0,
        };
        Ok(())
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
        loop {
            let rest = &self.buffer[self.next..self.filled];
            match rest.iter().position(|b| !matches!(b, b'\r' | b'\n')) {
                Some(blank) => {
                    self.next += blank;
                    break;
                }
                None => {
                    self.next = self.filled;
                    if !self.more(self.next)? {
                        return Ok(false);
                    }
                }
            }
        }
        let mut seen = 0;
        loop {
            let rest = &self.buffer[self.next..self.filled];
            let found = match self.quotes {
                true => memchr3(b'\n', b'\r', b'"', &rest[seen..]),
                false => memchr2(b'\n', b'\r', &rest[seen..]),
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
                return Err(self.too_long());
            }
            if !self.more(self.next)? {
                self.set(seen, false);
                return Ok(true);
            }
        }
    }

    /// As the end of [`Self::find`], of a record with quotes.
    fn find_quoted(&mut self) -> Result<bool> {
        loop {
            let rest = &self.buffer[self.next..self.filled];
            let end = unquoted(rest, self.delimiter, &mut self.record);
            match end {
                End::At(length) => {
                    self.set(length, true);
                    return Ok(true);
                }
                End::Beyond { inside } if rest.len() > self.longest => {
                    self.next += inside.unwrap_or(0);
                    return Err(self.too_long());
                }
                End::Beyond { .. } => {
                    // As many again before it is looked at once more.
                    let wanted = (2 * rest.len()).min(self.longest + 1);
                    while self.filled - self.next < wanted && self.more(self.next)? {}
                    if !self.ended {
                        continue;
                    }
                    // What was read last may end the record.
                    let rest = &self.buffer[self.next..self.filled];
                    let (length, open) = match unquoted(rest, self.delimiter, &mut self.record) {
                        End::At(length) => (length, None),
                        End::Beyond { inside } => (rest.len(), inside),
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

    fn too_long(&mut self) -> Error {
        self.set(0, false);
        self.problem(&format!(
            "begins a record of more than {} MiB; is a quote left open, or is it no table?",
            self.longest >> 20
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
        let (start, end) = self.line();
        (!self.record.quoted).then(|| &self.buffer[start..end])
    }

    fn line(&self) -> (usize, usize) {
        (self.record.start, self.record.end)
    }

    /// Number of fields of a record that was split.
    pub(super) fn len(&self) -> usize {
        self.record.count
    }

    /// Field `j` of a record that was split.
    pub(super) fn field(&self, j: usize) -> &[u8] {
        let (start, end) = self.record.fields[j];
        match self.record.quoted {
            true => &self.record.text[start..end],
            false => &self.buffer[start..end],
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
        Input::open(self.input.path())
            .and_then(|input| line_at(input, self.record.byte))
            .unwrap_or(0)
    }
}

/// Where a record ends in bytes that may not hold all of it.
enum End {
    At(usize),
    /// Not in these bytes, which may end inside of quotes.
    Beyond {
        /// Where the quotes began.
        inside: Option<usize>,
    },
}

/// Tells the fields of a record with quotes apart, which begins with the first of these bytes.
fn unquoted(bytes: &[u8], delimiter: u8, record: &mut Record) -> End {
    enum At {
        Start,
        Plain,
        Quoted,
        /// After a quote inside of quotes.
        Second,
    }
    let (mut at, mut start, mut quote) = (At::Start, 0, 0);
    record.text.clear();
    record.fields.clear();
    record.count = 0;
    for (i, &byte) in bytes.iter().enumerate() {
        let ends = matches!(byte, b'\n' | b'\r');
        match at {
            At::Start if byte == b'"' => (at, quote) = (At::Quoted, i),
            At::Quoted if byte == b'"' => at = At::Second,
            At::Quoted => record.text.push(byte),
            At::Second if byte == b'"' => {
                record.text.push(byte);
                at = At::Quoted;
            }
            _ if ends || byte == delimiter => {
                let end = record.text.len();
                if delimiter != b' ' || end > start {
                    record.add(start, end, FIELDS);
                }
                start = end;
                at = At::Start;
                if ends {
                    return End::At(i);
                }
            }
            _ => {
                record.text.push(byte);
                at = At::Plain;
            }
        }
    }
    let end = record.text.len();
    if delimiter != b' ' || end > start {
        record.add(start, end, FIELDS);
    }
    End::Beyond {
        inside: matches!(at, At::Quoted).then_some(quote),
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
