//! The pass over a table that finds which columns of texts become means of the target.

mod sums;

use crate::data::{
    Table,
    files::table::short,
    schema::{
        Field, Kind, NoValue, Places, TableOptions,
        hashed::number_of,
        means::{OutOfFold, TargetMeans, fold_of},
        places::Answers,
        survey::target::{Row, Target, require_features},
    },
};
use crate::error::{Error, Remedy, Result};
use std::sync::Arc;
use sums::{Learnt, Sums};

/// Classes whose shares are taken.
pub(in crate::data::schema) const MOST_SHARES: usize = 8;
/// Texts of all columns times columns of the target that there is room for: 126 MB of sums.
const MOST_TEXTS: usize = 1 << 20;

/// Has those features become means of the target that are asked for, or that are hashed and say
/// something of it, by the rows `taken`: what these rows get in their place. A feature that is of
/// words becomes means where they explain more than the share in `by_words`, if there is one.
///
/// Errors with [`Error::Parameter`] where what is asked for cannot be had, and as the table does.
pub(in crate::data::schema) fn learn(
    table: &mut dyn Table,
    from: (&Places, &NoValue),
    (features, by_words): (&mut [Field], &[Option<f64>]),
    (options, target): (&TableOptions, Option<&Target>),
    taken: Answers,
) -> Result<Option<OutOfFold>> {
    let asked = options.by_target.as_ref();
    require_features(features, asked)?;
    let may = |j: usize| match (asked, &features[j]) {
        (Some(names), field) => names.contains(&field.name),
        (None, field) => match field.kind {
            Kind::Hashed(_) => !options.categorical.contains(&field.name),
            Kind::Words(_) => by_words[j].is_some(),
            _ => false,
        },
    };
    let mine: Vec<usize> = (0..features.len()).filter(|&j| may(j)).collect();
    if mine.is_empty() {
        return Ok(None);
    }
    let Some(target) = target else {
        return match asked {
            None => Ok(None),
            Some(_) => Err(unsuited()),
        };
    };
    let sums = sum(table, from, (&mine, target), &taken)?;
    let mut effects = vec![None; features.len()];
    for (&j, sums) in mine.iter().zip(sums) {
        if sums.is_full() {
            match asked {
                None => continue,
                Some(_) => return Err(too_many(table, &features[j])),
            }
        }
        let learnt = sums.finish();
        let is_best = by_words[j].is_none_or(|r2| learnt.r2() > r2);
        if asked.is_some() || (learnt.tells() && is_best) {
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
fn become_means(field: &mut Field, names: Vec<String>, learnt: Learnt) -> Vec<f64> {
    if let Some(fill) = &mut field.fill {
        fill.values = vec![0.0; names.len()];
    }
    field.kind = Kind::Means(Arc::new(TargetMeans {
        names,
        texts: learnt.texts,
        effects: learnt.effects,
    }));
    learnt.out_of_fold
}

/// The sums of the rows `taken`, of each of these features.
fn sum(
    table: &mut dyn Table,
    from: (&Places, &NoValue),
    (features, target): (&[usize], &Target),
    taken: &Answers,
) -> Result<Vec<Sums>> {
    let width = target.width();
    let most = MOST_TEXTS / (features.len() * width);
    let mut all: Vec<Sums> = features.iter().map(|_| Sums::new(width, most)).collect();
    let add = &mut |row: Row<'_>| {
        let (text, fold) = (number_of(row.text), fold_of(row.number));
        all[row.feature].add(text, fold, row.weight, row.targets);
    };
    target.each_row(table, from, (features, taken), add)?;
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
