//! Texts around numbers: amounts and dates that nobody understood, told from codes and from names.

mod months;
mod prefixed;

use super::date;
use months::Months;
use prefixed::Prefixed;

/// Different sketches of a column at most: names and addresses have more.
const FEW: usize = 4;
/// Cells that tell.
const TELLING: usize = 20;
/// Of so many cells one at most has no number.
const STRAYS: usize = 5;
/// Cells with a number that are looked at.
const LOOKED_AT: usize = 1 << 16;
/// Texts of one length that are at least so long and have no blank and no letter are codes.
const CODE: usize = 16;

/// What the texts of a column have in common once each number is `#`: `CHF 1'183.--` is `CHF #.--`.
///
/// They are amounts or dates that nobody understood where there are few such sketches and something
/// says that they are no codes: a mark between digits, a month beside two numbers, a text that
/// begins with no letter, one that ends with neither a letter nor a digit, or whole numbers behind
/// one word ([`Prefixed`]). `SKU-0017` and texts of one length from sixteen bytes on are codes
/// unless they have marks between digits or begin with a date, `12 Main St` is a name among many
/// sketches, and a day, one of few words and a year are a date in whatever language ([`Months`]).
#[derive(Debug, Default)]
pub(super) struct Sketches {
    different: Vec<String>,
    /// Whether there are more than are kept.
    many: bool,
    /// The first text with a number.
    first: Option<(u64, String)>,
    numbers: usize,
    others: usize,
    /// What says that the texts are no codes: marks between digits, or names of months beside two
    /// numbers; how one begins and how one ends.
    has_marks: bool,
    begins_otherwise: bool,
    ends_otherwise: bool,
    behind: Prefixed,
    months: Months,
    /// Bytes of each, and whether there is another length, or what dates have: a blank, a letter, a
    /// mark between digits, a date by ISO 8601 at the beginning.
    length: Option<usize>,
    is_mixed: bool,
}

impl Sketches {
    /// Takes one more cell.
    pub(super) fn see(&mut self, row: u64, text: &str) {
        let text = text.trim();
        self.months.see(text);
        if self.many || self.numbers >= LOOKED_AT {
            return;
        }
        if !text.contains(char::is_numeric) {
            self.others += 1;
            return;
        }
        self.numbers += 1;
        self.first.get_or_insert_with(|| (row, text.to_owned()));
        let (sketch, has_marks) = sketch(text);
        // A month, a day and a year.
        let has_month = sketch.contains('@') && sketch.matches('#').count() > 1;
        self.has_marks |= has_marks || has_month;
        self.begins_otherwise |= !text.starts_with(char::is_alphabetic);
        self.ends_otherwise |= !text.ends_with(char::is_alphanumeric);
        let length = *self.length.get_or_insert(text.len());
        let is_part = |c: char| c.is_whitespace() || c.is_alphabetic();
        let is_date = || text.get(..10).is_some_and(|day| date::days(day).is_some());
        self.is_mixed |= length != text.len() || text.contains(is_part) || has_marks || is_date();
        self.behind.see(text);
        if !self.different.contains(&sketch) {
            self.many = self.different.len() == FEW;
            self.different.push(sketch);
        }
    }

    /// Whether numbers behind one word are each there several times, as names of things are.
    pub(super) fn recur_often(&self) -> bool {
        self.behind.recur_often()
    }

    /// Whether all are one number with the same text before it or behind it.
    pub(super) fn are_alike(&self) -> bool {
        let [one] = &self.different[..] else {
            return false;
        };
        let is_at_an_end = one.starts_with('#') != one.ends_with('#');
        one.matches('#').count() == 1 && is_at_an_end && !one.contains('@')
    }

    /// The first cell, if the texts are amounts or dates that nobody understood.
    pub(super) fn not_understood(&self) -> Option<&(u64, String)> {
        let are_few = !self.many && self.numbers >= TELLING && self.numbers >= STRAYS * self.others;
        let is_code = !self.is_mixed && self.length.is_some_and(|length| length >= CODE);
        let are_amounts = self.has_marks || self.begins_otherwise || self.ends_otherwise;
        let are_amounts = are_amounts || self.behind.are_amounts();
        let are_dates = self.months.are(TELLING, STRAYS);
        self.first
            .as_ref()
            .filter(|_| are_dates || (are_few && are_amounts && !is_code))
    }
}

/// The text with `#` for each number, signs of one kind and names of months and days alike, and
/// whether a number has a mark between its digits.
fn sketch(text: &str) -> (String, bool) {
    let mut sketch = String::with_capacity(text.len());
    let (mut rest, mut has_marks) = (text, false);
    while let Some(c) = rest.chars().next() {
        let is_number = |c: char| c.is_numeric();
        let end = match c {
            c if is_number(c) => {
                let end = number(rest);
                has_marks |= rest[..end].contains(|c: char| !is_number(c));
                sketch.push('#');
                end
            }
            c if c.is_alphabetic() => {
                let end = rest.find(|c: char| !c.is_alphabetic());
                let end = end.unwrap_or(rest.len());
                let word = &rest[..end];
                if is_month(word) || date::weekday(word).is_some() {
                    sketch.push('@');
                } else {
                    sketch.push_str(word);
                }
                end
            }
            // A sign more or less makes no other kind.
            '-' | '+' | '\u{2212}' if sketch.is_empty() => c.len_utf8(),
            c => {
                sketch.push(c);
                c.len_utf8()
            }
        };
        rest = &rest[end..];
    }
    (sketch, has_marks)
}

/// How names of months begin, of which not all forms are known.
const MONTHS: [&str; 23] = [
    "jan", "feb", "fev", "fév", "mar", "mär", "mrz", "apr", "avr", "may", "mai", "jun", "jui",
    "jul", "aug", "aoû", "sep", "oct", "okt", "nov", "dec", "déc", "dez",
];

/// Whether a word may be the name of a month: another one taken for it makes one sketch of two.
fn is_month(word: &str) -> bool {
    let word = word.to_lowercase();
    date::month(&word).is_some() || MONTHS.iter().any(|begin| word.starts_with(begin))
}

/// The end of the number that a text begins with: digits, with single marks between them.
fn number(text: &str) -> usize {
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next_is_digit = chars.peek().is_some_and(|(_, next)| next.is_numeric());
        let is_mark = matches!(c, '.' | ',' | '\'' | '\u{2019}') && next_is_digit;
        if !c.is_numeric() && !is_mark {
            return at;
        }
        end = at + c.len_utf8();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: impl Fn(usize) -> String) -> bool {
        let mut sketches = Sketches::default();
        (0..60).for_each(|i| sketches.see(i as u64, &text(i)));
        sketches.not_understood().is_some()
    }

    #[test]
    fn amounts_that_nobody_understood_are_told_from_codes_and_names() {
        for amount in [
            |i: usize| format!("CHF 1'{:03}.--", 17 * i),
            |i| format!("~{i}"),
            |i| format!("{}.{i:02}V", i % 7),
            |i| format!("{i}/500"),
            |i| format!("{} kg {i} g", i % 9),
            |i| format!("{i} ({}.5%)", i % 7),
            |i| format!("T={i}.25"),
            |i| format!("48°{i}'30\"{}", ["N", "S"][i % 2]),
            |i| {
                format!(
                    "Sunday, {} {}, 2021",
                    ["October", "May", "June"][i % 3],
                    i % 28
                )
            },
            |i| format!("202103{:02}T132020Z", 10 + i % 20),
            |i| format!("1.2.{i}"),
            |i| format!("{} {}", i, ["S", "H"][i % 2]),
            |i| format!("some {}", (i * 7_919 + 13) % 3000),
            |i| format!("2021-07-{:02}+10!19!{:02}", 1 + i % 28, i),
            |i| format!("47.1234{:02},8.654321", 10 + i),
            |i| {
                if i % 30 == 7 {
                    "k.A.".into()
                } else {
                    format!("~{i}")
                }
            },
        ] {
            assert!(found(amount), "{}", amount(8));
        }
        for other in [
            |i: usize| format!("SKU-{i:04}"),
            |i| format!("customer {i}"),
            |i| {
                format!(
                    "{i} {} Street",
                    ["Main", "High", "Park", "Mill", "Church"][i % 5]
                )
            },
            |i| format!("{i:08}-{:08}", 90 - i),
            |i| format!("{}{}", char::from(b'a' + (i % 26) as u8), 7 * i),
            |i| format!("img_{i}.jpg"),
            |i| {
                if i % 3 == 0 {
                    "none".into()
                } else {
                    format!("~{i}")
                }
            },
            |i: usize| ["red", "green"][i % 2].to_owned(),
        ] {
            assert!(!found(other), "{}", other(8));
        }
        let mut few = Sketches::default();
        (0..19).for_each(|i| few.see(i, &format!("~{i}")));
        assert!(few.not_understood().is_none());
    }
}
