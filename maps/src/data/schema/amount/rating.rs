//! Ratings: numbers of so many, `4.3/5`, `4.3 out of 5 stars`.

/// What stands between a number and what it is of.
const BETWEEN: [&str; 7] = ["/", "out of", "of", "von", "sur", "su", "de"];
/// What ratings are of behind a word: less is a fraction, and nobody rates by more.
const MOST: std::ops::RangeInclusive<u16> = 5..=1000;
/// And behind a stroke, where `17/52` may be a week and `3/12` a flat.
const BEHIND_A_STROKE: [u16; 4] = [5, 10, 20, 100];

/// What stands behind the number of a rating: `/5`, ` out of 5 stars`.
pub(super) fn behind(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','))?;
    let behind = &text[end..];
    (end > 0).then(|| most(behind))??;
    Some(behind)
}

/// The greatest that a rating with this behind it may be; `None` of what stands behind none.
pub(super) fn most(behind: &str) -> Option<f64> {
    let rest = behind.trim_start();
    let rest = BETWEEN.iter().find_map(|word| rest.strip_prefix(word))?;
    let is_apart = behind.starts_with(' ') && rest.starts_with(' ');
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit());
    let (most, word) = rest.split_at(end.unwrap_or(rest.len()));
    let is_word = word.is_empty() || (word.starts_with(' ') && super::is_word(word.trim()));
    let has_stroke = behind.trim_start().starts_with('/');
    let most: u16 = most.parse().ok().filter(|most| MOST.contains(most))?;
    let is_usual = !has_stroke || BEHIND_A_STROKE.contains(&most);
    let fits = (is_apart || has_stroke) && is_word && is_usual;
    fits.then_some(f64::from(most))
}
