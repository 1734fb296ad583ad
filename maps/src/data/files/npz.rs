//! .npz archives as a source, streamed.

use super::input::open_file;
use super::npy::{ArrayLocation, ArrayReader, Arrays, Description, Entry, Input, Role};
use super::{Chunk, ChunkSource};
use crate::error::{Error, Result};
use std::path::Path;
use zip::{ZipArchive, result::ZipError};

/// A .npz archive that holds an array `X` and, perhaps, an array `y`, stored or deflated.
///
/// The arrays are what [`super::NpySource`] reads, streamed out of the archive: memory does not
/// grow with them. Each is checked against the archive's CRC when its last row is read. A
/// Fortran-ordered array cannot be streamed by rows: opening it unpacks it once into an unnamed
/// temporary file in [`std::env::temp_dir`].
#[derive(Debug)]
pub struct NpzSource(Arrays);

impl NpzSource {
    /// Opens the arrays `X` and, where there is one, `y`.
    ///
    /// Errors with [`Error::Io`] if the file cannot be opened, and with [`Error::Data`] if it is no
    /// archive, is truncated or encrypted, has no array `X`, or an array is none that
    /// [`super::NpySource`] reads. Damage and values that are not finite are found when their chunk
    /// is read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let x = array(path, "X", Role::Features)?.ok_or_else(|| {
            let names = names(path).unwrap_or_default();
            Error::data(
                path,
                format!(
                    "has no array X; it has {names}; save it with numpy.savez(path, X=..., y=...)"
                ),
            )
        })?;
        let y = array(path, "y", Role::Targets)?;
        Ok(Self(Arrays::new(x, y)?))
    }
}

fn archive(path: &Path) -> Result<ZipArchive<std::fs::File>> {
    ZipArchive::new(open_file(path)?).map_err(|error| unzip(path, error))
}

fn unzip(path: &Path, error: ZipError) -> Error {
    match error {
        ZipError::Io(error) => ArrayLocation {
            path: path.to_owned(),
            array: None,
        }
        .io(error),
        other => Error::data(
            path,
            format!(
                "is not a .npz archive or is truncated ({other}); write it again with numpy.savez"
            ),
        ),
    }
}

/// The arrays of an archive, shortened.
fn names(path: &Path) -> Result<String> {
    let archive = archive(path)?;
    let mut names: Vec<_> = archive
        .file_names()
        .map(|name| {
            name.strip_suffix(".npy")
                .unwrap_or(name)
                .escape_debug()
                .to_string()
        })
        .collect();
    names.sort();
    Ok(super::table::shortened(&names))
}

/// The array `name`, which lies in the entry of this name plus `.npy`; each has its own file
/// handle.
pub(in crate::data) fn array(path: &Path, name: &str, role: Role) -> Result<Option<ArrayReader>> {
    let place = place(path, name);
    match entry(path, name)? {
        Some(entry) => ArrayReader::new(place, Input::Entry(entry), role).map(Some),
        None => Ok(None),
    }
}

fn place(path: &Path, name: &str) -> ArrayLocation {
    ArrayLocation {
        path: path.to_owned(),
        array: Some(name.to_owned()),
    }
}

/// The bytes of the array `name`.
pub(in crate::data) fn entry(path: &Path, name: &str) -> Result<Option<Entry>> {
    let mut archive = archive(path)?;
    let Some(index) = archive
        .index_for_name(&format!("{name}.npy"))
        .or_else(|| archive.index_for_name(name))
    else {
        return Ok(None);
    };
    let place = place(path, name);
    let description = Description::from_entry(
        &archive
            .by_index_raw(index)
            .map_err(|error| unzip(path, error))?,
    )
    .map_err(|problem| place.problem(problem))?;
    let entry = Entry::open(archive.into_inner(), description).map_err(|error| place.io(error))?;
    Ok(Some(entry))
}

impl NpzSource {
    /// Values that are not finite are read as they are, and not refused.
    pub(in crate::data) fn any_values(self) -> Self {
        Self(self.0.any_values())
    }
}

impl ChunkSource for NpzSource {
    fn columns(&self) -> usize {
        self.0.columns()
    }
    fn targets(&self) -> usize {
        self.0.targets()
    }
    fn rows(&self) -> Option<usize> {
        Some(self.0.rows())
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        self.0.next_chunk(max_rows)
    }
    fn rewind(&mut self) -> Result<()> {
        self.0.rewind()
    }
    fn is_checked(&self) -> bool {
        true
    }
}
