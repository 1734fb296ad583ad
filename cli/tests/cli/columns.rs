//! Columns by their names, from the fit to predictions.

use crate::{bochner, here, number};
use std::{fmt::Write, fs};

/// Rows of a, b and y = a + noise of id, in the order asked for.
fn table(columns: &str) -> String {
    let mut text = format!("{columns}\n");
    for i in 0..60 {
        let (a, b) = (f64::from(i % 7), f64::from(i % 5));
        let value = |name: &str| match name {
            "a" => a,
            "b" => 10.0 * b,
            "y" => a - b + 0.5,
            _ => f64::from(1000 * i),
        };
        let row: Vec<_> = columns
            .split(',')
            .map(|name| value(name).to_string())
            .collect();
        writeln!(text, "{}", row.join(",")).expect("a string");
    }
    text
}

#[test]
fn a_model_finds_its_columns_by_name() {
    let here = here();
    let write =
        |name: &str, columns| fs::write(here.path().join(name), table(columns)).expect(name);
    let read = |name: &str| fs::read_to_string(here.path().join(name)).expect(name);
    let run = |arguments: &str| bochner(here.path(), arguments, &[]);
    write("train.csv", "id,a,b,y");
    write("same.csv", "a,b");
    write("other.csv", "b,id,y,a,more");
    write("missing.csv", "a,c,y");
    write("two.csv", "a,b,y,z");
    let fit = "fit train.csv --target y --features 64 --sigma 2 --device cpu --quiet";
    let fitted = run(&format!(
        "{fit} --ignore id -o m.model --test-input other.csv --json"
    ));
    assert_eq!(fitted.code, Some(0), "{fitted:?}");
    let report = fitted.json();
    assert_eq!(report["columns"], 2);
    // Rows that were fitted, in another order of columns.
    assert!(number(&report, "relative_error") < 0.1, "{report}");
    for name in ["train", "same", "other"] {
        let predict = format!("predict m.model {name}.csv -o {name}.out.csv --device cpu");
        assert_eq!(run(&predict).code, Some(0));
        assert_eq!(
            read("train.out.csv"),
            read(&format!("{name}.out.csv")),
            "{name}"
        );
    }
    let predict = "predict m.model missing.csv -o no.csv --device cpu";
    run(predict).fails(&["missing.csv", "\"b\"", "a, c, y"]);
    assert!(!here.path().join("no.csv").exists());
    let evaluate = "evaluate m.model two.csv --device cpu --target";
    assert_eq!(run(&format!("{evaluate} y")).code, Some(0));
    run(&format!("{evaluate} z")).fails(&["two.csv", "targets z", "predicts y"]);
    // The same two columns, asked for by name.
    let asked = run(&format!("{fit} --columns a,b -o n.model"));
    assert_eq!(asked.code, Some(0), "{asked:?}");
    assert_eq!(
        run("predict n.model other.csv -o n.csv --device cpu").code,
        Some(0)
    );
    assert_eq!(read("n.csv"), read("other.out.csv"));
    // Columns of other names are told by --columns, which goes before the names of the model.
    let text = table("a,b,y").replacen("a,b,y", "first,second,y", 1);
    fs::write(here.path().join("renamed.csv"), text).expect("written");
    let renamed = "evaluate m.model renamed.csv --device cpu --target y --json";
    run(renamed).fails(&["renamed.csv", "\"a\"", "first, second, y"]);
    let rmse = |arguments: &str| number(&run(arguments).json(), "rmse");
    let own = rmse("evaluate m.model train.csv --device cpu --target y --json");
    assert_eq!(rmse(&format!("{renamed} --columns first,second")), own);
    assert!(rmse(&format!("{renamed} --columns second,first")) > 2.0 * own);
    run(&format!("{fit} --columns a,nn")).fails(&["\"nn\"", "id, a, b, y"]);
    run(&format!("{fit} --ignore nn")).fails(&["\"nn\"", "to leave out"]);
    run(&format!("{fit} --ignore a --columns b")).fails(&["--ignore", "--columns"]);
    // Separated otherwise, which is found or said.
    fs::write(
        here.path().join("other.tsv"),
        table("b,id,y,a").replace(',', "\t"),
    )
    .expect("written");
    for delimiter in ["", "--delimiter tab"] {
        let predict = format!("predict m.model other.tsv -o t.csv --device cpu {delimiter}");
        assert_eq!(run(&predict).code, Some(0));
        assert_eq!(read("t.csv"), read("other.out.csv"));
    }
    run(&format!("{fit} --delimiter ;")).fails(&["\"y\"", "its columns are \"id,a,b,y\""]);
    run(&format!("{fit} --delimiter ab")).fails(&["--delimiter", "one character"]);
}

/// Rows without their last columns are those of the model all the same.
#[test]
fn sparse_rows_have_the_columns_of_the_model() {
    let here = here();
    let run = |arguments: &str| bochner(here.path(), arguments, &[]);
    let (mut text, mut dense) = (String::new(), String::from("a,b,c,y\n"));
    for i in 0..60 {
        let (a, b, c) = (i % 7, i % 5, i % 2);
        writeln!(text, "{} 1:{a} 2:{b} 3:{c}", a - b).expect("a string");
        writeln!(dense, "{a},{b},{c},{}", a - b).expect("a string");
    }
    fs::write(here.path().join("rows.svm"), text).expect("written");
    fs::write(here.path().join("rows.csv"), dense).expect("written");
    fs::write(here.path().join("few.svm"), "1 1:3\n0\n").expect("written");
    fs::write(here.path().join("few.csv"), "3,0,0\n0,0,0\n").expect("written");
    let fit = "--features 64 --sigma 2 --task regression --device cpu --quiet";
    let fits = [
        format!("fit rows.svm {fit} -o s.model --test-input few.svm"),
        format!("fit rows.csv --target y {fit} -o d.model"),
        "predict s.model few.svm -o s.csv --device cpu".into(),
        "predict d.model few.csv -o d.csv --device cpu".into(),
    ];
    for command in fits {
        let ran = run(&command);
        assert_eq!(ran.code, Some(0), "{command}: {ran:?}");
    }
    let read = |name: &str| fs::read_to_string(here.path().join(name)).expect(name);
    assert_eq!(read("s.csv"), read("d.csv"));
    fs::write(here.path().join("wide.svm"), "1 4:3\n").expect("written");
    run("predict s.model wide.svm -o s.csv --device cpu").fails(&["wide.svm", "the 3 columns"]);
}

/// The binary with a file as its standard input.
fn piped(directory: &std::path::Path, arguments: &str, input: &str) -> crate::Run {
    let input = fs::File::open(directory.join(input)).expect("is there");
    let mut command = crate::command(directory);
    command.env("TMPDIR", directory.join("spool"));
    crate::finish(command.args(arguments.split(' ')).stdin(input))
}

#[test]
fn standard_input_and_folders_are_read_like_files() {
    let here = here();
    let read = |name: &str| fs::read_to_string(here.path().join(name)).expect(name);
    for folder in ["spool", "parts"] {
        fs::create_dir(here.path().join(folder)).expect("a folder");
    }
    let all = table("a,b,y");
    fs::write(here.path().join("all.csv"), &all).expect("written");
    let lines: Vec<_> = all.lines().collect();
    for (name, rows) in [
        ("parts/1.csv", &lines[1..21]),
        ("parts/2.csv", &lines[21..]),
    ] {
        let text = format!("{}\n{}\n", lines[0], rows.join("\n"));
        fs::write(here.path().join(name), text).expect("written");
    }
    let fit = "--target y --features 64 --sigma 2 --device cpu --quiet --test 0.3 --json";
    let fitted = |input: &str| {
        let ran = piped(here.path(), &format!("fit {input} {fit}"), "all.csv");
        assert_eq!(ran.code, Some(0), "{input}: {ran:?}");
        let report = ran.json();
        (number(&report, "relative_error"), report["rows"].clone())
    };
    let file = fitted("all.csv");
    // A split reads standard input as two parts.
    for input in ["-", "parts", "parts/*.csv"] {
        assert_eq!(fitted(input), file, "{input}");
    }
    let model = bochner(here.path(), &format!("fit all.csv {fit} -o m.model"), &[]);
    assert_eq!(model.code, Some(0), "{model:?}");
    for (input, output) in [("all.csv", "f.csv"), ("-", "s.csv")] {
        let predict = format!("predict m.model {input} --target y -o {output} --device cpu");
        let ran = piped(here.path(), &predict, "all.csv");
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    assert_eq!(read("s.csv"), read("f.csv"));
    // Nothing of it stays.
    let left = fs::read_dir(here.path().join("spool"))
        .expect("a folder")
        .count();
    assert_eq!(left, 0);
    fs::write(here.path().join("none"), "").expect("written");
    piped(here.path(), &format!("fit - {fit}"), "none").fails(&["standard input", "is empty"]);
    piped(here.path(), &format!("fit - {fit} --format tar"), "none").fails(&["--format", "libsvm"]);
    let over = "predict m.model parts --target y -o parts/2.csv --device cpu";
    bochner(here.path(), over, &[]).fails(&["2.csv", "would be replaced"]);
}

/// Columns that were chosen by their places in a file without names are found there again.
#[test]
fn a_model_of_some_places_predicts_the_whole_file() {
    let here = here();
    let write = |name: &str, columns: &str| {
        let text = table(columns);
        let rows = text.split_once('\n').expect("names").1;
        fs::write(here.path().join(name), rows).expect(name);
    };
    let run = |arguments: &str| bochner(here.path(), arguments, &["--device", "cpu"]).ok();
    write("train.csv", "a,id,b,y");
    write("own.csv", "a,b");
    let fit = "fit train.csv --target 3 --task regression --features 64 --sigma 2 --quiet";
    run(&format!("{fit} --columns 0,2 -o m.model"));
    for (rows, out) in [("train.csv", "whole.csv"), ("own.csv", "own.out.csv")] {
        run(&format!("predict m.model {rows} -o {out}"));
    }
    run("predict m.model train.csv --target 3 -o without.csv");
    let read = |name: &str| fs::read_to_string(here.path().join(name)).expect(name);
    assert_eq!(read("whole.csv"), read("own.out.csv"));
    assert_eq!(read("whole.csv"), read("without.csv"));
}
