//! What stands beside predictions: columns of the input, scores, and stdout in the place of a file.

use crate::{bochner, here};
use ndarray::{Array1, Array2};
use ndarray_npy::read_npy;
use std::{fs, path::Path};

/// Names, some in need of quotes, an amount of one column, and a label of it.
fn table(at: &Path) {
    let mut text = String::from("id,name,x,amount,label\n");
    for i in 0..120 {
        let x = f64::from(i * 37 % 120) / 40.0;
        let label = ["low", "mid", "high"][usize::from(x > 1.0) + usize::from(x > 2.0)];
        let name = if i % 50 == 3 {
            "\"a, \"\"b\"\"\""
        } else {
            "plain"
        };
        text.push_str(&format!("{i:03},{name},{x},{},{label}\n", 2.0 * x + 1.0));
    }
    fs::write(at.join("t.csv"), text).expect("writes");
}

const FIT: &str = "fit t.csv --features 40 --device cpu -q --ignore id,name";

fn read(at: &Path, file: &str) -> String {
    fs::read_to_string(at.join(file)).expect("predictions")
}

#[test]
fn columns_of_the_input_stand_before_predictions() {
    let here = here();
    let at = here.path();
    table(at);
    bochner(at, &format!("{FIT},label --target amount -o m.model"), &[]).ok();
    let predict = "predict m.model t.csv --device cpu -q";
    bochner(at, &format!("{predict} -o plain.csv"), &[]).ok();
    bochner(at, &format!("{predict} -o kept.csv --keep name,id"), &[]).ok();
    let (plain, kept) = (read(at, "plain.csv"), read(at, "kept.csv"));
    assert_eq!(kept.lines().count(), 121);
    assert_eq!(kept.lines().next(), Some("name,id,prediction"));
    for (i, (kept, plain)) in kept.lines().zip(plain.lines()).enumerate().skip(1) {
        let name = match (i - 1) % 50 {
            3 => "\"a, \"\"b\"\"\"",
            _ => "plain",
        };
        assert_eq!(kept, format!("{name},{:03},{plain}", i - 1));
    }
    // In small chunks, and over two files, rows stay beside their predictions.
    bochner(
        at,
        &format!("{predict} -o small.csv --keep name,id --memory 2000000"),
        &[],
    )
    .ok();
    assert_eq!(read(at, "small.csv"), kept);
    let text = read(at, "t.csv");
    let lines: Vec<&str> = text.lines().collect();
    fs::create_dir(at.join("parts")).expect("a folder");
    fs::write(at.join("parts/1.csv"), lines[..51].join("\n")).expect("writes");
    let second = [&lines[..1], &lines[51..]].concat().join("\n");
    fs::write(at.join("parts/2.csv"), second).expect("writes");
    let parts = "predict m.model parts -o parts.csv --keep name,id --device cpu -q";
    bochner(at, parts, &[]).ok();
    assert_eq!(read(at, "parts.csv"), kept);
    // A row that is left out keeps its own.
    fs::write(
        at.join("t.csv"),
        text.replacen("004,plain,0.7,", "004,plain,nan,", 1),
    )
    .expect("writes");
    bochner(
        at,
        &format!("{predict} -o gap.csv --keep id --nan drop"),
        &[],
    )
    .ok();
    let gap = read(at, "gap.csv");
    let lines: Vec<&str> = gap.lines().collect();
    assert_eq!((lines.len(), lines[5]), (121, "004,NaN"));
    assert!(
        lines[6].starts_with("005,") && !lines[6].contains("NaN"),
        "{}",
        lines[6]
    );

    for (options, says) in [
        (
            "-o p.csv --keep nothing",
            "has no column \"nothing\" to keep",
        ),
        ("-o p.npy --keep id", "--keep is for a .csv"),
        (
            "-o p.csv --keep id --checkpoint c",
            "--keep does not go with --checkpoint",
        ),
        ("-o - --checkpoint c", "--checkpoint keeps what is written"),
        (
            "-o - --probabilities /dev/stdout",
            "would both go to stdout",
        ),
        ("-o p.csv --scores", "what this one predicts are its scores"),
    ] {
        bochner(at, &format!("{predict} {options}"), &[]).fails(&[says]);
    }
}

#[test]
fn predictions_go_to_stdout() {
    let here = here();
    let at = here.path();
    table(at);
    let predict = "predict m.model t.csv --device cpu";
    for target in ["amount", "label"] {
        let (other, probabilities) = match target {
            "label" => ("amount", "--probabilities"),
            _ => ("label", ""),
        };
        let fit = format!("{FIT},{other} --target {target} -o m.model {probabilities}");
        bochner(at, &fit, &[]).ok();
        bochner(at, &format!("{predict} -o p.csv -q"), &[]).ok();
        let quiet = bochner(at, &format!("{predict} -o - -q"), &[]).ok();
        assert_eq!(
            (quiet.stdout, quiet.stderr),
            (read(at, "p.csv"), String::new())
        );
        let told = bochner(at, &format!("{predict} -o - --json"), &[]).ok();
        assert_eq!(told.stdout, read(at, "p.csv"));
        assert!(told.stderr.contains("\"rows\":120"), "{}", told.stderr);
        assert!(!at.join("-").exists());
    }
    // The model of labels has probabilities, which are as good a stream.
    bochner(
        at,
        &format!("{predict} -o p.csv --probabilities q.csv -q"),
        &[],
    )
    .ok();
    let told = bochner(
        at,
        &format!("{predict} -o p.csv --probabilities - --json"),
        &[],
    )
    .ok();
    assert_eq!(told.stdout, read(at, "q.csv"));
    assert!(told.stderr.contains("\"rows\":120"), "{}", told.stderr);
}

/// The largest score is that of the label, and of one-class models the sign is.
#[test]
fn scores_are_what_labels_are_made_of() {
    let here = here();
    let at = here.path();
    table(at);
    bochner(at, &format!("{FIT},amount --target label -o m.model"), &[]).ok();
    let predict = "predict m.model t.csv --device cpu -q";
    bochner(at, &format!("{predict} -o s.csv --scores"), &[]).ok();
    bochner(at, &format!("{predict} -o p.csv"), &[]).ok();
    let scores = read(at, "s.csv");
    let names: Vec<&str> = scores.lines().next().expect("names").split(',').collect();
    assert_eq!(names, ["high", "low", "mid"]);
    for (scores, label) in scores.lines().zip(read(at, "p.csv").lines()).skip(1) {
        let scores = scores
            .split(',')
            .map(|s| s.parse::<f64>().expect("a score"));
        let (best, _) = scores
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .expect("three");
        assert_eq!(format!("\"{}\"", names[best]), label);
    }
    let fit = "fit t.csv --columns x --model one-class --features 40 --device cpu -q -o m.model";
    bochner(at, fit, &[]).ok();
    bochner(at, &format!("{predict} -o s.npy --scores"), &[]).ok();
    bochner(at, &format!("{predict} -o p.npy"), &[]).ok();
    let scores: Array2<f64> = read_npy(at.join("s.npy")).expect("scores");
    let labels: Array1<f64> = read_npy(at.join("p.npy")).expect("labels");
    // The classes are -1 and 1.
    let scores = scores.column(1);
    assert!(scores.iter().any(|&s| s < 0.0) && scores.iter().any(|&s| s > 0.0));
    assert_eq!(scores.mapv(f64::signum), labels);
}
