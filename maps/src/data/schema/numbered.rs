//! Whole numbers behind one text: amounts at a word that is not known, or names that have numbers.

/// What `R756`, `INV-1000` and `Customer 17` have in common: the same text before a whole number.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    head: Option<String>,
    /// Whether another text is there.
    is_mixed: bool,
    last: Option<u64>,
    /// Whether a number is less than the one before it, and whether one is greater.
    falls: bool,
    rises: bool,
}

impl Numbered {
    /// Takes one more text.
    pub(super) fn see(&mut self, text: &str) {
        if self.is_mixed {
            return;
        }
        let text = text.trim();
        let head = text.trim_end_matches(|c: char| c.is_ascii_digit());
        let fits = !head.is_empty() && !head.contains(char::is_numeric);
        let own = self.head.get_or_insert_with(|| head.to_owned());
        let number = text[head.len()..].parse::<u64>().ok();
        let Some(number) = number.filter(|_| fits && own == head) else {
            self.is_mixed = true;
            return;
        };
        if let Some(last) = self.last.replace(number) {
            self.falls |= number < last;
            self.rises |= number > last;
        }
    }

    /// What stands before the numbers of all texts.
    pub(super) fn head(&self) -> Option<&str> {
        self.head.as_deref().filter(|_| !self.is_mixed)
    }

    /// Whether the numbers go up from row to row, or down.
    pub(super) fn count(&self) -> bool {
        !(self.rises && self.falls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_text_stands_before_numbers_that_may_count() {
        let of = |texts: &[&str]| {
            let mut numbered = Numbered::default();
            texts.iter().for_each(|text| numbered.see(text));
            let count = numbered.count();
            numbered.head().map(|head| (head.to_owned(), count))
        };
        let one = |head: &str, count| Some((head.to_owned(), count));
        assert_eq!(of(&["A1000", "A1001", "A1007"]), one("A", true));
        assert_eq!(of(&["INV-12", "INV-7", "INV-3"]), one("INV-", true));
        assert_eq!(
            of(&["Customer 3", "Customer 1", "Customer 2"]),
            one("Customer ", false)
        );
        assert_eq!(of(&["#007", "#6", "#12"]), one("#", false));
        for mixed in [
            &["bus 1", "tram 2"][..],
            &["B2 1", "B2 7"],
            &["gate 3b"],
            &["12"],
            &["gate"],
            &["R99999999999999999999"],
            &[],
        ] {
            assert_eq!(of(mixed), None, "{mixed:?}");
        }
    }
}
