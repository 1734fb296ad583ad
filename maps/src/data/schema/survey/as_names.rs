//! Whole numbers at a word, of which the target says what they are: amounts at a word of such are
//! names of things, `RM 101`, where rows of one are alike and those of numbers beside each other
//! are not, and texts, `R403`, `No. 17`, are amounts where those beside each other are alike.

use super::{
    Field, Kind, NoValue, Places, Reading, TableOptions,
    places::Answers,
    tally::Tally,
    target::{Row, Target},
};
use crate::{
    data::{
        Table,
        kinds::{are_amounts, told},
    },
    error::{Error, Result},
};

/// The share of the variance of the target that names at a word of amounts explain, at least.
const ENOUGH: f64 = 0.2;
/// Rows that are looked at.
const LOOKED_AT: u64 = 1 << 16;

/// Features by their places.
#[derive(Debug, Default)]
pub(in crate::data::schema) struct Named {
    /// Those that are names, whether they were found to be amounts or taken for texts.
    pub(in crate::data::schema) names: Vec<usize>,
    /// Those that were taken for texts, and are these amounts.
    pub(in crate::data::schema) amounts: Vec<(usize, Reading)>,
    /// Those that may be either, of which the target does not say which, or there is none.
    pub(in crate::data::schema) untold: Vec<usize>,
}

/// Which features that were `found` to be amounts are names, and which texts are amounts, by the
/// rows `taken`; `tallies` are of features and targets in their order, and weights are written as
/// in `by`. Those named in [`TableOptions::numeric`] stay what they are, and so do texts that
/// count the rows.
///
/// Errors as the table does.
pub(in crate::data::schema) fn learn(
    table: &mut dyn Table,
    (places, no_value, by): (&Places, &NoValue, Option<&Reading>),
    (tallies, found): (&[Tally], &[Option<Reading>]),
    (options, taken): (&TableOptions, &Answers),
) -> Result<Named> {
    let features = places.features.len();
    let mine = in_question(&tallies[..features], found, options);
    let target = match (tallies, found) {
        ([.., tally], [.., reading]) if tallies.len() == features + 1 => answer(tally, reading),
        _ => None,
    };
    let target = target.and_then(|field| Target::from_fields(&[field], None, 2));
    let target = target.map(|target| target.weighed_by(by.cloned()));
    let texts = mine.iter().map(|(k, _)| *k).filter(|&k| found[k].is_none());
    let untold = Named {
        untold: texts.filter(|&k| !tallies[k].are_numbered()).collect(),
        ..Named::default()
    };
    let Some(target) = target.filter(|_| !mine.is_empty()) else {
        return Ok(untold);
    };
    let mut all = vec![(Vec::new(), Vec::new()); mine.len()];
    let take = &mut |row: Row<'_>| {
        let (x, y) = &mut all[row.feature];
        if let Some(value) = mine[row.feature].1.value(row.text) {
            x.push(value);
            y.push(row.targets[0]);
        }
    };
    let taken = taken.first(LOOKED_AT);
    let places_of: Vec<usize> = mine.iter().map(|(k, _)| *k).collect();
    if let Err(error) = target.each_row(table, (places, no_value), (&places_of, &taken), take) {
        table.select(&places.all())?;
        // Whoever makes up the schema says what is wrong with a target.
        return match error {
            Error::Data { .. } => Ok(untold),
            other => Err(other),
        };
    }
    let mut named = Named::default();
    for ((k, reading), rows) in mine.into_iter().zip(&all) {
        named.judge((k, reading), rows, (&tallies[k], found[k].is_none()));
    }
    Ok(named)
}

impl Named {
    /// Adds what the values and the targets of the rows of feature `k` say of it, which was taken
    /// for text or was found to be amounts.
    fn judge(
        &mut self,
        (k, reading): (usize, Reading),
        (x, y): &(Vec<f64>, Vec<f64>),
        (tally, is_text): (&Tally, bool),
    ) {
        let least = if is_text { 0.0 } else { ENOUGH };
        let are_names = || told(x, y, x.len() as f64).is_some_and(|told| told.r2 > least);
        if is_text && are_amounts(x, y) {
            self.amounts.push((k, reading));
        } else if are_names() {
            self.names.push(k);
        } else if is_text && !tally.are_numbered() {
            self.untold.push(k);
        }
    }
}

/// The features that may be either, and how each is read as amounts.
fn in_question(
    features: &[Tally],
    found: &[Option<Reading>],
    options: &TableOptions,
) -> Vec<(usize, Reading)> {
    let reading = |tally: &Tally, found: &Option<Reading>| {
        let is_open = !options.numeric.contains(&tally.name);
        let behind = || {
            tally
                .amount_behind()
                .filter(|_| !tally.count_rows_behind_a_word())
        };
        let own = found.clone();
        is_open.then(|| own.map_or_else(behind, |own| Some(own).filter(may_name)))?
    };
    let all = features.iter().zip(found).enumerate();
    all.filter_map(|(k, (tally, found))| Some((k, reading(tally, found)?)))
        .collect()
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
