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
