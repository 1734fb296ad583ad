//! Extreme inputs: denormal numbers, a million turns, constant columns, numbers at the limits of
//! f32. On every device the result equals that of f64 within the rounding of a sum, or is one clear
//! error.

use crate::common::{devices, normal, worst};
use bochner::{
    Device, Error, Matrix, Run,
    data::{MemorySource, Rows, Survey},
    features::{Affine, Bandwidth, FeatureMap, Form, Fourier, Standardize},
    kernels::{Cauchy, Gaussian},
    models::{FitOptions, LinearModel, Targets},
    ops::{
        Nonlinearity,
        projection::{self, DenseMap, Projection},
    },
};
use ndarray::{Array2, Axis};

/// Half an ulp of 1, relative.
const EPS: f64 = 1.0 / (1 << 24) as f64;

/// Largest error of a feature relative to the rounding of its phase: `2 pi` times four ulps of `1 +
/// sum |x||w|`.
fn error_over_bound(device: &Device, map: &DenseMap, x: &Array2<f32>) -> f64 {
    let op = Projection::load(device, map).expect("loads");
    let x_nd = Matrix::upload(device, x.view()).expect("fits");
    let mut z_nd = Matrix::new(device, x.nrows(), op.outputs()).expect("fits");
    op.run(&x_nd, &mut z_nd).expect("runs");
    let z = z_nd.download().expect("reads");
    let sums = x
        .mapv(|v| f64::from(v.abs()))
        .dot(&map.w_ds.mapv(|v| f64::from(v.abs())));
    let reference = projection::reference(map, x.view());
    worst(z.view(), reference.view(), |i, j| {
        6.3 * 4.0 * EPS * (1.0 + sums[[i, j % map.freqs()]])
    })
}

fn map(d: usize, s: usize) -> DenseMap {
    DenseMap {
        w_ds: normal(d, s, 2),
        phase_s: vec![0.25; s],
        amplitude_s: vec![1.0; s],
        nonlinearity: Nonlinearity::CosSin,
    }
}

#[test]
fn denormal_and_empty_columns_are_small_numbers_on_devices() {
    for device in devices() {
        for rows in [1, 2, 40] {
            let mut x = normal(rows, 11, 1);
            x.column_mut(0).fill(1e-41);
            x.column_mut(1).fill(0.0);
            x.column_mut(2).fill(-3.0e-39);
            let ratio = error_over_bound(device, &map(11, 70), &x);
            assert!(ratio <= 1.0, "{device:?}, {rows} rows: {ratio}");
            // Only denormal numbers: the phase is that of the origin.
            x.fill(1e-40);
            let ratio = error_over_bound(device, &map(11, 70), &x);
            assert!(ratio <= 1.0, "{device:?}, {rows} rows: {ratio}");
        }
    }
}

#[test]
fn a_million_turns_keep_their_fraction_on_devices() {
    for device in devices() {
        for rows in [1, 2, 40] {
            // One column and frequencies of a power of two: every product is exact, so there is no
            // rounding of sums.
            let x = Array2::from_shape_fn((rows, 1), |(i, _)| 1e6 + 0.125 * i as f32);
            let mut map = map(1, 70);
            map.w_ds.fill(1.0);
            map.phase_s.fill(0.0);
            let op = Projection::load(device, &map).expect("loads");
            let x_nd = Matrix::upload(device, x.view()).expect("fits");
            let mut z_nd = Matrix::new(device, rows, op.outputs()).expect("fits");
            op.run(&x_nd, &mut z_nd).expect("runs");
            let z = z_nd.download().expect("reads");
            let difference = z.mapv(f64::from) - projection::reference(&map, x.view());
            let largest = difference.iter().fold(0.0_f64, |m, e| m.max(e.abs()));
            assert!(largest < 3e-7, "{device:?}, {rows} rows: {largest:e}");
            // Many columns: within the rounding of their sum.
            let x = normal(rows, 11, 1) * 3e5;
            let ratio = error_over_bound(device, &self::map(11, 70), &x);
            assert!(ratio <= 1.0, "{device:?}, {rows} rows: {ratio}");
        }
    }
}

/// A constant or zero column changes nothing after standardisation, and the fit is as good.
#[test]
fn columns_without_content_are_as_if_absent_on_devices() {
    let x = normal(300, 3, 1);
    let y = Array2::from_shape_fn((300, 1), |(i, _)| f64::from(x[[i, 0]] + x[[i, 1]]).sin());
    let mut wide = Array2::zeros((300, 5));
    for (from, to) in [(0, 0), (1, 2), (2, 4)] {
        wide.column_mut(to).assign(&x.column(from));
    }
    wide.column_mut(3).fill(1e7);
    let predict = |x: &Array2<f32>, device: &Device| {
        let mut source = MemorySource::new(x, Some(y.clone())).expect("finite");
        let survey = Survey::new(&mut source, 300, 0).expect("reads");
        let scaling = Standardize::Yes.decide(&survey, true);
        let sigma = Bandwidth::Median
            .lengthscales(&Gaussian, &survey, &scaling)
            .expect("varies");
        let input = scaling.input(&sigma).expect("positive");
        let map = Fourier::new(Gaussian)
            .features(200)
            .build(input)
            .expect("builds");
        let options = FitOptions::on(device);
        let targets = Targets::real(&survey);
        let model = LinearModel::fit(Box::new(map), &mut source, targets, &options);
        let model = model.expect("fits");
        let predicted = model
            .on(Run::on(device).memory(1 << 24))
            .expect("loads")
            .predict(&Rows::from(x));
        predicted.expect("predicts")
    };
    for device in devices() {
        let error = |x: &Array2<f32>| {
            let residual = predict(x, device) - &y;
            (residual.mapv(|r| r * r).mean_axis(Axis(0)).expect("rows")[0]).sqrt()
        };
        let (narrow, wide) = (error(&x), error(&wide));
        assert!(
            wide.is_finite() && narrow < 0.1 && wide < 0.1,
            "{device:?}: {narrow}, {wide}"
        );
    }
}

#[test]
fn numbers_beyond_reach_are_one_clear_error_on_devices() {
    for device in devices() {
        for (value, form) in [
            (1e38, Form::Paired),
            (3e38, Form::Phase),
            (-2e35, Form::Paired),
        ] {
            let map = Fourier::new(Cauchy).features(64).form(form);
            let map = map.build(Affine::identity(3)).expect("builds");
            let mut x = normal(5, 3, 1);
            x[[4, 2]] = value;
            let mut x_nd = Matrix::new(device, 5, 3).expect("fits");
            let error = map
                .input()
                .load(&Rows::from(&x), &mut x_nd)
                .expect_err("too large");
            assert!(matches!(error, Error::Parameter(_)), "{error}");
            let message = error.to_string();
            assert!(
                message.contains("column 2") && !message.contains('\n'),
                "{message}"
            );
        }
    }
}
