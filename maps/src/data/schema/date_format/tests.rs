use super::*;

/// Days since 1970 of texts by formats, or none.
fn assert_days(cases: &[(&str, &str, Option<f64>)]) {
    for (format, text, days) in cases {
        let found: DateFormat = format.parse().expect(format);
        assert_eq!(found.days(text), *days, "{text:?} by {format}");
    }
}

#[test]
fn days_months_and_years_are_digits() {
    assert_days(&[
        ("%m/%d/%Y", "12/31/1970", Some(364.0)),
        ("%d/%m/%Y", "31/12/1970", Some(364.0)),
        ("%m/%d/%Y", "31/12/1970", None),
        ("%d.%m.%Y", "1.2.1970", Some(31.0)),
        ("%Y/%m/%d", "2000/02/29", Some(11_016.0)),
        ("%Y/%m/%d", "2001/02/29", None),
        ("%Y. %m. %d.", "2021. 12. 1.", Some(18_962.0)),
        ("%Y.%m.%d", "2021.03.12", Some(18_698.0)),
        ("%Y年%m月%d日", "2021年3月12日", Some(18_698.0)),
        ("%d.%m.%Y", "01.01.1970x", None),
        ("%d.%m.%Y", "", None),
        ("%d.%m.%Y", "\u{e9}1.01.1970", None),
        ("%Y%m%d", "20210312", Some(18_698.0)),
        ("%Y%m%d", "20211312", None),
        ("%Y-%m", "2021-03", Some(18_687.0)),
    ]);
}

#[test]
fn years_of_two_digits_are_of_a_century() {
    assert_days(&[
        ("%d.%m.%y", "01.02.70", Some(31.0)),
        ("%d.%m.%y", "01.02.1970", None),
        ("%m/%d/%y", "1/2/68", Some(35_795.0)),
        ("%m/%d/%y", "1/1/69", Some(-365.0)),
        ("%31y-%m", "31-01", Some(-14_245.0)),
        ("%31y-%m", "30-01", Some(21_915.0)),
        ("%00y-%m", "99-01", Some(10_592.0)),
        ("%b-%y", "Jan-21", Some(18_628.0)),
        ("%d-%b-%y", "12-Mar-21", Some(18_698.0)),
        ("%d-%b-%y", "12-Mar-2021", None),
    ]);
}

#[test]
fn times_of_day_are_shares_of_days() {
    assert_days(&[
        ("%d.%m.%Y", "01.02.1970 12:00", Some(31.5)),
        ("%d.%m.%Y %H:%M:%S", "01.01.1970 06:00:00", Some(0.25)),
        ("%d.%m.%Y %H:%M", "01.01.1970 24:00", Some(1.0)),
        ("%d.%m.%Y %H:%M", "01.01.1970 24:01", None),
        ("%d.%m.%Y", "01.01.1970 24:00", Some(1.0)),
        ("%d.%m.%Y", "12.03.2021, 06:00", Some(18_698.25)),
        ("%d.%m.%Y", "12.03.2021 06:00 Uhr", Some(18_698.25)),
        ("%d.%m.%Y", "12.03.2021 06.00", Some(18_698.25)),
        ("%d/%m/%Y", "12/03/2021 6h00", Some(18_698.25)),
        ("%d/%m/%Y", "12/03/2021 6h0", None),
        ("%d.%m.%Y", "12.03.2021,06:00", None),
        ("%Y%m%dT%H%M%S", "20210312T060000", Some(18_698.25)),
        (
            "%d.%m.%Y %H:%M:%S.%f",
            "12.03.2021 00:00:43.200000",
            Some(18_698.000_5),
        ),
        ("%d.%m.%Y %H:%M:%S.%f", "12.03.2021 00:00:43.", None),
        ("%d.%m.%Y %H:%M", "01.01.1970", None),
        ("%m/%d/%Y", "03/12/2021 06:00 PM", Some(18_698.75)),
        ("%m/%d/%Y %I:%M %p", "03/12/2021 12:00 am", Some(18_698.0)),
        ("%m/%d/%Y %I:%M %p", "03/12/2021 13:00 PM", None),
    ]);
}

#[test]
fn zones_move_times() {
    assert_days(&[
        ("%d.%m.%Y", "01.02.1970T01:00:00+01:00", Some(31.0)),
        ("%d.%m.%Y", "Fri 2.1.1970 01:00+02:00", Some(23.0 / 24.0)),
        (
            "%d/%b/%Y:%H:%M:%S %z",
            "[01/Mar/2021:00:00:00 +0100]",
            Some(18_687.0 - 1.0 / 24.0),
        ),
        ("%Y%m%dT%H%M%S%z", "20210312T060000Z", Some(18_698.25)),
        (
            "%a, %d %b %Y",
            "Fri, 12 Mar 2021 13:00:00 +0100",
            Some(18_698.5),
        ),
        ("%d.%m.%Y %H:%M %z", "01.01.1970 13:00 +01:00", Some(0.5)),
        ("%d.%m.%Y %H:%M %Z", "01.01.1970 12:00 UTC", Some(0.5)),
        ("%d.%m.%Y %H:%M %Z", "01.01.1970 04:00 PST", Some(0.5)),
        ("%m/%d/%Y", "01/01/1970 8:00 AM EDT", Some(0.5)),
    ]);
}

#[test]
fn months_have_names() {
    assert_days(&[
        ("%b-%Y", "Jan-2021", Some(18_628.0)),
        ("%b %Y", "Januar 2021", Some(18_628.0)),
        ("%b %Y", "Mär. 2021", Some(18_687.0)),
        ("%b %Y", "août 2021", Some(18_840.0)),
        ("%d. %b %Y", "1. Dez. 2021", Some(18_962.0)),
        ("%d %b %Y", "1 grudnia 2021", Some(18_962.0)),
        ("%d. %b %Y", "1. prosince 2021", Some(18_962.0)),
        ("%d %b %Y г.", "1 декабря 2021 г.", Some(18_962.0)),
        ("%d. %b %Y", "1. joulukuuta 2021", Some(18_962.0)),
        ("%d %b %Y", "1 Aralık 2021", Some(18_962.0)),
        ("%Y. %b %d.", "2021. december 1.", Some(18_962.0)),
        ("%d.%b.%Y", "1.Dez.2021", Some(18_962.0)),
        ("%d de %b de %Y", "1 de enero de 2021", Some(18_628.0)),
        ("%d %b %Y", "12 marzo 2021", Some(18_698.0)),
        ("%d de %b de %Y", "12 de março de 2021", Some(18_698.0)),
        ("%d %b %Y", "12 maart 2021", Some(18_698.0)),
        ("%d %b %Y", "1er mars 2021", Some(18_687.0)),
        ("%b %d, %Y", "March 12th, 2021", Some(18_698.0)),
        ("%b %d, %Y", "March 12thx, 2021", None),
        ("%d%b%Y", "12Mar2021", Some(18_698.0)),
        ("%d%b%Y:%H:%M:%S", "12Mar2021:06:00:00", Some(18_698.25)),
        ("%d %b %Y", "12 Mar 2021", Some(18_698.0)),
        ("%d %b %Y", "12 march 2021", Some(18_698.0)),
        ("%d %b %Y", "12 Mars 2021", Some(18_698.0)),
        ("%d %b %Y", "12 Marss 2021", None),
        ("%d %b %Y", "12 Ma 2021", None),
        ("%b %d, %Y", "Mar 12, 2021", Some(18_698.0)),
        ("%b %Y", "March 2021", Some(18_687.0)),
    ]);
}

#[test]
fn weekdays_have_to_be_those_of_the_date() {
    assert_days(&[
        ("%d.%m.%Y", "Fr, 02.01.1970", Some(1.0)),
        ("%d.%m.%Y", "Fri 2.1.1970 06:00", Some(1.25)),
        ("%d.%m.%Y", "Do, 02.01.1970", None),
        ("%d.%m.%Y", "x, 02.01.1970", None),
        ("%d.%m.%Y", "Freitag, den 12.03.2021", Some(18_698.0)),
        ("%a %Y-%m-%d", "Fri 2021-03-12", Some(18_698.0)),
        ("%a, %d %b %Y", "Fro, 12 Mar 2021", None),
        (
            "%a %b %d %H:%M:%S %Y",
            "Fri Mar 12 12:00:00 2021",
            Some(18_698.5),
        ),
    ]);
}

#[test]
fn weeks_and_days_of_years_are_dates() {
    assert_days(&[
        ("%G-W%V-%u", "2021-W27-1", Some(18_813.0)),
        ("%G-W%V-%u", "2021-W27-7", Some(18_819.0)),
        ("%G-W%V-%u", "2021-W27-8", None),
        ("KW%V/%G", "KW27/2021", Some(18_813.0)),
        ("%Y-%j", "2021-071", Some(18_698.0)),
        ("%Y-%j", "2021-366", None),
        ("%G-W%V", "2021-W10", Some(18_694.0)),
        ("%G-W%V", "2020-W53", Some(18_624.0)),
        ("%G-W%V", "2021-W53", None),
    ]);
}

#[test]
fn dates_of_points_may_be_versions() {
    let of_points: DateFormat = "%Y.%m.%d".parse().expect("a format");
    for (text, may) in [
        ("2021.7.3", true),
        ("2021.10.3", true),
        ("2021.07.03", false),
    ] {
        assert_eq!(of_points.may_be_version(text), may, "{text}");
    }
}

#[test]
fn formats_that_tell_no_day_are_refused() {
    for bad in [
        "",
        "%d.%m",
        "%d.%m.%Y.%y",
        "%q%d%m%Y",
        "%d.%m.%Y%",
        "%d.%Y",
        "%d.%m.%Y %I:%M",
        "%d.%m.%Y %H %p",
        "%G",
        "%31Y-%m",
        "%3y-%m",
    ] {
        assert!(bad.parse::<DateFormat>().is_err(), "{bad}");
    }
}

#[test]
fn known_formats_are_what_they_spell() {
    for format in DateFormat::ALL {
        assert_eq!(
            format.parse::<DateFormat>().ok(),
            Some(DateFormat::known(format))
        );
    }
}
