//! Which hundred years the dates of a column are of that have years of two digits.

use super::{DateFormat, date::calendar};

/// The first year of two digits where nobody names another, and nothing speaks for one.
pub(super) const USUAL: i64 = 69;
/// Years from the first date to the last, beyond which the usual ones may be wrong.
const LONG: i64 = 60;
/// Years in a row that no date has, which tell where the hundred begin.
const CLEAR: i64 = 10;

/// The years of a column as two digits.
#[derive(Debug, Clone, Default)]
pub(super) struct Years {
    /// A bit of each.
    there: u128,
    /// The cell of the last one before [`USUAL`].
    last: Option<(i64, u64, String)>,
}

/// What the years of a column are.
#[derive(Debug, PartialEq)]
pub(super) enum Century {
    /// The usual ones.
    Usual,
    /// Those from this year of the last century on.
    From(i64),
    /// The usual ones or those, as this cell may be either, with its row.
    Either(i64, u64, String),
}

impl Years {
    /// Takes the date of a cell.
    pub(super) fn add(&mut self, days: f64, (row, text): (u64, &str)) {
        let year = calendar(days.floor() as i64).0.rem_euclid(100);
        self.there |= 1 << year;
        let is_last = self.last.as_ref().is_none_or(|(last, ..)| *last < year);
        if year < USUAL && is_last {
            self.last = Some((year, row, text.to_owned()));
        }
    }

    /// The usual years, unless they spread dates over more than [`LONG`] years though these leave
    /// twice as many years in a row free elsewhere as around [`USUAL`]: the hundred begin behind
    /// those. Where hardly any are free nobody can tell. A clock has no part in it, so that a file
    /// is the same on any day.
    pub(super) fn century(&self) -> Century {
        let has = |year: i64| self.there >> year.rem_euclid(100) & 1 == 1;
        let first = (USUAL..100).find(|&year| has(year));
        let (Some(first), Some((last, row, text))) = (first, &self.last) else {
            return Century::Usual;
        };
        // Free years before each one that is there.
        let free = |year: i64| (1..100).take_while(|&k| !has(year - k)).count() as i64;
        let longest = (0..100)
            .filter(|&year| has(year))
            .max_by_key(|&y| (free(y), -y));
        let longest = longest.unwrap_or(USUAL);
        let (most, around) = (free(longest), free(first));
        if last + 100 - first <= LONG || around >= most.max(CLEAR) {
            Century::Usual
        } else if most >= CLEAR.max(2 * around) {
            Century::From(longest)
        } else {
            let from = if longest <= *last { longest } else { 0 };
            Century::Either(from, *row, text.clone())
        }
    }
}

impl DateFormat {
    /// Whether years of two digits are the usual ones.
    pub(super) fn has_usual_years(&self) -> bool {
        self.to_string().contains("%y")
    }

    /// The first year that two digits mean, where it is not the usual one.
    pub(super) fn first_year(&self) -> Option<i64> {
        let format = self.to_string();
        let mut parts = format.split('%').skip(1);
        let year = parts.find_map(|part| part.get(..3)?.strip_suffix('y')?.parse::<i64>().ok())?;
        Some(1900 + year)
    }

    /// The same of the hundred years from such a one on.
    pub(super) fn with_years_from(&self, year: i64) -> Self {
        Self::known(&self.to_string().replace("%y", &format!("%{year:02}y")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn century(years: impl IntoIterator<Item = i64>) -> Century {
        let format = DateFormat::known("%d.%m.%y");
        let mut all = Years::default();
        for (row, year) in years.into_iter().enumerate() {
            let text = format!("{}.3.{:02}", 1 + row % 28, year % 100);
            all.add(format.days(&text).expect("a date"), (row as u64, &text));
        }
        all.century()
    }

    #[test]
    fn the_hundred_years_are_those_that_dates_leave_free() {
        // Births, of which some are before 1969 and some after 1999.
        assert_eq!(century(1931..2006), Century::From(31));
        assert_eq!(century(1935..2023), Century::From(35));
        assert_eq!(century([1941, 1968, 1969, 1972]), Century::From(41));
        // What the usual ones take well: the last decades, loans, a few dates.
        for usual in [
            (1995..2025).collect::<Vec<_>>(),
            (1975..2046).collect(),
            (1969..2030).collect(),
            (2031..2069).collect(),
            (1970..2000).collect(),
            vec![1998, 2005, 2030],
            vec![],
        ] {
            assert_eq!(century(usual.clone()), Century::Usual, "{usual:?}");
        }
        // Too many years to tell.
        let Century::Either(from, row, text) = century(1926..2020) else {
            panic!("dates of nearly a hundred years are clear")
        };
        assert_eq!((from, row, text.as_str()), (26, 42, "15.3.68"));
        assert!(matches!(century(1900..2000), Century::Either(0, ..)));
        assert!(matches!(
            century([1972, 2005, 2041]),
            Century::Either(41, ..)
        ));
    }

    #[test]
    fn formats_tell_their_first_year() {
        let usual = DateFormat::known("%d.%m.%y");
        let other = usual.with_years_from(5);
        assert_eq!((usual.first_year(), other.first_year()), (None, Some(1905)));
        assert!(usual.has_usual_years() && !other.has_usual_years());
        assert_eq!(other.to_string(), "%d.%m.%05y");
        assert_eq!(
            other.days("1.1.05"),
            DateFormat::known("%d.%m.%Y").days("1.1.1905")
        );
    }
}
