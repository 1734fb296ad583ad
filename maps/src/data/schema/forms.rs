//! Texts that are the same in another form of Unicode: `ü` as one character or as a `u` and a mark.

use std::{borrow::Cow, collections::HashMap, sync::LazyLock};

/// For each mark, by its number: its canonical combining class, then pairs of a character and what
/// it becomes with the mark (Unicode 14, UnicodeData.txt: canonical compositions of two).
const PAIRS: &str = include_str!("forms/pairs.txt");

/// Syllables of Hangul are computed (The Unicode Standard, section 3.12): the first syllable, the
/// first of leading, middle and final parts, and how many middle and final ones there are.
const HANGUL: [u32; 4] = [0xAC00, 0x1100, 0x1161, 0x11A7];
const PARTS: [u32; 3] = [19, 21, 28];

struct Forms {
    whole: HashMap<(char, char), char>,
    parts: HashMap<char, (char, char)>,
    class: HashMap<char, u8>,
}

static FORMS: LazyLock<Forms> = LazyLock::new(|| {
    let (mut whole, mut parts, mut class) = (HashMap::new(), HashMap::new(), HashMap::new());
    for line in PAIRS.lines() {
        let mut cells = line.split(' ');
        let mark = cells
            .next()
            .and_then(|hex| u32::from_str_radix(hex, 16).ok());
        let own = cells.next().and_then(|class| class.parse().ok());
        let (Some(mark), Some(own)) = (mark.and_then(char::from_u32), own) else {
            continue;
        };
        class.insert(mark, own);
        let mut pairs = cells.next().unwrap_or_default().chars();
        while let (Some(base), Some(both)) = (pairs.next(), pairs.next()) {
            whole.insert((base, mark), both);
            parts.insert(both, (base, mark));
        }
    }
    Forms {
        whole,
        parts,
        class,
    }
});

/// Text with its marks in the characters before them where there are such (NFC, but for the few
/// characters that are another one).
pub(in crate::data) fn composed(text: &str) -> Cow<'_, str> {
    let is_part = |c: char| FORMS.class.contains_key(&c) || (0x1160..0x1200).contains(&(c as u32));
    if text.is_ascii() || !text.chars().any(is_part) {
        return Cow::Borrowed(text);
    }
    let mut all = Vec::with_capacity(text.len());
    text.chars().for_each(|c| decompose(c, &mut all));
    let class = |c: &char| FORMS.class.get(c).copied().unwrap_or(0);
    for marks in all.chunk_by_mut(|a, b| (class(a) == 0) == (class(b) == 0)) {
        marks.sort_by_key(class);
    }
    let mut out: Vec<char> = Vec::with_capacity(all.len());
    let (mut start, mut last) = (None, 0);
    for c in all {
        let own = class(&c);
        let is_free = start.is_some_and(|at: usize| at + 1 == out.len() || last < own);
        let both = start.filter(|_| is_free).and_then(|at| pair(out[at], c));
        if let (Some(at), Some(both)) = (start, both) {
            out[at] = both;
            continue;
        }
        if own == 0 {
            start = Some(out.len());
        }
        last = own;
        out.push(c);
    }
    Cow::Owned(out.into_iter().collect())
}

/// A character's parts, of which none has parts.
fn decompose(c: char, out: &mut Vec<char>) {
    if let Some(&(base, mark)) = FORMS.parts.get(&c) {
        decompose(base, out);
        out.push(mark);
    } else {
        out.push(c);
    }
}

/// The character that two are.
fn pair(a: char, b: char) -> Option<char> {
    let [first, lead, middle, last] = HANGUL;
    let (x, y) = (a as u32, b as u32);
    let hangul = if (lead..lead + PARTS[0]).contains(&x) && (middle..middle + PARTS[1]).contains(&y)
    {
        Some(first + ((x - lead) * PARTS[1] + y - middle) * PARTS[2])
    } else {
        let open = x.checked_sub(first).filter(|place| place % PARTS[2] == 0);
        let is_one = open.is_some_and(|place| place < PARTS.iter().product());
        (is_one && (last + 1..last + PARTS[2]).contains(&y)).then(|| x + y - last)
    };
    let of_pairs = || FORMS.whole.get(&(a, b)).copied();
    hangul.and_then(char::from_u32).or_else(of_pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_two_forms_are_one() {
        for (apart, whole) in [
            ("Zu\u{308}rich", "Zürich"),
            ("Vie\u{323}\u{302}t", "Việt"),
            ("Vie\u{302}\u{323}t", "Việt"),
            ("Vi\u{1EC7}t", "Việt"),
            ("Vi\u{EA}\u{323}t", "Việt"),
            ("\u{1112}\u{1161}\u{11AB}", "한"),
            ("\u{304B}\u{3099}", "が"),
            ("\u{E5}ngstro\u{308}m", "ångström"),
            ("q\u{308}", "q\u{308}"),
            ("plain", "plain"),
            ("\u{308}", "\u{308}"),
        ] {
            assert_eq!(composed(apart), whole, "{apart:?}");
            assert_eq!(composed(whole), whole, "{whole:?}");
        }
    }
}
