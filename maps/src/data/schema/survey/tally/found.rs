//! How the cells of a column are read, and whether its texts are names.

use super::{
    Marked, Marks, Reading, Tally, Unit, is_label, is_number,
    questions::{self, ColumnAt},
};
use crate::data::{Table, files::table::short};
use crate::error::{Remedy, Result};

/// Classes that are more than people give names to.
const MANY_CLASSES: usize = 64;
/// Texts that are many where each has fewer rows than so many.
const MANY_OF_FEW: u64 = 20;
const ROWS_OF_A_KIND: u64 = 4;
impl Tally {
    /// How its cells are read, if not plainly. Errors where they may be read in two ways, and where
    /// a text stands among many cells that can be read.
    pub(in crate::data::schema) fn found(
        &self,
        column: (&dyn Table, usize),
        marked: Marked,
    ) -> Result<Option<Reading>> {
        self.found_or_asked(column, marked)
            .map_err(|error| self.about_target(error))
    }

    /// As [`Self::found`], with errors as those of features.
    fn found_or_asked(
        &self,
        (table, j): (&dyn Table, usize),
        marked: Marked,
    ) -> Result<Option<Reading>> {
        let [_, date, truth, text] = &self.first;
        let is_plain = date.is_some() || truth.is_some();
        if self.as_text || (is_plain && self.candidates.given_date().is_none()) {
            return Ok(None);
        }
        let place = (table, j, self.name.as_str());
        if let Some(clocks) = self.candidates.two_clocks() {
            return Err(questions::two_clocks(place, clocks));
        }
        if let Some(packed) = self.candidates.packed().filter(|_| self.is_feature) {
            return Ok(Some(packed));
        }
        match self.candidates.found(marked) {
            Ok(Some(found)) if self.are_names(&found) => {}
            Ok(None) => {}
            Ok(found) => return Ok(found),
            Err(ambiguous) => return Err(questions::ambiguous(place, &ambiguous)),
        }
        if let Some(units) = self.candidates.units(true) {
            return Err(questions::two_units(place, units));
        }
        if let Some(zone) = self.candidates.zone() {
            return Err(questions::unknown_zone(place, zone));
        }
        match (text, self.candidates.stray()) {
            (Some(_), Some((row, text, reading))) => {
                let says = format!("holds the text {} among {reading}", short(text));
                let error = table.fault(row, j, &says);
                let stray = (Some(text), self.no_values(text));
                Err(questions::cured(error, stray, self.name.clone()))
            }
            (Some(cell), None) if self.as_numbers && self.first[0].is_none() => {
                Err(questions::no_numbers(place, cell, self.is_feature))
            }
            // Rows tell what these are.
            (Some(_), None) if self.amount_behind().is_some() || self.may_be_codes() => Ok(None),
            (Some(_), None) => self.understood(place).map(|()| None),
            _ => Ok(None),
        }
    }

    /// Errors where many texts are amounts or dates that are read as none.
    pub(in crate::data::schema) fn understood(&self, place: ColumnAt<'_>) -> Result<()> {
        if !self.has_many_texts() {
            return Ok(());
        }
        match (self.sketches.not_understood(), &self.first[0]) {
            (Some(cell), Some(number)) if Unit::parse(&cell.1).is_some() => {
                Err(questions::some_in_units(place, (cell, number)))
            }
            (Some(cell), _) => {
                if let Some(units) = self.candidates.units(false) {
                    return Err(questions::two_units(place, units));
                }
                let error = questions::not_understood(place, cell, self.is_feature);
                let help = Remedy::Numeric(self.name.clone());
                Err(if self.sketches.are_alike() {
                    error.help(help)
                } else {
                    error
                })
            }
            (None, _) => Ok(()),
        }
    }

    /// Whether numbers behind a sign such as `No.` or a label are names of things: they are few,
    /// recur often where they are no target, or, behind a sign, have as many digits. Nobody said
    /// that they are numbers.
    fn are_names(&self, found: &Reading) -> bool {
        let recur = self.is_feature && self.sketches.recur_often();
        let vary = is_label(found) || self.candidates.digits_vary();
        let may = !self.as_numbers && (is_number(found) || is_label(found));
        may && (recur || !(vary && self.has_many_texts()))
    }

    /// Whether there are more texts than people give names to, or hardly more rows than texts.
    pub(super) fn has_many_texts(&self) -> bool {
        let different = self.levels.count() as u64;
        let are_rare = different >= MANY_OF_FEW && self.cells[3] < ROWS_OF_A_KIND * different;
        let are_classes = !self.is_feature && self.levels.count() > MANY_CLASSES;
        self.levels.are_many() || are_classes || are_rare
    }

    /// Whether each row has another whole number behind the same text: `Customer 3763`.
    pub(in crate::data::schema) fn are_numbered(&self) -> bool {
        self.levels.are_unique() && self.amount_behind().is_some()
    }

    /// Whether it does, and these go up or down from row to row.
    pub(in crate::data::schema) fn count_rows_behind_a_word(&self) -> bool {
        self.are_numbered() && self.numbered.count()
    }

    /// The amounts that its texts are if they are some: whole numbers behind one text of which
    /// nobody knows whether it stands at names.
    pub(in crate::data::schema) fn amount_behind(&self) -> Option<Reading> {
        let [number, date, truth, text] = self.first.each_ref().map(Option::is_some);
        let is_text = text && !(number || date || truth) && !self.as_text;
        let head = self
            .numbered
            .head()
            .filter(|_| is_text && self.is_feature)?;
        let amount = Unit::before(head.trim()).amount(Marks::PLAIN);
        Some(Reading::Amount(amount))
    }
}
