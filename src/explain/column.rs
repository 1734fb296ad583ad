//! Columns of a table, and the model columns derived from them.

use crate::{
    data::{DateParts, Kind, date_text},
    model::LinearModel,
};
use ndarray::ArrayView1;
use std::{fmt, ops::Range};

/// A column of the table: a text column represents all model columns derived from it, including its
/// missing-value indicator.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name in the table, or its index from 0.
    pub name: String,
    /// Its model columns.
    pub places: Range<usize>,
    pub(super) holds: Holds,
    /// Whether the last model column is a missing-value indicator.
    pub(super) has_indicator: bool,
}

/// Type of its values.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Holds {
    Numbers,
    Dates(DateParts),
    TruthValues,
    Categories(Vec<String>),
    /// Hashed texts, or several target means: values cannot be recovered.
    Texts,
}

/// A value of a column, for display.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ColumnValue {
    /// A number.
    Number(f64),
    /// A date: days since 1970-01-01.
    Date(f64),
    /// A category, or a boolean.
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

    /// The columns of the table that `model` uses, in the order of its model columns.
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
                // The target mean of a text column with one target is a number.
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

    /// Whether it can be set to single values: not for hashed texts or words.
    pub fn has_axis(&self) -> bool {
        self.holds != Holds::Texts
    }

    /// Whether its values are ordered: numbers and dates.
    pub fn is_ordered(&self) -> bool {
        matches!(self.holds, Holds::Numbers | Holds::Dates(_))
    }

    /// The value in a row `[d]` of model columns; `None` for texts that cannot be recovered, and
    /// for categories that the fit has not seen.
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

    /// Encodes a value that is not missing: one number for each of [`Self::places`].
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

/// A boolean by its name.
pub(super) fn truth(value: bool) -> ColumnValue {
    ColumnValue::Category(value.to_string())
}
