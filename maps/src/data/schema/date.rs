//! Dates and times as numbers.

mod names;

use super::{
    digits::{digits, two},
    zone,
};

pub(super) use names::{after_weekday, month, weekday};

/// Days since 1970-01-01, of a date by ISO 8601 in the Gregorian calendar: `2024-02-29`, with a
/// time `T13:45`, `T13:45:01` or `T13:45:01.5` after it (or a blank in the place of T), and after
/// that `Z`, an offset `+01:00` or the name of a zone ` CET`, which is subtracted. A time may end
/// in ` AM` or ` PM`. Months, days and hours may be of one digit, `2024-2-9 9:30`, as spreadsheets
/// have them. `_` or `-` may stand for T, and points or `-` in the place of colons, as in names of
/// files and in databases: `2024-02-29-13.45.01.5`. `None` if it is no such date.
///
/// A leap second counts as the first of the next minute, and 24:00 as the next day.
pub(super) fn days(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    if bytes.len() < 8 || !text.is_ascii() || bytes[4] != b'-' {
        return None;
    }
    let (month, rest) = text[5..].split_once('-')?;
    let (day_of_month, time) = rest.split_at(rest.find(BEFORE_TIMES).unwrap_or(rest.len()));
    let few = |part: &str| digits(part).filter(|_| part.len() <= 2);
    let date = day(digits(&text[..4])?, few(month)?, few(day_of_month)?)? as f64;
    match time.strip_prefix(BEFORE_TIMES) {
        _ if time.is_empty() => Some(date),
        Some(rest) if time.starts_with(['T', 't', ' ']) => {
            let seconds = seconds_behind(rest).or_else(|| without_colons(rest))?;
            Some(date + seconds / 86_400.0)
        }
        Some(rest) => Some(date + without_colons(rest)? / 86_400.0),
        None => None,
    }
}

/// What stands between a date and a time.
const BEFORE_TIMES: [char; 5] = ['T', 't', ' ', '_', '-'];

/// Seconds since midnight of `13.45.01`, `13-45-01` or `13.45.01.5`.
fn without_colons(text: &str) -> Option<f64> {
    let mark = text
        .as_bytes()
        .get(2)
        .copied()
        .filter(|mark| b".-".contains(mark))?;
    let (clock, fraction) = text.split_at_checked(8)?;
    let is_alike =
        clock.as_bytes()[5] == mark && (fraction.is_empty() || fraction.starts_with('.'));
    let clock = clock.replace(char::from(mark), ":");
    is_alike.then(|| of_day(&format!("{clock}{fraction}"), 0))?
}

/// [`seconds`] of a time behind a date, whose hours may be of one digit, as spreadsheets have them.
pub(super) fn seconds_behind(text: &str) -> Option<f64> {
    match text.as_bytes() {
        [hour, b':', ..] if hour.is_ascii_digit() => seconds(&format!("0{text}")),
        _ => seconds(text),
    }
}

/// Days from 1970-01-01 to a day; `None` of one that no calendar has.
pub(super) fn day(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=length).contains(&day).then(|| civil(year, month, day))
}

/// Days from 1970-01-01 to a day of the Gregorian calendar. A year of 400 has 146,097 days; years
/// are counted from March, so that a leap day is their last.
pub(super) fn civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date by ISO 8601 that is so many days from 1970-01-01, with the time to the second unless it
/// is midnight.
#[doc(hidden)]
pub fn text(days: f64) -> String {
    let seconds = whole_seconds(days);
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, date) = calendar(day);
    match second {
        0 => format!("{year:04}-{month:02}-{date:02}"),
        _ => format!(
            "{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}",
            second / 3600,
            second / 60 % 60,
            second % 60
        ),
    }
}

/// Seconds from 1970-01-01 to a date, which is so many days from it.
pub(super) fn whole_seconds(days: f64) -> i64 {
    // Beyond it years have more digits than a text of a date; the day stays the same.
    (days.clamp(-1e9, 1e9) * 86_400.0).round() as i64
}

/// Year, month and day of the month of a day, as [`civil`] takes them.
pub(super) fn calendar(day: i64) -> (i64, i64, i64) {
    // Years are counted from March here, too.
    let day = day + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, date)
}

/// Seconds since midnight in UTC: `13:45`, `13:45:01.5Z`, `1:45 PM`, `13:45 CET`, `13:45 +0100`.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let named = text.rsplit_once(' ');
    if let Some((time, minutes)) = named.and_then(|(time, name)| Some((time, zone::minutes(name)?)))
    {
        return of_day(time, minutes);
    }
    let (time, offset) = match text.find(['Z', 'z', '+', '-']) {
        None => (text, 0),
        Some(at) => (text[..at].trim_end_matches(' '), zone::offset(&text[at..])?),
    };
    of_day(time, offset)
}

/// Seconds since midnight of a time of day, in 24 hours or in twice 12, that lies so many minutes
/// ahead of UTC.
pub(super) fn of_day(time: &str, offset: i64) -> Option<f64> {
    match half(time) {
        None => {
            let (hours, minutes, seconds) = clock(time)?;
            let hours = digits(two(hours)?)?;
            let is_end = hours == 24 && minutes == 0 && seconds == 0.0;
            (hours < 24 || is_end)
                .then_some((3600 * hours + 60 * (minutes - offset)) as f64 + seconds)
        }
        Some((time, noon)) => {
            let (hours, minutes, seconds) = clock(time)?;
            // From 12, which is none, to 11.
            let hours = digits(hours).filter(|hours| (1..=12).contains(hours))? % 12;
            Some((3600 * hours + 60 * (minutes - offset) + noon) as f64 + seconds)
        }
    }
}

/// A time before noon or after it, without the words that say which, and the seconds of these.
pub(super) fn half(time: &str) -> Option<(&str, i64)> {
    let of = |words: &[&str]| {
        let mut rests = words.iter().filter_map(|word| time.strip_suffix(word));
        rests.next().map(|rest| rest.trim_end_matches(' '))
    };
    let morning = of(&["AM", "am", "a.m.", "A.M."]).map(|rest| (rest, 0));
    morning.or_else(|| Some((of(&["PM", "pm", "p.m.", "P.M."])?, 43_200)))
}

/// `13:45`, `13:45:01.5` or `13:45:01,5`: the hours as they are written, minutes and seconds, of
/// which the last may be a leap second.
pub(super) fn clock(text: &str) -> Option<(&str, i64, f64)> {
    let mut parts = text.splitn(3, ':');
    let (hours, minutes) = (parts.next()?, digits(two(parts.next()?)?)?);
    let seconds = match parts.next() {
        None => 0.0,
        Some(text) => {
            // As logs of Python have it: `01,500`.
            let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, "0"));
            digits(fraction)?;
            digits(two(whole)?)?;
            format!("{whole}.{fraction}").parse::<f64>().ok()?
        }
    };
    (minutes < 60 && seconds < 61.0).then_some((hours, minutes, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        for (text, wanted) in [
            ("1970-01-01", 0.0),
            ("1970-01-02", 1.0),
            ("1969-12-31", -1.0),
            // Known from `date -u -d DATE +%s`, divided by 86,400.
            ("2000-02-29", 11_016.0),
            ("2000-03-01", 11_017.0),
            ("2024-12-31", 20_088.0),
            ("1900-03-01", -25_508.0),
            ("0001-01-01", -719_162.0),
            ("9999-12-31", 2_932_896.0),
            ("1970-01-01T12:00", 0.5),
            ("1970-01-01 12:00:00", 0.5),
            ("1970-01-01T00:00:43.2", 0.0005),
            ("1970-01-01T12:00Z", 0.5),
            ("1970-01-01T01:30:00+01:30", 0.0),
            ("1970-01-01T01:00-0100", 2.0 / 24.0),
            ("1970-01-01T01:00+01", 0.0),
            ("1970-01-01T23:59:60", 1.0),
            ("1970-01-01 12:00:00 UTC", 0.5),
            ("1970-01-01 12:00 GMT", 0.5),
            ("1970-01-01 13:00:00 +0100", 0.5),
            ("1970-01-01 1:30 PM", 13.5 / 24.0),
            ("1970-1-2", 1.0),
            ("1970-01-2 6:00", 1.25),
            ("1970-01-01 9:00", 9.0 / 24.0),
            ("1970-01-01 12:00:43,2", 0.5005),
            ("1970-01-01-12.00.43.200000", 0.5005),
            ("1970-01-01-12.00.00", 0.5),
            ("1970-01-01_12-00-00", 0.5),
            ("1970-01-01 12.00.00", 0.5),
            ("1970-01-01T24:00", 1.0),
            ("1970-01-01 24:00:00", 1.0),
            ("1970-01-01 6:00:00", 0.25),
            ("1970-01-01 12:00 AM", 0.0),
            ("1970-01-01 12:15:00pm", 12.25 / 24.0),
            ("1970-01-01 01:00 AM UTC", 1.0 / 24.0),
            ("1970-01-01 14:00:00 CEST", 0.5),
            ("1970-01-01 07:00 AM EST", 0.5),
        ] {
            assert_eq!(days(text), Some(wanted), "{text}");
        }
    }

    /// Every day of four centuries follows the one before it.
    #[test]
    fn calendars_have_no_gaps() {
        let mut next = days("1800-01-01").expect("a date");
        for year in 1800..2200 {
            for month in 1..=12 {
                for day in 1..=31 {
                    if let Some(found) = days(&format!("{year:04}-{month:02}-{day:02}")) {
                        assert_eq!(found, next, "{year}-{month}-{day}");
                        assert_eq!(text(found), format!("{year:04}-{month:02}-{day:02}"));
                        next += 1.0;
                    }
                }
            }
        }
        assert_eq!(Some(next), days("2200-01-01"));
        assert_eq!(next - days("1800-01-01").expect("a date"), 146_097.0);
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "2024",
            "2024-1-101",
            "2024-001-01",
            "2024--1-1",
            "24-01-01",
            "2024-13-01",
            "2024-00-01",
            "2023-02-29",
            "1900-02-29",
            "2024-04-31",
            "2024-01-00",
            "2024/01/01",
            "2024-01-01T",
            "2024-01-01T24:01",
            "2024-01-01T24:00:01",
            "2024-01-01T25:00",
            "2024-01-01-12.00",
            "2024-01-01-12.00-00",
            "2024-01-01-12.00.00,5",
            "2024-01-01_12:00:00",
            "2024-01-01-12",
            "2024-01-01T12:60",
            "2024-01-01T12",
            "2024-01-01T12:00:61",
            "2024-01-01T12:00:1",
            "2024-01-01T12:00:00.",
            "2024-01-01T12:00+1",
            "2024-01-01x12:00",
            "2024-01-01T-1:00",
            "2024-01-01 13:00 PM",
            "2024-01-01 0:30 AM",
            "2024-01-01 PM",
            "2024-01-01 12:00 BST",
            "2024-01-01 CET",
            "2024-01-01 12:00+01:00 CET",
            "2024-01-01 12:00UTC",
            "2024-01-0é",
            "01.02.2024",
        ] {
            assert_eq!(days(text), None, "{text}");
        }
    }
}
