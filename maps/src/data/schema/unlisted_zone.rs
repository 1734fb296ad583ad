//! Names of zones that mean two, or none.

use super::{DateFormat, date::days, zone::minutes};

/// The name of a zone behind what is a date and a time without it, whose offset is not known:
/// `BST`, `America/New_York`.
pub(super) fn find(text: &str) -> Option<&str> {
    let (time, name) = text.trim().rsplit_once(' ')?;
    let is_short = (2..=5).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_uppercase());
    let is_place = name.contains('/') && name.starts_with(|c: char| c.is_ascii_uppercase());
    let is_half = matches!(name, "AM" | "PM");
    let is_zone = (is_short || is_place) && minutes(name).is_none() && !is_half;
    let is_date = || {
        let mut known = DateFormat::all();
        time.contains(':') && (days(time).is_some() || known.any(|f| f.days(time).is_some()))
    };
    (is_zone && is_date()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_behind_dates_are_unknown_zones() {
        for (text, name) in [
            ("2021-03-12 10:00 BST", Some("BST")),
            (
                "2021-03-12T10:00:00 America/New_York",
                Some("America/New_York"),
            ),
            ("03/12/2021 02:15 PM IST", Some("IST")),
            ("12 Mar 2021 10:00 AEDT", Some("AEDT")),
            ("2021-03-12 10:00 EST", None),
            ("2021-03-12 10:00 PM", None),
            ("2021-03-12 BST", None),
            ("2021-03-12 10:00 soon", None),
            ("at 10:00 BST", None),
            ("10:00 BST", None),
            ("BST", None),
        ] {
            assert_eq!(find(text), name, "{text}");
        }
    }
}
