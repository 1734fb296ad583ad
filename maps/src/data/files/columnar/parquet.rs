//! .parquet files.

use super::Batches;
use crate::error::{Error, Result};
use arrow_schema::SchemaRef;
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder},
    },
    column::page::PageReader,
    errors::ParquetError,
    file::serialized_reader::SerializedPageReader,
};
use std::{fs::File, path::Path, sync::Arc};

/// Values that a batch has, so that its size does not hang on the width of rows.
pub(super) const VALUES: usize = 1 << 16;
/// Rows that a batch has.
const ROWS: usize = 1 << 13;

/// What the end of a file says about it.
pub(super) struct Opened {
    metadata: ArrowReaderMetadata,
}

impl Opened {
    /// Reads the end of the file.
    ///
    /// Errors with [`Error::Data`] if it is no whole .parquet.
    pub(super) fn new(path: &Path, file: &File) -> Result<Self> {
        let metadata = guarded(path, || {
            ArrowReaderMetadata::load(file, ArrowReaderOptions::new())
        })?;
        let groups = metadata.metadata().row_groups();
        let said = metadata.metadata().file_metadata().num_rows();
        let sum = groups.iter().try_fold(0_i64, |sum, group| {
            let rows = group.num_rows();
            sum.checked_add(rows).filter(|_| rows >= 0)
        });
        if sum != Some(said) {
            let problem = "is damaged: its groups of rows have not as many as it says; write it \
                           again";
            return Err(Error::data(path, problem));
        }
        Ok(Self { metadata })
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.metadata.schema().clone()
    }

    pub(super) fn rows(&self) -> u64 {
        self.metadata
            .metadata()
            .file_metadata()
            .num_rows()
            .unsigned_abs()
    }

    /// Rows of some fields, read page by page.
    pub(super) fn batches(
        &self,
        path: &Path,
        file: &File,
        fields: &[usize],
        width: usize,
    ) -> Result<Batches> {
        let file = file.try_clone().map_err(|error| Error::io(path, error))?;
        let metadata = self.metadata.clone();
        let rows = (VALUES / width.max(1)).clamp(1, ROWS);
        let mask = ProjectionMask::roots(metadata.parquet_schema(), fields.iter().copied());
        let mut batches = guarded(path, move || {
            require_levels(&Arc::new(file.try_clone()?), &metadata, &mask)?;
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
            builder.with_projection(mask).with_batch_size(rows).build()
        })?;
        let path = path.to_owned();
        let mut failed = false;
        Ok(Box::new(std::iter::from_fn(move || {
            if failed {
                return None;
            }
            let next = guarded(&path, || Ok(batches.next().transpose()?)).transpose();
            failed = matches!(next, Some(Err(_)));
            next
        })))
    }
}

/// Errors unless the pages of the columns have as many values as the end of the file says they
/// have: a few bytes of a page that is damaged may claim billions. Only heads of pages are read.
fn require_levels(
    file: &Arc<File>,
    metadata: &ArrowReaderMetadata,
    mask: &ProjectionMask,
) -> std::result::Result<(), ParquetError> {
    let fault = || ParquetError::General("pages have not the values that are listed".into());
    for group in metadata.metadata().row_groups() {
        let rows = usize::try_from(group.num_rows())?;
        for (leaf, chunk) in group.columns().iter().enumerate() {
            if !mask.leaf_included(leaf) {
                continue;
            }
            let listed = usize::try_from(chunk.num_values())?;
            let is_list = chunk.column_descr().max_rep_level() > 0;
            if listed != rows && !(is_list && listed > rows) {
                return Err(fault());
            }
            let mut pages = SerializedPageReader::new(file.clone(), chunk, rows, None)?;
            let mut levels = 0_usize;
            while let Some(page) = pages.peek_next_page()? {
                levels = levels.saturating_add(page.num_levels.unwrap_or(0));
                pages.skip_next_page()?;
            }
            if levels != listed {
                return Err(fault());
            }
        }
    }
    Ok(())
}

/// What `read` reads; what is wrong with the contents of the file is said of the file.
fn guarded<T>(
    path: &Path,
    read: impl FnOnce() -> std::result::Result<T, ParquetError>,
) -> Result<T> {
    super::guarded(path, || read().map_err(|error| super::damage(path, &error)))
}
