//! What the commands are for: fitting, predicting, scoring, featurizing.

use crate::{adapters, bochner, command, digits, finish, here, le, npy, number};
use bochner::{
    data::NpyWriter,
    seed::{Seed, Stream},
};
use ndarray::{Array1, Array2};
use ndarray_npy::{NpzWriter, read_npy};
use std::{fs::File, path::Path, process::Stdio};

fn draws(rows: usize, columns: usize) -> Array2<f64> {
    let mut stream = Seed(3).stream(Stream::Sample, 0);
    Array2::from_shape_simple_fn((rows, columns), || stream.normal())
}

fn write(path: &Path, rows: &Array2<f64>) {
    let mut file = NpyWriter::create(path, rows.ncols()).expect("creates");
    file.write_rows(rows.view()).expect("writes");
    file.finish().expect("finishes");
}

/// x.npy and y.npy: 600 rows, and two smooth targets.
fn smooth(directory: &Path) {
    let x = draws(600, 2);
    let y = Array2::from_shape_fn((600, 2), |(i, k)| match k {
        0 => 100.0 + x[[i, 0]].sin(),
        _ => x[[i, 0]] * x[[i, 1]],
    });
    write(&directory.join("x.npy"), &x);
    write(&directory.join("y.npy"), &y);
}

#[test]
fn the_main_job() {
    let here = here();
    let arguments = "--target label --features 2000 --gamma scale --test 0.5 --json --device cpu";
    let run = bochner(
        here.path(),
        "fit",
        &[&[&*digits()], &*arguments.split(' ').collect::<Vec<_>>()].concat(),
    );
    let report = run.json();
    assert!(number(&report, "accuracy") >= 0.96, "{report}");
    assert_eq!(
        number(&report, "rows") + number(&report, "test_rows"),
        1797.0
    );
    assert!(number(&report, "rows_per_second") > 0.0);
    for stage in ["survey", "fit", "solve", "test"] {
        assert!(number(&report["seconds"], stage) > 0.0, "{report}");
    }
    assert!(report["device"].as_str().expect("text").starts_with("CPU"));
    assert_eq!(report["classes"].as_array().map(Vec::len), Some(10));
    // gamma = 1 / (2 l^2), on the training rows.
    let lengthscale = number(&report, "lengthscale");
    let gamma = number(&report, "gamma");
    assert!(
        (gamma * 2.0 * lengthscale.powi(2) - 1.0).abs() < 1e-12,
        "{report}"
    );
}

#[test]
fn a_model_predicts_alike_wherever_it_was_fitted() {
    let here = here();
    let digits = digits();
    let fit = |model: &str, device: &str| {
        let arguments = [&*digits, "--device", device, "-o", model];
        bochner(
            here.path(),
            "fit --target label --features 300 --json",
            &arguments,
        )
        .json()
    };
    let predict = |model: &str, device: &str| -> Array1<f64> {
        let arguments = [model, &*digits, "--device", device];
        bochner(
            here.path(),
            "predict -q --target label -o p.npy",
            &arguments,
        )
        .ok();
        read_npy(here.path().join("p.npy")).expect("reads")
    };
    fit("cpu", "cpu");
    let cpu = predict("cpu", "cpu");
    let evaluated = bochner(
        here.path(),
        "evaluate cpu",
        &[&digits, "--target", "label", "--device", "cpu", "--json"],
    );
    assert!(number(&evaluated.json(), "accuracy") >= 0.96);
    for (name, _) in adapters() {
        let report = fit("gpu", name);
        assert!(
            report["device"]
                .as_str()
                .expect("text")
                .contains(name.as_str()),
            "{report}"
        );
        for (model, device) in [("gpu", &**name), ("gpu", "cpu"), ("cpu", name)] {
            let other = predict(model, device);
            let differ = cpu.iter().zip(&other).filter(|(a, b)| a != b).count();
            // Borderline rows only: 1 in 200.
            assert!(
                differ <= 9,
                "{model} on {device}: {differ} of {} differ",
                cpu.len()
            );
        }
    }
}

#[test]
fn regression_of_several_targets() {
    let here = here();
    smooth(here.path());
    let fit =
        "fit x.npy --targets y.npy --features 200 --sigma 2 --lambda 1e-7 --device cpu --json -o m";
    let report = bochner(here.path(), fit, &["--test", "0.25"]).json();
    assert!(number(&report, "rmse") < 0.05, "{report}");
    assert!(number(&report, "relative_error") < 0.001, "{report}");
    assert!(report["accuracy"].is_null() && report["task"] == "regression");
    assert!((number(&report, "gamma") - 0.125).abs() < 1e-12, "{report}");

    let elsewhere = bochner(
        here.path(),
        fit,
        &["--test-input", "x.npy", "--test-targets", "y.npy"],
    )
    .json();
    let evaluated = bochner(
        here.path(),
        "evaluate m x.npy --targets y.npy --device cpu --json",
        &[],
    )
    .json();
    assert_eq!(elsewhere["rmse"], evaluated["rmse"]);

    bochner(here.path(), "predict m x.npy -o p.npy --device cpu", &[]).ok();
    let predicted: Array2<f64> = read_npy(here.path().join("p.npy")).expect("reads");
    let y: Array2<f64> = read_npy(here.path().join("y.npy")).expect("reads");
    let rmse = ((&predicted - &y).mapv(|e| e * e).mean().expect("rows")).sqrt();
    assert!((rmse - number(&evaluated, "rmse")).abs() < 1e-12);
    bochner(here.path(), "predict m x.npy -o p.csv --device cpu", &[]).ok();
    let csv = std::fs::read_to_string(here.path().join("p.csv")).expect("reads");
    assert!(csv.starts_with("prediction_0,prediction_1\n"), "{csv}");
    assert_eq!(csv.lines().count(), 601);
}

#[test]
fn labels_of_text_are_written_by_name() {
    use bochner::prelude::*;
    let here = here();
    let x = draws(60, 2);
    write(&here.path().join("x.npy"), &x);
    let names = x
        .column(0)
        .mapv(|x| if x > 0.0 { "say \"up\"" } else { "down, or so" });
    let map = Fourier::new(Gaussian).features(64);
    let model = RidgeClassifier::on(map).device(&Device::cpu());
    let model = model.fit((&x, &names)).expect("fits");
    model.save(here.path().join("m")).expect("saves");
    bochner(here.path(), "predict m x.npy -o p.csv --device cpu -q", &[]).ok();
    let expected: String = (model.predict(&x).expect("predicts").iter())
        .map(|name| format!("\"{}\"\n", name.replace('"', "\"\"")))
        .collect();
    let written = std::fs::read_to_string(here.path().join("p.csv")).expect("written");
    assert_eq!(written, format!("prediction\n{expected}"));
    assert!(written.contains("\"say \"\"up\"\"\"\n"), "{written}");
    bochner(here.path(), "predict m x.npy -o p.npy --device cpu -q", &[])
        .fails(&["p.npy", "text", ".csv"]);
    assert!(!here.path().join("p.npy").exists());
}

#[test]
fn kernels_and_samplings_are_chosen_by_name() {
    let here = here();
    smooth(here.path());
    for (options, has_gamma) in [
        ("--kernel laplacian", true),
        (
            "--kernel matern52 --sampling orthogonal --standardize",
            false,
        ),
        ("--sampling sobol --sigma 2,3", false),
        (
            "--kernel cauchy --gamma median --form phase --features 201",
            true,
        ),
    ] {
        let fit = "fit x.npy --targets y.npy --lambda 1e-5 --test 0.2 --device cpu --json";
        let report = bochner(here.path(), &format!("{fit} {options}"), &[]).json();
        assert_eq!(report["gamma"].is_number(), has_gamma, "{report}");
        assert!(number(&report, "relative_error") < 0.02, "{report}");
    }
}

#[test]
fn an_archive_and_fortran_order_read_as_well() {
    let here = here();
    smooth(here.path());
    let x: Array2<f64> = read_npy(here.path().join("x.npy")).expect("reads");
    let y: Array2<f64> = read_npy(here.path().join("y.npy")).expect("reads");
    let columns: Vec<f64> = x.t().iter().copied().collect();
    npy(
        here.path().join("f.npy"),
        "<f8",
        true,
        "(600, 2)",
        &le(&columns),
    );
    let mut archive =
        NpzWriter::new_compressed(File::create(here.path().join("xy.npz")).expect("creates"));
    archive.add_array("X", &x).expect("adds");
    archive.add_array("y", &y).expect("adds");
    archive.finish().expect("finishes");
    let model = |input: &str| {
        let options = "--features 50 --standardize --gamma median --device cpu -q -o m";
        bochner(here.path(), &format!("fit {input} {options}"), &[]).ok();
        std::fs::read(here.path().join("m")).expect("reads")
    };
    let reference = model("x.npy --targets y.npy");
    assert!(reference == model("f.npy --targets y.npy"));
    assert!(reference == model("xy.npz"));
}

#[test]
fn features_are_the_same_in_any_chunks_and_close_on_any_device() {
    let here = here();
    write(&here.path().join("x.npy"), &draws(3000, 5));
    let featurize = |options: &str, more: &[&str]| -> Array2<f32> {
        let arguments =
            format!("featurize x.npy -o z.npy --features 30 --form phase --gamma 0.1 {options}");
        let report = bochner(here.path(), &arguments, &[more, &["--json"]].concat()).json();
        assert_eq!(number(&report, "rows"), 3000.0);
        assert!(
            report["seconds"]["survey"].is_null(),
            "a number needs no survey: {report}"
        );
        read_npy(here.path().join("z.npy")).expect("reads")
    };
    let whole = featurize("--device cpu", &[]);
    assert_eq!(whole.dim(), (3000, 30));
    assert_eq!(
        whole,
        featurize("--device cpu --memory 64K --threads 1", &[])
    );
    for (name, _) in adapters() {
        let z = featurize("--memory 64K", &["--device", name]);
        // The parity suite has the bounds; here it is about rows in their places.
        let worst = (&z - &whole)
            .iter()
            .fold(0.0_f32, |worst, e| worst.max(e.abs()));
        assert!(worst < 1e-4, "{name}: {worst}");
    }
}

#[test]
fn a_damaged_or_unwritable_cache_changes_nothing() {
    let here = here();
    write(&here.path().join("x.npy"), &draws(100, 5));
    for (i, (name, _)) in adapters().iter().enumerate() {
        let featurize = |cache: &Path| -> Array2<f32> {
            let mut command = command(here.path());
            let arguments = "featurize x.npy -o z.npy --features 30 --gamma 0.1 -q --device";
            command.args(arguments.split(' ')).arg(name);
            finish(command.env("BOCHNER_CACHE", cache)).ok();
            read_npy(here.path().join("z.npy")).expect("reads")
        };
        let whole = featurize(Path::new("off"));
        let cache = here.path().join(format!("cache-{i}"));
        assert_eq!(featurize(&cache), whole);
        // Nothing is kept where the adapter allows no such thing.
        let files = cache.read_dir().into_iter().flatten();
        let files: Vec<_> = files.map(|entry| entry.expect("is there").path()).collect();
        println!("{name} keeps {} files", files.len());
        for path in &files {
            std::fs::write(path, b"garbage").expect("writes");
        }
        assert_eq!(featurize(&cache), whole);
        for path in &files {
            assert_ne!(std::fs::read(path).expect("reads"), b"garbage");
        }
        // A file where the folder should be.
        assert_eq!(featurize(&here.path().join("x.npy")), whole);
        assert!(here.path().join("x.npy").is_file());
    }
    assert!(!here.path().join("off").exists());
}

/// 200,000 x 32 to 512 features, 410 MB of output, in no more memory than a tenth of the rows but
/// for half of that: whoever kept the output would have ten times as much, and whoever kept half of
/// the input and no more is not seen.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_rows() {
    let here = here();
    let block = draws(2000, 32).mapv(|v| v as f32);
    let [control, most] = [10, 100].map(|blocks| {
        let mut file = NpyWriter::create(here.path().join("x.npy"), 32).expect("creates");
        for _ in 0..blocks {
            file.write_rows(block.view()).expect("writes");
        }
        file.finish().expect("finishes");
        crate::faults::peak(here.path(), "featurize x.npy -o z.npy --features 512")
    });
    let times = most as f64 / control as f64;
    println!("peak memory: {most} bytes, {times:.2} times that of a tenth of the rows");
    assert!(
        times < 1.5,
        "{most} bytes, {control} of a tenth of the rows"
    );
    let size = std::fs::metadata(here.path().join("z.npy"))
        .expect("is there")
        .len();
    assert_eq!(size, 128 + 200_000 * 512 * 4);
}

#[test]
fn people_read_results_on_stdout_and_notes_on_stderr() {
    let here = here();
    let digits = digits();
    let arguments = [
        &*digits,
        "--target",
        "label",
        "--test",
        "0.3",
        "--device",
        "cpu",
        "--features",
        "50",
    ];
    let run = bochner(here.path(), "fit", &arguments).ok();
    for label in ["accuracy", "rows", "device", "gamma"] {
        assert!(
            run.stdout.lines().any(|line| line.starts_with(label)),
            "{run:?}"
        );
    }
    assert!(run.stderr.starts_with("note: classification"), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    let quiet = bochner(here.path(), "fit --quiet", &arguments).ok();
    assert_eq!(quiet.stderr, "");
    // Chosen by hand, there is nothing to remark on.
    let chosen = bochner(here.path(), "fit --task regression", &arguments).ok();
    assert_eq!(chosen.stderr, "");
    assert!(chosen.stdout.contains("rmse"), "{chosen:?}");
}

/// Where stderr is no terminal, iterations and rows are plain lines: each of them at 0 seconds,
/// none of work that is sooner done than the interval, and none with `--quiet`.
#[test]
fn a_log_has_lines_of_progress() {
    let here = here();
    let fit = format!(
        "fit {} --target label --task regression --map binning --features 20 --sigma 20 \
         --lambda 1e-3 --solver cg --device cpu",
        digits()
    );
    let each = bochner(here.path(), &format!("{fit} --progress-every 0"), &[]).ok();
    let lines: Vec<_> = each.stderr.lines().collect();
    assert!(lines.contains(&"fit: 1797 rows of 1797"), "{each:?}");
    let iterations = (lines.iter())
        .filter_map(|line| line.strip_prefix("fit: iteration "))
        .collect::<Vec<_>>();
    for (i, line) in iterations.iter().enumerate() {
        let begin = format!("{}, residual ", i + 1);
        assert!(line.starts_with(&begin), "{each:?}");
    }
    assert!(iterations.len() > 3, "{each:?}");
    assert!(
        iterations.iter().any(|line| line.ends_with(" s left")),
        "{each:?}"
    );
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("survey: 1,797 rows, ")),
        "{each:?}"
    );
    assert!(!each.stderr.contains(['\r', '\u{1b}']), "{each:?}");
    let seldom = format!("{fit} --progress-every 3600");
    let seldom = bochner(here.path(), &seldom, &[]).ok();
    assert!(!seldom.stderr.contains("fit: "), "{seldom:?}");
    let quiet = bochner(
        here.path(),
        &format!("{fit} --progress-every 0 --quiet"),
        &[],
    )
    .ok();
    assert_eq!(quiet.stderr, "");
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let here = here();
    let mut child = command(here.path())
        .args([
            "fit",
            &digits(),
            "--target",
            "label",
            "--device",
            "cpu",
            "--features",
            "400",
            "-q",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("waits");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn help_and_version_go_to_stdout() {
    let here = here();
    for arguments in ["--help", "--version", "fit --help", "help predict"] {
        let run = bochner(here.path(), arguments, &[]).ok();
        assert!(!run.stdout.is_empty() && run.stderr.is_empty(), "{run:?}");
    }
    let run = bochner(here.path(), "", &[]);
    assert_eq!(run.code, Some(2));
    assert!(run.stdout.is_empty());
}
