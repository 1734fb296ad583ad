//! Listing and choosing devices, and what happens where there is no GPU.

use crate::{adapters, bochner, command, digits, finish};
use std::process::Command;
use tempfile::TempDir;

/// Hides every Vulkan driver.
fn without_drivers(command: &mut Command) -> &mut Command {
    let nothing = "/nonexistent/driver.json";
    command
        .env("VK_DRIVER_FILES", nothing)
        .env("VK_ICD_FILENAMES", nothing)
        .env("WGPU_BACKEND", "vulkan")
}

#[test]
fn the_listing_names_the_cpu_once_and_what_auto_takes() {
    let here = TempDir::new().expect("directory");
    let listing = bochner(here.path(), "devices --json", &[]).json();
    let devices = listing["devices"].as_array().expect("an array");
    let cpus = devices.iter().filter(|device| device["kind"] == "cpu");
    assert_eq!(cpus.count(), 1, "{listing}");
    for device in devices {
        for key in ["name", "driver", "backend"] {
            assert!(device[key].is_string(), "{device}");
        }
        assert!(device["usable"].is_boolean(), "{device}");
    }
    assert!(listing["auto"]["device"].is_string() && listing["auto"]["why"].is_string());
    let text = bochner(here.path(), "devices", &[]).ok().stdout;
    for (name, _) in adapters() {
        assert!(text.contains(name.as_str()), "{text}");
    }
    assert!(text.contains("auto takes: "), "{text}");
}

#[test]
fn without_drivers_auto_falls_back_with_one_note_and_gpu_refuses() {
    let here = TempDir::new().expect("directory");
    let fit = |device: &str| {
        let mut command = command(here.path());
        command.args([
            "fit",
            &digits(),
            "--target",
            "label",
            "--task",
            "classification",
        ]);
        command.args(["--features", "20", "--json", "--device", device]);
        finish(without_drivers(&mut command))
    };
    let run = fit("auto").ok();
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    assert!(run.stderr.starts_with("note: device: CPU"), "{run:?}");
    assert!(
        run.json()["device"]
            .as_str()
            .expect("text")
            .starts_with("CPU")
    );
    fit("gpu").fails(&["no GPU", "use --device cpu"]);
    fit("cpu").ok();
    let listing = finish(without_drivers(
        command(here.path()).args(["devices", "--json"]),
    ))
    .json();
    assert_eq!(listing["devices"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_variable_chooses_where_the_caller_does_not() {
    let here = TempDir::new().expect("directory");
    let listing = |device: &str| {
        let mut command = command(here.path());
        finish(
            command
                .args(["devices", "--json"])
                .env("BOCHNER_DEVICE", device),
        )
        .json()
    };
    let auto = &listing("cpu")["auto"];
    assert!(
        auto["device"].as_str().expect("text").starts_with("CPU"),
        "{auto}"
    );
    assert!(
        auto["why"]
            .as_str()
            .expect("text")
            .contains("BOCHNER_DEVICE"),
        "{auto}"
    );
    assert_eq!(listing("no such adapter")["auto"]["device"], "none");
}

#[test]
fn gpu_refuses_software_adapters_and_names_them() {
    if adapters().is_empty() || adapters().iter().any(|(_, kind)| kind != "software") {
        println!("not tested: this machine has a GPU, or no adapter at all");
        return;
    }
    let here = TempDir::new().expect("directory");
    let arguments = ["--target", "label", "--device", "gpu"];
    let run = bochner(
        here.path(),
        "fit",
        &[&[&*digits()], &arguments[..]].concat(),
    );
    let names: Vec<_> = adapters().iter().map(|(name, _)| name.as_str()).collect();
    run.fails(&names);
}

/// Other vector instructions give the same model to the bit, but for one number at a time, whose
/// rounding is its own, and say so; those that are not there are refused. Of 32 columns and more
/// matrix units (AMX), which AVX-512 brings along, have an order of their own.
#[test]
fn vector_instructions_can_be_chosen() {
    let here = TempDir::new().expect("directory");
    let table = std::fs::read_to_string(digits()).expect("the digits");
    let narrow: String = table
        .lines()
        .map(|line| {
            let cells: Vec<_> = line.split(',').collect();
            format!("{},{}\n", cells[18..46].join(","), cells[64])
        })
        .collect();
    std::fs::write(here.path().join("narrow.csv"), narrow).expect("written");
    let with = |set: &str, words: &str| {
        let mut command = command(here.path());
        finish(
            command
                .args(words.split_whitespace())
                .env("BOCHNER_CPU", set),
        )
    };
    let listing = with("scalar", "devices --json").json();
    let devices = listing["devices"].as_array().expect("an array");
    let cpu = devices
        .iter()
        .find(|device| device["kind"] == "cpu")
        .expect("the CPU");
    assert_eq!(cpu["driver"], "scalar");
    let sets = cpu["instruction_sets"].as_array().expect("an array");
    assert_eq!(sets.last(), Some(&"scalar".into()), "{cpu}");
    let fit = "fit narrow.csv --target label --device cpu --features 100 --test 0.3";
    let error = |set: &str| {
        let report = with(set, &format!("{fit} --json")).json();
        assert!(
            report["device"]
                .as_str()
                .is_some_and(|device| device.ends_with(set)),
            "{report}"
        );
        crate::number(&report, "accuracy")
    };
    let names = sets.iter().filter_map(|set| set.as_str());
    let all: Vec<f64> = names.clone().map(error).collect();
    let model = |set: &str| {
        with(set, &format!("{fit} -o {set}.model")).ok();
        let file = std::fs::read(here.path().join(format!("{set}.model"))).expect("a model");
        // The header, whose length comes first, says which instructions there were.
        let (length, rest) = file.split_at(8);
        let length = u64::from_le_bytes(length.try_into().expect("eight bytes"));
        rest[usize::try_from(length).expect("a length")..].to_vec()
    };
    let vectors: Vec<_> = names.filter(|set| *set != "scalar").map(model).collect();
    assert!(vectors.windows(2).all(|two| two[0] == two[1]));
    assert!(
        all.iter().all(|accuracy| (accuracy - all[0]).abs() < 0.01),
        "{all:?}"
    );
    with("sse9", fit).fails(&["BOCHNER_CPU", "sse9", "scalar"]);
    let missing = if cfg!(target_arch = "x86_64") {
        "neon"
    } else {
        "avx2"
    };
    with(missing, fit).fails(&[missing, "which this machine has not", "scalar"]);
}
