//! The columns that a table has, and what each became for a model.

use crate::{
    data::{DateParts, Kind, date_text},
    model::LinearModel,
};
use ndarray::ArrayView1;
use std::{fmt, ops::Range};

/// A column of the table: one of text stands for all columns that it became, together with the one
/// that says where it is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// What the table calls it, or its number from 0.
    pub name: String,
    /// The columns that it became, among those of the model.
    pub places: Range<usize>,
    pub(super) holds: Holds,
    /// Whether the last of its places says where it is missing.
    pub(super) has_indicator: bool,
}

/// What its values are.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Holds {
    Numbers,
    Dates(DateParts),
    TruthValues,
    Categories(Vec<String>),
    /// Texts that are hashed, or several means of targets: no value can be read off.
    Texts,
}

/// One value of a column, as people write it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ColumnValue {
    /// A number.
    Number(f64),
    /// A date: days since 1970-01-01.
    Date(f64),
    /// A category, or a truth value.
    Category(String),
    /// No value.
    Missing,
}

impl fmt::Display for ColumnValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(value) => write!(f, "{value}"),
            Self::Date(days) => f.write_str(&date_text(*days)),
            Self::Category(name) => f.write_str(name),
            Self::Missing => f.write_str("missing"),
        }
    }
}

impl Column {
    fn of_numbers(name: String, at: usize) -> Self {
        Self {
            name,
            places: at..at + 1,
            holds: Holds::Numbers,
            has_indicator: false,
        }
    }

    /// The columns of the table that `model` takes, in the order of its own.
    pub(super) fn of_model(model: &LinearModel) -> Vec<Self> {
        let Some(schema) = &model.schema else {
            let name = |j: usize| match &model.column_names {
                Some(names) => names[j].clone(),
                None => j.to_string(),
            };
            let all = 0..model.map.input_dim();
            return all.map(|j| Self::of_numbers(name(j), j)).collect();
        };
        let fields = schema.features().iter().enumerate();
        let read = fields.filter(|(_, field)| field.width() > 0);
        let columns = read.map(|(j, field)| {
            let has_indicator = field.has_indicator();
            let holds = match field.kind() {
                Kind::Number => Holds::Numbers,
                Kind::Date(parts) => Holds::Dates(*parts),
                Kind::Boolean => Holds::TruthValues,
                Kind::Categories(all) => Holds::Categories(all.clone()),
                // What the rows of a text say of one target is a number.
                Kind::Means(_) if field.width() == 1 + usize::from(has_indicator) => Holds::Numbers,
                _ => Holds::Texts,
            };
            Self {
                name: field.name().to_owned(),
                places: schema.columns_of(j),
                holds,
                has_indicator,
            }
        });
        columns.collect()
    }

    /// Whether it can be set to values one by one: not of texts that are hashed, nor of words.
    pub fn has_axis(&self) -> bool {
        self.holds != Holds::Texts
    }

    /// Whether its values lie along an axis: numbers and dates.
    pub fn is_ordered(&self) -> bool {
        matches!(self.holds, Holds::Numbers | Holds::Dates(_))
    }

    /// The value of a row `[d]` of the model's columns; `None` of texts that cannot be read off,
    /// and of categories that the fit did not see.
    pub fn value(&self, row_d: ArrayView1<'_, f64>) -> Option<ColumnValue> {
        let from = self.places.start;
        if self.is_missing(row_d) {
            return Some(ColumnValue::Missing);
        }
        match &self.holds {
            Holds::Numbers => Some(ColumnValue::Number(row_d[from])),
            Holds::Dates(_) => Some(ColumnValue::Date(row_d[from])),
            Holds::TruthValues => Some(truth(row_d[from] != 0.0)),
            Holds::Categories(all) => {
                let is_own = |k: &usize| row_d[from + k] > 0.5;
                let own = (0..all.len()).find(is_own)?;
                Some(ColumnValue::Category(all[own].clone()))
            }
            Holds::Texts => None,
        }
    }

    pub(super) fn is_missing(&self, row_d: ArrayView1<'_, f64>) -> bool {
        self.has_indicator && row_d[self.places.end - 1] != 0.0
    }

    /// What a value that is there becomes: one number for each of [`Self::places`].
    pub(super) fn encode(&self, value: &ColumnValue) -> Option<Vec<f64>> {
        let mut encoded = vec![0.0; self.places.len()];
        match (&self.holds, value) {
            (Holds::Numbers, ColumnValue::Number(value)) => encoded[0] = *value,
            (Holds::Dates(parts), ColumnValue::Date(days)) => {
                encoded[0] = *days;
                let parts = parts.columns(*days);
                encoded[1..]
                    .iter_mut()
                    .zip(parts)
                    .for_each(|(to, x)| *to = x);
            }
            (Holds::TruthValues, ColumnValue::Category(name)) => {
                encoded[0] = f64::from(u8::from(name == "true"));
            }
            (Holds::Categories(all), ColumnValue::Category(name)) => {
                encoded[all.iter().position(|own| own == name)?] = 1.0;
            }
            _ => return None,
        }
        Some(encoded)
    }
}

/// A truth value by its name.
pub(super) fn truth(value: bool) -> ColumnValue {
    ColumnValue::Category(value.to_string())
}
