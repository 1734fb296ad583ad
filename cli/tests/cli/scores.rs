//! Scores of `evaluate` against those of what `predict` wrote.

use crate::{bochner, here, number};
use ndarray::Array2;
use ndarray_npy::read_npy;
use std::{fs, path::Path};

/// Numbers in [0, 1) that look drawn (SplitMix64).
fn draw(i: usize, j: usize) -> f64 {
    let mut z = ((i as u64) << 8 | j as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 * 2_f64.powi(-53)
}

#[test]
fn scores_of_amounts_are_those_of_the_predictions() {
    let here = here();
    let at = here.path();
    let target = |i: usize| {
        let (a, b) = (6.0 * draw(i, 0), draw(i, 1));
        [
            a.sin() + 0.4 * (draw(i, 2) - 0.5),
            100.0 + 30.0 * b + 9.0 * draw(i, 3),
        ]
    };
    let mut text = String::from("a,b,wave,price\n");
    for i in 0..400 {
        let [wave, price] = target(i);
        text.push_str(&format!(
            "{},{},{wave},{price}\n",
            6.0 * draw(i, 0),
            draw(i, 1)
        ));
    }
    fs::write(at.join("t.csv"), text).expect("writes");
    let run = |command: &str| bochner(at, &format!("{command} --device cpu -q"), &[]);
    run("fit t.csv --target wave,price --features 30 --lambda 0.01 -o m.model").ok();
    run("predict m.model t.csv --target wave,price -o p.npy").ok();
    let report = run("evaluate m.model t.csv --target wave,price --json").json();
    // The model knows its targets.
    let unnamed = run("evaluate m.model t.csv --json").json();
    assert_eq!(unnamed["target_scores"], report["target_scores"]);
    let p: Array2<f64> = read_npy(at.join("p.npy")).expect("predictions");
    for (j, name) in ["wave", "price"].into_iter().enumerate() {
        let scores = &report["target_scores"][j];
        assert_eq!(scores["target"], name);
        let y: Vec<f64> = (0..400).map(|i| target(i)[j]).collect();
        let mut errors: Vec<f64> = (0..400).map(|i| (p[[i, j]] - y[i]).abs()).collect();
        let squares: f64 = errors.iter().map(|e| e * e).sum();
        let mean = y.iter().sum::<f64>() / 400.0;
        let spread: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
        errors.sort_by(f64::total_cmp);
        for (key, known) in [
            ("rmse", (squares / 400.0).sqrt()),
            ("mae", errors.iter().sum::<f64>() / 400.0),
            ("median_error", (errors[199] + errors[200]) / 2.0),
            ("r2", 1.0 - squares / spread),
        ] {
            let value = number(scores, key);
            assert!(
                (value / known - 1.0).abs() < 1e-9,
                "{name} {key}: {value} and {known}"
            );
            let deviation = number(&scores["deviations"], key);
            assert!(
                deviation > 0.0 && deviation < 0.3 * known,
                "{name} {key}: {scores}"
            );
        }
    }
    // One target has its scores at the top.
    let one = "fit t.csv --target wave --ignore price --features 30 --lambda 0.01 --test 0.5";
    let fitted = run(&format!("{one} --json")).json();
    assert!(number(&fitted, "r2") > 0.8 && number(&fitted["deviations"], "mae") > 0.0);
    let said = run(one).ok().stdout;
    for part in ["rmse", "mae", "median error", "r2", " +- "] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
}

/// Rows of which one in twenty is a fraud, and hard to tell.
fn frauds(folder: &Path) -> Vec<bool> {
    let is = |i: usize| draw(i, 5) < 0.05;
    let mut text = String::from("a,b,kind\n");
    for i in 0..1500 {
        let shift = if is(i) { 0.2 } else { 0.0 };
        let kind = if is(i) { "fraud" } else { "fair" };
        text.push_str(&format!(
            "{},{},{kind}\n",
            draw(i, 0) + shift,
            draw(i, 1) - shift
        ));
    }
    fs::write(folder.join("f.csv"), text).expect("writes");
    // Names are in order: fair, fraud.
    (0..1500).map(is).collect()
}

#[test]
fn a_rare_class_is_scored_by_what_is_missed_of_it() {
    let here = here();
    let at = here.path();
    let own = frauds(at);
    let run = |command: &str| bochner(at, &format!("{command} --device cpu -q"), &[]);
    run("fit f.csv --target kind --model logistic --features 60 -o m.model").ok();
    run("predict m.model f.csv --target kind -o labels.csv --probabilities p.npy").ok();
    let p: Array2<f64> = read_npy(at.join("p.npy")).expect("probabilities");
    let report = run("evaluate m.model f.csv --target kind --json").json();
    let (mut right_pairs, mut pairs) = (0.0, 0.0);
    for i in (0..1500).filter(|i| own[*i]) {
        for j in (0..1500).filter(|j| !own[*j]) {
            pairs += 1.0;
            right_pairs += match p[[i, 1]].total_cmp(&p[[j, 1]]) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            };
        }
    }
    let mean = |f: &dyn Fn(usize) -> f64| (0..1500).map(f).sum::<f64>() / 1500.0;
    let of = |i: usize| f64::from(u8::from(own[i]));
    for (key, known) in [
        ("auc", right_pairs / pairs),
        ("brier", mean(&|i| (p[[i, 1]] - of(i)).powi(2))),
        ("log_loss", mean(&|i| -p[[i, usize::from(own[i])]].ln())),
        ("base_rate", 1.0 - mean(&of)),
    ] {
        let value = number(&report, key);
        assert!(
            (value / known - 1.0).abs() < 1e-9,
            "{key}: {value} and {known}"
        );
    }
    let frauds = &report["class_scores"][1];
    assert_eq!(frauds["class"], "fraud");
    assert_eq!(frauds["rows"], own.iter().filter(|own| **own).count());
    assert!(number(frauds, "recall") < 0.5, "{frauds}");
    let said = run("evaluate m.model f.csv --target kind").ok().stdout;
    assert!(
        said.contains("rows of fraud are missed; with --threshold "),
        "{said}"
    );

    // The threshold that it names gives the F1 that it names, there and in `predict`.
    let best = &report["best_threshold"];
    let threshold = number(best, "threshold");
    let option = format!("--threshold {threshold}");
    let again = run(&format!(
        "evaluate m.model f.csv --target kind --json {option}"
    ))
    .json();
    let again = &again["class_scores"][1];
    assert!(
        (number(again, "f1") - number(best, "f1")).abs() < 1e-12,
        "{again} {best}"
    );
    assert!(
        number(again, "f1") > number(frauds, "f1")
            && number(again, "recall") > 0.5 * number(best, "f1")
    );
    run(&format!(
        "predict m.model f.csv --target kind -o by.csv {option}"
    ))
    .ok();
    let labels = fs::read_to_string(at.join("by.csv")).expect("labels");
    let taken: Vec<bool> = labels
        .lines()
        .skip(1)
        .map(|label| label == "\"fraud\"")
        .collect();
    assert_eq!(
        taken,
        (0..1500)
            .map(|i| p[[i, 1]] >= threshold)
            .collect::<Vec<_>>()
    );
}

#[test]
fn a_threshold_is_for_probabilities_of_two_classes() {
    let here = here();
    let at = here.path();
    frauds(at);
    let run = |command: &str| bochner(at, &format!("{command} --device cpu -q"), &[]);
    run("fit f.csv --target kind --features 30 --model svm -o m.model").ok();
    run("evaluate m.model f.csv --target kind --threshold 0.2").fails(&["--probabilities"]);
    run("predict m.model f.csv --target kind --threshold 0.2 -o x.csv").fails(&["--probabilities"]);
    assert!(!at.join("x.csv").exists());
    // Scores without probabilities have an order all the same.
    let report = run("evaluate m.model f.csv --target kind --json").json();
    assert!(
        number(&report, "auc") > 0.6 && report["log_loss"].is_null(),
        "{report}"
    );
    let digits = crate::digits();
    run(&format!(
        "fit {digits} --target label --features 50 --probabilities -o d.model"
    ))
    .ok();
    let ten = format!("evaluate d.model {digits} --target label");
    run(&format!("{ten} --threshold 0.2")).fails(&["--threshold", "10"]);
    let report = run(&format!("{ten} --json")).json();
    assert_eq!(report["class_scores"].as_array().map(Vec::len), Some(10));
    assert!(number(&report, "auc") > 0.95, "{report}");
}
