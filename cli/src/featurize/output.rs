//! The file of features, as its name says.

use crate::{columnar, report::Usage};
use anyhow::Result;
use bochner::data::{AtomicFile, CsvWriter, Done, NpyWriter, RawWriter, RowWriter};
use ndarray::ArrayView2;
use std::path::Path;

/// What a file of features may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Npy,
    Csv,
    /// f32, little-endian, row after row.
    Raw,
    /// One column of lists.
    Parquet,
}

impl Format {
    pub(super) fn from_path(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_ascii_lowercase());
        match extension.as_deref().and_then(|e| e.to_str()) {
            _ if columnar::is_parquet(path) => Ok(Self::Parquet),
            Some("npy") => Ok(Self::Npy),
            Some("csv") => Ok(Self::Csv),
            Some("raw" | "f32") => Ok(Self::Raw),
            _ => Err(Usage(format!(
                "{}: features are written as .npy, .csv, .parquet or .f32 (or .raw: \
                 little-endian f32, row after row); name such a file",
                path.display()
            ))
            .into()),
        }
    }
}

pub(super) enum Writer {
    Npy(NpyWriter<f32>),
    Csv(CsvWriter),
    Raw(RawWriter),
    Parquet(columnar::Writer),
}

impl Writer {
    /// Of so many features.
    pub(super) fn create(
        format: Format,
        file: AtomicFile,
        done: Done,
        columns: usize,
    ) -> Result<Self> {
        Ok(match format {
            Format::Parquet => Self::Parquet(columnar::Writer::vectors(file, "z", columns)?),
            Format::Npy => Self::Npy(NpyWriter::go_on(file, Some(columns), done)?),
            Format::Raw => Self::Raw(RawWriter::go_on(file, columns, done)),
            Format::Csv => {
                let names: Vec<_> = (0..columns).map(|j| format!("z{j}")).collect();
                Self::Csv(CsvWriter::go_on(file, &names, done)?)
            }
        })
    }

    /// Writes all rows so far through to the disk, and says how far the file is.
    pub(super) fn mark(&mut self) -> bochner::Result<Done> {
        match self {
            Self::Npy(writer) => writer.mark(),
            Self::Csv(writer) => writer.mark(),
            Self::Raw(writer) => writer.mark(),
            // Refused before it was begun.
            Self::Parquet(_) => Ok(Done::default()),
        }
    }

    pub(super) fn finish(self) -> bochner::Result<u64> {
        match self {
            Self::Npy(writer) => writer.finish(),
            Self::Csv(writer) => writer.finish(),
            Self::Raw(writer) => writer.finish(),
            Self::Parquet(writer) => writer.finish(),
        }
    }
}

impl RowWriter<f32> for Writer {
    fn write_rows(&mut self, z_nd: ArrayView2<'_, f32>) -> bochner::Result<()> {
        match self {
            Self::Npy(writer) => writer.write_rows(z_nd),
            Self::Csv(writer) => writer.write_rows(z_nd),
            Self::Raw(writer) => writer.write_rows(z_nd),
            Self::Parquet(writer) => writer.write_vectors(z_nd),
        }
    }
}
