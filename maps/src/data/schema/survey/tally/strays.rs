//! Texts that stand among numbers for no value.

use super::Tally;
use crate::data::schema::survey::candidates::is_limit;
use crate::error::{Error, Remedy};

/// Limits that are named, at most.
const LIMITS: usize = 8;

impl Tally {
    /// Takes note of a limit, `<5`. One with a comma stands in no list of texts.
    pub(super) fn see_limit(&mut self, text: &str) {
        let is_new = || !self.limits.iter().any(|own| own == text);
        if self.limits.len() < LIMITS && !text.contains(',') && is_limit(text) && is_new() {
            self.limits.push(text.to_owned());
        }
    }

    /// What stands for no value where this text does: it, what does so already, and limits beside
    /// a limit.
    pub(super) fn no_values(&self, stray: &str) -> Vec<String> {
        let told = self.missing.iter().map(|(_, text)| text.as_str());
        let limits = self.limits.iter().map(String::as_str);
        let limits = limits.filter(|_| is_limit(stray));
        let all = told.chain([stray]).chain(limits);
        let mut all: Vec<String> = all
            .filter(|text| !text.is_empty() && !text.contains([',', '\'']))
            .map(str::to_owned)
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The error without advice that is for features alone, where the column is a target of
    /// amounts: it has no kinds, and cannot be left out.
    pub(super) fn about_target(&self, error: Error) -> Error {
        let are_amounts = self.has_many_texts() || self.labels.is_none();
        if self.is_feature {
            return error;
        }
        let error = error.instead(&Remedy::Ignore(self.name.clone()), None);
        if are_amounts {
            error.instead(&Remedy::Categorical(self.name.clone()), None)
        } else {
            error
        }
    }
}
