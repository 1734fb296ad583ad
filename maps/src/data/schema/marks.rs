//! Numbers that are written with a decimal comma, or with marks between thousands.

use std::fmt;

/// The marks that numbers of a column are written with, where they are not plain.
///
/// ```
/// use bochner::data::Marks;
/// let marks = Marks { decimal: ',', thousands: Some('.') };
/// assert_eq!(marks.plain("-1.234,5"), Some("-1234.5".into()));
/// assert_eq!(marks.plain("1.23"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub struct Marks {
    /// What stands before the fraction.
    pub decimal: char,
    /// What may stand between groups of three digits, if anything: a blank stands for all blanks
    /// of one character, an apostrophe for both kinds of it.
    pub thousands: Option<char>,
}

impl Marks {
    /// What a comma, a point, a blank and an apostrophe may mean, the simplest first; but for plain
    /// numbers. An apostrophe goes with a point before one with a comma: so it is in Switzerland,
    /// where most people write it.
    pub(super) const ALL: [Self; 7] = [
        Self::new(',', None),
        Self::new(',', Some('.')),
        Self::new(',', Some(' ')),
        Self::new('.', Some(',')),
        Self::new('.', Some('\'')),
        Self::new('.', Some(' ')),
        Self::new(',', Some('\'')),
    ];

    /// Those of plain numbers.
    pub(super) const PLAIN: Self = Self::new('.', None);

    pub(super) const fn new(decimal: char, thousands: Option<char>) -> Self {
        Self { decimal, thousands }
    }

    /// The same with the other decimal mark, where that is no mark between thousands.
    pub(super) fn with_other_decimal(self) -> Option<Self> {
        let decimal = if self.decimal == ',' { '.' } else { ',' };
        (self.thousands != Some(decimal)).then_some(Self { decimal, ..self })
    }

    fn parts(self, c: char) -> bool {
        match self.thousands {
            Some(' ') => matches!(c, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}'),
            Some('\'') => matches!(c, '\'' | '\u{2019}'),
            mark => mark == Some(c),
        }
    }

    /// The number with a decimal point and nothing between its digits; `None` of text that is not
    /// written so.
    pub fn plain(self, text: &str) -> Option<String> {
        let (text, exponent) = exponent(text.trim(), self.decimal);
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, fraction) = match digits.rsplit_once(self.decimal) {
            Some((whole, fraction)) => (whole, fraction),
            None => (digits, ""),
        };
        let mut plain = String::with_capacity(text.len());
        if text.starts_with('-') {
            plain.push('-');
        }
        let groups: Vec<&str> = whole.split(|c| self.parts(c)).collect();
        // Lakhs and crores: pairs but for the last three digits.
        let has_pairs = groups.len() > 2 && self.thousands == Some(',') && groups[1].len() == 2;
        let most = if has_pairs { 2 } else { 3 };
        for (i, group) in groups.iter().enumerate() {
            let fits = match (groups.len(), i) {
                (1, _) => true,
                // Nobody writes 0.013 for 13.
                (_, 0) => (1..=most).contains(&group.len()) && !group.starts_with('0'),
                (n, _) if i + 1 == n => group.len() == 3,
                _ => group.len() == most,
            };
            if !fits || !all_digits(group) {
                return None;
            }
            plain.push_str(group);
        }
        if !all_digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
            return None;
        }
        if !fraction.is_empty() {
            plain.push('.');
            plain.push_str(fraction);
        }
        plain.push_str(exponent);
        Some(plain)
    }

    /// The number that text is.
    pub(super) fn value(self, text: &str) -> Option<f64> {
        let value: f64 = self.plain(text)?.parse().ok()?;
        value.is_finite().then_some(value)
    }
}

/// A number and the exponent behind it, as `E-04`, or nothing: `12E3` may be a code.
fn exponent(text: &str, decimal: char) -> (&str, &str) {
    let is_number =
        |at: &usize| text[..*at].contains(decimal) || text[at + 1..].starts_with(['-', '+']);
    let at = text.rfind(['e', 'E']).filter(is_number);
    let (number, exponent) = text.split_at(at.unwrap_or(text.len()));
    let digits = exponent.get(1..).unwrap_or_default();
    let digits = digits.strip_prefix(['-', '+']).unwrap_or(digits);
    if !digits.is_empty() && all_digits(digits) {
        (number, exponent)
    } else {
        (text, "")
    }
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

/// As an example: `1.234,5`.
impl fmt::Display for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let thousands = self.thousands.map_or(String::new(), String::from);
        write!(f, "1{thousands}234{}5", self.decimal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_by_their_marks() {
        for (decimal, thousands, text, value) in [
            (',', None, "1,5", Some(1.5)),
            (',', None, "-,25", Some(-0.25)),
            (',', None, "7", Some(7.0)),
            (',', None, "1,", Some(1.0)),
            (',', None, "1.5", None),
            (',', None, "1,5,5", None),
            (',', Some('.'), "1.234.567,25", Some(1_234_567.25)),
            (',', Some('.'), "12.34", None),
            (',', Some('.'), "1234.567", None),
            (',', Some(' '), "1\u{202f}234,5", Some(1234.5)),
            ('.', Some(','), "101,000", Some(101_000.0)),
            ('.', Some(','), "+12,345.67", Some(12_345.67)),
            ('.', Some(','), "1,2345", None),
            ('.', Some(','), "12,34,567", Some(1_234_567.0)),
            ('.', Some(','), "1,23,45,678.5", Some(12_345_678.5)),
            ('.', Some(','), "123,45,678", None),
            ('.', Some(','), "12,34,56", None),
            ('.', Some(','), "12,345,67", None),
            ('.', Some(','), ",234", None),
            ('.', Some(','), "0,234", None),
            ('.', Some('\''), "1\u{2019}234.5", Some(1234.5)),
            ('.', Some(','), "", None),
            ('.', Some(','), "-", None),
            ('.', Some(','), "12e3", None),
            (',', None, "3,12E-04", Some(3.12e-4)),
            (',', Some('.'), "1.234,5e3", Some(1_234_500.0)),
            (',', None, "12E3", None),
            (',', None, "4,5E999", None),
            (',', None, "1e-04", Some(1e-4)),
            (',', None, "1,5E", None),
            (',', None, "1,5E+", None),
            (',', None, "1,5E2,5", None),
            ('.', Some(','), "a", None),
        ] {
            let marks = Marks::new(decimal, thousands);
            assert_eq!(marks.value(text), value, "{text:?} by {marks}");
        }
    }
}
