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
