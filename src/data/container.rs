//! Files that hold several tables, one of which is named behind `#`: `book.xlsx#prices`.

use super::Format;
use super::cures::cure;
use crate::error::{Error, Remedy};
use std::path::Path;

/// The file that `path` names, without the sheet or the table behind `#`.
///
/// ```
/// use bochner::data::file_of;
/// assert_eq!(file_of("a/book.xlsx#prices".as_ref()).to_str(), Some("a/book.xlsx"));
/// assert_eq!(file_of("rows #1.csv".as_ref()).to_str(), Some("rows #1.csv"));
/// ```
pub fn file_of(path: &Path) -> &Path {
    split(path).0
}

/// That file, and what is named in it.
pub(super) fn split(path: &Path) -> (&Path, Option<&str>) {
    let Some(text) = path.to_str() else {
        return (path, None);
    };
    let mut marks = text.match_indices('#');
    let found = marks.find(|(at, _)| of_extension(Path::new(&text[..*at])).is_some());
    match found {
        Some((at, _)) => (Path::new(&text[..at]), Some(&text[at + 1..])),
        None => (path, None),
    }
}

/// The format of such a file, by its extension in any case.
pub(super) fn of_extension(file: &Path) -> Option<Format> {
    let extension = file.extension()?.to_str()?.to_ascii_lowercase();
    Some(match &*extension {
        "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" => Format::Excel,
        "sqlite" | "sqlite3" | "db" => Format::Sqlite,
        _ => return None,
    })
}

/// The error where the feature that reads such files is not built.
pub(super) fn unread(path: &Path, format: Format) -> Error {
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
