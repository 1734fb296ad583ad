//! A source by the name of its file.

use super::container;
use super::cures::cure;
use super::gaps::GaplessSource;
use super::input::packed_extension;
use super::joined::Joined;
use super::parts::parts;
use super::stdin::{Spool, Spooled};
use super::{
    ChunkSource, ColumnChoice, CsrSource, CsvSource, CsvTable, Gaps, Header, Layout, LibsvmOptions,
    LibsvmSource, NanRows, NpySource, NpzSource, TableOptions, TableSource, TargetUse,
};
use crate::error::{Error, Remedy, Result};
use std::path::{Path, PathBuf};

/// Where [`open`] finds the targets. The default: array `y` of a .npz archive, none elsewhere.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// What the file is; `None`: what its name says.
    pub format: Option<Format>,
    /// For .npy: the file of the targets.
    pub targets: Option<PathBuf>,
    /// For .csv: the columns that are targets, by name, in this order.
    pub target: Vec<String>,
    /// For .csv: whether the target columns must be there.
    pub target_use: TargetUse,
    /// For .csv: which of the other columns are features.
    pub columns: ColumnChoice,
    /// For .csv: how it is laid out, as far as its first lines do not tell.
    pub layout: Layout,
    /// For .libsvm: number of feature columns; `None`: the largest index of the file. A model
    /// predicts rows of as many as it was fitted on.
    pub width: Option<usize>,
    /// For .libsvm: whether indices count from 0, and not from 1.
    pub zero_based: bool,
    /// What becomes of rows with values that are missing or not finite.
    pub nan: NanRows,
    /// For .csv: how cells are read that are no numbers.
    pub table: TableOptions,
    /// Whether the rows are to be those that a known schema was learnt from: then rows are left
    /// out, too, for gaps in columns that the schema leaves out, so that each has the number that
    /// it had then.
    pub same_rows: bool,
}

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
        _ => Box::new(Joined::open(files, options)?),
    })
}

/// Opens one file.
pub(super) fn open_file_as(path: &Path, options: &OpenOptions) -> Result<Box<dyn ChunkSource>> {
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
pub(super) fn open_table(path: &Path, options: &OpenOptions) -> Result<TableSource> {
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

/// What [`Format::of`] knows, for messages.
pub(super) const READ: &str = ".npy, .npz, .csv, .libsvm, .parquet and .arrow";

impl Format {
    /// Of the file that is called so; `None` for any other name.
    ///
    /// ```
    /// use bochner::data::Format;
    /// assert_eq!(Format::of("a/X.NPY"), Some(Format::Npy));
    /// assert_eq!(Format::of("rows.tsv.gz"), Some(Format::Csv));
    /// assert_eq!(Format::of("rows.gz"), None);
    /// assert_eq!(Format::of("book.xlsx#prices"), Some(Format::Excel));
    /// ```
    pub fn of(path: impl AsRef<Path>) -> Option<Self> {
        let path = container::file_of(path.as_ref());
        if let Some(format) = container::of_extension(path) {
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
    pub fn is_named(self) -> bool {
        let is_typed = matches!(self, Self::Parquet | Self::Arrow);
        is_typed || self == Self::Csv || self.holds_tables()
    }

    /// Whether a file may hold several tables.
    pub(super) fn holds_tables(self) -> bool {
        matches!(self, Self::Excel | Self::Sqlite)
    }
}

/// The extension that says what a file holds: the one before .gz or .zst.
fn extension(path: &Path) -> &str {
    let inner = match packed_extension(path) {
        Some(_) => path.file_stem().map(Path::new).unwrap_or(path),
        None => path,
    };
    inner.extension().and_then(|e| e.to_str()).unwrap_or("")
}

impl OpenOptions {
    /// The format of a file: what is asked for, or what its name says.
    pub(super) fn format_of(&self, path: &Path) -> Option<Format> {
        self.format.or_else(|| Format::of(path))
    }

    /// Errors with what is wrong unless a file of this format can have all of this.
    fn check(&self, format: Format, extension: &str) -> std::result::Result<(), String> {
        let remedy = match format {
            Format::Npz => "save the targets as array y",
            Format::Npy => "give a targets file",
            Format::Libsvm => "the labels are what each line begins with",
            _ => "name a target column",
        };
        if self.targets.is_some() && !matches!(format, Format::Npy | Format::Npz) {
            return Err(format!(
                "a targets file goes with .npy, not with .{extension}; {remedy}"
            ));
        }
        if format == Format::Libsvm && self.nan.gaps().is_some() {
            return Err(format!(
                "rows with missing values are to be left out, and .{extension} has none; remove the \
                 lines"
            ));
        }
        if format != Format::Csv {
            self.check_no_layout(format, extension)?;
        }
        if format.is_named() {
            return Ok(());
        }
        if !self.target.is_empty() {
            return Err(format!(
                "a target column is named, but .{extension} has no column names; {remedy}"
            ));
        }
        let named = matches!(
            self.columns,
            ColumnChoice::These(_) | ColumnChoice::AllBut(_)
        );
        if named {
            return Err(format!(
                "columns are named, but .{extension} has no column names; save it without the \
                 others"
            ));
        }
        if !self.table.is_usual() {
            return Err(format!(
                "missing values, categories, weights, groups or times are asked for, and \
                 .{extension} has numbers alone; leave them out"
            ));
        }
        Ok(())
    }

    /// Errors with what is wrong where something is said of the lines of a file that is no table of
    /// text. A sheet has rows above its names, and names or none.
    fn check_no_layout(&self, format: Format, extension: &str) -> std::result::Result<(), String> {
        let is_sheet = format == Format::Excel;
        let Layout {
            delimiter,
            header,
            skip_rows,
            comment,
            encoding,
        } = &self.layout;
        if delimiter.is_some() {
            return Err(format!(
                "a delimiter is given, which .{extension} does not have; leave it out"
            ));
        }
        if *header != Header::Auto && !is_sheet {
            return Err(format!(
                "it is said whether the first line holds names, and .{extension} has none; leave \
                 that out"
            ));
        }
        let what = match () {
            () if *skip_rows > 0 && !is_sheet => "rows to skip",
            () if comment.is_some() => "comments",
            () if encoding.is_some() => "an encoding",
            () => return Ok(()),
        };
        Err(format!(
            "{what} are said of tables of text, and .{extension} is none; leave that out"
        ))
    }
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
