//! Asymptotic p-values compared with explicit null distributions: features and covariances computed
//! here, and their eigenvalues as weights.

use super::normals;
use bochner::{
    Device,
    data::{MemorySource, Survey},
    features::{Affine, FeatureMap, Form, Fourier, featurize},
    hypothesis::{
        ConditionalOptions, IndependenceOptions, Null, Outcome, Pooled, TwoSampleOptions,
        WeightedChiSquares,
    },
    kernels::Gaussian,
    seed::Seed,
};
use ndarray::{Array2, Axis, concatenate};

/// A map that depends on column `j` of `columns`.
fn map(j: usize, columns: usize, features: usize) -> impl FeatureMap {
    let zeros = MemorySource::new(Array2::<f64>::zeros((1, columns)), None);
    // A constant column becomes 0.
    let mut survey = Survey::new(&mut zeros.expect("finite"), 0, 0).expect("reads");
    (survey.max[j], survey.variance[j]) = (1.0, 1.0);
    let map = Fourier::new(Gaussian).form(Form::Phase).features(features);
    let map = map.seed(Seed(j as u64));
    map.build(Affine::standardize(&survey)).expect("builds")
}

fn features(map: &dyn FeatureMap, x: &Array2<f64>) -> Array2<f64> {
    let mut source = MemorySource::new(x, None).expect("finite");
    let mut all = Array2::zeros((0, map.output_dim()));
    featurize(map, &mut source, &Device::cpu(), |z| {
        all.append(Axis(0), z.mapv(f64::from).view())
            .expect("as wide");
        Ok(())
    })
    .expect("features");
    all
}

fn centred(z: &Array2<f64>) -> Array2<f64> {
    z - &z.mean_axis(Axis(0)).expect("rows")
}

fn eigenvalues(a: &Array2<f64>) -> Vec<f64> {
    let matrix = faer::Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[[i, j]]);
    let values = matrix.self_adjoint_eigenvalues(faer::Side::Lower);
    values
        .expect("finite")
        .into_iter()
        .map(|v| v.max(0.0))
        .collect()
}

#[track_caller]
fn agrees(found: Outcome, statistic: f64, weights: &[f64]) {
    agrees_to(1e-5, found, statistic, weights);
}

#[track_caller]
fn agrees_to(share: f64, found: Outcome, statistic: f64, weights: &[f64]) {
    assert!(
        (found.statistic / statistic - 1.0).abs() < 1e-6,
        "{found:?} {statistic}"
    );
    let p = WeightedChiSquares::new(weights)
        .expect("weights")
        .tail(statistic);
    assert!((found.p_value / p - 1.0).abs() < share, "{found:?} {p}");
    assert!((1e-4..0.9).contains(&p), "{p} says nothing");
}

/// n m/(n + m) |mean a - mean b|^2 and the covariance within both samples, over n + m - 2.
#[test]
fn two_samples() {
    let (a, b) = (normals(70, 1, 1), normals(50, 1, 2) * 1.2 + 0.3);
    let map = map(0, 1, 12);
    let [z_a, z_b] = [&a, &b].map(|x| features(&map, x));
    let apart = z_a.mean_axis(Axis(0)).expect("rows") - z_b.mean_axis(Axis(0)).expect("rows");
    let within = [&z_a, &z_b].map(|z| centred(z).t().dot(&centred(z)));
    let within = (&within[0] + &within[1]) / 118.0;
    let source = |x: &Array2<f64>| MemorySource::new(x, None).expect("finite");
    let (mut a, mut b) = (source(&a), source(&b));
    let mut pooled = Pooled::new(&mut a, &mut b).expect("alike");
    let options = TwoSampleOptions {
        null: Null::Asymptotic,
        seed: Seed(0),
    };
    let found = options
        .test(&map, &mut pooled, &Device::cpu())
        .expect("tests");
    let statistic = 70.0 * 50.0 / 120.0 * apart.dot(&apart);
    // With few rows the weights are inaccurate, which the p-value takes into account.
    agrees_to(0.1, found.outcome, statistic, &eigenvalues(&within));
    assert_eq!(found.outcome.null, Null::Asymptotic);
}

/// n |cov|^2 and all products of an eigenvalue of one covariance with one of the other.
#[test]
fn independence() {
    let x = normals(90, 1, 3);
    let y = x.mapv(|x| 0.25 * x * x) + normals(90, 1, 4);
    let xy = concatenate(Axis(1), &[x.view(), y.view()]).expect("rows");
    let maps = [map(0, 2, 8), map(1, 2, 6)];
    let [z_x, z_y] = [0, 1].map(|k| centred(&features(&maps[k], &xy)));
    let covariance = |a: &Array2<f64>, b: &Array2<f64>| a.t().dot(b) / 90.0;
    let cross = covariance(&z_x, &z_y);
    let of_y = eigenvalues(&covariance(&z_y, &z_y));
    let of_x = eigenvalues(&covariance(&z_x, &z_x));
    let weights = of_x.iter().flat_map(|v| of_y.iter().map(move |w| v * w));
    let weights: Vec<f64> = weights.collect();
    let options = IndependenceOptions {
        null: Null::Asymptotic,
        seed: Seed(0),
    };
    let mut source = MemorySource::new(&xy, None).expect("finite");
    let maps: [&dyn FeatureMap; 2] = [&maps[0], &maps[1]];
    let found = options
        .test(maps, &mut source, &Device::cpu())
        .expect("tests");
    let statistic = 90.0 * cross.iter().map(|c| c * c).sum::<f64>();
    agrees(found.outcome, statistic, &weights);
}

/// Solves A X = B by elimination.
fn solved(mut a: Array2<f64>, mut b: Array2<f64>) -> Array2<f64> {
    for i in 0..a.nrows() {
        let (pivot, row_a, row_b) = (a[[i, i]], a.row(i).to_owned(), b.row(i).to_owned());
        for k in (0..a.nrows()).filter(|&k| k != i) {
            let factor = a[[k, i]] / pivot;
            a.row_mut(k).scaled_add(-factor, &row_a);
            b.row_mut(k).scaled_add(-factor, &row_b);
        }
    }
    b / &a.diag().to_owned().insert_axis(Axis(1))
}

/// Residuals of ridge regression on standardised features: n |mean of products|^2, and the second
/// moments of the products (Strobl et al. 2019, sec. 3), corrected for the degrees of freedom of
/// the regression.
#[test]
fn conditional_independence() {
    let n = 120.0;
    let z = normals(120, 1, 5);
    let (x, y) = (&z + &normals(120, 1, 6), &z * 0.7 + &normals(120, 1, 7));
    let y = y + 0.15 * &x;
    let all = concatenate(Axis(1), &[x.view(), y.view(), z.view()]).expect("rows");
    let maps = [map(0, 3, 3), map(1, 3, 2), map(2, 3, 6)];
    let [f, g, h] = [0, 1, 2].map(|k| {
        let z = centred(&features(&maps[k], &all));
        let deviations = z
            .mapv(|v| v * v)
            .mean_axis(Axis(0))
            .expect("rows")
            .mapv(f64::sqrt);
        z / deviations
    });
    // A ridge large enough to matter.
    let lambda = 0.2;
    let penalised = h.t().dot(&h) / n + Array2::<f64>::eye(6) * lambda;
    let residual = |f: &Array2<f64>| f - &h.dot(&solved(penalised.clone(), h.t().dot(f) / n));
    let (f, g) = (residual(&f), residual(&g));
    let products = Array2::from_shape_fn((120, 6), |(i, k)| f[[i, k / 2]] * g[[i, k % 2]]);
    let mean = products.mean_axis(Axis(0)).expect("rows");
    // The regression leaves 1 - h_i of row i to its residual: the covariance of sums is that of the
    // products times tr M / sum M_ii^2.
    let leverages = (&h * &solved(penalised, h.t().to_owned()).t()).sum_axis(Axis(1));
    let left = leverages.mapv(|h| 1.0 - (1.0 + h) / n);
    let freedom = left.sum() / left.dot(&left);
    let weights = eigenvalues(&(products.t().dot(&products) * (freedom / n)));
    let options = ConditionalOptions {
        lambda,
        ..ConditionalOptions::default()
    };
    let mut source = MemorySource::new(&all, None).expect("finite");
    let maps: [&dyn FeatureMap; 3] = [&maps[0], &maps[1], &maps[2]];
    let found = options
        .test(maps, &mut source, &Device::cpu())
        .expect("tests");
    agrees(found.outcome, n * mean.dot(&mean), &weights);
}
