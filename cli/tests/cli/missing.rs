//! First commands on tables with missing values and columns of numbers and texts.

use crate::{bochner, here, number};
use std::fs;

const FIT: &str = "fit t.csv --target y --task regression --features 20 --device cpu --json -o m";

/// Pseudo-random number in [0, 1).
fn noise(i: usize) -> f64 {
    (i * 7919 % 1009) as f64 / 1009.0
}

/// Table with a column `v` of these cells, a numeric column and a target.
fn table(rows: usize, cell: impl Fn(usize) -> String) -> String {
    let row = |i: usize| format!("{},{},{}\n", cell(i), noise(3 * i + 1), noise(5 * i + 2));
    format!("v,b,y\n{}", (0..rows).map(row).collect::<String>())
}

#[test]
fn cells_without_a_value_are_filled_and_told_of() {
    let here = here();
    let number_or = |text: &'static str| {
        move |i: usize| {
            if i % 9 == 4 {
                text.to_owned()
            } else {
                format!("{}", noise(i))
            }
        }
    };
    for (text, says) in [
        ("", vec!["missing: 7 of 60 rows; v (7) filled with means"]),
        (
            ".",
            vec![
                "v (7) filled with means",
                "counted as missing: \".\" (7) in v",
            ],
        ),
        ("N.A.", vec!["counted as missing: \"N.A.\" (7) in v"]),
        ("-", vec!["\"-\" (7)"]),
        ("#NV", vec!["\"#NV\" (7)"]),
        ("NaN", vec!["v (7) filled with means"]),
        ("None", vec!["v (7) filled with means"]),
    ] {
        fs::write(here.path().join("t.csv"), table(60, number_or(text))).expect("writes");
        let run = bochner(here.path(), FIT, &[]).ok();
        assert!(
            says.iter().all(|part| run.stderr.contains(part)),
            "{text:?}: {run:?}"
        );
        assert_eq!(number(&run.json(), "columns"), 2.0, "{text:?}");
        let again = bochner(here.path(), "predict m t.csv -o p.csv --device cpu", &[]).ok();
        assert!(!again.stderr.contains("filled"), "{text:?}: {again:?}");
        let strict = format!("{FIT} --missing error -q");
        bochner(here.path(), &strict, &[]).fails(&["line 6, column \"v\"", "--missing indicator"]);
    }
    let kind = |i: usize| ["Bern", "Basel", ""][i % 3].to_owned();
    fs::write(here.path().join("t.csv"), table(60, kind)).expect("writes");
    let run = bochner(here.path(), FIT, &[]).ok();
    assert!(
        run.stderr
            .contains("v (20) filled with shares of categories"),
        "{run:?}"
    );
    // Among texts a dash is a category.
    let kind = |i: usize| ["Bern", "Basel", "-"][i % 3].to_owned();
    fs::write(here.path().join("t.csv"), table(60, kind)).expect("writes");
    let run = bochner(here.path(), FIT, &[]).ok();
    assert!(!run.stderr.contains("missing"), "{run:?}");
    assert_eq!(number(&run.json(), "columns"), 4.0);
}

/// The choice does not depend on the order of the rows.
#[test]
fn gaps_that_tell_of_the_target_are_a_column() {
    let here = here();
    let rows = |tell: bool| -> Vec<String> {
        let row = |i: usize| {
            let is_gap = i % 5 == 2;
            let y = noise(i) + if is_gap && tell { 0.5 } else { 0.0 };
            let kind = if i % 7 == 3 { "" } else { ["a", "b"][i % 2] };
            match is_gap {
                true => format!(",{kind},{y}\n"),
                false => format!("{},{kind},{y}\n", noise(3 * i + 1)),
            }
        };
        (0..300).map(row).collect()
    };
    for tell in [true, false] {
        let mut all = rows(tell);
        for _ in 0..2 {
            fs::write(
                here.path().join("t.csv"),
                format!("v,kind,y\n{}", all.concat()),
            )
            .expect("writes");
            let run = bochner(here.path(), FIT, &[]).ok();
            let says = "indicator columns for v, as their missing values predict the target";
            assert_eq!(run.stderr.contains(says), tell, "{run:?}");
            assert_eq!(
                number(&run.json(), "columns"),
                3.0 + f64::from(u8::from(tell))
            );
            all.sort();
        }
    }
}

#[test]
fn models_fill_gaps_that_their_fit_had_none_of() {
    let here = here();
    let at = |name: &str| here.path().join(name);
    for kind in [false, true] {
        let cell = |i: usize| {
            if kind {
                ["a", "b"][i % 2].to_owned()
            } else {
                noise(i).to_string()
            }
        };
        fs::write(at("t.csv"), table(80, cell)).expect("writes");
        bochner(here.path(), &format!("{FIT} -q"), &[]).ok();
        let b: f64 = (0..80).map(|i| noise(3 * i + 1)).sum::<f64>() / 80.0;
        let v = cell(0);
        let gaps = format!("v,b\n{v},\n{v},NA\n{v},-\n{v},{b}\n");
        fs::write(at("new.csv"), gaps).expect("writes");
        let run = bochner(here.path(), "predict m new.csv -o p.csv --device cpu", &[]).ok();
        let says = "line 2, column \"b\": is empty, and no training row misses a value here";
        assert_eq!(run.stderr.matches(says).count(), 1, "{run:?}");
        let text = fs::read_to_string(at("p.csv")).expect("reads");
        let values: Vec<f64> = text
            .lines()
            .skip(1)
            .map(|line| line.parse().expect("a number"))
            .collect();
        assert!(
            values.iter().all(|v| (v - values[3]).abs() < 1e-5),
            "{values:?}"
        );
        // The rows of --test-input are filled, too.
        fs::write(at("test.csv"), format!("v,b,y\n{v},,0.5\n{v},0.3,0.5\n")).expect("writes");
        bochner(here.path(), &format!("{FIT} --test-input test.csv"), &[]).ok();
        bochner(here.path(), &format!("{FIT} --missing error -q"), &[]).ok();
        bochner(here.path(), "predict m new.csv -o p.csv --device cpu", &[])
            .fails(&["line 2", "is empty"]);
    }
}

#[test]
fn rows_without_a_target_are_named_and_left_out() {
    let here = here();
    for gap in ["", "NA", ".", "-"] {
        let row = |i: usize| match i % 10 {
            3 => format!("{},{gap}\n", noise(i)),
            _ => format!("{},{}\n", noise(i), noise(5 * i + 2)),
        };
        let rows: String = (0..60).map(row).collect();
        fs::write(here.path().join("t.csv"), format!("a,y\n{rows}")).expect("writes");
        let run = bochner(here.path(), &format!("{FIT} -q"), &[]);
        run.fails(&["line 5, column \"y\"", "--drop-rows-without-target"]);
        let run = bochner(
            here.path(),
            &format!("{FIT} --drop-rows-without-target"),
            &[],
        )
        .ok();
        assert!(
            run.stderr.contains("6 rows without a target left out"),
            "{gap:?}: {run:?}"
        );
        assert_eq!(number(&run.json(), "rows"), 54.0, "{gap:?}");
    }
}

#[test]
fn columns_of_numbers_and_texts_are_kinds_or_slips() {
    let here = here();
    let code = |i: usize| match i % 40 {
        7 => "136A".to_owned(),
        k => (100 + k).to_string(),
    };
    let few = |i: usize| ["0", "1", "2", "3+"][i % 4].to_owned();
    let title = |i: usize| {
        if i % 30 == 2 {
            "1941".to_owned()
        } else {
            format!("title {}", i % 17)
        }
    };
    let slip = |i: usize| {
        if i == 70 {
            "12o".to_owned()
        } else {
            (i * 7 % 113).to_string()
        }
    };
    let word = |i: usize| {
        if i % 50 == 9 {
            "some".to_owned()
        } else {
            (i * 7 % 113).to_string()
        }
    };
    let fraction = |i: usize| {
        if i % 50 == 9 {
            "7b".to_owned()
        } else {
            format!("{}.5", i % 9)
        }
    };
    let limit = |i: usize| {
        if i % 20 == 9 {
            "<5".to_owned()
        } else {
            (i * 7 % 83).to_string()
        }
    };
    type Cell<'a> = &'a dyn Fn(usize) -> String;
    for (cell, says) in [
        (
            &code as Cell<'_>,
            "line 9, column \"v\": \"136A\" among numbers: the column is read as categories",
        ),
        (
            &few,
            "line 5, column \"v\": \"3+\" among numbers: the column",
        ),
        (
            &title,
            "line 4, column \"v\": \"1941\" among texts: the column",
        ),
    ] {
        fs::write(here.path().join("t.csv"), table(240, cell)).expect("writes");
        let run = bochner(here.path(), FIT, &[]).ok();
        assert!(run.stderr.contains(says), "{run:?}");
        bochner(here.path(), "predict m t.csv -o p.csv --device cpu", &[]).ok();
    }
    for (cell, says) in [
        (
            &slip as Cell<'_>,
            ["line 72, column \"v\"", "\"12o\" among numbers"],
        ),
        (&word, ["line 11, column \"v\"", "\"some\" among numbers"]),
        (&fraction, ["line 11, column \"v\"", "\"7b\" among numbers"]),
        (&limit, ["line 11, column \"v\"", "\"<5\" among numbers"]),
    ] {
        fs::write(here.path().join("t.csv"), table(240, cell)).expect("writes");
        let run = bochner(here.path(), &format!("{FIT} -q"), &[]);
        assert!(
            run.stderr.contains("--categorical v") || run.stderr.contains("--na"),
            "{run:?}"
        );
        run.fails(&says);
    }
}

#[test]
fn targets_of_numbers_and_texts_are_classes_or_slips() {
    let here = here();
    let fit = "fit t.csv --target y --features 20 --device cpu --json -o m";
    let write = |cell: &dyn Fn(usize) -> String| {
        let row = |i: usize| format!("{},{}\n", noise(i), cell(i));
        let rows: String = (0..120).map(row).collect();
        fs::write(here.path().join("t.csv"), format!("a,y\n{rows}")).expect("writes");
    };
    write(&|i| ["110", "170", "170+"][i % 3].to_owned());
    let run = bochner(here.path(), fit, &[]).ok();
    let says = "line 4, column \"y\": \"170+\" among numbers: the column is read as classes";
    assert!(run.stderr.contains(says), "{run:?}");
    assert_eq!(
        run.json()["classes"],
        serde_json::json!(["110", "170", "170+"])
    );
    write(&|i| {
        if i == 50 {
            "1o".to_owned()
        } else {
            (i * 7).to_string()
        }
    });
    bochner(here.path(), fit, &[]).fails(&["line 52, column \"y\"", "\"1o\" among numbers"]);
}
