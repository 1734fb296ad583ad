//! Dates that are not written by ISO 8601.

use super::date::{day, seconds};
use crate::error::{Error, Result};
use std::{fmt, str::FromStr};

/// How dates of a column are written, in the manner of strftime: `%Y` (four digits) or `%y` (two,
/// of 1969 to 2068), `%m` and `%d` (one digit or two), `%H`, `%M`, `%S`, and all else as it stands.
/// After a format without `%H` a time may follow as after dates of ISO 8601.
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
    pub(super) const ALL: [&'static str; 9] = [
        "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%m/%d/%y",
        "%d/%m/%y", "%d.%m.%y",
    ];

    /// One of [`Self::ALL`].
    pub(super) fn known(format: &str) -> Self {
        Self(format.to_owned())
    }

    /// Days since 1970-01-01, in UTC where an offset follows; `None` of other text.
    pub fn days(&self, text: &str) -> Option<f64> {
        let mut rest = text.trim();
        let (mut year, mut month, mut date) = (None, None, None);
        let (mut of_day, mut has_time) = (0, false);
        let mut format = self.0.chars();
        while let Some(c) = format.next() {
            if c != '%' {
                rest = rest.strip_prefix(c)?;
                continue;
            }
            let mut take = |least, most| {
                let (number, after) = leading(rest, least, most)?;
                rest = after;
                Some(number)
            };
            match format.next()? {
                'Y' => year = Some(take(4, 4)?),
                'y' => year = take(2, 2).map(|year| year + if year < 69 { 2000 } else { 1900 }),
                'm' => month = Some(take(1, 2)?),
                'd' => date = Some(take(1, 2)?),
                'H' => (of_day, has_time) = (of_day + 3600 * below(take(1, 2)?, 24)?, true),
                'M' => of_day += 60 * below(take(2, 2)?, 60)?,
                'S' => of_day += below(take(2, 2)?, 61)?,
                _ => return None,
            }
        }
        let days = day(year?, month?, date?)? as f64 + of_day as f64 / 86_400.0;
        match rest.strip_prefix(['T', 't', ' ']) {
            _ if rest.is_empty() => Some(days),
            Some(time) if !has_time => Some(days + seconds(time)? / 86_400.0),
            _ => None,
        }
    }
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
            .all(|letter| matches!(letter, Some(c) if "YymdHMS".contains(*c)));
        let whole = has('m') && has('d') && (has('Y') != has('y'));
        match known && whole {
            true => Ok(Self(text.to_owned())),
            false => Err(Error::parameter(format!(
                "{text:?} is no format of dates; write one such as %d.%m.%Y, of %Y or %y, %m, %d, \
                 %H, %M and %S"
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
        ] {
            let found: DateFormat = format.parse().expect(format);
            assert_eq!(found.days(text), days, "{text:?} by {format}");
        }
        for bad in ["", "%d.%m", "%d.%m.%Y.%y", "%q%d%m%Y", "%d.%m.%Y%"] {
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
