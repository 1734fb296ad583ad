use super::*;

fn value(text: &str, marks: Marks) -> Option<f64> {
    let unit = Unit::parse(text)?;
    Amount { unit, marks }.value(text)
}

/// The names of the units of texts, and their values.
fn assert_amounts(cases: &[(&str, &str, f64)]) {
    for (text, name, expected) in cases {
        let unit = Unit::parse(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(unit.name, *name, "{text}");
        assert_eq!(value(text, Marks::PLAIN), Some(*expected), "{text}");
    }
}

#[test]
fn amounts_are_numbers_in_a_currency() {
    assert_amounts(&[
        ("341.00 EUR", "EUR", 341.0),
        ("€ 3.50", "€", 3.5),
        ("$12", "$", 12.0),
        ("-$12", "$", -12.0),
        ("$-12", "$", -12.0),
        ("($12)", "$", -12.0),
        ("USD 7", "USD", 7.0),
        ("$1.5M", "$", 1_500_000.0),
        ("1.5k EUR", "EUR", 1500.0),
        ("Rs. 406", "Rs.", 406.0),
        ("Rs.406", "Rs.", 406.0),
        ("Rs. -12", "Rs.", -12.0),
        ("100kr", "kr", 100.0),
        ("100 MYR", "MYR", 100.0),
        ("PKR 406", "PKR", 406.0),
        ("NT$406", "NT$", 406.0),
        ("S/ 229", "S/", 229.0),
        ("S/.229", "S/.", 229.0),
        ("B/. -2.5", "B/.", -2.5),
        ("GH₵229", "GH₵", 229.0),
        ("-COP$ 7", "COP$", -7.0),
        ("Rp229", "Rp", 229.0),
        ("CHF 1702.--", "CHF", 1702.0),
        ("€12,-", "€", 12.0),
        ("12.- CHF", "CHF", 12.0),
        ("500/-", "", 500.0),
        ("$ (12.50)", "$", -12.5),
        ("$(12.50)", "$", -12.5),
        ("EUR 12.50-", "EUR", -12.5),
        ("€12.50-", "€", -12.5),
        ("￥1200", "￥", 1200.0),
        ("1200円", "円", 1200.0),
    ]);
}

#[test]
fn amounts_are_numbers_in_a_unit_or_none() {
    assert_amounts(&[
        ("2bn", "", 2e9),
        ("1.2k", "", 1200.0),
        ("(12.50)", "", -12.5),
        ("1183.12-", "", -1183.12),
        ("\u{2212}7.5", "", -7.5),
        ("1.2D+01", "", 12.0),
        ("12 %", "%", 12.0),
        ("12%", "%", 12.0),
        ("12.5 km", "km", 12.5),
        ("12.5km", "km", 12.5),
        ("\u{2212}3 °C", "°C", -3.0),
        ("3 stars", "stars", 3.0),
        ("+4 kg", "kg", 4.0),
        ("\u{2013}7.5", "", -7.5),
        ("- 7.5", "", -7.5),
        ("%7.5", "%", 7.5),
        ("25bps", "bps", 25.0),
        ("-5℃", "℃", -5.0),
        ("70 m2", "m2", 70.0),
        ("70.5m^2", "m^2", 70.5),
        ("12.5€/m²", "€/m²", 12.5),
        ("12.5 €/m2", "€/m2", 12.5),
        ("7 l/100 km", "l/100 km", 7.0),
        ("5 mg/kg", "mg/kg", 5.0),
    ]);
}

#[test]
fn amounts_stand_at_words() {
    assert_amounts(&[
        ("ca. 406", "ca.", 406.0),
        ("About 1183", "About", 1183.0),
        ("~1.5k", "~", 1500.0),
        ("No. 7", "No.", 7.0),
        ("#1024", "#", 1024.0),
        ("Price: 229", "Price:", 229.0),
        ("t=-2.5", "t=", -2.5),
        ("4.3/5", "/5", 4.3),
        ("7 / 10", " / 10", 7.0),
        ("4.3 out of 5 stars", " out of 5 stars", 4.3),
        ("12 von 20", " von 20", 12.0),
        ("x = 7", "x =", 7.0),
    ]);
}

#[test]
fn amounts_are_written_with_given_marks() {
    let german = Marks::new(',', Some('.'));
    assert_eq!(value("1.234,50 €", german), Some(1234.5));
    assert_eq!(value("1.234,50 €", Marks::PLAIN), None);
}

#[test]
fn one_and_several_are_of_one_unit() {
    let one = Unit::parse("2 days").expect("a unit");
    let days = Amount {
        unit: one,
        marks: Marks::PLAIN,
    };
    assert_eq!(
        (days.value("1 day"), days.value("30 days")),
        (Some(1.0), Some(30.0))
    );
    assert_eq!((days.value("1 week"), days.value("1")), (None, None));
}

#[test]
fn codes_and_names_and_dates_are_no_amounts() {
    for text in [
        "",
        "-",
        "EUR",
        "Q4",
        "B12",
        "3A",
        "A-0017",
        "1.2.3",
        "12 Main St",
        "Route 66",
        "R406",
        "GO:0008150",
        "GO:229",
        "ID: 229",
        "12: 229",
        "gh₵229",
        "4e7186",
        "3/4",
        "110/80",
        "17/52",
        "7/2021",
        "1/2/2021",
        "4.3of 5",
        "4 of cups",
        "3 of 7-9",
        "No. 5 Main St",
        "over 5 km",
        "from 5 to 9",
        "2nd",
        "12 Mar 2021",
        "2021-03-12",
        "13:45",
        "5",
        "1,5",
        "-7",
        "1e5x",
        "x1k",
        "()",
        "(a)",
        "10 kg bag",
        "12a34",
        "0x1F kg",
        "5 x2",
        "5 100km",
        "4/m2",
        "$ (4",
        "(4) $ (5)",
        "A (4)",
        "3-m2",
        "$ -",
        "5 a very long word",
    ] {
        let found = Unit::parse(text).and_then(|_| value(text, Marks::PLAIN));
        assert_eq!(found, None, "{text:?}");
    }
}
