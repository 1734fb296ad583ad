//! What all targets have in common.

#[path = "../entries.rs"]
mod entries;

use std::{cell::LazyCell, path::Path};

thread_local! {
    static FOLDER: LazyCell<tempfile::TempDir> =
        LazyCell::new(|| tempfile::tempdir().expect("a temporary folder"));
}

/// Reads these bytes under each of these names.
pub(crate) fn read(names: &[&str], bytes: &[u8]) {
    FOLDER.with(|folder| {
        let folder: &Path = folder.path();
        for name in names {
            entries::is_read(folder, name, bytes);
        }
    });
}
