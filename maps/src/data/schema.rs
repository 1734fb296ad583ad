//! What the columns of a table become: numbers, the same ones in the fit and at predictions.

mod amount;
mod answers;
mod century;
mod clock;
mod date;
mod date_format;
mod date_parts;
mod digits;
mod duration;
mod encode;
mod field;
mod forms;
mod hashed;
mod imputation;
mod later;
mod levels;
mod marks;
mod means;
mod no_value;
mod numbered;
mod options;
mod order;
mod places;
mod reading;
mod row_names;
mod sketch;
mod store;
mod survey;
mod unlisted_zone;
mod words;
mod zone;

use crate::data::{Survey, TableColumn};
use crate::error::{Error, Remedy, Result};
use std::{collections::BTreeMap, fmt, ops::Range};

use field::Fill;
use reading::Reading;

#[doc(hidden)]
pub use date::text as date_text;
pub use date_format::DateFormat;
pub use date_parts::{DateParts, Dates};
pub(super) use encode::{Encoder, fill_note};
pub use field::{Field, Kind};
pub(super) use forms::composed;
#[doc(hidden)]
pub use imputation::NumericImputation;
pub use marks::Marks;
pub use means::TargetMeans;
pub(super) use no_value::{MissingRule, NoValue, USUAL, is_null_token};
pub use options::{Missing, TableOptions};
pub(super) use places::Places;
pub(super) use row_names::numbers_rows;
pub(super) use survey::{
    Codes, Marked, NO_WEIGHT, Packed, Points, holds_numbers, infinite, is_total, may_be_total,
    may_hold_copies, missing, refused, says_nothing, survey,
};
pub use words::Words;

/// What the columns of a table become. It is made by the pass over the rows of a fit
/// ([`Survey::new`](super::Survey::new)) and kept with the model
/// (`LinearModel::schema`), which reads other files by it:
/// columns by their names, in any order and beside others.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    features: Vec<Field>,
    targets: Vec<Field>,
    weight: Option<String>,
    /// How its cells are written, where that is not plain.
    weight_reading: Option<Reading>,
    /// Which texts stand for no value.
    no_value: NoValue,
    /// What was said of how cells are read ([`TableOptions`]).
    options: BTreeMap<String, Vec<String>>,
}

impl Schema {
    /// Features and targets that are numbers, none missing.
    pub(super) fn of_numbers(
        features: &[String],
        targets: &[String],
        weight: Option<&str>,
    ) -> Self {
        let numbers = |names: &[String]| names.iter().map(|n| Field::number(n)).collect();
        Self {
            features: numbers(features),
            targets: numbers(targets),
            weight: weight.map(str::to_owned),
            weight_reading: None,
            no_value: NoValue::from_given(None),
            options: BTreeMap::new(),
        }
    }

    /// Sets the fill value of each numeric feature; no training row misses one.
    pub(super) fn set_fill_values(&mut self, means: &[f64]) {
        for (field, &mean) in self.features.iter_mut().zip(means) {
            field.fill = Some(Fill {
                values: vec![mean],
                indicator: false,
                missed: false,
            });
        }
    }

    /// Which texts stand for no value.
    pub(super) fn no_value(&self) -> &NoValue {
        &self.no_value
    }

    /// The columns that are features, in the order of the columns that they become.
    pub fn features(&self) -> &[Field] {
        &self.features
    }

    /// The columns that are targets.
    pub fn targets(&self) -> &[Field] {
        &self.targets
    }

    /// The column of weights.
    pub fn weight(&self) -> Option<&str> {
        self.weight.as_deref()
    }

    /// Number of columns that the features become.
    pub fn width(&self) -> usize {
        self.features.iter().map(Field::width).sum()
    }

    /// What the columns are called that the features become: `age`, `city=Bern`, `city#3`,
    /// `age is missing`.
    pub fn column_names(&self) -> Vec<String> {
        self.features.iter().flat_map(Field::columns).collect()
    }

    /// What was said of how cells are read where the schema was learnt, by the names and in the
    /// words of the command line; lists have several. What the cells told is none of it.
    #[doc(hidden)]
    pub fn options(&self) -> impl Iterator<Item = (&str, &[String])> {
        let all = self.options.iter();
        all.map(|(name, words)| (name.as_str(), words.as_slice()))
    }

    /// The decimal mark and that of thousands of which somebody said that numbers have them.
    fn said_marks(&self) -> (Option<char>, Option<char>) {
        let mark = |name| self.options.get(name)?.first()?.chars().next();
        (mark("decimal"), mark("thousands"))
    }

    /// The columns that feature `j` becomes: those of its original, if it is a copy.
    #[doc(hidden)]
    pub fn columns_of(&self, j: usize) -> Range<usize> {
        if let Kind::Copy(original) = &self.features[j].kind
            && let Some(original) = self.features[..j].iter().position(|f| f.name == *original)
        {
            return self.columns_of(original);
        }
        let from = self.features[..j].iter().map(Field::width).sum();
        from..from + self.features[j].width()
    }

    /// Has columns of texts keep their scale in `survey` where
    /// [`Standardize::Auto`](crate::features::Standardize::Auto) divides others by their
    /// deviations: those that texts are hashed into, too, as a column for each category does. Two
    /// rows then differ by as much in a column of many texts as in one of numbers.
    #[doc(hidden)]
    pub fn keep_scales_of_texts(&self, survey: &mut Survey) {
        for (j, field) in self.features.iter().enumerate() {
            if let Kind::Hashed(_) = field.kind {
                survey.binary[self.columns_of(j)].fill(true);
            }
        }
    }

    /// The columns of the table that become numbers, in the order of these.
    pub(super) fn table_columns(&self) -> Vec<TableColumn> {
        let fields = self.features.iter().enumerate();
        let read = fields.filter(|(_, field)| field.width() > 0);
        let column = |(j, field): (usize, &Field)| TableColumn {
            name: field.name.clone(),
            places: self.columns_of(j),
        };
        read.map(column).collect()
    }

    /// Whether each of the columns that the features become is one of words, whose rows have unit
    /// length.
    pub(super) fn of_words(&self) -> Vec<bool> {
        let of = |field: &Field| {
            let is_of_words = matches!(field.kind, Kind::Words(_));
            let own = std::iter::repeat_n(is_of_words, field.kind.width());
            own.chain(field.has_indicator().then_some(false))
        };
        self.features.iter().flat_map(of).collect()
    }

    /// The classes that the target names by text, if it is one column of such; as a number each is
    /// its place among them.
    pub fn classes(&self) -> Option<&[String]> {
        match &self.targets[..] {
            [
                Field {
                    kind: Kind::Categories(classes),
                    ..
                },
            ] => Some(classes),
            _ => None,
        }
    }

    /// Errors with [`Error::Unsupported`] where a target is text, which is no amount.
    #[doc(hidden)]
    pub fn require_amounts(&self) -> Result<()> {
        let text = |field: &&Field| matches!(field.kind, Kind::Categories(_));
        match self.targets.iter().find(text) {
            None => Ok(()),
            Some(field) => {
                let problem = format!("target {:?} holds text, and amounts are fitted", field.name);
                let help = Remedy::words("fit a classifier, or name another target");
                Err(Error::unsupported(problem).help(help))
            }
        }
    }

    /// The first feature that is more than a number or a truth value as it stands: a text, a date,
    /// or one with gaps.
    #[doc(hidden)]
    pub fn first_of_no_number(&self) -> Option<&str> {
        let is_plain = |f: &Field| matches!(f.kind, Kind::Number | Kind::Boolean);
        let mut made = self.features.iter().filter(|f| f.misses() || !is_plain(f));
        made.next().map(Field::name)
    }

    /// Leaves out the features that become no column, which files of later rows need not have.
    pub(super) fn keep_what_is_read(&mut self) {
        self.features.retain(|field| field.width() > 0);
    }

    /// The names of the features, as the file has them.
    pub(super) fn feature_names(&self) -> Vec<String> {
        let read = self.features.iter().filter(|field| field.width() > 0);
        read.map(|f| f.name.clone()).collect()
    }

    /// The names of the features that become no column.
    pub(super) fn left_out_names(&self) -> Vec<String> {
        let left_out = self.features.iter().filter(|field| field.width() == 0);
        left_out.map(|f| f.name.clone()).collect()
    }

    /// The names of the targets.
    pub(super) fn target_names(&self) -> Vec<String> {
        self.targets.iter().map(|f| f.name.clone()).collect()
    }

    /// Leaves out the targets that are none of these.
    pub(super) fn keep_targets(&mut self, names: &[String]) {
        self.targets.retain(|field| names.contains(&field.name));
    }

    /// Whether it does nothing that a file of numbers needs.
    pub(super) fn is_plain(&self) -> bool {
        let written = |f: &Field| f.kind == Kind::Number && f.reading.is_none();
        let plain = |f: &Field| written(f) && !f.misses();
        self.weight_reading.is_none() && self.features.iter().chain(&self.targets).all(plain)
    }
}

/// How many columns are of each kind: `6 numeric, 8 categorical, 2 with missing values`.
impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = Vec::new();
        for (kind, one, many) in [
            ("number", "numeric", "numeric"),
            ("date", "date", "dates"),
            ("boolean", "boolean", "boolean"),
            ("categories", "categorical", "categorical"),
            ("hashed", "hashed", "hashed"),
            ("by target", "by target", "by target"),
            ("words", "of words", "of words"),
            ("empty", "empty", "empty"),
            ("id", "id", "ids"),
            ("copy", "copy", "copies"),
        ] {
            let all = self.features.iter();
            match all.filter(|field| field.kind.name() == kind).count() {
                0 => {}
                1 => said.push(format!("1 {one}")),
                count => said.push(format!("{count} {many}")),
            }
        }
        let in_parts =
            |field: &&Field| matches!(field.kind, Kind::Date(parts) if parts.width() > 0);
        match self.features.iter().filter(in_parts).count() {
            0 => {}
            count => said.push(format!("{count} in parts")),
        }
        let missing = self.features.iter().filter(|field| field.has_indicator());
        match missing.count() {
            0 => {}
            count => said.push(format!("{count} with missing values")),
        }
        f.write_str(&said.join(", "))
    }
}
