//! The texts of a column of a table.

use super::{
    Kind, answers, date,
    hashed::{number_of, place_of},
    words::Prose,
};
use std::collections::{BTreeMap, HashSet};

/// Texts that are looked at to tell whether each row has its own.
const LOOKED_AT: usize = 1 << 16;
/// Rows below which texts that all differ say nothing.
const FEW: usize = 20;
/// Texts of one length that are at least so long are codes, whatever they begin with.
const CODE: usize = 16;

/// Texts of a column with their weights; too many of them by their hashes alone.
pub(super) struct Levels {
    most: usize,
    counts: BTreeMap<String, f64>,
    /// Of each column the weights of those that put 1 and of those that put -1 there; empty while
    /// the texts are few.
    hashed: Vec<[f64; 2]>,
    /// Hashes of the first texts, until one comes a second time.
    own: Option<HashSet<u64>>,
    shape: Shape,
    pub(super) prose: Prose,
}

/// What the texts of a column have in common.
#[derive(Default)]
struct Shape {
    /// Whether one begins with a digit or a sign, or ends with a number of its own: it may be an
    /// amount that was not understood.
    is_amount: bool,
    /// Bytes of each, and whether there is another length, or what no code has: a blank, a point or
    /// a comma, a date by ISO 8601 at the beginning.
    length: Option<usize>,
    is_mixed: bool,
}

impl Shape {
    fn see(&mut self, text: &str) {
        let begins = text.starts_with(|c: char| c.is_ascii_digit() || "+-(.,".contains(c));
        let last = text.rsplit(char::is_whitespace).next().unwrap_or(text);
        let ends = last.len() < text.len() && last.starts_with(|c: char| c.is_ascii_digit());
        self.is_amount |= begins || ends;
        let length = *self.length.get_or_insert(text.len());
        let is_mark = |c: char| c.is_whitespace() || matches!(c, '.' | ',');
        let is_date = || text.get(..10).is_some_and(|day| date::days(day).is_some());
        self.is_mixed |= length != text.len() || text.contains(is_mark) || is_date();
    }

    /// Whether texts of this shape may be what tells rows apart: they are no amounts, or codes of
    /// one length that no amount has.
    fn may_tell_rows_apart(&self) -> bool {
        let is_code = !self.is_mixed && self.length.is_some_and(|length| length >= CODE);
        !self.is_amount || is_code
    }
}

impl Levels {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            counts: BTreeMap::new(),
            hashed: Vec::new(),
            own: Some(HashSet::new()),
            shape: Shape::default(),
            prose: Prose::default(),
        }
    }

    /// Whether the texts tell rows apart and are no amounts.
    pub(super) fn tell_rows_apart(&self) -> bool {
        self.are_unique() && self.shape.may_tell_rows_apart()
    }

    /// Whether many rows were looked at, and each has another text.
    pub(super) fn are_unique(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own.len() >= FEW)
    }

    /// Whether there are more texts than columns for them, or each row has another.
    pub(super) fn are_many(&self) -> bool {
        !self.hashed.is_empty() || self.are_unique()
    }

    /// How many different texts there are, while they are known.
    pub(super) fn count(&self) -> usize {
        self.counts.len()
    }

    pub(super) fn add(&mut self, text: &str, weight: f64) {
        self.look(text);
        self.prose.see(text);
        if !self.hashed.is_empty() {
            self.hash(text, weight);
        } else if let Some(sum) = self.counts.get_mut(text) {
            *sum += weight;
        } else if self.counts.len() < self.most {
            self.counts.insert(text.to_owned(), weight);
        } else {
            self.hashed = vec![[0.0; 2]; self.most];
            for (text, sum) in std::mem::take(&mut self.counts) {
                self.hash(&text, sum);
            }
            self.hash(text, weight);
        }
    }

    fn look(&mut self, text: &str) {
        let Some(own) = &mut self.own else { return };
        if own.len() < LOOKED_AT {
            self.shape.see(text);
            if !own.insert(number_of(text)) {
                self.own = None;
            }
        }
    }

    fn hash(&mut self, text: &str, weight: f64) {
        let (place, sign) = place_of(text, self.most);
        self.hashed[place][usize::from(sign < 0.0)] += weight;
    }

    /// Takes answers for one that differ in letters and blanks alone, by the text that has the most
    /// weight; whether there are such and no other texts.
    pub(super) fn fold_answers(&mut self) -> bool {
        if !self.hashed.is_empty() || !answers::are_in_two_manners(self.counts.keys()) {
            return false;
        }
        let mut all: Vec<(String, f64)> = std::mem::take(&mut self.counts).into_iter().collect();
        all.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let mut kinds: Vec<(String, f64)> = Vec::new();
        for (text, weight) in all {
            let names: Vec<String> = kinds.iter().map(|(kind, _)| kind.clone()).collect();
            match answers::place(&text, &names) {
                Some(at) => kinds[at].1 += weight,
                None => kinds.push((text.trim().to_owned(), weight)),
            }
        }
        self.counts = kinds.into_iter().collect();
        true
    }

    pub(super) fn kind(&self) -> Kind {
        if self.hashed.is_empty() {
            Kind::Categories(self.counts.keys().cloned().collect())
        } else {
            Kind::Hashed(self.most)
        }
    }

    /// The mean or the median of each column.
    pub(super) fn shares(&self, median: bool) -> Vec<f64> {
        let sums: Vec<[f64; 2]> = if self.hashed.is_empty() {
            self.counts.values().map(|&sum| [sum, 0.0]).collect()
        } else {
            self.hashed.clone()
        };
        let all: f64 = sums.iter().flatten().sum();
        let share = |[plus, minus]: [f64; 2]| {
            if !median {
                (plus - minus) / all
            } else if plus > all / 2.0 {
                1.0
            } else if minus > all / 2.0 {
                -1.0
            } else {
                0.0
            }
        };
        sums.into_iter().map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(rows: usize, text: impl Fn(usize) -> String) -> Levels {
        let mut levels = Levels::new(64);
        (0..rows).for_each(|i| levels.add(&text(i), 1.0));
        levels
    }

    #[test]
    fn texts_of_their_own_are_told_of_from_twenty_rows_on() {
        for (rows, are) in [(19, false), (20, true)] {
            let own = levels(rows, |i| format!("c{i}"));
            assert_eq!(own.are_unique(), are, "{rows}");
            assert_eq!(own.tell_rows_apart(), are, "{rows}");
        }
        assert!(!levels(30, |i| format!("c{}", i.max(1))).are_unique());
    }

    /// Amounts that nobody understood are never what tells rows apart.
    #[test]
    fn codes_are_told_from_amounts() {
        let apart = |text: fn(usize) -> String| levels(40, text).tell_rows_apart();
        for code in [
            |i: usize| format!("id{i}"),
            |i| format!("customer {}", char::from(b'A' + i as u8)),
            |i| format!("{i:08}-{:08}", 40 - i),
        ] {
            assert!(apart(code), "{}", code(7));
        }
        for amount in [
            |i: usize| format!("{i}h {i}m"),
            |i| format!("about {i}"),
            |i| format!("-{i} below"),
            |i| format!("{i:08}"),
            |i| format!("{i} pieces of each"),
            |i| format!("2021-07-05+10!19!{:02}", i),
            |i| format!("47.1234{:02},8.654321", 10 + i),
        ] {
            assert!(!apart(amount), "{}", amount(7));
        }
    }
}
