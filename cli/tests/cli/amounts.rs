//! Amounts with a unit are numbers: as features, as targets, and at predictions.

use crate::{bochner, here};
use ndarray::Array1;
use ndarray_npy::read_npy;
use std::{fmt::Write, path::Path};

/// Rows of a column with this text for each amount, of b, and of y = amount / 20 + sin b, the
/// amount in 0..100.
fn table(path: &Path, rows: usize, amount: impl Fn(f64) -> String, target: impl Fn(f64) -> String) {
    let mut text = "a;b;y\n".to_owned();
    for i in 0..rows {
        let (a, b) = ((i * 37 % 101) as f64 + 0.25, (i * 61 % 97) as f64 / 20.0);
        let y = a / 20.0 + b.sin();
        writeln!(text, "{};{b};{}", amount(a), target(y)).expect("a string");
    }
    std::fs::write(path, text).expect("written");
}

/// How an amount is written.
type Written = Box<dyn Fn(f64) -> String>;

fn plain(value: f64) -> String {
    value.to_string()
}

const FIT: &str = "fit t.csv --target y --features 200 --test 0.3 --device cpu -o m";

#[test]
fn amounts_are_numbers_whatever_stands_beside_them() {
    let here = here();
    let path = here.path().join("t.csv");
    let comma = |value: f64| value.to_string().replace('.', ",");
    let side = |a: f64| (a as usize).is_multiple_of(2);
    let of_columns: [(&str, Written); 12] = [
        (
            "€",
            Box::new(move |a| {
                if side(a) {
                    format!("€{a}")
                } else {
                    format!("{a} €")
                }
            }),
        ),
        (
            "EUR",
            Box::new(move |a| {
                if side(a) {
                    format!("EUR{a}")
                } else {
                    format!("{a} eur")
                }
            }),
        ),
        (
            "KG",
            Box::new(move |a| {
                if side(a) {
                    format!("{a} KG")
                } else {
                    format!("{a}kg")
                }
            }),
        ),
        ("EUR", Box::new(|a| format!("{a} EUR"))),
        ("€", Box::new(move |a| format!("€ {}", comma(a)))),
        ("$", Box::new(|a| format!("${a}"))),
        ("%", Box::new(|a| format!("{a} %"))),
        ("kg", Box::new(|a| format!("{a}kg"))),
        ("stars", Box::new(|a| format!("{a} stars"))),
        (
            "1k as 1000",
            Box::new(|a| {
                if a < 50.0 {
                    plain(a)
                } else {
                    format!("{}k", a / 1e3)
                }
            }),
        ),
        (
            "(1) as -1",
            Box::new(|a| {
                if a < 50.0 {
                    plain(50.0 - a)
                } else {
                    format!("({})", a - 50.0)
                }
            }),
        ),
        ("1k as 1000", Box::new(|a| format!("{:.4}D+01", a / 10.0))),
    ];
    for (says, amount) in &of_columns {
        table(&path, 600, amount, plain);
        let run = bochner(here.path(), FIT, &["--json"]).ok();
        let report: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
        let r2 = report["held_out_r2"].as_f64().expect("a score");
        assert!(r2 > 0.99, "{says}: {r2}");
        assert!(run.stderr.contains("read as amounts"), "{run:?}");
        assert!(run.stderr.contains(says), "{says}: {run:?}");
    }
    // As a target, and again at predictions, which are in its unit.
    table(&path, 600, |a| format!("{a} kg"), |y| format!("{y:.3} EUR"));
    let run = bochner(here.path(), FIT, &["--json"]).ok();
    let report: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert!(
        report["held_out_r2"].as_f64().expect("a score") > 0.99,
        "{report}"
    );
    bochner(here.path(), "predict m t.csv -o p.npy --device cpu -q", &[]).ok();
    let found: Array1<f64> = read_npy(here.path().join("p.npy")).expect("reads");
    table(&path, 600, |a| format!("{a} kg"), plain);
    for (i, found) in found.iter().enumerate() {
        let (a, b) = ((i * 37 % 101) as f64 + 0.25, (i * 61 % 97) as f64 / 20.0);
        assert!((found - a / 20.0 - b.sin()).abs() < 0.3, "{i}: {found}");
    }
    // What was kilogrammes in the fit stays so.
    table(&path, 3, |a| format!("{a} lb"), plain);
    bochner(here.path(), "predict m t.csv -o p.npy --device cpu -q", &[]).fails(&[
        "line 2",
        "0.25 lb",
        "none of amounts in kg",
    ]);
}

#[test]
fn two_units_in_a_column_are_asked_about() {
    let here = here();
    let path = here.path().join("t.csv");
    let mixed = |a: f64| {
        if a < 90.0 {
            format!("{a} kg")
        } else {
            format!("{a} lb")
        }
    };
    table(&path, 600, mixed, plain);
    bochner(here.path(), &format!("{FIT} -q"), &[]).fails(&[
        "column \"a\"",
        "lb\"",
        "kg\" in line 2",
        "two units",
        "--categorical a",
    ]);
    table(
        &path,
        600,
        |a| {
            if a < 100.0 {
                format!("{a} kg")
            } else {
                "heavy".into()
            }
        },
        plain,
    );
    bochner(here.path(), &format!("{FIT} -q"), &[])
        .fails(&["the text \"heavy\" among amounts in kg", "--categorical a"]);
    bochner(here.path(), &format!("{FIT} -q --categorical a"), &[]).ok();
    // Both readings of a point are named.
    table(&path, 60, |a| format!("{}.000 EUR", 1.0 + a.floor()), plain);
    bochner(here.path(), &format!("{FIT} -q"), &[]).fails(&["may be", "--decimal"]);
}

/// Beside an apostrophe a point stands before fractions, which later rows may have.
#[test]
fn apostrophes_between_thousands_go_with_a_decimal_point() {
    let here = here();
    let path = here.path().join("t.csv");
    let francs = |a: f64| format!("CHF {}\u{2019}{:03}", 1 + a as usize % 9, a as usize * 7);
    table(&path, 600, francs, plain);
    let run = bochner(here.path(), FIT, &[]).ok();
    for part in [
        "amounts in CHF, as in 1'234.5",
        "none has a fraction",
        "--decimal ','",
    ] {
        assert!(run.stderr.contains(part), "{run:?}");
    }
    let later = here.path().join("later.csv");
    let predict = |cell: &str| {
        std::fs::write(&later, format!("a;b\n{cell};1\n")).expect("written");
        bochner(
            here.path(),
            "predict m later.csv -o p.npy --device cpu",
            &[],
        )
    };
    for cell in ["CHF 5\u{2019}345.50", "CHF 5'345.50", "CHF 5'345"] {
        predict(cell).ok();
    }
    let comma = "CHF 5'345,50";
    predict(comma).fails(&["line 2", "as in 1'234.5", "--decimal ','"]);
    bochner(here.path(), FIT, &["--decimal", ","]).ok();
    predict(comma).ok();
}

/// Commas of a column part thousands where points of another stand before fractions.
#[test]
fn other_columns_say_what_commas_are() {
    let here = here();
    let path = here.path().join("t.csv");
    let mut text = "a,b,y\n".to_owned();
    for i in 0..300 {
        let (a, b) = (i * 37 % 101, f64::from(i * 61 % 97) / 20.0);
        let y = f64::from(a) / 20.0 + b.sin();
        writeln!(text, "\"${},{:03}\",{b},{y}", 1 + a, a * 7).expect("a string");
    }
    std::fs::write(&path, text).expect("written");
    let run = bochner(here.path(), FIT, &[]).ok();
    for part in [
        "amounts in $, as in 1,234.5",
        "other columns have points before fractions",
        "--decimal ','",
    ] {
        assert!(run.stderr.contains(part), "{run:?}");
    }
    let run = bochner(here.path(), FIT, &["--decimal", ","]).ok();
    assert!(run.stderr.contains("as in 1234,5"), "{run:?}");
}

#[test]
fn codes_stay_texts() {
    let here = here();
    let path = here.path().join("t.csv");
    for code in [
        |a: f64| format!("Q{}", a.floor() % 4.0),
        |a: f64| format!("{}A", a.floor() % 10.0),
        |a: f64| format!("{} Main St", a.floor() % 10.0),
    ] {
        table(&path, 600, code, plain);
        bochner(here.path(), &format!("{FIT} -q"), &[]).ok();
        let shown = bochner(here.path(), "show m", &[]).ok().stdout;
        assert!(shown.contains("1 categorical"), "{shown}");
    }
}

/// How targets were read is told to programs as of columns, by the fit and by its model.
#[test]
fn programs_hear_how_targets_were_read() {
    let here = here();
    let at = here.path();
    let fit = "fit t.csv --target y --device cpu --sigma 9 --lambda 1e-3 --features 8 --json -o m";
    for (target, became) in [
        (
            &(|y| format!("{y:.2} kg")) as &dyn Fn(f64) -> String,
            "y: amounts in kg",
        ),
        (
            &|y| format!("{y:.3}").replace('.', ","),
            "y: numbers as in 1234,5",
        ),
    ] {
        table(&at.join("t.csv"), 60, plain, target);
        let report = bochner(at, fit, &[]).json();
        assert_eq!(report["targets_became"], serde_json::json!([became]));
        let shown = bochner(at, "show m --json", &[]).json();
        assert_eq!(shown["targets_became"], report["targets_became"]);
        let aloud = bochner(at, &fit.replace("--json", "-v"), &[]).ok();
        assert!(
            aloud.stderr.contains(&format!("target {became}")),
            "{aloud:?}"
        );
    }
    table(&at.join("t.csv"), 60, plain, plain);
    let report = bochner(at, fit, &[]).json();
    assert_eq!(report["targets_became"], serde_json::json!(["y: numbers"]));
}
