//! Amounts: numbers with a unit, a currency, a multiple or the brackets of accounting around them.

mod letters;
mod names;
mod rating;

use super::Marks;
use names::{has_digits, is_about, is_currency, is_label, is_number, is_ratio, is_unit};
use std::fmt;

/// How the amounts of a column are written: all in one unit, with the same marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) unit: Unit,
    pub(super) marks: Marks,
}

/// What stands beside each number of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    /// As it is written; empty where there are multiples or brackets alone.
    pub(super) name: String,
    /// Whether it stands before the number.
    pub(super) is_before: bool,
}

/// Multiples, and what they multiply by.
const MULTIPLES: [(&str, f64); 5] = [("bn", 1e9), ("k", 1e3), ("K", 1e3), ("M", 1e6), ("B", 1e9)];
/// What stands for a fraction of nothing.
const DASHES: [&str; 7] = [".--", ",--", ".-", ",-", "/-", ".—", ",—"];
/// Signs of a minus: the hyphen, the minus of mathematics, and a dash that is taken for it.
const MINUS: [char; 3] = ['-', '\u{2212}', '\u{2013}'];
/// Characters of another unit, which stands behind a blank.
const LONGEST: usize = 12;

/// A number, and what is left to do with it.
struct Bare<'a> {
    digits: &'a str,
    factor: f64,
}

impl Amount {
    /// The amount in its unit, which may stand on either side of the number if it is one of
    /// those that do; `None` of text that is not written so.
    pub(super) fn value(&self, text: &str) -> Option<f64> {
        let other_side = || self.unit.bare_behind_other_side(text);
        let bare = self.unit.bare(text).or_else(other_side)?;
        let value = self.marks.value(bare.digits).or_else(|| {
            let is_plain = self.marks == Marks::PLAIN;
            is_plain.then(|| with_exponent(bare.digits)).flatten()
        })?;
        // `110/80` is no rating.
        let fits = self.unit.most().is_none_or(|most| value <= most);
        fits.then_some(bare.factor * value)
    }
}

/// `1.2e3`, and `1.2D+01` as Fortran has it.
fn with_exponent(text: &str) -> Option<f64> {
    let is_digit = |c: char| c.is_ascii_digit();
    let fits = text.starts_with(is_digit) && text.ends_with(is_digit);
    let fits = fits && text.contains(['d', 'D', 'e', 'E']);
    let value = fits.then(|| text.replace(['d', 'D'], "e").parse().ok())??;
    f64::is_finite(value).then_some(value)
}

/// The unit that a word behind a number is, `€` of `k €`; `is_apart` where a blank is between.
fn behind(word: &str, is_apart: bool) -> Option<&str> {
    let rest = || multiple(word).map_or(word, |(rest, _)| rest.trim_start());
    let currency = if is_currency(word) { word } else { rest() };
    if is_currency(currency) {
        return Some(currency);
    }
    (is_unit(word) || is_ratio(word) || (is_apart && is_word(word))).then_some(word)
}

impl Unit {
    /// The unit that an amount is written with; `None` of plain numbers, and of text that is no
    /// amount: codes, dates, names.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(behind) = rating::behind(text) {
            let (name, is_before) = (behind.to_owned(), false);
            return Some(Self { name, is_before });
        }
        if let Some(own) = Self::before_brackets(text).or_else(|| Self::with_digits(text)) {
            return Some(own);
        }
        let (inner, is_bracketed) = brackets(text);
        let (rest, _) = sign(inner);
        let first = rest.find(|c: char| c.is_ascii_digit())?;
        let last = rest.rfind(|c: char| c.is_ascii_digit())?;
        let head = rest[..first].trim_end_matches(['.', ',', '-', '\u{2212}']);
        // `Rs.406`: the point is the currency's.
        let whole = rest[..first]
            .trim_end_matches(['-', '+', '\u{2212}', ' '])
            .trim();
        // A code has its mark at the number: `GO:229`.
        let is_label = is_label(whole) && (whole.ends_with('=') || !rest[..first].ends_with(':'));
        let is_own = is_currency(whole) || is_about(whole) || is_number(whole) || is_label;
        // As in Turkish.
        let is_own = is_own || whole == "%";
        let head = if is_own { whole } else { head.trim() };
        let tail = &rest[last + 1..];
        let tail = without_dash(tail).unwrap_or(tail);
        let word = tail.trim();
        let named = |name: &str, is_before| {
            let name = name.to_owned();
            Some(Self { name, is_before })
        };
        // Plain numbers have a hyphen at the first digit.
        let is_minus = inner.starts_with(&MINUS[1..]) || inner.starts_with("- ");
        let is_bare = is_bracketed || is_minus || with_exponent(rest).is_some();
        let is_bare = is_bare || tail.len() < rest.len() - last - 1;
        let found = match (head, word) {
            ("", "") if is_bare => named("", false),
            ("", "") => None,
            (head, _) if is_currency(head) || is_own => named(head, true),
            ("", word) if multiple(word).is_some_and(|(rest, _)| rest.is_empty()) => {
                named("", false)
            }
            ("", word) => named(behind(word, tail.starts_with(' '))?, false),
            _ => None,
        }?;
        // Only what it can read is its own.
        found.bare(text).map(|_| found)
    }

    /// The currency before a number in brackets, `$ (12.50)`, or with a minus behind it.
    fn before_brackets(text: &str) -> Option<Self> {
        let head = text.find(|c: char| c == '(' || c.is_ascii_digit());
        let own = Self::before(text[..head?].trim());
        let (_, is_bracketed) = brackets(text[head?..].trim());
        let fits = is_bracketed && is_currency(&own.name) && own.bare(text).is_some();
        fits.then_some(own)
    }

    /// A unit of which a digit is a part: `m2`, `€/m^2`, `l/100 km`.
    fn with_digits(text: &str) -> Option<Self> {
        let is_part = |c: char| c.is_ascii_digit() || ".,'\u{2019}- \u{a0}\u{202f}".contains(c);
        let name = text.trim_start_matches(is_part);
        let own = Self {
            name: name.to_owned(),
            is_before: false,
        };
        let fits = has_digits(name) && own.bare(text).is_some();
        fits.then_some(own)
    }

    /// The word at one number, whatever it is: that of a column of which somebody said that it
    /// holds amounts.
    pub(super) fn of_any_word(text: &str) -> Option<Self> {
        let text = text.trim();
        let first = text.find(|c: char| c.is_ascii_digit())?;
        let last = text.rfind(|c: char| c.is_ascii_digit())?;
        let (head, tail) = (text[..first].trim_end(), text[last + 1..].trim_start());
        let found = match (head, tail) {
            ("", "") => return None,
            (head, "") => Self::before(head),
            ("", tail) => Self {
                name: tail.to_owned(),
                is_before: false,
            },
            _ => return None,
        };
        found.bare(text).map(|_| found)
    }

    /// Amounts in it that are written with these marks.
    pub(super) fn amount(self, marks: Marks) -> Amount {
        Amount { unit: self, marks }
    }

    /// A word before numbers.
    pub(super) fn before(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            is_before: true,
        }
    }

    /// Whether two of them in a column are two units, and not words that end texts.
    pub(super) fn is_known(&self) -> bool {
        is_currency(&self.name) || is_unit(&self.name)
    }

    /// Whether the name is that of another unit but for its capitals.
    pub(super) fn differs_in_capitals(&self, other: &Self) -> bool {
        let is_same = letters::are_one(&self.name, &other.name);
        !is_same && self.name.eq_ignore_ascii_case(&other.name)
    }

    /// Whether it stands on either side of numbers: a currency, `%`, and units that no letter is.
    fn has_two_sides(&self) -> bool {
        let is_letter = self.name.len() == 1 && self.name != "%";
        is_currency(&self.name) || (is_unit(&self.name) && !is_letter)
    }

    /// The number without the unit on the other side of it.
    fn bare_behind_other_side<'a>(&self, text: &'a str) -> Option<Bare<'a>> {
        let other = || Self {
            name: self.name.clone(),
            is_before: !self.is_before,
        };
        self.has_two_sides().then(|| other().bare(text))?
    }

    /// Whether it is a word about numbers, `ca.` or `No.`, and no unit of them.
    pub(super) fn is_word(&self) -> bool {
        self.is_before && !is_currency(&self.name) && self.name != "%"
    }

    /// What a rating is of, `/5`, if it stands behind one.
    pub(super) fn most(&self) -> Option<f64> {
        let may = !self.is_before && self.name.contains(|c: char| c.is_ascii_digit());
        may.then(|| rating::most(&self.name))?
    }

    /// Whether it is a label, `Price:`, behind which names stand as well.
    pub(super) fn is_label(&self) -> bool {
        self.is_before && is_label(&self.name)
    }

    /// Whether it is a sign of numbers such as `No.`, behind which names stand as well.
    pub(super) fn is_number(&self) -> bool {
        self.is_before && is_number(&self.name)
    }

    /// Whether names of things stand at it as well: at words that are no units of physics.
    pub(super) fn may_name(&self) -> bool {
        let is_word = self.name.contains(char::is_alphabetic) || self.name == "#";
        is_word && self.most().is_none() && !is_unit(&self.name) && !is_about(&self.name)
    }

    /// The number without all that stands beside it.
    fn bare<'a>(&self, text: &'a str) -> Option<Bare<'a>> {
        let (inner, mut is_bracketed) = brackets(text.trim());
        let (mut rest, mut is_signed) = sign(inner);
        let name = self.name.as_str();
        if self.is_before {
            rest = without_head(rest, name)?.trim_start();
            if !is_bracketed && is_signed.is_none() && !name.is_empty() {
                (rest, is_bracketed) = brackets(rest);
            }
            if is_signed.is_none() {
                (rest, is_signed) = sign(rest);
            }
        } else {
            rest = without(rest, name)?.trim_end();
        }
        let (digits, factor) = match multiple_behind(rest) {
            Some((digits, factor)) => (digits.trim_end(), factor),
            None => (rest, 1.0),
        };
        let mut dashes = DASHES.iter().filter_map(|dash| digits.strip_suffix(dash));
        let digits = dashes.next().unwrap_or(digits);
        let begins = digits.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
        if !begins || (is_bracketed && is_signed.is_some()) {
            return None;
        }
        let is_negative = is_bracketed || is_signed == Some('-');
        let factor = if is_negative { -factor } else { factor };
        Some(Bare { digits, factor })
    }
}

/// Text without a unit at its end, which may be one or several: `1 day`, `2 days`.
fn without<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let one = name.strip_suffix('s').filter(|one| one.len() > 2);
    let one = one.unwrap_or(name);
    let has_many = one.len() > 2 && !is_currency(name);
    let many = text.strip_suffix(['s', 'S']).filter(|_| has_many);
    let many = many.and_then(|text| without_tail(text, one));
    many.or_else(|| without_tail(text, one))
}

/// Text without a unit at its beginning, and at its end: in any case that makes no other unit.
fn without_head<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(name.len())?;
    letters::are_one(head, name).then_some(rest)
}

fn without_tail<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let at = text.len().checked_sub(name.len())?;
    let (rest, tail) = text.split_at_checked(at)?;
    letters::are_one(tail, name).then_some(rest)
}

/// What stands in brackets, or before a minus at the end, and whether it does.
fn brackets(text: &str) -> (&str, bool) {
    let is_digit = |c: char| c.is_ascii_digit();
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    let before = text.strip_suffix('-').filter(|t| t.ends_with(is_digit));
    let before = before.filter(|t| t.starts_with(is_digit));
    inner
        .or(before)
        .map_or((text, false), |inner| (inner.trim(), true))
}

/// The rest behind a sign, which `-` stands for if it is a minus.
fn sign(text: &str) -> (&str, Option<char>) {
    let minus = text.strip_prefix(MINUS);
    let rest = minus.or_else(|| text.strip_prefix('+'));
    let sign = if minus.is_some() { '-' } else { '+' };
    rest.map_or((text, None), |rest| (rest.trim_start(), Some(sign)))
}

/// What stands behind a multiple, and the multiple.
fn multiple(text: &str) -> Option<(&str, f64)> {
    let mut all = MULTIPLES.into_iter();
    all.find_map(|(name, factor)| Some((text.strip_prefix(name)?, factor)))
}

/// What stands before one.
fn multiple_behind(text: &str) -> Option<(&str, f64)> {
    let mut all = MULTIPLES.into_iter();
    all.find_map(|(name, factor)| Some((text.strip_suffix(name)?, factor)))
}

/// What follows a dash in the place of a fraction.
fn without_dash(text: &str) -> Option<&str> {
    let mut rests = DASHES.iter().filter_map(|dash| text.strip_prefix(dash));
    rests.find(|rest| !rest.starts_with('-'))
}

/// Whether it is one word, as units are: letters, and what stands between and above them.
fn is_word(text: &str) -> bool {
    let is_part = |c: char| c.is_alphabetic() || matches!(c, '/' | '°' | '²' | '³' | '.' | '%');
    text.chars().count() <= LONGEST && text.chars().all(is_part)
}

/// As it is told of: `amounts in EUR`, `amounts behind ca.`, with the marks if they are not plain.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit.name.as_str() {
            "" => f.write_str("amounts, 1k as 1000 and (1) as -1")?,
            word if self.unit.is_word() => write!(f, "amounts behind {word}")?,
            name => match self.unit.most() {
                Some(most) => write!(f, "amounts out of {most}")?,
                None => write!(f, "amounts in {name}")?,
            },
        }
        match self.marks {
            Marks::PLAIN => Ok(()),
            marks => write!(f, ", as in {marks}"),
        }
    }
}

#[cfg(test)]
mod tests;
