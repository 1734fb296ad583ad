//! Probabilities, sets of classes and intervals by rows that fits leave out in turn.

use crate::{bochner, digits, here};
use std::fs;

/// Digits: without an option the fit has probabilities, and sets that hold the right class.
#[test]
fn a_classifier_has_probabilities_and_sets() {
    let here = here();
    let at = here.path();
    let digits = digits();
    let on = "--target label --device cpu -q";
    let fit =
        format!("fit {digits} {on} --features 300 --gamma scale --test 0.5 --json -o m.model");
    let report = bochner(at, &fit, &[]).json();
    let number = |key: &str| report[key].as_f64().expect("a number");
    assert!(
        number("log_loss") < 0.25 && number("calibration_error") < 0.06,
        "{report}"
    );
    assert!(
        number("set_coverage") > 0.9 && number("set_size") < 1.5,
        "{report}"
    );
    // Asked for or not, they are the same, and there is one fit.
    bochner(
        at,
        &fit.replace("m.model", "asked.model --probabilities"),
        &[],
    )
    .ok();
    let predict = |model: &str, how: &str| {
        let of = format!("predict {model} {digits} {on} --json -o {how}");
        bochner(at, &of, &[])
    };
    predict("m.model", "p.csv --probabilities a.csv").ok();
    predict("asked.model", "p.csv --probabilities b.csv").ok();
    let read = |name: &str| fs::read_to_string(at.join(name)).expect("is there");
    assert_eq!(read("a.csv"), read("b.csv"));

    let report = predict("m.model", "s.csv --sets 0.99 --probabilities q.csv").json();
    assert_eq!(report["set_level"], 0.99);
    let sizes: Vec<u64> = serde_json::from_value(report["set_sizes"].clone()).expect("a list");
    assert_eq!((sizes.len(), sizes[0], sizes.iter().sum()), (11, 0, 1797));
    let (sets, probabilities) = (read("s.csv"), read("q.csv"));
    let mut pairs = sets.lines().zip(probabilities.lines());
    assert_eq!(pairs.next(), Some(("set", "0,1,2,3,4,5,6,7,8,9")));
    for (set, row) in pairs {
        let p: Vec<f64> = row
            .split(',')
            .map(|p| p.parse().expect("a number"))
            .collect();
        let likeliest = (0..10).max_by(|&i, &j| p[i].total_cmp(&p[j])).expect("ten");
        let is_in = set.split('|').any(|class| class == likeliest.to_string());
        assert!(is_in, "{set} {row}");
    }
    assert!(sets.contains('|'));
    predict("m.model", "s.npy --sets 0.99").ok();
    predict("m.model", "s.npy --sets 0.99999").fails(&["level 0.99999", "it takes"]);
    predict("m.model", "s.csv --sets 0.9 --scores").fails(&["--sets", "--scores"]);
    let show = bochner(at, "show m.model", &[]).ok().stdout;
    assert!(
        show.contains("probabilities and sets by rows left out in turn"),
        "{show}"
    );
    let card = bochner(at, "card m.model", &[]).ok().stdout;
    assert!(card.contains("scores on rows left out in turn"), "{card}");
}

/// Intervals without rows kept back; of a row that is left out a set has none; classes whose names
/// hold what stands between them have no column of text.
#[test]
fn a_regression_has_intervals_and_sets_are_of_classes() {
    let here = here();
    let at = here.path();
    let mut text = String::from("x,amount,kind\n");
    for i in 0..600 {
        let x = f64::from(i * 37 % 600) / 100.0;
        let noise = f64::from(i * 7919 % 101) / 101.0 - 0.5;
        let kind = if x + noise > 3.0 { "high|er" } else { "low" };
        text.push_str(&format!("{x},{},{kind}\n", x.sin() + noise));
    }
    fs::write(at.join("t.csv"), text).expect("writes");
    let run = |command: &str| bochner(at, &format!("{command} --device cpu -q"), &[]);
    let amounts = "--target amount,kind --features 40";
    run("fit t.csv --target amount --ignore kind --features 40 --test 0.5 -o a.model").ok();
    let report = run("evaluate a.model t.csv --target amount --ignore kind --json").json();
    let held = report["interval_coverage"].as_f64().expect("a share");
    assert!((held - 0.9).abs() < 0.05, "{report}");
    let predict = format!("predict a.model t.csv {}", &amounts[..20]);
    run(&format!("{predict} --interval 0.9 -o b.csv")).ok();
    run(&format!("{predict} --sets 0.9 -o s.csv")).fails(&["amounts", "sets"]);
    let show = bochner(at, "show a.model --json", &[]).json();
    assert_eq!(show["calibrated_on"], "rows left out in turn", "{show}");

    run("fit t.csv --target kind --ignore amount --features 40 -o k.model").ok();
    let predict = "predict k.model t.csv --target kind,amount --sets 0.9";
    run(&format!("{predict} -o s.csv")).fails(&["high|er", ".npy"]);
    run(&format!("{predict} -o s.npy")).ok();
    run("fit t.csv --target kind --ignore amount --features 40 --model logistic -o l.model").ok();
    run("predict l.model t.csv --target kind,amount --sets 0.9 -o s.csv").fails(&["no sets"]);
}
