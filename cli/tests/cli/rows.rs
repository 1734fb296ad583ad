//! Learners of rows alone: components and clusters.

use crate::{bochner, digits};
use ndarray::{Array1, Array2};
use ndarray_npy::read_npy;
use tempfile::TempDir;

#[test]
fn components_are_fitted_and_written_and_so_is_what_they_leave() {
    let here = TempDir::new().expect("a temporary directory");
    let fit = format!(
        "fit {} --target label --model pca --components 3 --features 100 -o pca.model --json \
         --device cpu",
        digits()
    );
    let report = bochner(here.path(), &fit, &[]).json();
    assert_eq!(report["learner"], "pca");
    assert_eq!(report["task"], "components");
    assert_eq!(report["components"], 3.0);
    let explained = report["explained_variance_ratio"]
        .as_f64()
        .expect("a number");
    assert!(explained > 0.1 && explained < 0.9, "{report}");
    let predict = format!("predict pca.model {} --target label --device cpu", digits());
    bochner(here.path(), &predict, &["-o", "scores.npy"]).ok();
    let scores: Array2<f64> = read_npy(here.path().join("scores.npy")).expect("reads");
    assert_eq!(scores.dim(), (1797, 3));
    let mean = scores.mean().expect("rows");
    assert!(mean.abs() < 1e-4, "{mean}");
    bochner(
        here.path(),
        &predict,
        &["-o", "far.npy", "--reconstruction-error"],
    )
    .ok();
    let errors: Array1<f64> = read_npy(here.path().join("far.npy")).expect("reads");
    assert!(errors.len() == 1797 && errors.iter().all(|&e| e > 0.0));
}

#[test]
fn clusters_are_numbers_and_foreign_options_are_told_where_they_belong() {
    let here = TempDir::new().expect("a temporary directory");
    let fit = format!("fit {} --target label --features 64 --device cpu", digits());
    let kmeans = format!("{fit} --model kmeans --clusters 10 --starts 2 -o k.model --json");
    let report = bochner(here.path(), &kmeans, &[]).json();
    assert_eq!(report["task"], "clusters");
    assert_eq!(report["clusters"], 10.0);
    assert!(report["inertia"].as_f64().expect("a number") > 0.0);
    let predict = format!("predict k.model {} --target label -o k.npy", digits());
    bochner(here.path(), &predict, &[]).ok();
    let clusters: Array1<f64> = read_npy(here.path().join("k.npy")).expect("reads");
    assert!(
        clusters
            .iter()
            .all(|c| (0.0..10.0).contains(c) && c.fract() == 0.0)
    );
    for (options, fragments) in [
        ("--clusters 3", ["--clusters", "--model kmeans"]),
        ("--model pca --clusters 3", ["--clusters", "--model pca"]),
        (
            "--model kmeans --components 3",
            ["--components", "--model pca"],
        ),
        ("--model kmeans --test 0.5", ["--test", "clusters"]),
    ] {
        bochner(here.path(), &format!("{fit} {options}"), &[]).fails(&fragments);
    }
    let far = format!("{predict} --reconstruction-error");
    bochner(here.path(), &far, &[]).fails(&["--reconstruction-error", "kmeans"]);
}

#[test]
fn graphs_and_sources_are_fitted_and_predicted() {
    let here = TempDir::new().expect("a temporary directory");
    let fit = format!(
        "fit {} --target label --features 128 --device cpu --json",
        digits()
    );
    for (options, task, columns) in [
        ("--model spectral --components 3", "coordinates", 3),
        ("--model spectral-clustering --clusters 4", "clusters", 1),
        ("--model ica --components 2", "sources", 2),
    ] {
        let report = bochner(here.path(), &format!("{fit} {options} -o m.model"), &[]).json();
        assert_eq!(report["task"], task);
        let predict = format!("predict m.model {} --target label -o p.csv", digits());
        bochner(here.path(), &predict, &[]).ok();
        let text = std::fs::read_to_string(here.path().join("p.csv")).expect("reads");
        assert_eq!(text.lines().count(), 1798);
        assert!(text.lines().all(|line| line.split(',').count() == columns));
    }
}

/// Densities of a wave of values, by a rule and by cross-validation, as they are and as logarithms.
#[test]
fn densities_are_fitted_and_predicted() {
    let here = TempDir::new().expect("a temporary directory");
    let rows = |value: &dyn Fn(usize) -> f64| {
        let lines = (0..400).map(|i| format!("{}\n", value(i)));
        "x\n".to_owned() + &lines.collect::<String>()
    };
    // Uniform on [0, 10), 2 of every 400 in a unit of 0.05.
    let text = rows(&|i| i as f64 / 40.0);
    std::fs::write(here.path().join("x.csv"), text).expect("writes");
    let at = "x\n5\n3\n40\n";
    std::fs::write(here.path().join("at.csv"), at).expect("writes");
    let fit = "fit x.csv --model density --features 2000 --device cpu --json";
    for (options, bandwidth) in [
        ("", "scott"),
        ("--sigma silverman", "silverman"),
        ("--sigma 0.5", "sigma 0.5"),
        ("--multiples auto", "scott"),
        ("--log-density", "scott"),
    ] {
        let report = bochner(here.path(), &format!("{fit} {options} -o x.model"), &[]).json();
        assert_eq!(report["task"], "densities");
        assert_eq!(report["bandwidth"], bandwidth);
        assert!(report["noise_deviation"].as_f64().expect("a number") < 0.02);
        let multiple = report.get("bandwidth_multiple").is_some();
        // In one column it is chosen where Scott's rule is the bandwidth.
        assert_eq!(multiple, bandwidth == "scott");
        let predict = "predict x.model at.csv -o f.npy --device cpu";
        bochner(here.path(), predict, &[]).ok();
        let f: Array1<f64> = read_npy(here.path().join("f.npy")).expect("reads");
        let f = match options {
            "--log-density" => f.mapv(f64::exp),
            _ => f,
        };
        assert!(
            (f[0] - 0.1).abs() < 0.02 && (f[1] - 0.1).abs() < 0.02,
            "{options}: {f}"
        );
        assert!(f[2] < 0.02, "{options}: {f}");
    }
    for (options, fragments) in [
        ("--multiples 1,0", ["--multiples", "positive"]),
        ("--multiples auto --map sorf", ["sorf", "fourier"]),
        (
            "--multiples auto --map nystrom",
            ["nystrom", "fourier finds"],
        ),
        ("--map arc-cosine", ["no finite integral", "--map fourier"]),
        ("--kernel cauchy", ["scott", "--sigma"]),
    ] {
        // Fewer landmarks than rows, and all of them told apart.
        let fit = fit.replace("2000", "16");
        bochner(here.path(), &format!("{fit} {options}"), &[]).fails(&fragments);
    }
    bochner(here.path(), "fit x.csv --model pca --log-density", &[])
        .fails(&["--log-density", "--model density"]);
}

#[test]
fn components_are_found_from_few_directions() {
    let here = TempDir::new().expect("a temporary directory");
    let fit = format!(
        "fit {} --target label --features 200 --device cpu --json --model pca",
        digits()
    );
    let whole = bochner(here.path(), &format!("{fit} --components 4"), &[]).json();
    let randomized = format!("{fit} --components 4 --pca-solver randomized --passes 5");
    let report = bochner(here.path(), &randomized, &[]).json();
    assert_eq!(report["solver"], "randomized");
    let share = |report: &serde_json::Value| report["explained_variance_ratio"].as_f64();
    let (own, expected) = (share(&report), share(&whole));
    let ratio = own.expect("a number") / expected.expect("a number");
    assert!((ratio - 1.0).abs() < 1e-3, "{ratio}");
    for (options, fragments) in [
        ("--pca-solver randomized", ["--pca-solver", "--components"]),
        ("--passes 2", ["--passes", "randomized"]),
    ] {
        bochner(here.path(), &format!("{fit} {options}"), &[]).fails(&fragments);
    }
}
