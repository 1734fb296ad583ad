//! Null tokens such as `-`: missing values in numeric columns, categories in text columns.

use super::{Reading, Tally, is_null_token};
use std::collections::BTreeMap;

/// Null tokens of a column whose type is not known yet.
#[derive(Debug)]
pub(super) struct NullTokens {
    is_enabled: bool,
    counts: BTreeMap<String, TokenCount>,
}

/// First row, number of rows and total weight of a token.
#[derive(Debug)]
struct TokenCount {
    row: u64,
    count: u64,
    weight: f64,
}

impl NullTokens {
    pub(super) fn new(is_enabled: bool) -> Self {
        Self {
            is_enabled,
            counts: BTreeMap::new(),
        }
    }

    /// Counts a cell if it is a null token; returns whether it is.
    pub(super) fn see(&mut self, row: u64, text: &str, weight: f64) -> bool {
        if !self.is_enabled || !is_null_token(text) {
            return false;
        }
        match self.counts.get_mut(text) {
            Some(known) => {
                known.count += 1;
                known.weight += weight;
            }
            None => {
                let count = 1;
                self.counts
                    .insert(text.to_owned(), TokenCount { row, count, weight });
            }
        }
        true
    }
}

impl Tally {
    /// Counts the null tokens as missing if all other cells are numbers, dates or truth values, and
    /// as categories otherwise. Returns the tokens that are missing values with their counts.
    pub(in crate::data::schema) fn resolve_null_tokens(&mut self) -> Vec<(String, u64)> {
        let [number, date, truth, text] = self.first.each_ref().map(Option::is_some);
        let is_read = !matches!(self.reading, None | Some(Reading::Answers));
        let has_values = number || date || (truth && self.is_feature) || is_read;
        let are_missing = has_values && !(text || self.as_text || self.holds_codes());
        let counts = std::mem::take(&mut self.null_tokens.counts);
        if are_missing {
            let first = counts.iter().min_by_key(|(_, token)| token.row);
            let first = first.map(|(text, token)| (token.row, text.clone()));
            let both = self.missing.take().into_iter().chain(first);
            self.missing = both.min();
            return (counts.into_iter().map(|(text, token)| (text, token.count))).collect();
        }
        for (text, token) in counts {
            self.cells[3] += token.count;
            let first = (token.row, text.clone());
            let both = self.first[3].take().into_iter().chain([first]);
            self.first[3] = both.min();
            self.levels.add(&text, token.weight);
            if token.count > 1 {
                // Marks the text as repeated.
                self.levels.add(&text, 0.0);
            }
        }
        Vec::new()
    }
}
