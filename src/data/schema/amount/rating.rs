//! Ratings: numbers of so many, `4.3/5`, `4.3 out of 5 stars`.

/// What stands between a number and what it is of.
const BETWEEN: [&str; 7] = ["/", "out of", "of", "von", "sur", "su", "de"];
/// What ratings are of: less is a fraction, `3/4`, and more has none of it in a rating.
const MOST: std::ops::RangeInclusive<u16> = 5..=1000;

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
    let fits = (is_apart || behind.trim_start().starts_with('/')) && is_word;
    let most: u16 = most.parse().ok().filter(|most| MOST.contains(most))?;
    fits.then_some(f64::from(most))
}
