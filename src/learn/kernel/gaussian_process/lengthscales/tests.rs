//! Lengthscales by gradients, compared with differences and with data of known lengthscales.

use super::*;
use crate::{
    data::MemorySource,
    features::{Affine, Form},
    kernels::{Kernel, Laplacian, Matern, RationalQuadratic, gram},
    linalg::cholesky::Lower,
    prelude::*,
    sampling::Sampling,
    seed::{Draws, Stream},
};
use ndarray::{Array1, Array2, Axis};
use std::sync::Arc;

fn draws(block: u64) -> Draws {
    Seed(8).stream(Stream::Data, block)
}

/// Rows of ten columns, two of them relevant, and their targets.
fn two_of_ten(rows: usize, block: u64) -> (Array2<f64>, Array1<f64>) {
    let mut draws = draws(block);
    let x = Array2::from_shape_simple_fn((rows, 10), || draws.normal());
    let y = x.map_axis(Axis(1), |x| {
        (1.5 * x[2]).sin() + 0.5 * x[7] * x[7] + 0.1 * draws.normal()
    });
    (x, y)
}

fn process(features: usize) -> GaussianProcess {
    GaussianProcess::on(Fourier::new(Gaussian).features(features)).device(&Device::cpu())
}

/// The gradient of the maximised evidence, for several kernels, forms and samplings.
#[test]
fn the_gradient_is_that_of_differences() {
    let kernels: [Arc<dyn Kernel>; 4] = [
        Arc::new(Gaussian),
        Arc::new(Laplacian),
        Arc::new(Matern::new(1.5).expect("a kernel")),
        Arc::new(RationalQuadratic::new(2.0).expect("a kernel")),
    ];
    let (x, y) = two_of_ten(60, 0);
    let weights = Array1::from_shape_fn(60, |i| 0.5 + (i % 3) as f64);
    for (i, kernel) in kernels.iter().enumerate() {
        for (form, lengthscales) in [
            (Form::Paired, Lengthscales::PerColumn),
            (Form::Phase, Lengthscales::One),
        ] {
            let sampling = [Sampling::MonteCarlo, Sampling::Orthogonal][i % 2];
            let map = Fourier::new(kernel.clone()).features(40).form(form);
            let map = map.sampling(if i == 1 {
                Sampling::MonteCarlo
            } else {
                sampling
            });
            let input = Affine::identity(10).lengthscale(3.0).expect("positive");
            let map = map.build(input).expect("builds");
            let sample = RowSample {
                x_nd: x.clone(),
                y_nt: y.clone().insert_axis(Axis(1)),
                weights_n: Some(weights.clone()),
                index_n: (0..x.nrows() as u64).collect(),
            };
            let options = GaussianProcessOptions {
                lengthscales,
                intercept: i != 2,
                ..GaussianProcessOptions::default()
            };
            let landscape = Landscape::new(&map, &sample, 2000, &options).expect("ten columns");
            let mut at = vec![0.2; landscape.scales() + 1];
            at[landscape.scales()] = -2.0;
            let (_, gradient) = landscape.at(&at, 0.0);
            for j in 0..at.len() {
                // Frequencies of the Laplacian reach thousands: uses differences of fourth order.
                let step = 2e-6;
                let moved = |by: f64| {
                    let mut at = at.clone();
                    at[j] += by;
                    landscape.at(&at, 0.0).0
                };
                let near = moved(step) - moved(-step);
                let far = moved(2.0 * step) - moved(-2.0 * step);
                let expected = (8.0 * near - far) / (12.0 * step);
                let error = (gradient[j] - expected).abs();
                assert!(
                    error < 1e-5 * expected.abs().max(1.0),
                    "{} {form} {j}: {} {expected}",
                    kernel.spec(),
                    gradient[j]
                );
            }
        }
    }
}

/// The lengthscales of the eight irrelevant columns grow, and predictions for held-out rows
/// improve.
#[test]
fn columns_that_say_nothing_are_found_out() {
    let ((x, y), (x_new, y_new)) = (two_of_ten(500, 1), two_of_ten(500, 2));
    let error = |model: &Model<Array1<f64>>| {
        let off = model.predict(&x_new).expect("predicts") - &y_new;
        off.mapv(|e| e * e).mean().expect("rows").sqrt()
    };
    // Disables the weights of columns that leave-one-out errors would choose.
    let process = || process(400).bandwidth(Bandwidth::Scale);
    let fixed = process().fit((&x, &y)).expect("fits");
    let own = process().lengthscales(Lengthscales::PerColumn);
    let own = own.fit((&x, &y)).expect("fits");
    let found = own.linear().lengthscales.as_ref().expect("found");
    assert!(found.after > found.before + 100.0, "{found:?}");
    let mut first = found.ranking()[..2].to_vec();
    first.sort_unstable();
    assert_eq!(first, [2, 7], "{found:?}");
    for j in (0..10).filter(|j| ![2, 7].contains(j)) {
        let longest = found.lengthscale_d[2].max(found.lengthscale_d[7]);
        assert!(found.lengthscale_d[j] > 5.0 * longest, "{j}: {found:?}");
    }
    let (before, after) = (error(&fixed), error(&own));
    assert!(after < 0.5 * before, "{before} to {after}");
    assert!((own.linear().facts["noise_deviation"] / 0.1 - 1.0).abs() < 0.1);
    // The estimates are lengthscales of the columns: passed as a bandwidth they give the same
    // kernel.
    let again = process().bandwidth(Bandwidth::SigmaPerColumn(found.lengthscale_d.clone()));
    let again = again.fit((&x, &y)).expect("fits");
    let fact = |model: &Model<Array1<f64>>| model.linear().facts["log_marginal_likelihood"];
    assert!((fact(&again) - fact(&own)).abs() < 0.01);
}

/// A single factor keeps the ratios of columns, although leave-one-out errors would choose weights.
#[test]
fn one_factor_is_that_of_all_columns() {
    let (x, y) = two_of_ten(300, 1);
    let one = process(200).lengthscales(Lengthscales::One);
    let model = one.fit((&x, &y)).expect("fits");
    let found = model.linear().lengthscales.as_ref().expect("found");
    let all = || found.relevance_d.iter().copied();
    let (least, most) = (
        all().fold(f64::INFINITY, f64::min),
        all().fold(0.0, f64::max),
    );
    assert!(most < 1.01 * least, "{found:?}");
}

/// For data of a Gaussian process with lengthscale 1 the estimate is within 20 %, from both sides.
#[test]
fn the_bandwidth_of_the_data_is_found() {
    let mut draws = draws(3);
    let rows = 400;
    let x = Array2::from_shape_simple_fn((rows, 2), || 5.0 * draws.uniform());
    let mut k_nn = gram(&Gaussian, x.view());
    k_nn.diag_mut().mapv_inplace(|k| k + 0.01);
    let mut factor = Lower::from_matrix(&k_nn);
    assert!(factor.factor());
    let xi: Vec<f64> = (0..rows).map(|_| draws.normal()).collect();
    let y = Array1::from_shape_fn(rows, |i| {
        let row = factor.row(i).iter().zip(&xi);
        row.map(|(l, xi)| l * xi).sum::<f64>()
    });
    for start in [0.3, 4.0] {
        let process = process(1000).bandwidth(Bandwidth::Sigma(start));
        let process = process.standardize(Standardize::No);
        let model = process.lengthscales(Lengthscales::One).fit((&x, &y));
        let model = model.expect("fits");
        let found = model.linear().lengthscales.as_ref().expect("found");
        let [one, other] = found.lengthscale_d[..] else {
            panic!("two columns")
        };
        assert!((one / other - 1.0).abs() < 1e-12);
        assert!(one.ln().abs() < f64::ln(1.2), "{start}: {found:?}");
        assert!(found.after > found.before);
    }
}

/// If the sample is all rows, its likelihood equals that of the streamed fit, in chunks of any
/// size, and is never below that of the start.
#[test]
fn the_streamed_fit_is_that_of_the_sample() {
    let (x, y) = two_of_ten(250, 4);
    for (lengthscales, start) in [
        (Lengthscales::One, 0.5),
        (Lengthscales::One, 6.0),
        (Lengthscales::PerColumn, 3.0),
    ] {
        let process = || {
            let process = process(120).bandwidth(Bandwidth::Sigma(start));
            process.lengthscales(lengthscales)
        };
        let model = process().fit((&x, &y)).expect("fits");
        let found = model.linear().lengthscales.clone().expect("found");
        assert!(found.after >= found.before && found.iterations > 0);
        assert_eq!(found.rows, 250);
        let streamed = model.linear().facts["log_marginal_likelihood"];
        assert!(
            (streamed - found.after).abs() < 0.05,
            "{streamed} {found:?}"
        );
        let small = process().memory(100_000).fit((&x, &y)).expect("fits");
        assert_eq!(small.linear().lengthscales.as_ref(), Some(&found));
        let apart = small.predict(&x).expect("predicts") - model.predict(&x).expect("predicts");
        assert!(apart.iter().all(|e| e.abs() < 1e-4));
        // At the start it equals that of a fit with fixed lengthscales.
        let plain = process().lengthscales(Lengthscales::Fixed).fit((&x, &y));
        let plain = plain.expect("fits").linear().facts["log_marginal_likelihood"];
        assert!((plain - found.before).abs() < 0.02, "{plain} {found:?}");
    }
}

#[test]
fn a_model_keeps_what_was_found() {
    let (x, y) = two_of_ten(80, 5);
    let model = process(40).lengthscales(Lengthscales::PerColumn);
    let model = model.fit((&x, &y)).expect("fits");
    let bytes = model.linear().to_bytes().expect("writes");
    let read = crate::model::LinearModel::from_bytes(&bytes).expect("reads");
    assert!(read.lengthscales.is_some());
    assert_eq!(read.lengthscales, model.linear().lengthscales);
}

#[test]
fn maps_without_frequencies_that_stay_are_refused_by_name() {
    let (x, y) = two_of_ten(40, 6);
    let maps: [(&str, Box<dyn MapBuilder>); 3] = [
        ("fastfood", Box::new(Fastfood::new(Gaussian).features(16))),
        ("nystrom", Box::new(Nystrom::new(Gaussian).features(16))),
        ("arc-cosine", Box::new(ArcCosine::new().features(16))),
    ];
    for (name, map) in maps {
        let process = GaussianProcess::on(map).device(&Device::cpu());
        let message = process.lengthscales(Lengthscales::One).fit((&x, &y));
        let message = message.expect_err("refused").to_string();
        assert!(
            message.contains(&format!("not for a {name} map")),
            "{message}"
        );
        assert!(
            message.contains("Fourier") && !message.contains('\n'),
            "{message}"
        );
    }
}

#[test]
fn rows_that_come_later_are_refused() {
    let (x, y) = two_of_ten(40, 6);
    let process = process(16).lengthscales(Lengthscales::One);
    let message = process.start((&x, &y)).expect_err("refused").to_string();
    assert!(message.contains("a fit to all rows"), "{message}");
}

/// Memory limits the number of sampled rows.
#[test]
fn few_rows_are_looked_at_where_memory_is_scarce() {
    let (x, y) = two_of_ten(600, 7);
    let y_nt = y.insert_axis(Axis(1));
    let mut source = MemorySource::new(&x, Some(y_nt)).expect("rows");
    let cpu = Device::cpu();
    // 8 (4 x 40 + 3 x 10) bytes per row.
    for (memory, rows) in [(300 * 1520, 300), (1000, 256), (1 << 27, 4000)] {
        assert_eq!(most_rows(&Run::on(&cpu).memory(memory), (10, 40)), rows);
    }
    let process = process(40)
        .lengthscales(Lengthscales::One)
        .memory(300 * 1520);
    let model = process.fit(&mut source).expect("fits");
    assert_eq!(
        model.linear().lengthscales.as_ref().expect("found").rows,
        300
    );
}
