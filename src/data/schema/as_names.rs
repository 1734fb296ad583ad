//! Whole numbers at a word, of which the target says what they are: names of things, `RM 101`,
//! where rows of one are alike and those of numbers beside each other are not, and amounts, `R403`,
//! where each row has another and those beside each other are alike.

use super::{
    Field, Kind, NoValue, Places, Reading, TableOptions,
    places::Answers,
    tally::Tally,
    target::{Row, Target},
};
use crate::{
    data::{
        Table,
        kinds::{are_alike, told},
    },
    error::{Error, Result},
};

/// The share of the variance of the target that names explain, at least.
const ENOUGH: f64 = 0.2;
/// Rows that are looked at.
const LOOKED_AT: u64 = 1 << 16;

/// Features by their places.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// Those that were found to be amounts, and are names.
    pub(super) names: Vec<usize>,
    /// Those that were taken for what tells rows apart, and are amounts.
    pub(super) amounts: Vec<usize>,
}

/// Which features that were `found` to be amounts are names, and which that tell rows apart are
/// amounts, by the rows `taken`; `tallies` are of features and targets in their order, and weights
/// are written as in `by`. Those named in [`TableOptions::numeric`] stay what they are.
///
/// Errors as the table does.
pub(super) fn learn(
    table: &mut dyn Table,
    (places, no_value, by): (&Places, &NoValue, Option<&Reading>),
    (tallies, found): (&[Tally], &[Option<Reading>]),
    (options, taken): (&TableOptions, &Answers),
) -> Result<Named> {
    let features = places.features.len();
    let may = |k: &usize| {
        let is_open = !options.numeric.contains(&tallies[*k].name);
        let is_own = |tally: &Tally| tally.numbers_rows_behind_a_word();
        let may = (found[*k].as_ref()).map_or_else(|| is_own(&tallies[*k]), may_name);
        is_open && may
    };
    let mine: Vec<usize> = (0..features).filter(may).collect();
    let target = match (tallies, found) {
        ([.., tally], [.., reading]) if tallies.len() == features + 1 => answer(tally, reading),
        _ => None,
    };
    let target = target.and_then(|field| Target::from_fields(&[field], None, 2));
    let target = target.map(|target| target.weighed_by(by.cloned()));
    let Some(target) = target.filter(|_| !mine.is_empty()) else {
        return Ok(Named::default());
    };
    let mut all = vec![(Vec::new(), Vec::new()); mine.len()];
    let take = &mut |row: Row<'_>| {
        let (x, y) = &mut all[row.feature];
        let value = match &found[mine[row.feature]] {
            Some(reading) => reading.value(row.text),
            None => number_behind(row.text),
        };
        if let Some(value) = value {
            x.push(value);
            y.push(row.targets[0]);
        }
    };
    let taken = taken.first(LOOKED_AT);
    if let Err(error) = target.each_row(table, (places, no_value), (&mine, &taken), take) {
        table.select(&places.all())?;
        // Whoever makes up the schema says what is wrong with a target.
        return match error {
            Error::Data { .. } => Ok(Named::default()),
            other => Err(other),
        };
    }
    let are_names = |(x, y): &(Vec<f64>, Vec<f64>)| {
        let told = told(x, y, x.len() as f64);
        told.is_some_and(|told| told.r2 > ENOUGH)
    };
    let mut named = Named::default();
    for (&k, rows) in mine.iter().zip(&all) {
        if found[k].is_some() {
            named.names.extend(are_names(rows).then_some(k));
        } else {
            named
                .amounts
                .extend(are_alike(&rows.0, &rows.1).then_some(k));
        }
    }
    Ok(named)
}

/// The whole number that a text ends with.
fn number_behind(text: &str) -> Option<f64> {
    let text = text.trim();
    let word = text.trim_end_matches(|c: char| c.is_ascii_digit());
    text[word.len()..].parse().ok()
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
