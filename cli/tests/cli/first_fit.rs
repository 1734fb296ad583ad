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
    let fit = "fit t.csv --target y --features 300 --test 0.3 --device cpu -q --json --quick -o m";
    bochner(folder, &format!("{fit} {more}"), &[]).json()
}

/// What was chosen as options.
fn in_words(of: &Value) -> String {
    let text = |name: &str| of[name].as_str().expect("text");
    let sigma = match of["lengthscales"].as_array() {
        Some(each) => {
            let each: Vec<String> = each.iter().map(Value::to_string).collect();
            Some(each.join(","))
        }
        None => text("bandwidth").strip_prefix("sigma ").map(str::to_owned),
    };
    let linear = if of["linear"].as_bool().expect("a truth") {
        "yes"
    } else {
        "no"
    };
    let bandwidth = match sigma {
        Some(sigma) => format!("--sigma {sigma}"),
        None => format!("--gamma {}", text("bandwidth")),
    };
    let standardize = text("standardize");
    format!("{bandwidth} --standardize={standardize} --linear {linear}")
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
            let fit = "fit t.csv --target y --features 100 --device cpu -q --json --quick -o m";
            let report = bochner(here.path(), &format!("{fit} {more}"), &[]).json();
            let of = &report["chosen"]["chosen"];
            said.push(in_words(of));
        }
    }
    assert!(said.iter().all(|one| *one == said[0]), "{said:?}");
    let by_hand = &said[0];
    let fit = "fit t.csv --target y --features 100 --device cpu -q --quick";
    bochner(here.path(), &format!("{fit} -o chosen.model"), &[]).ok();
    bochner(here.path(), &format!("{fit} {by_hand} -o hand.model"), &[]).ok();
    let [chosen, hand] =
        ["chosen.model", "hand.model"].map(|name| fs::read(here.path().join(name)));
    assert!(chosen.expect("reads") == hand.expect("reads"), "{by_hand}");
}

/// A wave in one column and a line in eight: the columns stand beside the features, which is said,
/// kept, and known to whatever takes the model.
#[test]
fn a_line_stands_beside_waves() {
    let here = here();
    let run = |command: &str| bochner(here.path(), command, &[]);
    let mut text = "a,b,c,d,e,f,g,h,y\n".to_owned();
    for i in 0..1300 {
        let x: Vec<f64> = (1..=8)
            .map(|j| {
                4.0 * (f64::from(i) * (0.1 + 0.618_033_988 * f64::from(j)).sqrt()).fract() - 2.0
            })
            .collect();
        let line: f64 = x
            .iter()
            .zip(1..)
            .map(|(v, j)| v * f64::from(j % 3 - 1))
            .sum();
        let y = 2.0 * (2.0 * x[0]).sin() + 3.0 * line + 0.05 * f64::from((i * 7919) % 13);
        let row: Vec<String> = x.iter().chain([&y]).map(ToString::to_string).collect();
        writeln!(text, "{}", row.join(",")).expect("a string");
    }
    fs::write(here.path().join("t.csv"), text).expect("written");
    let fit = "fit t.csv --target y --features 300 --test 0.3 --device cpu -q --json";
    let chosen = run(&format!("{fit} --quick -o m")).json();
    let without = run(&format!("{fit} --quick --linear no -o without")).json();
    let of = &chosen["chosen"]["chosen"];
    assert_eq!(of["linear"], true, "{of}");
    let candidates = |of: &Value| {
        of["chosen"]["candidates"]
            .as_array()
            .expect("a list")
            .clone()
    };
    assert!(
        candidates(&without)
            .iter()
            .all(|one| one["linear"] == false)
    );
    let [with, without] = [&chosen, &without].map(|of| 1.0 - number(of, "r2"));
    assert!(with < 0.95 * without, "{with} for {without}");
    // Written out by hand, and as the job has it.
    run(&format!("{fit} {} -o hand", in_words(of))).ok();
    run("fit t.csv --target y --like m --test 0.3 --device cpu -q -o like").ok();
    let models = ["m", "hand", "like"].map(|name| fs::read(here.path().join(name)));
    let [first, hand, like] = models.map(|model| model.expect("reads"));
    assert!(first == hand && first == like);
    let shown = run("show m --json").json();
    assert_eq!(shown["job"]["linear"], "yes", "{shown}");
    let said = run("fit t.csv --target y --features 300 --device cpu --quick")
        .ok()
        .stdout;
    assert!(said.contains(", with a linear part; "), "{said}");
    // A search has none unless it is asked for.
    let auto = run(&format!("{fit} --auto --budget 4")).json();
    assert!(candidates(&auto).iter().all(|one| one["linear"] == false));
    let asked = run(&format!("{fit} --sigma auto --budget 3 --linear yes")).json();
    let map = asked["map"].as_str().expect("text");
    assert!(map.contains("beside"), "{map}");
    run("fit t.csv --target y --model kmeans --linear yes --device cpu")
        .fails(&["--linear yes is not for --model kmeans"]);
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
    let chosen = run(&format!("{fit} --quick -o m")).json();
    let as_is = run(&format!("{fit} --quick --target-scale as-is")).json();
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
    let by_hand = format!(
        "{fit} --target-scale log {} -o hand",
        in_words(&chosen["chosen"]["chosen"])
    );
    run(&by_hand).ok();
    run("fit t.csv --target price --like m --test 0.3 --device cpu -q -o like").ok();
    let models = ["m", "hand", "like"].map(|name| fs::read(here.path().join(name)));
    let [first, hand, like] = models.map(|model| model.expect("reads"));
    assert!(first == hand, "{by_hand}");
    assert!(first == like);
    // Sums that are kept on the way, and of shards, are brought back by the same rows.
    run("fit t.csv --target price --features 200 --device cpu -q -o all --quick").ok();
    run("fit t.csv --target price --features 200 --device cpu -q -o kept --checkpoint steps").ok();
    let predicted = |model: &str| {
        run(&format!(
            "predict {model} t.csv -o {model}.npy --device cpu -q"
        ))
        .ok();
        fs::read(here.path().join(format!("{model}.npy"))).expect("reads")
    };
    assert!(predicted("all") == predicted("kept"));
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
        ("--leaves 20", "--target-scale log"),
    ] {
        bochner(here.path(), &format!("{fit} {more}"), &[]).fails(&[says]);
    }
    let text = fs::read_to_string(here.path().join("t.csv")).expect("reads");
    fs::write(here.path().join("t.csv"), format!("{text}0.5,0.5,-2\n")).expect("written");
    let run = bochner(here.path(), fit, &[]);
    run.fails(&["a target is -2", "--target-scale as-is"]);
}
