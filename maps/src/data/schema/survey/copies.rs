//! Columns that hold the same in each row as one before them.

use super::{
    MissingRule,
    cell::{self, Cell},
    hashed::number_of,
};
use crate::data::{files::table::Column, parting::hash};
use std::collections::{HashMap, HashSet};

/// Rows below which two columns may be equal by chance.
const FEW_ROWS: u64 = 20;
/// Values that a column of a few rows takes at least, if its likeness to another is to say
/// something: pixels at an edge are alike for long.
const FEW_VALUES: usize = 16;

/// What a column holds, folded into 64 bits in the order of its rows. Columns of different values
/// have the same by chance alone, once in 2^64.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::data::schema) struct Contents {
    rows: u64,
    folded: u64,
    first: u64,
    varies: bool,
}

impl Contents {
    pub(in crate::data::schema) fn add(&mut self, held: u64) {
        match self.rows {
            0 => self.first = held,
            _ => self.varies |= held != self.first,
        }
        self.rows += 1;
        self.folded = hash(self.folded, held);
    }
}

/// Of each column the place of the first that holds the same, if that is another. Columns that are
/// left out, which have none here, and columns of one value all over are neither.
pub(in crate::data::schema) fn originals(columns: &[Option<Contents>]) -> Vec<Option<usize>> {
    let mut first = HashMap::new();
    let places = columns.iter().enumerate().map(|(j, column)| {
        let tells = column.filter(|column| column.varies && column.rows >= FEW_ROWS);
        let original = tells.map(|column| *first.entry(column.folded).or_insert(j));
        original.filter(|&original| original != j)
    });
    places.collect()
}

/// Whether two of these columns of a few rows are the same, so that a look at all rows may be
/// worth it.
pub(in crate::data) fn may_hold_copies(columns: &[Column]) -> bool {
    let mut seen = HashSet::new();
    columns.iter().any(|column| {
        let (mut contents, mut values) = (Contents::default(), HashSet::new());
        let Ok(()) = cell::for_each_cell(column, MissingRule::NONE, |_, cell| {
            let held = number(cell);
            contents.add(held);
            values.insert(held);
            Ok::<_, std::convert::Infallible>(())
        });
        let tells = contents.rows >= FEW_ROWS && values.len() >= FEW_VALUES;
        tells && !seen.insert(contents.folded)
    })
}

/// What stands for no value.
pub(in crate::data::schema) const MISSING: u64 = 0;

/// What stands for a number, a date or a truth value: of another kind it is another.
pub(in crate::data::schema) fn of_value(kind: usize, value: f64) -> u64 {
    hash(1 + kind as u64, (value + 0.0).to_bits())
}

/// What stands for a text that is none of these.
pub(in crate::data::schema) fn of_text(text: &str) -> u64 {
    hash(0, number_of(text))
}

/// What stands for a cell: a number has the same in any spelling.
fn number(cell: Cell<'_>) -> u64 {
    match cell {
        Cell::Missing(_) => MISSING,
        Cell::Number(value) => of_value(0, value),
        Cell::Date(value) => of_value(1, value),
        Cell::Boolean(value) => of_value(2, f64::from(u8::from(value))),
        Cell::Text(text) => match text.parse() {
            Ok(value) => of_value(0, value),
            Err(_) => of_text(text),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(value: impl Fn(u64) -> f64, rows: u64) -> Contents {
        let mut contents = Contents::default();
        (0..rows).for_each(|i| contents.add(number(Cell::Number(value(i)))));
        contents
    }

    #[test]
    fn the_same_in_each_row_is_a_copy() {
        let wave = |i: u64| (i as f64).sin();
        let columns = [
            contents(|_| 3.0, 30),
            contents(wave, 30),
            contents(|_| 3.0, 30),
            contents(wave, 30),
            contents(|i| if i == 29 { 0.5 } else { wave(i) }, 30),
            // The same values in another order.
            contents(|i| wave(29 - i), 30),
            contents(wave, 30),
            // Signs alone differ, twice.
            contents(|i| if i % 2 == 0 { 1.0 } else { -1.0 }, 30),
            contents(|i| if i % 2 == 1 { 1.0 } else { -1.0 }, 30),
        ];
        let wanted = [None, None, None, Some(1), None, None, Some(1), None, None];
        let mut columns = columns.map(Some);
        assert_eq!(originals(&columns), wanted);
        // Without the first, the second of the same is it.
        columns[1] = None;
        assert_eq!(
            originals(&columns)[..7],
            [None, None, None, None, None, None, Some(3)]
        );
        let few = [contents(wave, 19), contents(wave, 19)].map(Some);
        assert_eq!(originals(&few), [None, None]);
    }

    #[test]
    fn a_number_is_the_same_in_any_spelling() {
        let like = |a: &str, b: &str| number(Cell::Text(a)) == number(Cell::Text(b));
        assert!(like("1", "1.0") && like("-0", "0") && like("1e3", "1000"));
        assert!(!like("1", "1a") && !like("a", "b"));
        assert_eq!(number(Cell::Text("2.5")), number(Cell::Number(2.5)));
        assert_ne!(number(Cell::Date(1.0)), number(Cell::Number(1.0)));
        assert_ne!(number(Cell::Boolean(true)), number(Cell::Number(1.0)));
    }

    #[test]
    fn a_few_rows_with_few_values_say_nothing() {
        let batch = |values: usize, rows: usize| {
            let one = || Column::Numbers((0..rows).map(|i| (i % values) as f64).collect());
            may_hold_copies(&[one(), one()])
        };
        assert!(batch(16, 20));
        assert!(!batch(15, 40));
        assert!(!batch(19, 19));
    }
}
