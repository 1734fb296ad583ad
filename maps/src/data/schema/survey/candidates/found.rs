//! The reading that all cells of a column allow, or those of which nobody can say which it is.

use super::Candidates;
use crate::data::schema::{DateFormat, Marks, Reading, century::Century, survey::points::Marked};

/// What cells of a column may be, where that is not clear.
#[derive(Debug)]
pub(in crate::data::schema) struct Ambiguous {
    pub(in crate::data::schema) row: u64,
    pub(in crate::data::schema) text: String,
    pub(in crate::data::schema) readings: Vec<Reading>,
}

impl Candidates {
    /// The reading that all cells allow, of a column that is not plain; what it may be where
    /// there are several that differ. Plain numbers may be thousands with points by `marked`.
    pub(in crate::data::schema) fn found(
        &self,
        marked: Marked,
    ) -> Result<Option<Reading>, Ambiguous> {
        if self.words > 0 {
            return Ok(None);
        }
        if let Some(given) = self.given_date() {
            return Ok(Some(given.clone()));
        }
        if self.is_plain && !self.given[0] {
            return self.of_plain(marked);
        }
        let (Some(_), Some(reading)) = (&self.first, self.readings().next()) else {
            return Ok(None);
        };
        let same = |other: &&Reading| match (reading, other) {
            (Reading::Number(a), Reading::Number(b)) => a.decimal == b.decimal,
            (Reading::Amount(a), Reading::Amount(b)) => a.marks.decimal == b.marks.decimal,
            // Of one unit alone, which stays.
            (Reading::Amount(_), Reading::Time) => true,
            (a, b) => a == *b,
        };
        let other = self.readings().find(|other| !same(other));
        let comma = |reading: &Reading| reading.marks().is_some_and(|marks| marks.decimal == ',');
        match (&self.differs, other) {
            (Some(_), Some(other))
                if self.commas && comma(reading) && has_groups(other) && !marked.is_by_points() =>
            {
                Ok(Some(reading.clone()))
            }
            // Where points stand before fractions commas do not, unless semicolons separate.
            (Some(_), Some(other))
                if !self.commas && has_groups(other) && marked.is_by_points() =>
            {
                Ok(Some(other.clone()))
            }
            (Some((row, text)), Some(other)) => Err(Ambiguous {
                row: *row,
                text: text.clone(),
                readings: vec![reading.clone(), other.clone()],
            }),
            _ => self.of_century(self.as_in_file(reading, marked)),
        }
    }

    /// None, of a column that is plain, or what it may be beside: months of years, and thousands
    /// with points by `marked`.
    fn of_plain(&self, marked: Marked) -> Result<Option<Reading>, Ambiguous> {
        let or_plain = |(row, text): &(u64, String), other| Ambiguous {
            row: *row,
            text: text.clone(),
            readings: vec![other, Reading::Number(Marks::PLAIN)],
        };
        if let (Some(cell), true) = (&self.month, self.points.may_be_months()) {
            let months = Reading::Date(DateFormat::known("%m.%Y"));
            return Err(or_plain(cell, months));
        }
        match (&self.differs, self.points.may_part_thousands(marked)) {
            (Some(cell), true) => {
                let thousands = Reading::Number(Marks::new(',', Some('.')));
                Err(or_plain(cell, thousands))
            }
            _ => Ok(None),
        }
    }

    /// The reading with the mark before fractions that other columns of the file have, where no
    /// cell says which it is.
    fn as_in_file<'a>(&'a self, reading: &'a Reading, marked: Marked) -> &'a Reading {
        let mark = reading.marks().map(|marks| marks.decimal);
        match marked.decimal() {
            Some(of_file) if mark != Some(of_file) => {
                self.with_other_decimal(reading).unwrap_or(reading)
            }
            _ => reading,
        }
    }

    /// The reading with the hundred years of its dates, where these have two digits.
    fn of_century(&self, reading: &Reading) -> Result<Option<Reading>, Ambiguous> {
        let Reading::Date(format) = reading else {
            return Ok(Some(reading.clone()));
        };
        let from = |year| Reading::Date(format.with_years_from(year));
        match self.years.century() {
            Century::From(year) if format.has_usual_years() => Ok(Some(from(year))),
            Century::Either(year, row, text) if format.has_usual_years() => Err(Ambiguous {
                row,
                text,
                readings: vec![from(year), reading.clone()],
            }),
            _ => Ok(Some(reading.clone())),
        }
    }
}

/// Whether commas stand between thousands.
fn has_groups(reading: &Reading) -> bool {
    reading
        .marks()
        .is_some_and(|marks| marks.thousands == Some(','))
}
