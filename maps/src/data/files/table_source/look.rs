//! A look at the first rows of a table of numbers, for columns that are not what they seem.

use super::TableSource;
use crate::data::{
    Column,
    schema::{Codes, Marked, Packed, Places, Points, may_hold_copies, numbers_rows},
};
use crate::error::Result;

/// Rows that are looked at before a table of numbers is searched for columns that are not what they
/// seem.
const FIRST_ROWS: usize = 256;
/// Rows that are looked at for codes and dates, where the first ones are whole numbers of one
/// length.
const CODED_ROWS: usize = 1 << 16;

impl TableSource {
    /// Whether all rows of a table of numbers are to be looked at, by the names of its features and
    /// its first rows: a column may number rows, be a copy, or hold thousands with points.
    pub(super) fn may_mislead(&mut self, places: &Places) -> Result<bool> {
        self.table.select(&places.all())?;
        let first = self.table.next_batch(FIRST_ROWS);
        self.table.rewind()?;
        // Whoever reads the rows says what is wrong with them.
        let Ok(Some(batch)) = first else {
            return Ok(false);
        };
        let features = &batch.columns[..places.features.len()];
        let names = self.names(&places.features);
        let leaves_out = !self.options.table.all_columns && names.len() > 1;
        let left_out = || names.iter().any(|name| numbers_rows(name)) || may_hold_copies(features);
        Ok((leaves_out && left_out()) || may_hold_thousands(&batch.columns))
    }

    /// Whether a feature is all codes, or dates without a mark, as far as the rows that are looked
    /// at go, more of them where the first leave it open. What may be dates still then is looked
    /// at in all rows.
    pub(super) fn may_hold_codes(&mut self, places: &Places) -> Result<bool> {
        let table = &self.options.table;
        let is_open = |&j: &usize| !table.numeric.contains(&self.table.names()[j]);
        let mut open: Vec<usize> = places.features.iter().copied().filter(is_open).collect();
        let mut found = false;
        for rows in [FIRST_ROWS, CODED_ROWS] {
            if open.is_empty() || found {
                break;
            }
            let seen = self.codes(&open, rows)?;
            let are_codes = |(codes, _): &(Codes, Packed)| self.options.table.codes && codes.are();
            let dates = |(_, packed): &(Codes, Packed)| packed.may_be_dates();
            found = seen.iter().any(are_codes) || (rows == CODED_ROWS && seen.iter().any(dates));
            let may_be = open
                .iter()
                .zip(&seen)
                .filter(|(_, (codes, _))| codes.may_be());
            open = may_be.map(|(&j, _)| j).collect();
        }
        self.table.select(&places.all())?;
        Ok(found)
    }

    /// What the first rows of these columns have in common with codes, and with such dates.
    fn codes(&mut self, columns: &[usize], rows: usize) -> Result<Vec<(Codes, Packed)>> {
        let mut seen: Vec<_> = columns
            .iter()
            .map(|_| <(Codes, Packed)>::default())
            .collect();
        self.table.select(columns)?;
        let mut left = rows;
        // Whoever reads the rows says what is wrong with them.
        while left > 0
            && let Ok(Some(batch)) = self.table.next_batch(left.min(FIRST_ROWS))
        {
            left -= batch.rows;
            for ((codes, packed), column) in seen.iter_mut().zip(&batch.columns) {
                codes.see_all(column);
                packed.see_all(column);
            }
        }
        Ok(seen)
    }
}

/// Whether a column of a few rows may hold thousands with points between them, or months of years.
fn may_hold_thousands(columns: &[Column]) -> bool {
    let of = |column: &Column| {
        let mut points = Points::default();
        if let Column::Text(texts) = column {
            texts.iter().flatten().for_each(|text| points.see(text));
        }
        points
    };
    let all: Vec<Points> = columns.iter().map(of).collect();
    let mut marked = Marked::default();
    all.iter().for_each(|points| marked.see(points));
    all.iter()
        .any(|points| points.are_months() || points.may_part_thousands(marked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Texts;

    /// The first rows of many may have late months alone, which the rest has not.
    #[test]
    fn months_are_looked_for_where_no_zero_has_come() {
        let may = |cells: &[&str]| {
            let mut texts = Texts::default();
            cells.iter().for_each(|text| texts.push(text));
            may_hold_thousands(&[Column::Text(texts)])
        };
        assert!(may(&["10.2021", "11.2021", "12.2021"]));
        assert!(!may(&["10.2021", "11.5"]) && !may(&["13.2021"]) && !may(&[]));
    }
}
