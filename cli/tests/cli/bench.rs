//! Measuring and checking through the binary.

use crate::{adapters, bochner};
use std::process::{Command, Stdio};
use tempfile::TempDir;

#[test]
fn one_shape_on_the_cpu_reports_time_share_and_error() {
    let here = TempDir::new().expect("directory");
    let args = "bench --device cpu --op projection-paired --rows 64 --dim 8 --features 32 --seconds 0.5 --json";
    let object = bochner(here.path(), args, &[]).json();
    let ceilings = &object["ceilings"];
    for key in [
        "copy_gb_per_second",
        "gflop_per_second",
        "round_trip_seconds",
    ] {
        assert!(ceilings[key].as_f64().is_some_and(|v| v > 0.0), "{object}");
    }
    let cases = object["cases"].as_array().expect("an array");
    let [case] = cases.as_slice() else {
        panic!("{object}")
    };
    for key in ["median_seconds", "min_seconds", "share", "error"] {
        assert!(case[key].as_f64().is_some_and(|v| v > 0.0), "{case}");
    }
    assert!(case["runs"].as_u64().is_some_and(|n| n >= 10), "{case}");
    assert!(case["error"].as_f64().is_some_and(|e| e < 1e-5), "{case}");
}

#[test]
fn the_check_passes_on_every_device_with_its_controls() {
    let here = TempDir::new().expect("directory");
    // One op: that all are checked is seen beside the code, and tests/devices/parity.rs checks
    // them.
    let object = bochner(here.path(), "bench --check --op place --json --quiet", &[]).json();
    assert_eq!(object["passed"], true, "{object}");
    // Every adapter there is was checked, and the CPU.
    let results = object["results"].as_array().expect("an array");
    let mut checked: Vec<(&str, Vec<&str>)> = Vec::new();
    for result in results {
        let text = |key: &str| result[key].as_str().expect("text");
        match checked.last_mut() {
            Some((device, ops)) if *device == text("device") => ops.push(text("op")),
            _ => checked.push((text("device"), vec![text("op")])),
        }
    }
    let (cpu, ops) = &checked[0];
    assert!(cpu.starts_with("CPU"), "{cpu}");
    assert_eq!(*ops, ["place"]);
    assert!(checked.iter().all(|(_, other)| other == ops), "{checked:?}");
    let names: Vec<_> = checked[1..].iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), adapters().len(), "{names:?}");
    for ((name, _), checked) in adapters().iter().zip(names) {
        assert!(checked.contains(name.as_str()), "{name} is not {checked}");
    }
    for result in object["results"].as_array().expect("an array") {
        let outcome = &result["outcome"];
        assert!(
            outcome["worst"].as_f64().is_some_and(|w| w < 1.0),
            "{result}"
        );
        assert!(
            outcome["controls"].as_u64().is_some_and(|n| n > 0),
            "{result}"
        );
        assert!(
            outcome["control"].as_f64().is_some_and(|c| c > 1.0),
            "{result}"
        );
    }
}

#[test]
fn unknown_ops_and_empty_shapes_are_wrong_usage() {
    let here = TempDir::new().expect("directory");
    for (args, fragment) in [
        ("bench --op projection", "projection-paired"),
        ("bench --features 0", "1 or more"),
        ("bench --rows 3", "--features"),
        ("bench --seconds 0", "positive"),
        ("bench --tune --seconds 1", "--seconds"),
        ("bench --check --full", "--full"),
        ("bench --check --op projection-paired", "projection, gram"),
    ] {
        let run = bochner(here.path(), args, &[]);
        assert_eq!(run.code, Some(2), "{run:?}");
        run.fails(&[fragment]);
    }
}

#[test]
fn cases_are_served_line_by_line() {
    let here = TempDir::new().expect("directory");
    let mut command: Command = crate::command(here.path());
    command.args(["bench", "--serve", "--device", "cpu", "--threads", "1"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    let requests =
        "{\"op\":\"gram\",\"rows\":64,\"features\":16,\"times\":3,\"error\":true}\nnonsense\n";
    let mut stdin = child.stdin.take().expect("piped");
    std::io::Write::write_all(&mut stdin, requests.as_bytes()).expect("takes them");
    drop(stdin);
    let output = child.wait_with_output().expect("ends");
    let lines: Vec<serde_json::Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    // Peers are compared on as much.
    for part in ["rows", "transforms", "columns"] {
        let much = lines[0]["compared"][part].as_u64();
        assert!(much.is_some_and(|n| n > 0), "{lines:?}");
    }
    assert_eq!(
        lines[1]["seconds"].as_array().map(Vec::len),
        Some(3),
        "{lines:?}"
    );
    assert!(
        lines[1]["error"].as_f64().is_some_and(|e| e < 1e-6),
        "{lines:?}"
    );
    assert!(lines[2]["failed"].is_string(), "{lines:?}");
}

#[test]
fn forms_are_tuned_once_for_an_adapter_and_a_damaged_cache_is_written_again() {
    let Some((device, _)) = adapters().last() else {
        println!("no adapter: nothing to tune");
        return;
    };
    let (here, cache) = (TempDir::new().expect("directory"), TempDir::new().unwrap());
    let run = |args: &[&str], cache: &str| {
        let mut command: Command = crate::command(here.path());
        command.args(["bench", "--json", "--device", device]);
        let output = command.args(args).env("BOCHNER_CACHE", cache).output();
        let output = output.expect("starts");
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON")
    };
    let folder = cache.path().to_str().expect("UTF-8");
    let case = [
        "--op",
        "product",
        "--rows",
        "96",
        "--dim",
        "8",
        "--features",
        "96",
        "--seconds",
        "1",
    ];
    assert!(run(&case, folder)["tuned"].as_object().unwrap().is_empty());
    // The op of the fewest forms, for a software adapter compiles up to a second for each; where
    // subgroups cannot shuffle it has one, and nothing to choose.
    let mut tune = ["--tune", "--op", "transform"];
    let mut tuned = run(&tune, folder);
    if tuned["tuned"] == serde_json::json!([]) {
        tune[2] = "product";
        tuned = run(&tune, folder);
    }
    let classes = tuned["tuned"].as_array().expect("an array");
    assert!(classes.len() > 1, "{tuned}");
    for class in classes {
        assert!(class["seconds"].as_object().unwrap().len() >= 2, "{class}");
        let winner = class["tile"].as_str().expect("a name");
        assert!(
            class["seconds"][winner].as_f64().is_some_and(|s| s > 0.0),
            "{class}"
        );
    }
    assert_eq!(
        run(&case, folder)["tuned"].as_object().unwrap().len(),
        classes.len()
    );
    assert!(run(&case, "off")["tuned"].as_object().unwrap().is_empty());
    // Compiled pipelines may lie beside the choices.
    for file in std::fs::read_dir(cache.path()).unwrap() {
        std::fs::write(file.unwrap().path(), b"bochner1 and nonsense").unwrap();
    }
    assert!(run(&case, folder)["tuned"].as_object().unwrap().is_empty());
    run(&tune, folder);
    assert_eq!(
        run(&case, folder)["tuned"].as_object().unwrap().len(),
        classes.len()
    );
}

#[test]
fn the_spread_of_the_tiles_can_be_seen() {
    let here = TempDir::new().expect("directory");
    let Some((device, _)) = adapters().last() else {
        println!("no adapter: no tiles");
        return;
    };
    let run = |args: &[&str]| {
        let mut command: Command = crate::command(here.path());
        let shape = [
            "--op",
            "product",
            "--rows",
            "96",
            "--dim",
            "8",
            "--features",
            "96",
            "--seconds",
            "1",
        ];
        command
            .args(["bench", "--json", "--device", device])
            .args(shape);
        command
            .args(args)
            .env("BOCHNER_CACHE", "off")
            .output()
            .expect("starts")
    };
    let output = run(&["--tiles"]);
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let cases = object["cases"].as_array().expect("an array");
    let mut tiles: Vec<_> = cases
        .iter()
        .map(|case| case["tile"].as_str().unwrap())
        .collect();
    tiles.sort_unstable();
    tiles.dedup();
    // All that 96 rows can take.
    assert_eq!(tiles.len(), 17, "{object}");
    for case in cases {
        assert!(case["error"].as_f64().is_some_and(|e| e < 1e-5), "{case}");
    }
    assert_eq!(run(&["--tile", "64"]).status.code(), Some(2));
}
