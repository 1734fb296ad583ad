//! Whether names that differ in capitals alone are one unit: `kg` and `KG` are, `mg` and `Mg` not.

/// Short names of one meaning whose first letter or last would have two.
const SAFE: [&str; 8] = ["lb", "mi", "min", "mins", "mph", "pcs", "ppb", "ppm"];
/// Short names that are two units by their capitals: calories, marks, knots, nanometres.
const TWO: [&str; 5] = ["cal", "dm", "kn", "nm", "um"];
/// Letters from which on a name is a word.
const WORD: usize = 5;

/// Whether two names are those of one unit.
pub(super) fn are_one(one: &str, other: &str) -> bool {
    one == other || (one.eq_ignore_ascii_case(other) && !(are_told(one) && are_told_by(one, other)))
}

/// Whether capitals tell units of this name apart: behind `m` and `p` they tell a thousandth from
/// a million, and before `b` bits from bytes.
fn are_told(name: &str) -> bool {
    let parts = name.split(|c: char| !c.is_ascii_alphabetic());
    let mut parts = parts.filter(|part| !part.is_empty()).map(str::to_lowercase);
    let is_single = name.chars().count() == 1;
    parts.any(|part| {
        let has_prefix = part.starts_with(['m', 'p']);
        let is_short = part.len() < WORD && !SAFE.contains(&part.as_str());
        let tells = is_single || has_prefix || part.ends_with('b') || TWO.contains(&part.as_str());
        is_short && tells
    })
}

/// Whether they differ in another letter than that of litres, which has both forms: `mL`.
fn are_told_by(one: &str, other: &str) -> bool {
    one.bytes()
        .zip(other.bytes())
        .any(|(a, b)| a != b && !a.eq_ignore_ascii_case(&b'l'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_make_two_units_where_they_are_prefixes() {
        for (one, other) in [
            ("EUR", "eur"),
            ("kg", "KG"),
            ("kWh", "KWH"),
            ("mL", "ml"),
            ("mg/dl", "mg/dL"),
            ("l", "L"),
            ("Stars", "stars"),
            ("minutes", "Minutes"),
            ("min", "MIN"),
            ("km/h", "KM/H"),
            ("Rs.", "rs."),
            ("°C", "°c"),
        ] {
            assert!(are_one(one, other) && are_one(other, one), "{one} {other}");
        }
        for (one, other) in [
            ("m", "M"),
            ("mW", "MW"),
            ("mg", "Mg"),
            ("mg/l", "Mg/l"),
            ("Mb", "MB"),
            ("kB", "kb"),
            ("s", "S"),
            ("cal", "Cal"),
            ("kg", "g"),
            ("€", "$"),
        ] {
            assert!(
                !are_one(one, other) && !are_one(other, one),
                "{one} {other}"
            );
        }
    }
}
