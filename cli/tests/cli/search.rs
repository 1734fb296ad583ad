//! `--auto`, `--metric`: what is tried, chosen and said.

use crate::{bochner, digits, here, number};
use bochner::models::LinearModel;
use std::{fmt::Write, path::Path};

/// A table of y = sin(3 b) beside two columns of noise.
fn table(here: &Path) {
    let mut text = String::from("a,b,c,y\n");
    for i in 0..400_u32 {
        let of = |k: u32| f64::from(i.wrapping_mul(k) % 199) / 100.0 - 1.0;
        let (a, b, c) = (of(7919), of(104_729), of(1_299_709));
        writeln!(text, "{a},{b},{c},{}", (3.0 * b).sin()).expect("a string");
    }
    std::fs::write(here.join("t.csv"), text).expect("writes");
}

/// The bytes of a model without its job, which says what was asked for.
fn learned(folder: &Path, file: &str) -> Vec<u8> {
    let mut model = LinearModel::load(folder.join(file)).expect("a model");
    assert!(model.job.take().is_some(), "{file} has a job");
    let path = folder.join("learned.model");
    model.save(&path).expect("writes");
    std::fs::read(path).expect("a model")
}

/// The command of the report gives the model of the report.
#[test]
fn auto_says_what_gives_the_same_without_searching() {
    let here = here();
    table(here.path());
    let fit = "fit t.csv --target y --features 100 --seed 3 --device cpu";
    for options in [
        "--auto --bag 1 --beside none",
        "--auto --budget 9",
        "--metric full --kernel matern52",
        "--sigma auto",
    ] {
        let first = format!("{fit} {options} -o first.model --json");
        let report = bochner(here.path(), &first, &[]).json();
        let trials = report["trials"].as_array().expect("trials");
        assert!(!trials.is_empty());
        if options.contains("budget") {
            assert_eq!(trials.len(), 9);
        }
        assert!(
            trials.iter().all(|trial| trial["error"].is_number()),
            "{report}"
        );
        let command = report["command"].as_str().expect("a command");
        let arguments = command.strip_prefix("bochner ").expect("ours");
        for decided in ["--auto", "--bag", "--beside", "--budget", "auto", "full"] {
            assert!(!arguments.contains(decided), "{arguments}");
        }
        let first = learned(here.path(), "first.model");
        bochner(here.path(), arguments, &[]).ok();
        let again = learned(here.path(), "first.model");
        assert!(first == again, "{options}: {arguments}");
        // The same search finds the same.
        bochner(
            here.path(),
            &format!("{fit} {options} -o second.model"),
            &[],
        )
        .ok();
        let second = learned(here.path(), "second.model");
        assert!(first == second, "{options}");
    }
}

/// A mean of several says what it is of, predicts from its file, and is fitted again by --like.
#[test]
fn a_mean_says_what_it_is_of() {
    let here = here();
    let mut text = String::from("a,b,y\n");
    for i in 0..500_u32 {
        let of = |k: u32| f64::from(i.wrapping_mul(k) % 199) / 100.0 - 1.0;
        let (a, b) = (of(7919), of(104_729));
        // No row is a copy of another.
        let y = (4.0 * a).floor() + (3.0 * b).sin() + 1e-6 * f64::from(i);
        writeln!(text, "{a},{b},{y}").expect("a string");
    }
    std::fs::write(here.path().join("t.csv"), text).expect("writes");
    let fit = "fit t.csv --target y --features 100 --seed 3 --device cpu --test 0.2";
    let run = |options: &str| bochner(here.path(), &format!("{fit} {options}"), &[]);
    let report = run("--auto --bag 2 -o first.model --json").json();
    let members = report["members"].as_array().expect("members");
    let shares = members.iter().map(|member| number(member, "share"));
    assert!((shares.sum::<f64>() - 1.0).abs() < 1e-12, "{report}");
    let grids = |member: &&serde_json::Value| member["name"].to_string().contains("grids");
    assert_eq!(members.iter().filter(grids).count(), 1, "{report}");
    let alone = run("--auto --bag 1 --beside none --json").json();
    assert_eq!(alone["members"].as_array().map(Vec::len), Some(0));
    let error = |report| number(report, "relative_error");
    assert!(error(&report) < 0.9 * error(&alone), "{report} {alone}");
    let said = run("--auto --bag 2").ok().stdout;
    assert!(
        said.contains("mean of") && said.contains("the best of them alone without"),
        "{said}"
    );
    // On all rows columns go along curves, which the command gives again as well.
    let again = "fit t.csv --like first.model --device cpu -o again.model";
    bochner(here.path(), again, &[]).ok();
    let all =
        "fit t.csv --target y --features 100 --seed 3 --device cpu --auto --bag 2 -o all.model";
    bochner(here.path(), all, &[]).ok();
    assert!(learned(here.path(), "again.model") == learned(here.path(), "all.model"));
    run("--quick --bag 2").fails(&["--bag", "--auto"]);
    run("--auto --leaves 100 --beside none").fails(&["--beside", "one model"]);
}

/// Intervals of a search that averages with random bins, which leave no rows out in turn, hold as
/// often as they say for targets far from 0, and the R2 of held-out rows is that of new rows.
#[test]
fn intervals_of_averages_hold_for_targets_far_from_zero() {
    let here = here();
    let of = |a: u32, b: u32| f64::from((a * 7919 + b * 104_729 + 31 * a * b) % 997) / 498.5 - 1.0;
    let mut text = String::from("a,b,y\n");
    for i in 0..1500_u32 {
        let (a, b) = (of(i + 3, 1), of(i + 50, 2));
        let y = 1000.0 + (4.0 * a).floor() + (3.0 * b).sin() + 0.3 * of(i + 7, 5);
        writeln!(text, "{a},{b},{y}").expect("a string");
    }
    std::fs::write(here.path().join("t.csv"), text).expect("writes");
    let fit = "fit t.csv --target y --features 100 --bag 2 --device cpu --test 0.4 --json -q";
    for options in ["--auto --budget brief", "--auto"] {
        let report = bochner(here.path(), &format!("{fit} {options}"), &[]).json();
        let members = report["members"].as_array().expect("members");
        let has_bins = members
            .iter()
            .any(|member| member["name"].to_string().contains("grids"));
        assert!(has_bins, "{report}");
        let held = number(&report, "interval_coverage");
        assert!((0.84..0.96).contains(&held), "{options}: {held}");
        let (said, new) = (number(&report, "held_out_r2"), number(&report, "r2"));
        assert!((said - new).abs() < 0.05, "{options}: {said} for {new}");
    }
}

/// Without options `fit` searches; an option that settles the learner, the map, the kernel, the
/// bandwidth or the penalty, or `--quick`, is a single fit.
#[test]
fn a_fit_searches_unless_something_is_settled() {
    let here = here();
    table(here.path());
    let trials = |options: &str| {
        let fit = format!("fit t.csv --target y --device cpu --json -q {options}");
        let report = bochner(here.path(), &fit, &[]).json();
        report["trials"].as_array().map_or(0, Vec::len)
    };
    let brief = trials("");
    assert!(brief > 5, "{brief}");
    assert_eq!(brief, trials("--auto --budget brief"));
    assert!(trials("--features 30 --seed 3") > 5);
    for single in [
        "--quick",
        "--model kernel-ridge",
        "--map nystrom --features 30",
        "--kernel laplacian",
        "--gamma 0.5",
        "--sigma median",
        "--lambda 1e-3",
        "--memory 100M",
        "--checkpoint kept",
    ] {
        assert_eq!(trials(single), 0, "{single}");
    }
    let said = bochner(here.path(), "fit t.csv --target y --device cpu", &[]).ok();
    let line = said.stdout.lines().find(|line| line.starts_with("search "));
    assert!(line.is_some_and(|line| line.contains("--auto")), "{said:?}");
    bochner(here.path(), "fit t.csv --target y --quick --auto", &[]).fails(&["--auto", "--quick"]);
}

/// `--beside nystrom` tries landmarks once, and what has them predicts and says what was asked for.
#[test]
fn landmarks_stand_beside_what_was_found() {
    let here = here();
    let of = |a: u32, b: u32| f64::from((a * 7919 + b * 104_729 + 31 * a * b) % 997) / 498.5 - 1.0;
    let mut text = String::from("a,b,c,d,y\n");
    for i in 0..400_u32 {
        let place = i % 30;
        for j in 1..5 {
            let x = of(place + 3, j) + 0.05 * of(i + 50, j + 90);
            write!(text, "{x},").expect("a string");
        }
        let y = of(place + 11, 40) + 0.5 * of(i + 50, 90);
        writeln!(text, "{y}").expect("a string");
    }
    std::fs::write(here.path().join("near.csv"), text).expect("writes");
    let fit = "fit near.csv --target y --features 40 --auto --device cpu --json";
    // How often landmarks were tried, and how many members of the mean are of them.
    let of = |beside: &str| {
        let fit = format!("{fit} {beside} -o near.model");
        let report = bochner(here.path(), &fit, &[]).json();
        let all = |name: &str| report[name].as_array().expect(name).clone();
        let trials = all("trials");
        let tried = trials.iter().filter(|trial| trial["map"] == "nystrom");
        let members = all("members");
        let names = members.iter().map(|member| member["name"].to_string());
        (
            tried.count(),
            names.filter(|name| name.contains("landmarks")).count(),
        )
    };
    assert_eq!(of("--beside binning"), (0, 0));
    assert_eq!(of("--beside binning+nystrom").0, 1);
    assert_eq!(of("--beside nystrom"), (1, 1));
    let model = LinearModel::load(here.path().join("near.model")).expect("a model");
    assert_eq!(model.job.expect("a job").get("beside"), Some("nystrom"));
    let predict = "predict near.model near.csv --target y -o near.npy --device cpu";
    bochner(here.path(), predict, &[]).ok();
}

/// Without a number of features it is 2,000, and the command says so.
#[test]
fn auto_has_features_of_its_own() {
    let here = here();
    table(here.path());
    let fit = "fit t.csv --target y --device cpu --auto --budget 1 --json";
    let report = bochner(here.path(), fit, &[]).json();
    assert_eq!(number(&report, "features"), 2000.0);
    let command = report["command"].as_str().expect("a command");
    assert!(command.contains(" --features 2000 "), "{command}");
}

/// sqrt(400) ln 400 = 119.8 features, and lambda = 1 / 20.
#[test]
fn features_can_go_by_the_rows() {
    let here = here();
    table(here.path());
    let fit = "fit t.csv --target y --device cpu --linear no --features rudi-rosasco --json";
    let report = bochner(here.path(), fit, &[]).json();
    assert_eq!(number(&report, "features"), 120.0);
    assert_eq!(number(&report, "lambda"), 0.05);
    let given = bochner(here.path(), &format!("{fit} --lambda 1e-3"), &[]).json();
    assert_eq!(number(&given, "lambda"), 1e-3);
    let other = bochner(here.path(), &format!("{fit} --model lasso"), &[]);
    other.fails(&["rudi-rosasco", "--model ridge"]);
    let command = "featurize t.csv --features rudi-rosasco -o z.npy";
    bochner(here.path(), command, &[]).fails(&["rudi-rosasco", "give a number"]);
}

/// As many as an error asks for, with the command that gives the same.
#[test]
fn features_can_go_by_an_error() {
    let here = here();
    table(here.path());
    let fit = "fit t.csv --target y --device cpu --seed 3 --lambda 1e-5 --memory 2000000";
    for (options, by) in [
        ("--features auto --kernel-error 0.1", "kernel_error"),
        ("--features auto --accuracy-loss 0.3", "accuracy_loss"),
        ("--features=auto", "accuracy_loss"),
    ] {
        let first = format!("{fit} {options} -o first.model --json");
        let report = bochner(here.path(), &first, &[]).json();
        let enough = &report["enough"];
        assert_eq!(enough["by"], by, "{report}");
        assert_eq!(enough["features"], report["features"], "{report}");
        assert_eq!(number(&report, "lambda"), 1e-5);
        let command = report["command"].as_str().expect("a command");
        assert!(!command.contains("auto") && !command.contains("--kernel-error"));
        assert!(command.contains("--lambda 1e-5"), "{command}");
        let arguments = command.strip_prefix("bochner ").expect("ours");
        let first = learned(here.path(), "first.model");
        bochner(here.path(), arguments, &[]).ok();
        let again = learned(here.path(), "first.model");
        assert!(first == again, "{options}: {arguments}");
    }
    let tight = format!("{fit} --features auto --kernel-error 0.01 --json");
    let report = bochner(here.path(), &tight, &[]).json();
    // 60 D^2 bytes in what the program leaves of the memory: two thirds, or all of it where the
    // system does not tell how large a program is. Trials have sums beside one another.
    let features = number(&report, "features");
    assert!((148.0..=182.0).contains(&features), "{report}");
    assert_eq!(report["enough"]["limited"], true);
    for (options, said) in [
        (
            "--kernel-error 0.1",
            "--kernel-error is for --features auto",
        ),
        (
            "--accuracy-loss 0.1",
            "--accuracy-loss is for --features auto",
        ),
        ("--features auto --model lasso", "--model ridge"),
        ("--features auto --kernel-error 2", "between 0 and 1"),
        ("--features auto --metric-from m", "--metric-from"),
    ] {
        bochner(here.path(), &format!("{fit} {options}"), &[]).fails(&[said]);
    }
    let both = format!("{fit} --features auto --kernel-error 0.1 --accuracy-loss 0.1");
    bochner(here.path(), &both, &[]).fails(&["cannot be used with"]);
    let command = "featurize t.csv --features auto -o z.npy";
    bochner(here.path(), command, &[]).fails(&["--features auto", "give a number"]);
}

#[test]
fn a_metric_names_the_columns_that_matter() {
    let here = here();
    table(here.path());
    let fit = "fit t.csv --target y --features 100 --device cpu --metric diagonal --test 0.3";
    let report = bochner(here.path(), &format!("{fit} -o m --json"), &[]).json();
    assert_eq!(report["metric"]["kind"], "diagonal");
    let first = &report["metric"]["importance"][0];
    assert_eq!(first["column"], "b");
    assert!(number(first, "importance") > 0.95, "{report}");
    assert!(number(&report, "relative_error") < 0.05, "{report}");
    let said = bochner(here.path(), fit, &[]).ok().stdout;
    assert!(
        said.contains("metric") && said.contains("diagonal: b "),
        "{said}"
    );
    assert!(said.contains("the same without searching") && said.contains("--metric-from MODEL"));
    let predict = bochner(
        here.path(),
        "evaluate m t.csv --target y --device cpu --json",
        &[],
    );
    assert!(number(&predict.json(), "relative_error") < 0.05);
}

#[test]
fn a_search_of_digits_is_no_worse_than_the_usual_penalty() {
    let here = here();
    let fit = format!(
        "fit {} --target label --features 400 --test 0.5 --device cpu --json",
        digits()
    );
    let plain = format!("{fit} --gamma scale --lambda 1e-6");
    let plain = bochner(here.path(), &plain, &[]).json();
    let auto = bochner(here.path(), &format!("{fit} --auto --budget 20"), &[]).json();
    let (plain, auto) = (number(&plain, "accuracy"), number(&auto, "accuracy"));
    assert!(auto > plain - 0.01, "{auto} for {plain}");
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let here = here();
    table(here.path());
    let plain = "fit t.csv --target y --features 20 --device cpu";
    bochner(here.path(), &format!("{plain} --quick -o plain.model"), &[]).ok();
    for (arguments, code, says) in [
        (format!("{plain} --budget 3"), 2, "--budget ends a search"),
        (
            format!("{plain} --quick --metric-power 0.5"),
            2,
            "--metric-power is for --metric",
        ),
        (
            format!("{plain} --auto --model lasso"),
            2,
            "for --model ridge",
        ),
        (
            format!("{plain} --kernel auto --model svr"),
            2,
            "for --model ridge",
        ),
        (format!("{plain} --metric sideways"), 2, "diagonal"),
        (format!("{plain} --auto --budget 0"), 2, "number of trials"),
        (
            format!("{plain} --metric full --sigma 1,2,3"),
            2,
            "one --sigma",
        ),
        (
            format!("{plain} --metric-from plain.model"),
            1,
            "has learnt no metric",
        ),
        (format!("{plain} --metric full --map binning"), 1, "binning"),
        (
            "featurize t.csv --sigma auto -o z.npy".into(),
            2,
            "`fit` with --model ridge",
        ),
        (
            "fit t.csv --target y --model kernel-ridge --kernel auto".into(),
            2,
            "--model ridge",
        ),
    ] {
        let run = bochner(here.path(), &arguments, &[]);
        assert_eq!(run.code, Some(code), "{arguments}: {}", run.stderr);
        assert!(run.stderr.contains(says), "{arguments}: {}", run.stderr);
    }
}
