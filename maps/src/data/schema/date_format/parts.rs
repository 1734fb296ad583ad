//! Parts of a date, taken from a text one by one.

use super::super::{
    century::USUAL,
    date::{day, month, weekday},
    zone::offset,
};

/// What a text has told of a date.
#[derive(Default)]
pub(super) struct Parts {
    year: Option<i64>,
    month: Option<i64>,
    date: Option<i64>,
    of_year: Option<i64>,
    week: Option<i64>,
    weekday: Option<i64>,
    /// Seconds since midnight, and those that the time lies ahead of UTC.
    clock: i64,
    fraction: f64,
    offset: i64,
    has_time: bool,
}

impl Parts {
    /// Takes what a letter stands for from the front of a text, and gives the rest; `least` is the
    /// first year of two digits.
    pub(super) fn take<'a>(
        &mut self,
        (letter, least): (char, Option<i64>),
        text: &'a str,
    ) -> Option<&'a str> {
        match letter {
            'Y' | 'G' | 'y' | 'm' | 'b' | 'B' | 'd' | 'j' | 'V' | 'u' => {
                self.take_day((letter, least), text)
            }
            'a' | 'A' => {
                let (name, rest) = word(text);
                weekday(name).map(|_| rest)
            }
            'f' => {
                let end = text.find(|c: char| !c.is_ascii_digit());
                let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
                let fits = (1..=9).contains(&digits.len());
                self.fraction = fits.then(|| format!("0.{digits}").parse().ok())??;
                Some(rest)
            }
            'z' | 'Z' => {
                let (zone, rest) = text.split_at(text.find(' ').unwrap_or(text.len()));
                self.offset = 60 * offset(zone)?;
                self.has_time = true;
                Some(rest)
            }
            _ => {
                let (seconds, rest) = of_time(letter, text)?;
                self.clock += seconds;
                self.has_time = true;
                Some(rest)
            }
        }
    }

    fn take_day<'a>(
        &mut self,
        (letter, least): (char, Option<i64>),
        text: &'a str,
    ) -> Option<&'a str> {
        let number = |least, most| leading(text, least, most);
        let (part, (value, rest)) = match letter {
            'y' => {
                let (year, rest) = number(2, 2)?;
                let century = if year < least.unwrap_or(USUAL) {
                    2000
                } else {
                    1900
                };
                (&mut self.year, (century + year, rest))
            }
            'm' => (&mut self.month, number(1, 2)?),
            'b' | 'B' => {
                let (name, rest) = word(text);
                (&mut self.month, (month(name)?, without_point(rest)))
            }
            'd' => {
                let (date, rest) = number(1, 2)?;
                (&mut self.date, (date, without_ordinal(rest)))
            }
            'j' => (&mut self.of_year, number(1, 3)?),
            'V' => (&mut self.week, number(1, 2)?),
            'u' => (&mut self.weekday, number(1, 1)?),
            _ => (&mut self.year, number(4, 4)?),
        };
        *part = Some(value);
        Some(rest)
    }

    /// Whether there was something of a time.
    pub(super) fn has_time(&self) -> bool {
        self.has_time
    }

    /// Days from 1970-01-01 with the time. A day ends at 24:00.
    pub(super) fn days(&self) -> Option<f64> {
        let seconds = (self.clock <= 86_400).then(|| self.clock - self.offset)?;
        Some(self.day()? as f64 + (seconds as f64 + self.fraction) / 86_400.0)
    }

    fn day(&self) -> Option<i64> {
        let year = self.year?;
        if let Some(week) = self.week {
            let found = first_monday(year)? + 7 * (week - 1);
            let day = self.weekday.unwrap_or(1);
            let fits = week >= 1 && found < first_monday(year + 1)? && (1..=7).contains(&day);
            return fits.then_some(found + day - 1);
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
        'H' => part(1, 25, 3600),
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
        _ => None,
    }
}

/// The letters that text begins with, and what follows.
fn word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_alphabetic());
    text.split_at(end.unwrap_or(text.len()))
}

/// Without the point of a name that is cut short: `févr. 2021`, but `12.Mar.2021`.
fn without_point(text: &str) -> &str {
    let rest = text.strip_prefix('.');
    let rest = rest.filter(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
    rest.unwrap_or(text)
}

/// Without what makes a day an ordinal: `2nd`, `1er`, `1º`.
fn without_ordinal(text: &str) -> &str {
    let ends = ["st", "nd", "rd", "th", "er", "º"];
    let rest = ends.iter().find_map(|end| text.strip_prefix(end));
    let rest = rest.filter(|rest| !rest.starts_with(char::is_alphanumeric));
    rest.unwrap_or(text)
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
