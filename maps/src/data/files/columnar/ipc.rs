//! Arrow's own files: messages, one for each batch of rows.
//!
//! Of a stream (.arrows) they follow each other; of a file (.arrow, .feather, .ipc) a directory at
//! its end says where they lie. They are read here and their lengths held to those of the file;
//! what they mean, the crate says.

use super::{Batches, damage, guarded};
use crate::error::{Error, Result};
use crate::limits::HELD_BYTES;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::{
    Message, MessageHeader,
    convert::try_fb_to_schema,
    reader::{read_dictionary, read_record_batch},
    root_as_footer, root_as_message,
};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

const MAGIC: &[u8] = b"ARROW1";
/// The mark of a file, with what fills it up.
const BEFORE: u64 = 8;
/// The length of the directory of a file, and the mark.
const BEHIND: u64 = 10;

/// What a file has, as its messages say.
pub(super) struct Opened {
    schema: SchemaRef,
    rows: u64,
    /// Dictionaries and batches, in the order in which they are read.
    places: Arc<[MessageRange]>,
}

/// Where a message lies, and what belongs to it.
#[derive(Debug, Clone)]
struct MessageRange {
    message: Range<u64>,
    body: Range<u64>,
}

impl Opened {
    /// Goes over all messages, without what belongs to them.
    ///
    /// Errors with [`Error::Data`] if it is no whole file or stream.
    pub(super) fn new(path: &Path, file: &File) -> Result<Self> {
        let mut bytes = Bytes::new(path, file)?;
        let (schema, places) = if bytes.is_file()? {
            bytes.directory()?
        } else {
            bytes.stream()?
        };
        let mut rows = 0_u64;
        for place in &places {
            let metadata = bytes.read(place.message.clone())?;
            if let Some(batch) = message(path, &metadata)?.header_as_record_batch() {
                let more = u64::try_from(batch.length()).ok();
                let sum = more.and_then(|more| rows.checked_add(more));
                rows = sum.ok_or_else(|| damaged(path, "a batch has too many rows"))?;
            }
        }
        Ok(Self {
            schema: Arc::new(schema),
            rows,
            places: places.into(),
        })
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows of some fields, one batch of the file at a time.
    pub(super) fn batches(&self, path: &Path, file: &File, fields: &[usize]) -> Result<Batches> {
        let mut bytes = Bytes::new(path, file)?;
        let mut dictionaries: HashMap<i64, ArrayRef> = HashMap::new();
        let (schema, fields) = (self.schema.clone(), fields.to_vec());
        let (places, mut next) = (self.places.clone(), 0);
        let mut batch = move || -> Result<Option<RecordBatch>> {
            while let Some(place) = places.get(next) {
                next += 1;
                let metadata = bytes.read(place.message.clone())?;
                let message = message(&bytes.path, &metadata)?;
                let body = bytes.body(place.body.clone())?;
                let batch = guarded(&bytes.path, || {
                    let of = read(&message, &body, &schema, &mut dictionaries, &fields);
                    of.map_err(|error| damage(&bytes.path, &error))
                })?;
                if batch.is_some() {
                    return Ok(batch);
                }
            }
            Ok(None)
        };
        let mut failed = false;
        Ok(Box::new(std::iter::from_fn(move || {
            if failed {
                return None;
            }
            let found = batch().transpose();
            failed = matches!(found, Some(Err(_)));
            found
        })))
    }
}

fn message<'a>(path: &Path, metadata: &'a [u8]) -> Result<Message<'a>> {
    root_as_message(metadata).map_err(|_| damaged(path, "a message cannot be read"))
}

fn schema_of(path: &Path, schema: Option<arrow_ipc::Schema<'_>>) -> Result<Schema> {
    let schema = schema.ok_or_else(|| damaged(path, "no columns are named"))?;
    if !schema.endianness().equals_to_target_endianness() {
        let problem = "has its bytes in the other order; write it on a machine as this one";
        return Err(Error::data(path, problem));
    }
    guarded(path, || {
        try_fb_to_schema(schema).map_err(|error| damage(path, &error))
    })
}

/// What a message and its body are; dictionaries go where the batches look for them.
fn read(
    message: &Message<'_>,
    body: &Buffer,
    schema: &SchemaRef,
    dictionaries: &mut HashMap<i64, ArrayRef>,
    fields: &[usize],
) -> std::result::Result<Option<RecordBatch>, ArrowError> {
    let version = message.version();
    if let Some(dictionary) = message.header_as_dictionary_batch() {
        require_room(dictionary.data(), body)?;
        read_dictionary(body, dictionary, schema, dictionaries, &version)?;
        return Ok(None);
    }
    let Some(batch) = message.header_as_record_batch() else {
        return Ok(None);
    };
    require_room(Some(batch), body)?;
    let fields = Some(fields);
    read_record_batch(body, batch, schema.clone(), dictionaries, fields, &version).map(Some)
}

/// Errors unless all buffers lie in the body and unpack to what can be held.
fn require_room(
    batch: Option<arrow_ipc::RecordBatch<'_>>,
    body: &Buffer,
) -> std::result::Result<(), ArrowError> {
    let fault = |what: &str| Err(ArrowError::IpcError(what.to_owned()));
    let Some(batch) = batch else {
        return fault("a dictionary without values");
    };
    let mut sum = 0_u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let start = usize::try_from(buffer.offset()).ok();
        let length = usize::try_from(buffer.length()).ok();
        let end = start
            .zip(length)
            .and_then(|(start, length)| start.checked_add(length));
        let bytes = start.zip(end).and_then(|(start, end)| body.get(start..end));
        let Some(bytes) = bytes else {
            return fault("values lie beyond their batch");
        };
        let mut held = bytes.len() as u64;
        if let (Some(_), Some(first)) = (batch.compression(), bytes.first_chunk::<8>()) {
            // -1 where it is not packed.
            held = u64::try_from(i64::from_le_bytes(*first)).unwrap_or(held);
        }
        sum = sum.saturating_add(held);
    }
    let most = super::most_held(body.len() as u64);
    if sum <= most {
        return Ok(());
    }
    fault(&format!(
        "a batch of {sum} bytes in {}, of which {most} can be held",
        body.len()
    ))
}

/// The bytes of a file, no further than it is long.
struct Bytes {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Bytes {
    fn new(path: &Path, file: &File) -> Result<Self> {
        let fail = |error| Error::io(path, error);
        Ok(Self {
            path: path.to_owned(),
            file: file.try_clone().map_err(fail)?,
            length: file.metadata().map_err(fail)?.len(),
        })
    }

    /// Whether it begins as a file does, and not as a stream.
    fn is_file(&mut self) -> Result<bool> {
        let first = self.read(0..self.length.min(BEFORE))?;
        if first.starts_with(b"FEA1") {
            let problem = "is a .feather of version 1; write it in version 2";
            return Err(Error::data(&self.path, problem));
        }
        Ok(first.starts_with(MAGIC))
    }

    /// The columns of a file, and the places that its directory lists.
    fn directory(&mut self) -> Result<(Schema, Vec<MessageRange>)> {
        let behind = self.length.checked_sub(BEHIND).filter(|&at| at >= BEFORE);
        let behind = behind.ok_or_else(|| truncated(&self.path))?;
        let last = self.read(behind..self.length)?;
        let length = match last[..] {
            [a, b, c, d, ref magic @ ..] if magic == MAGIC => u32::from_le_bytes([a, b, c, d]),
            _ => return Err(truncated(&self.path)),
        };
        let end = behind
            .checked_sub(u64::from(length))
            .filter(|&end| end >= BEFORE);
        let end = end.ok_or_else(|| damaged(&self.path, "its directory is longer than it"))?;
        let directory = self.read(end..behind)?;
        let footer = root_as_footer(&directory);
        let footer = footer.map_err(|_| damaged(&self.path, "its directory cannot be read"))?;
        let schema = schema_of(&self.path, footer.schema())?;
        let batches = footer.recordBatches();
        let batches = batches.ok_or_else(|| damaged(&self.path, "no batches are listed"))?;
        let mut places = Vec::new();
        for block in footer.dictionaries().into_iter().flatten().chain(batches) {
            let parts = [
                block.offset(),
                block.metaDataLength().into(),
                block.bodyLength(),
            ];
            let [start, message, body] = parts.map(|part| u64::try_from(part).unwrap_or(u64::MAX));
            let middle = start.checked_add(message);
            let last = middle.and_then(|middle| middle.checked_add(body));
            let (Some(middle), Some(last)) = (middle, last.filter(|&last| last <= end)) else {
                return Err(damaged(&self.path, "a batch lies beyond its end"));
            };
            // The length of the message stands before it, with a mark or, in old files, without.
            let first = self.read(start..middle.min(start + 4))?;
            let before = if first == [0xff; 4] { 8 } else { 4 };
            places.push(MessageRange {
                message: (start + before).min(middle)..middle,
                body: middle..last,
            });
        }
        Ok((schema, places))
    }

    /// The columns of a stream, and the places of the messages that follow.
    fn stream(&mut self) -> Result<(Schema, Vec<MessageRange>)> {
        let (mut schema, mut places, mut at) = (None, Vec::new(), 0);
        loop {
            let mut length = self.number(&mut at)?;
            if length == u32::MAX {
                length = self.number(&mut at)?;
            }
            if length == 0 {
                break;
            }
            let begin = at;
            at += u64::from(length);
            let metadata = self.read(begin..at)?;
            let message = message(&self.path, &metadata)?;
            let body = u64::try_from(message.bodyLength()).ok();
            let end = body.and_then(|body| at.checked_add(body));
            let Some(end) = end.filter(|&end| end <= self.length) else {
                return Err(truncated(&self.path));
            };
            if schema.is_none() {
                schema = Some(schema_of(&self.path, message.header_as_schema())?);
            } else if message.header_type() == MessageHeader::Schema {
                return Err(damaged(&self.path, "columns are named twice"));
            } else {
                places.push(MessageRange {
                    message: begin..at,
                    body: at..end,
                });
            }
            at = end;
        }
        if at != self.length {
            return Err(damaged(&self.path, "rows lie behind the end of the stream"));
        }
        let schema = schema.ok_or_else(|| damaged(&self.path, "no columns are named"))?;
        Ok((schema, places))
    }

    /// What belongs to a message.
    fn body(&mut self, place: Range<u64>) -> Result<Buffer> {
        let bytes = place.end - place.start;
        let Some(length) = usize::try_from(bytes).ok().filter(|_| bytes <= HELD_BYTES) else {
            let problem = format!(
                "has a batch of {bytes} bytes, and {HELD_BYTES} are held at a time; write smaller \
                 batches"
            );
            return Err(Error::data(&self.path, problem));
        };
        // Aligned, so that nothing is copied once more.
        let mut body = MutableBuffer::from_len_zeroed(length);
        self.fill(place.start, &mut body)?;
        Ok(body.into())
    }

    /// A number of a stream, which ends with one.
    fn number(&mut self, at: &mut u64) -> Result<u32> {
        let bytes = self.read(*at..*at + 4)?;
        *at += 4;
        let bytes = bytes.first_chunk().ok_or_else(|| truncated(&self.path))?;
        Ok(u32::from_le_bytes(*bytes))
    }

    fn read(&mut self, place: Range<u64>) -> Result<Vec<u8>> {
        if place.end > self.length || place.start > place.end {
            return Err(truncated(&self.path));
        }
        let mut bytes = vec![0; (place.end - place.start) as usize];
        self.fill(place.start, &mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, at: u64, bytes: &mut [u8]) -> Result<()> {
        let path = &self.path;
        let fail = |error| failed(path, error);
        self.file.seek(SeekFrom::Start(at)).map_err(fail)?;
        self.file.read_exact(bytes).map_err(fail)
    }
}

fn truncated(path: &Path) -> Error {
    Error::data(path, "is truncated; copy or write the file again")
}

fn damaged(path: &Path, what: &str) -> Error {
    Error::data(path, format!("is damaged ({what}); write it again"))
}

/// A read that did not reach its end was of a file that was cut since.
fn failed(path: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => truncated(path),
        _ => Error::io(path, error),
    }
}
