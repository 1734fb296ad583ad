//! Amounts of a column that have no one unit, and limits in the place of amounts.

use super::Candidates;
use crate::data::schema::{Reading, amount::Unit};

impl Candidates {
    /// The first cell and this one, if they are amounts in two units, and whether these are known,
    /// or one but for capitals.
    pub(super) fn two_units(
        &self,
        row: u64,
        text: &str,
        kind: &Reading,
    ) -> Option<([(u64, String); 2], bool)> {
        let (own, other) = (&kind.amount()?.unit, Unit::parse(text)?);
        let first = self.first.clone().filter(|_| own.name != other.name)?;
        let are_known = own.is_known() && other.is_known();
        let are_known = are_known || own.differs_in_capitals(&other);
        Some(([first, (row, text.to_owned())], are_known))
    }

    /// The first cells in two units, where amounts of a column have no one unit; `known` asks for
    /// those that are no words that end texts.
    pub(in crate::data::schema) fn units(&self, known: bool) -> Option<&[(u64, String); 2]> {
        let (cells, are_known) = self.units.as_ref()?;
        Some(cells).filter(|_| *are_known || !known)
    }

    /// Whether a text is a limit and no cell before it was read: a column of limits alone holds
    /// none beside amounts.
    pub(in crate::data::schema) fn is_of_limits(&self, text: &str) -> bool {
        self.cells == 0 && is_limit(text)
    }
}

/// Whether text is a limit that a value is below or above, `<5`, `1000+`.
pub(in crate::data::schema) fn is_limit(text: &str) -> bool {
    let text = text.trim();
    let is_digit = |c: char| c.is_ascii_digit();
    if let Some(number) = text.strip_suffix('+') {
        return number.starts_with(is_digit) && number.ends_with(is_digit);
    }
    let rest = text.strip_prefix(['<', '>', '\u{2264}', '\u{2265}']);
    let rest = rest.map(|rest| rest.strip_prefix('=').unwrap_or(rest).trim_start());
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || "-.,".contains(c)))
}
