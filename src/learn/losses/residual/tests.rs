use super::*;
use crate::{
    models::SupportVectorRegressor,
    prelude::*,
    seed::{Seed, Stream},
};
use ndarray::{Array1, Array2};

/// The default width is 1.345 deviations of the noise, also if a tenth of the targets are outliers.
#[test]
fn the_usual_width_is_that_of_the_noise() {
    const NOISE: f64 = 0.2;
    let mut draws = Seed(6).stream(Stream::Data, 0);
    let x = Array2::from_shape_simple_fn((400, 1), || draws.normal());
    let y = Array1::from_shape_fn(400, |i| {
        let wild = if i % 10 == 3 { 40.0 } else { 0.0 };
        (2.0 * x[[i, 0]]).sin() + NOISE * draws.normal() + wild
    });
    let svr = SupportVectorRegressor::on(Fourier::new(Gaussian).features(64));
    let svr = svr.device(&crate::Device::cpu());
    let model = svr
        .loss(ResidualLoss::Huber(0.0))
        .fit((&x, &y))
        .expect("fits");
    let width = model.linear().facts["huber_width"];
    assert!((0.75..1.5).contains(&(width / 1.345 / NOISE)), "{width}");
    let predicted = model.predict(&x).expect("predicts");
    let mut off: Vec<f64> = (0..400)
        .map(|i| (predicted[i] - (2.0 * x[[i, 0]]).sin()).abs())
        .collect();
    off.sort_unstable_by(f64::total_cmp);
    assert!(off[200] < 0.1, "{}", off[200]);
}
