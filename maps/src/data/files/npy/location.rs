//! Where an array lies.

use crate::error::Error;
use std::{io, path::PathBuf};

/// Where an array lies, for messages.
#[derive(Debug, Clone)]
pub(in crate::data) struct ArrayLocation {
    pub(in crate::data) path: PathBuf,
    /// Its name inside an archive.
    pub(in crate::data) array: Option<String>,
}

impl ArrayLocation {
    /// The array as the subject of a sentence.
    pub(super) fn label(&self) -> String {
        self.array
            .as_ref()
            .map_or_else(String::new, |name| format!("array {name} "))
    }

    /// `problem` reads on from the file's or the array's name.
    pub(in crate::data) fn problem(&self, problem: impl AsRef<str>) -> Error {
        Error::data(&self.path, format!("{}{}", self.label(), problem.as_ref()))
    }

    /// A failed read: what the contents cause is told apart from what the system causes.
    pub(in crate::data) fn io(&self, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => self.problem(
                "is truncated: it ends before its last value; copy or write the file again",
            ),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => self.problem(format!(
                "is damaged ({error}); copy or write the file again"
            )),
            _ => Error::io(&self.path, error),
        }
    }
}
