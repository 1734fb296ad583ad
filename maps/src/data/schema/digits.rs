//! Digits as parts of dates and times have them.

/// Text of two bytes, and no other.
pub(super) fn two(text: &str) -> Option<&str> {
    (text.len() == 2).then_some(text)
}

/// The number of one to eighteen digits and nothing else.
pub(super) fn digits(text: &str) -> Option<i64> {
    let all = (1..=18).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    all.then(|| text.parse().ok()).flatten()
}
