//! Columns of numbers and texts: codes (`136A` and `136`), categories (`3+` and `0`), or typos.

use super::{Tally, number_of};
use crate::data::{Table, schema::Kind};
use crate::error::Error;
use std::collections::HashSet;

/// Maximum number of distinct codes, which bounds the memory for their hashes.
const MAX_CODES: usize = 1 << 16;
/// Maximum number of distinct cells of a column that is categorical whatever its texts: a typo
/// costs at most one category.
const MAX_ARBITRARY_CATEGORIES: usize = 20;
/// Minimum number of rows per code and per class, on average.
const MIN_ROWS_PER_CODE: usize = 2;
const MIN_ROWS_PER_CLASS: usize = 3;
/// Maximum number of classes of numbers and texts, as for a target of whole numbers.
const MAX_CLASSES: usize = 32;

impl Tally {
    /// Error of a column of numbers and texts that may be categorical; `None` for other columns.
    pub(in crate::data::schema) fn mixed_types_error(
        &self,
        table: &dyn Table,
        j: usize,
    ) -> Option<Error> {
        let error = self.two_kinds(table, j)?;
        let may = self.are_mostly_texts() || self.may_be_codes();
        let may = may && self.reading.is_none() && !self.as_text;
        let place = (table, j, self.name.as_str());
        let error = self.understood(place).err().unwrap_or(error);
        may.then(|| self.about_target(error))
    }

    /// Whether more cells are texts than numbers and dates.
    fn are_mostly_texts(&self) -> bool {
        let [numbers, dates, truths, texts] = self.cells;
        texts + truths > numbers + dates
    }

    /// Whether the cells are mostly whole numbers, and some are texts.
    pub(super) fn may_be_codes(&self) -> bool {
        let [numbers, dates, truths, texts] = self.cells;
        numbers >= texts && texts > 0 && dates + truths == 0 && !self.has_fraction
    }

    /// Treats all cells as texts from now on, and counts the distinct ones.
    pub(in crate::data::schema) fn treat_as_categories(&mut self) {
        self.take_as_text();
        self.distinct = Some(HashSet::new());
    }

    pub(super) fn count_category(&mut self, text: &str) {
        if let Some(distinct) = self.distinct.as_mut()
            && distinct.len() <= MAX_CODES
        {
            distinct.insert(number_of(text));
        }
    }

    /// Whether a column with the statistics `first` before it was treated as text is categorical:
    /// it is mostly texts, or its codes or categories repeat.
    pub(in crate::data::schema) fn is_categorical(&self, first: &Self) -> bool {
        let Some(distinct) = self.distinct.as_ref().map(HashSet::len) else {
            return true;
        };
        let rows: u64 = first.cells.iter().sum();
        let recur = |times: usize| rows >= (times * distinct) as u64;
        if first.are_mostly_texts() {
            return self.is_feature || !matches!(self.levels.kind(), Kind::Hashed(_));
        }
        if !self.is_feature {
            return distinct <= MAX_CLASSES && recur(MIN_ROWS_PER_CLASS);
        }
        let are_codes = !first.has_word && first.cells[3] > 1 && distinct <= MAX_CODES;
        let may = distinct <= MAX_ARBITRARY_CATEGORIES || are_codes;
        may && recur(MIN_ROWS_PER_CODE)
    }

    /// First cell of the rarer type, with its row, and whether the others are texts.
    pub(in crate::data::schema) fn odd_cell(&self) -> Option<(u64, &str, bool)> {
        let are_texts = self.are_mostly_texts();
        let cell = &self.first[if are_texts { 0 } else { 3 }];
        let (row, text) = cell.as_ref().or(self.first[1].as_ref())?;
        Some((*row, text, are_texts))
    }
}
