//! Dates with months in a language that is not known: a day, one of at most twelve words, a year.

/// Names of months, and days, at most and at least.
const WORDS: std::ops::RangeInclusive<usize> = 2..=12;
const DAYS: u32 = 8;
/// Years that dates of a table have.
const YEARS: std::ops::RangeInclusive<u16> = 1500..=2200;

/// What texts such as `6. dubna 2022` and `2021. február 14.` have in common.
#[derive(Debug, Default)]
pub(super) struct Months {
    words: Vec<String>,
    /// A bit of each day.
    days: u32,
    cells: usize,
    others: usize,
}

impl Months {
    /// Takes one more text.
    pub(super) fn see(&mut self, text: &str) {
        if self.words.len() > *WORDS.end() {
            return;
        }
        let Some((day, word)) = parts(text) else {
            self.others += 1;
            return;
        };
        self.cells += 1;
        self.days |= 1 << day;
        if !self.words.contains(&word) {
            self.words.push(word);
        }
    }

    /// Whether at least so many texts are such dates, and so many times more than are none.
    pub(super) fn are(&self, least: usize, times: usize) -> bool {
        let are_many = self.cells >= least && self.cells >= times * self.others;
        are_many && WORDS.contains(&self.words.len()) && self.days.count_ones() >= DAYS
    }
}

/// The day and the words of a date that has its year at one end.
fn parts(text: &str) -> Option<(u32, String)> {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut numbers = text
        .split(|c: char| !is_digit(c))
        .filter(|part| !part.is_empty());
    let (first, last) = (numbers.next()?, numbers.next()?);
    if numbers.next().is_some() {
        return None;
    }
    let (day, year) = if last.len() == 4 {
        (first, last)
    } else {
        (last, first)
    };
    let fits = year.len() == 4 && year.parse().is_ok_and(|year| YEARS.contains(&year));
    let day = day
        .parse()
        .ok()
        .filter(|day| fits && (1..=31).contains(day))?;
    let begins = text.starts_with(is_digit);
    let between = text
        .trim_start_matches(is_digit)
        .trim_end_matches(|c| !is_digit(c));
    let between = between.trim_end_matches(is_digit);
    let word: String = between.chars().filter(|c| c.is_alphabetic()).collect();
    (begins && !word.is_empty()).then(|| (day, word.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are(text: impl Fn(usize) -> String) -> bool {
        let mut months = Months::default();
        (0..60).for_each(|i| months.see(&text(i)));
        months.are(20, 5)
    }

    #[test]
    fn a_day_one_of_twelve_words_and_a_year_are_a_date() {
        let months = ["Ionawr", "Chwefror", "Mawrth", "Ebrill", "Mai"];
        assert!(are(|i| format!(
            "{} {} {}",
            1 + i % 28,
            months[i % 5],
            2019 + i % 3
        )));
        assert!(are(|i| format!(
            "{}. {} {}.",
            2019 + i % 3,
            months[i % 5],
            1 + i % 28
        )));
        assert!(are(|i| format!(
            "{} de {} de 2021",
            1 + i % 28,
            months[i % 5]
        )));
        let streets = |i: usize| char::from(b'a' + (i % 26) as u8);
        assert!(!are(|i| format!("{} {} {}", 1 + i % 28, streets(i), 2019)));
        assert!(!are(|i| format!("{} Series {}", 1 + i % 8, 2012 + i % 6)));
        assert!(!are(|i| format!("{} {} 2012", 2 + i % 3, months[i % 5])));
        assert!(!are(|i| format!(
            "{} {} {}",
            1 + i % 28,
            months[i % 5],
            300 + i
        )));
        assert!(!are(|i| format!(
            "{} {} {i} 2012",
            1 + i % 28,
            months[i % 5]
        )));
        assert!(!are(|i| format!("x{} {} 2012", 1 + i % 28, months[i % 5])));
    }
}
