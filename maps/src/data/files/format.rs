//! What a file is, as its name says, and which table of it.

use super::input::packed_extension;
use std::path::Path;

/// What a file is, as its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A numpy array: .npy.
    Npy,
    /// An archive of numpy arrays, or of a sparse matrix of scipy: .npz.
    Npz,
    /// Separated columns: .csv, .tsv or .txt, also with .gz or .zst behind.
    Csv,
    /// Labels and sparse rows: .libsvm, .svm or .svmlight, also with .gz or .zst behind.
    Libsvm,
    /// Columns of types: .parquet or .pq. Read with the feature `parquet`.
    Parquet,
    /// Arrow's columns of types: .arrow, .feather or .ipc, and .arrows. Read with the feature
    /// `parquet`.
    Arrow,
    /// Spreadsheets: .xlsx, .xlsm, .xlsb, .xls and .ods, of which the first sheet is read or the
    /// one behind `#`, as in `book.xlsx#prices`. Read with the feature `excel`.
    Excel,
    /// SQLite's databases: .sqlite, .sqlite3 and .db, of which the only table is read or the one
    /// behind `#`, as in `shop.sqlite#orders`. Read with the feature `sqlite`.
    Sqlite,
}

/// What [`Format::from_path`] knows, for messages.
pub(in crate::data) const READ: &str = ".npy, .npz, .csv, .libsvm, .parquet and .arrow";

impl Format {
    /// Of the file that is called so; `None` for any other name.
    ///
    /// ```
    /// use bochner::data::Format;
    /// assert_eq!(Format::from_path("a/X.NPY"), Some(Format::Npy));
    /// assert_eq!(Format::from_path("rows.tsv.gz"), Some(Format::Csv));
    /// assert_eq!(Format::from_path("rows.gz"), None);
    /// assert_eq!(Format::from_path("book.xlsx#prices"), Some(Format::Excel));
    /// ```
    #[doc(hidden)]
    pub fn from_path(path: impl AsRef<Path>) -> Option<Self> {
        let path = file_of(path.as_ref());
        if let Some(format) = of_extension(path) {
            return Some(format);
        }
        let packed = packed_extension(path).is_some();
        Some(match (&*extension(path).to_ascii_lowercase(), packed) {
            ("npy", false) => Self::Npy,
            ("npz", false) => Self::Npz,
            ("csv" | "tsv" | "txt", _) => Self::Csv,
            ("libsvm" | "svm" | "svmlight", _) => Self::Libsvm,
            ("parquet" | "pq", false) => Self::Parquet,
            ("arrow" | "feather" | "ipc" | "arrows", false) => Self::Arrow,
            _ => return None,
        })
    }

    /// Whether its columns have names.
    #[doc(hidden)]
    pub fn is_named(self) -> bool {
        let is_typed = matches!(self, Self::Parquet | Self::Arrow);
        is_typed || self == Self::Csv || self.holds_tables()
    }

    /// Whether a file may hold several tables.
    pub(in crate::data) fn holds_tables(self) -> bool {
        matches!(self, Self::Excel | Self::Sqlite)
    }
}

/// The extension that says what a file holds: the one before .gz or .zst.
pub(in crate::data) fn extension(path: &Path) -> &str {
    let inner = match packed_extension(path) {
        Some(_) => path.file_stem().map(Path::new).unwrap_or(path),
        None => path,
    };
    inner.extension().and_then(|e| e.to_str()).unwrap_or("")
}

/// The file that `path` names, without the sheet or the table behind `#`.
///
/// ```
/// use bochner::data::file_of;
/// assert_eq!(file_of("a/book.xlsx#prices".as_ref()).to_str(), Some("a/book.xlsx"));
/// assert_eq!(file_of("rows #1.csv".as_ref()).to_str(), Some("rows #1.csv"));
/// ```
#[doc(hidden)]
pub fn file_of(path: &Path) -> &Path {
    split(path).0
}

/// That file, and what is named in it.
pub(in crate::data) fn split(path: &Path) -> (&Path, Option<&str>) {
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
fn of_extension(file: &Path) -> Option<Format> {
    let extension = file.extension()?.to_str()?.to_ascii_lowercase();
    Some(match &*extension {
        "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" => Format::Excel,
        "sqlite" | "sqlite3" | "db" => Format::Sqlite,
        _ => return None,
    })
}
