//! Predictions depend neither on the unit of weights nor on rows of weight 0.

use crate::{
    features::KernelColumns,
    learn::Fit,
    models::{
        Falkon, GaussianProcess, KernelRidge, Lasso, Learner, Numbers, SupportVectorRegressor,
    },
    prelude::*,
    seed::{Seed, Stream},
};
use ndarray::{Array1, Array2, Axis};

/// Rows, targets and weights.
type Table = (Array2<f64>, Array1<f64>, Array1<f64>);

fn table() -> Table {
    let mut draws = Seed(5).stream(Stream::Data, 0);
    let x = Array2::from_shape_simple_fn((150, 2), || draws.normal());
    let noise = Array1::from_shape_simple_fn(150, || 0.3 * draws.normal());
    let y = &x.column(0).mapv(f64::sin) + &x.column(1) + noise;
    let w = Array1::from_shape_fn(150, |i| 0.5 + (i % 5) as f64);
    (x, y, w)
}

/// The same table with rows of weight 0 inserted.
fn with_zeros() -> Table {
    let (x, y, w) = table();
    let place = |i: usize| i / 2 + 25;
    let is_zero = |i: usize| i % 2 == 1;
    let at = |i: usize| if i < 100 { place(i) - 25 } else { i - 50 };
    let rows = Array1::from_iter(0..200);
    let x = Array2::from_shape_fn((200, 2), |(i, j)| {
        if i < 100 && is_zero(i) {
            5000.0
        } else {
            x[[at(i), j]]
        }
    });
    let y = rows.mapv(|i| if i < 100 && is_zero(i) { 1e6 } else { y[at(i)] });
    let w = rows.mapv(|i| if i < 100 && is_zero(i) { 0.0 } else { w[at(i)] });
    (x, y, w)
}

/// Predictions for the rows of [`table`] by fits to it, to rescaled weights, and to additional rows
/// of weight 0.
fn check<L: Fit>(name: &str, learner: Learner<L, Numbers>, apart: f64) {
    let learner = learner.device(&Device::cpu());
    let (x, y, w) = table();
    let predicted = |table: &Table| -> Array1<f64> {
        let model = learner.fit((&table.0, &table.1, &table.2)).expect("fits");
        model.predict(&x).expect("predicts")
    };
    let usual = predicted(&(x.clone(), y.clone(), w.clone()));
    for unit in [1.0 / 450.0, 64.0, 1e-150, 1e150] {
        let other = predicted(&(x.clone(), y.clone(), &w * unit));
        let worst = (&other - &usual).fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(worst <= apart, "{name}, weights times {unit:e}: {worst:e}");
    }
    let other = predicted(&with_zeros());
    let worst = (&other - &usual).fold(0.0, |m: f64, v| m.max(v.abs()));
    assert!(worst <= 1e-9, "{name}, rows of weight 0: {worst:e}");
}

#[test]
fn the_unit_of_weights_says_nothing_to_least_squares() {
    let map = || Fourier::new(Gaussian).features(40);
    check("ridge", Ridge::on(map()).lambda(1e-3), 1e-4);
    check("lasso", Lasso::on(map()), 5e-3);
}

#[test]
fn the_unit_of_weights_says_nothing_to_other_learners() {
    let map = || Fourier::new(Gaussian).features(40);
    let columns = || KernelColumns::new(Gaussian);
    check("kernel ridge", KernelRidge::on(columns()), 5e-3);
    check("falkon", Falkon::on(columns().landmarks(60)), 5e-3);
    check("support vectors", SupportVectorRegressor::on(map()), 5e-3);
    // Weights are precisions, so the estimated noise has their unit.
    let (x, y, w) = table();
    let process = GaussianProcess::on(map()).device(&Device::cpu());
    let one = process.fit((&x, &y, &w)).expect("fits");
    let other = process.fit((&x, &y, &w * 100.0)).expect("fits");
    let noise = |model: &Model<Array1<f64>>| model.linear().facts["noise_deviation"];
    assert!((noise(&other) / noise(&one) - 10.0).abs() < 1e-3);
    let (x0, y0, w0) = with_zeros();
    let without = process
        .fit((&x0, &y0, &w0))
        .expect("rows of weight 0 are not there");
    assert_eq!(without.linear().rows, 150);
    assert_eq!(noise(&without), noise(&one));
}

/// A class with rows of weight 0 only is no class.
#[test]
fn a_class_of_weight_0_is_no_class() {
    let (x, y, w) = table();
    let mut w = w.clone();
    let labels: Vec<&str> = (0..150)
        .map(|i| {
            if i % 10 == 0 {
                "void"
            } else if y[i] > 0.0 {
                "up"
            } else {
                "down"
            }
        })
        .collect();
    (0..150).step_by(10).for_each(|i| w[i] = 0.0);
    let keep: Vec<usize> = (0..150).filter(|i| i % 10 > 0).collect();
    let fit = |x: &Array2<f64>, labels: &[&str], w: &Array1<f64>| {
        let map = Fourier::new(Gaussian).features(40);
        let ridge = RidgeClassifier::on(map).device(&Device::cpu());
        ridge.fit((x, labels, w)).expect("fits")
    };
    let model = fit(&x, &labels, &w);
    assert_eq!(model.linear().targets.outputs(), 2);
    let few: Vec<&str> = keep.iter().map(|&i| labels[i]).collect();
    let (x1, w1) = (x.select(Axis(0), &keep), w.select(Axis(0), &keep));
    assert_eq!(
        model.predict(&x).expect("predicts"),
        fit(&x1, &few, &w1).predict(&x).expect("predicts")
    );
}
