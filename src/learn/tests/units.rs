//! Targets that overflow single precision are fitted in another unit; predictions are in the
//! original unit.

use crate::{
    data::Rows,
    export::onnx::Input,
    models::{GaussianProcess, Lasso},
    prelude::*,
    seed::{Seed, Stream},
};
use ndarray::{Array1, Array2, Axis, stack};

/// A power of two, so that nothing is rounded.
const UNIT: f64 = (1_u128 << 120) as f64;

fn table() -> (Array2<f64>, Array1<f64>) {
    let mut draws = Seed(9).stream(Stream::Data, 0);
    let x = Array2::from_shape_simple_fn((120, 2), || draws.normal());
    let noise = Array1::from_shape_simple_fn(120, || 0.2 * draws.normal());
    let y = &x.column(0).mapv(f64::sin) + &x.column(1) + noise + 3.0;
    (x, y)
}

fn largest(apart: &Array2<f64>) -> f64 {
    apart.fold(0.0, |most: f64, v| most.max(v.abs()))
}

/// Intervals, gradients and predictions of a file are in the unit of the targets.
#[test]
fn what_a_model_says_is_in_the_unit_of_the_targets() {
    let (x, y) = table();
    let ridge = Ridge::on(Fourier::new(Gaussian).features(40)).device(&Device::cpu());
    let usual = ridge.fit((&x, &y)).expect("fits");
    let model = ridge.fit((&x, &y * UNIT)).expect("fits");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m");
    model.save(&path).expect("saves");
    let model = Model::<Array1<f64>>::load(&path).expect("loads");
    let model = model.device(&Device::cpu());
    let apart = model.predict(&x).expect("predicts") / UNIT - usual.predict(&x).expect("predicts");
    assert!(largest(&apart.insert_axis(Axis(1))) < 1e-9);
    let [a, b] = [&usual, &model].map(|of| of.intervals(&x, 0.9).expect("intervals"));
    assert!(largest(&(b.lower_nt / UNIT - a.lower_nt)) < 1e-9);
    assert!(largest(&(b.upper_nt / UNIT - a.upper_nt)) < 1e-9);
    let slopes = [&usual, &model].map(|of| {
        let slopes = of.linear().gradients().expect("known");
        slopes.at(&Rows::from(&x)).expect("gradients")
    });
    let apart = (&slopes[1] / UNIT - &slopes[0]).fold(0.0, |most: f64, v| most.max(v.abs()));
    assert!(apart < 1e-9, "{apart}");
    assert!(model.linear().to_onnx(Input::Double).is_ok());
}

/// Several targets share one unit. Targets that no common unit can represent are refused, as are
/// options in the unit of the targets.
#[test]
fn targets_that_no_unit_brings_together_are_refused() {
    let (x, y) = table();
    let ridge = Ridge::on(Fourier::new(Gaussian).features(40)).device(&Device::cpu());
    let fit = |units: [f64; 2]| ridge.fit((&x, &stack![Axis(1), &y * units[0], &y * units[1]]));
    let usual = fit([1.0, 16.0])
        .expect("fits")
        .predict(&x)
        .expect("predicts");
    let other = fit([UNIT, 16.0 * UNIT])
        .expect("fits")
        .predict(&x)
        .expect("predicts");
    assert!(largest(&(other / UNIT - usual)) < 1e-9);
    let error = fit([1.0, 1e40]).expect_err("refused").to_string();
    assert!(error.contains("together"), "{error}");
    let lasso = Lasso::on(Fourier::new(Gaussian).features(40)).device(&Device::cpu());
    let error = lasso.l1(0.1).fit((&x, &y * UNIT)).expect_err("refused");
    assert!(error.to_string().contains("an option of lasso"), "{error}");
}

/// The standard deviations of a process, and of its predictions, are in the unit of the targets.
#[test]
fn deviations_are_in_the_unit_of_the_targets() {
    let (x, y) = table();
    let fit = |unit: f64| {
        let process = GaussianProcess::on(Fourier::new(Gaussian).features(40));
        process
            .device(&Device::cpu())
            .fit((&x, &y * unit))
            .expect("fits")
    };
    let (usual, other) = (fit(1.0), fit(UNIT));
    let noise = |of: &Model<Array1<f64>>| of.linear().facts["noise_deviation"];
    assert!((noise(&other) / noise(&usual) / UNIT - 1.0).abs() < 1e-9);
    let deviation = |of: &Model<Array1<f64>>| {
        let intervals = of.intervals(&x, 0.9).expect("intervals");
        intervals.deviation_nt.expect("deviations")[[0, 0]]
    };
    assert!((deviation(&other) / deviation(&usual) / UNIT - 1.0).abs() < 1e-9);
}
