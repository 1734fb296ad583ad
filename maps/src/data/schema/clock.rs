//! Times of day without a mark, `0930`.

/// Days of a time of day as in `0930`; `None` of other text.
pub(super) fn clock(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_whole = text.len() == 4 && text.bytes().all(|digit| digit.is_ascii_digit());
    let value: u32 = text.parse().ok().filter(|_| is_whole)?;
    let (hours, minutes) = (value / 100, value % 100);
    (hours < 24 && minutes < 60).then(|| f64::from(60 * hours + minutes) / 1440.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_have_four_digits() {
        assert_eq!(clock("0930"), Some(9.5 / 24.0));
        assert_eq!(clock(" 2359 "), Some(1439.0 / 1440.0));
        for other in ["930", "2400", "0960", "09:30", "+930", "", "00930"] {
            assert_eq!(clock(other), None, "{other}");
        }
    }
}
