//! Tables as people have them: text, gaps, labels that are words, weights.

use crate::{bochner, here, number};
use std::{fmt::Write, fs, path::Path};

/// People with a job, hours and an age of which some are not known; the income follows from them.
fn people(path: &Path, columns: &str, rows: usize) {
    let mut text = format!("{}\n", columns.replace('|', ","));
    for i in 0..rows {
        let job = ["Sales", "Craft", "?", "Exec"][(i * 5 + i / 7) % 4];
        let (hours, age) = (20 + (i * 13) % 40, 18 + (i * 29) % 50);
        let rich = job == "Exec" || (hours > 45 && age > 30);
        let row = columns.split('|').map(|name| match name {
            "job" => job.to_owned(),
            "hours" => hours.to_string(),
            "age" if i % 17 == 3 => String::new(),
            "age" => age.to_string(),
            "since" => format!("20{:02}-03-01", i % 24),
            "\"a, b\"" => if rich { "1.5" } else { "0.5" }.to_owned(),
            "weight" => (i % 3).to_string(),
            "income" => if rich { ">50K" } else { "<=50K" }.to_owned(),
            _ => i.to_string(),
        });
        let row: Vec<_> = row.collect();
        writeln!(text, "{}", row.join(", ")).expect("a string");
    }
    fs::write(path, text).expect("written");
}

#[test]
fn a_table_of_text_and_gaps_is_fitted_by_one_command() {
    let here = here();
    let at = |name: &str| here.path().join(name);
    let run = |arguments: &str| bochner(here.path(), arguments, &["--device", "cpu"]);
    people(&at("train.csv"), "age|job|hours|since|income", 500);
    people(&at("test.csv"), "id|since|income|hours|job|age", 200);
    let fit = "fit train.csv --target income --features 200 --lambda 1e-5 --json -o m.model";
    let report = run(&format!("{fit} --missing indicator --test-input test.csv"));
    assert!(report.stderr.contains("text of 2 kinds"), "{report:?}");
    let report = report.json();
    assert_eq!(report["columns"], 8, "{report}");
    assert_eq!(report["classes"], serde_json::json!(["<=50K", ">50K"]));
    assert!(number(&report, "accuracy") > 0.85, "{report}");
    // What the model says of a file is what the fit said of it.
    let evaluated = run("evaluate m.model test.csv --json").json();
    assert_eq!(evaluated["accuracy"], report["accuracy"]);
    run("predict m.model test.csv -o p.csv").ok();
    let predicted = fs::read_to_string(at("p.csv")).expect("written");
    let rows = fs::read_to_string(at("test.csv")).expect("written");
    let label = |line: &str| line.split(", ").nth(2).map(|l| format!("\"{l}\""));
    let pairs = predicted.lines().skip(1).zip(rows.lines().skip(1));
    let right = pairs
        .filter(|(p, row)| Some((*p).to_owned()) == label(row))
        .count();
    assert_eq!(right as f64 / 200.0, number(&report, "accuracy"));
    // Rows held out are read as the fit read its own.
    let held = run(&format!(
        "{fit} --missing mean --test 0.3 --calibrate 0.2 --quiet"
    ));
    held.fails(&["--calibrate", "labels"]);
    let held = run(&format!("{fit} --missing median --test 0.3")).json();
    assert!(number(&held, "accuracy") > 0.8, "{held}");
    // A job that the fit never saw counts as none, and says so.
    let text = rows.replace("Craft", "Clergy");
    fs::write(at("new.csv"), text).expect("written");
    let said = run("predict m.model new.csv -o p.csv").ok().stderr;
    assert!(
        said.contains("note: new.csv, line") && said.contains("\"Clergy\""),
        "{said}"
    );
    for (arguments, fragments) in [
        (
            format!("{fit} --missing error --quiet"),
            vec!["line 5, column \"age\"", "--missing indicator"],
        ),
        (
            format!("{fit} --missing most"),
            vec!["--missing", "auto, mean, median, indicator, error"],
        ),
        (
            format!("{fit} --missing mean --task regression -q"),
            vec!["\"income\" holds text"],
        ),
        (
            format!("{fit} --missing mean --model svr -q"),
            vec!["\"income\" holds text"],
        ),
        (
            format!("{fit} --missing mean --categorical town"),
            vec!["\"town\"", "categories"],
        ),
        (
            "evaluate m.model test.csv --missing mean".into(),
            vec!["--missing", "fit"],
        ),
        (
            "evaluate m.model test.csv --columns age".into(),
            vec!["--columns", "fit"],
        ),
        (
            "evaluate m.model test.csv --target job".into(),
            vec!["targets job", "predicts income"],
        ),
    ] {
        run(&arguments).fails(&fragments);
    }
    people(&at("short.csv"), "age|hours|since", 9);
    run("predict m.model short.csv -o p.csv").fails(&["short.csv", "\"job\"", "age, hours, since"]);
}

#[test]
fn names_with_commas_weights_and_codes_are_columns_as_others() {
    let here = here();
    let run = |arguments: &str, more: &[&str]| bochner(here.path(), arguments, more);
    people(
        &here.path().join("train.csv"),
        "hours|weight|id|\"a, b\"",
        300,
    );
    let fit = "fit train.csv --features 50 --task regression --device cpu --json --ignore id";
    let target = ["--target", "\"a, b\""];
    let report = run(fit, &target).json();
    assert_eq!(
        (&report["columns"], &report["targets"]),
        (&2.into(), &1.into())
    );
    let report = run(&format!("{fit} --weight weight"), &target).json();
    assert_eq!(report["columns"], 1);
    run(
        "fit train.csv --weight weight --model ica --components 1 -q",
        &target,
    )
    .fails(&["--weight", "--model"]);
    run(&format!("{fit} --weight job"), &target).fails(&["\"job\"", "weights"]);
    run(fit, &["--target", "\"a, b"]).fails(&["--target", "quote"]);
    run(fit, &["--target", "a, b"]).fails(&["\"a\"", "target"]);
    // Whole numbers as categories: 40 hours are 40 columns, or as many as are allowed.
    let report = run(&format!("{fit} --categorical hours"), &target).json();
    assert_eq!(report["columns"], 41);
    let report = run(
        &format!("{fit} --categorical hours --most-categories 8"),
        &target,
    )
    .json();
    assert_eq!(report["columns"], 9);
    let featurize = "featurize train.csv -o z.npy --features 20 --sigma 3 --json --device cpu";
    let report = run(
        &format!("{featurize} --categorical hours"),
        &["--ignore", "\"a, b\""],
    )
    .json();
    // The column `id` counts rows.
    assert_eq!(report["columns"], 41);
}

/// As the repository of UCI publishes Adult: no names, blanks behind commas, `?` for what is
/// missing.
#[test]
fn a_table_without_names_is_fitted_as_one_with_them() {
    let here = here();
    let at = |name: &str| here.path().join(name);
    let run = |arguments: &str| bochner(here.path(), arguments, &["--device", "cpu"]);
    people(&at("named.csv"), "age|job|hours|income", 300);
    let text = fs::read_to_string(at("named.csv")).expect("written");
    let (_, rows) = text.split_once('\n').expect("names");
    fs::write(at("adult.data"), rows).expect("written");
    let fit = "--features 100 --lambda 1e-4 --missing indicator --test 0.3 --json";
    let named = run(&format!("fit named.csv --target income {fit}")).json();
    let own = "fit adult.data --format csv --header no --target 3 -o m.model";
    let own = run(&format!("{own} {fit}")).json();
    for key in ["accuracy", "rows", "classes", "columns"] {
        assert_eq!(own[key], named[key], "{key}");
    }
    let evaluate = "evaluate m.model adult.data --format csv --json";
    assert_eq!(run(&format!("{evaluate} --header no")).json()["rows"], 300);
    run(evaluate).fails(&["has no column"]);
    run("predict m.model adult.data --format csv --header no -o p.csv").ok();
    let lines = fs::read_to_string(at("p.csv")).expect("written");
    assert_eq!(lines.lines().count(), 301);
    // Names that are numbers, and a file that has none.
    fs::write(at("years.csv"), "2019,2020\n1,2\n3,4\n5,7\n").expect("written");
    let years = "fit years.csv --header yes --target 2020 --task regression --features 8 --json";
    assert_eq!(run(years).json()["rows"], 3);
    fs::write(at("x.libsvm"), "1 1:2\n2 1:3\n").expect("written");
    run("fit x.libsvm --header no").fails(&["first line", ".libsvm"]);
}

/// What takes numbers alone says so of text, in one line, and where categories are not known to all
/// who sum: of one file, of several, of a shard.
#[test]
fn where_text_is_not_taken_one_line_says_what_to_do() {
    let here = here();
    let folder = here.path();
    fs::create_dir(folder.join("many")).expect("makes");
    for name in ["a.csv", "b.csv", "many/a.csv", "many/b.csv"] {
        let row = |i: usize| match i {
            7 => "Chur,,1\n".to_owned(),
            i => format!("{},{i},{}\n", ["Bern", "Basel"][i % 2], i % 3),
        };
        let rows: String = (0..60).map(row).collect();
        fs::write(folder.join(name), format!("city,age,y\n{rows}")).expect("written");
    }
    let gaps: String = (0..60)
        .map(|i| match i {
            7 => ",1\n".to_owned(),
            i => format!("{i},{}\n", i * i % 7),
        })
        .collect();
    fs::write(folder.join("d.csv"), format!("age,y\n{gaps}")).expect("written");
    for (arguments, says) in [
        (
            "drift a.csv b.csv --missing error",
            &["a.csv: line 9", "age", "is empty", "--missing indicator"] as &[_],
        ),
        (
            "independence a.csv --x age --y y",
            &["a.csv: line 9", "age", "is empty", "--nan drop"],
        ),
        (
            "fit a.csv --target y --missing mean --shard 1/2 --partial p",
            &["--shard takes files of numbers", "--checkpoint"],
        ),
        (
            "fit many --target y",
            &["many/a.csv: line 2", "city", "Bern", "encode it"],
        ),
        (
            "fit many/*.csv --target y",
            &["many/a.csv: line 2", "city", "Bern", "encode it"],
        ),
        (
            "fit many --target y --missing mean",
            &["many: ", "of one file", "join the 2"],
        ),
        (
            "fit many --target y --categorical city",
            &["many: ", "of one file", "join the 2"],
        ),
    ] {
        let run = bochner(folder, &format!("{arguments} --device cpu -q"), &[]);
        assert_eq!(run.stderr.lines().count(), 1, "{arguments}: {run:?}");
        run.fails(says);
        assert!(!folder.join("p").exists());
    }
    // And where rows with gaps may go, they do.
    for arguments in [
        "drift a.csv b.csv --ignore city --nan drop",
        "drift a.csv b.csv --nan drop",
        "drift a.csv b.csv --missing indicator",
        "independence a.csv --x city --y y",
        "independence d.csv --x age --y y --nan drop",
        "fit many --target y --ignore city --nan drop --features 8",
    ] {
        bochner(folder, &format!("{arguments} --device cpu -q"), &[]).ok();
    }
    // In steps, a table of text is fitted as it is.
    let steps = "fit a.csv --target y --missing mean --features 8 --checkpoint kept --every 20";
    bochner(folder, &format!("{steps} --device cpu -q -o m"), &[]).ok();
    bochner(
        folder,
        "predict m b.csv --target y --device cpu -q -o p.csv",
        &[],
    )
    .ok();
}
