//! Files as a system keeps them.

use super::Stamp;
use std::{
    fs::File,
    io::{self, Seek},
};

/// What is read.
pub(super) type Origin = File;

pub(super) use super::open_file as open;

/// The same from its start.
pub(super) fn again(origin: &Origin) -> io::Result<Origin> {
    let mut file = origin.try_clone()?;
    file.rewind()?;
    Ok(file)
}

pub(super) fn stamp(origin: &Origin) -> io::Result<Stamp> {
    Stamp::from_file(origin)
}
