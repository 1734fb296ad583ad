//! A source by the name of its file.

use super::{ChunkSource, ColumnChoice, CsvOptions, CsvSource, NpySource, NpzSource, TargetUse};
use crate::error::{Error, Result};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Where [`open`] finds the targets. The default: array `y` of a .npz archive, none elsewhere.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// For .npy: the file of the targets.
    pub targets: Option<PathBuf>,
    /// For .csv: the columns that are targets, by name, in this order.
    pub target: Vec<String>,
    /// For .csv: whether the target columns must be there.
    pub target_use: TargetUse,
    /// For .csv: which of the other columns are features.
    pub columns: ColumnChoice,
}

/// Opens `path` by its extension: .npy, .npz or .csv, in any case.
///
/// Errors with [`Error::Unsupported`] for another extension or for an option that does not go with
/// this one, and as [`NpySource::open`], [`NpzSource::open`] and [`CsvSource::open`] do.
pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Box<dyn ChunkSource>> {
    let path = path.as_ref();
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    let refuse =
        |problem: String| Err(Error::unsupported(format!("{}: {problem}", path.display())));
    if options.targets.is_some() && matches!(&*extension, "npz" | "csv") {
        let remedy = if extension == "npz" {
            "save the targets as array y"
        } else {
            "name a target column"
        };
        return refuse(format!(
            "a targets file goes with .npy, not with .{extension}; {remedy}"
        ));
    }
    if !options.target.is_empty() && matches!(&*extension, "npy" | "npz") {
        let remedy = if extension == "npz" {
            "save the targets as array y"
        } else {
            "give a targets file"
        };
        return refuse(format!(
            "a target column is named, but .{extension} has no column names; {remedy}"
        ));
    }
    let named = !matches!(
        options.columns,
        ColumnChoice::All | ColumnChoice::Matching(_)
    );
    if named && matches!(&*extension, "npy" | "npz") {
        return refuse(format!(
            "columns are named, but .{extension} has no column names; save it without the others"
        ));
    }
    Ok(match &*extension {
        "npy" => Box::new(NpySource::open(path, options.targets.as_deref())?),
        "npz" => Box::new(NpzSource::open(path)?),
        "csv" => Box::new(CsvSource::open(
            path,
            CsvOptions {
                target: options.target.clone(),
                target_use: options.target_use,
                columns: options.columns.clone(),
            },
        )?),
        "" => return refuse("the name has no extension; .npy, .npz and .csv can be read".into()),
        other => {
            return refuse(format!(
                ".{other} cannot be read; .npy, .npz and .csv can: convert the file"
            ));
        }
    })
}

/// Opens a regular file: sources are read more than once, which a pipe cannot be.
pub(super) fn open_file(path: &Path) -> Result<File> {
    // Asked first, because opening a pipe that nobody writes to waits forever.
    let metadata = std::fs::metadata(path).map_err(|error| Error::io(path, error))?;
    if metadata.is_dir() {
        return Err(Error::data(path, "is a directory; name a file in it"));
    }
    if !metadata.is_file() {
        return Err(Error::data(
            path,
            "is not a regular file, and data is read more than once; save it to a file first",
        ));
    }
    File::open(path).map_err(|error| Error::io(path, error))
}

/// The first few names, and how many follow.
pub(super) fn shortened(names: &[impl AsRef<str>]) -> String {
    const SHOWN: usize = 8;
    let mut text = names
        .iter()
        .take(SHOWN)
        .map(AsRef::as_ref)
        .collect::<Vec<_>>()
        .join(", ");
    if names.is_empty() {
        text.push_str("none");
    }
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}
