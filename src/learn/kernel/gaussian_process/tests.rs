//! Gaussian processes of weighted rows compared with the exact one with noise `noise / w`.

use crate::{
    data::{MemorySource, Rows},
    features::featurize,
    flow::Run,
    learn::{Lengthscales, RowWeights},
    linalg::cholesky::Lower,
    model::{LinearModel, Model},
    models::GaussianProcess,
    prelude::*,
    seed::{Seed, Stream},
    solve::NormalEquations,
};
use ndarray::{Array1, Array2, Axis};

const NOISE: f64 = 0.05;
const SIGNAL: f64 = 1.5;

/// Rows of one column; the smaller the weight, the larger the noise.
fn rows(n: usize) -> (Array2<f64>, Array1<f64>, Array1<f64>) {
    let mut draws = Seed(8).stream(Stream::Data, 0);
    let x = Array2::from_shape_simple_fn((n, 1), || 5.0 * draws.uniform());
    let w = Array1::from_shape_fn(n, |i| [0.1, 1.0, 4.0][i % 3]);
    let noise = w.mapv(|w: f64| (NOISE / w).sqrt() * draws.normal());
    let y = x.column(0).mapv(f64::sin) + noise;
    (x, y, w)
}

fn process() -> GaussianProcess {
    let process = GaussianProcess::on(Fourier::new(Gaussian).features(30).seed(Seed(1)));
    let process = process.bandwidth(Bandwidth::Sigma(1.0)).intercept(false);
    let process = process.standardize(Standardize::No).device(&Device::cpu());
    process.noise(NOISE).signal(SIGNAL)
}

fn features(model: &LinearModel, x: &Array2<f64>) -> Array2<f64> {
    let mut all = Vec::new();
    let mut source = MemorySource::new(x, None).expect("rows");
    featurize(
        model.map.as_ref(),
        &mut source,
        Run::on(&Device::cpu()),
        |z| {
            all.extend(z.iter().map(|&z| f64::from(z)));
            Ok(())
        },
    )
    .expect("runs");
    Array2::from_shape_vec((x.nrows(), model.map.output_dim()), all).expect("a shape")
}

/// Rasmussen & Williams (2006), eqs. 2.23, 2.24 and 2.30, with `alpha = noise / w`.
#[test]
fn a_row_of_weight_w_has_the_noise_over_w() {
    let (x, y, w) = rows(45);
    let model = process().fit((&x, &y, &w)).expect("fits");
    // The penalty is that of ridge regression with the same weights and mean.
    let penalty = model.linear().lambda * w.sum();
    assert!((penalty - NOISE / SIGNAL).abs() < 1e-12, "{penalty}");
    let z = features(model.linear(), &x);
    let new = ndarray::array![[0.5], [2.7], [6.0]];
    let z_new = features(model.linear(), &new);
    let mut k_nn = z.dot(&z.t()) * SIGNAL;
    k_nn.diag_mut().zip_mut_with(&w, |k, w| *k += NOISE / w);
    let mut factor = Lower::from_matrix(&k_nn);
    assert!(factor.factor());
    let mut cross = (z.dot(&z_new.t()) * SIGNAL)
        .as_standard_layout()
        .into_owned();
    factor.solve(&mut cross);
    let mut l_y = y.clone().insert_axis(Axis(1));
    factor.solve(&mut l_y);
    let mean = cross.t().dot(&l_y);
    let own = z_new.map_axis(Axis(1), |z| z.dot(&z) * SIGNAL);
    // Prediction for a new target of weight 1.
    let variance = own - cross.map_axis(Axis(0), |c| c.dot(&c)) + NOISE;
    let mut predictor = model.linear().intervals_on(&Device::cpu()).expect("loads");
    let found = predictor.predict(&Rows::from(&new), 0.9).expect("predicts");
    let apart = &found.predicted_nt - &mean;
    assert!(apart.iter().all(|e| e.abs() < 1e-4), "{apart}");
    let deviation_nt = found.deviation_nt.expect("deviations");
    let apart = deviation_nt.column(0).to_owned() - variance.mapv(f64::sqrt);
    assert!(apart.iter().all(|e| e.abs() < 1e-4), "{apart}");

    let log_determinant: f64 = (0..45).map(|i| 2.0 * factor.row(i)[i].ln()).sum();
    let square = l_y.iter().map(|v| v * v).sum::<f64>();
    let tau = std::f64::consts::TAU;
    let expected = -0.5 * (square + log_determinant + 45.0 * tau.ln());
    let found = model.linear().facts["log_marginal_likelihood"];
    assert!((found - expected).abs() < 2e-3, "{found} {expected}");
}

/// Frequency weights give the posterior, the likelihood and the estimates of repeated rows.
#[test]
fn weights_that_count_are_rows_repeated() {
    let (x, y, _) = rows(45);
    let w = Array1::from_shape_fn(45, |i| (1 + i % 3) as f64);
    let times = |i: usize| std::iter::repeat_n(i, 1 + i % 3);
    let at: Vec<usize> = (0..45).flat_map(times).collect();
    let (x_all, y_all) = (x.select(Axis(0), &at), y.select(Axis(0), &at));
    let map = || Fourier::new(Gaussian).features(40).seed(Seed(3));
    for (lengthscales, intercept) in [
        (Lengthscales::Fixed, true),
        (Lengthscales::Fixed, false),
        (Lengthscales::One, true),
    ] {
        let process = GaussianProcess::on(map())
            .bandwidth(Bandwidth::Sigma(1.5))
            .standardize(Standardize::No)
            .device(&Device::cpu())
            .intercept(intercept)
            .lengthscales(lengthscales);
        let precisions = process.fit((&x, &y, &w)).expect("fits");
        let repeated = process.fit((&x_all, &y_all)).expect("fits");
        let process = process.weights(RowWeights::Counts);
        let counted = process.fit((&x, &y, &w)).expect("fits");
        let fact = |model: &Model<Array1<f64>>, name| model.linear().facts[name];
        for name in [
            "noise_deviation",
            "signal_deviation",
            "log_marginal_likelihood",
        ] {
            let [found, expected, other] =
                [&counted, &repeated, &precisions].map(|model| fact(model, name));
            let apart = (found / expected - 1.0).abs();
            assert!(apart < 1e-3, "{lengthscales:?} {name}: {found} {expected}");
            // The other meaning of weights has another likelihood.
            if name == "log_marginal_likelihood" {
                assert!((other / expected - 1.0).abs() > 0.03, "{other} {expected}");
            }
        }
        let apart =
            counted.predict(&x).expect("predicts") - repeated.predict(&x).expect("predicts");
        assert!(apart.iter().all(|e| e.abs() < 1e-3), "{apart}");
    }
}

/// Merging and subtracting sums keeps track of the weights.
#[test]
fn weighted_rows_come_and_go() {
    let (x, y, w) = rows(45);
    let part = |rows: &[usize]| {
        let of = |values: &Array1<f64>| values.select(Axis(0), rows);
        (x.select(Axis(0), rows), of(&y), of(&w))
    };
    let (a, b) = (part(&Vec::from_iter(0..25)), part(&Vec::from_iter(25..45)));
    let mut growing = process().start((&a.0, &a.1, &a.2)).expect("starts");
    let first = growing.model().expect("a model").linear().facts.clone();
    growing.add((&b.0, &b.1, &b.2)).expect("adds");
    let both = growing.model().expect("a model").linear().facts.clone();
    growing.forget((&b.0, &b.1, &b.2)).expect("forgets");
    let again = growing.model().expect("a model").linear().facts.clone();
    let name = "log_marginal_likelihood";
    assert!(
        (first[name] - again[name]).abs() < 1e-3,
        "{first:?} {again:?}"
    );
    let all = process().fit((&x, &y, &w)).expect("fits");
    let all = all.linear().facts[name];
    // The map of the first rows is centred elsewhere, which does not change its kernel.
    assert!((both[name] - all).abs() < 1.0, "{both:?} {all}");
}

#[test]
fn sums_keep_the_logarithms_of_weights() {
    let sums = |log_weight| NormalEquations {
        log_weight,
        ..NormalEquations::zero(2, 1)
    };
    for log_weight in [-3.25, f64::NEG_INFINITY] {
        let bytes = sums(log_weight).to_bytes().expect("writes");
        let read = NormalEquations::from_bytes(&bytes).expect("reads");
        assert_eq!(read.log_weight, log_weight);
    }
    // A row of weight 0 has no effect.
    let (x, y, mut w) = rows(45);
    w[3] = 0.0;
    let model = process().fit((&x, &y, &w)).expect("fits");
    assert_eq!(model.linear().rows, 44);
}
