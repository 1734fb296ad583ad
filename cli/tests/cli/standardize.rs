//! `--standardize`: what each of its values does, and what is said of columns far from 0.

use crate::{bochner, digits, le, npy};
use std::path::Path;
use tempfile::TempDir;

/// Three columns: narrow, wide, and a flag; y = sin(4 u) + flag.
fn mixed(directory: &Path) {
    let u = |i: usize| (i * 7 % 400) as f64 / 400.0;
    let v = |i: usize| (i * 31 % 400) as f64 / 400.0;
    let flag = |i: usize| f64::from(u8::from(i.is_multiple_of(5)));
    let mut text = "narrow,wide,flag,y\n".to_owned();
    for i in 0..400 {
        let y = (4.0 * u(i)).sin() + flag(i);
        text += &format!("{},{},{},{y}\n", u(i), 3000.0 * v(i), flag(i));
    }
    std::fs::write(directory.join("mixed.csv"), text).expect("written");
}

#[test]
fn auto_is_the_default_of_fit_and_says_what_it_did() {
    let here = TempDir::new().expect("a temporary directory");
    mixed(here.path());
    let fit = "fit mixed.csv --target y --features 200 --test 0.5 --device cpu -q";
    let usual = format!("{fit} --gamma scale");
    let json = |more: &str| bochner(here.path(), &format!("{usual} --json {more}"), &[]).json();
    let error = |report: &serde_json::Value| report["relative_error"].as_f64().expect("an error");
    let (auto, named) = (json(""), json("--standardize=auto"));
    let (alone, yes, no) = (
        json("--standardize"),
        json("--standardize=yes"),
        json("--standardize=no"),
    );
    for (report, asked, done, columns) in [
        (&auto, "auto", true, 2),
        (&named, "auto", true, 2),
        (&alone, "yes", true, 3),
        (&yes, "yes", true, 3),
        (&no, "no", false, 0),
    ] {
        let said = &report["standardize"];
        assert_eq!(said["asked"], asked, "{report}");
        assert_eq!(said["standardized"], done, "{report}");
        assert_eq!(
            (&said["columns"], &said["of"]),
            (&columns.into(), &3.into())
        );
        let reason = said["reason"].as_str();
        let expected = (asked == "auto").then_some("scales differ 3000-fold");
        assert_eq!(reason, expected, "{report}");
    }
    assert_eq!(error(&auto), error(&named));
    assert_eq!(error(&alone), error(&yes));
    assert!(error(&auto) < 0.5 * error(&no), "{auto} {no}");
    let text = bochner(here.path(), &usual, &[]).ok().stdout;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("standardize "));
    let expected = Some("auto -> yes, 2 of 3 columns: scales differ 3000-fold");
    assert_eq!(line.map(str::trim), expected, "{text}");
    let hint = "note: scales differ 3000-fold; --standardize may serve better";
    let loud = fit.replace(" -q", " --quick");
    let said = |more: &str| {
        bochner(here.path(), &format!("{loud} {more}"), &[])
            .ok()
            .stderr
    };
    assert!(said("--standardize=no").contains(hint));
    assert!(!said("").contains("may serve better"));
    let run = bochner(here.path(), &format!("{fit} --standardize=maybe"), &[]);
    assert_eq!(run.code, Some(2), "{run:?}");
    run.fails(&["maybe", "auto, yes, no, range, robust or rank"]);
    // It may stand alone, so that its value is tied to it.
    for words in [
        "fit mixed.csv --standardize no",
        "fit --standardize no mixed.csv",
    ] {
        let run = bochner(here.path(), words, &[]);
        assert_eq!(run.code, Some(2), "{run:?}");
        run.fails(&["; write --standardize=no"]);
    }
    // Who gives every column its own lengthscale has scaled them.
    let own = bochner(here.path(), &format!("{fit} --json --sigma 1,1000,1"), &[]).json();
    assert_eq!(own["standardize"]["asked"], "no", "{own}");
}

#[test]
fn columns_of_one_unit_are_left_and_other_commands_leave_all() {
    let here = TempDir::new().expect("a temporary directory");
    mixed(here.path());
    let fit = format!(
        "fit {} --target label --features 50 --gamma scale --device cpu -q --json",
        digits()
    );
    let report = bochner(here.path(), &fit, &[]).json();
    assert_eq!(report["standardize"]["standardized"], false, "{report}");
    assert_eq!(report["standardize"]["reason"], "scales are alike");
    for command in [
        "featurize mixed.csv --target y -o z.npy --features 10",
        "featurize mixed.csv --target y -o z.npy --features 10 --sigma 3",
        "kernel-error mixed.csv --target y --features 10 --seeds 1 --rows 50 --map fourier",
    ] {
        let arguments = format!("{command} --device cpu -q --json");
        let report = bochner(here.path(), &arguments, &[]).json();
        assert_eq!(report["standardize"]["asked"], "no", "{report}");
        assert_eq!(report["standardize"]["columns"], 0, "{report}");
    }
}

#[test]
fn what_lies_far_from_zero_is_said_where_it_costs_digits() {
    let here = TempDir::new().expect("a temporary directory");
    let rows = |offset: f64| -> Vec<f64> {
        (0..300)
            .map(|i| offset + f64::from(i * 7 % 300) / 60.0)
            .collect()
    };
    let y: Vec<f64> = rows(0.0).iter().map(|x| (1.2 * x).sin()).collect();
    for (name, values) in [
        ("far.npy", rows(1e8)),
        ("near.npy", rows(0.0)),
        ("y.npy", y),
    ] {
        npy(
            here.path().join(name),
            "<f8",
            false,
            "(300, 1)",
            &le(&values),
        );
    }
    let run =
        |arguments: &str| bochner(here.path(), &format!("{arguments} --device cpu"), &[]).ok();
    let fit = |input: &str, more: &str| {
        run(&format!(
            "fit {input} --targets y.npy --task regression --features 50 {more}"
        ))
    };
    let note = "standard deviations from 0";
    assert!(!fit("far.npy", "").stderr.contains(note));
    let arc = "--map arc-cosine --kernel arc-cosine:0 --standardize=no --lambda 1e-2";
    let said = fit("far.npy", arc).stderr;
    assert!(
        said.contains("note: column 0 (counted from 0) lies"),
        "{said}"
    );
    assert!(!fit("near.npy", arc).stderr.contains(note));
    // Products of features that are large for that reason cannot be solved, and a penalty is no
    // remedy.
    let linear = "fit far.npy --targets y.npy --task regression --features 50 --map arc-cosine";
    let linear = format!("{linear} --standardize=no --device cpu -q");
    bochner(here.path(), &linear, &[]).fails(&["use --standardize or a larger --lambda"]);
    // Without a survey nothing is centred: the map is one for every file.
    let featurize = |input: &str| {
        run(&format!(
            "featurize {input} -o z.npy --features 10 --sigma 1"
        ))
    };
    assert!(featurize("far.npy").stderr.contains(note));
    assert!(!featurize("near.npy").stderr.contains(note));
}

#[test]
fn values_beyond_f32_are_refused_by_the_columns_name() {
    let here = TempDir::new().expect("a temporary directory");
    let text = "small,huge,y\n1,1e35,0\n2,2e35,1\n3,4e35,0.5\n";
    std::fs::write(here.path().join("huge.csv"), text).expect("written");
    let fit = "fit huge.csv --target y --task regression --features 10 --device cpu -q";
    bochner(
        here.path(),
        &format!("{fit} --standardize=no --sigma 1"),
        &[],
    )
    .fails(&[
        "column 'huge' reaches 1.7e35 lengthscales",
        "beyond 1e30",
        "--standardize or a larger --sigma",
    ]);
    bochner(here.path(), fit, &[]).ok();
}

#[test]
fn whole_numbers_beyond_f64_are_said_and_those_within_are_exact() {
    let here = TempDir::new().expect("a temporary directory");
    let largest = (1_i64 << 53) - 1;
    let said = |last: i64| {
        let values: Vec<u8> = (0..60).flat_map(|i| (last - 2 * i).to_le_bytes()).collect();
        npy(here.path().join("id.npy"), "<i8", false, "(60, 1)", &values);
        let y: Vec<f64> = (0..60).map(f64::from).collect();
        npy(here.path().join("y.npy"), "<f8", false, "(60,)", &le(&y));
        let fit = "fit id.npy --targets y.npy --task regression --features 40 --device cpu --json";
        bochner(here.path(), fit, &[]).ok()
    };
    let within = said(largest);
    assert!(!within.stderr.contains("2^53"), "{within:?}");
    let beyond = said(largest + 1000);
    let lines = beyond.stderr.lines().filter(|line| line.contains("2^53"));
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines.len(), 1, "{beyond:?}");
    assert!(lines[0].contains("row 0, column 0"), "{beyond:?}");
    // The same of a table of text, by line and name, once for all passes.
    let csv = |last: i64| {
        let rows: String = (0..60)
            .map(|i| format!("{i},{},{i}\n", last - 2 * i))
            .collect();
        let text = format!("a,id,y\n{rows}");
        std::fs::write(here.path().join("id.csv"), text).expect("written");
        let fit = "fit id.csv --target y --task regression --features 40 --device cpu --json";
        bochner(here.path(), fit, &[]).ok()
    };
    assert!(!csv(largest).stderr.contains("2^53"));
    let beyond = csv(largest + 1000);
    let lines = beyond.stderr.lines().filter(|line| line.contains("2^53"));
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines.len(), 1, "{beyond:?}");
    assert!(lines[0].contains("line 2, column \"id\""), "{beyond:?}");
}

#[test]
fn a_bandwidth_by_rule_does_not_see_where_columns_lie() {
    let here = TempDir::new().expect("a temporary directory");
    let u = |i: usize| (i * 7 % 400) as f64 / 400.0;
    let v = |i: usize| (i * 31 % 400) as f64 / 400.0;
    let write = |offset: f64| {
        let row = |i: usize| format!("{},{},{}\n", u(i), offset + v(i), (4.0 * u(i)).sin() + v(i));
        let rows: String = (0..400).map(row).collect();
        std::fs::write(here.path().join("far.csv"), format!("u,v,y\n{rows}")).expect("written");
    };
    let fit =
        "fit far.csv --target y --features 200 --test 0.5 --device cpu --standardize=no --quick";
    let run = || {
        let run = bochner(here.path(), &format!("{fit} --json"), &[]).ok();
        let json: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
        let of = |key: &str| json[key].as_f64().expect("a number");
        (of("gamma"), of("relative_error"), run.stderr)
    };
    write(0.0);
    let (gamma, error, said) = run();
    assert!(!said.contains("deviations apart"), "{said}");
    write(500.0);
    let (there, far, said) = run();
    assert!((there / gamma - 1.0).abs() < 0.02, "{there} for {gamma}");
    assert!(error < 0.01 && far < 2.0 * error, "{far} for {error}");
    let note = "deviations apart, so scale takes the variance within columns";
    assert!(said.contains(note), "{said}");
}

/// A smooth function of one column beside another that is some times as wide: which is lost where
/// the width of that one decides every distance.
/// Pixels have one unit, and are better left in it: one in another unit has to be brought back to
/// it, and the others have not to be standardised for it, which costs a fifth.
#[test]
fn a_pixel_in_another_unit_costs_little() {
    let here = TempDir::new().expect("a temporary directory");
    let text = std::fs::read_to_string(digits()).expect("is there");
    let squares = |factor: f64| {
        let mut lines = text.lines();
        let mut table = lines.next().expect("names").to_owned() + "\n";
        for line in lines {
            let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
            // In the middle, where all digits have ink.
            cells[28] = (factor * cells[28].parse::<f64>().expect("a pixel")).to_string();
            table += &(cells.join(",") + "\n");
        }
        std::fs::write(here.path().join("pixels.csv"), table).expect("written");
        let fit = "fit pixels.csv --target label --task regression --features 400 --test 0.3 \
                   --quick --device cpu -q --json";
        let report = bochner(here.path(), fit, &[]).json();
        1.0 - report["held_out_r2"].as_f64().expect("a score")
    };
    let own = squares(1.0);
    for factor in [100.0, 0.01] {
        let other = squares(factor);
        // Of errors 3 %.
        assert!(other < 1.06 * own, "{factor}: {other} for {own}");
    }
}

#[test]
fn a_column_some_times_as_wide_costs_nothing_at_the_default() {
    let here = TempDir::new().expect("a temporary directory");
    // Two normal columns, of points that fill a square evenly (Box & Muller 1958).
    let pair = |i: usize| {
        let (u, v) = ((i as f64 + 0.5) / 1500.0, i as f64 * 0.618_033_988_7);
        let (radius, turn) = ((-2.0 * u.ln()).sqrt(), std::f64::consts::TAU * v);
        (radius * turn.cos(), radius * turn.sin())
    };
    for factor in [1.0, 3.0, 4.0, 6.0, 8.0, 16.0] {
        let mut text = "a,b,y\n".to_owned();
        for i in 0..1500 {
            let (x, w) = pair(i);
            let y = 3.0 * (2.0 * x).sin() + w;
            text += &format!("{x},{},{y}\n", factor * w);
        }
        std::fs::write(here.path().join("wide.csv"), text).expect("written");
        let fit = "fit wide.csv --target y --test 0.3 --device cpu -q --json";
        let r2 = |more: &str| {
            let report = bochner(here.path(), &format!("{fit} {more}"), &[]).json();
            report["held_out_r2"].as_f64().expect("a score")
        };
        let found = r2("");
        assert!(found > 0.95, "{factor}: {found}");
        if factor >= 4.0 {
            let left = r2("--gamma scale --standardize=no");
            assert!(left < found - 0.05, "{factor}: {left} of {found}");
        }
    }
}
