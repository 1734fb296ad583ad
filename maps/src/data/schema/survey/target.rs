//! The target of a table, for what columns of text become by it.

use super::{
    Encoder, Field, Kind, NoValue, Places, Reading, Schema,
    cell::{self, Cell, text_of},
    places::Answers,
};
use crate::data::{Table, files::table::short};
use crate::error::{Error, Remedy, Result};
use std::collections::BTreeMap;

/// Rows that are read at a time.
const ROWS: usize = 4096;

/// The one target of a table.
pub(in crate::data::schema) struct Target {
    field: Field,
    values: Values,
    /// How the weights beside it are written, where that is not plain.
    weights: Option<Reading>,
}

/// Columns that are made of a target.
enum Values {
    /// The amount.
    Amount,
    /// Whether it is each of these classes.
    Classes(Vec<f64>),
}

/// A row with a text and its target.
pub(in crate::data::schema) struct Row<'a> {
    /// The feature, by its place among those asked for.
    pub(in crate::data::schema) feature: usize,
    pub(in crate::data::schema) number: u64,
    pub(in crate::data::schema) text: &'a str,
    pub(in crate::data::schema) weight: f64,
    /// Amounts less those of the first row.
    pub(in crate::data::schema) targets: &'a [f64],
}

/// Returns an encoder of these targets and of weights, without features.
pub(super) fn without_features(
    targets: Vec<Field>,
    (places, no_value, weights): (&Places, &NoValue, Option<&Reading>),
) -> Encoder {
    let schema = Schema {
        features: Vec::new(),
        targets,
        weight: None,
        weight_reading: weights.cloned(),
        no_value: no_value.clone(),
        options: BTreeMap::new(),
    };
    let places = Places {
        features: Vec::new(),
        ..places.clone()
    };
    Encoder::new(schema, places).silent()
}

impl Target {
    /// The target as amounts, or as shares of at most so many classes. `labels` are the different
    /// values of numbers where those are few and whole. `None` of more targets, and of more
    /// classes.
    pub(in crate::data::schema) fn from_fields(
        targets: &[Field],
        labels: Option<&[f64]>,
        most: usize,
    ) -> Option<Self> {
        let [field] = targets else { return None };
        let values = match (&field.kind, labels) {
            (Kind::Categories(all), _) if all.len() > most => return None,
            (Kind::Categories(all), _) => {
                Values::Classes((1..all.len()).map(|class| class as f64).collect())
            }
            // Of two or three numbers more than their mean is told by shares.
            (Kind::Number, Some(labels)) => Values::Classes(labels[1..].to_vec()),
            _ => Values::Amount,
        };
        let field = field.clone();
        let columns = Self {
            field,
            values,
            weights: None,
        };
        (columns.width() > 0).then_some(columns)
    }

    /// The same beside weights that are written so.
    pub(in crate::data::schema) fn weighed_by(self, weights: Option<Reading>) -> Self {
        Self { weights, ..self }
    }

    pub(in crate::data::schema) fn width(&self) -> usize {
        match &self.values {
            Values::Amount => 1,
            Values::Classes(classes) => classes.len(),
        }
    }

    /// What means of its columns are called.
    pub(in crate::data::schema) fn names(&self) -> Vec<String> {
        let classes = match &self.values {
            Values::Amount => return vec![format!("mean of {}", self.field.name)],
            Values::Classes(classes) => classes,
        };
        let name = |&class: &f64| match &self.field.kind {
            Kind::Categories(all) => format!("share of {}", all[class as usize]),
            _ => format!("share of {class}"),
        };
        classes.iter().map(name).collect()
    }

    /// Its columns in a row; amounts less `shift`.
    pub(in crate::data::schema) fn put(&self, value: f64, shift: f64, columns: &mut [f64]) {
        match &self.values {
            Values::Amount => columns[0] = value - shift,
            Values::Classes(classes) => {
                for (column, class) in columns.iter_mut().zip(classes) {
                    *column = f64::from(u8::from(value == *class));
                }
            }
        }
    }

    /// Returns an encoder of the target and the weights of rows.
    pub(in crate::data::schema) fn encoder(&self, places: &Places, no_value: &NoValue) -> Encoder {
        let targets = vec![self.field.clone()];
        without_features(targets, (places, no_value, self.weights.as_ref()))
    }

    /// Reads `table` once, as far as rows are `taken`, and hands over each text of these features
    /// in those that weigh something.
    pub(in crate::data::schema) fn each_row(
        &self,
        table: &mut dyn Table,
        (places, no_value): (&Places, &NoValue),
        (features, taken): (&[usize], &Answers),
        take: &mut dyn FnMut(Row<'_>),
    ) -> Result<()> {
        let own = Places {
            features: features.iter().map(|&j| places.features[j]).collect(),
            ..places.clone()
        };
        table.select(&own.all())?;
        let mut encoder = self.encoder(places, no_value);
        let rule = no_value.rule(table.is_typed());
        let (mut first, mut shift) = (0, None);
        let mut targets = vec![0.0; self.width()];
        while first < taken.rows()
            && let Some(mut batch) = table.next_batch(ROWS)?
        {
            let rows = batch.rows as u64;
            let texts: Vec<_> = batch.columns.drain(..features.len()).collect();
            let chunk = encoder.chunk(&*table, &batch, first)?;
            let weight = |i: usize| match (&chunk.weights, taken.get(first + i as u64)) {
                (_, false) => 0.0,
                (None, true) => 1.0,
                (Some(weights), true) => weights[i],
            };
            let weights: Vec<f64> = (0..batch.rows).map(weight).collect();
            let counted = weights.iter().position(|&weight| weight > 0.0);
            // Amounts far from 0 keep their digits.
            let shift = match (shift, counted) {
                (None, Some(i)) => *shift.insert(chunk.y[[i, 0]]),
                (shift, _) => shift.unwrap_or(0.0),
            };
            for (feature, texts) in texts.iter().enumerate() {
                cell::for_each_cell(texts, rule, |i, cell| {
                    if weights[i] > 0.0 && !matches!(cell, Cell::Missing(_)) {
                        self.put(chunk.y[[i, 0]], shift, &mut targets);
                        text_of(cell, |text| {
                            take(Row {
                                feature,
                                number: first + i as u64,
                                text,
                                weight: weights[i],
                                targets: &targets,
                            });
                        });
                    }
                    Ok::<_, Error>(())
                })?;
            }
            first += rows;
        }
        table.select(&places.all())
    }
}

/// Errors with [`Error::Parameter`] unless each of these columns is a feature that has values of
/// its own.
pub(in crate::data::schema) fn require_features(
    features: &[Field],
    names: Option<&Vec<String>>,
) -> Result<()> {
    let is_own = |name: &str| {
        let mut all = features.iter();
        all.any(|field| field.name == *name && field.width() > 0)
    };
    match names.into_iter().flatten().find(|name| !is_own(name)) {
        None => Ok(()),
        Some(name) => {
            let problem = format!("{} is no feature that has values of its own", short(name));
            Err(Error::parameter(problem).help(Remedy::words("name another column")))
        }
    }
}
