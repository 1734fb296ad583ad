//! `--map auto`, and the table of where maps cross.

use crate::{bochner, command, digits, finish};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

/// Runs with measurements kept beside the data: the report and what was said on stderr.
fn kept(here: &Path, arguments: &str) -> (Value, String) {
    let mut command = command(here);
    command.args(arguments.split_whitespace());
    command.env("BOCHNER_CACHE", here.join("cache"));
    let run = finish(&mut command);
    let said = run.stderr.clone();
    (run.json(), said)
}

#[test]
fn auto_names_its_map_and_gives_the_same_model_again() {
    let here = TempDir::new().expect("a temporary directory");
    let fit = format!(
        "fit {} --target label --map auto --features 512 --test 0.5 --device cpu --json",
        digits()
    );
    let (first, said) = kept(here.path(), &format!("{fit} -o first"));
    let (second, _) = kept(here.path(), &format!("{fit} -o second"));
    let name = first["map_name"].as_str().expect("a name");
    assert!(["fourier", "fastfood", "sorf"].contains(&name), "{first}");
    let auto = &first["auto"];
    assert_eq!(auto["map"], name, "{first}");
    assert_eq!(
        (&auto["kept"], &second["auto"]["kept"]),
        (&false.into(), &true.into())
    );
    assert_eq!(auto["seconds_per_row"], second["auto"]["seconds_per_row"]);
    let costs = auto["seconds_per_row"].as_object().expect("an object");
    assert_eq!(costs.len(), 3, "{auto}");
    let lines: Vec<_> = said.lines().filter(|line| line.contains("auto")).collect();
    assert_eq!(lines.len(), 1, "{said}");
    let fragment = format!("auto takes --map {name}: ");
    assert!(lines[0].contains(&fragment), "{said}");
    // The name alone gives the same model.
    let named = fit.replace("auto", name);
    let (third, _) = kept(here.path(), &format!("{named} -o third"));
    assert_eq!(third["auto"], Value::Null, "{third}");
    let read = |name: &str| std::fs::read(here.path().join(name)).expect("a model");
    let (first_model, second_model) = (read("first"), read("second"));
    assert!(first_model == second_model && first_model == read("third"));
    assert!(
        first["accuracy"].as_f64().is_some_and(|a| a > 0.9),
        "{first}"
    );
}

#[test]
fn auto_says_why_where_there_is_no_choice_and_serves_all_commands() {
    let here = TempDir::new().expect("a temporary directory");
    let digits = digits();
    let run = |arguments: &str| {
        bochner(
            here.path(),
            &format!("{arguments} --target label --device cpu --json"),
            &[],
        )
        .json()
    };
    let object = run(&format!(
        "featurize {digits} --map auto --kernel laplacian --features 64 -o z.npy"
    ));
    assert_eq!(object["map_name"], "fourier", "{object}");
    let reason = object["auto"]["reason"].as_str().expect("a reason");
    assert!(reason.contains("laplacian"), "{object}");
    let object = run(&format!(
        "kernel-error {digits} --map auto,sorf --features 64 --rows 100 --seeds 2"
    ));
    let results = object["results"].as_array().expect("an array");
    assert_eq!(results.len(), 2, "{object}");
    assert_eq!(results[0]["auto"]["map"], results[0]["map"], "{object}");
    assert_eq!(results[1]["auto"], Value::Null, "{object}");
}

#[test]
fn the_crossing_has_times_and_errors_of_every_map() {
    let here = TempDir::new().expect("a temporary directory");
    let arguments = "bench --crossing --device cpu --dim 40 --features 128";
    let object = bochner(here.path(), &format!("{arguments} --json"), &[]).json();
    let cases = object["crossing"].as_array().expect("an array");
    let [case] = cases.as_slice() else {
        panic!("{object}")
    };
    assert_eq!((&case["dim"], &case["features"]), (&40.into(), &128.into()));
    let maps = case["maps"].as_array().expect("an array");
    let names: Vec<_> = maps.iter().map(|map| map["map"].clone()).collect();
    assert_eq!(names, ["fourier", "fastfood", "sorf"]);
    for map in maps {
        assert!(map["seconds_per_row"].as_f64().is_some_and(|s| s > 0.0));
        // D = 128: about 1/sqrt(D), with or without a factor.
        let error = map["frobenius"]["mean"].as_f64().expect("a number");
        assert!(error > 0.01 && error < 0.2, "{map}");
    }
    let table = bochner(here.path(), arguments, &[]).ok().stdout;
    assert!(
        table
            .lines()
            .any(|line| line.trim_start().starts_with("40    128")),
        "{table}"
    );
    for (arguments, fragment) in [
        ("bench --crossing --rows 3", "--rows"),
        ("bench --crossing --features 3", "even"),
        ("bench --dim 3", "--features"),
    ] {
        let run = bochner(here.path(), arguments, &[]);
        assert!(
            run.code == Some(2) && run.stderr.contains(fragment),
            "{run:?}"
        );
    }
}
