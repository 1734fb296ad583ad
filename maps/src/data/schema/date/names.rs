//! Names of months and of days of the week in English, German, French, Spanish, Italian,
//! Portuguese, Dutch, Swedish, Danish and Norwegian; of months in Polish, Czech, Russian, Finnish,
//! Turkish and Hungarian, too, in the case that dates have and in that of calendars.

mod months;

use months::MONTHS;

/// Names of each weekday from Monday on, whole and short, in lower case. `mar` is a Tuesday in
/// French and in Spanish.
const WEEKDAYS: [&[&str]; 7] = [
    &[
        "monday", "mon", "montag", "mo", "lundi", "lun", "lunes", "lunedì", "segunda", "seg",
        "maandag", "ma", "måndag", "mån", "mandag",
    ],
    &[
        "tuesday", "tue", "tues", "dienstag", "di", "die", "mardi", "mar", "martes", "martedì",
        "terça", "ter", "dinsdag", "tisdag", "tis", "tirsdag",
    ],
    &[
        "wednesday",
        "wed",
        "mittwoch",
        "mi",
        "mit",
        "mercredi",
        "mer",
        "miércoles",
        "mié",
        "mercoledì",
        "quarta",
        "qua",
        "woensdag",
        "wo",
        "onsdag",
        "ons",
    ],
    &[
        "thursday",
        "thu",
        "thur",
        "thurs",
        "donnerstag",
        "do",
        "don",
        "jeudi",
        "jeu",
        "jueves",
        "jue",
        "giovedì",
        "gio",
        "quinta",
        "qui",
        "donderdag",
        "torsdag",
        "tors",
        "tor",
    ],
    &[
        "friday", "fri", "freitag", "fr", "fre", "vendredi", "ven", "viernes", "vie", "venerdì",
        "sexta", "sex", "vrijdag", "vr", "fredag",
    ],
    &[
        "saturday",
        "sat",
        "samstag",
        "sonnabend",
        "sa",
        "sam",
        "samedi",
        "sábado",
        "sáb",
        "sabato",
        "sab",
        "zaterdag",
        "za",
        "lördag",
        "lör",
        "lørdag",
        "lør",
    ],
    &[
        "sunday", "sun", "sonntag", "so", "son", "dimanche", "dim", "domingo", "dom", "domenica",
        "zondag", "zo", "söndag", "sön", "søndag", "søn",
    ],
];

/// The number of a month by its name, whole or short.
pub(in crate::data::schema) fn month(name: &str) -> Option<i64> {
    place(&MONTHS, name)
}

/// The number of a weekday by its name, whole or short, from 1 on a Monday.
pub(in crate::data::schema) fn weekday(name: &str) -> Option<i64> {
    place(&WEEKDAYS, name)
}

/// The place of a name among all, from 1.
fn place(all: &[&[&str]], name: &str) -> Option<i64> {
    let name = name.to_lowercase();
    let at = all
        .iter()
        .position(|names| names.contains(&name.as_str()))?;
    Some(at as i64 + 1)
}

/// A text without the weekday that it begins with, `Mo, ` or `Fri `, and the number of that.
pub(in crate::data::schema) fn after_weekday(text: &str) -> Option<(i64, &str)> {
    let end = text.find(|c: char| !c.is_alphabetic())?;
    let (name, rest) = text.split_at(end);
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    let rest = rest.strip_prefix(',').unwrap_or(rest);
    let date = rest.trim_start();
    let date = date.strip_prefix("den ").unwrap_or(date);
    let is_apart = date.len() < text.len() - end;
    Some((weekday(name).filter(|_| is_apart)?, date))
}

#[cfg(test)]
mod tests;
