//! Amounts that are names of things: whole numbers at a word, `RM 101`, of which the target says
//! that rows of one are alike and those of numbers beside each other are not.

use super::{
    Field, Kind, NoValue, Places, Reading, TableOptions,
    survey::Answers,
    tally::Tally,
    target::{Row, Target},
};
use crate::{
    data::{Table, kinds::told},
    error::{Error, Result},
};

/// The share of the variance of the target that names explain, at least.
const ENOUGH: f64 = 0.2;
/// Rows that are looked at.
const LOOKED_AT: usize = 1 << 16;

/// Which columns that were `found` to be amounts are names of things, of features and targets in
/// their order, by the rows `taken`; weights are written as in `by`. Those named in [`TableOptions::numeric`] are amounts.
///
/// Errors as the table does.
pub(super) fn learn(
    table: &mut dyn Table,
    (places, no_value, by): (&Places, &NoValue, Option<&Reading>),
    (tallies, found): (&[Tally], &[Option<Reading>]),
    (options, taken): (&TableOptions, &Answers),
) -> Result<Vec<usize>> {
    let features = places.features.len();
    let may = |k: &usize| {
        let is_open = !options.numeric.contains(&tallies[*k].name);
        is_open && found[*k].as_ref().is_some_and(may_name)
    };
    let mine: Vec<usize> = (0..features).filter(may).collect();
    let target = match (tallies, found) {
        ([.., tally], [.., reading]) if tallies.len() == features + 1 => answer(tally, reading),
        _ => None,
    };
    let target = target.and_then(|field| Target::of(&[field], None, 2));
    let target = target.map(|target| target.weighed_by(by.cloned()));
    let Some(target) = target.filter(|_| !mine.is_empty()) else {
        return Ok(Vec::new());
    };
    let mut all = vec![(Vec::new(), Vec::new()); mine.len()];
    let take = &mut |row: Row<'_>| {
        let (x, y) = &mut all[row.feature];
        let reading = found[mine[row.feature]].as_ref();
        let value = reading.and_then(|reading| reading.value(row.text));
        if let Some(value) = value.filter(|_| x.len() < LOOKED_AT) {
            x.push(value);
            y.push(row.targets[0]);
        }
    };
    if let Err(error) = target.each_row(table, (places, no_value), (&mine, taken), take) {
        table.select(&places.all())?;
        // Whoever makes up the schema says what is wrong with a target.
        return match error {
            Error::Data { .. } => Ok(Vec::new()),
            other => Err(other),
        };
    }
    let are_names = |(x, y): &(Vec<f64>, Vec<f64>)| {
        let told = told(x, y, x.len() as f64);
        told.is_some_and(|told| told.r2 > ENOUGH)
    };
    let names = mine.iter().zip(&all).filter(|(_, rows)| are_names(rows));
    Ok(names.map(|(&k, _)| k).collect())
}

/// Whether a word stands at amounts behind which names stand as well: `RM`, `No.`, `VB`, but no
/// `kg`.
fn may_name(reading: &Reading) -> bool {
    let amount = reading.amount();
    amount.is_some_and(|amount| amount.unit.may_name())
}

/// The target as what tells: amounts, or one of two texts.
fn answer(tally: &Tally, reading: &Option<Reading>) -> Option<Field> {
    let kind = match (reading, tally.levels.kind()) {
        (Some(Reading::Number(_) | Reading::Amount(_)), _) => Kind::Number,
        (None, _) if tally.are_numbers() => Kind::Number,
        (None, Kind::Categories(all)) if all.len() == 2 => Kind::Categories(all),
        _ => return None,
    };
    Some(Field {
        name: tally.name.clone(),
        kind,
        fill: None,
        reading: reading.clone(),
    })
}
