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

/// Whether a cell says that its row is one of totals: `Total`, `SUM:`, `Summe`.
pub(in crate::data) fn is_total(text: &str) -> bool {
    // Most cells begin with none of their letters.
    let begins = |c: u8| matches!(c | 0x20, b't' | b'g' | b's' | b'o' | b'i' | b' ');
    text.bytes().next().is_some_and(begins) && {
        let text = text.trim().trim_end_matches(':').trim_end();
        WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
    }
}
