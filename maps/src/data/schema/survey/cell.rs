//! Single values of a table.

use super::{MissingRule, date};
use crate::data::files::table::Column;
use crate::error::{Error, Remedy};

/// One value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::data::schema) enum Cell<'a> {
    /// None; what is written there where something is.
    Missing(&'a str),
    Number(f64),
    /// Days since 1970-01-01.
    Date(f64),
    Boolean(bool),
    Text(&'a str),
}

/// Calls `take` with each row and value of `column`, up to the first error.
pub(in crate::data::schema) fn for_each_cell<E>(
    column: &Column,
    rule: MissingRule<'_>,
    mut take: impl FnMut(usize, Cell<'_>) -> Result<(), E>,
) -> Result<(), E> {
    match column {
        Column::Numbers(values) => known(values, (Cell::Number, |v| rule.number(v)), take),
        Column::Dates(values) => known(values, (Cell::Date, |v| rule.date(v)), take),
        Column::Booleans(values) => values
            .iter()
            .enumerate()
            .try_for_each(|(i, v)| take(i, v.map_or(Cell::Missing(""), Cell::Boolean))),
        Column::Text(texts) => texts.iter().enumerate().try_for_each(|(i, text)| {
            take(
                i,
                match text {
                    None => Cell::Missing(""),
                    Some(text) if rule.text(text) => Cell::Missing(text),
                    Some(text) => Cell::Text(text),
                },
            )
        }),
    }
}

/// The number that text is. What is beyond all of f64 is none, `4e7186` may be a code; infinities
/// are written as words.
pub(in crate::data::schema) fn plain(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    let is_beyond = value.is_infinite() && text.contains(|c: char| c.is_ascii_digit());
    (!is_beyond).then_some(value)
}

/// Whether `column` has a number or a date, and no text other than null tokens.
pub(in crate::data) fn holds_numbers(column: &Column, rule: MissingRule<'_>) -> bool {
    let mut any = false;
    let told = for_each_cell(column, rule, |_, cell| match cell {
        Cell::Text(text) if plain(text).or_else(|| date::days(text)).is_some() => {
            any = true;
            Ok(())
        }
        Cell::Text(text) if !rule.is_null_token(text) => Err(()),
        _ => Ok(()),
    });
    told.is_ok() && any
}

/// Calls `take` with each row of `column` that holds no value, or a number that is not finite.
pub(in crate::data) fn says_nothing(
    column: &Column,
    rule: MissingRule<'_>,
    mut take: impl FnMut(usize),
) {
    let infinite = |text: &str| plain(text).is_some_and(|value| !value.is_finite());
    let told = for_each_cell(column, rule, |i, cell| {
        let nothing = match cell {
            Cell::Missing(_) => true,
            Cell::Number(value) | Cell::Date(value) => !value.is_finite(),
            Cell::Boolean(_) => false,
            Cell::Text(text) => rule.reads_text() && infinite(text),
        };
        if nothing {
            take(i);
        }
        Ok::<_, std::convert::Infallible>(())
    });
    match told {
        Ok(()) => {}
        Err(never) => match never {},
    }
}

fn known<'a, E>(
    values: &[f64],
    (cell, no_value): (impl Fn(f64) -> Cell<'a>, impl Fn(f64) -> Option<&'a str>),
    mut take: impl FnMut(usize, Cell<'_>) -> Result<(), E>,
) -> Result<(), E> {
    values.iter().enumerate().try_for_each(|(i, &value)| {
        let missing = if value.is_nan() {
            Some("")
        } else {
            no_value(value)
        };
        take(i, missing.map_or_else(|| cell(value), Cell::Missing))
    })
}

/// What is said of a value that is missing, of which the file has this text.
pub(in crate::data) fn missing(text: &str) -> String {
    match text {
        "" => "is empty".to_owned(),
        text if text.eq_ignore_ascii_case("nan") => "is NaN".to_owned(),
        text => format!("is {text}, which stands for no value"),
    }
}

/// The error of a value that is missing, with what helps: of a feature, or of a target.
pub(in crate::data) fn refused(error: Error, is_feature: bool) -> Error {
    let fill = Remedy::words("fill in a value");
    if is_feature {
        error
            .help(Remedy::DropRows)
            .help(fill)
            .help(Remedy::FillMissing)
    } else {
        error.help(Remedy::DropRowsWithoutTarget).help(fill)
    }
}

/// As [`refused`], of a value that is infinite.
pub(in crate::data) fn infinite(error: Error, is_feature: bool) -> Error {
    let rows = if is_feature {
        Remedy::DropRows
    } else {
        Remedy::DropRowsWithoutTarget
    };
    error
        .help(rows)
        .help(Remedy::words("fill in a finite value"))
}

/// A truth value that text says.
pub(in crate::data::schema) fn boolean(text: &str) -> Option<bool> {
    match () {
        () if text.eq_ignore_ascii_case("true") => Some(true),
        () if text.eq_ignore_ascii_case("false") => Some(false),
        () => None,
    }
}

/// Calls `take` with a value as text.
pub(in crate::data::schema) fn text_of<T>(cell: Cell<'_>, take: impl FnOnce(&str) -> T) -> T {
    match cell {
        Cell::Text(text) | Cell::Missing(text) => take(text),
        Cell::Number(value) => take(&value.to_string()),
        Cell::Date(value) => take(&date::text(value)),
        Cell::Boolean(value) => take(&value.to_string()),
    }
}
