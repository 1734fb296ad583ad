//! Dates and times without a mark, `20210312`, `202103` and `0930`, told from numbers and codes.

use super::{DateFormat, Reading, date, date_parts::Covered};
use crate::data::Column;

/// Different values that tell: of numbers of eight digits that begin with a year one in 28 is a
/// date, of those of six one in 8 a month, of codes of four one in 7 a time.
const ENOUGH: usize = 12;
/// Years that dates of a table have.
const YEARS: std::ops::RangeInclusive<i64> = 1900..=2100;
/// A time is behind this minute where months and their days are at most so.
const LATE: i64 = 31;
/// Hours that times are of, at least: parts of chapters are of few.
const HOURS: u32 = 4;

/// What the cells of a column have in common with such dates and times: all are whole numbers of
/// eight, six or four digits that a calendar or a clock has.
#[derive(Debug, Default)]
pub(in crate::data) struct Packed {
    digits: Option<usize>,
    is_mixed: bool,
    /// The first that differ.
    different: Vec<i64>,
    /// The first year, and whether there is another.
    year: Option<i64>,
    years_vary: bool,
    /// Of times: a bit of each hour, whether one has a late minute, and whether one begins with 0.
    hours: u32,
    is_late: bool,
    begins_with_zero: bool,
    covered: Covered,
}

impl Packed {
    /// Takes one more cell.
    pub(in crate::data) fn see(&mut self, text: &str) {
        if self.is_mixed {
            return;
        }
        let text = text.trim();
        let is_whole = text.bytes().all(|digit| digit.is_ascii_digit());
        let digits = *self.digits.get_or_insert(text.len());
        let value = text.parse::<i64>().ok();
        let value = value.filter(|_| is_whole && digits == text.len());
        let fits = value.is_some_and(|value| match digits {
            8 => self.see_date((value / 10_000, value / 100 % 100, value % 100)),
            6 => self.see_date((value / 100, value % 100, 1)),
            4 => self.see_time((value / 100, value % 100)),
            _ => false,
        });
        self.is_mixed = !fits;
        self.begins_with_zero |= text.starts_with('0');
        if let Some(value) = value
            && self.different.len() < ENOUGH
            && !self.different.contains(&value)
        {
            self.different.push(value);
        }
    }

    fn see_date(&mut self, (year, month, day): (i64, i64, i64)) -> bool {
        let Some(days) = date::day(year, month, day).filter(|_| YEARS.contains(&year)) else {
            return false;
        };
        self.years_vary |= *self.year.get_or_insert(year) != year;
        self.covered.add(days as f64);
        true
    }

    fn see_time(&mut self, (hours, minutes): (i64, i64)) -> bool {
        let fits = hours < 24 && minutes < 60;
        if fits {
            self.hours |= 1 << hours;
            self.is_late |= minutes > LATE;
        }
        fits
    }

    /// Takes the cells of some rows; those without a value say nothing.
    pub(in crate::data) fn see_all(&mut self, column: &Column) {
        match column {
            Column::Text(texts) => texts.iter().flatten().for_each(|text| {
                if text.contains(char::is_numeric) {
                    self.see(text);
                }
            }),
            _ => self.is_mixed = true,
        }
    }

    /// Whether all cells so far may be dates, of which more of them tell.
    pub(in crate::data) fn may_be_dates(&self) -> bool {
        !self.is_mixed && matches!(self.digits, Some(6 | 8))
    }

    /// How all cells are read, where they are such dates or times. Months of one year alone may be
    /// codes that count, and so may times of few hours; those without one before ten are numbers.
    pub(in crate::data::schema) fn reading(&self) -> Option<Reading> {
        if self.is_mixed || self.different.len() < ENOUGH {
            return None;
        }
        let are_times = self.is_late && self.hours.count_ones() >= HOURS && self.begins_with_zero;
        match self.digits {
            Some(8) => Some(Reading::Date(DateFormat::known(DAY))),
            Some(6) if self.years_vary => Some(Reading::Date(DateFormat::known(MONTH))),
            Some(4) if are_times => Some(Reading::Clock),
            _ => None,
        }
    }

    /// What its dates cover.
    pub(in crate::data::schema) fn covered(&self) -> &Covered {
        &self.covered
    }
}

/// How such dates are written.
const DAY: &str = "%Y%m%d";
const MONTH: &str = "%Y%m";

/// Whether it is of dates or times without a mark, which might be numbers.
pub(in crate::data::schema) fn is_packed(reading: &Reading) -> bool {
    match reading {
        Reading::Date(format) => [DAY, MONTH].map(DateFormat::known).contains(format),
        Reading::Clock => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How sixty cells are read.
    fn reading_of(text: impl Fn(usize) -> String) -> Option<String> {
        let mut packed = Packed::default();
        (0..60).for_each(|i| packed.see(&text(i)));
        Some(packed.reading()?.to_string())
    }

    #[test]
    fn dates_and_times_without_marks_are_told_from_numbers() {
        let read = |text: fn(usize) -> String, as_what: &str| {
            assert_eq!(reading_of(text).as_deref(), Some(as_what), "{}", text(7));
        };
        let day = |i: usize| format!("2021{:02}{:02}", 1 + i % 12, 1 + i % 28);
        read(day, "dates as %Y%m%d");
        read(
            |i| format!("{}{:02}", 2018 + i % 3, 1 + i % 12),
            "dates as %Y%m",
        );
        read(
            |i| format!("{:02}{:02}", i % 24, i * 7 % 60),
            "times of day as in 0930, in days",
        );
        for other in [
            // A day that no calendar has, a year that no table has, and a fraction.
            |i: usize| format!("202102{:02}", 1 + i % 29),
            |i| format!("2021{:02}{:02}", 1 + i % 13, 1 + i % 28),
            |i| format!("3021{:02}{:02}", 1 + i % 12, 1 + i % 28),
            |i| format!("2021{:02}{:02}.5", 1 + i % 12, 1 + i % 28),
            // Few, and of one year alone.
            |i| format!("202103{:02}", 1 + i % 11),
            |i| format!("2021{:02}", 1 + i % 12),
            |i| format!("{}", 202_101 + i),
            // Codes that count, months with their days, hours from ten on, and what no clock has.
            |i| format!("{i:04}"),
            |i| format!("{:02}{:02}", 1 + i % 12, 1 + i % 31),
            |i| format!("{:02}{:02}", 10 + i % 14, i * 7 % 60),
            |i| format!("{:02}{:02}", i % 25, i * 7 % 60),
            |i| format!("{:02}{:02}", i % 24, i * 7 % 61),
            // Of several lengths, and longer.
            |i| format!("{}", [20_210_312, 202_103][i % 2]),
            |i| format!("20210312{:02}", i),
            |i| format!("-2021{:02}{:02}", 1 + i % 12, 1 + i % 28),
        ] {
            assert_eq!(reading_of(other), None, "{}", other(7));
        }
        assert_eq!(Packed::default().reading(), None);
    }
}
