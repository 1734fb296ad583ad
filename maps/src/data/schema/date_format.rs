//! Dates that are not written by ISO 8601.

mod parts;

use super::{
    date::{after_weekday, seconds_behind},
    date_parts::weekday,
};
use crate::error::{Error, Result};
use parts::Parts;
use std::{fmt, str::FromStr};

/// How dates of a column are written, in the manner of strftime: `%Y` (four digits) or `%y` (two,
/// of 1969 to 2068; `%31y` is of 1931 to 2030), `%m` (one digit or two) or `%b` (the month's name
/// in a language of Europe, whole or short), `%d` (`2nd` and `1er` as well); or `%j`, the
/// day of the year; or `%G`, `%V` and `%u`, a year, a week and a weekday by ISO 8601, without `%u`
/// its Monday. Without a day it is the first. `%a` is the name of a weekday; of the time are `%H`
/// or `%I` with `%p` (AM or PM), `%M`, `%S`, `%f` (a fraction of it) and `%z` (`Z`, `CET` or
/// `+01:00`, which is subtracted). All else is as it stands. Before a format without `%a` the
/// date's own weekday may stand, `Fri, `, and around all of it brackets. After a format without a
/// time one may follow as after dates of ISO 8601, behind a comma, too, with a point or `h` in the
/// place of its colon, and ` Uhr` at its end.
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
    /// Those that are found by themselves. Of two that read the same the first is told of.
    pub(super) const ALL: &[&'static str] = &[
        "%m/%d/%Y",
        "%d/%m/%Y",
        "%Y/%m/%d",
        "%d.%m.%Y",
        "%d-%m-%Y",
        "%m-%d-%Y",
        "%Y.%m.%d",
        "%Y年%m月%d日",
        "%Y%m%dT%H%M%S",
        "%Y%m%dT%H%M%S%z",
        "%m/%d/%y",
        "%d/%m/%y",
        "%d.%m.%y",
        "%a %Y-%m-%d",
        "%a, %Y-%m-%d",
        "%a, %d %b %Y",
        "%a %b %d %H:%M:%S %Y",
        "%d %b %Y",
        "%d-%b-%Y",
        "%d-%b-%y",
        "%d %b %y",
        "%d. %b %Y",
        "%d %b %Y r.",
        "%d %b %Y г.",
        "%Y. %b %d.",
        "%Y. %m. %d.",
        "%d.%b.%Y",
        "%d de %b de %Y",
        "%d%b%Y",
        "%d%b%Y:%H:%M:%S",
        "%d/%b/%Y:%H:%M:%S %z",
        "%b %d, %Y",
        "%b %d %Y",
        "%b %Y",
        "%b-%Y",
        "%b-%y",
        "%m/%Y",
        "%Y-%m",
        "%YM%m",
        "%G-W%V",
        "%G-W%V-%u",
        "KW%V/%G",
        "KW %V/%G",
    ];

    /// One of [`Self::ALL`].
    pub(super) fn known(format: &str) -> Self {
        Self(format.to_owned())
    }

    /// All of [`Self::ALL`].
    pub(super) fn all() -> impl Iterator<Item = Self> {
        Self::ALL.iter().map(|format| Self::known(format))
    }

    /// Whether a text that this format reads may be the version of a program, `2021.7.3`: months
    /// and days of one digit stand in no date of a year and points.
    pub(super) fn may_be_version(&self, text: &str) -> bool {
        let mut parts = text.trim().split('.').skip(1);
        let is_short = |part: &str| {
            !part.starts_with(|c: char| c.is_ascii_digit()) || {
                let digits = part.chars().take_while(char::is_ascii_digit);
                digits.count() < 2
            }
        };
        self.0 == "%Y.%m.%d" && parts.any(is_short)
    }

    /// Days since 1970-01-01, in UTC where an offset follows; `None` of other text.
    #[doc(hidden)]
    pub fn days(&self, text: &str) -> Option<f64> {
        let text = text.trim();
        let inside = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'));
        let text = inside.unwrap_or(text);
        self.of_day(text).or_else(|| {
            let (name, rest) = after_weekday(text).filter(|_| !self.0.contains("%a"))?;
            let days = self.of_day(rest)?;
            // An offset may move it to the next day or to that before.
            let is_own = |days: f64| weekday(days.floor() as i64) + 1 == name;
            let near = [days, days - 1.0, days + 1.0];
            let least = if days.fract() == 0.0 { 1 } else { 3 };
            near[..least]
                .iter()
                .any(|days| is_own(*days))
                .then_some(days)
        })
    }

    /// As [`Self::days`], of text that begins with what the format has first.
    fn of_day(&self, text: &str) -> Option<f64> {
        let mut rest = text;
        let mut parts = Parts::default();
        let mut format = self.0.as_str();
        while let Some(c) = format.chars().next() {
            format = &format[c.len_utf8()..];
            rest = match c {
                '%' => {
                    let (least, letter) = letter(&mut format)?;
                    parts.take((letter, least), rest)?
                }
                _ => rest.strip_prefix(c)?,
            };
        }
        let days = parts.days()?;
        let behind = rest.strip_prefix(", ");
        match behind.or_else(|| rest.strip_prefix(['T', 't', ' '])) {
            _ if rest.is_empty() => Some(days),
            Some(time) if !parts.has_time() => Some(days + seconds_of(time)? / 86_400.0),
            _ => None,
        }
    }
}

/// Seconds since midnight of a time behind a date, `17:21`, `17.21 Uhr` and `17h21` among them.
fn seconds_of(time: &str) -> Option<f64> {
    let time = time.strip_suffix(" Uhr").unwrap_or(time);
    let marked = || {
        let (hours, minutes) = time.split_once(['.', 'h'])?;
        let is_time = hours.len() <= 2 && minutes.len() == 2;
        is_time.then(|| seconds_behind(&format!("{hours}:{minutes}")))?
    };
    seconds_behind(time).or_else(marked)
}

/// The letter that a format begins with behind `%`, and the two digits before it: of `%31y` the
/// first year.
fn letter(format: &mut &str) -> Option<(Option<i64>, char)> {
    let digits = format.get(..2).and_then(|year| year.parse::<u8>().ok());
    let rest = format.get(2 * usize::from(digits.is_some())..)?;
    let letter = rest.chars().next()?;
    *format = &rest[letter.len_utf8()..];
    (digits.is_none() || letter == 'y').then_some((digits.map(i64::from), letter))
}

impl FromStr for DateFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut letters = Vec::new();
        let mut rest = text;
        while let Some((_, mut format)) = rest.split_once('%') {
            letters.push(letter(&mut format).map(|(_, letter)| letter));
            rest = format;
        }
        let has = |letter| letters.contains(&Some(letter));
        let known = letters
            .iter()
            .all(|letter| matches!(letter, Some(c) if "YyGVumbBdjaAHIMSfpzZ".contains(*c)));
        let year = has('Y') != has('y') || (has('G') && has('V'));
        let day = "mbBjV".chars().any(has);
        if known && year && day && has('I') == has('p') {
            Ok(Self(text.to_owned()))
        } else {
            Err(Error::parameter(format!(
                "{text:?} is no format of dates; write one such as %d.%m.%Y, of %Y or %y, %m or %b \
                 (a name), %d, %j, %a, %H or %I and %p, %M, %S, %f and %z, or %G-W%V-%u"
            )))
        }
    }
}

impl fmt::Display for DateFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
