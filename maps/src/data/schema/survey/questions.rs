//! Errors about columns of which nobody can tell how they are to be read.

use super::{
    DateFormat, Reading,
    amount::Amount,
    candidates::{Ambiguous, is_limit},
    date, is_total, unlisted_zone,
};
use crate::data::{Table, files::table::short};
use crate::error::{Error, Remedy};

/// A week by ISO 8601 without its hyphen, `2021W10`.
const WEEK: &str = "%GW%V";

/// A column: its table, its place there and its name.
pub(in crate::data::schema) type ColumnAt<'a> = (&'a dyn Table, usize, &'a str);

/// The error about a cell that may be two things.
pub(in crate::data::schema) fn ambiguous(
    (table, j, name): ColumnAt<'_>,
    found: &Ambiguous,
) -> Error {
    let text = &found.text;
    let values = found.readings.iter().map(|reading| said(reading, text));
    let values: Vec<String> = values.collect();
    let says = format!("{} may be {}", short(text), values.join(" or "));
    let mut error = table.fault(found.row, j, &says);
    for reading in &found.readings {
        error = error.help(remedy(reading));
    }
    error.help(Remedy::Categorical(name.to_owned()))
}

/// The error about amounts in two units.
pub(in crate::data::schema) fn two_units(
    (table, j, name): ColumnAt<'_>,
    units: &[(u64, String); 2],
) -> Error {
    let [(first, one), (row, other)] = units;
    let (one, other) = (short(one), short(other));
    let one = format!("{one} in {}", table.place(*first, j));
    let says = format!("holds {other}, and {one}: amounts in two units");
    let error = table.fault(*row, j, &says);
    let help = Remedy::words("bring the column to one unit");
    error.help(help).help(Remedy::Categorical(name.to_owned()))
}

/// The error about numbers of which some have a unit.
pub(in crate::data::schema) fn some_in_units(
    (table, j, name): ColumnAt<'_>,
    ((row, amount), (first, number)): (&(u64, String), &(u64, String)),
) -> Error {
    let number = format!("{} in {}", short(number), table.place(*first, j));
    let says = format!("holds {}, and {number}, without a unit", short(amount));
    let error = table.fault(*row, j, &says);
    let help = Remedy::words("write all of the column with it, or none");
    error.help(help).help(Remedy::Categorical(name.to_owned()))
}

/// The error about times of two parts and of three in one column.
pub(in crate::data::schema) fn two_clocks(
    (table, j, name): ColumnAt<'_>,
    clocks: [&(u64, String); 2],
) -> Error {
    let [(row, short_one), (other_row, long)] = clocks;
    let (one, other) = (short(short_one), short(long));
    let other = format!("{other} in {}", table.place(*other_row, j));
    let says = format!("holds {one}, and {other}: {one} may be hours and minutes, or minutes");
    let error = table.fault(*row, j, &says);
    let help = Remedy::words("write all of one column with as many parts, as in 0:59:27");
    error.help(help).help(Remedy::Categorical(name.to_owned()))
}

/// The error about amounts or dates that are written in a manner that is not known.
pub(in crate::data::schema) fn not_understood(
    (table, j, name): ColumnAt<'_>,
    (row, text): &(u64, String),
    is_feature: bool,
) -> Error {
    let says = format!(
        "holds {}, which looks like an amount or a date and is read as none",
        short(text)
    );
    let error = table.fault(*row, j, &says);
    let is_week = DateFormat::known(WEEK).days(text).is_some();
    let help = if is_week {
        "write it as 2021-W10"
    } else {
        "write it as a number, or as 2021-03-12"
    };
    let mut error = error.help(Remedy::words(help));
    let numbers = text.split(|c: char| !c.is_numeric());
    let is_one = numbers.filter(|digits| !digits.is_empty()).count() < 2;
    if is_week {
        error = error.help(Remedy::DateFormat(WEEK.to_owned()));
    } else if !is_one {
        error = error.help(Remedy::AnyDateFormat);
    }
    if is_feature {
        error = error.help(Remedy::Ignore(name.to_owned()));
    }
    if is_one && is_feature {
        error = error.help(Remedy::ByTarget(name.to_owned()));
    }
    error.help(Remedy::Categorical(name.to_owned()))
}

/// The error about texts of which somebody said that they are numbers.
pub(in crate::data::schema) fn no_numbers(
    (table, j, name): ColumnAt<'_>,
    (row, text): &(u64, String),
    is_feature: bool,
) -> Error {
    let says = format!(
        "holds {}, and is named for numbers, which stand behind one word or before one in all cells",
        short(text)
    );
    let error = table.fault(*row, j, &says);
    let error = error.help(Remedy::words("write all cells so"));
    let error = error.help(Remedy::words("do not name it"));
    if is_feature {
        error.help(Remedy::Ignore(name.to_owned()))
    } else {
        error
    }
}

/// The error about a date in a zone of which the offset is not known.
pub(in crate::data::schema) fn unknown_zone(
    (table, j, name): ColumnAt<'_>,
    (row, text): &(u64, String),
) -> Error {
    let zone = short(unlisted_zone::find(text).unwrap_or_default());
    let says = format!(
        "holds {}, and the offset of the zone {zone} is not known",
        short(text)
    );
    let error = table.fault(*row, j, &says);
    let help = Remedy::words("write it as +01:00");
    error.help(help).help(Remedy::Categorical(name.to_owned()))
}

/// What a text is by a reading.
fn said(reading: &Reading, text: &str) -> String {
    match (reading, reading.value(text)) {
        (Reading::Date(_), Some(days)) => date::text(days),
        (_, value) => value.unwrap_or(f64::NAN).to_string(),
    }
}

/// How to ask for a reading.
fn remedy(reading: &Reading) -> Remedy {
    match reading {
        Reading::Date(format) => Remedy::DateFormat(format.to_string()),
        Reading::Time | Reading::Clock | Reading::Answers => {
            Remedy::words("write it with its unit")
        }
        Reading::Number(marks) | Reading::Amount(Amount { marks, .. }) => {
            let decimal = Remedy::Decimal(marks.decimal);
            marks.thousands.map_or(decimal, Remedy::Thousands)
        }
    }
}

/// The error of a column of two kinds with what may be done, where `stray` is a text among others:
/// without a digit, or as a limit such as `<5`, it may say that there is no value, as these texts
/// do, and without a letter it names no category.
pub(in crate::data::schema) fn cured(
    error: Error,
    (stray, no_values): (Option<&str>, Vec<String>),
    column: String,
) -> Error {
    let correct = if stray.is_some_and(is_total) {
        "remove the row, if it is of totals"
    } else {
        "correct it"
    };
    let error = error.help(Remedy::words(correct));
    // Spreadsheets write what is wrong so: `#DIV/0!`, `#NV`.
    let is_gap = |text: &&str| {
        let has_no_number = !text.contains(|c: char| c.is_numeric() || c == ',');
        text.starts_with('#') || has_no_number || is_limit(text)
    };
    let gap = stray.filter(is_gap);
    let error = match (gap, &no_values[..]) {
        (Some(gap), [] | [_]) => error.help(Remedy::NoValue(gap.to_owned())),
        // A list takes the place of the usual texts, of which some may be there.
        (Some(_), all) => error.help(Remedy::words(format!(
            "take them for no value with --na '{}' (na=)",
            all.join(",")
        ))),
        (None, _) => error,
    };
    if gap.is_none_or(|gap| gap.contains(char::is_alphabetic)) {
        error.help(Remedy::Categorical(column))
    } else {
        error
    }
}
