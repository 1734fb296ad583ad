//! The file of predictions, as its name says.

use crate::{columnar, report::Usage};
use anyhow::Result;
use bochner::{
    Error,
    data::{AtomicFile, CsvWriter, Done, NpyWriter, Refill},
    models::{Label, LinearModel},
    solve::Targets,
};
use ndarray::{Array2, ArrayView2};
use std::{
    io::{BufWriter, Seek, Write},
    path::{Path, PathBuf},
};

#[derive(Debug, Clone, Copy)]
pub(super) enum Format {
    Npy,
    Csv,
    Parquet,
}

impl Format {
    pub(super) fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_ascii_lowercase());
        match extension.as_deref().and_then(|e| e.to_str()) {
            _ if columnar::is_parquet(path) => Ok(Self::Parquet),
            Some("npy") => Ok(Self::Npy),
            Some("csv") => Ok(Self::Csv),
            _ => Err(Usage(format!(
                "{}: predictions are written as .npy, .csv or .parquet; name such a file",
                path.display()
            ))
            .into()),
        }
    }
}

pub(super) enum Writer {
    Npy(NpyWriter<f64>),
    Csv(CsvWriter),
    Parquet(columnar::Writer),
    ParquetNames(columnar::Writer, Vec<String>),
    /// Text labels: what each number stands for, quoted.
    Names {
        path: PathBuf,
        file: BufWriter<AtomicFile>,
        quoted: Vec<String>,
        rows: u64,
    },
}

impl Writer {
    /// For columns of each name, `columns` of them numbered where there are several.
    pub(super) fn create(
        (file, done): (AtomicFile, Done),
        format: Format,
        (names, columns): (&[&str], usize),
    ) -> Result<Self> {
        let numbered = |k| names.iter().map(move |name| format!("{name}_{k}"));
        Ok(match (format, names.len() * columns) {
            (Format::Parquet, _) if columns == 1 => {
                Self::Parquet(columnar::Writer::numbers(file, names)?)
            }
            (Format::Parquet, _) => {
                let names: Vec<_> = (0..columns).flat_map(numbered).collect();
                Self::Parquet(columnar::Writer::numbers(file, &names)?)
            }
            (Format::Npy, 1) => Self::Npy(NpyWriter::go_on(file, None, done)?),
            (Format::Npy, all) => Self::Npy(NpyWriter::go_on(file, Some(all), done)?),
            (Format::Csv, _) if columns == 1 => Self::Csv(CsvWriter::go_on(file, names, done)?),
            (Format::Csv, _) => {
                let names: Vec<_> = (0..columns).flat_map(numbered).collect();
                Self::Csv(CsvWriter::go_on(file, &names, done)?)
            }
        })
    }

    /// One column per class, under its label in a .csv. Errors on a model without probabilities.
    pub(super) fn probabilities(
        path: &Path,
        (file, done): (AtomicFile, Done),
        model: &LinearModel,
    ) -> Result<Self> {
        let Targets::Classes(classes) = &model.targets else {
            return Err(
                Usage("this model predicts amounts, which have no probabilities".into()).into(),
            );
        };
        Ok(match Format::of(path)? {
            Format::Npy => Self::Npy(NpyWriter::go_on(file, Some(classes.len()), done)?),
            format @ (Format::Csv | Format::Parquet) => {
                let name = |&class: &f64| match model.label(class) {
                    Label::Number(number) => number.to_string(),
                    Label::Text(text) => text.to_owned(),
                };
                let names: Vec<_> = classes.iter().map(name).collect();
                match format {
                    Format::Parquet => Self::Parquet(columnar::Writer::numbers(file, &names)?),
                    _ => Self::Csv(CsvWriter::go_on(file, &names, done)?),
                }
            }
        })
    }

    /// A .csv of one column of labels by their names.
    pub(super) fn names(
        (file, done): (AtomicFile, Done),
        names: &[String],
    ) -> bochner::Result<Self> {
        let path = file.path().to_owned();
        let mut file = BufWriter::new(file);
        if done.bytes == 0 {
            file.write_all(b"prediction\n")
                .map_err(|e| Error::io(&path, e))?;
        }
        let quoted = names.iter();
        Ok(Self::Names {
            path,
            file,
            quoted: quoted
                .map(|name| format!("\"{}\"\n", name.replace('"', "\"\"")))
                .collect(),
            rows: done.rows,
        })
    }

    fn write_rows(&mut self, rows: ArrayView2<'_, f64>) -> bochner::Result<()> {
        match self {
            Self::Names {
                path,
                file,
                quoted,
                rows: done,
            } => {
                for &label in rows.column(0) {
                    // Labels count the names from 0.
                    let known = (!label.is_nan()).then(|| quoted.get(label as usize));
                    let line = known.flatten().map_or("\"\"\n", String::as_str);
                    file.write_all(line.as_bytes())
                        .map_err(|e| Error::io(&*path, e))?;
                    *done += 1;
                }
                Ok(())
            }
            Self::Npy(writer) => writer.write_rows(rows),
            Self::Csv(writer) => writer.write_rows(rows),
            Self::Parquet(writer) => writer.write_rows(rows),
            Self::ParquetNames(writer, names) => {
                let name = |&label: &f64| match label.is_nan() {
                    true => None,
                    false => names.get(label as usize).map(String::as_str),
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
            Self::Names { .. } => 1,
            Self::Npy(writer) => writer.columns(),
            Self::Csv(writer) => writer.columns(),
            Self::Parquet(writer) => writer.columns(),
            Self::ParquetNames(..) => 1,
        }
    }

    /// Writes all rows so far through to the disk, and says how far the file is.
    pub(super) fn mark(&mut self) -> bochner::Result<Done> {
        match self {
            Self::Names {
                path, file, rows, ..
            } => {
                let fail = |error| Error::io(&*path, error);
                file.flush().map_err(fail)?;
                file.get_ref().sync()?;
                let bytes = file.stream_position().map_err(fail)?;
                Ok(Done { rows: *rows, bytes })
            }
            Self::Npy(writer) => writer.mark(),
            Self::Csv(writer) => writer.mark(),
            // Refused before it was begun.
            Self::Parquet(_) | Self::ParquetNames(..) => Ok(Done::default()),
        }
    }

    pub(super) fn finish(self) -> bochner::Result<u64> {
        match self {
            Self::Names {
                path, file, rows, ..
            } => {
                let file = file.into_inner();
                let file = file.map_err(|e| Error::io(&path, e.into_error()))?;
                file.finish()?;
                Ok(rows)
            }
            Self::Npy(writer) => writer.finish(),
            Self::Csv(writer) => writer.finish(),
            Self::Parquet(writer) | Self::ParquetNames(writer, _) => writer.finish(),
        }
    }
}
