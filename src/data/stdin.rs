//! Standard input as a file, for it is read more than once.

use super::{ChunkSource, Format};
use crate::error::{Error, Result};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tempfile::TempDir;

/// What standard input held, in a temporary folder that goes away with the last who reads it.
#[derive(Debug)]
pub(super) struct Spool {
    folder: TempDir,
    name: &'static str,
}

/// That of this process.
static SPOOL: Mutex<Weak<Spool>> = Mutex::new(Weak::new());
/// Bytes that tell the format.
const TOLD: usize = 8;

impl Spool {
    /// Copies all of standard input; who comes while another still reads it shares the copy.
    ///
    /// Errors with [`Error::Io`] if it cannot be read or the temporary folder cannot be written,
    /// and with [`Error::Data`] if it is empty, as it is when it was read before.
    pub(super) fn take(format: Option<Format>) -> Result<Arc<Self>> {
        let mut shared = SPOOL.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spool) = shared.upgrade() {
            return Ok(spool);
        }
        let spool = Arc::new(Self::of(&mut io::stdin().lock(), format)?);
        *shared = Arc::downgrade(&spool);
        Ok(spool)
    }

    fn of(input: &mut dyn Read, format: Option<Format>) -> Result<Self> {
        let here = Path::new("standard input");
        let fail = |error| Error::io(here, error);
        let mut first = Vec::new();
        let mut beginning = (&mut *input).take(TOLD as u64);
        beginning.read_to_end(&mut first).map_err(fail)?;
        if first.is_empty() {
            let problem = "is empty, or was read before; it can be read once";
            return Err(Error::data(here, problem));
        }
        let name = match format.unwrap_or_else(|| told(&first)) {
            Format::Npy => "standard input.npy",
            Format::Npz => "standard input.npz",
            Format::Libsvm => "standard input.svm",
            Format::Csv => "standard input.csv",
        };
        let folder = tempfile::Builder::new().prefix("bochner-").tempdir();
        let folder = folder.map_err(fail)?;
        let path = folder.path().join(name);
        let write = |input: &mut dyn Read| -> io::Result<()> {
            let mut file = std::fs::File::create(&path)?;
            file.write_all(&first)?;
            io::copy(input, &mut file).map(drop)
        };
        write(input).map_err(|error| Error::io(&path, error))?;
        Ok(Self { folder, name })
    }

    /// The file.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join(self.name)
    }
}

/// The format of what begins so.
fn told(first: &[u8]) -> Format {
    match first {
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Format::Npy,
        [b'P', b'K', 3 | 5, 4 | 6, ..] => Format::Npz,
        _ => Format::Csv,
    }
}

/// A source that keeps the copy it reads.
pub(super) struct Spooled {
    // Dropped before the folder of its file.
    source: Box<dyn ChunkSource>,
    _spool: Arc<Spool>,
}

impl Spooled {
    pub(super) fn new(source: Box<dyn ChunkSource>, spool: Arc<Spool>) -> Self {
        Self {
            source,
            _spool: spool,
        }
    }
}

impl ChunkSource for Spooled {
    fn columns(&self) -> usize {
        self.source.columns()
    }
    fn targets(&self) -> usize {
        self.source.targets()
    }
    fn is_weighted(&self) -> bool {
        self.source.is_weighted()
    }
    fn rows(&self) -> Option<usize> {
        self.source.rows()
    }
    fn column_names(&self) -> Option<Vec<String>> {
        self.source.column_names()
    }
    fn target_names(&self) -> Option<Vec<String>> {
        self.source.target_names()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<super::Chunk>> {
        self.source.next_chunk(max_rows)
    }
    fn rewind(&mut self) -> Result<()> {
        self.source.rewind()
    }
    fn settle(&mut self, failed: bool, takes: &mut dyn FnMut(u64) -> bool) -> Result<bool> {
        self.source.settle(failed, takes)
    }
    fn schema(&self) -> Option<&super::Schema> {
        self.source.schema()
    }
    fn is_checked(&self) -> bool {
        self.source.is_checked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{OpenOptions, open};

    #[test]
    fn a_copy_is_told_by_its_first_bytes_and_swept() {
        for (bytes, extension) in [
            (&b"a,b\n1,2\n"[..], "csv"),
            (b"\x93NUMPY\x01\x00more", "npy"),
            (b"PK\x03\x04", "npz"),
            (b"1", "csv"),
        ] {
            let spool = Spool::of(&mut { bytes }, None).unwrap();
            let path = spool.path();
            assert_eq!(path.extension().unwrap(), extension);
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
            drop(spool);
            assert!(!path.exists() && !path.parent().unwrap().exists());
        }
        let asked = Spool::of(&mut &b"1 1:2\n"[..], Some(Format::Libsvm)).unwrap();
        let source = open(asked.path(), &OpenOptions::default()).unwrap();
        assert_eq!((source.columns(), source.targets()), (1, 1));
        let error = Spool::of(&mut &b""[..], None).unwrap_err().to_string();
        assert!(error.contains("standard input: is empty"), "{error}");
    }
}
