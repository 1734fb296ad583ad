//! `--leaves`: trees with a model in each leaf.

use crate::{bochner, digits, here, number};
use std::{fmt::Write, path::Path};

/// y is a slow wave of b where b < 0, a fast one elsewhere; `kind` says which in words.
fn table(here: &Path) {
    let mut text = String::from("a,b,kind,y\n");
    for i in 0..2000_u32 {
        let of = |k: u32| f64::from(i.wrapping_mul(k) % 1999) / 1000.0 - 1.0;
        let (a, b) = (of(7919), of(104_729));
        let (kind, y) = if b < 0.0 {
            ("slow", (3.0 * b).sin())
        } else {
            ("fast", (30.0 * b).sin())
        };
        writeln!(text, "{a},{b},{kind},{y}").expect("a string");
    }
    std::fs::write(here.join("t.csv"), text).expect("writes");
    let kinds: String = text_without_y(here);
    std::fs::write(here.join("kinds.csv"), kinds).expect("writes");
}

/// The columns a, b and kind.
fn text_without_y(here: &Path) -> String {
    let text = std::fs::read_to_string(here.join("t.csv")).expect("reads");
    let lines = text.lines().filter_map(|line| line.rsplit_once(','));
    lines.map(|(kept, _)| format!("{kept}\n")).collect()
}

/// One command parts, fits and scores; what it wrote predicts the same, whatever the memory.
#[test]
fn leaves_are_fitted_scored_and_kept() {
    let here = here();
    table(here.path());
    let fit = "fit t.csv --target y --categorical kind --features 60 --device cpu --json";
    let leaves = format!("{fit} --auto --leaves 300 --test 0.3");
    let run = |arguments: &str| bochner(here.path(), arguments, &[]).json();
    let report = run(&format!("{leaves} -o a.model"));
    assert!(number(&report, "leaves") >= 3.0, "{report}");
    assert!(number(&report, "leaf_rows_most") <= 300.0, "{report}");
    assert!(number(&report, "depth") >= 2.0, "{report}");
    assert!(number(&report, "held_out_error") < 0.3, "{report}");
    assert_eq!(report["map_name"], "leaves", "{report}");
    let first = &report["metric"]["importance"][0];
    assert_eq!(first["column"], "b", "{report}");
    assert!(number(first, "importance") > 0.5, "{report}");
    let error = number(&report, "relative_error");
    // Of columns that go along no curves, which would be right in most places, too.
    let alone = "--auto --bag 1 --beside none --standardize=yes";
    let one = run(&format!("{fit} {alone} --test 0.3"));
    assert!(
        error < 0.2 * number(&one, "relative_error"),
        "{error} {one}"
    );
    run(&format!("{leaves} -o b.model --memory 1MiB"));
    let read = |name: &str| std::fs::read(here.path().join(name)).expect("a model");
    assert!(read("a.model") == read("b.model"));
    let scored = run("evaluate a.model t.csv --target y --device cpu --json");
    assert!(number(&scored, "relative_error") < error, "{scored}");
    bochner(
        here.path(),
        "predict a.model t.csv --target y -o p.csv",
        &[],
    )
    .ok();
    let predicted = std::fs::read_to_string(here.path().join("p.csv")).expect("reads");
    assert_eq!(predicted.lines().count(), 2001);
    // Labels that are words, with a map and a penalty that are given.
    let words = "fit kinds.csv --target kind --features 80 --lambda 1e-5 --leaves 600 -o k.model";
    let report = run(&format!("{words} --device cpu --json"));
    // The slow half is of one kind, and a leaf as it is.
    assert_eq!(number(&report, "leaves"), 3.0, "{report}");
    assert_eq!(number(&report, "leaf_rows_most"), 1000.0, "{report}");
    assert!(report.get("held_out_error").is_none(), "{report}");
    bochner(
        here.path(),
        "predict k.model kinds.csv --target kind -o k.csv",
        &[],
    )
    .ok();
    let predicted = std::fs::read_to_string(here.path().join("k.csv")).expect("reads");
    let slow = predicted
        .lines()
        .filter(|line| line.trim_matches('"') == "slow")
        .count();
    assert!((950..1050).contains(&slow), "{slow}");
}

#[test]
fn what_does_not_go_with_leaves_is_refused_in_a_line() {
    let here = here();
    let fit = format!(
        "fit {} --target label --leaves 500 --features 100",
        digits()
    );
    for (options, fragment) in [
        ("--model logistic", "--model ridge"),
        ("--checkpoint kept", "--checkpoint"),
        ("--shard 1/2 --partial p", "--shard"),
        ("--calibrate 0.2", "--calibrate"),
        ("--probabilities", "--probabilities"),
        ("--auto --budget 5", "--budget"),
        ("--metric-from m.model", "--metric-from"),
        ("--map binning", "gradients"),
        ("--auto --solver dual", "--solver"),
    ] {
        let run = bochner(here.path(), &format!("{fit} {options}"), &[]);
        assert_eq!(run.code, Some(2), "{options}: {run:?}");
        assert!(run.stderr.contains(fragment), "{options}: {run:?}");
        assert_eq!(run.stderr.trim_end().lines().count(), 1, "{run:?}");
    }
    let by_rows = fit.replace("--features 100", "--features rudi-rosasco");
    let run = bochner(here.path(), &by_rows, &[]);
    assert!(
        run.code == Some(2) && run.stderr.contains("each leaf"),
        "{run:?}"
    );
    let few = fit.replace("--leaves 500", "--leaves 20");
    let run = bochner(here.path(), &few, &[]);
    assert!(
        run.code != Some(0) && run.stderr.contains("100 at least"),
        "{run:?}"
    );
    bochner(here.path(), &format!("{fit} -o d.model"), &[]).ok();
    let run = bochner(here.path(), "export d.model -o d.onnx", &[]);
    assert!(
        run.code != Some(0) && run.stderr.contains("formula"),
        "{run:?}"
    );
}
