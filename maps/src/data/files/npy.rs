//! .npy files as a source, streamed.

mod array;
mod arrays;
mod dtype;
mod entry;
mod header;
mod location;

pub(in crate::data) use array::{ArrayReader, Input, Role};
pub(in crate::data) use arrays::Arrays;
pub(in crate::data) use entry::{Description, Entry};
pub(in crate::data) use location::ArrayLocation;

use super::input::open_file;
use super::{Chunk, ChunkSource};
use crate::error::Result;
use std::path::Path;

/// A .npy file of features and, beside it, perhaps one of targets.
///
/// Features are 2-D `[rows, d]`; targets are `[rows]` or `[rows, targets]`. Any boolean, integer or
/// real dtype (b1, i1 to i8, u1 to u8, f2 to f8) in either byte order is read through a fixed
/// buffer, so memory does not grow with the file. 4- and 8-byte integers become f64; 8-byte
/// features beyond 2^53 are rounded to the nearest f64, with a warning, and such targets are an
/// error. A Fortran-ordered file is read with one seek per column and chunk: the same rows, more
/// slowly.
#[derive(Debug)]
pub struct NpySource(Arrays);

impl NpySource {
    /// Opens the features at `x` and, if given, the targets at `y`, and checks both headers and
    /// file lengths.
    ///
    /// Errors with [`crate::Error::Io`] if a file cannot be opened, and with [`crate::Error::Data`]
    /// if one is truncated, has no rows, another dtype or number of dimensions than above, or the
    /// two differ in rows. A value that is not finite is found when its chunk is read.
    pub fn open(x: impl AsRef<Path>, y: Option<&Path>) -> Result<Self> {
        let array = |path: &Path, role| {
            let place = ArrayLocation {
                path: path.to_owned(),
                array: None,
            };
            ArrayReader::new(place, Input::File(open_file(path)?), role)
        };
        let x = array(x.as_ref(), Role::Features)?;
        let y = y.map(|y| array(y, Role::Targets)).transpose()?;
        Ok(Self(Arrays::new(x, y)?))
    }
}

impl NpySource {
    /// Values that are not finite are read as they are, and not refused.
    pub(in crate::data) fn any_values(self) -> Self {
        Self(self.0.any_values())
    }
}

impl ChunkSource for NpySource {
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
