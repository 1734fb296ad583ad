//! What options are given as: numbers, sizes, names.

use bochner::data::Format;
use clap::builder::{PathBufValueParser, TypedValueParser};
use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

/// A number of bytes with an optional suffix.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (base, power) = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => (1, 0),
        "k" | "kib" => (1024, 1),
        "m" | "mib" => (1024, 2),
        "g" | "gib" => (1024, 3),
        "t" | "tib" => (1024, 4),
        "kb" => (1000, 1),
        "mb" => (1000, 2),
        "gb" => (1000, 3),
        "tb" => (1000, 4),
        _ => (0, 1),
    };
    let unit = f64::from(base).powi(power);
    let value = digits.trim().parse::<f64>().unwrap_or(f64::NAN) * unit;
    if value >= 1.0 && value < 2_f64.powi(63) {
        return Ok(value as u64);
    }
    Err("must be a positive number of bytes, such as 256M or 1.5GiB".into())
}

/// The path of a file or folder that is written and has a name. `-` is standard output to other
/// options, so a file of that name is written only where a folder stands before it.
pub(crate) fn named() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if path == Path::new("-") {
            Err("this goes to a file or folder, not to standard output; give a name")
        } else {
            Ok(path)
        }
    })
}

/// A format by the extension of its files.
pub(crate) fn format(text: &str) -> Result<Format, String> {
    let known = Format::from_path(format!("input.{}", text.trim()));
    known.ok_or_else(|| "must be csv, libsvm, npy, npz, parquet, arrow, xlsx or sqlite".into())
}

/// One character, or the name of the tab, which shells make hard to type.
pub(crate) fn delimiter(text: &str) -> Result<char, String> {
    let mut characters = text.chars();
    match (text, characters.next(), characters.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        (_, Some(one), None) => Ok(one),
        _ => Err("must be one character, or tab".into()),
    }
}

/// A positive finite number.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("must be a positive number".into()),
    }
}

/// A whole number.
pub(crate) fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    let problem = |_| "must be a whole number from 0 to 2^64 - 1".into();
    text.trim().parse().map_err(problem)
}

/// A whole number from 1 on.
pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err("must be a whole number, 1 or more".into()),
    }
}

/// Rows after which a row counts for half.
pub(crate) fn half_life(text: &str) -> Result<f64, String> {
    match positive(text) {
        Ok(rows) if rows >= 1.0 => Ok(rows),
        _ => Err("must be a number of rows, 1 or more".into()),
    }
}

/// A number between 0 and 1, both excluded.
pub(crate) fn fraction(text: &str) -> Result<f64, String> {
    match positive(text) {
        Ok(value) if value < 1.0 => Ok(value),
        _ => Err("must lie between 0 and 1, both excluded".into()),
    }
}

/// A share of rows, which may be none of them.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..1.0).contains(&value) => Ok(value),
        _ => Err("must lie between 0 and 1, 1 excluded".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner::Run;

    #[test]
    fn bytes_with_and_without_suffixes() {
        for (text, value) in [
            ("1", 1),
            ("4096", 4096),
            ("64K", 64 << 10),
            ("128m", Run::DEFAULT_MEMORY),
            ("1.5GiB", 3 << 29),
            ("2 GB", 2_000_000_000),
            ("1T", 1 << 40),
        ] {
            assert_eq!(bytes(text), Ok(value), "{text}");
        }
        for text in ["", "K", "0", "-1M", "1Q", "nan", "inf", "1e30", "M1"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
