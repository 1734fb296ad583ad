//! What each row counts for: a column whose cells are read as those of any other.

use super::{
    NoValue, Places, Reading, TableOptions,
    cell::{self, Cell},
    points::Marked,
    tally::Tally,
};
use crate::data::{Column, Table};
use crate::error::{Error, Result};

/// Rows that are read at a time.
const ROWS: usize = 4096;
/// What is wrong with a cell that is none.
pub(in crate::data) const NO_WEIGHT: &str =
    "is no weight; weights are finite numbers and not negative";

/// The column of weights and how its cells are read, if not plainly: by a pass of its own, for the
/// rows of all others count by it from the first on.
///
/// Errors as [`Tally::found`] does, and as the table does.
pub(in crate::data::schema) fn learn(
    table: &mut dyn Table,
    (places, no_value): (&Places, &NoValue),
    options: &TableOptions,
) -> Result<Option<(Tally, Reading)>> {
    let (Some(j), Some(name)) = (places.weight, &options.weight) else {
        return Ok(None);
    };
    let mut tally = Tally::new(
        name.clone(),
        false,
        (options, table.has_decimal_commas(), table.is_typed()),
    );
    let rule = no_value.rule(table.is_typed());
    table.select(&[j])?;
    let (mut first, mut are_plain) = (0, true);
    while let Some(batch) = table.next_batch(ROWS)? {
        if !matches!(batch.columns[0], Column::Text(_)) {
            break;
        }
        cell::for_each_cell(&batch.columns[0], rule, |i, cell| {
            let row = first + i as u64;
            are_plain &= match cell {
                Cell::Text(text) => text.parse::<f64>().is_ok(),
                _ => true,
            };
            // What is infinite is no weight, as is said where rows are read by them.
            tally.add((row, row), cell, 1.0);
            Ok::<_, Error>(())
        })?;
        first += batch.rows as u64;
    }
    table.rewind()?;
    // Weights to a thousandth, `1.000`, are no thousands.
    if are_plain && options.decimal.is_none() && options.thousands.is_none() {
        return Ok(None);
    }
    let reading = tally.found((&*table, j), Marked::default())?;
    let is_amount = |reading: &Reading| matches!(reading, Reading::Number(_) | Reading::Amount(_));
    let reading = reading.filter(is_amount);
    Ok(reading.map(|reading| (tally, reading)))
}

/// A weight, or what is wrong with it.
pub(in crate::data::schema) fn read_weight(
    cell: Cell<'_>,
    reading: Option<&Reading>,
) -> std::result::Result<f64, &'static str> {
    let found = match (cell, reading) {
        (Cell::Number(value), _) => Some(value),
        (Cell::Text(text), Some(reading)) => reading.value(text),
        (Cell::Text(text), None) => text.parse().ok(),
        _ => None,
    };
    match found {
        Some(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err(NO_WEIGHT),
    }
}
