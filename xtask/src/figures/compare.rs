//! Whether a page shows what is printed: words alike, numbers but for rounding, and of what the
//! machine and its clock decide the unit alone.

use std::mem::take;

/// Numbers before these are times, speeds and sizes of memory, which differ from run to run.
const MEASURED: [&str; 8] = ["s", "ms", "min", "per second", "B", "KiB", "MiB", "GiB"];
/// What stands behind this word is the machine's own.
const DEVICE: &str = "device ";
/// How far a number with a fraction may be off, in units of the last digit that the page has: half
/// a unit for its own rounding, and one for another machine's.
const UNITS: f64 = 1.5;
/// And in parts of the deviation behind it, where the page has one: matrix units of a processor sum
/// in another order, and a score of few rows shows it.
const OF_DEVIATION: f64 = 0.01;

/// The first of the lines shown that is not printed behind those before it, by its place, and the
/// line printed that is most like it. `printed` loses the lines up to the last that is shown.
pub(super) fn difference(shown: &str, printed: &mut Vec<String>) -> Option<(usize, String)> {
    for (place, line) in shown.lines().enumerate() {
        let Some(at) = printed.iter().position(|own| is_same(line, own)) else {
            return Some((place, nearest(line, printed)));
        };
        printed.drain(..=at);
    }
    None
}

/// The line with the most words in common, the first of several.
fn nearest(line: &str, printed: &[String]) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let alike = |own: &&String| {
        let own = own.split_whitespace();
        own.filter(|word| words.contains(word)).count()
    };
    let nearest = printed.iter().rev().max_by_key(alike);
    nearest.cloned().unwrap_or_default()
}

#[derive(Debug, PartialEq)]
enum Piece {
    /// What stands between numbers, with one blank for many.
    Words(String),
    Number(String),
}

fn is_same(shown: &str, printed: &str) -> bool {
    if shown.starts_with(DEVICE) {
        return printed.starts_with(DEVICE);
    }
    let (shown, printed) = (pieces(shown), pieces(printed));
    let alike = |at: usize| match (&shown[at], &printed[at]) {
        (Piece::Number(a), Piece::Number(b)) => {
            let slack = OF_DEVIATION * deviation(&shown[at + 1..]).unwrap_or(0.0);
            is_measured(shown.get(at + 1)) || is_near(a, b, slack)
        }
        (a, b) => a == b,
    };
    shown.len() == printed.len() && (0..shown.len()).all(alike)
}

/// Whether what follows a number makes it one that no two runs share.
fn is_measured(after: Option<&Piece>) -> bool {
    let Some(Piece::Words(words)) = after else {
        return false;
    };
    MEASURED.iter().any(|unit| {
        let rest = words.strip_prefix(unit);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}

/// The deviation of a number that these stand behind.
fn deviation(after: &[Piece]) -> Option<f64> {
    match after {
        [Piece::Words(words), Piece::Number(deviation), ..] if words == "+-" => value(deviation),
        _ => None,
    }
}

fn value(text: &str) -> Option<f64> {
    text.replace(',', "").parse().ok()
}

/// Whether a number of the page is the one printed: whole numbers are equal, others near, or no
/// farther than `slack`.
fn is_near(shown: &str, printed: &str, slack: f64) -> bool {
    let (Some(a), Some(b), Some(unit)) = (value(shown), value(printed), unit(shown)) else {
        return shown == printed;
    };
    (a - b).abs() <= slack.max(UNITS * unit * (1.0 + 1e-6))
}

/// One in the last digit of a number with a fraction.
fn unit(text: &str) -> Option<f64> {
    let (digits, power) = text.split_once('e').unwrap_or((text, "0"));
    let decimals = i32::try_from(digits.split_once('.')?.1.len()).ok()?;
    Some(10_f64.powi(power.parse::<i32>().ok()? - decimals))
}

fn pieces(line: &str) -> Vec<Piece> {
    let (mut pieces, mut words, mut rest) = (Vec::new(), String::new(), line);
    let end_words = |words: &mut String, pieces: &mut Vec<Piece>| {
        let text = take(words);
        let text: Vec<&str> = text.split_whitespace().collect();
        if !text.is_empty() {
            pieces.push(Piece::Words(text.join(" ")));
        }
    };
    while let Some(first) = rest.chars().next() {
        // Digits of a name, such as avx512, are no number.
        let name = words.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let length = if name { 0 } else { number_length(rest) };
        if length == 0 {
            words.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            end_words(&mut words, &mut pieces);
            pieces.push(Piece::Number(rest[..length].to_owned()));
            rest = &rest[length..];
        }
    }
    end_words(&mut words, &mut pieces);
    pieces
}

/// Bytes of the number that a text begins with: `39,064`, `0.98`, `3.2e-5`.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let is = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
    let mut length = digits(0);
    if length == 0 {
        return 0;
    }
    while is(length, b',') && digits(length + 1) == 3 {
        length += 4;
    }
    if is(length, b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    let sign = usize::from(is(length + 1, b'-') || is(length + 1, b'+'));
    if is(length, b'e') && digits(length + 1 + sign) > 0 {
        length += 1 + sign + digits(length + 1 + sign);
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_digit_is_seen_and_rounding_is_not() {
        for (shown, printed) in [
            ("r2  0.913", "r2     0.9139"),
            ("3.16228e-5 of 6", "3.16229e-5 of 6"),
            (
                "rows 883 in 0.02 s, 39,064 per second",
                "rows 883 in 7 s, 2 per second",
            ),
            (
                "device  CPU, 2 threads, avx512",
                "device  CPU, 16 threads, neon",
            ),
            ("took 18 MiB", "took 2,019.5 MiB"),
            ("1,234,567 per second", "5 per second"),
            ("auc 0.998664 +- 1.0e-3", "auc 0.998657 +- 1.0e-3"),
        ] {
            assert!(is_same(shown, printed), "{shown} for {printed}");
        }
        for (shown, printed) in [
            ("r2 0.913", "r2 0.915"),
            ("3.16228e-5 of 6", "3.16228e-6 of 6"),
            ("rows 883 in 0.02 s", "rows 884 in 0.02 s"),
            ("rows 883 in 0.02 s", "rows 883 in 0.02 ms"),
            ("1,234 rows", "1,235 rows"),
            ("auc 0.998664 +- 1.0e-3", "auc 0.998649 +- 1.0e-3"),
            ("auc 0.998664 of 1.0e-3", "auc 0.998657 of 1.0e-3"),
            ("5 +- 1.0e3", "6 +- 1.0e3"),
            ("avx512", "avx2"),
            ("z2 s", "z3 s"),
            ("5 steps", "6 steps"),
            ("yes, 5", "no, 5"),
            ("6", "6 of 6"),
            ("-0.1", "0.1"),
        ] {
            assert!(!is_same(shown, printed), "{shown} for {printed}");
        }
    }

    #[test]
    fn lines_may_be_left_out_but_keep_their_order() {
        let printed = || ["a 1", "b 2.50", "c 3", "d 4"].map(str::to_owned).to_vec();
        let mut rest = printed();
        assert_eq!(difference("b 2.5\nc 3\n", &mut rest), None);
        assert_eq!(rest, ["d 4"]);
        let found = |shown: &str| difference(shown, &mut printed());
        assert_eq!(found("c 3\nb 2.5\n"), Some((1, "d 4".to_owned())));
        assert_eq!(found("b 2.8\n"), Some((0, "b 2.50".to_owned())));
    }
}
