//! Results out: files that appear whole or not at all.

mod csv;
mod npy;

pub use self::csv::CsvWriter;
pub use self::npy::{NpyValue, NpyWriter};

use crate::error::{Error, Result};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file written under a temporary name in its own directory and renamed by [`Self::finish`].
///
/// Until then a file that was there before stays as it is; dropped unfinished, nothing of the new
/// one remains.
#[derive(Debug)]
pub struct AtomicFile {
    file: NamedTempFile,
    target: PathBuf,
}

impl AtomicFile {
    /// Begins a file that will be `path`; through a symbolic link, the file that it points to.
    ///
    /// Errors with [`Error::Io`] if the directory cannot be written, and with [`Error::Data`] if it
    /// is missing or `path` is a directory or a device, which a rename would replace.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let fail = |error| Error::io(path, error);
        let old = match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                return Err(Error::data(path, "is a directory; name a file in it"));
            }
            Ok(metadata) if !metadata.is_file() => {
                return Err(Error::data(path, "is not a regular file; name one"));
            }
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(fail(error)),
        };
        let target = if old.is_some() {
            path.canonicalize().map_err(fail)?
        } else {
            path.to_owned()
        };
        let Some(name) = target.file_name() else {
            return Err(Error::data(path, "names no file; give a file name"));
        };
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(name);
        prefix.push(".");
        let directory = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if !directory.is_dir() {
            let problem = format!(
                "there is no directory {}; create it or name another",
                directory.display()
            );
            return Err(Error::data(path, problem));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(".tmp");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any new file, less what the umask takes; tempfile's own default keeps other users
            // out.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder
            .tempfile_in(directory)
            // tempfile adds the temporary path, which says nothing to a user.
            .map_err(|error| fail(error.kind().into()))?;
        #[cfg(unix)]
        if let Some(old) = old {
            file.as_file()
                .set_permissions(old.permissions())
                .map_err(fail)?;
        }
        Ok(Self { file, target })
    }

    /// The path that [`Self::finish`] gives the file.
    pub fn path(&self) -> &Path {
        &self.target
    }

    /// Writes everything through to the disk and gives the file its name.
    ///
    /// Errors with [`Error::Io`]; then nothing of the new file remains.
    pub fn finish(self) -> Result<()> {
        let Self { file, target } = self;
        file.as_file()
            .sync_all()
            .map_err(|error| Error::io(&target, error))?;
        file.persist(&target)
            .map_err(|error| Error::io(&target, error.error))?;
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.as_file_mut().seek(to)
    }
}
