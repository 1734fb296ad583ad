//! The columns that a table has, each with the columns of numbers that it became.

use super::ChunkSource;
use crate::{Error, Result};
use std::ops::Range;

/// A column of a table: a text is one column however many numbers it became.
#[derive(Debug, Clone, PartialEq, Eq)]
#[doc(hidden)]
pub struct TableColumn {
    /// What the table calls it, or its number from 0.
    pub name: String,
    /// The columns of numbers that it became.
    pub places: Range<usize>,
}

/// Columns that are named where one is not found.
const NAMED: usize = 3;

impl TableColumn {
    /// Those of rows of so many numbers, each a column by itself.
    pub(super) fn of_numbers(names: Option<&[String]>, columns: usize) -> Vec<Self> {
        let name = |j: usize| names.map_or_else(|| j.to_string(), |names| names[j].clone());
        let column = |j| Self {
            name: name(j),
            places: j..j + 1,
        };
        (0..columns).map(column).collect()
    }

    /// Those of a source.
    pub fn of_source(source: &dyn ChunkSource) -> Vec<Self> {
        match source.schema() {
            Some(schema) => schema.table_columns(),
            None => Self::of_numbers(source.column_names().as_deref(), source.columns()),
        }
    }

    /// The place of the column of this name among `all`. Errors with [`Error::Parameter`] where
    /// there is none, with the names that are nearest to it.
    pub fn find(all: &[Self], name: &str) -> Result<usize> {
        let found = all.iter().position(|column| column.name == name);
        found.ok_or_else(|| {
            let mut near: Vec<(usize, &str)> = all
                .iter()
                .map(|column| (edits(name, &column.name), column.name.as_str()))
                .collect();
            near.sort_by_key(|&(edits, _)| edits);
            let near = near.iter().take(NAMED).map(|(_, name)| *name);
            let near = near.collect::<Vec<_>>().join(", ");
            let count = all.len();
            Error::parameter(format!(
                "no column is called '{name}'; the nearest of {count} are {near}"
            ))
        })
    }
}

/// How many letters are put in, left out or exchanged between two words, whatever their case
/// (Levenshtein 1966).
fn edits(a: &str, b: &str) -> usize {
    let letters = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
    let (a, b) = (letters(a), letters(b));
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, own) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let exchanged = diagonal + usize::from(own != other);
            diagonal = row[j + 1];
            row[j + 1] = exchanged.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_column_is_told_with_its_neighbours() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        let names = ["age", "income", "incomes", "city"].map(str::to_owned);
        let all = TableColumn::of_numbers(Some(&names), 4);
        assert_eq!(TableColumn::find(&all, "city").expect("is there"), 3);
        let error = TableColumn::find(&all, "incme").expect_err("is not there");
        let told = "no column is called 'incme'; the nearest of 4 are income, incomes, ";
        assert!(error.to_string().contains(told), "{error}");
    }
}
