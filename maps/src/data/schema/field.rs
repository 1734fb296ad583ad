//! One column of a table, and what its values are.

use super::{
    DateFormat, DateParts, Marks, TargetMeans, Words, amount::Amount, answers, forms::composed,
    reading::Reading,
};
use std::{fmt, sync::Arc};

/// One column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) fill: Option<Fill>,
    /// How numbers or dates are written, where that is not plain.
    pub(super) reading: Option<Reading>,
}

/// The place of a text among others that ascend, or of the one that is the same in another form of
/// Unicode.
pub(super) fn place_in_forms(all: &[String], text: &str) -> Option<usize> {
    let find = |text: &str| all.binary_search_by(|own| (**own).cmp(text)).ok();
    find(text).or_else(|| {
        let whole = composed(text);
        let is_same = |own: &String| !own.is_ascii() && composed(own) == whole;
        let search = || all.iter().position(is_same);
        (!text.is_ascii()).then(|| find(&whole).or_else(search))?
    })
}

/// What the values of a column are.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// Numbers, as they are; truth values of a typed table among numbers as 0 and 1.
    Number,
    /// Dates and times: days since 1970-01-01, in UTC where they name an offset, and these parts.
    Date(DateParts),
    /// Truth values: 0 and 1.
    Boolean,
    /// One of these, in ascending order: a column for each, which is 1 for its own category and
    /// else 0. Another category has 0 in all. Of a target: its classes.
    Categories(Vec<String>),
    /// One of more categories than that: so many columns, of which the hash of the text takes one
    /// and puts 1 or -1 there, so that different categories are orthogonal on average (Weinberger
    /// et al. 2009, section 2).
    Hashed(usize),
    /// One of many texts: what the rows of each in the fit say of the target, smoothed, less what
    /// all of them say. The rows of the fit themselves have what the others say, out of fold.
    Means(Arc<TargetMeans>),
    /// Prose: the words of the text, hashed.
    Words(Words),
    /// Nothing: no row of the fit has a value, and it becomes no column.
    Empty,
    /// What tells rows apart and nothing else, and becomes no column: a code or a text of its own
    /// in each row, or, in a column whose name says that it numbers rows, their number from 0 or 1.
    /// Of such columns alone all are kept.
    Id,
    /// The same in each row as the column of this name, which stands before it; it becomes no
    /// column.
    Copy(String),
}

/// What stands for a missing value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fill {
    /// One for each column.
    pub(super) values: Vec<f64>,
    /// Whether one more column says that it is missing.
    pub(super) indicator: bool,
    /// Whether a training row misses the value.
    pub(super) missed: bool,
}

impl Field {
    /// A column of numbers, of which none is missing.
    pub(super) fn number(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: Kind::Number,
            fill: None,
            reading: None,
        }
    }

    /// What the file calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its values are.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The marks of its numbers, where they are not plain.
    #[doc(hidden)]
    pub fn marks(&self) -> Option<Marks> {
        match self.reading {
            Some(Reading::Number(marks)) => Some(marks),
            _ => None,
        }
    }

    /// How its amounts are written.
    pub(super) fn amount(&self) -> Option<&Amount> {
        self.reading.as_ref().and_then(Reading::amount)
    }

    /// The unit of its amounts as it is written, `EUR` or `%`, where they have one: numbers are
    /// in it.
    pub fn unit(&self) -> Option<&str> {
        let unit = &self.amount()?.unit;
        let is_unit = !unit.name.is_empty() && !unit.is_word() && unit.most().is_none();
        is_unit.then_some(unit.name.as_str())
    }

    /// The kind that a text is, of categories.
    pub(super) fn place_of(&self, text: &str) -> Option<usize> {
        let Kind::Categories(all) = &self.kind else {
            return None;
        };
        match self.reading {
            Some(Reading::Answers) => answers::place(text, all),
            _ => place_in_forms(all, text),
        }
    }

    /// Whether its categories are the same in whatever letters: `Yes` and `YES`.
    #[doc(hidden)]
    pub fn is_in_any_letters(&self) -> bool {
        self.reading == Some(Reading::Answers)
    }

    /// How its dates are written, where that is not by ISO 8601.
    pub fn date_format(&self) -> Option<&DateFormat> {
        match &self.reading {
            Some(Reading::Date(format)) => Some(format),
            _ => None,
        }
    }

    /// Whether values may be missing.
    pub fn may_miss(&self) -> bool {
        self.fill.is_some()
    }

    /// Whether a training row misses a value.
    #[doc(hidden)]
    pub fn misses(&self) -> bool {
        self.fill.as_ref().is_some_and(|fill| fill.missed)
    }

    /// Whether one of its columns says where values are missing.
    pub fn has_indicator(&self) -> bool {
        self.fill.as_ref().is_some_and(|fill| fill.indicator)
    }

    /// How many columns it becomes.
    pub fn width(&self) -> usize {
        self.kind.width() + usize::from(self.has_indicator())
    }

    /// What the columns are called that it becomes.
    pub(super) fn columns(&self) -> Vec<String> {
        let name = &self.name;
        let mut columns = match &self.kind {
            Kind::Number | Kind::Boolean => vec![name.clone()],
            Kind::Date(parts) => [vec![name.clone()], parts.names(name)].concat(),
            Kind::Categories(all) => all.iter().map(|c| format!("{name}={c}")).collect(),
            Kind::Hashed(count) => (0..*count).map(|k| format!("{name}#{k}")).collect(),
            Kind::Means(means) => means
                .names()
                .iter()
                .map(|of| format!("{name}: {of}"))
                .collect(),
            Kind::Words(words) => words.names(name),
            Kind::Empty | Kind::Id | Kind::Copy(_) => Vec::new(),
        };
        if self.has_indicator() {
            columns.push(format!("{name} is missing"));
        }
        columns
    }
}

impl Kind {
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Number | Self::Boolean => 1,
            Self::Date(parts) => 1 + parts.width(),
            Self::Categories(all) => all.len(),
            Self::Hashed(count) => *count,
            Self::Means(means) => means.names().len(),
            Self::Words(words) => words.width(),
            Self::Empty | Self::Id | Self::Copy(_) => 0,
        }
    }

    /// What it is called in reports.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Date(_) => "date",
            Self::Boolean => "boolean",
            Self::Categories(_) => "categories",
            Self::Hashed(_) => "hashed",
            Self::Means(_) => "by target",
            Self::Words(_) => "words",
            Self::Empty => "empty",
            Self::Id => "id",
            Self::Copy(_) => "copy",
        }
    }
}

/// What it becomes, in words: `city: 3 categories`, `zip: text, hashed into 64 columns`.
impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match (&self.kind, &self.reading) {
            (Kind::Number | Kind::Date(_), Some(reading)) => write!(f, "{reading}")?,
            (Kind::Number, None) => f.write_str("numbers")?,
            (Kind::Date(_), None) => f.write_str("dates")?,
            (Kind::Boolean, _) => f.write_str("truth values")?,
            (Kind::Categories(all), Some(Reading::Answers)) => {
                write!(f, "{} categories in any letters", all.len())?
            }
            (Kind::Categories(all), _) => write!(f, "{} categories", all.len())?,
            (Kind::Hashed(count), _) => write!(f, "text, hashed into {count} columns")?,
            (Kind::Means(means), _) => write!(f, "{means}")?,
            (Kind::Words(words), _) => write!(f, "{words}")?,
            (Kind::Empty, _) => f.write_str("no value, left out")?,
            (Kind::Id, _) => f.write_str("tells rows apart, left out")?,
            (Kind::Copy(of), _) => write!(f, "a copy of {of}, left out")?,
        }
        match self.kind {
            Kind::Date(parts) if parts.width() > 0 => write!(f, ", with {parts}")?,
            _ => {}
        }
        if self.has_indicator() {
            f.write_str(", and whether it is missing")
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_are_found_in_either_form_of_unicode() {
        let whole = ["Bern", "Z\u{FC}rich"].map(str::to_owned);
        let apart = ["Bern", "Zu\u{308}rich"].map(str::to_owned);
        for all in [&whole, &apart] {
            for text in ["Z\u{FC}rich", "Zu\u{308}rich"] {
                assert_eq!(place_in_forms(all, text), Some(1), "{text:?}");
            }
            assert_eq!(place_in_forms(all, "Zurich"), None);
            assert_eq!(place_in_forms(all, "Gen\u{E8}ve"), None);
        }
    }
}
