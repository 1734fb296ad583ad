//! Principal components by random directions, compared with the full covariance and the Gram matrix
//! of rows.

use crate::common::devices;
use bochner::{models::PcaSolver, prelude::*, seed::Stream};
use ndarray::{Array2, Axis, s};

/// Rows of three columns with decreasing spread.
fn cloud(rows: usize) -> Array2<f64> {
    let mut draws = Seed(11).stream(Stream::Data, 0);
    Array2::from_shape_fn((rows, 3), |(_, j)| [1.5, 1.0, 0.6][j] * draws.normal())
}

fn pca(features: usize, sigma: f64) -> KernelPca {
    KernelPca::on(Fourier::new(Gaussian).features(features))
        .bandwidth(Bandwidth::Sigma(sigma))
        .standardize(Standardize::No)
        .device(&Device::cpu())
}

fn variances(model: &Model<Array2<f64>>) -> Vec<f64> {
    let principal = model.linear().principal.as_ref().expect("kept");
    principal.variance_t.clone()
}

fn randomized(oversampling: usize, passes: usize) -> PcaSolver {
    PcaSolver::Randomized {
        oversampling,
        passes,
    }
}

#[test]
fn few_directions_give_the_components_of_the_covariance_on_devices() {
    let x = cloud(400);
    let whole = pca(300, 2.0).components(4).fit(&x).expect("fits");
    let expected = whole.predict(&x).expect("predicts");
    for device in devices() {
        for memory in [128 << 20, 120_000] {
            let model = pca(300, 2.0).components(4).device(device).memory(memory);
            let model = model.solver(randomized(10, 4)).fit(&x).expect("fits");
            let said = format!("{} {memory}", device.describe());
            for (own, expected) in variances(&model).iter().zip(&variances(&whole)) {
                assert!(
                    (own / expected - 1.0).abs() < 1e-5,
                    "{said}: {own} {expected}"
                );
            }
            let totals = [&model, &whole].map(|m| {
                let principal = m.linear().principal.as_ref().expect("kept");
                principal.total_variance
            });
            assert!((totals[0] / totals[1] - 1.0).abs() < 1e-5, "{totals:?}");
            let scores = model.predict(&x).expect("predicts");
            let worst = (scores - &expected).fold(0.0_f64, |m, v| m.max(v.abs()));
            assert!(worst < 1e-3, "{said}: {worst}");
            let errors = model.reconstruction_errors(&x).expect("streams");
            let other = whole.reconstruction_errors(&x).expect("streams");
            let worst = (errors - other).fold(0.0_f64, |m, v| m.max(v.abs()));
            assert!(worst < 1e-3, "{said}: {worst}");
        }
    }
}

/// More features than a covariance has memory for, and few rows, so that their Gram matrix is
/// small.
#[test]
fn with_more_features_than_rows_components_are_those_of_the_gram_matrix() {
    let x = cloud(60);
    let map = || Fourier::new(Gaussian).features(6000);
    let features = Features::on(map())
        .bandwidth(Bandwidth::Sigma(1.0))
        .standardize(Standardize::No)
        .device(&Device::cpu());
    let z = features
        .fit(&x)
        .expect("draws")
        .transform(&x)
        .expect("runs");
    let z = z.mapv(f64::from);
    let z = &z - &z.mean_axis(Axis(0)).expect("rows");
    let gram = z.dot(&z.t()) / 59.0;
    let eigen = faer::Mat::from_fn(60, 60, |i, j| gram[[i, j]]);
    let eigen = eigen.self_adjoint_eigen(faer::Side::Lower).expect("finite");
    let exact = |k: usize| eigen.S().column_vector()[59 - k];
    // As many directions as rows span all of them, in one pass.
    let model = pca(6000, 1.0).components(12).solver(randomized(60, 1));
    let model = model.fit(&x).expect("fits");
    for (k, own) in variances(&model).into_iter().enumerate() {
        assert!(
            (own / exact(k) - 1.0).abs() < 1e-4,
            "{k}: {own} {}",
            exact(k)
        );
    }
    let scores = model.predict(&x).expect("predicts");
    let mean = scores.mean_axis(Axis(0)).expect("rows");
    assert!(mean.iter().all(|m| m.abs() < 1e-5), "{mean}");
    let products = scores.t().dot(&scores) / 59.0;
    for ((i, j), v) in products.indexed_iter() {
        let expected = if i == j { exact(i) } else { 0.0 };
        assert!(
            (v - expected).abs() < 1e-4 * exact(0),
            "{i} {j}: {v} {expected}"
        );
    }
}

/// A narrow kernel, whose variances decrease slowly, so that a few directions miss much of them.
#[test]
fn passes_come_nearer_from_below() {
    let x = cloud(500);
    let exact = variances(&pca(256, 0.4).components(5).fit(&x).expect("fits"));
    let missing = |passes: usize| {
        let own = pca(256, 0.4).components(5).solver(randomized(3, passes));
        let own = variances(&own.fit(&x).expect("fits"));
        let each = own.iter().zip(&exact).map(|(own, exact)| {
            assert!(*own < exact * (1.0 + 1e-5), "{passes}: {own} {exact}");
            1.0 - own / exact
        });
        each.sum::<f64>()
    };
    let missing: Vec<f64> = [1, 2, 3, 6].into_iter().map(missing).collect();
    assert!(missing.is_sorted_by(|a, b| *a > 1.5 * b), "{missing:?}");
    assert!(missing[0] > 0.1 && missing[3] < 0.1, "{missing:?}");
    let again = || {
        let own = pca(256, 0.4).components(5).solver(randomized(3, 2));
        variances(&own.seed(Seed(7)).fit(&x).expect("fits"))
    };
    assert_eq!(again(), again());
}

#[test]
fn what_few_directions_cannot_find_is_refused_in_one_line() {
    let x = cloud(5);
    let same = Array2::from_elem((9, 3), 0.7);
    let own = |components: usize| {
        let pca = pca(16, 2.0).components(components);
        pca.solver(PcaSolver::randomized())
    };
    for (result, says) in [
        (own(0).fit(&x), "0 components"),
        (own(17).fit(&x), "16 features"),
        (own(9).fit(&x), "vary in 4 directions"),
        (own(2).fit(&x.slice(s![..1, ..])), "at least 2 rows"),
        (own(2).fit(&same), "do not vary"),
        (own(2).solver(randomized(4, 0)).fit(&x), "0 passes"),
        (own(2).explained_variance(0.9).fit(&x), "not a share"),
    ] {
        let message = result.expect_err(says).to_string();
        assert!(
            message.contains(says) && !message.contains('\n'),
            "{message}"
        );
    }
    let all = own(4).fit(&x).expect("fits");
    let expected = pca(16, 2.0).components(4).fit(&x).expect("fits");
    for (own, expected) in variances(&all).iter().zip(variances(&expected)) {
        assert!((own / expected - 1.0).abs() < 1e-3);
    }
}
