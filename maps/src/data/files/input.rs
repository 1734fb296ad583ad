//! A file as a stream of plain bytes, packed or not, which starts again as often as needed.

#[cfg(not(target_family = "wasm"))]
mod disk;
pub(in crate::data) mod encoding;
#[cfg(target_family = "wasm")]
pub(in crate::data) mod page;
#[cfg(not(target_family = "wasm"))]
mod zstd;

#[cfg(not(target_family = "wasm"))]
use disk as origin;
#[cfg(target_family = "wasm")]
use page as origin;

use crate::error::{Error, Remedy, Result};
use encoding::{NoText, TextEncoding};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What a stream of bytes is read through.
pub(in crate::data) type Stream = Box<dyn Read + Send>;

/// A file whose bytes are unpacked as they are read, which its first bytes tell how to, and whose
/// text becomes UTF-8.
pub(in crate::data) struct Input {
    path: PathBuf,
    file: origin::Origin,
    packing: Packing,
    /// What text becomes UTF-8 from; `None`: bytes are left as they are.
    encoding: Option<TextEncoding>,
    stamp: Stamp,
    stream: Stream,
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input")
            .field("path", &self.path)
            .field("packing", &self.packing)
            .finish_non_exhaustive()
    }
}

/// How the bytes of a file are packed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Packing {
    Plain,
    Gzip,
    Zstd,
}

/// Bytes taken from the file at a time, where the reader above asks for fewer.
const BUFFER: usize = 64 * 1024;

impl Input {
    /// Opens the file at `path`.
    ///
    /// Errors with [`Error::Io`] if it cannot be opened, and with [`Error::Data`] if it is no
    /// regular file, or is named .gz or .zst and is not packed so.
    pub(in crate::data) fn open(path: &Path) -> Result<Self> {
        let mut file = origin::open(path)?;
        let fail = |error| Error::io(path, error);
        let stamp = origin::stamp(&file).map_err(fail)?;
        let mut magic = Vec::new();
        (&mut file).take(4).read_to_end(&mut magic).map_err(fail)?;
        let packing = match &magic[..] {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            // A frame, or one of those to skip.
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Packing::Zstd,
            _ => Packing::Plain,
        };
        let named = match packed_extension(path) {
            Some("gz") => Packing::Gzip,
            Some(_) => Packing::Zstd,
            None => packing,
        };
        if packing != named {
            let problem = match magic.len() {
                0 => "is empty".to_owned(),
                _ => format!("is not packed as its name says ({named:?}); name it as it is"),
            };
            return Err(Error::data(path, problem));
        }
        let mut input = Self {
            path: path.to_owned(),
            file,
            packing,
            encoding: None,
            stamp,
            stream: Box::new(io::empty()),
        };
        input.start()?;
        Ok(input)
    }

    /// As [`Self::open`], for text in the encoding that is given, or in UTF-16 where a mark at its
    /// beginning says so.
    pub(in crate::data) fn open_text(path: &Path, given: Option<TextEncoding>) -> Result<Self> {
        let mut input = Self::open(path)?;
        let (mut first, mut filled) = ([0; 2], 0);
        while filled < first.len() {
            match input.read(&mut first[filled..])? {
                0 => break,
                read => filled += read,
            }
        }
        input.encoding = TextEncoding::detect(given, &first[..filled]);
        input.start()?;
        Ok(input)
    }

    /// The same file from its start, read on its own.
    pub(in crate::data) fn again(&self) -> Result<Self> {
        let mut input = Self::open(&self.path)?;
        input.encoding = self.encoding;
        input.start()?;
        Ok(input)
    }

    /// What text becomes UTF-8 from; `None`: bytes are left as they are.
    pub(in crate::data) fn encoding(&self) -> Option<TextEncoding> {
        self.encoding
    }

    /// The file.
    pub(in crate::data) fn path(&self) -> &Path {
        &self.path
    }

    /// Back to the first byte. Errors if the file is not as it was when it was opened.
    pub(in crate::data) fn rewind(&mut self) -> Result<()> {
        self.require_unchanged()?;
        self.start()
    }

    fn start(&mut self) -> Result<()> {
        let file = origin::again(&self.file).map_err(|error| self.io(error))?;
        let plain: Stream = match self.packing {
            Packing::Plain => Box::new(file),
            Packing::Gzip => Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, file))),
            #[cfg(not(target_family = "wasm"))]
            Packing::Zstd => Box::new(zstd::Frames::new(BufReader::with_capacity(BUFFER, file))),
            // It would be a hundredth of what a page loads.
            #[cfg(target_family = "wasm")]
            Packing::Zstd => {
                return Err(Error::unsupported(
                    "a page reads no file that is packed by zstd; unpack it, or pack it by gzip",
                ));
            }
        };
        self.stream = match self.encoding {
            Some(encoding) => encoding.decoded(plain),
            None => plain,
        };
        Ok(())
    }

    /// Reads the next bytes; 0 at the end, where the file must be as it was when it was opened.
    pub(in crate::data) fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.stream.read(buffer) {
                Ok(0) if !buffer.is_empty() => {
                    self.require_unchanged()?;
                    return Ok(0);
                }
                Ok(read) => return Ok(read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.io(error)),
            }
        }
    }

    /// Errors if the file has changed since it was opened: passes over it would not see the same
    /// rows.
    fn require_unchanged(&self) -> Result<()> {
        let now = origin::stamp(&self.file).map_err(|error| self.io(error))?;
        now.require(&self.stamp, &self.path)
    }

    /// A failed read: what the contents cause is told apart from what the system causes.
    fn io(&self, error: io::Error) -> Error {
        if let (Some(encoding), Some(true)) =
            (self.encoding, error.get_ref().map(|e| e.is::<NoText>()))
        {
            let problem = format!("holds bytes that are no text in {encoding}");
            return Error::data(&self.path, problem).help(Remedy::OtherEncoding("windows-1252"));
        }
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::data(
                &self.path,
                "is truncated: what it packs goes on; copy or write the file again",
            ),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                let problem = format!("is damaged ({error}); copy or write the file again");
                Error::data(&self.path, problem)
            }
            _ => Error::io(&self.path, error),
        }
    }
}

/// Opens a regular file: sources are read more than once, which a pipe cannot be.
pub(in crate::data) fn open_file(path: &Path) -> Result<File> {
    // Asked first, because opening a pipe that nobody writes to waits forever.
    let metadata = std::fs::metadata(path).map_err(|error| Error::io(path, error))?;
    if metadata.is_dir() {
        return Err(Error::data(path, "is a directory; name a file in it"));
    }
    if !metadata.is_file() {
        return Err(Error::data(
            path,
            "is not a regular file, and data is read more than once; save it to a file first",
        ));
    }
    File::open(path).map_err(|error| Error::io(path, error))
}

/// The last extension of a name if it says that the file is packed.
pub(in crate::data) fn packed_extension(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?;
    let packed = ["gz", "zst"];
    packed
        .into_iter()
        .find(|known| extension.eq_ignore_ascii_case(known))
}

/// How long a file is and when it was last written to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::data) struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    #[cfg(any(not(target_family = "wasm"), feature = "parquet"))]
    pub(in crate::data) fn from_file(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }

    /// Errors with [`Error::Data`] if this is not `before`.
    pub(in crate::data) fn require(&self, before: &Self, path: &Path) -> Result<()> {
        if self == before {
            return Ok(());
        }
        let how = match (before.bytes, self.bytes) {
            (then, now) if then == now => "it was written to".to_owned(),
            (then, now) => format!("{then} bytes have become {now}"),
        };
        let problem = format!(
            "has changed while it was read ({how}), and data is read more than once; start again \
             when it is complete"
        );
        Err(Error::data(path, problem))
    }
}
