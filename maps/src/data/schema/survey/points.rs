//! Whether the points of plain numbers stand before a fraction, or between thousands.

use super::Reading;

/// Numbers with three digits behind the point of which chance has one end in a zero, nearly
/// always.
const MANY: u32 = 40;

/// What the cells of a column show.
#[derive(Debug, Clone, Copy)]
pub(in crate::data) struct Points {
    /// How many there are such as `101.000`, and whether all such end in two zeros.
    groups: u32,
    are_round: bool,
    /// Whether there is a whole number below a thousand: who measures to a thousandth writes
    /// `950.000`.
    has_small: bool,
    /// Whether there is one of a hundred and more, to a thousandth of which nobody measures either.
    has_hundreds: bool,
    /// Whether there is a number that no one writes beside thousands with points.
    has_others: bool,
    /// Whether there is one whose point stands before a fraction for sure.
    has_fraction: bool,
    /// Whether all are such as `12.2021`, and one begins with a zero as `07.2021` does.
    are_months: bool,
    has_early_month: bool,
}

impl Default for Points {
    fn default() -> Self {
        Self {
            groups: 0,
            are_round: true,
            has_small: false,
            has_hundreds: false,
            has_others: false,
            has_fraction: false,
            are_months: true,
            has_early_month: false,
        }
    }
}

/// What the other columns of a file say of its points.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::data) struct Marked {
    /// Whether one stands before a fraction.
    by_points: bool,
    /// Whether commas do.
    by_commas: bool,
}

impl Points {
    /// Takes a plain number.
    pub(in crate::data) fn see(&mut self, text: &str) {
        self.are_months &= is_month(text);
        self.has_early_month |= self.are_months && text.starts_with('0');
        let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        match text.split_once('.') {
            // Numbers below a thousand have no point.
            None => {
                let is_small = is_digits(text) && text.len() <= 3;
                self.has_small |= is_small;
                self.has_hundreds |= is_small && text.len() == 3 && !text.starts_with('0');
                self.has_others |= !is_small;
            }
            Some((whole, group)) if is_digits(whole) && is_digits(group) => {
                let fits = (1..=3).contains(&whole.len()) && group.len() == 3;
                if fits && !whole.starts_with('0') {
                    self.groups = self.groups.saturating_add(1);
                    self.are_round &= group.ends_with("00");
                } else {
                    self.has_fraction = true
                }
            }
            Some(_) => self.has_others = true,
        }
    }

    /// Whether all so far are written as months of years are.
    pub(in crate::data) fn are_months(&self) -> bool {
        self.are_months && self.has_fraction
    }

    /// Whether all may be months of years, of which no plain number begins with a zero.
    pub(in crate::data) fn may_be_months(&self) -> bool {
        self.are_months && self.has_early_month
    }

    /// Whether the points may stand between thousands. `1.234` measured to a thousandth is common:
    /// where no comma of the file says more, it takes numbers as round as `101.000`, whole ones
    /// beside many with three digits behind the point, for `1.5` stands among such by chance (these
    /// it takes also where other columns have points before fractions), or
    /// whole ones of three digits beside any, `950` beside `1.437`: of ten numbers to a thousandth
    /// with all zeros left out one in 300 tables has a whole one and no `1.5`.
    pub(in crate::data) fn may_part_thousands(&self, marked: Marked) -> bool {
        let alone = self.groups > 0 && !self.has_others && !self.has_fraction;
        let whole_beside_many = self.has_small && self.groups >= MANY;
        let likely = match (marked.by_points, marked.by_commas) {
            (true, false) => whole_beside_many,
            (false, true) => true,
            _ => self.are_round || self.has_hundreds || whole_beside_many,
        };
        alone && likely
    }
}

/// Whether it is `07.2021`: a month of two digits and a year from 1900 to 2099.
pub(in crate::data::schema) fn is_month(text: &str) -> bool {
    let parts = text
        .split_once('.')
        .filter(|(month, year)| month.len() == 2 && year.len() == 4);
    parts.is_some_and(|(month, year)| {
        let is_year = year.starts_with("19") || year.starts_with("20");
        is_year && matches!(month.parse(), Ok(1..=12_u8)) && year.parse::<u16>().is_ok()
    })
}

impl Marked {
    /// Whether points stand before fractions, and commas nowhere.
    pub(in crate::data::schema) fn is_by_points(self) -> bool {
        self.decimal() == Some('.')
    }

    /// What stands before fractions, where that is one mark in all columns that tell.
    pub(in crate::data::schema) fn decimal(self) -> Option<char> {
        match (self.by_points, self.by_commas) {
            (true, false) => Some('.'),
            (false, true) => Some(','),
            _ => None,
        }
    }

    /// Takes a column of plain numbers.
    pub(in crate::data) fn see(&mut self, points: &Points) {
        self.by_points |= points.has_fraction;
    }

    /// Takes the reading of one that is written with other marks.
    pub(in crate::data::schema) fn see_reading(&mut self, reading: &Reading) {
        if let Some(marks) = reading.marks() {
            self.by_commas |= marks.decimal == ',';
            self.by_points |= marks.decimal == '.' && marks.thousands == Some(',');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Marks;
    use super::*;

    #[test]
    fn months_of_years_are_no_plain_numbers() {
        let may = |cells: &[&str]| points(cells).may_be_months();
        assert!(may(&["07.2021", "12.2021", "01.1999"]));
        for other in [
            &["12.2021", "11.2020"][..],
            &["07.2021", "13.2021"],
            &["07.2021", "7.5"],
            &["07.2121"],
            &["00.2021", "01.2021"],
            &[],
        ] {
            assert!(!may(other), "{other:?}");
        }
    }

    fn points(cells: &[&str]) -> Points {
        let mut points = Points::default();
        cells.iter().for_each(|cell| points.see(cell));
        points
    }

    #[test]
    fn points_part_thousands_where_nothing_speaks_for_fractions() {
        let mut by_points = Marked::default();
        by_points.see(&points(&["0.125"]));
        let mut by_commas = Marked::default();
        by_commas.see_reading(&Reading::Number(Marks::new(',', None)));
        let mut by_both = by_commas;
        by_both.see(&points(&["1.25"]));
        let file = [Marked::default(), by_points, by_commas, by_both];
        for (cells, may) in [
            (&["101.000"][..], [true, false, true, true]),
            (&["1.500", "101.000", "12.300"], [true, false, true, true]),
            (&["1.500", "950", "7"], [true, false, true, true]),
            (&["1.437", "950", "7"], [true, false, true, true]),
            // Measured to a thousandth.
            (&["1.234", "5.678"], [false, false, true, false]),
            (&["1.437", "95", "012"], [false, false, true, false]),
            (&["101.000", "1.250"], [false, false, true, false]),
            // What thousands with points never have beside them.
            (&["101.000", "0.500"], [false; 4]),
            (&["101.000", "1.5"], [false; 4]),
            (&["101.000", "1234.000"], [false; 4]),
            (&["101.000", "1234"], [false; 4]),
            (&["101.000", "-1.000"], [false; 4]),
            (&["101.000", "1e3"], [false; 4]),
            (&["101.000", "1.500e3"], [false; 4]),
            (&["101.000", ".500"], [false; 4]),
            (&["101.000", "5."], [false; 4]),
            (&["950", "7"], [false; 4]),
            (&[], [false; 4]),
        ] {
            let found = file.map(|marked| points(cells).may_part_thousands(marked));
            assert_eq!(found, may, "{cells:?}");
        }
    }

    /// Whole numbers below a thousand beside many with three digits behind the point.
    #[test]
    fn whole_numbers_beside_many_thousandths_are_asked_about() {
        let cells: Vec<String> = (0..40)
            .map(|i| format!("{}.{:03}", 1 + i % 7, 11 * i + 101))
            .collect();
        let mut cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        // Where other columns have points before fractions as well: tables are pasted together.
        let mut by_points = Marked::default();
        by_points.see(&points(&["0.125"]));
        let may = |cells: &[&str]| {
            let found = [Marked::default(), by_points].map(|m| points(cells).may_part_thousands(m));
            assert_eq!(found[0], found[1]);
            found[0]
        };
        assert!(!may(&cells));
        cells.push("95");
        assert!(may(&cells));
        assert!(!may(&cells[1..]));
        cells.push("1.5");
        assert!(!may(&cells));
    }

    #[test]
    fn columns_tell_of_others() {
        let said = |reading: Reading| {
            let mut marked = Marked::default();
            marked.see_reading(&reading);
            (marked.by_points, marked.by_commas)
        };
        let of = |decimal, thousands| Reading::Number(Marks::new(decimal, thousands));
        assert_eq!(said(of(',', Some('.'))), (false, true));
        assert_eq!(said(of('.', Some(','))), (true, false));
        assert_eq!(said(Reading::Time), (false, false));
        assert_eq!(said(of('.', Some(' '))), (false, false));
    }
}
