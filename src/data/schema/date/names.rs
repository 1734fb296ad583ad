//! Names of months and of days of the week in English, German, French, Spanish, Italian,
//! Portuguese, Dutch, Swedish, Danish and Norwegian.

/// Names of each month, whole and short, in lower case. No short name is of two months.
const MONTHS: [&[&str]; 12] = [
    &[
        "january", "jan", "januar", "jänner", "jän", "janvier", "janv", "enero", "ene", "gennaio",
        "gen", "janeiro", "januari",
    ],
    &[
        "february",
        "feb",
        "februar",
        "feber",
        "février",
        "fevrier",
        "févr",
        "fevr",
        "fév",
        "fev",
        "febrero",
        "febbraio",
        "fevereiro",
        "februari",
    ],
    &[
        "march", "mar", "märz", "maerz", "mär", "mrz", "mars", "marzo", "março", "marco", "maart",
        "mrt", "marts",
    ],
    &["april", "apr", "avril", "avr", "abril", "abr", "aprile"],
    &["may", "mai", "mayo", "maggio", "mag", "maio", "mei", "maj"],
    &[
        "june", "jun", "juni", "juin", "junio", "giugno", "giu", "junho",
    ],
    &[
        "july", "jul", "juli", "juillet", "juil", "julio", "luglio", "lug", "julho",
    ],
    &[
        "august", "aug", "août", "aout", "agosto", "ago", "augusti", "augustus",
    ],
    &[
        "september",
        "sep",
        "sept",
        "septembre",
        "septiembre",
        "setiembre",
        "settembre",
        "setembro",
        "set",
    ],
    &[
        "october", "oct", "oktober", "okt", "octobre", "octubre", "ottobre", "ott", "outubro",
        "out",
    ],
    &["november", "nov", "novembre", "noviembre", "novembro"],
    &[
        "december",
        "dec",
        "dezember",
        "dez",
        "décembre",
        "decembre",
        "déc",
        "diciembre",
        "dic",
        "dezembro",
        "dicembre",
        "desember",
        "des",
    ],
];
/// Those of each weekday from Monday on. `mar` is a Tuesday in French and in Spanish.
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
mod tests {
    use super::*;

    #[test]
    fn no_name_is_of_two_months_or_weekdays() {
        for all in [&MONTHS[..], &WEEKDAYS] {
            let mut names: Vec<&str> = all.concat();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count);
            assert!(names.iter().all(|name| name.to_lowercase() == **name));
        }
    }

    #[test]
    fn weekdays_stand_before_dates() {
        for (text, found) in [
            ("Mo, 05.07.2021", Some((1, "05.07.2021"))),
            ("Di. 06.07.2021", Some((2, "06.07.2021"))),
            ("Fri 9 Jul 2021", Some((5, "9 Jul 2021"))),
            ("dim., 11/07/2021", Some((7, "11/07/2021"))),
            ("Sáb 10/07/2021", Some((6, "10/07/2021"))),
            ("Montag, den 05.07.2021", Some((1, "05.07.2021"))),
            ("tis 6 juli 2021", Some((2, "6 juli 2021"))),
            ("Mo05.07.2021", None),
            ("Moo, 05.07.2021", None),
            ("05.07.2021", None),
            ("Mo", None),
        ] {
            assert_eq!(after_weekday(text), found, "{text}");
        }
    }
}
