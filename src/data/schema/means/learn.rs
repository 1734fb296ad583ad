//! The pass over a table that finds which columns of texts become means of the target.

use super::{
    OutOfFold, TargetMeans, fold_of,
    sums::{Learnt, Sums},
};
use crate::data::{
    Table,
    schema::{
        Encoder, Field, Kind, NoValue, Places, Schema, TableOptions, cell, encode::text_of,
        hashed::number_of, survey::Answers,
    },
    table::short,
};
use crate::error::{Error, Remedy, Result};
use std::sync::Arc;

/// Classes whose shares are taken.
pub(in crate::data::schema) const MOST_SHARES: usize = 8;
/// Texts of all columns times columns of the target that there is room for: 126 MB of sums.
const MOST_TEXTS: usize = 1 << 20;
/// Rows that are read at a time.
const ROWS: usize = 4096;

/// The one target of a table as means are taken of it.
pub(in crate::data::schema) struct Target {
    field: Field,
    values: Values,
}

/// Columns that are made of a target.
enum Values {
    /// The amount.
    Amount,
    /// Whether it is each of these classes.
    Classes(Vec<f64>),
}

impl Target {
    /// What means are taken of: of amounts, or of shares of few classes. `labels` are the different
    /// values of numbers where those are few and whole. `None` of more targets, and of more
    /// classes.
    pub(in crate::data::schema) fn of(targets: &[Field], labels: Option<Vec<f64>>) -> Option<Self> {
        let [field] = targets else { return None };
        let values = match (&field.kind, labels) {
            (Kind::Categories(all), _) if all.len() > MOST_SHARES => return None,
            (Kind::Categories(all), _) => {
                Values::Classes((1..all.len()).map(|class| class as f64).collect())
            }
            // Of two or three numbers more than their mean is told by shares.
            (Kind::Number, Some(labels)) => Values::Classes(labels[1..].to_vec()),
            _ => Values::Amount,
        };
        let field = field.clone();
        let columns = Self { field, values };
        (columns.width() > 0).then_some(columns)
    }

    fn width(&self) -> usize {
        match &self.values {
            Values::Amount => 1,
            Values::Classes(classes) => classes.len(),
        }
    }

    /// What its columns are called.
    fn names(&self) -> Vec<String> {
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
    fn put(&self, value: f64, shift: f64, columns: &mut [f64]) {
        match &self.values {
            Values::Amount => columns[0] = value - shift,
            Values::Classes(classes) => {
                for (column, class) in columns.iter_mut().zip(classes) {
                    *column = f64::from(u8::from(value == *class));
                }
            }
        }
    }
}

/// Has those features become means of the target that are asked for, or that are hashed and say
/// something of it, by the rows `taken`: what these rows get in their place.
///
/// Errors with [`Error::Parameter`] where what is asked for cannot be had, and as the table does.
pub(in crate::data::schema) fn learn(
    table: &mut dyn Table,
    (places, no_value): (&Places, &NoValue),
    (features, target): (&mut [Field], Option<Target>),
    options: &TableOptions,
    taken: Answers,
) -> Result<Option<OutOfFold>> {
    let asked = options.by_target.as_ref();
    if let Some(name) = asked.into_iter().flatten().find(|name| {
        let is_own = |field: &Field| field.name == **name && field.width() > 0;
        !features.iter().any(is_own)
    }) {
        let problem = format!("{} is no feature that has values of its own", short(name));
        return Err(Error::parameter(problem).help(Remedy::words("name another column")));
    }
    let may = |field: &Field| match asked {
        Some(names) => names.contains(&field.name),
        None => {
            let is_text = options.categorical.contains(&field.name);
            matches!(field.kind, Kind::Hashed(_)) && !is_text
        }
    };
    let mine: Vec<usize> = (0..features.len()).filter(|&j| may(&features[j])).collect();
    if mine.is_empty() {
        return Ok(None);
    }
    let Some(target) = target else {
        return match asked {
            None => Ok(None),
            Some(_) => Err(unsuited()),
        };
    };
    let sums = sum(table, (places, no_value), (&mine, &target), &taken)?;
    let mut effects = vec![None; features.len()];
    for (&j, sums) in mine.iter().zip(sums) {
        if sums.is_full() {
            match asked {
                None => continue,
                Some(_) => return Err(too_many(table, &features[j])),
            }
        }
        let learnt = sums.finish();
        if asked.is_some() || learnt.tells() {
            effects[j] = Some(become_means(&mut features[j], target.names(), learnt));
        }
    }
    let any = effects.iter().any(Option::is_some);
    Ok(any.then_some(OutOfFold {
        learnt_from: taken,
        effects,
    }))
}

/// The feature is of means from now on; gives those of its training rows.
fn become_means(field: &mut Field, of: Vec<String>, learnt: Learnt) -> Vec<f64> {
    if let Some(fill) = &mut field.fill {
        fill.values = vec![0.0; of.len()];
    }
    field.kind = Kind::Means(Arc::new(TargetMeans {
        of,
        texts: learnt.texts,
        effects: learnt.effects,
    }));
    learnt.out_of_fold
}

/// The sums of the rows `taken`, of each of these features.
fn sum(
    table: &mut dyn Table,
    (places, no_value): (&Places, &NoValue),
    (features, target): (&[usize], &Target),
    taken: &Answers,
) -> Result<Vec<Sums>> {
    let own = Places {
        features: features.iter().map(|&j| places.features[j]).collect(),
        ..places.clone()
    };
    table.select(&own.all())?;
    let schema = Schema {
        features: Vec::new(),
        targets: vec![target.field.clone()],
        weight: None,
        no_value: no_value.clone(),
    };
    let beside = Places {
        features: Vec::new(),
        ..places.clone()
    };
    let mut encoder = Encoder::new(schema, beside).silent();
    let no_value = (!table.is_typed()).then_some(no_value);
    let width = target.width();
    let most = MOST_TEXTS / (features.len() * width);
    let mut all: Vec<Sums> = features.iter().map(|_| Sums::new(width, most)).collect();
    let (mut first, mut shift) = (0, None);
    while let Some(mut batch) = table.next_batch(ROWS)? {
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
        let mut columns = vec![0.0; width];
        for (sums, texts) in all.iter_mut().zip(&texts) {
            cell::each(texts, no_value, |i, cell| {
                if weights[i] > 0.0 && !matches!(cell, cell::Cell::Missing(_)) {
                    target.put(chunk.y[[i, 0]], shift, &mut columns);
                    let fold = fold_of(first + i as u64);
                    let text = text_of(cell, number_of);
                    sums.add(text, fold, weights[i], &columns);
                }
                Ok::<_, Error>(())
            })?;
        }
        first += rows;
    }
    table.select(&places.all())?;
    Ok(all)
}

fn unsuited() -> Error {
    let problem = format!(
        "columns by the target take one target, of amounts or of 2 to {MOST_SHARES} classes; this \
         table has another"
    );
    Error::parameter(problem).help(Remedy::words("leave them to be hashed"))
}

fn too_many(table: &dyn Table, field: &Field) -> Error {
    let problem = format!(
        "column {} has more different texts than there is room for by the target: {MOST_TEXTS} of \
         all such columns, times those of the target",
        short(&field.name)
    );
    Error::data(table.path(), problem).help(Remedy::words("leave it to be hashed"))
}
