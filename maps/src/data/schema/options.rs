//! What is said of a table before it is read.

use super::{DateFormat, Dates};
use crate::error::{Error, Result};
use std::{collections::BTreeMap, fmt, str::FromStr};

/// How the cells of a table are read where they are not all numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct TableOptions {
    /// What stands for values that are missing.
    pub missing: Missing,
    /// Columns whose values are names of categories though they look like numbers or dates: postal
    /// codes, codes of products.
    pub categorical: Vec<String>,
    /// Columns of numbers that are numbers though some begin with 0 and all have as many digits, by
    /// which postal codes and the like are found, or though one word stands at each, whatever it is
    /// and whatever the target says of them: `R12.50`, `No. 17`.
    pub numeric: Vec<String>,
    /// Whether such columns are looked for; who takes numbers alone does not.
    pub codes: bool,
    /// A column of text becomes one column per category up to so many, and beyond it this many
    /// columns by hashing; at least 1.
    pub most_categories: usize,
    /// Columns whose texts become smoothed means of the target
    /// ([`Kind::Means`](super::Kind::Means)), and no others; `None`: those of more texts than
    /// `most_categories` that are not named in `categorical`, where such means say something of the
    /// target.
    pub by_target: Option<Vec<String>>,
    /// Columns whose texts become the words that they have ([`Kind::Words`](super::Kind::Words)),
    /// and no others; `None`: those of prose, of more texts than `most_categories`, that are not
    /// named in `categorical` or `by_target`, where words say something of the target. Where
    /// `by_target` is an empty list nothing is asked of it.
    pub words: Option<Vec<String>>,
    /// The column of what each row counts for, which is no feature.
    pub weight: Option<String>,
    /// The column of groups of rows ([`groups`](crate::data::groups)), which is no feature.
    pub group: Option<String>,
    /// What stands before the fraction of numbers; `None` finds it where all cells of a column
    /// allow one reading alone, and errs where they allow two.
    pub decimal: Option<char>,
    /// What stands between groups of three digits, likewise.
    pub thousands: Option<char>,
    /// How dates are written that are not by ISO 8601, likewise.
    pub date_format: Option<DateFormat>,
    /// What columns of dates become that are features; `None`: their days, with a note where
    /// [`Dates::Parts`] would tell more. Targets are days.
    pub dates: Option<Dates>,
    /// Texts that stand for no value, beside empty cells; in columns of types numbers and dates
    /// that are one of them. `None`: those that pandas takes for it (`NA`, `N/A`, `NaN`, `None`,
    /// `null` and more), and `?`, in files without types alone.
    pub na: Option<Vec<String>>,
    /// Whether columns are kept that only tell rows apart ([`Kind::Id`](super::Kind::Id)), or what
    /// another tells ([`Kind::Copy`](super::Kind::Copy)).
    pub all_columns: bool,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self {
            missing: Missing::default(),
            categorical: Vec::new(),
            numeric: Vec::new(),
            codes: true,
            most_categories: 64,
            by_target: None,
            words: None,
            weight: None,
            group: None,
            decimal: None,
            thousands: None,
            date_format: None,
            dates: None,
            na: None,
            all_columns: false,
        }
    }
}

impl TableOptions {
    /// Whether a schema is wanted of a file of numbers too.
    pub(in crate::data) fn asks_for_schema(&self) -> bool {
        let says_missing = self.missing != Missing::default();
        let marks = self.decimal.or(self.thousands).is_some();
        let says = marks || self.date_format.is_some() || self.na.is_some();
        says_missing || self.named_texts().next().is_some() || says
    }

    /// Whether all options are defaults, up to an empty `by_target` and [`Missing::Error`].
    pub(in crate::data) fn is_usual(&self) -> bool {
        let none = self.by_target.as_ref().filter(|columns| columns.is_empty());
        let strict = Some(Missing::Error).filter(|strict| *strict == self.missing);
        let usual = Self {
            by_target: none.cloned(),
            missing: strict.unwrap_or_default(),
            ..Self::default()
        };
        *self == usual
    }

    /// What was said of how cells are read, by the names of the command line: a word, or those of a
    /// list.
    pub(super) fn said(&self) -> BTreeMap<String, Vec<String>> {
        let usual = Self::default();
        let one = |value: Option<String>| value.into_iter().collect::<Vec<_>>();
        let (missing, most) = (self.missing, self.most_categories);
        let missing = (missing != usual.missing).then(|| missing.to_string());
        let most = (most != usual.most_categories).then(|| most.to_string());
        let list = |names: &Option<Vec<String>>| names.clone().unwrap_or_default();
        let all = [
            ("missing", one(missing)),
            ("na", list(&self.na)),
            ("categorical", self.categorical.clone()),
            ("numeric", self.numeric.clone()),
            ("most-categories", one(most)),
            ("by-target", list(&self.by_target)),
            ("words", list(&self.words)),
            ("decimal", one(self.decimal.map(String::from))),
            ("thousands", one(self.thousands.map(String::from))),
            (
                "date-format",
                one(self.date_format.as_ref().map(ToString::to_string)),
            ),
            ("dates", one(self.dates.map(|dates| dates.to_string()))),
            ("all-columns", one(self.all_columns.then(|| "true".into()))),
        ];
        let said = all.into_iter().filter(|(_, words)| !words.is_empty());
        let mut options = BTreeMap::new();
        options.extend(said.map(|(name, words)| (name.to_owned(), words)));
        options
    }

    /// Columns that are of texts, whatever those look like.
    pub(in crate::data) fn named_texts(&self) -> impl Iterator<Item = &String> {
        let by_target = self.by_target.iter().flatten();
        let words = self.words.iter().flatten();
        self.categorical.iter().chain(by_target).chain(words)
    }
}

/// What stands for a feature that is missing: in text an empty cell, or what [`TableOptions::na`]
/// lists. A column without any value is left out where something stands for it, and noted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Missing {
    /// As [`Self::Mean`], plus an indicator column (1 if the value is missing, else 0) for each
    /// column whose missing values predict the target: the F statistic of the indicator alone is at
    /// least 10, with at least 20 rows and 8 missing values. A warning lists the columns with
    /// missing values.
    #[default]
    Auto,
    /// Nothing: it is an error.
    Error,
    /// The mean, over the rows that have the value, of each column that it becomes: of a category
    /// the shares of all of them.
    Mean,
    /// The median likewise; of more than 65,536 rows that of a sample of so many. Of a category, 1
    /// for one that more than half of the rows have, and else 0.
    Median,
    /// The mean of a number, and 0 for all categories, with one more column that is 1 where the
    /// value is missing and else 0. Only columns that miss a value in the rows surveyed get one;
    /// to others it does as [`Self::Mean`].
    Indicator,
}

impl FromStr for Missing {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Self::Auto),
            "error" => Ok(Self::Error),
            "mean" => Ok(Self::Mean),
            "median" => Ok(Self::Median),
            "indicator" => Ok(Self::Indicator),
            _ => Err(Error::parameter(format!(
                "{text:?} is none of auto, mean, median, indicator, error"
            ))),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Error => "error",
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Indicator => "indicator",
        })
    }
}
