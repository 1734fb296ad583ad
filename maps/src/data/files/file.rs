//! A file with its targets, opened when it is needed.

use super::{
    ChunkSource, ColumnChoice, DateFormat, Dates, Gaps, Header, Missing, NanRows, OpenOptions,
    TargetUse, TextEncoding, open,
};
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

/// A [`DataFile`] whose labels are text: [`DataFile::with_text_labels`].
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct TextLabelled(DataFile);

impl TextLabelled {
    #[doc(hidden)]
    pub fn file(&self) -> &DataFile {
        &self.0
    }
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

    /// What becomes of target columns of a .csv; they are read and have to be there, until said
    /// otherwise.
    pub fn target_use(mut self, target_use: TargetUse) -> Self {
        self.options.target_use = target_use;
        self
    }

    /// Number of feature columns of a .libsvm file; the largest index of the file, until said
    /// otherwise.
    pub fn width(mut self, columns: usize) -> Self {
        self.options.width = Some(columns);
        self
    }

    /// What stands for missing values of a .csv; they are an error, until said otherwise.
    pub fn missing(mut self, missing: Missing) -> Self {
        self.options.table.missing = missing;
        self
    }

    /// One more column of a .csv whose values are names of categories, though they look like
    /// numbers.
    pub fn categorical(mut self, column: impl Into<String>) -> Self {
        self.options.table.categorical.push(column.into());
        self
    }

    /// One more column of a .csv of numbers that are numbers, though some begin with 0 and all have
    /// as many digits, or one word stands at each.
    pub fn numeric(mut self, column: impl Into<String>) -> Self {
        self.options.table.numeric.push(column.into());
        self
    }

    /// A column of text becomes one column per category up to so many, and beyond it this many by
    /// hashing; 64, until said otherwise.
    pub fn most_categories(mut self, count: usize) -> Self {
        self.options.table.most_categories = count;
        self
    }

    /// Columns whose texts become smoothed means of the target, and no others. Until said otherwise
    /// they are those of more texts than [`Self::most_categories`] that tell something of the
    /// target so.
    ///
    /// ```
    /// use bochner::prelude::*;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("sales.csv");
    /// let rows = (0..40).map(|i| format!("shop{},{}\n", i % 4, i % 4 * 10 + i % 3));
    /// std::fs::write(&path, format!("shop,sold\n{}", rows.collect::<String>()))?;
    /// let file = DataFile::at(&path).target("sold").by_target(&["shop"]);
    /// let model = Ridge::on(Fourier::new(Gaussian).features(50)).fit(file)?;
    /// let schema = model.linear().schema.as_ref().expect("text");
    /// assert_eq!(schema.column_names(), ["shop: mean of sold"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn by_target(mut self, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&name| name.to_owned());
        self.options.table.by_target = Some(columns.collect());
        self
    }

    /// Columns whose texts become the words that they have, hashed, and no others. Until said
    /// otherwise they are those of prose, of more texts than [`Self::most_categories`], that tell
    /// something of the target so.
    ///
    /// ```
    /// use bochner::prelude::*;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("flats.csv");
    /// let text = |i: usize| format!("{} with {i} windows", ["A quiet flat", "Two rooms"][i % 2]);
    /// let rows = (0..40).map(|i| format!("{},{}\n", text(i), i % 2 * 9 + i % 3));
    /// std::fs::write(&path, format!("about,rent\n{}", rows.collect::<String>()))?;
    /// let file = DataFile::at(&path).target("rent").words(&["about"]);
    /// let model = Ridge::on(Fourier::new(Gaussian).features(50)).fit(file)?;
    /// let schema = model.linear().schema.as_ref().expect("text");
    /// assert_eq!(schema.column_names()[0], "about: words 0");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn words(mut self, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&name| name.to_owned());
        self.options.table.words = Some(columns.collect());
        self
    }

    /// Keeps columns that only tell rows apart: a text of its own in each row, or a column by the
    /// name of `id`, `index` and the like that counts them. Until said otherwise they are left out,
    /// unless there are no others. Also keeps copies of columns before them.
    pub fn all_columns(mut self) -> Self {
        self.options.table.all_columns = true;
        self
    }

    /// What stands before the fraction of numbers in text. Until said otherwise it is a point, or a
    /// comma where all cells of a column allow that alone.
    pub fn decimal(mut self, mark: char) -> Self {
        self.options.table.decimal = Some(mark);
        self
    }

    /// What stands between groups of three digits of numbers in text; what all cells of a column
    /// allow, until said otherwise.
    pub fn thousands(mut self, mark: char) -> Self {
        self.options.table.thousands = Some(mark);
        self
    }

    /// Texts that stand for no value, in the place of the usual ones
    /// ([`TableOptions::na`](super::TableOptions::na)).
    pub fn na(mut self, texts: &[&str]) -> Self {
        self.options.table.na = Some(texts.iter().map(|text| (*text).to_owned()).collect());
        self
    }

    /// How dates are written that are not by ISO 8601; what all cells of a column allow, until said
    /// otherwise.
    pub fn date_format(mut self, format: DateFormat) -> Self {
        self.options.table.date_format = Some(format);
        self
    }

    /// What columns of dates become that are features; their days, until said otherwise.
    pub fn dates(mut self, dates: Dates) -> Self {
        self.options.table.dates = Some(dates);
        self
    }

    /// What separates the columns of a .csv; what its first lines tell, until said otherwise.
    pub fn delimiter(mut self, delimiter: char) -> Self {
        self.options.layout.delimiter = Some(delimiter);
        self
    }

    /// Whether the first row of a .csv holds the names of its columns; it does unless it is all
    /// numbers, until said otherwise.
    pub fn header(mut self, header: Header) -> Self {
        self.options.layout.header = header;
        self
    }

    /// So many lines at the beginning of a .csv are no rows: titles. Empty ones count.
    pub fn skip_rows(mut self, lines: usize) -> Self {
        self.options.layout.skip_rows = lines;
        self
    }

    /// Lines of a .csv that begin with this are no rows, wherever they stand. Until said otherwise
    /// lines of `#` in front of the names are none.
    pub fn comment(mut self, begins: impl Into<String>) -> Self {
        self.options.layout.comment = Some(begins.into());
        self
    }

    /// How the characters of a .csv are written; UTF-16 where its first bytes say so and else
    /// UTF-8, with text that is none in Windows-1252, until said otherwise.
    pub fn encoding(mut self, encoding: TextEncoding) -> Self {
        self.options.layout.encoding = Some(encoding);
        self
    }

    /// Leaves out rows whose target is missing or not finite, and says how many; they are an error,
    /// until said otherwise.
    pub fn drop_rows_without_target(mut self) -> Self {
        self.options.nan = NanRows::DropWithoutTarget(Gaps::default());
        self
    }

    /// The column of a .csv that says what each row counts for.
    pub fn weight(mut self, column: impl Into<String>) -> Self {
        self.options.table.weight = Some(column.into());
        self
    }

    /// The same file for a classifier of labels that are text:
    ///
    /// ```
    /// use bochner::prelude::*;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("flats.csv");
    /// std::fs::write(&path, "rooms,city,kind\n2,Bern,flat\n6,Basel,house\n1,Bern,flat\n")?;
    /// let rows = DataFile::at(&path).target("kind").with_text_labels();
    /// let model = RidgeClassifier::on(Fourier::new(Gaussian)).fit(rows)?;
    /// let mut new = model.open(&path)?;
    /// let labels: Vec<String> = model.predict_source(new.as_mut())?;
    /// assert_eq!(labels, ["flat", "house", "flat"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(hidden)]
    pub fn with_text_labels(self) -> TextLabelled {
        TextLabelled(self)
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
    #[doc(hidden)]
    pub fn open_with_targets(&self) -> Result<Box<dyn ChunkSource>> {
        let source = self.open()?;
        match source.targets() {
            0 => Err(Error::data(&self.path, "has no targets").help(Remedy::NameTargets)),
            _ => Ok(source),
        }
    }
}
