//! How much memory a small file may ask for.

use crate::error::{Error, Remedy, Result};
use std::path::Path;

/// Bytes that any file may take.
const LEAST: u64 = 1 << 26;
/// Bytes that it may take beyond these, for each byte of its own.
const EACH: u64 = 128;
/// What a cell takes beside its text.
pub(super) const CELL: u64 = 16;
/// What a row takes beside its cells.
pub(super) const ROW: u64 = 48;

/// What is left of the memory for a file: cells that say what to repeat, packed bytes and views
/// would otherwise ask for any amount.
pub(super) struct Room {
    all: u64,
    left: u64,
}

impl Room {
    /// That of a file.
    pub(super) fn of(file: &Path) -> Result<Self> {
        let found = std::fs::metadata(file).map_err(|error| Error::io(file, error))?;
        let all = found.len().saturating_mul(EACH).saturating_add(LEAST);
        Ok(Self { all, left: all })
    }

    /// Takes some of it. Errors if less is left; messages call the file `path`.
    pub(super) fn take(&mut self, bytes: u64, path: &Path) -> Result<()> {
        let left = self.left.checked_sub(bytes);
        let problem = || {
            let all = crate::text::human_bytes(self.all);
            let problem = format!("asks for more than {all}, many times its own size");
            let help = "save the cells as a .csv, if they are what you expect";
            Error::data(path, problem).help(Remedy::words(help))
        };
        self.left = left.ok_or_else(problem)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_taken_than_there_is() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        file.as_file().set_len(2).expect("bytes");
        let mut room = Room::of(file.path()).expect("is there");
        room.take(LEAST, file.path()).expect("room");
        room.take(2 * EACH, file.path()).expect("room");
        let error = room.take(1, file.path()).expect_err("no room");
        assert!(
            error.to_string().contains("asks for more than 67.1 MB"),
            "{error}"
        );
    }
}
