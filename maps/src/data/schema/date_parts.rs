//! What a date tells beside its day: its place in the year, in the week and in the day.

use super::date;
use crate::error::{Error, Result};
use std::{f64::consts::TAU, fmt, str::FromStr};

/// What a column of dates becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dates {
    /// The day as a number.
    Day,
    /// The day, and the [`DateParts`] that the column covers.
    Parts,
}

impl FromStr for Dates {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "day" => Ok(Self::Day),
            "parts" => Ok(Self::Parts),
            _ => Err(Error::parameter(format!(
                "{text:?} is neither day nor parts"
            ))),
        }
    }
}

impl fmt::Display for Dates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Day => "day",
            Self::Parts => "parts",
        })
    }
}

/// Circles in which dates come back. Of each a date has two columns beside its day: sin(2 pi p) and
/// cos(2 pi p) of its place p in 0..1, so that the end of a year lies beside the beginning of the
/// next.
///
/// ```
/// use bochner::data::DateParts;
/// let parts = DateParts { week: true, ..DateParts::default() };
/// assert_eq!(parts.names("day"), ["day: week sin", "day: week cos"]);
/// // 1970-01-05 was a Monday.
/// assert_eq!(parts.columns(4.5).collect::<Vec<_>>(), [0.0, 1.0]);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[doc(hidden)]
pub struct DateParts {
    /// The year: p is the time since 1 January over the year's length.
    pub year: bool,
    /// The week: p is k / 7 of a whole day, from 0 on a Monday.
    pub week: bool,
    /// The day: p is the time since midnight in days, to the second.
    pub time: bool,
}

impl DateParts {
    const ALL: Self = Self {
        year: true,
        week: true,
        time: true,
    };
    const NAMES: [&'static str; 3] = ["year", "week", "time"];

    fn flags(self) -> [bool; 3] {
        [self.year, self.week, self.time]
    }

    /// What its circles are called.
    pub(super) fn circles(self) -> impl Iterator<Item = &'static str> {
        let all = Self::NAMES.into_iter().zip(self.flags());
        all.filter(|(_, has)| *has).map(|(name, _)| name)
    }

    /// Those of [`Self::circles`]; `None` of other names, of another order and of none.
    pub(super) fn of_circles(names: &[&str]) -> Option<Self> {
        let has = |name| names.contains(&name);
        let parts = Self {
            year: has("year"),
            week: has("week"),
            time: has("time"),
        };
        let is_own = !names.is_empty() && parts.circles().eq(names.iter().copied());
        is_own.then_some(parts)
    }

    /// How many columns they are.
    pub fn width(self) -> usize {
        2 * self.circles().count()
    }

    /// What the columns are called, of a column of this name.
    pub fn names(self, column: &str) -> Vec<String> {
        let two = |circle| ["sin", "cos"].map(|of| format!("{column}: {circle} {of}"));
        self.circles().flat_map(two).collect()
    }

    /// The columns of a date, which is so many days after 1970-01-01, in UTC.
    pub fn columns(self, days: f64) -> impl Iterator<Item = f64> {
        let places = places(days).into_iter().zip(self.flags());
        let two = |(place, _): (f64, bool)| [libm::sin(TAU * place), libm::cos(TAU * place)];
        places.filter(|(_, has)| *has).flat_map(two)
    }
}

/// A date as its day and the seconds since midnight.
fn day_and_seconds(days: f64) -> (i64, i64) {
    let seconds = date::whole_seconds(days);
    (seconds.div_euclid(86_400), seconds.rem_euclid(86_400))
}

/// Days since Monday.
pub(super) fn weekday(day: i64) -> i64 {
    // 1970-01-05 was a Monday.
    (day - 4).rem_euclid(7)
}

/// The place of a date in each circle.
fn places(days: f64) -> [f64; 3] {
    let (day, seconds) = day_and_seconds(days);
    let time = seconds as f64 / 86_400.0;
    let (year, ..) = date::calendar(day);
    let [start, end] = [year, year + 1].map(|year| date::civil(year, 1, 1));
    let of_year = ((day - start) as f64 + time) / (end - start) as f64;
    [of_year, weekday(day) as f64 / 7.0, time]
}

/// What the dates of a column cover.
#[derive(Debug, Clone, Default)]
pub(super) struct Covered {
    /// The first day and the last.
    span: Option<[i64; 2]>,
    /// A bit of each month, weekday and hour.
    months: u32,
    weekdays: u32,
    hours: u32,
}

impl Covered {
    /// Days from the first to the last of dates that tell of a season: about a year and a half, so
    /// that a part of one is there twice.
    const YEARS: i64 = 547;
    /// Those that tell of weekdays, and of times of the day.
    const WEEKS: i64 = 14;
    const DAYS: i64 = 2;

    /// Takes a date.
    pub(super) fn add(&mut self, days: f64) {
        let (day, seconds) = day_and_seconds(days);
        let [first, last] = self.span.unwrap_or([day; 2]);
        self.span = Some([first.min(day), last.max(day)]);
        self.months |= 1 << date::calendar(day).1;
        self.weekdays |= 1 << weekday(day);
        self.hours |= 1 << (seconds / 3600);
    }

    /// Circles that the dates go round, and in which they lie in more than one month, weekday or
    /// hour.
    pub(super) fn parts(&self) -> DateParts {
        let days = self.span.map_or(0, |[first, last]| last - first + 1);
        let vary = |bits: u32| bits.count_ones() > 1;
        DateParts {
            year: days >= Self::YEARS && vary(self.months),
            week: days >= Self::WEEKS && vary(self.weekdays),
            time: days >= Self::DAYS && vary(self.hours),
        }
    }
}

/// Means of the columns of all circles.
#[derive(Debug, Clone, Default)]
pub(super) struct Means {
    weight: f64,
    means: [f64; 6],
}

impl Means {
    /// Takes a date that counts for `weight`.
    pub(super) fn add(&mut self, days: f64, weight: f64) {
        self.weight += weight;
        for (mean, value) in self.means.iter_mut().zip(DateParts::ALL.columns(days)) {
            *mean += weight / self.weight * (value - *mean);
        }
    }

    /// Those of the columns of some.
    pub(super) fn select(&self, parts: DateParts) -> impl Iterator<Item = f64> {
        let has = parts.flags().into_iter().flat_map(|has| [has; 2]);
        let means = self.means.into_iter().zip(has);
        means.filter(|(_, has)| *has).map(|(mean, _)| mean)
    }
}

/// As they are told of: `their place in the year and the week`; nothing where there are none.
impl fmt::Display for DateParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let circles = [
            (self.year, "the year"),
            (self.week, "the week"),
            (self.time, "the day"),
        ];
        let names = circles.into_iter().filter(|(has, _)| *has);
        let names: Vec<&str> = names.map(|(_, name)| name).collect();
        match &names[..] {
            [] => Ok(()),
            [only] => write!(f, "their place in {only}"),
            [others @ .., last] => write!(f, "their place in {} and {last}", others.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: DateParts = DateParts::ALL;

    fn days(text: &str) -> f64 {
        date::days(text).expect("a date")
    }

    /// Places are counted by hand, of leap years, of days before 1970 and at the ends of circles.
    #[test]
    fn places_are_those_of_the_calendar() {
        for (text, wanted) in [
            ("1970-01-01", [0.0, 3.0 / 7.0, 0.0]),
            ("2024-12-31", [365.0 / 366.0, 1.0 / 7.0, 0.0]),
            ("2023-12-31", [364.0 / 365.0, 6.0 / 7.0, 0.0]),
            ("2024-03-01T18:00", [60.75 / 366.0, 4.0 / 7.0, 0.75]),
            ("2000-07-02", [183.0 / 366.0, 6.0 / 7.0, 0.0]),
            ("1969-12-29 06:00", [362.25 / 365.0, 0.0, 0.25]),
            ("1900-01-01", [0.0, 0.0, 0.0]),
        ] {
            assert_eq!(places(days(text)), wanted, "{text}");
        }
        let quarter: Vec<f64> = ALL.columns(days("2024-03-04T06:00")).collect();
        assert!((quarter[0] - (TAU * 63.25 / 366.0).sin()).abs() < 1e-15);
        assert!((quarter[1] - (TAU * 63.25 / 366.0).cos()).abs() < 1e-15);
        assert_eq!(quarter[2..4], [0.0, 1.0]);
        assert!((quarter[4] - 1.0).abs() < 1e-15 && quarter[5].abs() < 1e-15);
        assert_eq!((ALL.width(), DateParts::default().width()), (6, 0));
    }

    #[test]
    fn circles_are_those_that_the_dates_go_round() {
        let parts = |dates: &[&str]| {
            let mut covered = Covered::default();
            dates.iter().for_each(|date| covered.add(days(date)));
            covered.parts().circles().collect::<Vec<_>>().join(" ")
        };
        for (dates, circles) in [
            (&[][..], ""),
            (&["2024-01-01", "2024-01-13"], ""),
            (&["2024-01-01", "2024-01-09", "2024-01-14"], "week"),
            // Every week on the same day, at the same time to the hour.
            (&["2024-01-01T10:00", "2024-01-15T10:59:59"], ""),
            (&["2024-01-01T10:00", "2024-01-02T11:00"], "time"),
            (&["2024-01-01T10:00", "2024-01-01T11:00"], ""),
            (&["2023-01-02", "2024-06-24"], ""),
            (&["2023-01-02", "2024-07-01"], "year"),
            (&["2023-01-01", "2024-06-29"], "week"),
            (&["2023-01-01", "2024-06-30", "2024-06-29"], "year week"),
            // Ends of years.
            (&["2020-12-31", "2021-12-31", "2022-12-31"], "week"),
        ] {
            assert_eq!(parts(dates), circles, "{dates:?}");
        }
    }

    #[test]
    fn means_are_weighted() {
        let mut means = Means::default();
        means.add(days("2024-01-01"), 3.0);
        means.add(days("2024-01-04T12:00"), 1.0);
        let week = DateParts {
            week: true,
            ..DateParts::default()
        };
        let angle = TAU * 3.0 / 7.0;
        let wanted = [angle.sin() / 4.0, (3.0 + angle.cos()) / 4.0];
        for (mean, wanted) in means.select(week).zip(wanted) {
            assert!((mean - wanted).abs() < 1e-15, "{mean} {wanted}");
        }
        assert_eq!(means.select(ALL).count(), 6);
        assert_eq!(means.select(week).count(), 2);
    }

    #[test]
    fn circles_are_known_by_their_names() {
        let names: Vec<&str> = ALL.circles().collect();
        assert_eq!(DateParts::of_circles(&names), Some(ALL));
        for bad in [&[][..], &["week", "year"], &["year", "year"], &["hour"]] {
            assert_eq!(DateParts::of_circles(bad), None, "{bad:?}");
        }
    }
}
