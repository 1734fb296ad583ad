//! What errors of cells advise works.

use crate::{bochner, here};
use std::{fmt::Write, path::Path};

const FIT: &str = "fit t.csv --target y --features 100 --lambda 1e-4 --device cpu";

/// What stands in a row.
type Cell = fn(usize) -> String;

/// Rows of a feature and of a target, `y = sin of the number` where it is not given.
fn table(path: &Path, feature: Cell, target: Option<Cell>) {
    let mut text = "v,y\n".to_owned();
    for i in 0..300 {
        let smooth = || format!("{:.4}", (number(i) as f64 / 20.0).sin());
        let y = target.map_or_else(smooth, |target| target(i));
        writeln!(text, "\"{}\",\"{y}\"", feature(i)).expect("a string");
    }
    std::fs::write(path, text).expect("written");
}

/// A number below 101, with others before it and behind it.
fn number(i: usize) -> usize {
    i * 37 % 101
}

/// A feature, and what is said of it; what was advised, and what is said then.
const FEATURES: [(Cell, &[&str], &[&str]); 7] = [
    (
        |i| format!("{}W{:02}", 2018 + number(i) / 52, 1 + number(i) % 52),
        &["W", "write it as 2021-W10", "--date-format %GW%V"],
        &["--date-format", "%GW%V"],
    ),
    (
        |i| {
            if i == 99 {
                "Ne".into()
            } else {
                number(i).to_string()
            }
        },
        &["line 101", "\"v\"", "\"Ne\" among numbers", "--na Ne"],
        &["--na", "Ne", "--missing", "mean"],
    ),
    (
        |i| match i {
            50 => "NA".into(),
            99 => "Ne".into(),
            i => number(i).to_string(),
        },
        &["line 101", "\"Ne\" among numbers", "--na 'NA,Ne'"],
        &["--na", "NA,Ne", "--missing", "mean"],
    ),
    (
        |i| {
            if number(i) < 5 {
                "<5".into()
            } else {
                number(i).to_string()
            }
        },
        &["\"<5\" among numbers", "--na '<5'"],
        &["--na", "<5", "--missing", "mean"],
    ),
    (
        |i| match number(i) {
            0..5 => "<5".into(),
            5..9 => "< 9".into(),
            other => other.to_string(),
        },
        &["among numbers", "--na '< 9,<5'"],
        &["--na", "< 9,<5", "--nan", "drop"],
    ),
    (
        |i| {
            if number(i) < 5 {
                "<5 mg/l".into()
            } else {
                format!("{} mg/l", number(i))
            }
        },
        &["\"<5 mg/l\" among amounts in mg/l", "--na '<5 mg/l'"],
        &["--na", "<5 mg/l", "--missing", "mean"],
    ),
    (
        |i| format!("{} {}", number(i), ["mW", "MW"][i % 2]),
        &[
            "line 3",
            "MW\", and",
            "mW\" in line 2",
            "two units",
            "--categorical v",
        ],
        &["--categorical", "v"],
    ),
];

#[test]
fn what_an_error_of_a_feature_advises_works() {
    let here = here();
    let path = here.path().join("t.csv");
    for (feature, says, cure) in FEATURES {
        table(&path, feature, None);
        bochner(here.path(), FIT, &["-q"]).fails(says);
        bochner(here.path(), FIT, cure).ok();
    }
}

/// A target of amounts has no kinds, and nobody leaves it out.
#[test]
fn targets_of_amounts_are_not_advised_to_be_kinds() {
    let here = here();
    let path = here.path().join("t.csv");
    let plain: Cell = |i| number(i).to_string();
    let targets: [(Cell, &[&str], &[&str]); 4] = [
        (
            |i| format!("${},{:03}", 1 + number(i), i),
            &[
                "line 2",
                "\"y\"",
                "may be",
                "--decimal ','",
                "--thousands ','",
            ],
            &["--thousands", ","],
        ),
        (
            |i| {
                if i == 99 {
                    "Ne".into()
                } else {
                    format!("{}.25", number(i))
                }
            },
            &["line 101", "\"y\"", "--na Ne"],
            &["--na", "Ne", "--drop-rows-without-target"],
        ),
        (
            |i| {
                if i == 99 {
                    "<5".into()
                } else {
                    format!("{}.25", number(i))
                }
            },
            &["line 101", "\"y\"", "--na '<5'"],
            &["--na", "<5", "--drop-rows-without-target"],
        ),
        (
            |i| format!("x{}.{i}", number(i)),
            &["line 2", "\"y\"", "read as none", "--numeric y"],
            &["--numeric", "y"],
        ),
    ];
    for (target, says, cure) in targets {
        table(&path, plain, Some(target));
        let said = bochner(here.path(), FIT, &["-q"]);
        for other in ["--categorical", "--ignore"] {
            assert!(!said.stderr.contains(other), "{said:?}");
        }
        said.fails(says);
        bochner(here.path(), FIT, cure).ok();
    }
}
