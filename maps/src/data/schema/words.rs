//! Columns of prose as hashed words.

use super::hashed::place_of;
use ndarray::ArrayViewMut1;
use std::fmt;

/// Columns that words are hashed into, and as many for pairs of them.
const COLUMNS: usize = 256;

/// A text of several words as the words that it has, hashed into columns.
///
/// Words are the runs of letters and digits of the text in lower case; each character of Chinese
/// and Japanese is one. A word that the text has c times weighs `1 + ln c` (Salton & Buckley 1988).
/// Its hash h names its column and its sign s there (Weinberger et al. 2009, "Feature hashing for
/// large scale multitask learning", section 2), so that column k of a text is
///
/// ```text
/// x_k = r_k / |r|,   r_k = sum over its words w with h(w) = k of s(w) (1 + ln c(w))
/// ```
///
/// and two texts have about the product that their words have. Pairs of words that stand side by
/// side have as many columns of their own, where they tell more of the target. A text without words
/// is 0 in all of them. Words that no row of the fit has take their columns as any others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub struct Words {
    columns: usize,
    pairs: bool,
    length: u64,
}

impl Words {
    pub(super) fn new(pairs: bool, length: u64) -> Self {
        Self {
            columns: COLUMNS,
            pairs,
            length,
        }
    }

    /// What a file says of them; `None` unless there are from 1 to `most` columns.
    pub(super) fn read(columns: u64, (pairs, length): (bool, u64), most: usize) -> Option<Self> {
        let columns = usize::try_from(columns).ok()?;
        let words = Self {
            columns,
            pairs,
            length,
        };
        let is_read = (1..=most).contains(&columns) && words.width() <= most;
        is_read.then_some(words)
    }

    /// Columns of words, and as many of pairs if there are any.
    pub fn columns(self) -> usize {
        self.columns
    }

    /// Whether pairs of words have columns, too.
    pub fn has_pairs(self) -> bool {
        self.pairs
    }

    /// Words of a text of the fit, on average.
    pub fn length(self) -> u64 {
        self.length
    }

    /// All columns.
    pub(super) fn width(self) -> usize {
        self.columns * (1 + usize::from(self.pairs))
    }

    /// What the columns are called of a column of this name.
    pub(super) fn names(self, name: &str) -> Vec<String> {
        let of = |what: &'static str| (0..self.columns).map(move |k| format!("{name}: {what} {k}"));
        let pairs = self.pairs.then(|| of("pairs")).into_iter().flatten();
        of("words").chain(pairs).collect()
    }

    /// Puts a text into its columns, which are all 0.
    pub(super) fn put(self, text: &str, mut out_w: ArrayViewMut1<'_, f64>) {
        self.add(text, |at, weight| out_w[at] += weight);
        to_unit_length(out_w);
    }

    /// Adds each word and each pair of a text with its weight, before the row is scaled.
    pub(super) fn add(self, text: &str, mut add: impl FnMut(usize, f64)) {
        let (mut words, mut pairs) = (Vec::new(), Vec::new());
        let mut pair = String::new();
        each_word(text, |word| {
            words.push(word.to_owned());
            if self.pairs {
                if !pair.is_empty() {
                    pair.push(' ');
                    pair.push_str(word);
                    pairs.push(std::mem::take(&mut pair));
                }
                pair.push_str(word);
            }
        });
        for (from, mut all) in [(0, words), (self.columns, pairs)] {
            all.sort_unstable();
            for alike in all.chunk_by(|a, b| a == b) {
                let (at, sign) = place_of(&alike[0], self.columns);
                add(from + at, sign * (1.0 + (alike.len() as f64).ln()));
            }
        }
    }
}

/// As reports say it: `texts of 7 words, as 256 columns of hashed words`.
impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            columns, length, ..
        } = self;
        write!(
            f,
            "texts of {length} words, as {columns} columns of hashed words"
        )?;
        if self.pairs {
            write!(f, " and {columns} of pairs of them")
        } else {
            Ok(())
        }
    }
}

/// Divides a row by its length, unless that is 0.
pub(super) fn to_unit_length(mut row_w: ArrayViewMut1<'_, f64>) {
    let length = row_w.iter().map(|v| v * v).sum::<f64>().sqrt();
    if length > 0.0 {
        row_w.mapv_inplace(|v| v / length);
    }
}

/// Hands over the words of a text in their order.
fn each_word(text: &str, mut take: impl FnMut(&str)) {
    let lower = text.to_lowercase();
    let mut begin = None;
    for (at, c) in lower.char_indices() {
        let goes_on = is_of_a_word(c) && !is_a_word(c);
        if !goes_on && let Some(from) = begin.take() {
            take(&lower[from..at]);
        }
        if goes_on {
            begin.get_or_insert(at);
        } else if is_a_word(c) {
            take(&lower[at..at + c.len_utf8()]);
        }
    }
    if let Some(from) = begin {
        take(&lower[from..]);
    }
}

/// Letters, digits, and the accents of letters that are written apart from them.
fn is_of_a_word(c: char) -> bool {
    c.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&c)
}

/// Whether a character is of a script that leaves no blank between words.
fn is_a_word(c: char) -> bool {
    let is_kana = ('\u{3041}'..='\u{30fe}').contains(&c);
    let is_han = matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
        || ('\u{20000}'..='\u{3ffff}').contains(&c);
    c.is_alphanumeric() && (is_kana || is_han)
}

/// Texts that are looked at to tell whether a column is of prose.
const LOOKED_AT: u64 = 1 << 16;

/// Whether texts are prose: most have two words with letters, or more. `shop 17` has one, as a code
/// has.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Prose {
    texts: u64,
    several: u64,
    words: u64,
    /// Texts in which each of [`BETWEEN`] stands between words, and no blank does.
    listed: [u64; BETWEEN.len()],
}

/// What parts lists that have no blanks: `pool|wifi`, `a;b`, `/shop/a/b`.
const BETWEEN: [char; 6] = ['|', ';', '/', ',', '+', '>'];

impl Prose {
    pub(super) fn see(&mut self, text: &str) {
        if self.texts >= LOOKED_AT {
            return;
        }
        let of_letters = |piece: &str| {
            let own = piece.chars().filter(|&c| is_a_word(c)).count();
            own.max(usize::from(piece.contains(char::is_alphabetic)))
        };
        let several = text.split_whitespace().map(of_letters).sum::<usize>() > 1;
        self.texts += 1;
        self.several += u64::from(several);
        if several {
            each_word(text, |_| self.words += 1);
        } else if !text.contains(char::is_whitespace) {
            for (mark, count) in BETWEEN.into_iter().zip(&mut self.listed) {
                let parts = text
                    .split(mark)
                    .filter(|part| part.contains(char::is_alphabetic));
                *count += u64::from(text.contains(mark) && parts.count() > 1);
            }
        }
    }

    /// What stands between the words of most texts, where that is no blank.
    pub(super) fn mark_between(&self) -> Option<char> {
        let mut all = BETWEEN.into_iter().zip(self.listed);
        let most = all.find(|(_, count)| 2 * count > self.texts)?;
        Some(most.0)
    }

    pub(super) fn is(&self) -> bool {
        2 * self.several > self.texts
    }

    /// Words of such a text, on average.
    pub(super) fn length(&self) -> u64 {
        (self.words as f64 / self.several.max(1) as f64).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::{super::hashed::number_of, *};
    use ndarray::Array1;

    fn words(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        each_word(text, |word| all.push(word.to_owned()));
        all
    }

    #[test]
    fn words_are_runs_of_letters_and_digits_in_lower_case() {
        assert_eq!(
            words("Don't  PANIC: 42 Äpfel!"),
            ["don", "t", "panic", "42", "äpfel"]
        );
        assert_eq!(words("STRASSE straße ΟΔΟΣ"), ["strasse", "straße", "οδος"]);
        assert_eq!(words("Mu\u{308}nchen"), ["mu\u{308}nchen"]);
        assert_eq!(words("東京 2024年x"), ["東", "京", "2024", "年", "x"]);
        assert_eq!(words("カメラ・新品"), ["カ", "メ", "ラ", "新", "品"]);
        for none in ["", " \t", "…—!?", "\u{1f600}\u{200d}"] {
            assert_eq!(words(none), [""; 0], "{none:?}");
        }
    }

    /// Each word by its own hash, by hand: `red` three times, the others once.
    #[test]
    fn columns_are_those_of_a_hand_computation() {
        let text = "red door, Red wall. RED";
        for pairs in [false, true] {
            let words = Words::new(pairs, 5);
            let mut expected = Array1::<f64>::zeros(words.width());
            let mut put = |from: usize, word: &str, weight: f64| {
                let h = number_of(word);
                let sign = if h & 1 == 0 { 1.0 } else { -1.0 };
                expected[from + (h >> 1) as usize % 256] += sign * weight;
            };
            put(0, "red", 1.0 + 3_f64.ln());
            put(0, "door", 1.0);
            put(0, "wall", 1.0);
            let own = ["red door", "door red", "red wall", "wall red"];
            for pair in own.into_iter().filter(|_| pairs) {
                put(256, pair, 1.0);
            }
            // Both signs are among them, and no two share a column.
            assert!(expected.iter().any(|v| *v > 0.0) && expected.iter().any(|v| *v < 0.0));
            let length = expected.dot(&expected).sqrt();
            let squares = (1.0 + 3_f64.ln()).powi(2) + 2.0 + f64::from(u8::from(pairs)) * 4.0;
            assert!((length * length - squares).abs() < 1e-12, "{length}");
            let mut found = Array1::zeros(words.width());
            words.put(text, found.view_mut());
            assert!(
                (&found - &(expected / length))
                    .iter()
                    .all(|d| d.abs() < 1e-15)
            );
            let mut none = Array1::zeros(words.width());
            words.put("!", none.view_mut());
            assert!(none.iter().all(|v| *v == 0.0));
            assert_eq!(words.names("x").len(), words.width());
        }
    }

    #[test]
    fn prose_is_told_from_names_and_codes() {
        let is = |text: &str| {
            let mut prose = Prose::default();
            prose.see(text);
            prose.is()
        };
        for text in [
            "senior clerk",
            "a b",
            "東京都",
            "Grüne Äpfel, 3 kg",
            "the 2 of us",
        ] {
            assert!(is(text), "{text}");
        }
        for text in [
            "shop 17",
            "550e8400-e29b-41d4-a716-446655440000",
            "",
            "12 34",
            "12 Main",
            "Łódź",
            "京",
        ] {
            assert!(!is(text), "{text}");
        }
        let mark = |texts: [&str; 3]| {
            let mut prose = Prose::default();
            texts.into_iter().for_each(|text| prose.see(text));
            assert!(!prose.is());
            prose.mark_between()
        };
        assert_eq!(mark(["pool|wifi", "wifi", "bed|pool|wifi"]), Some('|'));
        assert_eq!(mark(["/shop/a", "/shop/b/c", "/"]), Some('/'));
        assert_eq!(mark(["wifi", "pool", "bed;pool"]), None);
        assert_eq!(mark(["7/8", "9/10", "a/7"]), None);
        let mut half = Prose::default();
        half.see("two words");
        half.see("one");
        assert!(!half.is());
        half.see("and three words");
        assert!(half.is() && half.length() == 3);
    }
}
