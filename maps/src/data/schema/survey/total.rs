//! What rows of totals are called.

/// In lower case.
const WORDS: [&str; 17] = [
    "total",
    "totals",
    "grand total",
    "grand totals",
    "sum",
    "sums",
    "overall",
    "gesamt",
    "gesamtsumme",
    "insgesamt",
    "summe",
    "summen",
    "somme",
    "suma",
    "totale",
    "totaal",
    "totaux",
];

/// Those of groups alone, and means, in lower case.
const OF_GROUPS: [&str; 11] = [
    "subtotal",
    "subtotals",
    "sub-total",
    "sous-total",
    "zwischensumme",
    "teilsumme",
    "average",
    "mean",
    "mittelwert",
    "durchschnitt",
    "moyenne",
];

/// Whether a cell may say that its row is one of totals or means, or of those of a group, as its
/// first or its last word: `Total`, `North Total`, `Summe North`, `Subtotal`.
pub(in crate::data) fn may_be_total(text: &str) -> bool {
    let is = |word: &str| {
        let bare = word.trim_end_matches(':');
        is_total(word) || OF_GROUPS.iter().any(|own| own.eq_ignore_ascii_case(bare))
    };
    let text = text.trim();
    let first = text.split(' ').next().unwrap_or(text);
    let last = text.rsplit(' ').next().unwrap_or(text);
    is(first) || is(last) || is_total(text)
}

/// Whether a cell says that its row is one of totals: `Total`, `SUM:`, `Summe`.
pub(in crate::data) fn is_total(text: &str) -> bool {
    // Most cells begin with none of their letters.
    let begins = |c: u8| matches!(c | 0x20, b't' | b'g' | b's' | b'o' | b'i' | b' ');
    text.bytes().next().is_some_and(begins) && {
        let text = text.trim().trim_end_matches(':').trim_end();
        WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
    }
}

#[cfg(test)]
mod tests {
    use super::may_be_total;

    #[test]
    fn totals_are_named_by_their_first_word_or_their_last() {
        for text in [
            "North Total",
            " New York total: ",
            "Summe Nord",
            "Total",
            "Grand Total",
            "Subtotal:",
            "Nord Zwischensumme",
            "East - Total",
            "Sum of East",
            "East Average",
        ] {
            assert!(may_be_total(text), "{text}");
        }
        for text in [
            "Totally North",
            "North",
            "A Total of 5",
            "Summer",
            "",
            "Meander",
        ] {
            assert!(!may_be_total(text), "{text}");
        }
    }
}
