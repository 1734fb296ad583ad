//! Files of a page: bytes that it was given, by name, where no system keeps files.

use crate::Result;
use std::{
    collections::BTreeMap,
    io::{self, Cursor},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

static FILES: Mutex<BTreeMap<PathBuf, Arc<[u8]>>> = Mutex::new(BTreeMap::new());

/// A text file, packed or not, that [`open`](crate::data::open) finds under its name as long as
/// this is held: for pages, which have no files.
#[derive(Debug)]
pub struct PageFile(PathBuf);

impl PageFile {
    /// Holds `bytes` under `path`, in place of what was held there.
    pub fn new(path: impl Into<PathBuf>, bytes: Vec<u8>) -> Self {
        let path = path.into();
        files().insert(path.clone(), bytes.into());
        Self(path)
    }
}

impl Drop for PageFile {
    fn drop(&mut self) {
        files().remove(&self.0);
    }
}

fn files() -> std::sync::MutexGuard<'static, BTreeMap<PathBuf, Arc<[u8]>>> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is read.
pub(super) type Origin = Cursor<Arc<[u8]>>;

pub(super) fn open(path: &Path) -> Result<Origin> {
    let found = files().get(path).cloned();
    let missing = || io::Error::new(io::ErrorKind::NotFound, "the page holds no such file");
    found
        .map(Cursor::new)
        .ok_or_else(|| crate::Error::io(path, missing()))
}

/// The same from its start.
pub(super) fn again(origin: &Origin) -> io::Result<Origin> {
    Ok(Cursor::new(origin.get_ref().clone()))
}

/// Bytes that are held do not change.
pub(super) fn stamp(origin: &Origin) -> io::Result<super::Stamp> {
    Ok(super::Stamp {
        bytes: origin.get_ref().len() as u64,
        modified: None,
    })
}
