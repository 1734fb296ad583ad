//! `--map identity` and `--map precomputed`.

use super::{bochner, digits, here, le, npy, number};

/// Every learner on features takes the columns as they are.
#[test]
fn learners_take_columns_as_they_are() {
    let place = here();
    let digits = digits();
    let all = [
        ("ridge", "--lambda 1e-3 --test 0.3"),
        ("ridge", "--lambda auto --test 0.3"),
        ("ridge", "--solver cg --lambda 1e-3 --test 0.3"),
        ("logistic", "--test 0.3"),
        ("svm", "--test 0.3"),
        ("lasso", "--task regression --test 0.3"),
        ("svr", "--test 0.3"),
        ("gaussian-process", "--test 0.3"),
        ("boosting", "--task regression --test 0.3"),
        ("greedy", "--task regression --test 0.3"),
        ("pca", "--components 3"),
        ("kmeans", "--clusters 3"),
        ("ica", "--components 3"),
    ];
    for (model, more) in all {
        let options = format!("fit {digits} --target label --map identity --model {model} {more}");
        let report = bochner(place.path(), &format!("{options} --json -o m"), &[]).json();
        assert_eq!(report["map_name"], "identity", "{report}");
        assert_eq!(report["features"], 64, "{report}");
        if let Some(accuracy) = report["accuracy"].as_f64() {
            assert!(accuracy > 0.9, "{model}: {report}");
        }
        bochner(
            place.path(),
            "predict m",
            &[&digits, "--target", "label", "-o", "p.npy"],
        )
        .ok();
    }
}

#[test]
fn kernel_values_of_a_file_are_a_map() {
    let place = here();
    // exp(-|i - j| / 5) of 30 rows with 30, then with landmarks 0, 10 and 20 alone.
    let k = |i: usize, j: usize| (-(i.abs_diff(j) as f64) / 5.0).exp();
    let of = |columns: &[usize]| -> Vec<f64> {
        (0..30)
            .flat_map(|i| columns.iter().map(move |&j| k(i, j)))
            .collect()
    };
    let all: Vec<usize> = (0..30).collect();
    let some = [20, 0, 10];
    let at = |name: &str| place.path().join(name);
    npy(at("k.npy"), "<f8", false, "(30, 30)", &le(&of(&all)));
    npy(at("some.npy"), "<f8", false, "(30, 3)", &le(&of(&some)));
    let own: Vec<f64> = some.iter().flat_map(|&i| some.map(|j| k(i, j))).collect();
    npy(at("own.npy"), "<f8", false, "(3, 3)", &le(&own));
    let y: Vec<f64> = (0..30).map(|i| f64::from(i % 7)).collect();
    npy(at("y.npy"), "<f8", false, "(30,)", &le(&y));
    let fit =
        "fit --map precomputed --targets y.npy --task regression --lambda 1e-9 --device cpu --json";
    let whole = bochner(
        place.path(),
        fit,
        &["k.npy", "--landmark-rows", "all", "-o", "m"],
    )
    .json();
    assert_eq!(number(&whole, "features"), 30.0);
    bochner(place.path(), "predict m k.npy -o p.csv", &[]).ok();
    let text = std::fs::read_to_string(at("p.csv")).expect("written");
    for (line, y) in text.lines().skip(1).zip(&y) {
        let predicted: f64 = line.parse().expect("a number");
        assert!((predicted - y).abs() < 1e-3, "{predicted} {y}");
    }
    let rows = bochner(
        place.path(),
        fit,
        &["some.npy", "--landmark-rows", "20,0,10"],
    )
    .json();
    let given = bochner(
        place.path(),
        fit,
        &["some.npy", "--landmark-kernel", "own.npy"],
    )
    .json();
    for report in [&rows, &given] {
        assert_eq!(number(report, "features"), 3.0);
    }
    for (arguments, fragments) in [
        (
            "some.npy --landmark-rows all",
            ["row 0, column 1", "order of the columns"],
        ),
        (
            "some.npy --landmark-rows 20,0",
            ["2 rows for 3 columns", "each column's landmark"],
        ),
        ("some.npy --landmark-rows 20,0,40", ["row 40", "30 rows"]),
        ("some.npy", ["--landmark-kernel", "--landmark-rows"]),
        (
            "some.npy --landmark-kernel own.npy --standardize",
            ["leave out", "--standardize"],
        ),
        (
            "some.npy --landmark-kernel own.npy --sigma 2",
            ["leave out", "--sigma"],
        ),
        (
            "k.npy --landmark-kernel own.npy",
            ["30 columns", "3 landmarks"],
        ),
    ] {
        bochner(place.path(), &format!("{fit} {arguments}"), &[]).fails(&fragments);
    }
    let other = "fit k.npy --targets y.npy --landmark-rows all";
    bochner(place.path(), other, &[]).fails(&["--map precomputed"]);
}
