//! .parquet outputs; a program without the feature has none.

use crate::report::Usage;
use anyhow::Result;
use bochner::data::AtomicFile;
use ndarray::ArrayView2;
use std::path::Path;

/// Whether the name says .parquet.
pub(crate) fn is_parquet(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    ["parquet", "pq"]
        .iter()
        .any(|name| extension.eq_ignore_ascii_case(name))
}

/// Whether a panic of this thread becomes an error about a file.
pub(crate) fn is_guarded() -> bool {
    #[cfg(any(feature = "excel", feature = "parquet"))]
    return bochner::data::is_guarded();
    #[cfg(not(any(feature = "excel", feature = "parquet")))]
    false
}

/// Errors where a .parquet is to be kept between runs: its end says where all of it lies.
pub(crate) fn require_one_run(path: &Path, checkpoint: Option<&Path>) -> Result<()> {
    if !is_parquet(path) || checkpoint.is_none() {
        return Ok(());
    }
    let problem = format!(
        "{}: --checkpoint goes on with .npy and .csv, and a .parquet is written in one run; name \
         one of those",
        path.display()
    );
    Err(Usage(problem).into())
}

/// A .parquet that is being written.
#[cfg(feature = "parquet")]
pub(crate) struct Writer(Box<bochner::data::ParquetWriter>);

#[cfg(feature = "parquet")]
impl Writer {
    /// Vectors under one name.
    pub(crate) fn vectors(file: AtomicFile, name: &str, length: usize) -> Result<Self> {
        let writer = bochner::data::ParquetWriter::vectors(file, name, length);
        Ok(Self(Box::new(writer?)))
    }
    /// A column of numbers under each name.
    pub(crate) fn numbers(file: AtomicFile, names: &[impl AsRef<str>]) -> Result<Self> {
        Ok(Self(Box::new(bochner::data::ParquetWriter::numbers(
            file, names,
        )?)))
    }
    /// One column of text.
    pub(crate) fn texts(file: AtomicFile, name: &str) -> Result<Self> {
        Ok(Self(Box::new(bochner::data::ParquetWriter::texts(
            file, name,
        )?)))
    }
    pub(crate) fn write_vectors(&mut self, rows: ArrayView2<'_, f32>) -> bochner::Result<()> {
        self.0.write_vectors(rows)
    }
    pub(crate) fn write_rows(&mut self, rows: ArrayView2<'_, f64>) -> bochner::Result<()> {
        self.0.write_rows(rows)
    }
    /// Columns of its rows.
    pub(crate) fn columns(&self) -> usize {
        self.0.columns()
    }
    pub(crate) fn write_texts<'a>(
        &mut self,
        rows: impl IntoIterator<Item = Option<&'a str>>,
    ) -> bochner::Result<()> {
        self.0.write_texts(rows)
    }
    pub(crate) fn finish(self) -> bochner::Result<u64> {
        self.0.finish()
    }
}

/// There is none.
#[cfg(not(feature = "parquet"))]
pub(crate) enum Writer {}

#[cfg(not(feature = "parquet"))]
impl Writer {
    fn none(file: &AtomicFile) -> anyhow::Error {
        let path = file.path().display();
        Usage(format!(
            "{path}: this program was built without .parquet; name a .npy"
        ))
        .into()
    }
    pub(crate) fn vectors(file: AtomicFile, _: &str, _: usize) -> Result<Self> {
        Err(Self::none(&file))
    }
    pub(crate) fn numbers(file: AtomicFile, _: &[impl AsRef<str>]) -> Result<Self> {
        Err(Self::none(&file))
    }
    pub(crate) fn texts(file: AtomicFile, _: &str) -> Result<Self> {
        Err(Self::none(&file))
    }
    pub(crate) fn write_vectors(&mut self, _: ArrayView2<'_, f32>) -> bochner::Result<()> {
        match *self {}
    }
    pub(crate) fn write_rows(&mut self, _: ArrayView2<'_, f64>) -> bochner::Result<()> {
        match *self {}
    }
    pub(crate) fn columns(&self) -> usize {
        match *self {}
    }
    pub(crate) fn write_texts<'a>(
        &mut self,
        _: impl IntoIterator<Item = Option<&'a str>>,
    ) -> bochner::Result<()> {
        match *self {}
    }
    pub(crate) fn finish(self) -> bochner::Result<u64> {
        match self {}
    }
}
