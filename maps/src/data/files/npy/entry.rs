//! One entry of a zip archive as a stream that owns its file, can start again, and checks its CRC
//! at the end.
//!
//! The zip crate's own reader borrows the archive, so a source could not keep it from chunk to
//! chunk.

use flate2::{Crc, read::DeflateDecoder};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use zip::{CompressionMethod, read::ZipFile};

/// Where an entry lies and what it must unpack to.
#[derive(Debug, Clone, Copy)]
pub(in crate::data) struct Description {
    start: u64,
    packed: u64,
    unpacked: u64,
    crc: u32,
    deflated: bool,
}

impl Description {
    /// Of an entry as the archive's directory has it; otherwise what is wrong and what to do.
    pub(in crate::data) fn from_entry(file: &ZipFile<'_, File>) -> Result<Self, String> {
        if file.encrypted() {
            return Err("is encrypted; save the archive without a password".into());
        }
        let deflated = match file.compression() {
            CompressionMethod::Stored => false,
            CompressionMethod::Deflated => true,
            other => {
                return Err(format!(
                    "is compressed by {other:?}; save it with numpy.savez or numpy.savez_compressed"
                ));
            }
        };
        let (packed, unpacked) = (file.compressed_size(), file.size());
        // Deflate cannot do better than 1032 to 1, so a larger claim is damage and not a reason to
        // reserve memory.
        let most = if deflated {
            packed.saturating_mul(1032).saturating_add(1032)
        } else {
            packed
        };
        if unpacked > most || (!deflated && unpacked != packed) {
            return Err(format!(
                "is damaged: {packed} bytes cannot unpack to {unpacked}; write the file again"
            ));
        }
        Ok(Self {
            start: file.data_start(),
            packed,
            unpacked,
            crc: file.crc32(),
            deflated,
        })
    }
}

/// The unpacked bytes of one entry.
pub(in crate::data) struct Entry {
    file: File,
    description: Description,
    body: Box<dyn Read + Send>,
    /// Bytes read.
    read: u64,
    crc: Crc,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("file", &self.file)
            .field("description", &self.description)
            .finish_non_exhaustive()
    }
}

impl Entry {
    /// Takes over the handle of the archive.
    pub(in crate::data) fn open(file: File, description: Description) -> io::Result<Self> {
        let body = body(&file, description)?;
        Ok(Self {
            file,
            description,
            body,
            read: 0,
            crc: Crc::new(),
        })
    }

    /// Unpacked length in bytes.
    pub(in crate::data) fn len(&self) -> u64 {
        self.description.unpacked
    }

    /// Back to the first byte.
    pub(in crate::data) fn rewind(&mut self) -> io::Result<()> {
        self.body = body(&self.file, self.description)?;
        (self.read, self.crc) = (0, Crc::new());
        Ok(())
    }

    /// Reads what is left; an error if that is not the end that the directory promises.
    pub(in crate::data) fn finish(&mut self) -> io::Result<()> {
        io::copy(self, &mut io::sink()).map(drop)
    }

    /// Unpacks everything into an unnamed temporary file, from its first byte on.
    pub(in crate::data) fn spool(&mut self) -> io::Result<File> {
        let mut file = tempfile::tempfile()?;
        self.rewind()?;
        io::copy(self, &mut file)?;
        Ok(file)
    }
}

fn body(file: &File, description: Description) -> io::Result<Box<dyn Read + Send>> {
    let mut file = file.try_clone()?;
    file.seek(SeekFrom::Start(description.start))?;
    let packed = file.take(description.packed);
    Ok(if description.deflated {
        Box::new(DeflateDecoder::new(packed))
    } else {
        Box::new(packed)
    })
}

impl Read for Entry {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.body.read(buffer)?;
        self.read += read as u64;
        // A few packed bytes may unpack to more than any disk holds.
        if self.read > self.description.unpacked {
            return Err(invalid(
                "it unpacks to more than the archive's directory says",
            ));
        }
        self.crc.update(&buffer[..read]);
        if read == 0 && !buffer.is_empty() {
            if self.read != self.description.unpacked {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if self.crc.sum() != self.description.crc {
                return Err(invalid("its checksum does not match"));
            }
        }
        Ok(read)
    }
}

fn invalid(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}
