//! Fields that are numbers.

use crate::data::{
    files::table::short,
    rows::EXACT,
    schema::{Marks, USUAL, infinite, is_null_token, missing, refused},
};
use crate::error::{Error, Remedy};
use std::fmt;

/// What is said of a whole number that f64 rounds, in a feature and in a target.
pub(in crate::data) const ROUNDED: &str = "is a whole number beyond 2^53, of which f64 keeps 15 \
    digits; subtract an offset before saving if the last ones matter";
/// Two labels could become one.
pub(in crate::data) const BEYOND: &str = "is a whole number beyond 2^53, which f64 cannot hold \
    exactly; renumber the targets";

/// What is wrong with a field that holds no finite number.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::data) enum Wrong {
    /// It has no value, as this says.
    Missing(String),
    Infinite,
    /// It holds a number with a comma that may stand before a fraction or between thousands.
    Open(String),
    /// It holds something else, as this says with what to do.
    Other(String),
}

impl Wrong {
    /// The error that `fault` makes of what it says, with what helps: of a feature, or of a target.
    pub(in crate::data) fn error(
        self,
        is_feature: bool,
        fault: impl FnOnce(&str) -> Error,
    ) -> Error {
        match self {
            Self::Missing(says) => refused(fault(&says), is_feature),
            Self::Infinite => infinite(fault("is infinite"), is_feature),
            Self::Open(says) => fault(&says)
                .help(Remedy::Decimal(','))
                .help(Remedy::Thousands(',')),
            Self::Other(says) => fault(&says),
        }
    }
}

/// In words, with what to do.
impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(says) => write!(f, "{says}; remove the row or fill in a value"),
            Self::Infinite => f.write_str("is infinite; remove the row or fill in a finite value"),
            Self::Open(says) => write!(f, "{says}; write it without the comma"),
            Self::Other(says) => f.write_str(says),
        }
    }
}

/// The finite number that a field holds, and whether it is no whole number that f64 had to round;
/// otherwise what is wrong.
pub(in crate::data) fn number(field: &[u8]) -> std::result::Result<(f64, bool), Wrong> {
    let text = match std::str::from_utf8(field) {
        Ok(text) => text.trim(),
        Err(_) => {
            return Err(Wrong::Other(
                "is not UTF-8 text; write it as a number".into(),
            ));
        }
    };
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((value, value.abs() < EXACT || is_exact(text, value))),
        Ok(value) if value.is_nan() => Err(Wrong::Missing(missing("NaN"))),
        Ok(_) if text.contains(|c: char| c.is_ascii_digit()) => Err(Wrong::Other(format!(
            "holds {}, which is beyond all numbers of f64; correct it or remove it",
            short(text)
        ))),
        Ok(_) => Err(Wrong::Infinite),
        Err(_) if text.is_empty() || USUAL.contains(&text) || is_null_token(text) => {
            Err(Wrong::Missing(missing(text)))
        }
        Err(_) => Err(open(text).unwrap_or_else(|| {
            Wrong::Other(format!(
                "holds the text {}; encode it as a number or remove it",
                short(text)
            ))
        })),
    }
}

/// What is said of `1,110`.
fn open(text: &str) -> Option<Wrong> {
    let value = |decimal, thousands| -> Option<f64> {
        let plain = Marks { decimal, thousands }.plain(text)?;
        plain.parse().ok()
    };
    let (fraction, whole) = (value(',', None)?, value('.', Some(','))?);
    let says = format!("{} may be {fraction} or {whole}", short(text));
    Some(Wrong::Open(says))
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
