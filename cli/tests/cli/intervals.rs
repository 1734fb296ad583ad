//! Predictions between bounds: Gaussian processes and calibrated regressions.

use crate::{bochner, here, number};
use bochner::{
    data::CsvWriter,
    seed::{Seed, Stream},
};
use ndarray::Array2;
use std::path::Path;

/// A .csv of a wave with noise of deviation 0.2 in `rows` rows.
fn wave(path: &Path, rows: usize, seed: u64) {
    let mut draws = Seed(seed).stream(Stream::Data, 0);
    let mut all = Array2::zeros((rows, 2));
    for mut row in all.rows_mut() {
        row[0] = 10.0 * draws.uniform();
        row[1] = row[0].sin() + 0.2 * draws.normal();
    }
    let mut file = CsvWriter::create(path, &["x", "y"]).expect("creates");
    file.write_rows(all.view()).expect("writes");
    file.finish().expect("finishes");
}

#[test]
fn a_model_predicts_between_bounds() {
    let here = here();
    wave(&here.path().join("train.csv"), 500, 1);
    wave(&here.path().join("new.csv"), 400, 2);
    for (how, lambda) in [
        ("--model gaussian-process", ""),
        ("--calibrate 0.3 --lambda", "1e-4"),
    ] {
        let fit = format!(
            "fit train.csv --target y --features 100 --task regression --device cpu --json \
             --test-input new.csv -o m.model {how}"
        );
        let lambda: &[&str] = if lambda.is_empty() { &[] } else { &[lambda] };
        let report = bochner(here.path(), &fit, lambda).json();
        let coverage = number(&report, "interval_coverage");
        assert!((coverage - 0.9).abs() < 0.05, "{how}: {report}");
        // 3.29 deviations of 0.2.
        let width = number(&report, "interval_width");
        assert!((0.55..0.85).contains(&width), "{how}: {report}");
        if how.contains("calibrate") {
            assert!((130.0..170.0).contains(&number(&report, "calibration_rows")));
        } else {
            let noise = number(&report, "noise_deviation");
            assert!((noise / 0.2 - 1.0).abs() < 0.15, "{report}");
        }
        let predict = "predict m.model new.csv --target y --device cpu -q -o p.csv --interval";
        bochner(here.path(), predict, &["0.9"]).ok();
        let text = std::fs::read_to_string(here.path().join("p.csv")).expect("is there");
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("prediction,lower,upper"));
        let rows: Vec<Vec<f64>> = lines
            .map(|line| {
                line.split(',')
                    .map(|v| v.parse().expect("a number"))
                    .collect()
            })
            .collect();
        assert_eq!(rows.len(), 400);
        for row in rows {
            assert!(row[1] < row[0] && row[0] < row[2], "{row:?}");
        }
    }
}

/// Every regression has intervals that hold what they promise on rows that nothing has seen.
#[test]
fn every_regression_is_calibrated() {
    let here = here();
    wave(&here.path().join("train.csv"), 600, 3);
    wave(&here.path().join("new.csv"), 600, 4);
    for model in [
        "ridge",
        "kernel-ridge",
        "falkon --landmarks 60",
        "greedy",
        "boosting",
        "gaussian-process",
        "svr",
        "svr --loss huber --epsilon 0.1",
        "lasso",
    ] {
        let features = if model.contains("kernel") || model.contains("falkon") {
            ""
        } else {
            "--features 60"
        };
        let fit = format!(
            "fit train.csv --target y {features} --task regression --device cpu --json \
             --test-input new.csv --calibrate 0.4 -o m.model --model {model}"
        );
        let report = bochner(here.path(), &fit, &[]).json();
        let coverage = number(&report, "interval_coverage");
        // 240 rows calibrate and 600 are counted: one deviation is .023.
        assert!((coverage - 0.9).abs() < 0.08, "{model}: {report}");
        let width = number(&report, "interval_width");
        assert!((0.5..0.95).contains(&width), "{model}: {report}");
    }
}

#[test]
fn what_has_no_intervals_says_what_to_do() {
    let here = here();
    wave(&here.path().join("a.csv"), 60, 1);
    let fit = "fit a.csv --target y --features 20 --model lasso --device cpu -q -o m.model";
    bochner(here.path(), fit, &[]).ok();
    let predict = "predict m.model a.csv --target y --device cpu -q -o p.csv --interval 0.9";
    bochner(here.path(), predict, &[]).fails(&["no intervals", "--calibrate 0.2"]);
    assert!(!here.path().join("p.csv").exists());
    let process = "fit a.csv --target y --device cpu --model gaussian-process";
    let labels = format!("{process} --task classification");
    bochner(here.path(), &labels, &[]).fails(&["--task classification", "amounts"]);
    let binning = format!("{process} --map binning --kernel laplacian");
    bochner(here.path(), &binning, &[]).fails(&["gaussian-process", "--map"]);
    bochner(here.path(), "fit a.csv --target y --noise 0.1", &[])
        .fails(&["--noise", "gaussian-process"]);
    let labelled = "fit a.csv --target y --task classification --calibrate 0.2 --device cpu";
    bochner(here.path(), labelled, &[]).fails(&["--calibrate is for regressions"]);
}
