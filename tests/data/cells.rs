//! Columns whose type is decided by some of their cells.

use crate::schema::{options, surveyed, x_of};
use crate::{assert_says, opened, place, read_all};
use bochner::data::{
    ColumnChoice, OpenOptions, Part, Split, Survey, TableOptions, TargetUse, open,
};
use std::fs;

/// The cell of each row.
type Cells<'a> = &'a dyn Fn(usize) -> String;

/// Integers in a shuffled order.
fn mixed(i: usize, of: usize) -> usize {
    (i * 7_919 + 13) % of
}

/// The role of a column `v` with these cells, as worded in reports.
fn became(rows: usize, cell: &dyn Fn(usize) -> String, as_target: bool) -> bochner::Result<String> {
    let (_directory, path) = place("cells.tsv");
    let row = |i: usize| format!("{}\t{}\n", cell(i), i % 7);
    let text = format!("v\tw\n{}", (0..rows).map(row).collect::<String>());
    let target = if as_target { "v" } else { "w" };
    let source = surveyed(&path, &text, &options(target, TableOptions::default()))?;
    let schema = source.schema().expect("texts");
    let fields = if as_target {
        schema.targets()
    } else {
        schema.features()
    };
    Ok(fields[0].to_string().replacen("v: ", "", 1))
}

#[test]
fn whole_numbers_behind_words_are_amounts_or_codes_or_asked_about() {
    let cases: [(usize, Cells<'_>, &str); 10] = [
        (
            60,
            &|i| format!("ca. {}", mixed(i, 900)),
            "amounts behind ca.",
        ),
        (
            60,
            &|i| format!("No. {}", mixed(i, 900)),
            "amounts behind No.",
        ),
        (
            90,
            &|i| format!("No. {}", 3 * mixed(i, 19)),
            "19 categories",
        ),
        (
            60,
            &|i| format!("Price: {}", 100 + mixed(i, 900)),
            "amounts behind Price:",
        ),
        (
            90,
            &|i| format!("Price: {}", 3 * mixed(i, 19)),
            "19 categories",
        ),
        (90, &|i| format!("#{}", 100 + mixed(i, 19)), "19 categories"),
        (
            90,
            &|i| format!("Room {}", 3 * mixed(i, 19)),
            "19 categories",
        ),
        (
            240,
            &|i| format!("Route {}", 3 * mixed(i, 60)),
            "60 categories",
        ),
        (90, &|i| format!("R{}", 100 + mixed(i, 19)), "19 categories"),
        (90, &|i| format!("<{}", 3 * mixed(i, 19)), "19 categories"),
    ];
    for (rows, cell, becomes) in cases {
        for as_target in [false, true] {
            let found = became(rows, cell, as_target).unwrap();
            assert_eq!(found, becomes, "{}, a target: {as_target}", cell(7));
        }
    }
    // Names that occur several times each, with more distinct values than a category may have.
    for word in ["Nr.", "No", "Batch"] {
        let found = became(400, &|i| format!("{word} {}", 1 + 7 * mixed(i, 89)), false).unwrap();
        assert!(!found.contains("amounts"), "{word}: {found}");
    }
    // Columns with a distinct value in each row are dropped from features if there are others.
    let cases: [(usize, Cells<'_>, bool); 4] = [
        (60, &|i| format!("some {}", mixed(i, 900)), true),
        // The same number of rows with few distinct values.
        (110, &|i| format!("some {}", 50 * mixed(i, 59)), false),
        (110, &|i| format!("<{}", 50 * mixed(i, 59)), false),
        (60, &|i| format!("No. {}", 100 + mixed(i, 900)), true),
    ];
    for (rows, cell, is_left_out) in cases {
        let of_both = [
            "line 2, column \"v\": holds",
            "looks like an amount or a date and is read as none",
            ".numeric(\"v\")",
        ];
        // A target is neither dropped nor limited in its number of categories.
        assert_says(became(rows, cell, true), &of_both);
        if is_left_out {
            assert_eq!(became(rows, cell, false).unwrap(), "60 categories");
        } else {
            let of_features = ["AllBut(vec![\"v\".into()])", ".categorical(\"v\")"];
            let says = [&of_both[..], &of_features].concat();
            assert_says(became(rows, cell, false), &says);
        }
    }
}

/// Integers with a word, a currency or not: as categories, rows with equal numbers are alike; as
/// amounts, those with close numbers, too.
#[test]
fn names_are_told_from_amounts_by_the_target() {
    let (_directory, path) = place("names.csv");
    let became = |cell: &dyn Fn(usize) -> String, y: &dyn Fn(usize) -> f64, numeric: bool| {
        let row = |i: usize| format!("{},{},{}\n", cell(i), i * 7 % 11, y(i));
        let text = format!("v,a,y\n{}", (0..400).map(row).collect::<String>());
        let table = TableOptions {
            numeric: numeric.then(|| "v".into()).into_iter().collect(),
            ..TableOptions::default()
        };
        let source = surveyed(&path, &text, &options("y", table)).unwrap();
        source.schema().expect("a schema").features()[0].to_string()
    };
    let kind = |i: usize| mixed(i, 83);
    let noise = |i: usize| 0.01 * (i % 7) as f64;
    let own = |i: usize| (7.3 * (kind(i).pow(2) % 1009) as f64).sin() + noise(i);
    for (word, is_unit) in [("RM", true), ("R", false), ("K ", false), ("No. ", false)] {
        let cell = |i: usize| format!("{word}{}", 100 + kind(i));
        let found = became(&cell, &own, false);
        assert!(found.contains("mean of the target"), "{word}: {found}");
        let how = if is_unit { "in" } else { "behind" };
        let amounts = format!("v: amounts {how} {}", word.trim());
        let grows = |i: usize| (kind(i) as f64).sqrt() + noise(i);
        assert_eq!(became(&cell, &grows, false), amounts);
        assert_eq!(became(&cell, &own, true), amounts);
    }
    // Another number in each row: an amount, a name, or a row counter.
    for (word, counts) in [
        ("R", false),
        ("Customer ", false),
        ("#", false),
        ("INV-", true),
    ] {
        let number = |i: usize| {
            if counts {
                1000 + i
            } else {
                1000 + mixed(i, 9000)
            }
        };
        let cell = |i: usize| format!("{word}{}", number(i));
        let (amounts, left_out) = (
            format!("v: amounts behind {}", word.trim()),
            "v: tells rows apart, left out",
        );
        let grows = |i: usize| number(i) as f64 + noise(i);
        let wanted = if counts { left_out } else { &amounts };
        assert_eq!(became(&cell, &grows, false), wanted);
        assert_eq!(became(&cell, &|i| (i * i % 89) as f64, false), left_out);
        assert_eq!(became(&cell, &grows, true), amounts);
    }
}

/// A column requested as numeric must have a number in each cell; so must a numeric target, whose
/// amounts are parsed.
#[test]
fn columns_that_are_named_for_numbers_hold_them() {
    let (_directory, path) = place("numbers.csv");
    let read = |cell: &dyn Fn(usize) -> String, target: &str| {
        let row = |i: usize| format!("{},{}\n", cell(i), i * 7 % 11);
        let text = format!("v,y\n{}", (0..40).map(row).collect::<String>());
        let table = TableOptions {
            numeric: vec!["v".into()],
            ..TableOptions::default()
        };
        let source = surveyed(&path, &text, &options(target, table))?;
        let schema = source.schema().expect("a schema").clone();
        let mut all = schema.features().iter().chain(schema.targets());
        Ok::<_, bochner::Error>(
            all.find(|field| field.name() == "v")
                .expect("v")
                .to_string(),
        )
    };
    for target in ["v", "y"] {
        let cases: [(Cells<'_>, &str); 3] = [
            (&|i| format!("R{}.50", i % 9), "v: amounts behind R"),
            (&|i| format!("x-{i}"), "v: amounts behind x-"),
            (&|i| format!("{i}Stk"), "v: amounts in Stk"),
        ];
        for (cell, wanted) in cases {
            assert_eq!(read(cell, target).unwrap(), wanted);
        }
        let mixed = |i: usize| format!("{}{i}", ["R", "K"][i % 2]);
        assert_says(
            read(&mixed, target),
            &["\"v\": holds \"R0\", and is named for numbers"],
        );
    }
}

/// New formats in later cells are accepted if they are unambiguous.
#[test]
fn later_cells_are_read_where_they_are_clear() {
    let (_directory, path) = place("later.tsv");
    let read = |cell: &dyn Fn(usize) -> String, later: &str, table: TableOptions| {
        let row = |i: usize| format!("{}\t{}\t{i}\n", cell(i), ["Bern", "Basel"][i % 2]);
        let text = format!("v\tw\ty\n{}", (0..30).map(row).collect::<String>());
        let schema = surveyed(&path, &text, &options("y", table))?
            .schema()
            .cloned();
        fs::write(&path, format!("v\tw\n{later}\tBern\n")).unwrap();
        let known = OpenOptions {
            target_use: TargetUse::Ignored,
            columns: ColumnChoice::Known(Box::new(schema.expect("a schema"))),
            ..OpenOptions::default()
        };
        let x = x_of(read_all(open(&path, &known)?.as_mut(), 9)?);
        Ok::<_, bochner::Error>(x[[0, 0]])
    };
    let none = TableOptions::default;
    let cases: [(Cells<'_>, &str, f64); 8] = [
        (&|i| format!("{i},5"), "1.234,50", 1234.5),
        (&|i| format!("${i}.50"), "$1,234.50", 1234.5),
        (&|i| format!("₹{i}"), "₹1,23,456", 123_456.0),
        (&|i| format!("{i} €"), "€ 500", 500.0),
        (&|i| format!("{i}m"), "1h 20m", 80.0),
        (&|i| format!("{}", mixed(i, 90)), "1,234.5", 1234.5),
        (&|i| format!("{}", mixed(i, 90)), "1.2k", 1200.0),
        (
            &|i| format!("{}.3.2021", 1 + i % 28),
            "2021-03-12",
            18_698.0,
        ),
    ];
    for (cell, later, wanted) in cases {
        assert_eq!(read(cell, later, none()).unwrap(), wanted, "{later}");
    }
    let plain = |i: usize| format!("{}", mixed(i, 90));
    let open = &["\"1,234\" may be 1.234 or 1234", "fit with --thousands ','"];
    assert_says(read(&plain, "1,234", none()), open);
    let dollars = |i: usize| format!("${i}");
    let open = &["\"$1,234\" is none of amounts in $", "--thousands ','"];
    assert_says(read(&dollars, "$1,234", none()), open);
    let thousands = TableOptions {
        thousands: Some(','),
        ..none()
    };
    assert_eq!(read(&plain, "1,234", thousands).unwrap(), 1234.0);
}

/// A held-out cell is parsed as by the model, also in a numeric table.
#[test]
fn held_out_cells_do_not_stop_a_fit() {
    let (_directory, path) = place("rare.csv");
    let text = |rare: &str| {
        let rows = (0..40).map(|i| format!("{}.5,{i}\n", mixed(i, 90)));
        format!("v,y\n{}\"{rare}\",40\n", rows.collect::<String>())
    };
    let read = |rare: &str, seed| {
        fs::write(&path, text(rare)).unwrap();
        let whole = open(&path, &options("y", TableOptions::default()))?;
        let mut train = Split::new(whole, Part::Train, 0.3, seed)?;
        Survey::new(&mut train, 0, 0)?;
        Ok::<_, bochner::Error>(read_all(&mut train, 9)?.y.column(0).to_vec())
    };
    let is_held_out = |seed: &u64| !opened(read("1000.5", *seed)).contains(&40.0);
    let seed = (0..20).find(is_held_out).expect("a seed");
    assert_eq!(
        read("1,000.5", seed).unwrap(),
        read("1000.5", seed).unwrap()
    );
    let says = [
        "line 42, column \"v\"",
        "\"1,000\" may be 1 or 1000",
        ".thousands(',')",
    ];
    assert_says(read("1,000", seed), &says);
}

/// Hexadecimal codes; some look like decimal numbers, and one like an overflow.
#[test]
fn codes_in_base_sixteen_are_texts() {
    let hex = |i: usize| match i % 9 {
        0 => "4e7186".into(),
        1 => "718237".into(),
        k => format!("{:06x}", 7_919 * 7_919 * k % (1 << 24)),
    };
    for as_target in [false, true] {
        assert_eq!(became(90, &hex, as_target).unwrap(), "9 categories");
    }
    let beyond = |i: usize| match i {
        30 => "4e7186".into(),
        _ => format!("{}.5", i % 9),
    };
    let says = [
        "line 32, column \"v\"",
        "the text \"4e7186\" among numbers",
        ".categorical(\"v\")",
    ];
    assert_says(became(60, &beyond, false), &says);
}

/// Messages about categories that may be missing values, and about unexpected cells by their
/// number.
#[test]
fn errors_name_what_keeps_a_kind_and_blame_the_fewer() {
    let kinds = ["None", "Mild", "Severe"];
    let says = [
        "is None, which stands for no value",
        "keep it as a kind with .na(&[\"?\"])",
    ];
    assert_says(became(30, &|i| kinds[i % 3].into(), true), &says);
    let kinds = became(30, &|i| kinds[i % 3].into(), false).unwrap();
    assert!(kinds.starts_with("2 categories"), "{kinds}");
    let numbers = |i: usize| if i == 4 { "NA".into() } else { i.to_string() };
    let read = became(30, &numbers, true).unwrap_err().to_string();
    assert!(!read.contains("as a kind"), "{read}");
    // The first row is a word that occurs again.
    let word = |i: usize| match i % 12 {
        0 => "don't know".to_owned(),
        _ => i.to_string(),
    };
    let says = [
        "line 2, column",
        "the text \"don't know\" among numbers",
        ".na(",
    ];
    assert_says(became(60, &word, false), &says);
    let mass = |i: usize| match i % 3 {
        0 => format!("{i}.5 kg"),
        _ => format!("{i}.5"),
    };
    let says = [
        "line 5, column",
        "holds \"3.5 kg\", and \"1.5\" in line 3",
        "without a unit",
    ];
    assert_says(became(90, &mass, false), &says);
    let day = |i: usize| match i % 12 {
        0 => "soon".to_owned(),
        _ => format!("2021-03-{:02}", 1 + i % 28),
    };
    assert_says(
        became(60, &day, false),
        &["line 2", "holds \"soon\" among dates"],
    );
}
