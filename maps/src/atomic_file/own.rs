//! Files in a folder that may come from somebody else: opened only where they are plain files.

use crate::error::{Error, Result};
use std::{
    fs::{File, Metadata, OpenOptions},
    io,
    path::Path,
};

/// Whether a regular file with this one name is there.
///
/// Errors with [`Error::Data`] if something else is: a link, which may lead to any file, a second
/// name of a file, a pipe, a device or a folder.
#[doc(hidden)]
pub fn has_own_file(path: impl AsRef<Path>) -> Result<bool> {
    let path = path.as_ref();
    match std::fs::symlink_metadata(path) {
        Ok(found) => require_own(path, &found).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::io(path, error)),
    }
}

/// Opens a file for reading and writing, or creates it. Follows no link, waits for no pipe, and
/// leaves the contents as they are.
///
/// Errors as [`has_own_file`] does, and with [`Error::Io`].
#[doc(hidden)]
pub fn open_own_file(path: impl AsRef<Path>) -> Result<File> {
    let path = path.as_ref();
    has_own_file(path)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        // What has come there since is not followed either.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    let fail = |error| Error::io(path, error);
    let file = options.open(path).map_err(fail)?;
    require_own(path, &file.metadata().map_err(fail)?)?;
    Ok(file)
}

fn require_own(path: &Path, found: &Metadata) -> Result<()> {
    #[cfg(unix)]
    let names = std::os::unix::fs::MetadataExt::nlink(found);
    #[cfg(not(unix))]
    let names = 1;
    if found.is_file() && names <= 1 {
        return Ok(());
    }
    let problem = "is a link or no regular file; remove it, or name another folder";
    Err(Error::data(path, problem))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::atomic_file::AtomicFile;
    use std::os::unix::fs::symlink;

    /// A link of either kind, one that leads nowhere, a folder and a socket are refused at once,
    /// and what links lead to stays as it is.
    #[test]
    fn only_plain_files_are_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("victim"), "whole").expect("writes");
        std::fs::write(at("victim-2"), "whole").expect("writes");
        symlink(at("victim"), at("link")).expect("links");
        symlink(at("nothing"), at("dangling")).expect("links");
        std::fs::hard_link(at("victim-2"), at("second-name")).expect("links");
        std::fs::create_dir(at("folder")).expect("makes");
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("binds");
        for name in ["link", "dangling", "second-name", "folder", "socket"] {
            let errors = [
                has_own_file(at(name)).err(),
                open_own_file(at(name)).err(),
                AtomicFile::keep(at("output"), at(name), 0).err(),
            ];
            for error in errors {
                let said = error.expect(name).to_string();
                assert!(said.contains("no regular file"), "{name}: {said}");
            }
        }
        for name in ["victim", "victim-2"] {
            assert_eq!(std::fs::read_to_string(at(name)).expect("reads"), "whole");
        }
        assert!(!at("nothing").exists());
    }

    #[test]
    fn a_plain_file_keeps_its_contents() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("part");
        assert!(!has_own_file(&path).expect("nothing there"));
        drop(open_own_file(&path).expect("is made"));
        std::fs::write(&path, "rows").expect("writes");
        drop(open_own_file(&path).expect("opens"));
        assert!(has_own_file(&path).expect("a file"));
        assert_eq!(std::fs::read_to_string(&path).expect("reads"), "rows");
    }
}
