//! Whole numbers behind one word: amounts in a unit that is not known, or codes.

use std::collections::HashSet;

/// Rows a number, on the average, from which on numbers are kinds: behind a word that is not known,
/// and behind any.
const OFTEN: [usize; 2] = [2, 3];

/// What texts such as `R406` and `some 1183` have in common: a word, then a whole number.
///
/// They are codes where they recur, as kinds do, or where they stand at the word, each row has its
/// own, and all are of one length or the word has a small letter first. So are those that count,
/// those that begin with a zero, and those that stand at a word that no currency is like: of three
/// letters and more, `user74519`.
#[derive(Debug, Default)]
pub(super) struct Prefixed {
    word: Option<String>,
    /// Whether another text is there, or one that no amount is like: `T-100`, `007`.
    is_mixed: bool,
    /// Whether there is something between the word and the number.
    is_apart: bool,
    length: Option<usize>,
    has_lengths: bool,
    cells: usize,
    numbers: HashSet<u64>,
    last: Option<u64>,
    /// Whether a number is less than the one before it.
    falls: bool,
}

impl Prefixed {
    /// Takes one more text.
    pub(super) fn see(&mut self, text: &str) {
        if self.is_mixed {
            return;
        }
        let word = text.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &text[word.len()..];
        let name = word.trim_end_matches(['.', ':', '=', ' ', '\u{a0}', '-', '\u{2212}']);
        let joins = word.ends_with(|c: char| "-_/:\u{2212}".contains(c))
            && !word.trim_end_matches(['-', '\u{2212}']).ends_with(' ');
        let number = digits
            .parse()
            .ok()
            .filter(|_| digits == "0" || !digits.starts_with('0'));
        let own = self.word.get_or_insert_with(|| name.to_owned());
        let is_short = name.chars().count() < 3;
        let may_stand = name.ends_with(char::is_alphabetic) && (name != word || is_short);
        let fits = own == name && may_stand && !joins;
        let Some(number) = number.filter(|_| fits) else {
            self.is_mixed = true;
            return;
        };
        self.is_apart |= name.len() < word.len();
        self.has_lengths |= *self.length.get_or_insert(digits.len()) != digits.len();
        self.cells += 1;
        self.numbers.insert(number);
        self.falls |= self.last.is_some_and(|last| number < last);
        self.last = Some(number);
    }

    /// Whether the numbers are amounts as far as they tell.
    pub(super) fn are_amounts(&self) -> bool {
        let is_small = (self.word.iter()).any(|word| word.starts_with(char::is_lowercase));
        let is_code =
            !self.is_apart && self.numbers.len() == self.cells && (is_small || !self.has_lengths);
        !self.is_mixed && self.cells > 0 && !is_code && !self.recur(OFTEN[0]) && !self.count()
    }

    /// Whether each number is there several times, behind one word.
    pub(super) fn recur_often(&self) -> bool {
        self.recur(OFTEN[1])
    }

    fn recur(&self, often: usize) -> bool {
        !self.is_mixed && self.cells > 0 && self.cells >= often * self.numbers.len()
    }

    /// Whether they go up from row to row, or are most of those from the least to the greatest.
    fn count(&self) -> bool {
        let least = self.numbers.iter().min().copied().unwrap_or_default();
        let most = self.numbers.iter().max().copied().unwrap_or_default();
        let different = self.numbers.len();
        let are_dense = 2 * different as u64 > most - least;
        !self.falls || (are_dense && (least <= 1 || different == self.cells))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without an order, each once unless they are few.
    fn mixed(i: usize, of: usize) -> usize {
        (i * 7_919 + 13) % of
    }

    #[test]
    fn amounts_are_told_from_codes_that_count_recur_or_are_of_one_shape() {
        let are = |rows: usize, text: &dyn Fn(usize) -> String| {
            let mut behind = Prefixed::default();
            (0..rows).for_each(|i| behind.see(&text(i)));
            behind.are_amounts()
        };
        let amounts: [(usize, &dyn Fn(usize) -> String); 8] = [
            (60, &|i| format!("some {}", mixed(i, 3000))),
            (60, &|i| format!("Some.{}", mixed(i, 3000))),
            (60, &|i| format!("R{}", 7 + mixed(i, 3000))),
            (60, &|i| format!("R{}", 100 + mixed(i.max(1), 900))),
            (60, &|i| format!("x{}", 7 + mixed(i.max(1), 3000))),
            (60, &|i| format!("kn {}", 1000 + mixed(i, 9000))),
            (60, &|i| format!("kn -{}", 7 + mixed(i, 3000))),
            (400, &|i| format!("some {}", 11 * mixed(i, 211) + 9)),
        ];
        for (rows, text) in amounts {
            assert!(are(rows, text), "{}", text(7));
        }
        let codes: [(usize, &dyn Fn(usize) -> String); 15] = [
            (430, &|i| format!("some {}", 11 * mixed(i, 211) + 9)),
            (60, &|i| format!("R{}", 100 + mixed(i, 900))),
            (900, &|i| format!("room {}", 100 + 3 * mixed(i, 211))),
            (900, &|i| format!("u{}", 11 * mixed(i, 211) + 9)),
            (60, &|i| format!("customer {}", mixed(i, 60))),
            (60, &|i| format!("customer {}", 1 + mixed(i, 90))),
            (60, &|i| format!("order {}", 950 + mixed(i, 60))),
            (60, &|i| format!("order {}", 950 + 7 * (i - i % 2))),
            (60, &|i| format!("user{}", 7 + mixed(i, 3000))),
            (60, &|i| format!("rs{}", 7 + mixed(i, 3000))),
            (60, &|i| format!("T-{}", 7 + mixed(i, 3000))),
            (60, &|i| format!("img_{}", 7 + mixed(i, 3000))),
            (60, &|i| format!("SKU {:04}", mixed(i, 3000))),
            (60, &|i| {
                format!("{} {}", ["bus", "tram"][i % 2], mixed(i, 3000))
            }),
            (60, &|i| format!("gate {}b", mixed(i, 3000))),
        ];
        for (rows, text) in codes {
            assert!(!are(rows, text), "{}", text(7));
        }
        assert!(!are(0, &|_| String::new()));
    }
}
