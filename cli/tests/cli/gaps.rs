//! `--nan drop`.

use crate::{bochner, here, le, npy, number};
use std::{fs, path::Path};

const ROWS: usize = 60;

fn is_bad(row: usize) -> bool {
    row % 7 == 3 || row == ROWS - 1 || (20..30).contains(&row)
}

/// Two columns and a target, with and without rows that miss something.
fn tables(folder: &Path, label: impl Fn(usize) -> String) {
    let row = |i: usize| format!("{},{},{}\n", i % 5, i % 11, label(i));
    let with: String = (0..ROWS)
        .map(|i| {
            if !is_bad(i) {
                row(i)
            } else if i % 2 == 0 {
                format!(",{},{}\n", i % 11, label(i))
            } else {
                format!("{},nan,{}\n", i % 5, label(i))
            }
        })
        .collect();
    let without: String = (0..ROWS).filter(|&i| !is_bad(i)).map(row).collect();
    fs::write(folder.join("gaps.csv"), format!("a,b,y\n{with}")).expect("written");
    fs::write(folder.join("clean.csv"), format!("a,b,y\n{without}")).expect("written");
}

/// A column of codes with gaps of its own is left out of the fit: rows held out are others than
/// those of the fit all the same, so that noise is not predicted.
#[test]
fn rows_held_out_are_not_those_of_the_fit() {
    let here = here();
    let noise = |i: usize| (i * 7919 % 1009) as f64 / 1009.0;
    let line = |i: usize| match i % 5 {
        0 => format!(
            ",{},{}
",
            noise(i),
            noise(3 * i + 1)
        ),
        _ => format!(
            "c{i:03},{},{}
",
            noise(i),
            noise(3 * i + 1)
        ),
    };
    let text: String = (0..200).map(line).collect();
    fs::write(
        here.path().join("t.csv"),
        format!(
            "code,a,y
{text}"
        ),
    )
    .expect("written");
    let fit = "fit t.csv --target y --nan drop --test 0.4 --device cpu --json";
    let report = bochner(here.path(), fit, &[]).json();
    let rows = number(&report, "rows") + number(&report, "test_rows");
    assert_eq!(rows, 160.0);
}

#[test]
fn rows_that_miss_something_are_left_out_and_keep_their_places() {
    let here = here();
    let at = |name: &str| here.path().join(name);
    let run = |arguments: &str| bochner(here.path(), arguments, &["--device", "cpu"]);
    let bad = (0..ROWS).filter(|&i| is_bad(i)).count();
    for text in [false, true] {
        tables(here.path(), |i| {
            if text {
                ["low", "high"][i % 5 / 3].to_owned()
            } else {
                format!("{}.5", i % 5 + i % 11)
            }
        });
        let fit = "--target y --features 20 --sigma 3 --standardize=no --lambda 1e-3 --json";
        let gaps = run(&format!("fit gaps.csv --nan drop -o g.model {fit}")).json();
        let clean = run(&format!("fit clean.csv -o c.model {fit}")).json();
        assert_eq!(number(&gaps, "rows_dropped"), bad as f64);
        assert_eq!(gaps["rows"], clean["rows"]);
        let scores = run("evaluate g.model gaps.csv --target y --nan drop --json").json();
        let own = run("evaluate c.model clean.csv --target y --json").json();
        let score = if text { "accuracy" } else { "rmse" };
        assert_eq!(scores[score], own[score]);
        assert_eq!(number(&scores, "rows_dropped"), bad as f64);
        let predict = "predict g.model gaps.csv --nan drop --json -o p.csv";
        assert_eq!(number(&run(predict).json(), "rows_dropped"), bad as f64);
        run("predict c.model clean.csv -o q.csv").ok();
        let lines = |name: &str| -> Vec<String> {
            let text = fs::read_to_string(at(name)).expect("written");
            text.lines().skip(1).map(str::to_owned).collect()
        };
        let (own, mut clean) = (lines("p.csv"), lines("q.csv").into_iter());
        assert_eq!(own.len(), ROWS);
        for (i, line) in own.iter().enumerate() {
            match (is_bad(i), text) {
                (true, true) => assert_eq!(line, "\"\""),
                (true, false) => assert_eq!(line, "NaN"),
                (false, _) => assert_eq!(Some(line), clean.next().as_ref(), "row {i}"),
            }
        }
        run("fit gaps.csv --target y --missing error").fails(&["line "]);
    }
    let kept = "predict g.model gaps.csv --nan drop -o p.csv --checkpoint kept";
    run(kept).fails(&["--nan drop", "--checkpoint"]);
    for sums in [
        "--checkpoint kept -o s.model",
        "--shard 1/2 --partial s.part",
    ] {
        let fit = format!("fit gaps.csv --target y --nan drop --features 8 {sums}");
        run(&fit).fails(&["--nan drop", "--checkpoint and --shard"]);
    }
}

#[test]
fn features_of_arrays_keep_the_places_of_their_rows() {
    let here = here();
    let at = |name: &str| here.path().join(name);
    let run = |arguments: &str| bochner(here.path(), arguments, &["--device", "cpu"]);
    let values: Vec<f64> = (0..2 * ROWS)
        .map(|k| {
            if is_bad(k / 2) && k % 2 == 1 {
                f64::NAN
            } else {
                (k % 13) as f64
            }
        })
        .collect();
    npy(
        at("x.npy"),
        "<f8",
        false,
        &format!("({ROWS}, 2)"),
        &le(&values),
    );
    let report = run("featurize x.npy --features 4 --nan drop -o z.f32 --json").json();
    assert_eq!(report["shape"], serde_json::json!([ROWS, 4]));
    let bytes = fs::read(at("z.f32")).expect("written");
    let z = bytes
        .chunks(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    for (k, z) in z.enumerate() {
        assert_eq!(z.is_nan(), is_bad(k / 4), "row {}", k / 4);
    }
    run("featurize x.npy --features 4 -o z.npy").fails(&["row 3", "NaN"]);
    fs::write(at("x.libsvm"), "1 1:2\n2 1:3\n").expect("written");
    run("fit x.libsvm --nan drop").fails(&[".libsvm", "left out"]);
}
