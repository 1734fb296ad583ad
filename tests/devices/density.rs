//! Kernel densities compared with the exact sum over rows and the distribution of the rows, and
//! integrals and spectral densities of kernels compared with quadrature.

use crate::common::devices;
use bochner::{
    data::MemorySource,
    features::Form,
    kernels::{self, Kernel},
    models::{Density, DensityOptions, LinearModel, Link},
    prelude::*,
    sampling::{Sampling, Sobol},
    seed::Stream,
};
use ndarray::{Array1, Array2, Axis, array, s};
use std::f64::consts::TAU;

/// Integral of `f` over the half line, by the trapezoidal rule for t = exp(pi/2 sinh u), which
/// converges for all tails.
fn half_line(f: impl Fn(f64) -> f64) -> f64 {
    let step = 1.0 / 128.0;
    let at = |i: i32| {
        let u = f64::from(i) * step;
        let t = (TAU / 4.0 * u.sinh()).exp();
        let weight = t * TAU / 4.0 * u.cosh() * f(t);
        if weight.is_finite() { weight } else { 0.0 }
    };
    step * (-560..=560).map(at).sum::<f64>()
}

/// k at distance `r` along the first of `d` columns.
fn at(kernel: &dyn Kernel, r: f64, d: usize) -> f64 {
    let mut x = vec![0.0; d];
    x[0] = r;
    kernel.evaluate(&x, &vec![0.0; d])
}

const PRODUCTS: [&str; 4] = [
    "gaussian",
    "laplacian",
    "cauchy",
    "product:gaussian@2*laplacian@0.7",
];
const ISOTROPIC: [&str; 6] = [
    "gaussian",
    "exponential",
    "matern32",
    "matern:0.8",
    "rational-quadratic:3",
    "mixture:1*gaussian@0.5+3*matern52@2",
];

#[test]
fn kernels_know_their_integrals() {
    for spec in PRODUCTS {
        let kernel = kernels::parse(spec).expect("a kernel");
        let column = 2.0 * half_line(|t| at(kernel.as_ref(), t, 1));
        for d in [1, 3] {
            let own = kernel.ln_integral(d).expect("known");
            let error = (own - d as f64 * column.ln()).abs();
            assert!(error < 1e-6, "{spec} {d}: {own}");
        }
    }
    for spec in ISOTROPIC {
        let kernel = kernels::parse(spec).expect("a kernel");
        // Surface areas of spheres in 1, 2 and 3 dimensions.
        for (d, sphere) in [(1, 2.0), (2, TAU), (3, 2.0 * TAU)] {
            let integral = half_line(|r| sphere * r.powi(d as i32 - 1) * at(kernel.as_ref(), r, d));
            let own = kernel.ln_integral(d).expect("known");
            assert!((own - integral.ln()).abs() < 1e-6, "{spec} {d}: {own}");
        }
    }
    for (spec, d) in [
        ("rational-quadratic:1", 2),
        ("hat", 1),
        ("arc-cosine:1", 1),
        ("product:gaussian@1*matern32@1", 2),
    ] {
        let kernel = kernels::parse(spec).expect("a kernel");
        assert_eq!(kernel.ln_integral(d), None, "{spec}");
    }
}

/// `(2 pi)^d p(omega)` is the integral of k(x) cos(omega x).
#[test]
fn spectral_densities_are_the_fourier_transforms_of_kernels() {
    let density = |kernel: &dyn Kernel, omega: &[f64]| {
        let ln = kernel.spectrum().expect("has one").ln_density(omega);
        TAU.powi(omega.len() as i32) * ln.expect("known").exp()
    };
    // A fine midpoint rule on a long enough interval.
    let line = |f: &dyn Fn(f64) -> f64, end: f64, n: i32| {
        let step = end / f64::from(n);
        (0..n).map(|i| f((f64::from(i) + 0.5) * step)).sum::<f64>() * step
    };
    for spec in PRODUCTS.iter().chain(&ISOTROPIC) {
        let kernel = kernels::parse(spec).expect("a kernel");
        let kernel = kernel.as_ref();
        for omega in [0.0, 0.3, 1.1, 2.5] {
            let f = |t: f64| 2.0 * at(kernel, t, 1) * (omega * t).cos();
            let expected = line(&f, 1000.0, 400_000);
            // A tail of 1/t^2 is truncated after many periods of the cosine; at 0 it is 2/1000.
            let error = (density(kernel, &[omega]) - expected).abs();
            assert!(error < 2.1e-3, "{spec} {omega}: {error}");
        }
    }
    for spec in ISOTROPIC {
        let kernel = kernels::parse(spec).expect("a kernel");
        let kernel = kernel.as_ref();
        for omega in [[0.4, 0.0], [0.6, -0.8], [1.5, 2.0]] {
            let length = f64::hypot(omega[0], omega[1]);
            let around = |r: f64| {
                let turn = |i: i32| (length * r * (TAU * f64::from(i) / 400.0).cos()).cos();
                (0..400).map(turn).sum::<f64>() / 400.0
            };
            let f = |r: f64| TAU * r * at(kernel, r, 2) * around(r);
            let expected = line(&f, 60.0, 6000);
            let error = (density(kernel, &omega) - expected).abs();
            assert!(error < 2e-3, "{spec} {omega:?}: {error}");
        }
    }
    // Columns of a product are independent.
    for spec in PRODUCTS {
        let kernel = kernels::parse(spec).expect("a kernel");
        let each = [0.7, -1.9].map(|w| density(kernel.as_ref(), &[w]));
        let both = density(kernel.as_ref(), &[0.7, -1.9]);
        assert!((both / (each[0] * each[1]) - 1.0).abs() < 1e-9, "{spec}");
    }
}

/// `[(R/R_G)/(v/v_G)^2]^(1/(d + 4))` from integrals of the kernel.
#[test]
fn kernels_know_how_wide_they_smooth_as_a_gaussian() {
    for spec in [
        "gaussian",
        "laplacian",
        "exponential",
        "matern32",
        "matern:0.8",
    ] {
        let kernel = kernels::parse(spec).expect("a kernel");
        let kernel = kernel.as_ref();
        let ratio = |kernel: &dyn Kernel, d: usize| {
            let (power, sphere) = if d == 1 { (0, 2.0) } else { (1, TAU) };
            let over = |f: &dyn Fn(f64) -> f64| half_line(|r| sphere * r.powi(power) * f(r));
            let k = |r: f64| at(kernel, r, d);
            let whole = over(&k);
            let variance = over(&|r| r * r * k(r)) / (d as f64 * whole);
            let square = over(&|r| k(r) * k(r)) / (whole * whole);
            square / (variance * variance)
        };
        let mut columns = vec![1];
        if spec != "laplacian" {
            columns.push(2);
        }
        for d in columns {
            let expected = (ratio(kernel, d) / ratio(&Gaussian, d)).powf(1.0 / (d as f64 + 4.0));
            let own = kernel.smooths_as_gaussian(d).expect("known");
            assert!(
                (own / expected - 1.0).abs() < 1e-6,
                "{spec} {d}: {own} {expected}"
            );
        }
    }
    // Each column of a product has the same roughness and variance: R^2 for two.
    let two: f64 = ((0.25_f64 * 0.25) * 2.0 * TAU / 4.0).powf(1.0 / 6.0);
    let own = Laplacian.smooths_as_gaussian(2).expect("known");
    assert!((own / two - 1.0).abs() < 1e-12, "{own} {two}");
    assert_eq!(Cauchy.smooths_as_gaussian(1), None);
}

/// Two modes in two columns with different units.
fn bumps(rows: usize, seed: u64) -> Array2<f64> {
    let mut draws = Seed(seed).stream(Stream::Data, 0);
    let mut x = Array2::from_shape_simple_fn((rows, 2), || draws.normal());
    for (i, mut row) in x.rows_mut().into_iter().enumerate() {
        row[0] += if i % 3 == 0 { 4.0 } else { 0.0 };
        row[1] = 50.0 + 10.0 * row[1];
    }
    x
}

/// The exact sum over rows: kernel over its integral, with `sigma` per column.
fn exact(
    kernel: &dyn Kernel,
    sigma: &[f64],
    (x, weights): (&Array2<f64>, &[f64]),
    at: &Array2<f64>,
) -> Array1<f64> {
    let sigma_d = Array1::from(sigma.to_vec());
    let integral = kernel.ln_integral(sigma.len()).expect("known").exp() * sigma_d.product();
    let scaled = |x: &Array2<f64>| x / &sigma_d;
    let k = kernels::cross(kernel, scaled(at).view(), scaled(x).view());
    let weights = Array1::from(weights.to_vec());
    k.dot(&weights) / (integral * weights.sum())
}

fn at_bumps() -> Array2<f64> {
    array![
        [0.0, 50.0],
        [2.0, 45.0],
        [4.0, 55.0],
        [-1.0, 60.0],
        [9.0, 90.0]
    ]
}

#[test]
fn with_every_row_a_landmark_the_density_is_the_exact_one_in_raw_units() {
    let x = bumps(90, 1);
    let sigma = [0.8, 7.0];
    let weights: Vec<f64> = (0..90).map(|i| 1.0 + f64::from(i % 4)).collect();
    let ones = vec![1.0; 90];
    for spec in ["gaussian", "laplacian", "matern32", "cauchy"] {
        let kernel = kernels::parse(spec).expect("a kernel");
        for (weighted, weights) in [(false, &ones), (true, &weights)] {
            let map = Nystrom::new(kernel.clone()).features(90);
            let density = Density::on(map)
                .bandwidth(Bandwidth::SigmaPerColumn(sigma.to_vec()))
                .device(&Device::cpu());
            let source = MemorySource::new(&x, None).expect("finite");
            let mut source = if weighted {
                source.with_weights(weights.clone()).expect("fit")
            } else {
                source
            };
            let model = density.fit(&mut source).expect("fits");
            let own = model.predict(at_bumps()).expect("predicts");
            let expected = exact(kernel.as_ref(), &sigma, (&x, weights), &at_bumps());
            let largest = expected.fold(0.0_f64, |m, &v| m.max(v));
            let worst = (&own - &expected).fold(0.0_f64, |m, v| m.max(v.abs()));
            assert!(
                worst < 2e-3 * largest,
                "{spec} {weighted}: {own} {expected}"
            );
            // As scores they are mean kernel values.
            let scores = model.loaded().expect("loads").scores(at_bumps());
            let integral = model.linear().facts["ln_integral"].exp();
            let scores = scores.expect("scores").column(0).to_owned() / integral;
            assert!((scores - &own).iter().all(|e| e.abs() < 1e-6 * largest));
        }
    }
}

/// With standardised columns, one of them constant, the density is per raw unit of the others.
#[test]
fn standardised_columns_are_raw_units_and_constant_ones_are_left_out() {
    let x = bumps(80, 2);
    let mut wider = Array2::from_elem((80, 3), 7.0);
    wider.slice_mut(s![.., ..2]).assign(&x);
    let at = at_bumps();
    let mut wider_at = Array2::from_elem((at.nrows(), 3), 7.0);
    wider_at.slice_mut(s![.., ..2]).assign(&at);
    let density = Density::on(Nystrom::new(Gaussian).features(80))
        .standardize(Standardize::Yes)
        .device(&Device::cpu());
    for bandwidth in [
        Bandwidth::Scott,
        Bandwidth::Silverman,
        Bandwidth::Sigma(0.4),
    ] {
        let model = density.clone().bandwidth(bandwidth.clone());
        let model = model.fit(&wider).expect("fits");
        let own = model.predict(&wider_at).expect("predicts");
        let deviations = x.std_axis(Axis(0), 0.0);
        let sigma = match bandwidth {
            // n^(-1/6) deviations with n - 1 below.
            Bandwidth::Scott | Bandwidth::Silverman => {
                // (4 / (d + 2))^(1 / (d + 4)) is 1 for two columns.
                &deviations * (80.0_f64 / 79.0).sqrt() * 80.0_f64.powf(-1.0 / 6.0)
            }
            _ => &deviations * 0.4,
        };
        let sigma = sigma.to_vec();
        let expected = exact(&Gaussian, &sigma, (&x, &[1.0; 80]), &at);
        let largest = expected.fold(0.0_f64, |m, &v| m.max(v));
        let worst = (&own - &expected).fold(0.0_f64, |m, v| m.max(v.abs()));
        assert!(worst < 2e-3 * largest, "{own} {expected}");
    }
}

fn line(rows: usize) -> Array2<f64> {
    let mut draws = Seed(4).stream(Stream::Data, 0);
    Array2::from_shape_simple_fn((rows, 1), || draws.normal())
}

#[test]
fn random_features_are_unbiased_and_off_by_the_deviation_that_is_said() {
    let x = line(200);
    let at = array![[0.0], [1.2], [-2.5], [30.0], [41.0], [-53.0], [67.0]];
    let expected = exact(&Gaussian, &[0.4], (&x, &[1.0; 200]), &at);
    let seeds = 300;
    for form in [Form::Paired, Form::Phase] {
        let mut mean = Array1::<f64>::zeros(at.nrows());
        let (mut square, mut said) = (0.0, 0.0);
        for seed in 0..seeds {
            let map = Fourier::new(Gaussian).features(400).form(form);
            let map = map.sampling(Sampling::MonteCarlo);
            let density = Density::on(map).bandwidth(Bandwidth::Sigma(0.4));
            let density = density.seed(Seed(seed)).device(&Device::cpu());
            let model = density.fit(&x).expect("fits");
            let scores = model.loaded().expect("loads").scores(&at).expect("scores");
            let integral = model.linear().facts["ln_integral"].exp();
            let raw = scores.column(0).to_owned() / integral;
            mean += &(&raw / seeds as f64);
            // Far from all rows.
            square += raw.slice(s![3..]).mapv(|f| f * f).mean().expect("four");
            said += model.linear().facts["noise_deviation"].powi(2);
            let predicted = model.predict(&at).expect("predicts");
            let clipped = raw.mapv(|f| f.max(0.0));
            assert!((predicted - clipped).iter().all(|e| e.abs() < 1e-9));
        }
        let ratio = (square / said).sqrt();
        assert!((ratio - 1.0).abs() < 0.15, "{form}: {ratio}");
        // Four standard errors.
        let bound = 4.0 * (said / seeds as f64).sqrt() / (seeds as f64).sqrt();
        let worst = (&mean - &expected).fold(0.0_f64, |m, v| m.max(v.abs()));
        assert!(worst < bound, "{form}: {worst} {bound}");
        assert!(bound < 0.03 * expected[0]);
    }
}

/// N(0, 1) as weights of a fine grid, smoothed by a Gaussian, is N(0, 1 + h^2), and integrates to
/// one.
#[test]
fn densities_are_those_of_the_law_and_sum_to_one() {
    let grid = Array2::from_shape_fn((1201, 1), |(i, _)| (i as f64 - 600.0) / 100.0);
    let weights = grid.column(0).mapv(|x| (-0.5 * x * x).exp());
    for map in ["fourier", "fastfood", "nystrom", "binning"] {
        let binned = map == "binning";
        let kernel = kernels::parse(if binned { "laplacian" } else { "gaussian" });
        let map_choice = map.parse().expect("a map");
        let mut spec = bochner::features::MapSpec::new(map_choice, kernel.expect("a kernel"));
        spec.features = if map == "nystrom" { 200 } else { 4000 };
        spec.sampling = Sampling::Sobol(Sobol::Owen);
        let source = MemorySource::new(&grid, None).expect("finite");
        let mut source = source.with_weights(weights.clone()).expect("fit");
        let density = Density::on(spec).bandwidth(Bandwidth::Sigma(0.2));
        let density = density.standardize(Standardize::No).device(&Device::cpu());
        let model = density.fit(&mut source).expect("fits");
        let own = model.predict(&grid).expect("predicts");
        let noise = model.linear().facts.get("noise_deviation").copied();
        // Negative values count as 0: the positive half of the noise has a mean of 0.4 deviations.
        let clipped = noise.map_or(0.0, |noise| 12.0 * 0.4 * noise);
        let sum = own.sum() / 100.0;
        assert!(
            (sum - 1.0).abs() < 0.005 + clipped,
            "{map}: {sum} {clipped}"
        );
        assert!(
            clipped < 0.1 && own.iter().all(|&f| f >= 0.0),
            "{map} {clipped}"
        );
        let loaded = model.loaded().expect("loads").scores(&grid);
        let raw = loaded.expect("scores").sum() / 100.0;
        let raw = raw / model.linear().facts["ln_integral"].exp();
        let off = if map == "fastfood" { 0.1 } else { 0.01 };
        assert!((raw - 1.0).abs() < off, "{map}: {raw}");
        if binned {
            assert_eq!(noise, None);
            continue;
        }
        let variance = 1.0 + 0.2 * 0.2;
        // Points that fill the line evenly are far more accurate than random ones.
        let bound = if map == "fastfood" {
            4.0 * clipped / 4.8
        } else {
            0.004
        };
        for (x, f) in grid.column(0).iter().zip(&own) {
            let law = (-0.5 * x * x / variance).exp() / (TAU * variance).sqrt();
            assert!((f - law).abs() < bound, "{map} {x}: {f} {law}");
        }
    }
}

#[test]
fn densities_are_the_same_on_every_device_in_any_chunks_and_from_a_file() {
    let x = bumps(300, 5);
    for log in [false, true] {
        let fit = |device: &Device, memory: u64| {
            let map = Fourier::new(Gaussian).features(128);
            let density = Density::on(map).log(log).device(device).memory(memory);
            density.fit(&x).expect("fits")
        };
        let whole = fit(&Device::cpu(), 128 << 20);
        let expected = whole.predict(at_bumps()).expect("predicts");
        for device in devices() {
            let model = fit(device, 40_000);
            let own = model.predict(at_bumps()).expect("predicts");
            let largest = expected.fold(0.0_f64, |m, v| m.max(v.abs()));
            let worst = (&own - &expected).fold(0.0_f64, |m, v| m.max(v.abs()));
            assert!(worst < 1e-4 * largest, "{}: {worst}", device.describe());
        }
        let tight = fit(&Device::cpu(), 40_000);
        assert_eq!(
            tight.linear().coefficients,
            whole.linear().coefficients,
            "chunks show in the sums"
        );
        let bytes = whole.linear().to_bytes().expect("writes");
        let again = LinearModel::from_bytes(&bytes).expect("reads");
        assert_eq!(again.link, whole.linear().link);
        assert!(matches!(again.link, Some(Link::LogDensity { .. })) == log);
        let rows = bochner::data::Rows::from(at_bumps());
        let scores = again.on(&Device::cpu()).expect("loads").predict(&rows);
        assert_eq!(scores.expect("predicts").column(0), expected);
    }
}

/// `int f^2 - 2 mean of f left out`, pair by pair, from the density of the kernel and its
/// convolution with itself, at unit scale. A weighted row is left out as a whole.
fn least_squares(
    x: &Array2<f64>,
    weights: &[f64],
    h: f64,
    [density, convolved]: [fn(f64) -> f64; 2],
) -> f64 {
    let (mut square, mut left_out, mut pairs) = (0.0, 0.0, 0.0);
    for (i, v) in weights.iter().enumerate() {
        for (j, w) in weights.iter().enumerate() {
            let apart = ((x[[i, 0]] - x[[j, 0]]) / h).abs();
            square += v * w * convolved(apart) / h;
            if i != j {
                left_out += v * w * density(apart) / h;
                pairs += v * w;
            }
        }
    }
    let weight: f64 = weights.iter().sum();
    square / (weight * weight) - 2.0 * left_out / pairs
}

fn normal(t: f64, deviation: f64) -> f64 {
    (-0.5 * (t / deviation).powi(2)).exp() / (deviation * TAU.sqrt())
}

const GAUSSIAN: [fn(f64) -> f64; 2] = [|t| normal(t, 1.0), |t| normal(t, 2.0_f64.sqrt())];

/// Kernels whose convolution with themselves is known, in both forms, with weights.
#[test]
fn the_score_is_that_of_all_pairs() {
    let laplacian: [fn(f64) -> f64; 2] = [|t| 0.5 * (-t).exp(), |t| 0.25 * (1.0 + t) * (-t).exp()];
    let pi = TAU / 2.0;
    let cauchy: [fn(f64) -> f64; 2] = [
        |t| 2.0 / TAU / (1.0 + t * t),
        |t| 2.0 / TAU * 2.0 / (4.0 + t * t),
    ];
    assert!((cauchy[0](0.0) * pi - 1.0).abs() < 1e-12);
    let x = line(40);
    let weights: Vec<f64> = (0..40).map(|i| 0.5 + f64::from(i % 3)).collect();
    for (kernel, functions) in [
        ("gaussian", GAUSSIAN),
        ("laplacian", laplacian),
        ("cauchy", cauchy),
    ] {
        // From narrow, where the terms of a row with itself dominate, to wide, where the
        // convolution dominates.
        let all = [0.06, 0.5, 2.5].map(|sigma| (sigma, Form::Paired));
        for (sigma, form) in all.into_iter().chain([(0.5, Form::Phase)]) {
            for (weighted, weights) in [(false, vec![1.0; 40]), (true, weights.clone())] {
                let spec = kernel;
                let kernel = kernels::parse(kernel).expect("a kernel");
                let map = Fourier::new(kernel).features(20_000).form(form);
                let density = Density::on(map.sampling(Sampling::Sobol(Sobol::Owen)))
                    .bandwidth(Bandwidth::Sigma(sigma))
                    .standardize(Standardize::No)
                    .multiples(&[0.8])
                    .device(&Device::cpu());
                let source = MemorySource::new(&x, None).expect("finite");
                let mut source = if weighted {
                    source.with_weights(weights.clone()).expect("fit")
                } else {
                    source
                };
                let model = density.fit(&mut source).expect("fits");
                let score = model.linear().facts["cross_validation"];
                let exact = least_squares(&x, &weights, 0.8 * sigma, functions);
                let error = (score / exact - 1.0).abs();
                // For narrow kernels high frequencies matter, which are fewer.
                let bound = if sigma < 0.1 { 0.012 } else { 0.005 };
                assert!(
                    error < bound,
                    "{spec} {sigma} {form} {weighted}: {score} {exact}"
                );
            }
        }
    }
}

#[test]
fn the_multiple_chosen_is_that_of_the_exact_cross_validation() {
    // Two narrow modes far apart, for which Scott's rule is far too wide.
    let mut x = line(400) / 10.0;
    x.slice_mut(s![..200, ..]).mapv_inplace(|v| v + 3.0);
    let multiples = DensityOptions::some_multiples();
    let map = Fourier::new(Gaussian).features(4000);
    let density = Density::on(map.sampling(Sampling::Sobol(Sobol::Owen)))
        .standardize(Standardize::No)
        .multiples(&multiples)
        .device(&Device::cpu());
    let model = density.fit(&x).expect("fits");
    let scott = x.std_axis(Axis(0), 1.0)[0] * 400.0_f64.powf(-0.2);
    let exact = |c: f64| least_squares(&x, &[1.0; 400], c * scott, GAUSSIAN);
    let best = multiples
        .iter()
        .copied()
        .min_by(|a, b| exact(*a).total_cmp(&exact(*b)));
    let best = best.expect("some");
    assert!(best < 0.3, "{best}");
    let facts = &model.linear().facts;
    assert_eq!(facts["bandwidth_multiple"], best);
    let score = facts["cross_validation"];
    assert!(
        (score / exact(best) - 1.0).abs() < 0.02,
        "{score} {}",
        exact(best)
    );
    // The model equals that of the chosen bandwidth.
    let sigma = Bandwidth::Sigma(best * scott);
    let again = density
        .clone()
        .multiples(&[])
        .bandwidth(sigma)
        .fit(&x)
        .expect("fits");
    let at = array![[0.0], [3.0], [1.5]];
    let (own, other) = (
        model.predict(&at).expect("predicts"),
        again.predict(&at).expect("predicts"),
    );
    assert!((own - other).iter().all(|e| e.abs() < 1e-4));
}

#[test]
fn what_has_no_density_is_refused_in_one_line() {
    let x = bumps(20, 6);
    let mut flat = x.clone();
    flat.column_mut(1).fill(3.0);
    let one = x.slice(s![..1, ..]).to_owned();
    let same = Array2::from_elem((5, 2), 1.5);
    let on = |map: Box<dyn MapBuilder>| Density::on(map).device(&Device::cpu());
    let fourier = |spec: &str| {
        let kernel = kernels::parse(spec).expect("a kernel");
        on(Box::new(Fourier::new(kernel).features(16)))
    };
    let sigma = || Bandwidth::Sigma(1.0);
    let mut weightless = MemorySource::new(&x, None).expect("finite");
    weightless = weightless.with_weights(vec![0.0; 20]).expect("fit");
    let union = UnionBuilder::new()
        .part(0.5, Fourier::new(Gaussian).features(8))
        .part(0.5, Fourier::new(Gaussian).features(8));
    for (result, says) in [
        (
            on(Box::new(ArcCosine::new())).bandwidth(sigma()).fit(&x),
            "arc-cosine",
        ),
        // With the rule, too, which is not the problem.
        (
            on(Box::new(ArcCosine::new())).fit(&x),
            "arc-cosine:1 has no finite integral",
        ),
        (
            on(Box::new(ArcCosine::new()))
                .bandwidth(sigma())
                .multiples(&[1.0])
                .fit(&x),
            "arc-cosine:1 has no finite integral",
        ),
        (
            on(Box::new(Custom::new("t", f32::tanh)))
                .bandwidth(sigma())
                .fit(&x),
            "no kernel",
        ),
        (on(Box::new(union)).fit(&x), "side by side"),
        (
            fourier("rational-quadratic:1").bandwidth(sigma()).fit(&x),
            "no finite integral over 2",
        ),
        (fourier("cauchy").fit(&x), "scott is not known"),
        (
            fourier("gaussian").standardize(Standardize::No).fit(&flat),
            "column 1",
        ),
        (fourier("gaussian").fit(&one), "constant"),
        (
            fourier("gaussian").standardize(Standardize::Yes).fit(&same),
            "every column is constant",
        ),
        (fourier("gaussian").multiples(&[1.0, -1.0]).fit(&x), "-1"),
        (
            fourier("gaussian")
                .bandwidth(sigma())
                .multiples(&[1.0])
                .fit(&one),
            "there is 1",
        ),
        (
            on(Box::new(Nystrom::new(Gaussian).features(8)))
                .multiples(&[1.0])
                .fit(&x),
            "nystrom map",
        ),
        (
            fourier("product:matern32@1*matern52@1")
                .bandwidth(sigma())
                .fit(&x),
            "no finite integral",
        ),
        (fourier("gaussian").fit(&mut weightless), "weight 0"),
    ] {
        let message = result.expect_err(says).to_string();
        assert!(
            message.contains(says) && !message.contains('\n'),
            "{message}"
        );
    }
    // A single row, and equal rows, have a density for a given bandwidth.
    for rows in [&one, &same] {
        let model = fourier("gaussian")
            .bandwidth(sigma())
            .standardize(Standardize::No);
        let model = model.fit(rows).expect("fits");
        let peak = model.predict(rows).expect("predicts")[0];
        assert!((peak * TAU - 1.0).abs() < 1e-5, "{peak}");
    }
}
