//! Tests of hypothesis from the command line.

use crate::{adapters, bochner, digits};
use bochner::seed::{Seed, Stream};
use serde_json::Value;
use std::{fmt::Write, fs, path::Path};
use tempfile::TempDir;

fn here() -> TempDir {
    TempDir::new().expect("a temporary directory")
}

/// Normal columns "u", "v", "w"; `change` makes a row of others out of one of them.
fn table(path: &Path, rows: usize, seed: u64, change: fn([f64; 3]) -> [f64; 3]) {
    let mut draws = Seed(seed).stream(Stream::Sample, 0);
    let mut text = String::from("u,v,w\n");
    for _ in 0..rows {
        let [u, v, w] = change([(); 3].map(|()| draws.normal()));
        writeln!(text, "{u},{v},{w}").expect("a string");
    }
    fs::write(path, text).expect("written");
}

fn number(report: &Value, key: &str) -> f64 {
    let value = report[key].as_f64();
    value.unwrap_or_else(|| panic!("no number {key:?} in {report}"))
}

/// The sums of two halves of a file, without its rows.
#[test]
fn drift_is_seen_on_sums() {
    let here = here();
    let path = |name: &str| here.path().join(name);
    let run = |command: &str| bochner(here.path(), command, &[]);
    table(&path("a.csv"), 400, 11, |row| row);
    table(&path("b.csv"), 400, 12, |row| row);
    table(&path("c.csv"), 400, 13, |[u, v, w]| [u + 0.8, v, w]);
    let text = |name: &str| fs::read_to_string(path(name)).expect("reads");
    let rest = |name: &str| text(name).split_once('\n').expect("lines").1.to_owned();
    for (name, second) in [("same", "b.csv"), ("other", "c.csv")] {
        fs::write(path(&format!("{name}.csv")), text("a.csv") + &rest(second)).expect("writes");
        for part in [1, 2] {
            run(&format!(
                "fit {name}.csv --target w --lambda 1e-3 --features 64 --sigma 1.5 --device cpu -q \
                 --half-life 150 --shard {part}/2 --partial {name}{part}.sums"
            ))
            .ok();
        }
    }
    let same = run("drift same1.sums same2.sums --level 0.001 --json")
        .ok()
        .json();
    assert_eq!(same["drift"], false, "{same}");
    assert_eq!(number(&same, "rows_a"), 400.0);
    // Of h / ln 2 rows twice as many count, less those of the past that there are not.
    let effective = number(&same, "effective_rows_b");
    assert!((300.0..400.0).contains(&effective), "{same}");
    let other = run("drift other1.sums other2.sums --level 0.001 --json")
        .ok()
        .json();
    assert_eq!(other["drift"], true, "{other}");
    assert!(number(&other, "p_value") < 1e-3, "{other}");
    let people = run("drift other1.sums other2.sums").ok();
    assert!(people.stdout.contains("the samples differ"), "{people:?}");
    // "w" is noise in all of them.
    for report in [&same, &other] {
        assert_eq!(report["drift_of_targets"], false, "{report}");
        assert_eq!(
            (&report["targets"], &report["differs_most"]),
            (&1.into(), &"w".into())
        );
    }
    for (command, says) in [
        ("drift same1.sums same1.sums", "part 1/2 of the same data"),
        (
            "drift same1.sums b.csv",
            "b.csv is none; name two of one kind",
        ),
        (
            "drift same1.sums same2.sums --features 9",
            "--features is for files of rows",
        ),
        (
            "drift same1.sums same2.sums --permutations 9",
            "no rows to exchange",
        ),
    ] {
        run(command).fails(&[says]);
    }
}

/// Labels that turn round are drift of the target alone, and classes that came anew are no target
/// that both have.
#[test]
fn targets_that_follow_rows_otherwise_are_seen_on_sums() {
    let here = here();
    let run = |command: &str| bochner(here.path(), command, &[]);
    let mut draws = Seed(21).stream(Stream::Sample, 0);
    for (name, turns) in [("same", false), ("turned", true)] {
        let mut text = String::from("u,v,kind\n");
        for i in 0..600 {
            let [u, v, noise] = [(); 3].map(|()| draws.normal());
            let large = (u + 0.5 * noise > 0.0) != (turns && i >= 300);
            let kind = u8::from(large);
            writeln!(text, "{u},{v},{kind}").expect("a string");
        }
        fs::write(here.path().join(format!("{name}.csv")), text).expect("written");
        for part in [1, 2] {
            run(&format!(
                "fit {name}.csv --target kind --task classification --features 64 --sigma 1.5 \
                 --lambda 1e-3 --device cpu -q --shard {part}/2 --partial {name}{part}.sums"
            ))
            .ok();
        }
    }
    let same = run("drift same1.sums same2.sums --level 0.01 --json")
        .ok()
        .json();
    assert_eq!(
        (&same["drift"], &same["drift_of_targets"]),
        (&false.into(), &false.into()),
        "{same}"
    );
    let turned = run("drift turned1.sums turned2.sums --level 0.01 --json")
        .ok()
        .json();
    assert_eq!(
        (&turned["drift"], &turned["drift_of_targets"]),
        (&false.into(), &true.into()),
        "{turned}"
    );
    assert!(number(&turned, "p_value_of_targets") < 1e-6, "{turned}");
    assert!(number(&turned, "statistic_of_targets") > 3.0, "{turned}");
    let people = run("drift turned1.sums turned2.sums").ok().stdout;
    assert!(
        people.contains("depend on the rows differently, at level 0.05"),
        "{people}"
    );
}

#[test]
fn drift_is_found_and_the_column_named() {
    let here = here();
    let path = |name: &str| here.path().join(name);
    table(&path("a.csv"), 400, 1, |row| row);
    table(&path("same.csv"), 300, 2, |row| row);
    table(&path("other.csv"), 300, 3, |[u, v, w]| [u, v + 0.6, w]);
    let options = "--features 128 --device cpu --permutations 200";
    let same = bochner(here.path(), &format!("drift a.csv same.csv {options}"), &[]).ok();
    assert!(
        same.stdout.contains("no difference found, at level 0.05"),
        "{same:?}"
    );
    let drifted = format!("drift a.csv other.csv {options}");
    let people = bochner(here.path(), &drifted, &[]).ok();
    assert!(people.stdout.contains("the samples differ"), "{people:?}");
    let first = people
        .stdout
        .lines()
        .skip_while(|l| !l.starts_with("column "))
        .nth(1);
    assert!(first.expect("a column").starts_with("v "), "{people:?}");
    let report = bochner(here.path(), &drifted, &["--json"]).json();
    assert_eq!(report["drift"], true, "{report}");
    assert!((number(&report, "p_value") - 1.0 / 201.0).abs() < 1e-12);
    assert_eq!(
        (number(&report, "rows_a"), number(&report, "rows_b")),
        (400.0, 300.0)
    );
    assert!(number(&report, "mmd2") < number(&report, "mmd2_biased"));
    let v = &report["columns_by_shift"][0];
    assert_eq!(v["name"], "v");
    // Columns are chosen as by other commands.
    let chosen = format!("{drifted} --columns u,w --listed 1");
    let of_two = bochner(here.path(), &chosen, &["--json"]).json();
    assert_eq!(
        of_two["columns_became"],
        serde_json::json!(["u: numbers", "w: numbers"])
    );
    let shown = bochner(here.path(), &chosen, &[]).ok().stdout;
    let listed = shown.lines().skip_while(|l| !l.starts_with("column "));
    assert_eq!(listed.count(), 2, "{shown}");
    assert!((number(v, "mean_difference") - 0.6).abs() < 0.25, "{v}");
    assert_eq!(report["columns_by_shift"].as_array().map(Vec::len), Some(3));
    // The limit agrees, and says so.
    let arguments = "drift a.csv other.csv --features 128 --device cpu --null asymptotic --json";
    let limit = bochner(here.path(), arguments, &[]).json();
    assert!(number(&limit, "p_value") < 1e-6, "{limit}");
    assert_eq!(limit["null"], "asymptotic");
    for (name, _) in adapters() {
        let arguments = "drift a.csv other.csv --features 128 --permutations 200 --json";
        let same = bochner(here.path(), arguments, &["--device", name]).json();
        let ratio = number(&same, "mmd2") / number(&report, "mmd2");
        assert!((ratio - 1.0).abs() < 1e-3, "{name}: {ratio}");
    }
}

#[test]
fn drift_leaves_targets_out_and_says_what_it_cannot_do() {
    let here = here();
    let digits = digits();
    let arguments = "--target label --features 64 --permutations 50 --device cpu --json";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let run = bochner(
        here.path(),
        "drift",
        &[&[&*digits, &*digits], &*arguments].concat(),
    );
    let report = run.json();
    assert_eq!(
        (report["columns"].as_u64(), &report["drift"]),
        (Some(64), &false.into())
    );
    assert_eq!(number(&report, "mmd2_biased"), 0.0);
    table(&here.path().join("a.csv"), 30, 1, |row| row);
    fs::write(here.path().join("one.csv"), "u,v,w\n1,2,3\n").expect("written");
    fs::write(here.path().join("names.csv"), "u,w,v\n1,2,3\n4,5,6\n").expect("written");
    fs::write(here.path().join("two.csv"), "u,v\n1,2\n3,4\n").expect("written");
    let fails = |arguments: &str, fragments: &[&str]| {
        bochner(here.path(), arguments, &["--device", "cpu"]).fails(fragments);
    };
    fails(
        "drift a.csv one.csv",
        &["second sample has 1 row", "at least 2"],
    );
    fails("drift a.csv names.csv", &["'v'", "'w'", "one order"]);
    fails("drift a.csv two.csv", &["3 columns", "second 2"]);
    fails("drift a.csv a.csv --level 1.5", &["between 0 and 1"]);
    fails("drift a.csv a.csv --permutations 0", &["1 or more"]);
    fails("drift a.csv a.csv --map binning", &["--map"]);
    let both = "drift a.csv a.csv --null asymptotic --permutations 9";
    fails(both, &["--permutations", "--null permutation"]);
}

#[test]
fn dependence_is_found_and_explained_away() {
    let here = here();
    // A chain u -> w -> v.
    table(&here.path().join("chain.csv"), 800, 5, |[u, e, f]| {
        let w = u + 0.5 * f;
        [u, (1.5 * w).tanh() + 0.4 * e, w]
    });
    let run = |more: &str| {
        let arguments = format!("independence chain.csv --x u --y v --device cpu {more}");
        bochner(here.path(), &arguments, &[])
    };
    let people = run("").ok();
    assert!(
        people.stdout.contains("x and y depend on each other, at"),
        "{people:?}"
    );
    let report = run("--json").json();
    assert_eq!(
        (&report["dependent"], &report["test"]),
        (&true.into(), &"HSIC".into())
    );
    assert!(number(&report, "p_value") < 1e-6 && number(&report, "rows") == 800.0);
    let exchanged = run("--features 20 --permutations 99 --json").json();
    assert_eq!(number(&exchanged, "p_value"), 0.01);
    for test in ["rcot", "rcit"] {
        let report = run(&format!("--given w --variant {test} --sigma median --json")).json();
        assert_eq!(report["dependent"], false, "{report}");
        assert_eq!(report["given"][0], 2);
    }
    // Few rows take fewer features where nobody says how many.
    table(&here.path().join("few.csv"), 121, 6, |[u, e, f]| {
        [u, e, u + 0.5 * f]
    });
    let few = "independence few.csv --x u --y v --given w --device cpu --json";
    let few = bochner(here.path(), few, &[]).json();
    assert_eq!(number(&few, "features"), 60.0, "{few}");
    let by_number = run("--given 2 --sigma median --json").json();
    assert_eq!(by_number["dependent"], false, "{by_number}");
    let fails = |more: &str, fragments: &[&str]| run(more).fails(fragments);
    fails("--given x", &["--given", "no column 'x'", "0 to 2"]);
    fails("--given v", &["is in --y and in --given"]);
    fails("--variant rcit", &["--given"]);
    fails("--given w --permutations 9", &["--null asymptotic"]);
    fails("--map binning", &["--map"]);
    fails(
        "--given w --features 500",
        &["800 rows for 500 features", "--features"],
    );
}

/// Texts, amounts and dates are what a fit makes of them, by both files at once; a column that is
/// not named may hold anything.
#[test]
fn tables_of_text_are_tested_and_said() {
    let here = here();
    let mut draws = Seed(4).stream(Stream::Sample, 0);
    for (name, share) in [("a.csv", 0.3), ("b.csv", 0.5)] {
        let mut text = String::from("id,size,city,rent,since,notes\n");
        for i in 0..500 {
            let bern = draws.uniform() < share;
            let city = match i % 100 {
                7 if name == "b.csv" => "Olten",
                _ if bern => "Bern",
                _ => "Chur",
            };
            let rent = 900.0 + 100.0 * f64::from(u8::from(bern)) + 90.0 * draws.normal();
            let (size, day, note) = (draws.normal(), 1 + i % 28, ["7", "x", ""][i % 3]);
            writeln!(
                text,
                "{i},{size},{city},{rent:.1} CHF,2024-02-{day:02},{note}"
            )
            .expect("a string");
        }
        fs::write(here.path().join(name), text).expect("written");
    }
    let drift = "drift a.csv b.csv --ignore notes --features 128 --permutations 200 --device cpu";
    let run = bochner(here.path(), &format!("{drift} --json"), &[]);
    let report = run.json();
    let became = [
        "id: tells rows apart, left out",
        "size: numbers",
        "city: 3 categories",
        "rent: amounts in CHF",
        "since: dates",
    ];
    assert_eq!(
        report["columns_became"],
        serde_json::json!(became),
        "{report}"
    );
    assert_eq!(
        (&report["drift"], number(&report, "columns")),
        (&true.into(), 6.0)
    );
    assert_eq!(
        report["texts_of_b_alone"],
        serde_json::json!(["city=Olten"])
    );
    assert_eq!(report["texts_of_a_alone"], serde_json::json!([]));
    let first = &report["columns_by_shift"][0]["name"];
    assert!(
        first.as_str().is_some_and(|name| name.starts_with("city=")),
        "{report}"
    );
    let people = bochner(here.path(), drift, &[]).ok();
    for said in ["2 numeric", "in the second alone", "city=Olten"] {
        assert!(people.stdout.contains(said), "{people:?}");
    }
    assert!(
        people.stderr.contains("\"id\": tells rows apart"),
        "{people:?}"
    );
    let given = |more: &str| {
        let arguments = "independence a.csv --features 26 --device cpu --json";
        bochner(here.path(), &format!("{arguments} {more}"), &[]).json()
    };
    let report = given("--x rent --y city");
    assert_eq!(
        (&report["dependent"], &report["x"]),
        (&true.into(), &[3].into())
    );
    assert_eq!(
        given("--x rent --y size,since --given city")["dependent"],
        false
    );
}
