//! Columns that are not taken as they stand: named, and said to be so.

use crate::{are_numbers, bochner, here};
use std::{fs, path::Path};

/// A hundred rows of which a text stands in the place of every tenth value of `gap`, with a column
/// of more names than are kept apart, one of a name for each row, and one that is empty.
fn table(path: &Path, no_value: &str) {
    let mut text = String::from("x,gap,many,own,none,y\n");
    for i in 0..100 {
        let gap = match i % 10 {
            0 => no_value.to_owned(),
            _ => (i % 7).to_string(),
        };
        text.push_str(&format!("{i},{gap},shop{},id{i},,{}\n", i % 80, i * i % 31));
    }
    fs::write(path, text).expect("writes");
}

const FIT: &str = "fit t.csv --target y --features 20 --device cpu -o m.model";

#[test]
fn columns_that_tell_nothing_are_named() {
    let here = here();
    let at = here.path();
    table(&at.join("t.csv"), "");
    let run = bochner(at, &format!("{FIT} --missing indicator --json -v"), &[]);
    for note in [
        "\"none\": no value in any row; left out",
        "\"own\": tells rows apart and nothing of others by the numbers behind its word; left out",
        "\"many\": more than 64 different texts, hashed into 64 columns",
    ] {
        assert_eq!(run.stderr.matches(note).count(), 1, "{note} in {run:?}");
    }
    let became = [
        "x: numbers",
        "gap: numbers, and whether it is missing",
        "many: text, hashed into 64 columns",
        "own: tells rows apart, left out",
        "none: no value, left out",
    ];
    for each in became {
        assert!(run.stderr.contains(each), "{each} in {run:?}");
    }
    let report = run.json();
    assert_eq!(report["columns_became"], serde_json::json!(became));
    let shown = bochner(at, "show m.model --json", &[]).json();
    assert_eq!(shown["columns_became"], report["columns_became"]);

    // A later file may have values there: they are no more taken than in the fit.
    bochner(at, "predict m.model t.csv -o before.csv --device cpu", &[]).ok();
    let text = fs::read_to_string(at.join("t.csv")).expect("the table");
    let own = |line: &str| match line.rsplit_once(",,") {
        Some((before, after)) => format!("{before},value,{after}\n"),
        None => format!("{line}\n"),
    };
    let filled: String = text.lines().map(own).collect();
    fs::write(at.join("t.csv"), filled).expect("writes");
    bochner(at, "predict m.model t.csv -o after.csv --device cpu", &[]).ok();
    let read = |file: &str| fs::read(at.join(file)).expect("predictions");
    assert!(read("before.csv") == read("after.csv"));

    // Nothing to say: no note.
    fs::write(at.join("t.csv"), "x,y\n1,2\n3,4\n5,1\nNA,3\n").expect("writes");
    let run = bochner(at, &format!("{FIT} --missing mean"), &[]).ok();
    assert!(!run.stderr.contains("t.csv:"), "{run:?}");
    fs::write(at.join("t.csv"), "x,y\n,2\n,4\n").expect("writes");
    bochner(at, &format!("{FIT} --missing mean"), &[]).fails(&["no value in any column"]);
}

/// A first column without a name counts rows, as those that programs write do; kinds that differ in
/// capitals alone may be slips.
#[test]
fn columns_without_a_name_and_kinds_in_capitals_are_told_of() {
    let here = here();
    let at = here.path();
    let mut text = String::from(",a,city,y\n");
    for i in 0..60 {
        let city = ["Bern", "bern", "Zug"][i % 3];
        text.push_str(&format!("{i},{},{city},{}\n", i * 7 % 11, i * i % 31));
    }
    fs::write(at.join("t.csv"), text).expect("writes");
    let run = bochner(at, FIT, &[]).ok();
    for note in [
        "\"0\": tells rows apart and nothing of others",
        "\"city\": 3 kinds, 2 but for capitals, blanks and forms of Unicode (\"Bern\" and \"bern\")",
    ] {
        assert!(run.stderr.contains(note), "{note} in {run:?}");
    }
}

/// A number of the row by its name is left out also where the target runs with the rows, and said;
/// who says that it is a number keeps it.
#[test]
fn numbers_of_rows_in_an_order_of_the_target_are_told_of() {
    let here = here();
    let at = here.path();
    let mut text = String::from("id,a,y\n");
    for i in 1..=60 {
        text.push_str(&format!("{i},{},{}\n", i * 7 % 11, i * 2 + i * i % 31));
    }
    fs::write(at.join("t.csv"), text).expect("writes");
    let run = bochner(at, FIT, &[]).ok();
    let note = "\"id\": numbers the rows, which stand in an order of the target: left out";
    assert!(run.stderr.contains(note), "{run:?}");
    let run = bochner(at, &format!("{FIT} --numeric id -v --quick"), &[]).ok();
    assert!(!run.stderr.contains("numbers the rows"), "{run:?}");
    assert!(run.stdout.contains("2 columns as they are"), "{run:?}");
}

/// What pandas takes for no value is none here, and `--na` says otherwise.
#[test]
fn texts_stand_for_no_value_as_said() {
    let here = here();
    let at = here.path();
    for usual in [
        "NA", "N/A", "n/a", "#N/A", "None", "null", "<NA>", "?", "NaN",
    ] {
        table(&at.join("t.csv"), usual);
        let run = bochner(at, &format!("{FIT} --missing mean"), &[]).ok();
        assert!(!run.stderr.contains("gap"), "{run:?}");
    }
    table(&at.join("t.csv"), "nix");
    let fit = format!("{FIT} --missing mean");
    let run = bochner(at, &fit, &[]).ok();
    let says = "column \"gap\": \"nix\" among numbers";
    assert!(run.stderr.contains(says), "{run:?}");
    let run = bochner(at, &format!("{fit} --na nix,."), &[]).ok();
    assert!(!run.stderr.contains(says), "{run:?}");
    // The model keeps the list.
    bochner(at, "predict m.model t.csv -o p.csv --device cpu", &[]).ok();
    bochner(
        at,
        "predict m.model t.csv -o p.csv --device cpu --na NA",
        &[],
    )
    .fails(&["--na"]);
    // A number may stand for none.
    table(&at.join("t.csv"), "-999");
    let of = |options: &str| {
        let report = bochner(at, &format!("{FIT} {options} --json"), &[]).json();
        report["columns_became"].to_string()
    };
    assert!(!of("--missing indicator").contains("gap: numbers, and"));
    assert!(of("--missing indicator --na -999").contains("gap: numbers, and"));

    // A class called NA.
    let rows: String = (0..60)
        .map(|i| format!("{},{}\n", i % 9, if i % 9 > 4 { "NA" } else { "EU" }))
        .collect();
    fs::write(at.join("t.csv"), format!("x,y\n{rows}")).expect("writes");
    bochner(at, FIT, &[]).fails(&["is NA, which stands for no value"]);
    bochner(at, &format!("{FIT} --na ?"), &[]).ok();
    bochner(at, "predict m.model t.csv -o p.csv --device cpu", &[]).ok();
    let labels = fs::read_to_string(at.join("p.csv")).expect("labels");
    let found = labels.lines().filter(|label| label.contains("NA")).count();
    assert!((20..30).contains(&found), "{found} of 26 in {labels}");
}

#[test]
fn columns_of_one_name_are_refused() {
    let here = here();
    let at = here.path();
    fs::write(at.join("t.csv"), "a,a,y\n1,2,3\n4,5,6\n7,8,8\n").expect("writes");
    bochner(at, FIT, &[]).fails(&["several columns called \"a\"", "rename them"]);
    fs::write(at.join("t.csv"), "a,b,a,y\n1,2,u,3\n4,5,v,6\n7,8,u,8\n").expect("writes");
    bochner(at, &format!("{FIT} --ignore b"), &[]).fails(&["several columns called \"a\""]);
    bochner(at, &format!("{FIT} --columns b"), &[]).ok();
}

/// What tells rows apart is no feature, unless all columns are asked for or there is no other; a
/// column that counts may be a time, and what begins with a digit may be an amount.
#[test]
fn what_tells_rows_apart_is_left_out() {
    let here = here();
    let at = here.path();
    let write = |with: &dyn Fn(usize) -> String, head: &str| {
        let rows: String = (0..200)
            .map(|i| {
                format!(
                    "{},{}\n",
                    with(i),
                    ((i as f64) / 9.0).sin() + i as f64 / 50.0
                )
            })
            .collect();
        fs::write(at.join("t.csv"), format!("{head},y\n{rows}")).expect("writes");
    };
    let became = |options: &str| {
        let run = bochner(at, &format!("{FIT} --json {options}"), &[]);
        let said = run.stderr.clone();
        (run.json()["columns_became"].clone(), said)
    };
    let every = |i: usize| {
        let code = format!(
            "{:015x}k",
            (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 4
        );
        format!("{},{i},c-{i},{code},{i}h {i}m", i + 1)
    };
    write(&every, "ID,day,name,code,span");
    let (columns, said) = became("");
    let hashed = "text, hashed into 64 columns";
    let apart = "tells rows apart, left out";
    assert_eq!(
        columns,
        serde_json::json!([
            format!("ID: {apart}"),
            "day: numbers",
            format!("name: {apart}"),
            format!("code: {apart}"),
            "span: times, in days",
        ])
    );
    // Targets of this table rise with the rows.
    for note in [
        "\"ID\", \"name\": numbers the rows",
        "\"code\": tells rows apart and nothing of others; left out unless all columns are asked",
    ] {
        assert!(said.contains(note), "{note} in {said}");
    }
    // Those that are left out need not be there later.
    bochner(at, "predict m.model t.csv -o with.csv --device cpu", &[]).ok();
    write(&|i| format!("{i},{i}h {i}m"), "day,span");
    bochner(at, "predict m.model t.csv -o without.csv --device cpu", &[]).ok();
    let read = |file: &str| fs::read(at.join(file)).expect("predictions");
    assert!(read("with.csv") == read("without.csv"));
    write(&every, "ID,day,name,code,span");
    let (columns, said) = became("--all-columns");
    assert_eq!(columns[0], "ID: numbers");
    assert_eq!(columns[2], format!("name: {hashed}"));
    assert!(said.contains("different text in each row"), "{said}");
    let (columns, _) = became("--categorical name");
    assert_eq!(columns[2], format!("name: {hashed}"));

    // A table of numbers: what counts is left out by its name, from 0 or 1 and without a gap.
    let r2 = |options: &str| {
        let fit = format!("{FIT} --json --test 0.3 {options}");
        bochner(at, &fit, &[]).json()
    };
    write(&|i| format!("{i},{}", i * 7 % 31), "index,b");
    assert_eq!(r2("")["columns_became"][0], format!("index: {apart}"));
    assert!(are_numbers(&r2("--all-columns")));
    write(&|i| format!("{},{}", i + 2, i * 7 % 31), "index,b");
    assert!(are_numbers(&r2("")));
    write(&|i| format!("{i},{}", i * 7 % 31), "hour,b");
    assert!(are_numbers(&r2("")));
    // Nothing else is there.
    write(&|i| i.to_string(), "index");
    assert!(are_numbers(&r2("")));
    write(&|i| format!("c{i}"), "name");
    assert_eq!(became("").0[0], format!("name: {hashed}"));
}

/// What another column tells is no feature, in tables of numbers and of text; what differs in one
/// row is one.
#[test]
fn copies_are_left_out() {
    let here = here();
    let at = here.path();
    let fit = |copies: &dyn Fn(usize) -> String, options: &str| {
        let row = |i: usize| {
            let (a, b) = (i * 37 % 101, i % 13);
            let y = (a as f64 / 20.0).sin() + b as f64;
            format!("{a},{b},{},{y}\n", copies(i))
        };
        let rows: String = (0..300).map(row).collect();
        fs::write(at.join("t.csv"), format!("a,b,c,y\n{rows}")).expect("writes");
        let run = bochner(at, &format!("{FIT} --json {options}"), &[]).ok();
        let said = run.stderr.clone();
        (run.json(), said)
    };
    let same = |i: usize| format!("{}.0", i * 37 % 101);
    let (report, said) = fit(&same, "");
    assert_eq!(report["columns_became"][2], "c: a copy of a, left out");
    assert!(said.contains("\"c\": a copy of \"a\"; left out"), "{said}");
    // Whoever leaves it out himself has the same predictions, and a file without it is enough.
    let predicted = || {
        let predict = "predict m.model t.csv -o p.csv --device cpu";
        bochner(at, predict, &[]).ok();
        fs::read(at.join("p.csv")).expect("predictions")
    };
    let with = predicted();
    let table = fs::read_to_string(at.join("t.csv")).expect("a table");
    let cut = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        format!("{},{},{}\n", cells[0], cells[1], cells[3])
    };
    let without: String = table.lines().map(cut).collect();
    fs::write(at.join("t.csv"), without).expect("writes");
    assert!(predicted() == with);
    bochner(at, FIT, &[]).ok();
    assert!(predicted() == with);
    assert!(are_numbers(&fit(&same, "--all-columns").0));
    // Another value in a late row, and few values among numbers, are columns of their own.
    let late = |i: usize| if i == 299 { "7".into() } else { same(i) };
    assert!(are_numbers(&fit(&late, "").0));
    let few = |i: usize| (i % 13).to_string();
    assert!(are_numbers(&fit(&few, "").0));
    // What only a column tells that is left out stays.
    let row = |i: usize| format!("{i},{i},{}\n", i * 7 % 31);
    let rows: String = (0..300).map(row).collect();
    fs::write(at.join("t.csv"), format!("index,day,y\n{rows}")).expect("writes");
    let report = bochner(at, &format!("{FIT} --json"), &[]).json();
    assert_eq!(
        report["columns_became"][0],
        "index: tells rows apart, left out"
    );
    assert_eq!(report["columns_became"][1], "day: numbers");
    // Beside text all columns are looked at, whatever they hold.
    let texts = |i: usize| format!("{},w{},w{}", i % 13, i % 3, i % 3);
    let row = |i: usize| format!("{},{}\n", texts(i), i % 13 + i % 3);
    let rows: String = (0..300).map(row).collect();
    fs::write(at.join("t.csv"), format!("a,b,c,y\n{rows}")).expect("writes");
    let report = bochner(at, &format!("{FIT} --json"), &[]).json();
    assert_eq!(report["columns_became"][2], "c: a copy of b, left out");
}

/// A column that is the target in another unit, to ten digits.
#[test]
fn a_column_that_knows_the_answer_is_named() {
    let here = here();
    let at = here.path();
    let said = |off: f64| {
        let row = |i: usize| {
            let price = ((i * 37 % 101) as f64).sqrt();
            format!(
                "{},{},{price}\n",
                i % 13,
                2.5 * price * (1.0 + off * (i % 3) as f64) + 7.0
            )
        };
        let rows: String = (0..100).map(row).collect();
        fs::write(at.join("t.csv"), format!("a,gross,price\n{rows}")).expect("writes");
        bochner(
            at,
            "fit t.csv --target price --features 20 --device cpu",
            &[],
        )
        .ok()
        .stderr
    };
    let note = "column 'gross' is the target but for a factor";
    assert!(said(0.0).contains(note));
    assert!(!said(1e-7).contains("know the answer"));
}
