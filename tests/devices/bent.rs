//! Column transformations: clipping based on quartiles, and ranks.

use crate::common::devices;
use bochner::{
    Device,
    data::ToRows,
    features::{Bandwidth, Fourier, Linear, Standardize},
    kernels::Gaussian,
    models::{Density, LinearModel, Model, Ridge},
    seed::Seed,
};
use ndarray::{Array1, Array2, ArrayView1, Axis, s};

/// Columns whose logarithms are uniform, the second in other units, and a column of two values; the
/// target is smooth in the logarithms.
fn long_tails(rows: usize) -> (Array2<f64>, Array1<f64>) {
    let even = |i: usize, step: usize| ((i * step) % 1009) as f64 / 1009.0;
    let x_nd = Array2::from_shape_fn((rows, 3), |(i, j)| match j {
        0 => (12.0 * even(i, 37)).exp(),
        1 => 1e9 - 1e3 * (9.0 * even(i, 101)).exp(),
        _ => f64::from(u8::from(i % 3 == 0)),
    });
    let of = |x: ArrayView1<'_, f64>| {
        let (first, second) = (x[0].ln() / 12.0, ((1e9 - x[1]) / 1e3).ln() / 9.0);
        (6.0 * first).sin() + second * second + 0.3 * x[2]
    };
    let y_n = x_nd.map_axis(Axis(1), of);
    (x_nd, y_n)
}

fn fit(
    standardize: Standardize,
    device: &Device,
    rows: usize,
) -> bochner::Result<Model<Array1<f64>>> {
    let (x, y) = long_tails(rows);
    Ridge::on(Fourier::new(Gaussian).features(200))
        .bandwidth(Bandwidth::Median)
        .standardize(standardize)
        .linear_part(Linear::No)
        .device(device)
        .seed(Seed(3))
        .fit((&x, &y))
}

/// Error on new rows, relative to the deviation of the target.
fn off(model: &Model<Array1<f64>>) -> f64 {
    let (x, y) = long_tails(900);
    let (x, y) = (x.slice(s![600.., ..]), y.slice(s![600..]));
    let errors = model.predict(x).expect("predicts") - y;
    (errors.mapv(|e| e * e).mean().expect("rows") / y.var(0.0)).sqrt()
}

#[test]
fn ranks_see_what_deviations_do_not_on_devices() {
    for device in devices() {
        let of = |standardize| off(&fit(standardize, device, 600).expect("fits"));
        let [plain, clipped, ranks] =
            [Standardize::Yes, Standardize::Robust, Standardize::Rank].map(of);
        println!("{device:?}: standardised {plain:.3}, clipped {clipped:.3}, ranks {ranks:.3}");
        assert!(clipped < 0.5 * plain && ranks < 0.6 * plain);
    }
}

/// A value far outside the training rows is treated like one at their end, on either side, and a
/// file stores all of it exactly.
#[test]
fn far_values_do_no_harm_and_files_keep_bends_on_devices() {
    for device in devices() {
        for standardize in [Standardize::Robust, Standardize::Rank] {
            let model = fit(standardize, device, 600).expect("fits");
            let (x, _) = long_tails(40);
            let mut far = x.clone();
            far[[3, 0]] = 1e30;
            far[[4, 0]] = -1e300;
            let mut end = x.clone();
            end[[3, 0]] = 1e9;
            end[[4, 0]] = -1e9;
            let [plain, far, end] = [&x, &far, &end].map(|x| model.predict(x).expect("predicts"));
            assert!(far.iter().all(|y| y.is_finite()));
            for i in 0..40 {
                let near = if i == 3 || i == 4 { end[i] } else { plain[i] };
                assert!(
                    (far[i] - near).abs() < 1e-3,
                    "row {i}: {} and {near}",
                    far[i]
                );
            }
            let bytes = model.linear().to_bytes().expect("bytes");
            let again = LinearModel::from_bytes(&bytes).expect("reads");
            assert_eq!(again.to_bytes().expect("bytes"), bytes);
            let mut predictor = again.on(device).expect("loads");
            let predicted = predictor.predict(&x.to_rows()).expect("predicts");
            assert_eq!(predicted.column(0), plain);
        }
    }
}

/// An outlier in the training rows changes predictions only slightly, while it does change them if
/// columns are divided by deviations.
#[test]
fn an_outlier_does_not_make_the_scale() {
    let (mut x, y) = long_tails(600);
    x.column_mut(0).mapv_inplace(f64::ln);
    let moved = |standardize| {
        let of = |x: &Array2<f64>| {
            Ridge::on(Fourier::new(Gaussian).features(200))
                .bandwidth(Bandwidth::Sigma(1.0))
                .standardize(standardize)
                .device(&Device::cpu())
                .fit((x, &y))
                .and_then(|model| model.predict(x.slice(s![..50, ..])))
        };
        let mut far = x.clone();
        far[[599, 0]] = 1e30;
        let (plain, far) = (of(&x).expect("fits"), of(&far).expect("fits"));
        (plain - far).mapv(f64::abs).fold(0.0, |a, b| b.max(a))
    };
    let all = [Standardize::Yes, Standardize::Robust, Standardize::Rank].map(moved);
    println!("moved by {all:?}");
    assert!(moved(Standardize::Yes) > 0.3);
    assert!(moved(Standardize::Robust) < 0.2 && moved(Standardize::Rank) < 0.2);
}

/// Learners without support for transformations report it.
#[test]
fn densities_and_leaves_refuse_bends() {
    let (x, y) = long_tails(300);
    let density = Density::on(Fourier::new(Gaussian).features(50))
        .standardize(Standardize::Robust)
        .device(&Device::cpu())
        .fit(&x);
    let said = density.expect_err("no density").to_string();
    assert!(said.contains("clipped or ranked"), "{said}");
    let leaves = Ridge::on(Fourier::new(Gaussian).features(50))
        .leaves(100)
        .standardize(Standardize::Rank)
        .device(&Device::cpu())
        .fit((&x, &y));
    let said = leaves.expect_err("no leaves").to_string();
    assert!(said.contains("clipped or ranked columns"), "{said}");
}
