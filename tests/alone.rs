//! Learners of rows alone on rows that have little to say: one of them, all the same, columns that
//! are constant, more asked for than is there.

mod common;

use bochner::{
    models::{Density, OneClass, PcaSolver},
    prelude::*,
    seed::Stream,
};
use ndarray::{Array2, s};

fn cloud(rows: usize) -> Array2<f64> {
    let mut draws = Seed(11).stream(Stream::Data, 0);
    Array2::from_shape_simple_fn((rows, 3), || draws.normal())
}

/// What a learner comes to: columns of its predictions, or its message.
fn outcome<Y: bochner::models::Predicted>(
    fitted: Result<Model<Y>>,
    x: &Array2<f64>,
) -> std::result::Result<Array2<f64>, String> {
    let model = fitted.map_err(|e| e.to_string())?;
    model.predict(x).map_err(|e| e.to_string())?;
    let rows = bochner::data::Rows::from(x);
    let mut predictor = model
        .linear()
        .on(&Device::cpu())
        .map_err(|e| e.to_string())?;
    predictor.predict(&rows).map_err(|e| e.to_string())
}

macro_rules! each {
    ($x:expr, $k:expr) => {{
        let (x, k) = ($x, $k);
        macro_rules! on {
            ($learner:ident) => {
                $learner::on(Fourier::new(Gaussian).features(32))
                    .device(&Device::cpu())
                    .bandwidth(Bandwidth::Sigma(1.0))
            };
        }
        [
            ("pca", outcome(on!(KernelPca).components(k).fit(x), x)),
            (
                "randomized",
                outcome(
                    on!(KernelPca)
                        .components(k)
                        .solver(PcaSolver::randomized())
                        .fit(x),
                    x,
                ),
            ),
            ("explained", outcome(on!(KernelPca).fit(x), x)),
            ("ica", outcome(on!(KernelIca).components(k).fit(x), x)),
            ("kmeans", outcome(on!(KMeans).clusters(k).fit(x), x)),
            (
                "spectral",
                outcome(on!(SpectralEmbedding).dimensions(k).fit(x), x),
            ),
            (
                "clustering",
                outcome(on!(SpectralClustering).clusters(k).fit(x), x),
            ),
            ("one-class", outcome(on!(OneClass).nu(0.2).fit(x), x)),
            ("density", outcome(on!(Density).fit(x), x)),
        ]
    }};
}

/// What is refused, by data, number and learner; all else is fitted.
const REFUSED: [(&str, usize, &str, &str); 12] = [
    ("one row", 1, "pca", "at least 2 rows, and there is 1"),
    (
        "one row",
        1,
        "randomized",
        "at least 2 rows, and there is 1",
    ),
    ("one row", 1, "ica", "at least 2 rows, and there is 1"),
    (
        "one row",
        2,
        "kmeans",
        "2 clusters of 1 row; ask for at most",
    ),
    ("one row", 1, "spectral", "have 0 coordinates"),
    ("two rows", 2, "pca", "vary in 1 direction only"),
    ("two rows", 2, "randomized", "vary in 1 direction only"),
    ("two rows", 2, "spectral", "have 1 coordinate, and 2"),
    ("all the same", 1, "pca", "do not vary"),
    ("all the same", 2, "kmeans", "1 different point"),
    (
        "a constant column",
        40,
        "randomized",
        "32 features do not have 40",
    ),
    ("rows twice", 40, "kmeans", "20 different points"),
];

#[test]
fn little_data_is_fitted_or_refused_in_one_line() {
    let one = cloud(1);
    let two = cloud(2);
    let same = Array2::from_elem((9, 3), 0.7);
    let mut flat = cloud(60);
    flat.column_mut(1).fill(5.0);
    let mut twice = cloud(40);
    let half = twice.slice(s![..20, ..]).to_owned();
    twice.slice_mut(s![20.., ..]).assign(&half);
    let mut seen = 0;
    for (name, x) in [
        ("one row", &one),
        ("two rows", &two),
        ("all the same", &same),
        ("a constant column", &flat),
        ("rows twice", &twice),
    ] {
        for k in [1, 2, 40] {
            for (learner, result) in each!(x, k) {
                let is = |r: &&(&str, usize, &str, &str)| (r.0, r.1, r.2) == (name, k, learner);
                let refused = REFUSED.iter().find(is);
                match (result, refused) {
                    (Ok(y), None) => {
                        assert!(y.iter().all(|v| v.is_finite()), "{name} {k} {learner}: {y}");
                        assert_eq!(y.nrows(), x.nrows());
                        let columns = match learner {
                            "pca" | "randomized" | "ica" | "spectral" => k,
                            "explained" => y.ncols(),
                            _ => 1,
                        };
                        assert_eq!(y.ncols(), columns, "{name} {k} {learner}");
                    }
                    (Err(message), refused) => {
                        let says = refused.map_or("", |r| r.3);
                        assert!(message.contains(says), "{name} {k} {learner}: {message}");
                        assert!(!message.contains('\n') && message.len() > 20, "{message}");
                        seen += usize::from(refused.is_some());
                    }
                    (Ok(y), Some(_)) => panic!("{name} {k} {learner}: {y}"),
                }
            }
        }
        // What needs no more than rows is fitted to any.
        for (learner, result) in each!(x, 1) {
            if ["kmeans", "one-class", "density"].contains(&learner) {
                assert!(result.is_ok(), "{name} {learner}: {result:?}");
            }
        }
    }
    assert_eq!(seen, REFUSED.len());
}
