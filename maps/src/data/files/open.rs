//! A source by the name of its file.

#[cfg(not(any(feature = "excel", feature = "sqlite")))]
use super::container;
use super::cures::cure;
use super::format::{READ, extension};
use super::gaps::GaplessSource;
use super::joined::Joined;
use super::parts::parts;
use super::stdin::{Spool, Spooled};
use super::{
    ChunkSource, CsrSource, CsvSource, CsvTable, Format, Gaps, LibsvmOptions, LibsvmSource,
    NanRows, NpySource, NpzSource, OpenOptions, TableSource,
};
use crate::error::{Error, Remedy, Result};
use std::path::Path;

/// Opens `path` by its extension, in any case: .npy, .npz (arrays, or a matrix of scipy), or text,
/// which may be compressed and then ends in .gz or .zst as well: .csv, .tsv and .txt, or .libsvm,
/// .svm and .svmlight; with the feature `parquet` .parquet and Arrow's .arrow, .feather, .ipc and
/// .arrows; with the feature `excel` the first sheet of a spreadsheet, or the one behind `#`, and
/// with the feature `sqlite` a table of a database likewise ([`Format`]).
///
/// A folder, or a pattern such as `rows-*.csv`, is all its files as one dataset, as [`parts`] finds
/// them: their rows follow each other, and their columns must be the same. `-` is standard input,
/// which is copied into a temporary folder first, for data is read more than once; what its first
/// bytes do not tell is .csv, unless [`OpenOptions::format`] says otherwise. The copy goes away
/// with the source, or the last of several that were open at once.
///
/// Errors with [`Error::Unsupported`] for another extension or for an option that does not go with
/// this one, as [`parts`] does, and as [`NpySource::open`], [`NpzSource::open`],
/// [`CsvSource::open`] and [`LibsvmSource::open`] do.
pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Box<dyn ChunkSource>> {
    let path = path.as_ref();
    if path == Path::new("-") {
        let spool = Spool::take(options.format)?;
        let source = open_file_as(&spool.path(), options)?;
        return Ok(Box::new(Spooled::new(source, spool)));
    }
    let files = parts(path)?;
    Ok(match &files[..] {
        [one] => open_file_as(one, options)?,
        _ if !options.table.is_usual() => {
            let problem = format!(
                "{}: missing values, categories, weights, groups and times are read of one file; \
                 join the {} that there are",
                path.display(),
                files.len()
            );
            return Err(Error::unsupported(problem));
        }
        _ => Box::new(Joined::open(files, options, open_file_as)?),
    })
}

/// Opens one file.
fn open_file_as(path: &Path, options: &OpenOptions) -> Result<Box<dyn ChunkSource>> {
    let refuse = |problem| Error::unsupported(format!("{}: {problem}", path.display()));
    let Some(format) = options.format_of(path) else {
        let extension = extension(path);
        let problem = match extension {
            "" => format!("the name has no extension; {READ} can be read"),
            other => format!(".{other} cannot be read; {READ} can"),
        };
        let error = refuse(problem);
        return Err(match cure(path, &extension.to_ascii_lowercase()) {
            Some(cure) => error.help(Remedy::words(cure)),
            None => error
                .help(Remedy::NameFormat)
                .help(Remedy::words("convert the file")),
        });
    };
    options.check(format, extension(path)).map_err(refuse)?;
    Ok(match format {
        Format::Npy => {
            let source = NpySource::open(path, options.targets.as_deref())?;
            match options.nan.gaps() {
                None => Box::new(source),
                Some(gaps) => gapless(source.any_values(), path, (gaps, &options.nan)),
            }
        }
        Format::Npz if CsrSource::is_one(path)? => {
            let source = CsrSource::open(path, options.targets.as_deref())?;
            match options.nan.gaps() {
                None => Box::new(source),
                Some(gaps) => gapless(source.any_values(), path, (gaps, &options.nan)),
            }
        }
        Format::Npz if options.targets.is_some() => {
            return Err(refuse(
                "a targets file goes with .npy and not with arrays in .npz; save the targets as \
                 array y"
                    .into(),
            ));
        }
        Format::Npz => {
            let source = NpzSource::open(path)?;
            match options.nan.gaps() {
                None => Box::new(source),
                Some(gaps) => gapless(source.any_values(), path, (gaps, &options.nan)),
            }
        }
        Format::Libsvm => Box::new(LibsvmSource::open(
            path,
            LibsvmOptions {
                width: options.width,
                zero_based: options.zero_based,
                target_use: options.target_use,
            },
        )?),
        Format::Csv => Box::new(open_csv(path, options)?),
        Format::Parquet | Format::Arrow => Box::new(open_columnar(path, format, options)?),
        Format::Excel | Format::Sqlite => Box::new(open_cells(path, format, options)?),
    })
}

/// Opens one file whose columns have names.
///
/// Errors with [`Error::Unsupported`] on any other.
pub(in crate::data) fn open_table(path: &Path, options: &OpenOptions) -> Result<TableSource> {
    match options.format_of(path) {
        Some(Format::Csv) => open_csv(path, options),
        Some(format @ (Format::Parquet | Format::Arrow)) => open_columnar(path, format, options),
        Some(format @ (Format::Excel | Format::Sqlite)) => open_cells(path, format, options),
        _ => {
            let problem = format!(
                "{}: has no columns with names, by one of which rows are parted; save it as .csv",
                path.display()
            );
            Err(Error::unsupported(problem))
        }
    }
}

fn open_csv(path: &Path, options: &OpenOptions) -> Result<TableSource> {
    // The table has said what was found of the file.
    let numbers = |csv| CsvSource::open_quietly(path, csv);
    let table = Box::new(CsvTable::open_with(path, &options.layout)?);
    TableSource::new(table, options, Some(numbers))
}

/// Rows of arrays without those that are left out.
fn gapless<S: ChunkSource + 'static>(
    source: S,
    path: &Path,
    (gaps, nan): (&Gaps, &NanRows),
) -> Box<dyn ChunkSource> {
    let of_targets = nan.is_of_targets();
    Box::new(GaplessSource::new(source, path, gaps, of_targets))
}

#[cfg(feature = "parquet")]
fn open_columnar(path: &Path, format: Format, options: &OpenOptions) -> Result<TableSource> {
    let table = Box::new(super::ColumnarTable::open(path, format)?);
    let numbers: Option<fn(super::CsvOptions) -> Result<CsvSource>> = None;
    TableSource::new(table, options, numbers)
}

#[cfg(not(feature = "parquet"))]
fn open_columnar(path: &Path, _: Format, _: &OpenOptions) -> Result<TableSource> {
    let problem = "was built without the feature `parquet`; build it with it, or convert the file";
    Err(Error::unsupported(format!(
        "{}: this program {problem}",
        path.display()
    )))
}

#[cfg(any(feature = "excel", feature = "sqlite"))]
fn open_cells(path: &Path, format: Format, options: &OpenOptions) -> Result<TableSource> {
    let table = Box::new(super::CellTable::open(path, format, &options.layout)?);
    let numbers: Option<fn(super::CsvOptions) -> Result<CsvSource>> = None;
    TableSource::new(table, options, numbers)
}

#[cfg(not(any(feature = "excel", feature = "sqlite")))]
fn open_cells(path: &Path, format: Format, _: &OpenOptions) -> Result<TableSource> {
    Err(container::unread(path, format))
}
