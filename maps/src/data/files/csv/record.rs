//! One record of a text file as fields, quotes taken off.

pub(super) use crate::limits::RECORD_FIELDS as FIELDS;

/// One record: where it lies, and its fields.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Where in the buffer it begins and ends.
    pub(super) start: usize,
    pub(super) end: usize,
    /// How far into the unpacked file it begins.
    pub(super) byte: u64,
    /// Whether it has quotes; its fields are then in `text` and not in the buffer.
    pub(super) quoted: bool,
    pub(super) text: Vec<u8>,
    /// Where each field begins and ends.
    pub(super) fields: Vec<(usize, usize)>,
    /// How many there are: more than are kept, if there are too many.
    pub(super) count: usize,
}

impl Record {
    pub(super) fn add(&mut self, start: usize, end: usize, most: usize) {
        self.count += 1;
        if self.count <= most {
            self.fields.push((start, end));
        }
    }
}

/// The fields of a record.
pub(super) fn cells(record: &[u8], delimiter: u8) -> Vec<Vec<u8>> {
    let mut found = Record::default();
    unquoted(record, delimiter, &mut found);
    let fields = found.fields.iter();
    fields
        .map(|&(from, to)| found.text[from..to].to_vec())
        .collect()
}

/// Where a record ends in bytes that may not hold all of it.
pub(super) enum RecordEnd {
    At(usize),
    /// Not in these bytes, which may end inside of quotes.
    Beyond {
        /// Where the quotes began.
        inside: Option<usize>,
    },
}

/// Tells the fields of a record with quotes apart, which begins with the first of these bytes.
pub(super) fn unquoted(bytes: &[u8], delimiter: u8, record: &mut Record) -> RecordEnd {
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
                    return RecordEnd::At(i);
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
    RecordEnd::Beyond {
        inside: matches!(at, At::Quoted).then_some(quote),
    }
}
