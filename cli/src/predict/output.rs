//! The file of predictions, as its name says.

use super::{kept::Kept, text_rows::TextRows};
use crate::{columnar, report::Usage};
use anyhow::Result;
use bochner::{
    Error,
    data::{AtomicFile, CsvWriter, Done, NpyWriter, Refill},
};
use ndarray::{Array2, ArrayView2};
use std::path::Path;

#[derive(Debug, Clone, Copy)]
enum Format {
    Npy,
    Csv,
    Parquet,
}

impl Format {
    fn from_path(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_ascii_lowercase());
        match extension.as_deref().and_then(|e| e.to_str()) {
            _ if columnar::is_parquet(path) => Ok(Self::Parquet),
            Some("npy") => Ok(Self::Npy),
            Some("csv") => Ok(Self::Csv),
            _ => Err(Usage(format!(
                "{}: predictions are written as .npy, .csv or .parquet, or to stdout by `-`; name \
                 such a file",
                path.display()
            ))
            .into()),
        }
    }
}

/// Errors unless the name says what is written.
pub(super) fn require_format(path: &Path) -> Result<()> {
    Format::from_path(path).map(drop)
}

/// Whether predictions go to stdout, as a .csv.
pub(super) fn is_stdout(path: &Path) -> bool {
    let names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    names.into_iter().any(|name| path == Path::new(name))
}

/// What the numbers of a row are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cells<'a> {
    /// Themselves.
    Numbers,
    /// One place among these labels.
    Labels(&'a [String]),
    /// 1 for each class of a set, and 0 for the others.
    Sets,
}

pub(super) enum Writer {
    Npy(NpyWriter<f64>),
    Csv(CsvWriter),
    Parquet(columnar::Writer),
    ParquetNames(columnar::Writer, Vec<String>),
    Text(TextRows),
}

impl Writer {
    /// For columns of these names. Errors where the format does not hold text.
    pub(super) fn create(
        path: &Path,
        open: impl FnOnce(&Path) -> Result<(AtomicFile, Done)>,
        (columns, cells): (&[String], Cells<'_>),
        kept: Option<Kept>,
    ) -> Result<Self> {
        if is_stdout(path) {
            return Ok(Self::Text(TextRows::begin(None, kept, (columns, cells))?));
        }
        let format = Format::from_path(path)?;
        if kept.is_some() && !matches!(format, Format::Csv) {
            let problem = format!("{}: --keep is for a .csv; name one", path.display());
            return Err(Usage(problem).into());
        }
        if let (Cells::Labels(_), Format::Npy) = (cells, format) {
            let problem = "the labels of this model are text, which .npy does not hold; name a \
                           .csv or a .parquet";
            return Err(Error::data(path, problem).into());
        }
        let (file, done) = open(path)?;
        Ok(match (format, cells, columns.len()) {
            (Format::Csv, Cells::Numbers, _) if kept.is_none() => {
                Self::Csv(CsvWriter::go_on(file, columns, done)?)
            }
            (Format::Csv, ..) => {
                Self::Text(TextRows::begin(Some((file, done)), kept, (columns, cells))?)
            }
            (Format::Npy, _, 1) => Self::Npy(NpyWriter::go_on(file, None, done)?),
            (Format::Npy, _, all) => Self::Npy(NpyWriter::go_on(file, Some(all), done)?),
            (Format::Parquet, Cells::Labels(labels), _) => {
                let file = columnar::Writer::texts(file, &columns[0])?;
                Self::ParquetNames(file, labels.to_vec())
            }
            (Format::Parquet, ..) => Self::Parquet(columnar::Writer::numbers(file, columns)?),
        })
    }

    fn write_rows(&mut self, rows: ArrayView2<'_, f64>) -> bochner::Result<()> {
        match self {
            Self::Text(writer) => writer.write_rows(rows),
            Self::Npy(writer) => writer.write_rows(rows),
            Self::Csv(writer) => writer.write_rows(rows),
            Self::Parquet(writer) => writer.write_rows(rows),
            Self::ParquetNames(writer, names) => {
                let name = |&label: &f64| {
                    if label.is_nan() {
                        None
                    } else {
                        names.get(label as usize).map(String::as_str)
                    }
                };
                writer.write_texts(rows.column(0).iter().map(name))
            }
        }
    }

    /// As [`Self::write_rows`], with rows that were left out among them.
    pub(super) fn refilled(
        &mut self,
        rows: ArrayView2<'_, f64>,
        places: Option<Vec<Option<usize>>>,
    ) -> bochner::Result<()> {
        match places {
            None => self.write_rows(rows),
            Some(places) => self.write_rows(Refill::filled(rows, &places, f64::NAN).view()),
        }
    }

    /// Rows that were left out.
    pub(super) fn blank(&mut self, rows: usize) -> bochner::Result<()> {
        self.write_rows(Array2::from_elem((rows, self.columns()), f64::NAN).view())
    }

    /// Columns of its rows.
    fn columns(&self) -> usize {
        match self {
            Self::Text(writer) => writer.columns(),
            Self::Npy(writer) => writer.columns(),
            Self::Csv(writer) => writer.columns(),
            Self::Parquet(writer) => writer.columns(),
            Self::ParquetNames(..) => 1,
        }
    }

    /// Writes all rows so far through to the disk, and says how far the file is.
    pub(super) fn mark(&mut self) -> bochner::Result<Done> {
        match self {
            Self::Text(writer) => writer.mark(),
            Self::Npy(writer) => writer.mark(),
            Self::Csv(writer) => writer.mark(),
            // Refused before it was begun.
            Self::Parquet(_) | Self::ParquetNames(..) => Ok(Done::default()),
        }
    }

    pub(super) fn finish(self) -> bochner::Result<u64> {
        match self {
            Self::Text(writer) => writer.finish(),
            Self::Npy(writer) => writer.finish(),
            Self::Csv(writer) => writer.finish(),
            Self::Parquet(writer) | Self::ParquetNames(writer, _) => writer.finish(),
        }
    }
}
