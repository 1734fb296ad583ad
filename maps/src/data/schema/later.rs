//! Cells of rows that a fit did not see, which are written as none of its own is and mean one thing
//! all the same: `1.234,50` where all others were below a thousand.

use super::{
    Marks, Reading,
    amount::{Amount, Unit},
    duration,
};
use crate::error::{Error, Remedy};

/// The number with a decimal point and nothing between its digits, of a column with these marks:
/// groups of three digits may have any mark that is not the decimal one.
pub(super) fn plain(marks: Marks, text: &str) -> Option<String> {
    let text = text.trim();
    let is_plain = marks.decimal == '.' && text.parse::<f64>().is_ok();
    let grouped = || of_decimal(marks.decimal).find_map(|marks| marks.plain(text));
    is_plain.then(|| text.to_owned()).or_else(grouped)
}

/// The number of a column of plain numbers, with the marks of which somebody said that they stand
/// before fractions and between thousands. `1,234` may be 1.234 where nobody did.
pub(super) fn among_plain(text: &str, said: (Option<char>, Option<char>)) -> Option<f64> {
    let value = match said {
        (None, None) => of_decimal('.').find_map(|marks| marks.value(text)),
        (decimal, thousands) => {
            let fits = |marks: &Marks| {
                decimal.is_none_or(|own| own == marks.decimal)
                    && (thousands.is_none() || thousands == marks.thousands)
            };
            let mut all = Marks::ALL.into_iter().filter(fits);
            return all.find_map(|marks| marks.value(text));
        }
    };
    let is_open = Marks::new(',', None).value(text).is_some();
    value.filter(|_| !is_open).or_else(|| {
        let unit = Unit::parse(text).filter(|unit| unit.name.is_empty())?;
        in_unit(&unit, Marks::PLAIN, text)
    })
}

/// The amount of a column of such: with groups of three digits, with its currency on the other
/// side, or as a length of time in several units.
pub(super) fn amount(own: &Amount, text: &str) -> Option<f64> {
    in_unit(&own.unit, own.marks, text).or_else(|| time(&own.unit.name, text))
}

/// As [`amount`], in this unit. Where marks are plain `$1,234` may be 1.234.
fn in_unit(unit: &Unit, own: Marks, text: &str) -> Option<f64> {
    let unit = || unit.clone();
    let value = |marks| {
        Amount {
            unit: unit(),
            marks,
        }
        .value(text)
    };
    let is_open = own == Marks::PLAIN && value(Marks::new(',', None)).is_some();
    let mut all = std::iter::once(own).chain(of_decimal(own.decimal).filter(|_| !is_open));
    all.find_map(value)
}

/// `1h 20m` in minutes, beside `10m`; of a unit of one letter, which may be another, it ends so.
fn time(unit: &str, text: &str) -> Option<f64> {
    let of_one = duration::seconds_of(unit)?;
    let is_clear = unit.len() > 1 || text.trim().ends_with(unit);
    let seconds = duration::in_units(text.trim()).filter(|_| is_clear)?;
    Some(seconds / of_one)
}

/// The error of a cell that is not read as those of the fit are, with what helps where its marks
/// mean something that no cell of the fit shows.
pub(super) fn advised(error: Error, reading: &Reading, text: &str) -> Error {
    let number = text.trim_matches(|c: char| !c.is_ascii_digit());
    let groups = Marks::new('.', Some(','));
    let may_part = reading.amount().is_some() && number.contains(',');
    let error = if may_part && groups.value(number).is_some() {
        let help = "fit with --thousands ',' (thousands=) if that parts thousands";
        error.help(Remedy::words(help))
    } else {
        error
    };
    let marks = reading.marks().filter(|marks| marks.thousands.is_some());
    let other = marks.and_then(Marks::with_other_decimal);
    let other = other.filter(|&other| reading.with_marks(other).value(text).is_some());
    match other.map(|marks| marks.decimal) {
        Some(',') => error.help(Remedy::words(
            "fit with --decimal ',' (decimal=) if that is before a fraction",
        )),
        Some(_) => error.help(Remedy::words(
            "fit with --decimal . (decimal=) if that is before a fraction",
        )),
        None => error,
    }
}

/// Marks between thousands beside such a decimal one, and none.
fn of_decimal(decimal: char) -> impl Iterator<Item = Marks> {
    Marks::ALL
        .into_iter()
        .filter(move |marks| marks.decimal == decimal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_thousands_are_read_by_a_decimal_mark_that_is_known() {
        let (comma, point) = (Marks::new(',', None), Marks::new('.', Some(',')));
        for (marks, text, wanted) in [
            (comma, "1.234,50", Some("1234.50")),
            (comma, "1.234", Some("1234")),
            (comma, "1 234 567,5", Some("1234567.5")),
            (comma, "1.23", None),
            (comma, "12.34,5", None),
            (point, "1e5", Some("1e5")),
            (point, "1'234.5", Some("1234.5")),
            (point, "1,23", None),
        ] {
            assert_eq!(plain(marks, text).as_deref(), wanted, "{text}");
        }
        let none = (None, None);
        for (text, said, wanted) in [
            ("1,234.5", none, Some(1234.5)),
            ("12,34,567", none, Some(1_234_567.0)),
            ("1'234", none, Some(1234.0)),
            ("1,234", none, None),
            ("1,234", (None, Some(',')), Some(1234.0)),
            ("1,5", none, None),
            ("1,5", (Some(','), None), Some(1.5)),
            ("1.2k", none, Some(1200.0)),
            ("(1,234.50)", none, Some(-1234.5)),
            ("1.234,5", none, None),
            ("x", none, None),
        ] {
            assert_eq!(among_plain(text, said), wanted, "{text}");
        }
    }

    #[test]
    fn amounts_are_read_by_a_unit_that_is_known() {
        let german = Marks::new(',', None);
        for (first, marks, text, wanted) in [
            ("$500.5", Marks::PLAIN, "$1,234.50", Some(1234.5)),
            ("$500.5", Marks::PLAIN, "$1,234", None),
            ("₹500", Marks::PLAIN, "₹1,23,456", Some(123_456.0)),
            ("500,5 €", german, "1.234 €", Some(1234.0)),
            ("500,5 €", german, "€ 1.234,5", Some(1234.5)),
            ("500 €", Marks::PLAIN, "€ 500", Some(500.0)),
            ("500 €", Marks::PLAIN, "500", None),
            ("500 €", Marks::PLAIN, "$500", None),
            ("5 kg", Marks::PLAIN, "kg 5", Some(5.0)),
            ("5 kg", Marks::PLAIN, "5KG", Some(5.0)),
            ("5 m", Marks::PLAIN, "m 5", None),
            ("5 mg", Marks::PLAIN, "5 Mg", None),
            ("10m", Marks::PLAIN, "1h 20m", Some(80.0)),
            ("10 min", Marks::PLAIN, "2h", Some(120.0)),
            ("10 min", Marks::PLAIN, "90 s", Some(1.5)),
            ("10m", Marks::PLAIN, "2h", None),
            ("10 kg", Marks::PLAIN, "2h", None),
        ] {
            let unit = Unit::parse(first).expect("a unit");
            assert_eq!(amount(&Amount { unit, marks }, text), wanted, "{text}");
        }
    }
}
