//! Answers, `Yes` and `no`: kinds that are the same in whatever letters.

/// Pairs of answers in small letters.
const PAIRS: [[&str; 2]; 10] = [
    ["yes", "no"],
    ["y", "n"],
    ["true", "false"],
    ["t", "f"],
    ["on", "off"],
    ["ja", "nein"],
    ["j", "n"],
    ["oui", "non"],
    ["s\u{ed}", "no"],
    ["si", "no"],
];
/// Bytes that none has more of.
const LONGEST: usize = 16;

/// An answer in small letters, without blanks around it.
fn folded(text: &str) -> Option<String> {
    let text = text.trim();
    (text.len() <= LONGEST).then(|| text.to_lowercase())
}

/// Whether texts are answers of one pair of which one is there in two manners.
pub(super) fn are_in_two_manners<'a>(texts: impl Iterator<Item = &'a String>) -> bool {
    let (mut own, mut count) = (Vec::new(), 0);
    for text in texts {
        let Some(text) = folded(text).filter(|_| own.len() < 3) else {
            return false;
        };
        count += 1;
        if !own.contains(&text) {
            own.push(text);
        }
    }
    let fits = |pair: &[&str; 2]| own.iter().all(|text| pair.contains(&text.as_str()));
    count > own.len() && PAIRS.iter().any(fits)
}

/// The one of these kinds that a text is but for letters and blanks.
pub(super) fn place(text: &str, kinds: &[String]) -> Option<usize> {
    let text = text.trim();
    let is_same = |kind: &String| kind.eq_ignore_ascii_case(text);
    kinds.iter().position(is_same).or_else(|| {
        let text = folded(text)?;
        let mut all = kinds.iter().map(|kind| folded(kind));
        all.position(|kind| kind.as_deref() == Some(&text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_in_two_manners_are_told_from_kinds() {
        let are = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            are_in_two_manners(texts.iter())
        };
        for answers in [
            &["No", "YES", "Yes", "no", "yes"][..],
            &["N", "Y", "y"],
            &["True", "true", "false"],
            &["No ", "no"],
            &["Ja", "ja", "nein"],
        ] {
            assert!(are(answers), "{answers:?}");
        }
        for kinds in [
            &["No", "Yes"][..],
            &["No", "Yes", "maybe", "yes"],
            &["Bern", "bern"],
            &["m", "M"],
            &["No", "Y", "y"],
            &[],
        ] {
            assert!(!are(kinds), "{kinds:?}");
        }
        let kinds = ["No".to_owned(), "yes".to_owned()];
        assert_eq!(place(" YES", &kinds), Some(1));
        assert_eq!(place("maybe", &kinds), None);
    }
}
