//! Targets far from 0 relative to their spread: every regression fits them like centred ones.

use bochner::{
    features::KernelColumns,
    models::{
        BoostingRegressor, Falkon, Fit, GaussianProcess, GreedyRegressor, KernelRidge, Lasso,
        Learner, Numbers, SupportVectorRegressor,
    },
    prelude::*,
};
use ndarray::{Array1, Array2};

const ROWS: usize = 400;
const FAR: f64 = 1e9;

fn data() -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((ROWS, 2), |(i, j)| {
        ((i * (7 + 4 * j)) % [397, 211][j]) as f64 / 100.0
    });
    let noise = |i: usize| ((i * 13) % 17) as f64 / 170.0;
    let y = (0..ROWS).map(|i| (2.0 * x[[i, 0]]).sin() + 0.5 * x[[i, 1]] + noise(i));
    (x.clone(), y.collect())
}

/// Largest difference of predictions, after subtracting the offset of the targets.
fn difference<L: Fit>(learner: &Learner<L, Numbers>) -> f64 {
    let (x, y) = data();
    let near = learner
        .fit((&x, &y))
        .expect("fits")
        .predict(&x)
        .expect("predicts");
    let far = learner
        .fit((&x, &(&y + FAR)))
        .expect("fits")
        .predict(&x)
        .expect("predicts");
    let apart = near
        .iter()
        .zip(&far)
        .map(|(near, far)| (far - FAR - near).abs());
    apart.fold(0.0, f64::max)
}

#[test]
fn targets_far_from_zero_lose_no_digits() {
    let cpu = Device::cpu();
    let map = || Fourier::new(Gaussian).features(60);
    let columns = || KernelColumns::new(Gaussian);
    macro_rules! check {
        ($($name:literal: $learner:expr),* $(,)?) => {$(
            let learner = $learner.device(&cpu).bandwidth(Bandwidth::Sigma(1.0));
            let apart = difference(&learner);
            // The targets vary by 2, f64 rounds those at 1e9 by 1e-7, and iterations end near 1e-3.
            assert!(apart < 1e-2, "{}: {apart}", $name);
        )*};
    }
    check!(
        "ridge": Ridge::on(map()).lambda(1e-4),
        "lasso": Lasso::on(map()).lambda(1e-3),
        "greedy": GreedyRegressor::on(map()),
        "boosting": BoostingRegressor::on(map()),
        "gaussian process": GaussianProcess::on(map()),
        "support vectors": SupportVectorRegressor::on(map()).lambda(1e-3),
        "kernel ridge": KernelRidge::on(columns()).lambda(1e-4),
        "falkon": Falkon::on(columns().landmarks(60)).lambda(1e-4),
    );
}

/// Deviations equal the deviations for centred targets, too.
#[test]
fn intervals_of_targets_far_from_zero_are_as_wide() {
    let (x, y) = data();
    let of = |y: &Array1<f64>| {
        let process = GaussianProcess::on(Fourier::new(Gaussian).features(60));
        let process = process
            .device(&Device::cpu())
            .bandwidth(Bandwidth::Sigma(1.0));
        let intervals = process
            .fit((&x, y))
            .expect("fits")
            .intervals(&x, 0.9)
            .expect("has some");
        &intervals.upper_nt - &intervals.lower_nt
    };
    let (near, far) = (of(&y), of(&(&y + FAR)));
    for (near, far) in near.iter().zip(&far) {
        assert!((near - far).abs() < 1e-3 * near, "{near} {far}");
    }
}
