//! Standard input as a file, for it is read more than once.

use super::{ChunkSource, Format};
#[cfg(unix)]
use crate::atomic_file::sweep;
use crate::atomic_file::{COPY, PREFIX, SUFFIX};
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tempfile::TempDir;

/// What standard input held, in a temporary folder that goes away with the last who reads it.
///
/// On Linux the copy itself has no name, so that it goes away with the process, however that ends:
/// in the folder is a link to where the process has it open. What a killed run leaves of the folder
/// is swept by the next one that reads standard input.
#[derive(Debug)]
pub(in crate::data) struct Spool {
    folder: TempDir,
    name: &'static str,
    /// The copy, and the folder, whose lock says that it is in use.
    _held: Vec<File>,
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
    pub(in crate::data) fn take(format: Option<Format>) -> Result<Arc<Self>> {
        let mut shared = SPOOL.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spool) = shared.upgrade() {
            return Ok(spool);
        }
        let spool = Arc::new(Self::read(&mut io::stdin().lock(), format)?);
        *shared = Arc::downgrade(&spool);
        Ok(spool)
    }

    fn read(input: &mut dyn Read, format: Option<Format>) -> Result<Self> {
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
            Format::Parquet => "standard input.parquet",
            Format::Arrow => "standard input.arrow",
            Format::Excel => "standard input.xlsx",
            Format::Sqlite => "standard input.sqlite",
        };
        debug_assert!(name.starts_with(COPY));
        let place = std::env::temp_dir();
        #[cfg(unix)]
        sweep(&place);
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let mut builder = tempfile::Builder::new();
        let folder = builder.prefix(&prefix).suffix(SUFFIX).tempdir_in(place);
        let folder = folder.map_err(fail)?;
        let path = folder.path().join(name);
        let write = |input: &mut dyn Read| -> io::Result<Vec<File>> {
            let mut held = Vec::new();
            #[cfg(unix)]
            {
                held.push(File::open(folder.path())?);
                // Some file systems know no locks.
                let _ = held[0].try_lock();
            }
            let mut copy = created(&path)?;
            copy.write_all(&first)?;
            io::copy(input, &mut copy)?;
            held.push(copy);
            Ok(held)
        };
        let held = write(input).map_err(|error| Error::io(&path, error))?;
        Ok(Self {
            folder,
            name,
            _held: held,
        })
    }

    /// The file.
    pub(in crate::data) fn path(&self) -> PathBuf {
        self.folder.path().join(self.name)
    }
}

/// A new file. On Linux it goes away with the process, and what has its name is a link to where the
/// process has it open.
fn created(path: &Path) -> io::Result<File> {
    let file = File::create_new(path)?;
    #[cfg(target_os = "linux")]
    {
        use std::os::{fd::AsRawFd, unix::fs::symlink};
        std::fs::remove_file(path)?;
        // Not every system lets a file that has no name be opened again.
        if symlink(format!("/proc/self/fd/{}", file.as_raw_fd()), path).is_ok() {
            if File::open(path).is_ok() {
                return Ok(file);
            }
            std::fs::remove_file(path)?;
        }
        File::create_new(path)
    }
    #[cfg(not(target_os = "linux"))]
    Ok(file)
}

/// The format of what begins so.
fn told(first: &[u8]) -> Format {
    match first {
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Format::Npy,
        [b'P', b'K', 3 | 5, 4 | 6, ..] => Format::Npz,
        [b'P', b'A', b'R', b'1', ..] => Format::Parquet,
        // A file, and a stream of messages.
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, ..] => Format::Arrow,
        _ => Format::Csv,
    }
}

/// A source that keeps the copy it reads.
pub(in crate::data) struct Spooled {
    // Dropped before the folder of its file.
    source: Box<dyn ChunkSource>,
    _spool: Arc<Spool>,
}

impl Spooled {
    pub(in crate::data) fn new(source: Box<dyn ChunkSource>, spool: Arc<Spool>) -> Self {
        Self {
            source,
            _spool: spool,
        }
    }
}

impl ChunkSource for Spooled {
    crate::as_its_source!(self => self.source);
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<super::Chunk>> {
        self.source.next_chunk(max_rows)
    }
    fn rewind(&mut self) -> Result<()> {
        self.source.rewind()
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
            (b"PAR1", "parquet"),
            (b"ARROW1\0\0", "arrow"),
            (b"\xff\xff\xff\xff\x10\0\0\0", "arrow"),
        ] {
            let spool = Spool::read(&mut { bytes }, None).unwrap();
            let path = spool.path();
            assert_eq!(path.extension().unwrap(), extension);
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
            drop(spool);
            assert!(!path.exists() && !path.parent().unwrap().exists());
        }
        let asked = Spool::read(&mut &b"1 1:2\n"[..], Some(Format::Libsvm)).unwrap();
        let source = open(asked.path(), &OpenOptions::default()).unwrap();
        assert_eq!((source.columns(), source.targets()), (1, 1));
        let error = Spool::read(&mut &b""[..], None).unwrap_err().to_string();
        assert!(error.contains("standard input: is empty"), "{error}");
    }
}
