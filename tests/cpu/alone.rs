//! Unsupervised learners on degenerate rows: a single row, equal rows, constant columns, more
//! components than possible.

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

/// Outcome of a learner: the columns of its predictions, or its message.
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

/// Message of a learner that refuses the data for `k` components, coordinates or clusters; `None`
/// if it fits.
fn refusal(data: &str, k: usize, learner: &str) -> Option<&'static str> {
    const FEW_FEATURES: &str = "40 components cannot come of 32 features";
    const FEW_COORDINATES: &str = "32 features give 1 to 31 coordinates";
    match (learner, k, data) {
        ("one-class" | "density", ..) => None,
        ("pca" | "explained" | "ica", _, "one row") => Some("at least 2 rows, and there is 1"),
        ("randomized", _, "one row") => Some("at least 2 rows, and there is 1"),
        ("explained" | "pca", _, "all the same") => Some("do not vary"),
        ("ica", _, "all the same") => Some("do not vary"),
        ("explained", ..) => None,
        ("pca" | "randomized" | "ica", 40, _) => Some(FEW_FEATURES),
        ("randomized", _, "all the same") => Some("do not vary"),
        ("pca" | "randomized" | "ica", 2, "two rows") => Some("vary in 1 direction only"),
        ("kmeans", 2, "one row") => Some("2 clusters of 1 row; ask for at most"),
        ("kmeans", 40, "one row") => Some("40 clusters of 1 row; ask for at most"),
        ("kmeans", 40, "two rows") => Some("40 clusters of 2 rows"),
        ("kmeans", 40, "all the same") => Some("40 clusters of 9 rows"),
        ("kmeans", 2, "all the same") => Some("1 different point"),
        ("kmeans", 40, "rows twice") => Some("20 different points"),
        ("clustering", 1, _) => Some("finds 2 clusters or more, not 1"),
        ("spectral" | "clustering", 40, _) => Some(FEW_COORDINATES),
        ("spectral" | "clustering", _, "one row" | "all the same") => Some("have 0 coordinates"),
        ("spectral", 2, "two rows") => Some("have 1 coordinate, and 2"),
        _ => None,
    }
}

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
    let mut wrong = String::new();
    for (name, x) in [
        ("one row", &one),
        ("two rows", &two),
        ("all the same", &same),
        ("a constant column", &flat),
        ("rows twice", &twice),
    ] {
        for k in [1, 2, 40] {
            for (learner, result) in each!(x, k) {
                match (result, refusal(name, k, learner)) {
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
                    (Err(message), Some(says)) if message.contains(says) => {
                        assert!(!message.contains('\n') && message.len() > 20, "{message}");
                    }
                    (result, _) => wrong += &format!("{name} {k} {learner}: {result:?}\n"),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
