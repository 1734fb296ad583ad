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

/// The group that a cell says to be the total of: `North` of `North Total` and of `Summe North`.
pub(in crate::data) fn total_of(text: &str) -> Option<&str> {
    let text = text.trim();
    let (first, behind) = text.split_once(' ')?;
    let (before, last) = text.rsplit_once(' ')?;
    let group = if is_total(last) {
        before
    } else {
        is_total(first).then_some(behind)?
    };
    Some(group.trim()).filter(|group| !group.is_empty())
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
    use super::total_of;

    #[test]
    fn totals_name_their_group() {
        for (text, group) in [
            ("North Total", Some("North")),
            (" New York total: ", Some("New York")),
            ("Summe Nord", Some("Nord")),
            ("Total", None),
            ("Grand Total of", None),
            ("Totally North", None),
            ("North", None),
        ] {
            assert_eq!(total_of(text), group, "{text}");
        }
    }
}
