//! Files that hold several tables, one of which is named behind `#`: `book.xlsx#prices`.

use super::cures::cure;
use super::format::{Format, file_of};
use crate::error::{Error, Remedy};
use std::path::Path;

/// The error where the feature that reads such files is not built.
pub(in crate::data) fn unread(path: &Path, format: Format) -> Error {
    let refuse = |says: &str| Error::unsupported(format!("{}: {says}", path.display()));
    let feature = match format {
        Format::Excel => "excel",
        Format::Sqlite => "sqlite",
        _ => return refuse("is neither a spreadsheet nor a database"),
    };
    let problem = format!("this program was built without the feature `{feature}`, which reads it");
    let error = refuse(&problem).help(Remedy::words("build it with that"));
    let file = file_of(path);
    let extension = file.extension().and_then(|e| e.to_str()).unwrap_or("");
    match cure(file, &extension.to_ascii_lowercase()) {
        Some(cure) => error.help(Remedy::words(cure)),
        None => error.help(Remedy::words("convert the file")),
    }
}
