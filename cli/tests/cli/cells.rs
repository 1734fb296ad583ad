//! Tables of few different rows, weights and few groups: scores and probabilities at the defaults.

use crate::{bochner, here, number};
use std::{fmt::Write as _, path::Path};

/// Uniform draws in [0, 1) by a linear congruential generator (Knuth's MMIX constants).
struct Draws(u64);

impl Draws {
    fn uniform(&mut self) -> f64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Sum of twelve uniform draws less 6, which has mean 0 and variance 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[(self.uniform() * of.len() as f64) as usize]
    }
}

/// Classifiers, all with probabilities.
const CLASSIFIERS: [&str; 6] = [
    "",
    "--model kernel-ridge --probabilities",
    "--model falkon --probabilities",
    "--model boosting --probabilities",
    "--model svm --probabilities",
    "--model logistic",
];

/// Scores of a model of `train` on `test`.
fn scores(folder: &Path, (train, test): (&str, &str), options: &str) -> serde_json::Value {
    let fit = format!("fit {train} --device cpu -q -o m {options}");
    bochner(folder, &fit, &[]).ok();
    bochner(
        folder,
        &format!("evaluate m {test} --device cpu --json"),
        &[],
    )
    .json()
}

/// Twelve cells with answers that depend on two of three columns: as rows and as frequencies.
fn survey(folder: &Path) {
    let mut draws = Draws(1);
    let mut rows = |name: &str, count: usize| {
        let mut text = String::from("v,c,s,k\n");
        let mut cells = std::collections::BTreeMap::new();
        for _ in 0..count {
            let (v, c) = (draws.pick(&["A", "B"]), draws.pick(&["de", "fr", "it"]));
            let s = draws.pick(&["m", "f"]);
            let logit = f64::from(v == "B") + 0.8 * f64::from(c == "fr") - 1.2;
            let k = if draws.uniform() < 1.0 / (1.0 + (-logit).exp()) {
                "yes"
            } else {
                "no"
            };
            let row = format!("{v},{c},{s},{k}");
            let _ = writeln!(text, "{row}");
            *cells.entry(row).or_insert(0) += 1;
        }
        std::fs::write(folder.join(name), text).expect("writes");
        cells
    };
    rows("new.csv", 2000);
    let cells = rows("rows.csv", 2000);
    for (name, unit) in [("counts.csv", 1.0), ("weights.csv", 0.125)] {
        let mut text = String::from("v,c,s,k,n\n");
        for (row, count) in &cells {
            let _ = writeln!(text, "{row},{}", f64::from(*count) * unit);
        }
        std::fs::write(folder.join(name), text).expect("writes");
    }
}

/// Every classifier ranks the answers of a survey and tells how likely they are, whether cells come
/// as rows, as counts or as weights in another unit. Leaving out all equal answers of a cell at
/// once gave an AUC of .5 and a log loss of .66.
#[test]
fn answers_in_cells_are_told_apart() {
    let folder = here();
    survey(folder.path());
    for options in CLASSIFIERS {
        let table = ("rows.csv", "new.csv");
        let rows = scores(folder.path(), table, &format!("--target k {options}"));
        let (auc, log_loss) = (number(&rows, "auc"), number(&rows, "log_loss"));
        assert!(auc > 0.63 && log_loss < 0.64, "{options}: {auc} {log_loss}");
        for table in ["counts.csv", "weights.csv"] {
            let options = format!("--target k --weight n {options}");
            let cells = scores(folder.path(), (table, "new.csv"), &options);
            let (own_auc, own_loss) = (number(&cells, "auc"), number(&cells, "log_loss"));
            assert!(
                (own_auc - auc).abs() < 0.02,
                "{table} {options}: {own_auc} {auc}"
            );
            assert!(
                (own_loss - log_loss).abs() < 0.01,
                "{table} {options}: {own_loss} {log_loss}"
            );
        }
    }
}

/// Seven days with their own means: a hold-out of whole days would choose the largest penalty, or
/// no stage at all.
#[test]
fn means_of_cells_are_found() {
    let folder = here();
    let mut draws = Draws(3);
    let mut text = String::from("day,y\n");
    for i in 0..140 {
        let day = [0.0, 0.0, 10.0, 0.0, 0.0, 40.0, 40.0][i % 7];
        let _ = writeln!(text, "{},{:.1}", i % 7, 100.0 + day + 8.0 * draws.normal());
    }
    std::fs::write(folder.path().join("days.csv"), text).expect("writes");
    for model in [
        "ridge",
        "kernel-ridge",
        "falkon",
        "boosting",
        "svr",
        "svr --loss huber",
    ] {
        let options = format!("--target y --model {model}");
        let found = scores(folder.path(), ("days.csv", "days.csv"), &options);
        let r2 = number(&found, "r2");
        assert!(r2 > 0.7, "{model}: {r2}");
    }
}

/// Mean probabilities are the weighted shares of the classes.
#[test]
fn probabilities_follow_weights() {
    let folder = here();
    let mut draws = Draws(2);
    let mut text = String::from("x,k,w\n");
    for i in 0..400 {
        let (k, w) = [("case", 1), ("control", 50)][i % 2];
        let x = draws.normal() + f64::from(u8::from(k == "case"));
        let _ = writeln!(text, "{x:.2},{k},{w}");
    }
    let path = folder.path();
    std::fs::write(path.join("w.csv"), text).expect("writes");
    for model in [
        "boosting",
        "svm",
        "kernel-ridge",
        "falkon",
        "greedy",
        "lasso",
        "ridge",
    ] {
        let options = format!("--target k --weight w --model {model} --probabilities");
        bochner(
            path,
            &format!("fit w.csv --device cpu -q -o m {options}"),
            &[],
        )
        .ok();
        let predict = "predict m w.csv --device cpu -q -o p.csv --probabilities pp.csv";
        bochner(path, predict, &[]).ok();
        let text = std::fs::read_to_string(path.join("pp.csv")).expect("reads");
        let mut lines = text.lines();
        let header = lines.next().expect("a header");
        let place = header.split(',').position(|name| name.contains("case"));
        let place = place.unwrap_or_else(|| panic!("no class in {header}"));
        let p = lines.map(|line| {
            let cell = line.split(',').nth(place).expect("a probability");
            cell.parse::<f64>().expect("a number")
        });
        let sum: f64 = p.enumerate().map(|(i, p)| p * [1.0, 50.0][i % 2]).sum();
        let mean = sum / (200.0 * 51.0);
        assert!(
            (mean * 51.0 - 1.0).abs() < 0.05,
            "{model}: {mean} for {}",
            1.0 / 51.0
        );
    }
}

/// A search of rows in many groups calibrates probabilities on held-out groups.
#[test]
fn searches_have_probabilities_for_new_groups() {
    let folder = here();
    let mut draws = Draws(6);
    for (name, first) in [("c.csv", 0), ("new.csv", 40)] {
        let mut text = String::from("a,b,clinic,k\n");
        for i in 0..800 {
            let clinic = first + i % 40;
            // The effect of a clinic is unknown for a new one.
            let effect = f64::from((clinic * 37 % 11) as u8) / 5.0 - 1.0;
            let (a, b) = (draws.normal(), draws.normal());
            let p = 1.0 / (1.0 + (-(effect + 1.5 * a - b)).exp());
            let k = if draws.uniform() < p { "p" } else { "q" };
            let _ = writeln!(text, "{a:.3},{b:.3},c{clinic},{k}");
        }
        std::fs::write(folder.path().join(name), text).expect("writes");
    }
    for options in ["", "--auto --bag 1 --beside none"] {
        let options = format!("--target k --group clinic {options}");
        let found = scores(folder.path(), ("c.csv", "new.csv"), &options);
        let (auc, log_loss) = (number(&found, "auc"), number(&found, "log_loss"));
        assert!(auc > 0.75 && log_loss < 0.6, "{options}: {auc} {log_loss}");
    }
}

/// Four sites with base rates of their own: a hold-out of one site has another base rate.
#[test]
fn probabilities_of_few_groups_are_those_of_their_rows() {
    let folder = here();
    let mut draws = Draws(5);
    for name in ["s.csv", "new.csv"] {
        let mut text = String::from("u,site,k\n");
        for i in 0..600 {
            let site = i * 7 % 4;
            let is_p = draws.uniform() < [0.02, 0.1, 0.9, 0.98][site];
            let (k, u) = if is_p { ("p", 1.0) } else { ("q", 0.0) };
            let _ = writeln!(text, "{:.3},s{site},{k}", draws.normal() + u);
        }
        std::fs::write(folder.path().join(name), text).expect("writes");
    }
    for options in CLASSIFIERS {
        let options = format!("--target k --group site {options}");
        let found = scores(folder.path(), ("s.csv", "new.csv"), &options);
        let (auc, log_loss) = (number(&found, "auc"), number(&found, "log_loss"));
        assert!(auc > 0.7 && log_loss < 0.64, "{options}: {auc} {log_loss}");
    }
}

/// The bandwidth goes by the rows that count: with all rows alike, the noise of most of them hides
/// the wave.
#[test]
fn bandwidths_follow_weights() {
    let folder = here();
    let mut draws = Draws(4);
    let mut table = |name: &str, rows: usize, noisy: usize| {
        let mut text = String::from("x,y,w\n");
        for i in 0..rows {
            let x = draws.uniform();
            let sd = if i < noisy { 10.0 } else { 0.1 };
            let y = (80.0 * x).sin() + sd * draws.normal();
            let _ = writeln!(text, "{x:.5},{y:.4},{}", 1.0 / (sd * sd));
        }
        std::fs::write(folder.path().join(name), text).expect("writes");
    };
    table("noisy.csv", 1800, 1500);
    table("new.csv", 300, 0);
    let files = ("noisy.csv", "new.csv");
    let found = scores(folder.path(), files, "--target y --weight w");
    assert!(number(&found, "r2") > 0.95, "{found}");
}

/// One rating of 2.5 makes a regression of a table; folds without it stay one.
#[test]
fn folds_keep_the_task_of_the_fit() {
    let folder = here();
    let mut draws = Draws(6);
    let mut text = String::from("x,y\n");
    for i in 0..200 {
        let stars = if i == 17 {
            2.5
        } else {
            1.0 + (5.0 * draws.uniform()).floor()
        };
        let _ = writeln!(text, "{:.3},{stars}", stars + 0.5 * draws.normal());
    }
    std::fs::write(folder.path().join("o.csv"), text).expect("writes");
    let fit = "fit o.csv --target y --cv 5 --device cpu --json";
    let report = bochner(folder.path(), fit, &[]).json();
    let folds = report["cross_validation"]["folds"]
        .as_array()
        .expect("folds");
    assert_eq!(folds.len(), 5);
    for fold in folds {
        assert!(fold["scores"]["r2"].is_number(), "{fold}");
    }
}
