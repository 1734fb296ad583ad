//! What Gaussian processes find and draw.

use crate::{bochner, here, number};
use bochner::{
    data::CsvWriter,
    seed::{Seed, Stream},
};
use ndarray::Array2;
use std::path::Path;

/// A .csv of three columns, of which the second alone makes the target.
fn one_of_three(path: &Path, rows: usize, seed: u64) {
    let mut draws = Seed(seed).stream(Stream::Data, 0);
    let mut all = Array2::zeros((rows, 4));
    for mut row in all.rows_mut() {
        for j in 0..3 {
            row[j] = 4.0 * draws.uniform();
        }
        row[3] = (3.0 * row[1]).sin() + 0.1 * draws.normal();
    }
    let mut file = CsvWriter::create(path, &["a", "b", "c", "y"]).expect("creates");
    file.write_rows(all.view()).expect("writes");
    file.finish().expect("finishes");
}

#[test]
fn lengthscales_are_found_and_reported() {
    let here = here();
    one_of_three(&here.path().join("train.csv"), 300, 1);
    one_of_three(&here.path().join("new.csv"), 200, 2);
    let fit = "fit train.csv --target y --features 200 --task regression --device cpu --test-input \
               new.csv --model gaussian-process";
    let plain = bochner(here.path(), fit, &["--json", "--gamma", "scale"]).json();
    assert!(plain["lengthscales"].is_null(), "{plain}");
    let own = format!("{fit} --gamma scale --lengthscales per-column -o m.model");
    let report = bochner(here.path(), &own, &["--json"]).json();
    let found = &report["lengthscales"];
    let (before, after) = (
        number(found, "log_marginal_likelihood_before"),
        number(found, "log_marginal_likelihood_after"),
    );
    assert!(after > before + 50.0, "{found}");
    assert!(number(found, "iterations") > 1.0 && number(found, "rows") == 300.0);
    let of = |j: usize, what: &str| number(&found["columns"][j], what);
    assert_eq!(found["columns"][1]["column"], "b");
    for j in [0, 2] {
        assert!(of(j, "lengthscale") > 5.0 * of(1, "lengthscale"), "{found}");
        assert!(of(1, "relevance") > 5.0 * of(j, "relevance"), "{found}");
    }
    assert!(
        number(&report, "rmse") < 0.6 * number(&plain, "rmse"),
        "{report} {plain}"
    );
    // As a --sigma they are the same kernel.
    let sigma: Vec<String> = (0..3).map(|j| of(j, "lengthscale").to_string()).collect();
    let again = bochner(here.path(), fit, &["--json", "--sigma", &sigma.join(",")]).json();
    let name = "log_marginal_likelihood";
    assert!(
        (number(&again, name) - number(&report, name)).abs() < 0.05,
        "{again} {report}"
    );

    let text = bochner(here.path(), &own, &[]).ok().stdout;
    assert!(text.contains("deviation over lengthscale: b "), "{text}");
    bochner(here.path(), &format!("{own} --map fastfood"), &[])
        .fails(&["not for a fastfood map", "--map fourier"]);
    bochner(
        here.path(),
        "fit train.csv --target y --lengthscales one",
        &[],
    )
    .fails(&["--lengthscales", "gaussian-process"]);
}
