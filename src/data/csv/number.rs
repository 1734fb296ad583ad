//! Fields that are numbers.

use crate::data::{rows::EXACT, table::short};

/// What is said of a whole number that f64 rounds, in a feature and in a target.
pub(in crate::data) const ROUNDED: &str = "is a whole number beyond 2^53, of which f64 keeps 15 \
    digits; subtract an offset before saving if the last ones matter";
/// Two labels could become one.
pub(in crate::data) const BEYOND: &str = "is a whole number beyond 2^53, which f64 cannot hold \
    exactly; renumber the targets";

/// The finite number that a field holds, and whether it is no whole number that f64 had to round;
/// otherwise what is wrong and what to do.
pub(in crate::data) fn number(field: &[u8]) -> std::result::Result<(f64, bool), String> {
    let text = match std::str::from_utf8(field) {
        Ok(text) => text.trim(),
        Err(_) => return Err("is not UTF-8 text; write it as a number".into()),
    };
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((value, value.abs() < EXACT || is_exact(text, value))),
        Ok(value) => {
            let value = if value.is_nan() { "NaN" } else { "infinite" };
            Err(format!(
                "is {value}; remove the row or fill in a finite value"
            ))
        }
        Err(_) if text.is_empty() => Err("is empty; remove the row or fill in a value".into()),
        Err(_) => Err(format!(
            "holds the text {}; encode it as a number or remove it",
            short(text)
        )),
    }
}

/// Whether `value` is `text`, if that is a whole number written without a point or an exponent.
fn is_exact(text: &str, value: f64) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return true;
    }
    // What i128 does not hold has more digits than anything that is counted.
    text.parse::<i128>()
        .is_ok_and(|whole| value as i128 == whole)
}
