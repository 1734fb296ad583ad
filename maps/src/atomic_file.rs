//! A file that gets its name when it is whole.

mod own;
#[cfg(unix)]
mod stale;

pub use own::{has_own_file, open_own_file};

use crate::error::{Error, Result};
#[cfg(all(unix, feature = "files"))]
pub(crate) use stale::sweep;
use std::{
    fs::{File, Metadata},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// How the name of a temporary file or folder begins, before the number of the process.
pub(crate) const PREFIX: &str = ".bochner-";
/// How it ends.
pub(crate) const SUFFIX: &str = ".tmp";
/// How the name of a copy of standard input begins, in such a folder.
#[cfg(any(feature = "files", not(target_family = "wasm")))]
pub(crate) const COPY: &str = "standard input.";

/// A file written under a temporary name in its own directory and renamed by [`Self::finish`].
///
/// Until then a file that was there before stays as it is; dropped unfinished, nothing of the new
/// one remains. What a killed run left there goes with the next file in that directory; of Windows
/// it stays.
///
/// One that [`Self::keep`] began remains where it is when the run ends, for another run to go on.
#[derive(Debug)]
pub struct AtomicFile {
    file: OpenFile,
    target: PathBuf,
}

#[derive(Debug)]
enum OpenFile {
    /// Gone unless it is finished.
    Temporary(NamedTempFile),
    /// Stays for another run.
    Kept { file: File, part: PathBuf },
}

/// How far a file that is kept between runs was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[doc(hidden)]
pub struct Done {
    /// Rows in it.
    pub rows: u64,
    /// Bytes in it; 0 before it was begun.
    pub bytes: u64,
}

/// Where links lead that are followed in turn.
const LINKS: usize = 40;

impl AtomicFile {
    /// Begins a file that will be `path`; through a symbolic link, the file that it points to,
    /// which need not be there.
    ///
    /// Errors with [`Error::Io`] if the directory cannot be written, and with [`Error::Data`] if it
    /// is missing or `path` is a directory or a device, which a rename would replace.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (target, old) = place(path)?;
        let directory = folder(&target)?;
        let fail = |error| Error::io(path, error);
        let mut builder = tempfile::Builder::new();
        // Short, so that whatever name fits the system, fits here.
        let prefix = format!("{PREFIX}{}-", std::process::id());
        builder.prefix(&prefix).suffix(SUFFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            stale::sweep(directory);
            // As any new file, less what the umask takes; tempfile's own default keeps other users
            // out.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder
            .tempfile_in(directory)
            // tempfile adds the temporary path, which says nothing to a user.
            .map_err(|error| fail(error.kind().into()))?;
        #[cfg(unix)]
        {
            // Whoever sweeps sees that it is in use. Some file systems know no locks.
            let _ = file.as_file().try_lock();
            if let Some(old) = old {
                file.as_file()
                    .set_permissions(old.permissions())
                    .map_err(fail)?;
            }
        }
        #[cfg(not(unix))]
        let _ = old;
        check_name(path, &target)?;
        Ok(Self {
            file: OpenFile::Temporary(file),
            target,
        })
    }

    /// Begins a file that will be `path`, or goes on with it: until then it is `part`, which stays
    /// when the run ends. What it has beyond `bytes` is cut off.
    ///
    /// Errors as [`Self::create`] does, and with [`Error::Data`] if `part` is shorter than that, a
    /// link, or no regular file.
    #[doc(hidden)]
    pub fn keep(path: impl AsRef<Path>, part: impl AsRef<Path>, bytes: u64) -> Result<Self> {
        let (path, part) = (path.as_ref(), part.as_ref());
        let (target, _) = place(path)?;
        folder(&target)?;
        check_name(path, &target)?;
        let fail = |error| Error::io(part, error);
        let mut file = open_own_file(part)?;
        let metadata = file.metadata().map_err(fail)?;
        if metadata.len() < bytes {
            let problem = format!(
                "has {} bytes where {bytes} were written; remove the folder to begin again",
                metadata.len()
            );
            return Err(Error::data(part, problem));
        }
        file.set_len(bytes).map_err(fail)?;
        file.seek(SeekFrom::End(0)).map_err(fail)?;
        let part = part.to_owned();
        Ok(Self {
            file: OpenFile::Kept { file, part },
            target,
        })
    }

    /// The path that [`Self::finish`] gives the file.
    #[doc(hidden)]
    pub fn path(&self) -> &Path {
        &self.target
    }

    fn file(&self) -> &File {
        match &self.file {
            OpenFile::Temporary(file) => file.as_file(),
            OpenFile::Kept { file, .. } => file,
        }
    }

    /// Writes everything through to the disk. Errors with [`Error::Io`].
    #[doc(hidden)]
    pub fn sync(&self) -> Result<()> {
        let synced = self.file().sync_all();
        synced.map_err(|error| Error::io(&self.target, error))
    }

    /// Writes everything through to the disk and gives the file its name.
    ///
    /// Errors with [`Error::Io`]; then nothing of the new file remains, but for one that is kept.
    #[doc(hidden)]
    pub fn finish(self) -> Result<()> {
        self.sync()?;
        let Self { file, target } = self;
        let fail = |error| Error::io(&target, error);
        match file {
            OpenFile::Temporary(file) => {
                file.persist(&target).map_err(|error| fail(error.error))?;
            }
            OpenFile::Kept { file, part } => {
                // Closed before it gets its name, which some systems ask for.
                {
                    let _closed = file;
                }
                match std::fs::rename(&part, &target) {
                    Ok(()) => {}
                    // It lies on another disk.
                    Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                        let mut copy = Self::create(&target)?;
                        let mut part_file = open_own_file(&part)?;
                        io::copy(&mut part_file, &mut copy).map_err(fail)?;
                        copy.finish()?;
                        std::fs::remove_file(&part).map_err(|e| Error::io(&part, e))?;
                    }
                    Err(error) => return Err(fail(error)),
                }
            }
        }
        // The name, too, is to survive a failure of power. Not every system lets a folder be
        // opened.
        if let Ok(directory) = folder(&target).and_then(|f| File::open(f).map_err(fail)) {
            let _ = directory.sync_all();
        }
        Ok(())
    }
}

/// Where a file of this name lies, through links, and what is there.
fn place(path: &Path) -> Result<(PathBuf, Option<Metadata>)> {
    let fail = |error| Error::io(path, error);
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(Error::data(path, "is a directory; name a file in it")),
        Ok(found) if !found.is_file() => Err(Error::data(path, "is not a regular file; name one")),
        Ok(found) => Ok((path.canonicalize().map_err(fail)?, Some(found))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((through_links(path)?, None)),
        Err(error) => Err(fail(error)),
    }
}

/// Where links lead that end at nothing.
fn through_links(path: &Path) -> Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..LINKS {
        let Ok(next) = std::fs::read_link(&target) else {
            return Ok(target);
        };
        target = match target.parent() {
            Some(parent) => parent.join(next),
            None => next,
        };
    }
    let problem = "is a link through too many others; name the file itself";
    Err(Error::data(path, problem))
}

/// The folder of a file. Errors if there is none, or the path names no file.
fn folder(target: &Path) -> Result<&Path> {
    if target.file_name().is_none() {
        return Err(Error::data(target, "names no file; give a file name"));
    }
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !directory.is_dir() {
        let problem = format!(
            "there is no directory {}; create it or name another",
            directory.display()
        );
        return Err(Error::data(target, problem));
    }
    Ok(directory)
}

/// A name that the system does not take is better known before the work.
fn check_name(path: &Path, target: &Path) -> Result<()> {
    match std::fs::symlink_metadata(target) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(path, error)),
        _ => Ok(()),
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file().seek(to)
    }
}
