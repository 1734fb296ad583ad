//! Answers, `Yes` and `no`, in whatever letters.

use crate::{bochner, here};
use std::fs;

/// Answers are the same in whatever letters, in the fit and at predictions, as features and as
/// targets; who says that they are kinds has each as it is written.
#[test]
fn answers_that_differ_in_capitals_are_one() {
    let here = here();
    let at = here.path();
    let text = |answer: &dyn Fn(usize) -> &'static str| {
        let mut text = String::from("a,is,y\n");
        for i in 0..120 {
            let y = (i * 7 % 11) as f64 / 7.0 + 3.0 * (i % 2) as f64;
            text.push_str(&format!("{},{},{y}\n", i * 7 % 11, answer(i)));
        }
        text
    };
    let many = ["no", "Yes", "No", "yes", "NO", "YES", "no", "Yes "];
    let fit = |options: &str| {
        let fit = "fit t.csv --target y --features 20 --lambda 1e-4 --device cpu -o m.model -v";
        bochner(at, &format!("{fit} {options}"), &[]).ok()
    };
    fs::write(at.join("t.csv"), text(&|i| many[i % 8])).expect("writes");
    let run = fit("");
    for said in [
        "\"is\": read as \"Yes\" and \"no\" in whatever letters; --categorical",
        "is: 2 categories in any letters",
    ] {
        assert!(
            run.stderr.contains(said) || run.stdout.contains(said),
            "{said} in {run:?}"
        );
    }
    let predict = |file: &str, out: &str| {
        let run = bochner(
            at,
            &format!("predict m.model {file} -o {out} --device cpu"),
            &[],
        )
        .ok();
        assert!(!run.stderr.contains("did not see"), "{run:?}");
        fs::read(at.join(out)).expect("predictions")
    };
    let own = predict("t.csv", "own.csv");
    fs::write(at.join("new.csv"), text(&|i| ["nO", " yES"][i % 2])).expect("writes");
    assert_eq!(own, predict("new.csv", "new.csv.out.csv"));
    let shown = bochner(at, "show m.model --json", &[]).ok().stdout;
    assert!(shown.contains("2 categories in any letters"), "{shown}");

    let run = fit("--categorical is");
    assert!(run.stderr.contains("kinds, 2 but for capitals"), "{run:?}");

    // As classes.
    let run = bochner(
        at,
        "fit t.csv --target is --features 20 --device cpu -o m.model",
        &[],
    )
    .ok();
    assert!(run.stderr.contains("text of 2 kinds"), "{run:?}");
    bochner(at, "evaluate m.model t.csv --device cpu", &[]).ok();
}
