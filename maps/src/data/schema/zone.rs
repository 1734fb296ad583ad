//! Zones of times: how far they lie ahead of UTC.

use super::digits::{digits, two};

/// Names of one meaning, with their hours: those of RFC 2822, section 4.3, and of Europe. BST, IST
/// and others mean two zones or more.
const NAMES: [(&str, i64); 16] = [
    ("UTC", 0),
    ("GMT", 0),
    ("EST", -5),
    ("EDT", -4),
    ("CST", -6),
    ("CDT", -5),
    ("MST", -7),
    ("MDT", -6),
    ("PST", -8),
    ("PDT", -7),
    ("WET", 0),
    ("WEST", 1),
    ("CET", 1),
    ("CEST", 2),
    ("EET", 2),
    ("EEST", 3),
];

/// Minutes that the zone of this name lies ahead of UTC.
pub(super) fn minutes(name: &str) -> Option<i64> {
    let found = NAMES.iter().find(|(own, _)| *own == name)?;
    Some(60 * found.1)
}

/// Minutes that a time lies ahead of UTC: `Z`, `UTC`, `CET`, `+01:00`, `+0100`, `+01`.
pub(super) fn offset(text: &str) -> Option<i64> {
    if text.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    if let Some(minutes) = minutes(text) {
        return Some(minutes);
    }
    let (sign, rest) = text.split_at_checked(1)?;
    if !matches!(sign, "+" | "-") {
        return None;
    }
    let (hours, minutes) = match rest.len() {
        2 => (rest, "00"),
        4 => rest.split_at(2),
        5 => rest.split_once(':')?,
        _ => return None,
    };
    let minutes = 60 * digits(two(hours)?)? + digits(two(minutes)?)?;
    Some(if sign == "-" { -minutes } else { minutes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_known_by_offset_or_name() {
        for (text, minutes) in [
            ("Z", Some(0)),
            ("z", Some(0)),
            ("UTC", Some(0)),
            ("+01:30", Some(90)),
            ("-0800", Some(-480)),
            ("+01", Some(60)),
            ("EST", Some(-300)),
            ("EDT", Some(-240)),
            ("PDT", Some(-420)),
            ("CEST", Some(120)),
            ("EEST", Some(180)),
            ("BST", None),
            ("est", None),
            ("+1", None),
            ("01:00", None),
            ("", None),
        ] {
            assert_eq!(offset(text), minutes, "{text}");
        }
    }
}
