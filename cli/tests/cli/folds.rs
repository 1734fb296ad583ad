//! `fit --cv`: scores of folds, of which each is a fit of its own.

use crate::{bochner, here, number};
use bochner::{
    data::{ColumnChoice, DataFile},
    job::CrossValidation,
    models::LogisticRegression,
    prelude::*,
};
use std::{fs, path::Path};

/// Days in another order, people with seven rows each, an amount and a label of it.
fn table(folder: &Path) {
    let mut text = String::from("day,person,a,b,amount,label\n");
    for i in 0..84 {
        let (a, b) = (f64::from(i * 37 % 84) / 20.0, f64::from(i * 53 % 83));
        let amount = (2.0 * a).sin() + 0.01 * b;
        let label = if amount > 0.9 { "much" } else { "little" };
        let day = 1 + i * 11 % 28;
        text.push_str(&format!(
            "2024-02-{day:02},p{},{a},{b},{amount},{label}\n",
            i / 7
        ));
    }
    fs::write(folder.join("t.csv"), text).expect("writes");
}

/// But for the last bit, which a number loses on its way through text here.
fn alike(a: f64, b: f64) -> bool {
    (a - b).abs() <= 4.0 * f64::EPSILON * b.abs()
}

/// The scores of each fold as the library has them.
fn same(report: &serde_json::Value, known: bochner::Result<CrossValidation>) {
    let known = known.expect("scores");
    let found = &report["cross_validation"];
    for (fold, known) in known.folds.iter().enumerate() {
        let found = &found["folds"][fold];
        assert_eq!(found["train_rows"], known.train_rows);
        assert_eq!(found["test_rows"], known.test_rows);
        for score in &known.scores {
            let value = number(&found["scores"], score.name);
            assert!(alike(value, score.value), "{fold} {}", score.name);
        }
    }
    for mean in known.means() {
        assert!(alike(number(&found["means"], mean.name), mean.mean));
        let deviation = number(&found["deviations"], mean.name);
        assert!(alike(deviation, mean.deviation.expect("of folds")));
    }
}

/// Folds through the command line and through the library, of amounts and of labels; the model is
/// that of all rows, as without them.
#[test]
fn folds_are_those_of_the_library_and_the_model_is_of_all_rows() {
    let here = here();
    let at = here.path();
    table(at);
    let run = |command: &str| {
        bochner(
            at,
            &format!("fit t.csv --device cpu --quick {command}"),
            &[],
        )
    };
    let amounts = "--target amount --ignore label,person,day --features 40 --seed 3";
    let map = || Fourier::new(Gaussian).features(40);
    let file = |target: &str, other: &str| {
        let others = [other, "person", "day"].map(String::from).to_vec();
        DataFile::at(at.join("t.csv"))
            .target(target)
            .columns(ColumnChoice::AllBut(others))
    };
    let folded = run(&format!("{amounts} --cv 4 -q --json -o folds.model")).json();
    let ridge = Ridge::on(map()).seed(Seed(3)).device(&Device::cpu());
    same(&folded, ridge.cross_validate(file("amount", "label"), 4));
    run(&format!("{amounts} -q -o plain.model")).ok();
    let read = |name: &str| fs::read(at.join(name)).expect("reads");
    assert!(read("folds.model") == read("plain.model"), "another model");
    let said = run(&format!("{amounts} --cv 4 -v")).ok();
    let r2 = number(&folded["cross_validation"]["means"], "r2");
    for part in [
        "cv r2",
        &format!("{r2:.5}")[..6],
        "4, dealt by the seed, of 21 rows",
    ] {
        assert!(said.stdout.contains(part), "no {part:?} in {}", said.stdout);
    }
    assert!(
        said.stderr
            .contains("fold 4 of 4: 21 rows from 63 rows: rmse "),
        "{}",
        said.stderr
    );
    let labels = "--model logistic --target label --ignore amount,person,day --features 20 --cv 3";
    let folded = run(&format!("{labels} -q --json")).json();
    assert_eq!(folded["cross_validation"]["by"], "classes");
    let logistic = LogisticRegression::on(Fourier::new(Gaussian).features(20));
    let logistic = logistic.seed(Seed(0)).device(&Device::cpu());
    let text = file("label", "amount").with_text_labels();
    same(&folded, logistic.cross_validate(text, 3));
}

/// Groups and times part the rows, and groups are no feature; the last rows are those of the file.
#[test]
fn groups_times_and_the_last_rows_are_held_out() {
    let here = here();
    let at = here.path();
    table(at);
    let run = |command: &str| {
        bochner(
            at,
            &format!("fit t.csv --device cpu -q --quick {command}"),
            &[],
        )
    };
    let all = "--target amount --ignore label --features 20 --json";
    let grouped = run(&format!("{all} --cv 5 --group person")).json();
    let sizes = |report: &serde_json::Value| -> Vec<u64> {
        let folds = report["cross_validation"]["folds"]
            .as_array()
            .expect("folds");
        folds
            .iter()
            .map(|fold| fold["test_rows"].as_u64().expect("rows"))
            .collect()
    };
    // Twelve people in five folds.
    let mut found = sizes(&grouped);
    found.sort_unstable();
    assert_eq!(found, [14, 14, 14, 21, 21]);
    let columns = grouped["columns_became"].to_string();
    assert!(
        !columns.contains("person") && columns.contains("day"),
        "{columns}"
    );
    // Without folds whole people are held out, three of twelve, and left out in choices.
    let alone = run(&format!("{all} --group person --test 0.25")).json();
    assert_eq!(
        (&alone["test_rows"], &alone["lambda_by"]),
        (&21.into(), &"5 folds".into())
    );
    let timed = run(&format!("{all} --cv 3 --cv-time day")).json();
    // Three rows a day, 28 days, four blocks.
    let folds = &timed["cross_validation"]["folds"];
    for (fold, train) in [21, 42, 63].into_iter().enumerate() {
        assert_eq!(
            (&folds[fold]["train_rows"], &folds[fold]["test_rows"]),
            (&train.into(), &21.into())
        );
    }
    assert!(timed["columns_became"].to_string().contains("person"));
    let text = fs::read_to_string(at.join("t.csv")).expect("reads");
    let lines: Vec<&str> = text.lines().collect();
    let part = |name: &str, rows: &[&str]| {
        fs::write(
            at.join(name),
            format!("{}\n{}\n", lines[0], rows.join("\n")),
        )
        .expect("writes");
    };
    part("first.csv", &lines[1..64]);
    part("last.csv", &lines[64..]);
    // What is chosen is chosen by blocks of time, which a file of the first rows knows nothing of.
    let chosen = run(&format!("{all} --test last:0.25")).json();
    assert_eq!(chosen["lambda_by"], "5 folds");
    let all = format!("{all} --gamma scale --lambda 1e-3");
    let last = run(&format!("{all} --test last:0.25")).json();
    let of_files = format!("fit first.csv --test-input last.csv --device cpu -q {all}");
    let of_files = bochner(at, &of_files, &[]).json();
    assert_eq!(
        (number(&last, "rmse"), &last["test_rows"]),
        (number(&of_files, "rmse"), &21.into())
    );
}

#[test]
fn folds_that_cannot_be_are_told_with_their_options() {
    let here = here();
    let at = here.path();
    table(at);
    for (command, said) in [
        ("--cv 1", "2 or more"),
        (
            "--cv 13 --group person",
            "12 are the most of 12 groups; use fewer --cv",
        ),
        (
            "--cv 3 --checkpoint steps",
            "do not go together: each fold is a fit to rows that are read again; leave one",
        ),
        ("--cv 3 --model kmeans", "--cv"),
        ("--cv 3 --test 0.5", "--test"),
    ] {
        let command = format!("fit t.csv --target amount --features 20 --device cpu -q {command}");
        bochner(at, &command, &[]).fails(&[said]);
    }
}

/// Where rows are held out by chance the option is named that holds out later ones, and nowhere
/// else.
#[test]
fn who_holds_out_rows_by_chance_hears_of_later_ones() {
    let here = here();
    let at = here.path();
    table(at);
    let fit = "fit t.csv --device cpu --target amount --ignore label --features 20 --json";
    for (options, says) in [
        (
            "--test 0.3",
            Some("by day: later rows may be predicted far worse; --test last:0.3 "),
        ),
        (
            "--cv 3",
            Some("by day: later rows may be predicted far worse; --cv-time \"day\" "),
        ),
        ("--cv 3 --cv-time day", None),
        ("--cv 3 --group person", None),
        ("--test last:0.3", None),
        ("", None),
    ] {
        let said = bochner(at, &format!("{fit} {options}"), &[]).ok().stderr;
        let told = said.matches("rows held out at random").count();
        assert_eq!(told, usize::from(says.is_some()), "{options}: {said}");
        assert!(said.contains(says.unwrap_or_default()), "{options}: {said}");
    }
}

/// Of dates it is said once what they become, by the rows of the fit: 120 hours, which are no whole
/// week, where all rows are three.
#[test]
fn dates_are_told_of_by_the_rows_of_the_fit_alone() {
    let here = here();
    let at = here.path();
    let mut text = String::from("day,y\n");
    for i in 0..600 {
        let (day, hour, y) = (1 + i / 24, i % 24, i % 97 + 10 * (i * i % 7));
        text += &format!("2021-03-{day:02} {hour:02}:00,{y}.5\n");
    }
    fs::write(at.join("hours.csv"), text).expect("writes");
    let fit = "fit hours.csv --target y --device cpu --features 20 --lambda 1e-3";
    for (options, says) in [
        ("--test last:0.8", "adds their place in the day,"),
        ("", "adds their place in the week and the day,"),
    ] {
        let said = bochner(at, &format!("{fit} {options}"), &[]).ok().stderr;
        let told: Vec<_> = said.lines().filter(|l| l.contains("\"day\":")).collect();
        assert!(
            told.len() == 1 && told[0].contains(says),
            "{options}: {said}"
        );
    }
}

/// What the fit of a fold finds in its rows is said of that fold, and what all rows have is not.
#[test]
fn notes_of_folds_name_theirs() {
    let here = here();
    let at = here.path();
    let mut text = String::from("x,y\n");
    for i in 0..600 {
        let x = match i {
            50 | 400 => 1e12,
            _ => f64::from(i % 97),
        };
        text += &format!("{x},{:.4}\n", (f64::from(i * i) * 0.7).sin());
    }
    fs::write(at.join("far.csv"), text).expect("writes");
    let fit = "fit far.csv --target y --device cpu --features 20 --cv 3";
    let said = bochner(at, fit, &[]).ok().stderr;
    let told = |words: &str| said.lines().filter(|line| line.contains(words)).count();
    assert_eq!(told("note: column 'x': 1e12 in 2 of 600 rows"), 1, "{said}");
    let of_folds = said.lines().filter(|line| line.contains("of 400 rows"));
    let named = |line: &str| {
        let rest = line.strip_prefix("note: in the fit of fold ");
        rest.is_some_and(|rest| rest.starts_with(['1', '2', '3']) && rest[1..].starts_with(": "))
    };
    assert!(
        of_folds.clone().count() > 0 && of_folds.clone().all(named),
        "{said}"
    );
}

/// A table of numbers, `week` and `x`, whose target goes up and down with the row, with noise.
fn counted(path: &Path, week: impl Fn(usize) -> usize) {
    let mut text = String::from("week,x,y\n");
    for i in 0..120 {
        let y = 10.0 * (i as f64 / 40.0).sin() + 3.0 * ((i * i) as f64 * 0.7).sin();
        text += &format!("{},{},{y:.3}\n", week(i), i * i * 7 % 101);
    }
    fs::write(path, text).expect("writes");
}

/// A column of numbers in whose order rows stand may be a time, and one that is mixed or has few
/// values is none.
#[test]
fn rows_in_the_order_of_numbers_are_told_of_where_chance_holds_out() {
    let here = here();
    let at = here.path();
    counted(&at.join("rises.csv"), |i| 1000 + 3 * i + i % 2);
    counted(&at.join("falls.csv"), |i| 1000 - i / 2);
    counted(&at.join("mixed.csv"), |i| i * 7 % 120);
    counted(&at.join("few.csv"), |i| i / 7);
    let fit = |options: &str| {
        let fit = "--device cpu --target y --features 10 --sigma 2 --lambda 1e-9";
        bochner(at, &format!("fit {options} {fit}"), &[])
            .ok()
            .stderr
    };
    let rises = "the order of column 'week': if that is a time, ";
    for (options, says) in [
        (
            "rises.csv --test 0.3",
            Some("--test last:0.3 holds out the last"),
        ),
        (
            "rises.csv --cv 3",
            Some("--cv-time \"week\" predicts each fold"),
        ),
        (
            "falls.csv --test 0.3",
            Some("--cv 5 --cv-time \"week\" predicts"),
        ),
        ("rises.csv --cv 3 --cv-time week", None),
        ("rises.csv --test last:0.3", None),
        ("rises.csv --test 0.3 --ignore week", None),
        ("rises.csv", None),
        ("mixed.csv --test 0.3", None),
        ("few.csv --test 0.3", None),
    ] {
        let said = fit(options);
        let told = said.matches("rows stand in the order of").count();
        assert_eq!(told, usize::from(says.is_some()), "{options}: {said}");
        if let Some(says) = says {
            assert!(
                said.contains(rises) && said.contains(says),
                "{options}: {said}"
            );
        }
    }
    // Of the last rows no other penalty is advised.
    let worse = |options: &str| {
        let said = fit(options);
        let line = said.lines().find(|line| line.contains("on the test rows"));
        line.unwrap_or_else(|| panic!("{options}: {said}"))
            .to_owned()
    };
    let last = worse("rises.csv --test last:0.2");
    for words in [
        "beyond the rows of the fit by column 'week'",
        "--ignore \"week\"",
    ] {
        assert!(last.contains(words) && !last.contains("--lambda"), "{last}");
    }
    assert!(worse("mixed.csv --test last:0.2").contains("--lambda"));
}
