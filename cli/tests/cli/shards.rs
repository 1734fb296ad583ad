//! Sums of shards become the model of all rows.

use crate::{bochner, here, number};
use std::{fmt::Write, path::Path};

/// Rows of two waves with a target and a label.
fn data(folder: &Path, rows: usize) {
    let mut text = String::from("a,b,y,label\n");
    for i in 0..rows {
        let (a, b) = ((i * 37 % 101) as f64 / 20.0, (i * 61 % 97) as f64 / 30.0);
        let label = u8::from(a.sin() + b > 1.5) + u8::from(b > 2.0);
        let y = a.sin() + 0.5 * b + (i % 7) as f64 / 50.0;
        writeln!(text, "{a},{b},{y},{label}").expect("writes");
    }
    std::fs::write(folder.join("x.csv"), text).expect("writes");
}

fn predictions(folder: &Path, model: &str, with: &str) -> Vec<f64> {
    let arguments =
        format!("predict {model} x.csv --target y,label -o p.csv -q --device cpu {with}");
    bochner(folder, &arguments, &[]).ok();
    let text = std::fs::read_to_string(folder.join("p.csv")).expect("reads");
    let numbers = text.lines().skip(1).flat_map(|line| line.split(','));
    numbers
        .map(|field| field.parse().expect("a number"))
        .collect()
}

/// Sums shards, and merges them in the order of the files and in another.
fn merged(folder: &Path, fit: &str, count: usize) {
    let mut files: Vec<_> = (1..=count).map(|i| format!("{i}.sums")).collect();
    for (i, file) in files.iter().enumerate() {
        let shard = format!("{}/{count}", i + 1);
        bochner(folder, fit, &["--shard", &shard, "--partial", file]).ok();
    }
    for model in ["merged", "again"] {
        let words: Vec<&str> = files.iter().map(String::as_str).collect();
        let merge = format!("merge -q --device cpu --json -o {model}");
        let report = bochner(folder, &merge, &words).json();
        assert_eq!(number(&report, "shards"), count as f64);
        files.reverse();
        files.rotate_left(1);
    }
    let bytes = |name: &str| std::fs::read(folder.join(name)).expect("reads");
    assert_eq!(bytes("merged"), bytes("again"), "{fit}: whatever the order");
}

#[test]
fn shards_merge_to_the_model_of_one_process() {
    let here = here();
    let folder = here.path();
    data(folder, 700);
    for (learner, count, with) in [
        ("--target y --ignore label --lambda 1e-3", 3, ""),
        // The penalty is chosen by rows that are kept beside the sums.
        ("--target y --ignore label", 3, ""),
        // Rows of the survey bring amounts back.
        (
            "--target y --ignore label --target-scale rank --lambda 1e-2",
            3,
            "",
        ),
        (
            "--target y --ignore label --lambda 1e-3 --no-intercept",
            1,
            "",
        ),
        ("--target label --ignore y --lambda 1e-3", 2, ""),
        // Each shard counts from the newest of all rows.
        (
            "--target y --ignore label --lambda 1e-3 --half-life 200",
            3,
            "",
        ),
        (
            "--target y --ignore label --model gaussian-process --noise 0.5 --signal 1",
            3,
            "--interval 0.9",
        ),
        (
            "--target y --ignore label --model greedy --steps 9 --held-out 0.2",
            3,
            "",
        ),
        (
            "--target y --ignore label --model boosting --steps 20 --lambda 1e-2",
            2,
            "",
        ),
        ("--ignore y,label --model density", 4, ""),
        ("--ignore y,label --model pca --components 2", 3, ""),
    ] {
        // A small penalty, which is chosen here, lets the rounding of sums through.
        let chooses = !learner.contains("--lambda") && learner.contains("--target");
        let chooses = chooses && !learner.contains("--model");
        let allowed = if chooses { 1e-2 } else { 1e-6 };
        let fit = format!("fit x.csv {learner} --features 24 --gamma 0.5 -q --device cpu");
        bochner(folder, &fit, &["-o", "whole"]).ok();
        merged(folder, &fit, count);
        let (whole, merged) = (
            predictions(folder, "whole", with),
            predictions(folder, "merged", with),
        );
        let largest = whole.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let pairs = whole.iter().zip(&merged);
        let off = pairs.fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / largest;
        assert!(
            whole.len() == merged.len() && off < allowed,
            "{learner}: {off:e}"
        );
        let shown = |model| bochner(folder, "show --json", &[model]).ok().json()["lambda"].clone();
        match (shown("whole").as_f64(), shown("merged").as_f64()) {
            // Half powers of ten: where rounding decides between two, as it does among the
            // smallest, sums in another order may take the next.
            (Some(whole), Some(merged)) if chooses => {
                let apart = (whole / merged).log10().abs();
                assert!(apart < 0.51, "{learner}: {whole:e} and {merged:e}");
            }
            (whole, merged) => assert_eq!(whole, merged, "{learner}"),
        }
    }
}

/// Rows enough for every shard: not one bit of a model shows that there were some, of fixed and
/// chosen penalties, weights and several targets.
#[test]
fn shards_of_many_rows_merge_to_the_bits_of_one_process() {
    let here = here();
    let folder = here.path();
    data(folder, 41_000);
    for learner in [
        "--target y --ignore label --lambda 1e-9",
        "--target y --ignore label",
        "--target label --ignore y --weight a",
        "--target y --ignore label --half-life 9000",
        "--target y,label",
    ] {
        let fit = format!("fit x.csv {learner} --features 24 --gamma 0.5 -q --device cpu");
        bochner(folder, &fit, &["-o", "whole"]).ok();
        merged(folder, &fit, 2);
        let predicted = |model| predictions(folder, model, "");
        let (whole, merged) = (predicted("whole"), predicted("merged"));
        assert!(whole == merged, "{learner}");
    }
}

/// More shards than rows: some have none.
#[test]
fn shards_may_have_no_rows() {
    let here = here();
    data(here.path(), 6);
    let fit = "fit x.csv --target y --ignore label --features 4 --gamma 0.5 -q --device cpu \
        --lambda 1e-6";
    merged(here.path(), fit, 9);
    bochner(here.path(), fit, &["-o", "whole"]).ok();
    let of = |model| predictions(here.path(), model, "");
    let (whole, merged) = (of("whole"), of("merged"));
    let pairs = whole.iter().zip(&merged);
    assert!(
        pairs.clone().all(|(a, b)| (a - b).abs() < 1e-5),
        "{whole:?} {merged:?}"
    );
}

#[test]
fn shards_that_do_not_go_together_are_told_apart() {
    let here = here();
    let folder = here.path();
    data(folder, 200);
    let sum = |options: &str, shard: &str, file: &str| {
        let fit = "fit x.csv --target y --ignore label --gamma 0.5 -q --device cpu";
        let fit = format!("{fit} {options} --shard {shard} --partial {file}");
        bochner(folder, &fit, &[]).ok();
    };
    sum("--features 8", "1/2", "one");
    sum("--features 8", "2/2", "two");
    sum("--features 8 --lambda 1e-3", "2/2", "lambda");
    sum("--features 12", "2/2", "features");
    sum("--features 8", "2/3", "third");
    sum("--features 8 --seed 4", "2/2", "seed");
    let fails = |files: &[&str], says: &[&str]| {
        bochner(folder, "merge -o m -q", files).fails(says);
        assert!(!folder.join("m").exists());
    };
    fails(&["one"], &["shard 2/2 is missing"]);
    fails(&["one", "one", "two"], &["has shard 1/2", "once"]);
    fails(&["one", "lambda"], &["lambda: ", "--lambda is 1e-3"]);
    fails(
        &["one", "features"],
        &["--features is 8 in one and 12 in the other"],
    );
    fails(&["one", "third"], &["number of shards is 2 in one and 3"]);
    fails(&["one", "seed"], &["--seed is 4 in one and not given"]);
    fails(&["one", "x.csv"], &["x.csv: ", "not a file of bochner"]);
    fails(&["one", "missing"], &["missing: "]);
    let model = "fit x.csv --target y --ignore label --gamma 0.5 -q --features 8 -o model";
    bochner(folder, model, &[]).ok();
    fails(&["one", "model"], &["holds model, not partial"]);
    // Other data of the same shape.
    let text = std::fs::read_to_string(folder.join("x.csv")).expect("reads");
    std::fs::write(folder.join("x.csv"), text.replacen("1.8", "1.9", 1)).expect("writes");
    sum("--features 8", "2/2", "data");
    fails(&["one", "data"], &["data is 200 rows, digest "]);
    for (options, says) in [
        (
            "--model logistic --target label",
            "not for --model logistic",
        ),
        ("--target y --sigma auto", "the rows again"),
        ("--target y --lambda auto", "one penalty"),
        ("--target y --solver cg", "no other solver"),
    ] {
        let fit = format!("fit x.csv {options} -q --device cpu --shard 1/2 --partial z");
        bochner(folder, &fit, &[]).fails(&[says]);
    }
    for shard in ["0/2", "3/2", "x"] {
        let fit = format!("fit x.csv --target y --shard {shard} --partial z");
        bochner(folder, &fit, &[]).fails(&["I/N"]);
    }
}
