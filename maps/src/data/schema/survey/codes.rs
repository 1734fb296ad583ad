//! Whole numbers that are codes, as postal codes are: to read `01000` as 1000 would put places in
//! an order that they do not have.

use super::{
    MissingRule,
    cell::{self, Cell},
};
use crate::data::Column;

/// What the cells of a column have in common with codes.
#[derive(Debug, Clone, Default)]
pub(in crate::data) struct Codes {
    /// Digits of each.
    length: Option<usize>,
    begins_with_zero: bool,
    /// Whether one is no whole number of so many digits.
    is_mixed: bool,
}

impl Codes {
    /// Takes one more cell.
    pub(in crate::data::schema) fn see(&mut self, text: &str) {
        if self.is_mixed {
            return;
        }
        let is_whole = text.len() > 1 && text.bytes().all(|digit| digit.is_ascii_digit());
        self.is_mixed |= !is_whole || *self.length.get_or_insert(text.len()) != text.len();
        self.begins_with_zero |= text.starts_with('0');
    }

    /// Takes a value that is written as no text.
    pub(in crate::data::schema) fn see_other(&mut self) {
        self.is_mixed = true;
    }

    /// Takes the cells of some rows; those without a value say nothing.
    pub(in crate::data) fn see_all(&mut self, column: &Column) {
        let told = cell::for_each_cell(column, MissingRule::NONE, |_, cell| {
            match cell {
                Cell::Text(text) => self.see(text),
                Cell::Missing(_) => {}
                Cell::Number(_) | Cell::Date(_) | Cell::Boolean(_) => self.see_other(),
            }
            Ok::<_, std::convert::Infallible>(())
        });
        match told {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }

    /// Whether all cells are whole numbers of as many digits, two or more.
    pub(in crate::data) fn may_be(&self) -> bool {
        !self.is_mixed && self.length.is_some()
    }

    /// Whether they are codes: one begins with 0, which no plain number does.
    pub(in crate::data) fn are(&self) -> bool {
        self.may_be() && self.begins_with_zero
    }
}

/// Least digits of a code in base sixteen: `1e5` beside `abc` is none.
const HEX_DIGITS: usize = 6;

/// What cells have in common with codes in base sixteen, `00a32a` and `4e7186`, of which some are
/// all digits or a number with an exponent by chance.
#[derive(Debug, Clone, Default)]
pub(in crate::data::schema) struct HexCodes {
    length: Option<usize>,
    /// Whether one has a letter, which is small or capital in all.
    cases: [bool; 2],
    is_mixed: bool,
}

impl HexCodes {
    /// Takes one more cell.
    pub(in crate::data::schema) fn see(&mut self, text: &str) {
        if self.is_mixed {
            return;
        }
        let is_hex = text.bytes().all(|digit| digit.is_ascii_hexdigit());
        let is_long = text.len() >= HEX_DIGITS;
        let fits = is_hex && is_long && *self.length.get_or_insert(text.len()) == text.len();
        let has = |is: fn(&u8) -> bool| text.as_bytes().iter().any(is);
        self.cases[0] |= has(u8::is_ascii_lowercase);
        self.cases[1] |= has(u8::is_ascii_uppercase);
        self.is_mixed |= !fits || self.cases == [true; 2];
    }

    /// Whether all cells are such codes.
    pub(in crate::data::schema) fn are(&self) -> bool {
        !self.is_mixed && self.cases.contains(&true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_in_base_sixteen_are_of_one_length_and_one_case() {
        let are = |cells: &[&str]| {
            let mut codes = HexCodes::default();
            cells.iter().for_each(|cell| codes.see(cell));
            codes.are()
        };
        assert!(are(&["718237", "00a32a", "4e7186"]) && are(&["00A32A", "718237"]));
        for other in [
            &["718237"][..],
            &["00a32a", "00A32A"],
            &["00a32a", "1718237"],
            &["00a32a", "71823g"],
            &["1e5", "abc"],
            &["00a32a", "-71823"],
            &[],
        ] {
            assert!(!are(other), "{other:?}");
        }
    }

    #[test]
    fn codes_are_whole_numbers_of_one_length_of_which_one_begins_with_zero() {
        let codes = |cells: &[&str]| {
            let mut codes = Codes::default();
            cells.iter().for_each(|cell| codes.see(cell));
            (codes.may_be(), codes.are())
        };
        assert_eq!(codes(&["01000", "90210"]), (true, true));
        assert_eq!(codes(&["00", "12", "07"]), (true, true));
        assert_eq!(codes(&["11000", "90210"]), (true, false));
        for mixed in [
            ["0", "1"],
            ["01000", "9021"],
            ["0.5", "1.5"],
            ["01", "-1"],
            ["05", "1e"],
        ] {
            assert_eq!(codes(&mixed), (false, false), "{mixed:?}");
        }
        assert_eq!(codes(&[]), (false, false));
    }
}
