//! A file with its targets, opened when it is needed.

use super::{ChunkSource, ColumnChoice, OpenOptions, open};
use crate::{Error, Result, error::Remedy};
use std::path::{Path, PathBuf};

/// A data file: .npy with a file of targets, .npz with arrays X and y, or .csv with named target
/// columns, compressed or not. It is opened when something is fitted to it.
///
/// ```no_run
/// use bochner::prelude::*;
/// let model = Ridge::on(Fourier::new(Gaussian)).fit(DataFile::at("houses.csv").target("price"))?;
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DataFile {
    path: PathBuf,
    options: OpenOptions,
}

impl DataFile {
    /// The file at `path`.
    pub fn at(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            options: OpenOptions::default(),
        }
    }

    /// One more target column of a .csv, by its name.
    pub fn target(mut self, column: impl Into<String>) -> Self {
        self.options.target.push(column.into());
        self
    }

    /// Which columns of a .csv are features; all that are not targets, until said otherwise.
    pub fn columns(mut self, columns: ColumnChoice) -> Self {
        self.options.columns = columns;
        self
    }

    /// The .npy file of the targets of a .npy file: `[n]` or `[n, t]`.
    pub fn targets(mut self, path: impl AsRef<Path>) -> Self {
        self.options.targets = Some(path.as_ref().to_owned());
        self
    }

    /// Opens the file, as [`open`] does.
    pub fn open(&self) -> Result<Box<dyn ChunkSource>> {
        open(&self.path, &self.options)
    }

    /// Opens the file; errors with [`Error::Data`] when it has no targets.
    pub(crate) fn open_with_targets(&self) -> Result<Box<dyn ChunkSource>> {
        let source = self.open()?;
        match source.targets() {
            0 => Err(Error::data(&self.path, "has no targets").help(Remedy::NameTargets)),
            _ => Ok(source),
        }
    }
}
