//! Times of day and lengths of time as days.

use super::date::{clock, half, of_day};
use crate::data::schema::digits::digits;

/// What one part of a length of time is called, and its seconds.
const UNITS: [(&[&str], f64); 4] = [
    (&["d", "day", "days"], 86_400.0),
    (&["h", "hr", "hrs", "hour", "hours"], 3600.0),
    (&["m", "min", "mins", "minute", "minutes"], 60.0),
    (&["s", "sec", "secs", "second", "seconds"], 1.0),
];
/// Digits of hours and of numbers before units, at most.
const MOST_DIGITS: usize = 9;

/// Days of `13:45`, `13:45:10.5`, `1:45 PM`, `-0:30`, `1h 20m`, `2 days 4 hours`, `PT15M34S`;
/// `None` of other text. Before minutes there may be any number of hours. Units go down, and the
/// last alone may have a fraction.
pub(super) fn days(text: &str) -> Option<f64> {
    let text = text.trim();
    let seconds = match (half(text), text.strip_prefix(['-', '\u{2212}'])) {
        (Some(_), _) => of_day(text, 0)?,
        (None, Some(rest)) => -seconds(rest)?,
        (None, None) => seconds(text)?,
    };
    Some(seconds / 86_400.0)
}

fn seconds(text: &str) -> Option<f64> {
    match clock(text) {
        Some((hours, minutes, seconds)) => {
            Some(3600.0 * whole(hours)? + 60.0 * minutes as f64 + seconds)
        }
        None => iso(text).or_else(|| in_units(text)),
    }
}

/// A length of time by ISO 8601: `PT15M34S`, `P1DT2H`, `P2W`. Years and months have no length of
/// their own, and are none here.
fn iso(text: &str) -> Option<f64> {
    let rest = text.strip_prefix('P')?;
    let (date, time) = match rest.split_once('T') {
        Some((_, "")) => return None,
        Some(both) => both,
        None => (rest, ""),
    };
    if let (Some(weeks), "") = (date.strip_suffix('W'), time) {
        return Some(7.0 * 86_400.0 * whole(weeks)?);
    }
    let is_of = |part: &str, units: &str| {
        part.chars()
            .all(|c| c.is_ascii_digit() || units.contains(c))
    };
    // A comma may stand before the fraction.
    let fits = is_of(date, "D") && is_of(time, "HMS.,");
    let fits = fits && (date.is_empty() || date.ends_with('D')) && date.matches('D').count() < 2;
    fits.then(|| in_units(&[date, time].concat().to_lowercase().replace(',', ".")))?
}

/// A number of digits alone.
fn whole(text: &str) -> Option<f64> {
    let number = digits(text).filter(|_| text.len() <= MOST_DIGITS)?;
    Some(number as f64)
}

/// Seconds of a unit by its name.
pub(super) fn seconds_of(unit: &str) -> Option<f64> {
    let found = UNITS.iter().find(|(names, _)| names.contains(&unit))?;
    Some(found.1)
}

/// Seconds of numbers, each with its unit behind it.
pub(super) fn in_units(text: &str) -> Option<f64> {
    let (mut rest, mut sum, mut units) = (text, 0.0, &UNITS[..]);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, behind) = rest.split_at(end);
        let behind = behind.trim_start();
        let end = behind.find(|c: char| !c.is_ascii_alphabetic());
        let (unit, after) = behind.split_at(end.unwrap_or(behind.len()));
        let at = units.iter().position(|(names, _)| names.contains(&unit))?;
        rest = after.trim_start();
        let value: f64 = match rest {
            "" => number.parse().ok()?,
            _ => whole(number)?,
        };
        sum += value * units[at].1;
        units = &units[at + 1..];
    }
    (!text.is_empty()).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Days, told in hours, to be read.
    fn assert_hours(cases: &[(&str, Option<f64>)]) {
        for &(text, wanted) in cases {
            let found = days(text).map(|days| 24.0 * days);
            let fits = match (found, wanted) {
                (Some(found), Some(wanted)) => (found - wanted).abs() < 1e-12,
                (found, wanted) => found == wanted,
            };
            assert!(fits, "{text:?}: {found:?} for {wanted:?}");
        }
    }

    #[test]
    fn clocks_are_days() {
        assert_hours(&[
            ("13:45", Some(13.75)),
            ("0:30", Some(0.5)),
            ("-0:30", Some(-0.5)),
            ("125:30:00", Some(125.5)),
            ("00:00:01.8", Some(0.0005)),
            ("1:45 PM", Some(13.75)),
            ("12:15 am", Some(0.25)),
            ("13:15 pm", None),
            ("-1:00 PM", None),
            ("13:60", None),
            ("13:4", None),
            ("13:45:10:00", None),
            ("13:45:1.x", None),
            ("1:a", None),
        ]);
    }

    #[test]
    fn times_with_units_are_days() {
        assert_hours(&[
            ("1h 20m", Some(1.0 + 20.0 / 60.0)),
            ("1h20m", Some(1.0 + 20.0 / 60.0)),
            ("90 min", Some(1.5)),
            ("2 days 4 hours", Some(52.0)),
            ("1.5h", Some(1.5)),
            ("36 s", Some(0.01)),
            ("1.5h 20m", None),
            ("20m 1h", None),
            ("1h 1h", None),
            ("13", None),
            ("h", None),
            ("", None),
            ("-", None),
            ("1h x", None),
            ("5 kg", None),
        ]);
    }

    #[test]
    fn durations_of_iso_8601_are_days() {
        assert_hours(&[
            ("PT15M36S", Some(0.26)),
            ("P1DT2H", Some(26.0)),
            ("PT0.5H", Some(0.5)),
            ("PT0,5H", Some(0.5)),
            ("-PT90M", Some(-1.5)),
            ("P2W", Some(336.0)),
            ("P3D", Some(72.0)),
            ("P1M", None),
            ("P1Y", None),
            ("P1DT", None),
            ("PT", None),
            ("P", None),
            ("P2H", None),
            ("P5T3H", None),
            ("P1D2T3H", None),
            ("PT1D", None),
            ("PT1M1H", None),
            ("PT0.5H1M", None),
            ("P1WT1H", None),
            ("pt5m", None),
        ]);
    }
}
