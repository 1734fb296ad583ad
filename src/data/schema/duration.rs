//! Times of day and lengths of time as days.

use super::date::{clock, digits, half, of_day};

/// What one part of a length of time is called, and its seconds.
const UNITS: [(&[&str], f64); 4] = [
    (&["d", "day", "days"], 86_400.0),
    (&["h", "hr", "hrs", "hour", "hours"], 3600.0),
    (&["m", "min", "mins", "minute", "minutes"], 60.0),
    (&["s", "sec", "secs", "second", "seconds"], 1.0),
];
/// Digits of hours and of numbers before units, at most.
const MOST_DIGITS: usize = 9;

/// Days of `13:45`, `13:45:10.5`, `1:45 PM`, `-0:30`, `1h 20m`, `2 days 4 hours`; `None` of other
/// text. Before minutes there may be any number of hours. Units go down, and the last alone may
/// have a fraction.
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
        None => in_units(text),
    }
}

/// A number of digits alone.
fn whole(text: &str) -> Option<f64> {
    let number = digits(text).filter(|_| text.len() <= MOST_DIGITS)?;
    Some(number as f64)
}

/// Numbers, each with its unit behind it.
fn in_units(text: &str) -> Option<f64> {
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

    #[test]
    fn times_are_days() {
        // In hours, to be read.
        for (text, wanted) in [
            ("13:45", Some(13.75)),
            ("0:30", Some(0.5)),
            ("-0:30", Some(-0.5)),
            ("125:30:00", Some(125.5)),
            ("00:00:01.8", Some(0.0005)),
            ("1:45 PM", Some(13.75)),
            ("12:15 am", Some(0.25)),
            ("13:15 pm", None),
            ("-1:00 PM", None),
            ("1h 20m", Some(1.0 + 20.0 / 60.0)),
            ("1h20m", Some(1.0 + 20.0 / 60.0)),
            ("90 min", Some(1.5)),
            ("2 days 4 hours", Some(52.0)),
            ("1.5h", Some(1.5)),
            ("36 s", Some(0.01)),
            ("1.5h 20m", None),
            ("20m 1h", None),
            ("1h 1h", None),
            ("13:60", None),
            ("13:4", None),
            ("13", None),
            ("13:45:10:00", None),
            ("13:45:1.x", None),
            ("h", None),
            ("", None),
            ("-", None),
            ("1h x", None),
            ("1:a", None),
            ("5 kg", None),
        ] {
            let found = days(text).map(|days| 24.0 * days);
            let fits = match (found, wanted) {
                (Some(found), Some(wanted)) => (found - wanted).abs() < 1e-12,
                (found, wanted) => found == wanted,
            };
            assert!(fits, "{text:?}: {found:?} for {wanted:?}");
        }
    }
}
