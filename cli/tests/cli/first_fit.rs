//! What no option says: preparation and bandwidth by the errors of rows left out.

use crate::{bochner, here, number};
use serde_json::Value;
use std::{fmt::Write, fs, path::Path};

/// Points that fill a square evenly, as two columns in 0..1.
fn point(i: usize) -> [f64; 2] {
    [
        (i as f64 * 0.754_877_666).fract(),
        (i as f64 * 0.569_840_291).fract(),
    ]
}

/// Rows of a and b, the second so many times as wide, in this order.
fn table(path: &Path, rows: &[usize], wide: f64) {
    let mut text = "a,b,y\n".to_owned();
    for &i in rows {
        let [u, v] = point(i);
        let y = (25.0 * u).sin() + 2.0 * v + 0.05 * ((i * 7919) % 13) as f64;
        writeln!(text, "{u},{},{y}", wide * v).expect("a string");
    }
    fs::write(path, text).expect("written");
}

fn fitted(folder: &Path, more: &str) -> Value {
    let fit = "fit t.csv --target y --features 300 --test 0.3 --device cpu -q --json -o m";
    bochner(folder, &format!("{fit} {more}"), &[]).json()
}

#[test]
fn what_is_chosen_is_better_and_said() {
    let here = here();
    let rows: Vec<usize> = (0..1200).collect();
    for wide in [1.0, 1e-4, 1e5] {
        table(&here.path().join("t.csv"), &rows, wide);
        let usual = fitted(here.path(), "--gamma scale");
        let chosen = fitted(here.path(), "");
        assert_eq!(
            chosen["chosen"],
            fitted(here.path(), "--gamma chosen")["chosen"]
        );
        let [before, after] = [&usual, &chosen].map(|of| 1.0 - number(of, "held_out_r2"));
        assert!(after < 0.7 * before, "{wide}: {after} for {before}");
        let said = &chosen["chosen"];
        assert_eq!(said["rows"], 512, "{said}");
        let left_out = 1.0 - number(said, "left_out_r2");
        assert!(left_out < 2.0 * after && after < 2.0 * left_out, "{said}");
        let candidates = said["candidates"].as_array().expect("a list");
        assert!(candidates.len() >= 6, "{said}");
        assert!(usual.get("chosen").is_none());
    }
    let run = bochner(here.path(), "fit t.csv --target y --device cpu", &[]);
    let run = run.ok();
    let said = run.stdout.lines().next().expect("a line");
    assert!(said.starts_with("chosen "), "{run:?}");
    assert!(
        said.contains(" on 512 rows: ") && said.contains("leave-one-out R2"),
        "{run:?}"
    );
}

/// The order of rows does not count, and the choice that is written out by hand gives the same
/// model, to the bit.
#[test]
fn the_choice_is_that_of_the_rows() {
    let here = here();
    let path = here.path().join("t.csv");
    let rows: Vec<usize> = (0..900).collect();
    let mixed: Vec<usize> = (0..900).map(|i| i * 541 % 900).collect();
    let mut said = Vec::new();
    for order in [&rows, &mixed] {
        table(&path, order, 30.0);
        for more in ["", "--sigma chosen --threads 1", "--memory 8M"] {
            let fit = "fit t.csv --target y --features 100 --device cpu -q --json -o m";
            let report = bochner(here.path(), &format!("{fit} {more}"), &[]).json();
            let of = &report["chosen"]["chosen"];
            said.push((of["standardize"].clone(), of["bandwidth"].clone()));
        }
    }
    assert!(said.iter().all(|one| *one == said[0]), "{said:?}");
    let sigma = said[0]
        .1
        .as_str()
        .and_then(|text| text.strip_prefix("sigma "));
    let by_hand = format!(
        "--sigma {} --standardize={}",
        sigma.expect("a number"),
        said[0].0.as_str().expect("a word")
    );
    let fit = "fit t.csv --target y --features 100 --device cpu -q";
    bochner(here.path(), &format!("{fit} -o chosen.model"), &[]).ok();
    bochner(here.path(), &format!("{fit} {by_hand} -o hand.model"), &[]).ok();
    let [chosen, hand] =
        ["chosen.model", "hand.model"].map(|name| fs::read(here.path().join(name)));
    assert!(chosen.expect("reads") == hand.expect("reads"), "{by_hand}");
}

#[test]
fn where_nothing_decides_it_is_gamma_by_scale() {
    let here = here();
    let path = here.path().join("t.csv");
    table(&path, &(0..15).collect::<Vec<_>>(), 1.0);
    let fit = "fit t.csv --target y --features 50 --device cpu -q --lambda 1e-3";
    bochner(here.path(), &format!("{fit} -o a"), &[]).ok();
    bochner(here.path(), &format!("{fit} --gamma scale -o b"), &[]).ok();
    let [a, b] = ["a", "b"].map(|name| fs::read(here.path().join(name)));
    assert!(a.expect("reads") == b.expect("reads"));
}

/// `exp` of a sum, with errors that are shares of the amount.
fn prices(path: &Path, rows: usize) {
    let mut text = "a,b,price\n".to_owned();
    for i in 0..rows {
        let [u, v] = point(i);
        let off = ((i * 7919) % 101) as f64 / 101.0 - 0.5;
        let price = (3.0 * u + 2.0 * (4.0 * v).sin() + off).exp();
        writeln!(text, "{u},{v},{price}").expect("a string");
    }
    fs::write(path, text).expect("written");
}

/// Amounts whose errors are shares of them are fitted by their logarithms: better, said, kept in
/// the model and its job, and brought back by every command.
#[test]
fn prices_are_fitted_by_their_logarithms() {
    let here = here();
    let run = |command: &str| bochner(here.path(), command, &[]);
    prices(&here.path().join("t.csv"), 1500);
    let fit = "fit t.csv --target price --features 200 --test 0.3 --device cpu -q --json";
    let chosen = run(&format!("{fit} -o m")).json();
    let as_is = run(&format!("{fit} --target-scale as-is")).json();
    let [better, before] = [&chosen, &as_is].map(|of| 1.0 - number(of, "r2"));
    assert!(better < 0.97 * before, "{better} for {before}");
    let scales = chosen["chosen"]["target_scales"]
        .as_array()
        .expect("a list");
    assert_eq!(scales[0]["scale"], "log", "{scales:?}");
    assert!(
        number(&scales[0], "error") < number(&scales[1], "error"),
        "{scales:?}"
    );
    let said = run("fit t.csv --target price --device cpu").ok().stdout;
    assert!(said.contains("targets by their logarithms"), "{said}");
    let of_logs = number(&chosen, "held_out_r2_of_logarithms");
    assert!(
        (0.5..1.0).contains(&of_logs) && chosen.get("held_out_r2").is_none(),
        "{of_logs}"
    );
    let shown = run("show m --json").json();
    assert_eq!(shown["job"]["target-scale"], "log", "{shown}");
    // Written out by hand, and as the job has it.
    let of = &chosen["chosen"]["chosen"];
    let sigma = of["bandwidth"]
        .as_str()
        .and_then(|text| text.strip_prefix("sigma "));
    let by_hand = format!(
        "{fit} --target-scale log --sigma {} --standardize={} -o hand",
        sigma.expect("a number"),
        of["standardize"].as_str().expect("a word")
    );
    run(&by_hand).ok();
    run("fit t.csv --target price --like m --test 0.3 --device cpu -q -o like").ok();
    let models = ["m", "hand", "like"].map(|name| fs::read(here.path().join(name)));
    let [first, hand, like] = models.map(|model| model.expect("reads"));
    assert!(first == hand, "{by_hand}");
    assert!(first == like);
    // What evaluates has amounts, too; and the search finds them on the same scale.
    let evaluated = run("evaluate m t.csv --target price --device cpu --json").json();
    assert!(
        number(&evaluated, "r2") > 0.9 * number(&chosen, "r2"),
        "{evaluated}"
    );
    let auto = run(&format!("{fit} --auto --budget 4")).json();
    let auto = 1.0 - number(&auto, "r2");
    assert!(auto < 1.15 * better, "{auto} for {better}");
}

#[test]
fn logarithms_are_refused_where_there_are_none() {
    let here = here();
    prices(&here.path().join("t.csv"), 60);
    let fit = "fit t.csv --target price --features 30 --device cpu -q --target-scale log";
    for (more, says) in [
        ("--model svr", "--target-scale log"),
        ("--checkpoint steps", "--target-scale log"),
        ("--leaves 20", "--target-scale log"),
    ] {
        bochner(here.path(), &format!("{fit} {more}"), &[]).fails(&[says]);
    }
    let text = fs::read_to_string(here.path().join("t.csv")).expect("reads");
    fs::write(here.path().join("t.csv"), format!("{text}0.5,0.5,-2\n")).expect("written");
    let run = bochner(here.path(), fit, &[]);
    run.fails(&["a target is -2", "--target-scale as-is"]);
}
