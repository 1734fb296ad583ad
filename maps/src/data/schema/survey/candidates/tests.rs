//! Readings of columns of a few cells.

use super::*;

fn found(cells: &[&str], options: &TableOptions) -> Result<Option<String>, Vec<String>> {
    found_among(cells, options, false)
}

fn found_among(
    cells: &[&str],
    options: &TableOptions,
    commas: bool,
) -> Result<Option<String>, Vec<String>> {
    let mut candidates = Candidates::new(options, commas);
    for (row, cell) in cells.iter().enumerate() {
        candidates.see(row as u64, cell, cell.parse().ok());
    }
    match candidates.found(Marked::default()) {
        Ok(reading) => Ok(reading.map(|reading| reading.to_string())),
        Err(two) => Err(two.readings.iter().map(Reading::to_string).collect()),
    }
}

/// Columns with what is found of each.
fn are_found<const N: usize>(columns: [(Vec<&str>, Option<&str>); N]) {
    for (cells, says) in columns {
        let found = found(&cells, &TableOptions::default());
        assert_eq!(found, Ok(says.map(str::to_owned)), "{cells:?}");
    }
}

#[test]
fn what_all_cells_allow_is_found() {
    are_found([
        (vec!["1.5", "2"], None),
        // Measured to a thousandth.
        (vec!["1.234", "5.678"], None),
        (vec!["101.000", "0.500"], None),
        (vec!["1,5", "2"], Some("numbers as in 1234,5")),
        (vec!["2", "1.234,5", "1,5"], Some("numbers as in 1.234,5")),
        (vec!["101,000", "7.5"], Some("numbers as in 1,234.5")),
        (vec!["101,000", "1e5", "7.5"], Some("numbers as in 1,234.5")),
        (vec!["1,234,567"], Some("numbers as in 1,234.5")),
        (vec!["1.234.567", "1.500"], Some("numbers as in 1.234,5")),
        (vec!["1 234", "2"], Some("numbers as in 1 234,5")),
        (vec!["1'234", "2"], Some("numbers as in 1'234.5")),
        (vec!["1'234", "2,5"], Some("numbers as in 1'234,5")),
        (
            vec!["CHF 1\u{2019}234", "CHF 2"],
            Some("amounts in CHF, as in 1'234.5"),
        ),
        (vec!["a", "1,5"], None),
        (vec!["12/31/2020", "1/2/2021"], Some("dates as %m/%d/%Y")),
        (
            vec!["31.12.2020", "1.2.2021 12:30"],
            Some("dates as %d.%m.%Y"),
        ),
        (vec!["31.12.20"], Some("dates as %d.%m.%y")),
        (vec!["12,34,567", "1,234"], Some("numbers as in 1,234.5")),
        (vec!["13:45", "7:05"], Some("times, in days")),
        (vec!["45m", "1h 20m", "2h"], Some("times, in days")),
        (vec!["13:45", "7"], None),
        (vec!["12 Mar 2021", "1 Apr 2021"], Some("dates as %d %b %Y")),
        (
            vec!["03/13/2021 02:15 PM", "03/01/2021 11:00 AM"],
            Some("dates as %m/%d/%Y"),
        ),
    ]);
}

#[test]
fn the_unit_that_all_cells_have_is_found() {
    are_found([
        (vec!["341.00 EUR", "1 EUR"], Some("amounts in EUR")),
        (
            vec!["1.234,50 €", "7 €"],
            Some("amounts in €, as in 1.234,5"),
        ),
        (vec!["$1,234.50", "$7"], Some("amounts in $, as in 1,234.5")),
        (
            vec!["12", "1.2k", "(3)"],
            Some("amounts, 1k as 1000 and (1) as -1"),
        ),
        (vec!["€81.33", "54.36 €"], Some("amounts in €")),
        (vec!["EUR5", "5 eur", "5Eur"], Some("amounts in EUR")),
        (vec!["5 kg", "5 KG", "kg 5"], Some("amounts in kg")),
        (vec!["5 mg", "5 Mg"], None),
        (vec!["5 m", "5 M"], None),
        // What has a unit has it in each cell.
        (vec!["5 kg", "7"], None),
        (vec!["7", "5 kg"], None),
        (vec!["5 kg", "7 lb"], None),
        (vec!["30 min", "45 min"], Some("amounts in min")),
    ]);
}

#[test]
fn what_may_be_read_in_two_ways_is_told() {
    let usual = TableOptions::default();
    let two = found(&["101,000", "12,500"], &usual).expect_err("two readings");
    assert_eq!(two, ["numbers as in 1234,5", "numbers as in 1,234.5"]);
    let two = found(&["101.000", "12.500"], &usual).expect_err("two readings");
    assert_eq!(two, ["numbers as in 1.234,5", "numbers as in 1234.5"]);
    let two = found(&["1.234 €", "2.500 €"], &usual).expect_err("two readings");
    assert_eq!(two, ["amounts in €", "amounts in €, as in 1.234,5"]);
    let two = found(&["3/3/2020", "03/04/2020"], &usual).expect_err("two readings");
    assert_eq!(two, ["dates as %m/%d/%Y", "dates as %d/%m/%Y"]);
}

/// Where semicolons separate, a comma that may be either stands before a fraction.
#[test]
fn commas_are_decimal_where_they_may_be() {
    let usual = TableOptions::default();
    for (cells, says) in [
        (vec!["101,000", "12,500"], "numbers as in 1234,5"),
        (
            vec!["1,234 EUR", "2,500 EUR"],
            "amounts in EUR, as in 1234,5",
        ),
        // What they cannot be they are not.
        (vec!["101,000", "7.5"], "numbers as in 1,234.5"),
        (vec!["1,234,567", "1,000"], "numbers as in 1,234.5"),
    ] {
        let found = found_among(&cells, &usual, true);
        assert_eq!(found, Ok(Some(says.to_owned())), "{cells:?}");
    }
    // Not where another column has points before fractions.
    let mut marked = Marked::default();
    let mut fractions = Points::default();
    fractions.see("3.7");
    marked.see(&fractions);
    let mut candidates = Candidates::new(&usual, true);
    candidates.see(0, "1,437", None);
    assert!(candidates.found(marked).is_err());
    // Points are not settled so.
    let two = found_among(&["1.234 €", "2.500 €"], &usual, true).expect_err("two readings");
    assert_eq!(two, ["amounts in €", "amounts in €, as in 1.234,5"]);
}

/// Where no number of a column has a fraction, that of other columns has the mark of its own.
#[test]
fn fractions_are_as_in_other_columns_where_a_column_has_none() {
    let (mut by_points, mut by_commas) = (Marked::default(), Marked::default());
    by_points.see_reading(&Reading::Number(Marks::new('.', Some(','))));
    by_commas.see_reading(&Reading::Number(Marks::new(',', None)));
    for (cell, alone, by_point, by_comma) in [
        ("1 234", "1 234,5", "1 234.5", "1 234,5"),
        ("1'234", "1'234.5", "1'234.5", "1'234,5"),
        ("1 234.5", "1 234.5", "1 234.5", "1 234.5"),
    ] {
        let mut candidates = Candidates::new(&TableOptions::default(), false);
        candidates.see(0, cell, None);
        for (marked, says) in [
            (Marked::default(), alone),
            (by_points, by_point),
            (by_commas, by_comma),
        ] {
            let found = candidates.found(marked).expect("one reading");
            let found = found.expect("numbers").to_string();
            assert_eq!(found, format!("numbers as in {says}"), "{cell}");
        }
    }
}

#[test]
fn what_is_given_counts() {
    let of = |decimal, thousands, date: Option<&str>| TableOptions {
        decimal,
        thousands,
        date_format: date.map(|format| format.parse().expect("a format")),
        ..TableOptions::default()
    };
    for (options, cell, says) in [
        (
            of(Some(','), None, None),
            "101,000",
            Some("numbers as in 1234,5"),
        ),
        (
            of(None, Some(','), None),
            "101,000",
            Some("numbers as in 1,234.5"),
        ),
        (of(Some('.'), None, None), "101,000", None),
        (of(Some('.'), None, None), "101.000", None),
        (
            of(None, Some('.'), None),
            "101.000",
            Some("numbers as in 1.234,5"),
        ),
        (
            of(Some(','), Some('.'), None),
            "1.234",
            Some("numbers as in 1.234,5"),
        ),
        (
            of(Some(','), None, None),
            "1.234",
            Some("numbers as in 1.234,5"),
        ),
        (
            of(None, None, Some("%d/%m/%Y")),
            "03/04/2020",
            Some("dates as %d/%m/%Y"),
        ),
        (
            of(None, None, Some("%Y%m%d")),
            "20210312",
            Some("dates as %Y%m%d"),
        ),
        (of(None, None, Some("%Y%m%d")), "20211312", None),
    ] {
        assert_eq!(
            found(&[cell], &options),
            Ok(says.map(str::to_owned)),
            "{cell}"
        );
    }
}

/// The first 21 rows.
const MANY: [usize; 21] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
];

/// One word among cells that can be read is told of wherever it stands, and where there are more
/// of them the column is text.
#[test]
fn a_word_among_cells_that_can_be_read_is_a_stray() {
    let usual = TableOptions::default();
    for cell in [
        |i: usize| format!("{i},5"),
        |i| format!("{}.03.2021", 1 + i % 28),
        |i| format!("{i} EUR"),
        |i| format!("{i}:05"),
    ] {
        for (rows, words, told) in [
            (25, &[0][..], true),
            (25, &[1], true),
            (25, &[24], true),
            (60, &[3, 9, 27], true),
            (5, &[2], true),
            (4, &[2], false),
            (40, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], true),
            (9, &[0, 1, 2, 3, 4], false),
            (41, &MANY, false),
        ] {
            let mut candidates = Candidates::new(&usual, false);
            for row in 0..rows {
                let word = words.contains(&row);
                let text = if word { "k.A.".into() } else { cell(row) };
                candidates.see(row as u64, &text, text.parse().ok());
            }
            let found = candidates.found(Marked::default());
            assert!(matches!(found, Ok(None)), "{} {rows}", cell(7));
            let stray = candidates.stray().map(|(row, text, _)| (row, text));
            let first = (words[0] as u64, "k.A.");
            assert_eq!(stray, told.then_some(first), "{} {rows} {words:?}", cell(7));
        }
    }
}

#[test]
fn times_of_two_parts_and_of_three_are_not_one_column() {
    let clocks = |cells: &[&str]| {
        let mut candidates = Candidates::new(&TableOptions::default(), false);
        for (row, cell) in cells.iter().enumerate() {
            candidates.see(row as u64, cell, None);
        }
        candidates
            .two_clocks()
            .map(|both| both.map(|(row, _)| *row))
    };
    assert_eq!(clocks(&["1:47:56", "59:27", "33:14"]), Some([1, 0]));
    assert_eq!(clocks(&["59:27", "33:14"]), None);
    assert_eq!(clocks(&["1:47:56", "0:59:27"]), None);
    // Dates with times are none.
    assert_eq!(clocks(&["1/13/2021 10:15", "1/14/2021 10:15:30"]), None);
}
