//! Rows that are totals of groups, `North Total` behind the rows of `North`.

use crate::data::{Texts, schema::total_of};
use std::collections::{BTreeMap, HashSet};

/// Different texts of a column at most: groups are few.
const MOST: usize = 1024;
/// Totals of groups in a table, at least.
const SEVERAL: usize = 2;

/// The texts of each column, and those that are totals of one.
#[derive(Debug, Default)]
pub(super) struct Groups(BTreeMap<usize, Column>);

#[derive(Debug, Default)]
struct Column {
    texts: HashSet<String>,
    /// Rows of totals, and what each says.
    totals: Vec<(u64, String)>,
    /// Whether there are more texts than are kept, or a total is there twice.
    is_full: bool,
}

impl Groups {
    /// Takes the texts of rows of a column, of which the first has this number.
    pub(super) fn see(&mut self, column: usize, first: u64, texts: &Texts) {
        let column = self.0.entry(column).or_default();
        for (row, text) in (first..).zip(texts.iter()) {
            let Some(text) = text.filter(|_| !column.is_full) else {
                continue;
            };
            if total_of(text).is_some() {
                // A group has one total, and a kind several rows.
                column.is_full |= column.totals.iter().any(|(_, own)| own == text);
                column.totals.push((row, text.to_owned()));
            } else if !column.texts.contains(text) {
                column.texts.insert(text.to_owned());
            }
            column.is_full |= column.texts.len().max(column.totals.len()) > MOST;
        }
    }

    /// The first column in which each text that looks like a total is one of another text: the
    /// first of them with its row, and how many there are.
    pub(super) fn found(self) -> Option<(usize, (u64, String), usize)> {
        self.0.into_iter().find_map(|(k, column)| {
            let is_own = |(_, text): &(u64, String)| {
                total_of(text).is_some_and(|group| column.texts.contains(group))
            };
            let are = column.totals.len() >= SEVERAL && column.totals.iter().all(is_own);
            let count = column.totals.len();
            let first = column.totals.into_iter().next()?;
            (are && !column.is_full).then_some((k, first, count))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_groups_are_those_of_texts_that_are_there() {
        let found = |rows: &[&str]| {
            let mut groups = Groups::default();
            for (i, rows) in rows.chunks(2).enumerate() {
                let mut texts = Texts::default();
                rows.iter().for_each(|text| texts.push(text));
                groups.see(3, 2 * i as u64, &texts);
            }
            groups.found()
        };
        let rows = ["N", "N", "N Total", "S", "S Total", "W"];
        assert_eq!(found(&rows), Some((3, (2, "N Total".into()), 2)));
        assert_eq!(found(&rows[..4]), None);
        assert_eq!(found(&[&rows[..], &["N Total"]].concat()), None);
        assert_eq!(found(&["N", "N Total", "S", "Gas Total"]), None);
        assert_eq!(found(&["Total Gas", "Total Oil", "Shell"]), None);
    }
}
