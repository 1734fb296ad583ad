//! Dates that are not written by ISO 8601.

use super::{
    date::{day, is_weekday, month, seconds_behind},
    zone::offset,
};
use crate::error::{Error, Result};
use std::{fmt, str::FromStr};

/// How dates of a column are written, in the manner of strftime: `%Y` (four digits) or `%y` (two,
/// of 1969 to 2068), `%m` (one digit or two) or `%b` (the month's name in English, whole or three
/// letters), `%d`; or `%j`, the day of the year; or `%G` and `%V`, a week by ISO 8601, whose
/// Monday it is. Without a day it is the first. `%a` is the name of a weekday; of the time are
/// `%H` or `%I` with `%p` (AM or PM), `%M`, `%S` and `%z` (`Z`, `CET` or `+01:00`, which is
/// subtracted). All else is as it stands. After a format without a time one may follow as after
/// dates of ISO 8601.
///
/// ```
/// use bochner::data::DateFormat;
/// let format: DateFormat = "%d.%m.%Y".parse()?;
/// assert_eq!(format.days("2.1.1970"), Some(1.0));
/// assert_eq!(format.days("1970-01-02"), None);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateFormat(String);

impl DateFormat {
    /// Those that are found by themselves.
    pub(super) const ALL: [&'static str; 20] = [
        "%m/%d/%Y",
        "%d/%m/%Y",
        "%Y/%m/%d",
        "%d.%m.%Y",
        "%d-%m-%Y",
        "%m-%d-%Y",
        "%m/%d/%y",
        "%d/%m/%y",
        "%d.%m.%y",
        "%d %b %Y",
        "%d-%b-%Y",
        "%d-%b-%y",
        "%d %b %y",
        "%b %d, %Y",
        "%b %d %Y",
        "%a, %d %b %Y",
        "%a %b %d %H:%M:%S %Y",
        "%b %Y",
        "%Y-%m",
        "%G-W%V",
    ];

    /// One of [`Self::ALL`].
    pub(super) fn known(format: &str) -> Self {
        Self(format.to_owned())
    }

    /// Days since 1970-01-01, in UTC where an offset follows; `None` of other text.
    pub fn days(&self, text: &str) -> Option<f64> {
        let mut rest = text.trim();
        let mut parts = Parts::default();
        let mut format = self.0.chars();
        while let Some(c) = format.next() {
            rest = match c {
                '%' => parts.take(format.next()?, rest)?,
                _ => rest.strip_prefix(c)?,
            };
        }
        let days = parts.day()? as f64 + parts.seconds as f64 / 86_400.0;
        match rest.strip_prefix(['T', 't', ' ']) {
            _ if rest.is_empty() => Some(days),
            Some(time) if !parts.has_time => Some(days + seconds_behind(time)? / 86_400.0),
            _ => None,
        }
    }
}

/// What a text has told of a date.
#[derive(Default)]
struct Parts {
    year: Option<i64>,
    month: Option<i64>,
    date: Option<i64>,
    of_year: Option<i64>,
    week: Option<i64>,
    /// Since midnight in UTC.
    seconds: i64,
    has_time: bool,
}

impl Parts {
    /// Takes what `letter` stands for from the front of a text, and gives the rest.
    fn take<'a>(&mut self, letter: char, text: &'a str) -> Option<&'a str> {
        match letter {
            'Y' | 'G' | 'y' | 'm' | 'b' | 'B' | 'd' | 'j' | 'V' => self.take_day(letter, text),
            'a' | 'A' => {
                let (name, rest) = word(text);
                is_weekday(name).then_some(rest)
            }
            _ => {
                let (seconds, rest) = of_time(letter, text)?;
                self.seconds += seconds;
                self.has_time = true;
                Some(rest)
            }
        }
    }

    fn take_day<'a>(&mut self, letter: char, text: &'a str) -> Option<&'a str> {
        let number = |least, most| leading(text, least, most);
        let (part, (value, rest)) = match letter {
            'y' => {
                let (year, rest) = number(2, 2)?;
                let century = if year < 69 { 2000 } else { 1900 };
                (&mut self.year, (century + year, rest))
            }
            'm' => (&mut self.month, number(1, 2)?),
            'b' | 'B' => {
                let (name, rest) = word(text);
                (&mut self.month, (month(name)?, rest))
            }
            'd' => (&mut self.date, number(1, 2)?),
            'j' => (&mut self.of_year, number(1, 3)?),
            'V' => (&mut self.week, number(1, 2)?),
            _ => (&mut self.year, number(4, 4)?),
        };
        *part = Some(value);
        Some(rest)
    }

    /// Days from 1970-01-01.
    fn day(&self) -> Option<i64> {
        let year = self.year?;
        if let Some(week) = self.week {
            let found = first_monday(year)? + 7 * (week - 1);
            return (week >= 1 && found < first_monday(year + 1)?).then_some(found);
        }
        match self.of_year {
            None => day(year, self.month?, self.date.unwrap_or(1)),
            Some(number) => {
                let found = day(year, 1, 1)? + number - 1;
                (number >= 1 && found < day(year + 1, 1, 1)?).then_some(found)
            }
        }
    }
}

/// The Monday of a year's first week, which is that of 4 January (ISO 8601).
fn first_monday(year: i64) -> Option<i64> {
    // 1970-01-05 was a Monday.
    let fourth = day(year, 1, 4)?;
    Some(fourth - (fourth - 4).rem_euclid(7))
}

/// Seconds that a letter of the time stands for, and the rest of a text.
fn of_time(letter: char, text: &str) -> Option<(i64, &str)> {
    let part = |least, end, unit| {
        let (number, rest) = leading(text, least, 2)?;
        Some((unit * below(number, end)?, rest))
    };
    match letter {
        'H' => part(1, 24, 3600),
        // From 12, which is none, to 11.
        'I' => {
            let (hours, rest) = leading(text, 1, 2)?;
            ((1..=12).contains(&hours)).then_some((3600 * (hours % 12), rest))
        }
        'M' => part(2, 60, 60),
        'S' => part(2, 61, 1),
        'p' => {
            let (half, rest) = text.split_at_checked(2)?;
            match () {
                () if half.eq_ignore_ascii_case("am") => Some((0, rest)),
                () if half.eq_ignore_ascii_case("pm") => Some((43_200, rest)),
                () => None,
            }
        }
        'z' | 'Z' => {
            let (zone, rest) = text.split_at(text.find(' ').unwrap_or(text.len()));
            Some((-60 * offset(zone)?, rest))
        }
        _ => None,
    }
}

/// The letters that text begins with, and what follows.
fn word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphabetic());
    text.split_at(end.unwrap_or(text.len()))
}

fn below(number: i64, end: i64) -> Option<i64> {
    (number < end).then_some(number)
}

/// The number of so many digits that text begins with, and what follows.
fn leading(text: &str, least: usize, most: usize) -> Option<(i64, &str)> {
    let digits = text
        .bytes()
        .take(most)
        .take_while(u8::is_ascii_digit)
        .count();
    let (number, rest) = text.split_at(digits);
    (digits >= least).then(|| Some((number.parse().ok()?, rest)))?
}

impl FromStr for DateFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut letters = Vec::new();
        let mut format = text.chars();
        while let Some(c) = format.next() {
            if c == '%' {
                letters.push(format.next());
            }
        }
        let has = |letter| letters.contains(&Some(letter));
        let known = letters
            .iter()
            .all(|letter| matches!(letter, Some(c) if "YyGVmbBdjaAHIMSpzZ".contains(*c)));
        let year = has('Y') != has('y') || (has('G') && has('V'));
        let day = "mbBjV".chars().any(has);
        match known && year && day && has('I') == has('p') {
            true => Ok(Self(text.to_owned())),
            false => Err(Error::parameter(format!(
                "{text:?} is no format of dates; write one such as %d.%m.%Y, of %Y or %y, %m or %b \
                 (a name), %d, %j, %a, %H or %I and %p, %M, %S and %z, or %G-W%V"
            ))),
        }
    }
}

impl fmt::Display for DateFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_by_their_format() {
        for (format, text, days) in [
            ("%m/%d/%Y", "12/31/1970", Some(364.0)),
            ("%d/%m/%Y", "31/12/1970", Some(364.0)),
            ("%m/%d/%Y", "31/12/1970", None),
            ("%d.%m.%Y", "1.2.1970", Some(31.0)),
            ("%d.%m.%Y", "01.02.1970 12:00", Some(31.5)),
            ("%d.%m.%Y", "01.02.1970T01:00:00+01:00", Some(31.0)),
            ("%d.%m.%y", "01.02.70", Some(31.0)),
            ("%d.%m.%y", "01.02.1970", None),
            ("%m/%d/%y", "1/2/68", Some(35_795.0)),
            ("%m/%d/%y", "1/1/69", Some(-365.0)),
            ("%Y/%m/%d", "2000/02/29", Some(11_016.0)),
            ("%Y/%m/%d", "2001/02/29", None),
            ("%d.%m.%Y %H:%M:%S", "01.01.1970 06:00:00", Some(0.25)),
            ("%d.%m.%Y %H:%M", "01.01.1970 24:00", None),
            ("%d.%m.%Y %H:%M", "01.01.1970", None),
            ("%d.%m.%Y", "01.01.1970x", None),
            ("%d.%m.%Y", "", None),
            ("%d.%m.%Y", "\u{e9}1.01.1970", None),
            ("%d %b %Y", "12 Mar 2021", Some(18_698.0)),
            ("%d %b %Y", "12 march 2021", Some(18_698.0)),
            ("%d %b %Y", "12 Mars 2021", None),
            ("%d %b %Y", "12 Ma 2021", None),
            ("%d-%b-%y", "12-Mar-21", Some(18_698.0)),
            ("%d-%b-%y", "12-Mar-2021", None),
            ("%b %d, %Y", "Mar 12, 2021", Some(18_698.0)),
            (
                "%a, %d %b %Y",
                "Fri, 12 Mar 2021 13:00:00 +0100",
                Some(18_698.5),
            ),
            ("%a, %d %b %Y", "Fro, 12 Mar 2021", None),
            (
                "%a %b %d %H:%M:%S %Y",
                "Fri Mar 12 12:00:00 2021",
                Some(18_698.5),
            ),
            ("%m/%d/%Y", "03/12/2021 06:00 PM", Some(18_698.75)),
            ("%m/%d/%Y %I:%M %p", "03/12/2021 12:00 am", Some(18_698.0)),
            ("%m/%d/%Y %I:%M %p", "03/12/2021 13:00 PM", None),
            ("%Y%m%d", "20210312", Some(18_698.0)),
            ("%Y%m%d", "20211312", None),
            ("%Y-%j", "2021-071", Some(18_698.0)),
            ("%Y-%j", "2021-366", None),
            ("%G-W%V", "2021-W10", Some(18_694.0)),
            ("%G-W%V", "2020-W53", Some(18_624.0)),
            ("%G-W%V", "2021-W53", None),
            ("%Y-%m", "2021-03", Some(18_687.0)),
            ("%b %Y", "March 2021", Some(18_687.0)),
            ("%d.%m.%Y %H:%M %z", "01.01.1970 13:00 +01:00", Some(0.5)),
            ("%d.%m.%Y %H:%M %Z", "01.01.1970 12:00 UTC", Some(0.5)),
            ("%d.%m.%Y %H:%M %Z", "01.01.1970 04:00 PST", Some(0.5)),
            ("%m/%d/%Y", "01/01/1970 8:00 AM EDT", Some(0.5)),
        ] {
            let found: DateFormat = format.parse().expect(format);
            assert_eq!(found.days(text), days, "{text:?} by {format}");
        }
        for bad in [
            "",
            "%d.%m",
            "%d.%m.%Y.%y",
            "%q%d%m%Y",
            "%d.%m.%Y%",
            "%d.%Y",
            "%d.%m.%Y %I:%M",
            "%d.%m.%Y %H %p",
            "%G",
        ] {
            assert!(bad.parse::<DateFormat>().is_err(), "{bad}");
        }
        for format in DateFormat::ALL {
            assert_eq!(
                format.parse::<DateFormat>().ok(),
                Some(DateFormat::known(format))
            );
        }
    }
}
