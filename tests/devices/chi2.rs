//! Features of the chi-squared kernels: means and variances of the skewed one over seeds, the
//! additive one compared with its defining sum and with published code, and invalid inputs.

use crate::common::{devices, normal};
use bochner::{
    Device, Error, Matrix,
    analysis::{estimates, features_of, variance},
    data::{MemorySource, Rows},
    features::{self, AdditiveChi2Features, Affine, FeatureMap, Form, MapSpec, SkewedChi2, Store},
    kernels::{Domain, SkewedChi2Kernel, parse},
    prelude::*,
    sampling::Frequencies,
};
use ndarray::{Array2, array};

const SEEDS: u64 = 600;

fn counts(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    normal(rows, columns, seed).mapv(|v| f64::from(v).exp())
}

/// `prod 2 sqrt(x + c) sqrt(y + c) / (x + y + 2 c)`, with the differences of logarithms multiplied
/// by `times`.
fn skewed(c: f64, times: f64, x: &[f64], y: &[f64]) -> f64 {
    let columns = x.iter().zip(y);
    let secants = columns.map(|(x, y)| 1.0 / (times * ((x + c).ln() - (y + c).ln()) / 2.0).cosh());
    secants.product()
}

#[test]
fn kernels_are_their_formulas() {
    let (x, y) = ([0.0, 1.5, 0.2], [0.3, 0.5, 0.2]);
    let additive = parse("additive-chi2").expect("known");
    let exact = 2.0 * 1.5 * 0.5 / 2.0 + 0.2;
    assert!((additive.evaluate(&x, &y) - exact).abs() < 1e-15);
    assert_eq!(additive.evaluate(&[0.0], &[0.0]), 0.0);
    // Minus the chi-squared distance, (x - y)^2 / (x + y), it is half the sum of both.
    let apart: f64 = x
        .iter()
        .zip(y)
        .map(|(x, y)| (x - y).powi(2) / (x + y))
        .sum();
    let sums: f64 = x.iter().chain(&y).sum();
    assert!((additive.evaluate(&x, &y) - (sums - apart) / 2.0).abs() < 1e-15);
    for c in [0.1, 1.0, 3.0] {
        let kernel = parse(&format!("skewed-chi2:{c}")).expect("known");
        assert!((kernel.evaluate(&x, &y) - skewed(c, 1.0, &x, &y)).abs() < 1e-14);
        assert_eq!(kernel.evaluate(&x, &x), 1.0);
        assert_eq!(kernel.domain(), Domain::Above(-c));
    }
    assert_eq!(additive.domain(), Domain::NonNegative);
    for bad in [
        "skewed-chi2:x",
        "skewed-chi2:nan",
        "skewed-chi2:inf",
        "additive-chi2:1",
    ] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn the_density_is_that_of_the_draws() {
    let measure = SkewedChi2Kernel::frequencies();
    // Quantiles compared with the integral of the density, by the midpoint rule.
    let mut at = [0.0];
    for t in [0.01, 0.3, 0.5, 0.77, 0.999] {
        measure.map_cube(&[t], &mut at);
        let steps = 200_000;
        let (from, width) = (-20.0, (at[0] + 20.0) / f64::from(steps));
        let density = |i: i32| {
            let omega = from + (f64::from(i) + 0.5) * width;
            measure.ln_density(&[omega]).expect("known").exp()
        };
        let integral = width * (0..steps).map(density).sum::<f64>();
        assert!((integral - t).abs() < 1e-8, "{t}: {integral}");
    }
    // The second moment, by the same quantiles.
    let moment = |n: i32| {
        let each = (0..n).map(|i| {
            let mut at = [0.0];
            measure.map_cube(&[(f64::from(i) + 0.5) / f64::from(n)], &mut at);
            at[0] * at[0]
        });
        each.sum::<f64>() / f64::from(n)
    };
    assert!((moment(100_000) - 0.25).abs() < 1e-4, "{}", moment(100_000));
    assert_eq!(measure.second_moment(3), Some(0.75));
}

#[test]
fn skewed_features_are_unbiased_with_the_variance_that_is_said() {
    let x = counts(4, 3, 2);
    let pairs = [(0, 0), (0, 1), (0, 2), (1, 3)];
    for (c, form, sampling) in [
        (0.3, Form::Paired, "monte-carlo"),
        (1.0, Form::Phase, "monte-carlo"),
        (1.0, Form::Paired, "halton"),
        (0.3, Form::Paired, "sobol"),
        (1.0, Form::Paired, "lattice"),
        (1.0, Form::Paired, "digital-net"),
    ] {
        let rows = Rows::from(&x);
        let run = estimates(
            &rows,
            &pairs,
            &Device::cpu(),
            (0..SEEDS).map(Seed),
            |seed| {
                let map = SkewedChi2::new().skewedness(c).features(32).form(form);
                let map = map.sampling(sampling.parse()?).seed(seed);
                Ok(Box::new(map.build(Affine::identity(3))?))
            },
        );
        let run = run.expect("runs");
        let mut seen = 0.0_f64;
        for (p, (i, j)) in pairs.into_iter().enumerate() {
            let (a, b) = (x.row(i).to_vec(), x.row(j).to_vec());
            let k = |times: f64| skewed(c, times, &a, &b);
            let error = 4.0 * (run.variance[p] / SEEDS as f64).sqrt() + 2e-6;
            let off = (run.mean[p] - k(1.0)).abs() / error;
            assert!(off < 1.0, "{c} {form} {sampling} {i} {j}: {off}");
            // Negative controls: frequencies and c 10 per cent off.
            seen = seen.max((run.mean[p] - k(1.1)).abs() / error);
            if sampling == "monte-carlo" && i != j {
                let said = variance(form, 32, k(1.0), k(2.0));
                let ratio = (run.variance[p] / said - 1.0).abs();
                assert!(ratio < 0.25, "{form} {i} {j}: {ratio}");
            }
        }
        assert!(seen > 1.0, "{c} {form} {sampling}: 10 per cent pass");
    }
    let map = SkewedChi2::new().sampling("orthogonal".parse().expect("known"));
    assert!(map.build(Affine::identity(3)).is_err(), "not isotropic");
}

/// Feature by feature: `sqrt(2/D) cos(w ln(x + c) + b)` and its pair.
#[test]
fn skewed_features_are_cosines_of_logarithms_on_devices() {
    let x = counts(21, 3, 5) - 0.05;
    let rows = Rows::from(&x);
    let omega = array![[0.5, -1.0, 0.25], [2.0, 0.125, 0.0]];
    let given = |phases| Frequencies {
        omega_sd: omega.clone(),
        phases,
        weights: None,
    };
    let angle = |i: usize, l: usize| -> f64 {
        let columns = omega.row(l).to_vec().into_iter().zip(x.row(i));
        columns.map(|(w, x)| w * (x + 0.3).ln()).sum()
    };
    for device in devices() {
        let map = SkewedChi2::new()
            .skewedness(0.3)
            .form(Form::Phase)
            .features(2);
        let map = map.frequencies(given(Some(vec![0.25, 0.0])));
        let map = map.build(Affine::identity(3)).expect("builds");
        let z = features_of(&map, &rows, device).expect("runs");
        for i in 0..21 {
            // A quarter turn changes a cosine to minus the sine.
            let exact = [-angle(i, 0).sin(), angle(i, 1).cos()];
            for (l, exact) in exact.into_iter().enumerate() {
                let off = (z[[i, l]] - exact).abs();
                assert!(off < 5e-6, "{device:?} {i} {l}: {off}");
            }
        }
        let map = SkewedChi2::new().skewedness(0.3).features(4);
        let map = map.frequencies(given(None)).build(Affine::identity(3));
        let map = map.expect("builds");
        let z = features_of(&map, &rows, device).expect("runs");
        let mut store = Store::default();
        map.write(&mut store).expect("writes");
        let again = features::read(&store).expect("reads");
        let kept = features_of(again.as_ref(), &rows, device).expect("runs");
        assert_eq!(kept, z, "{device:?}");
        for (i, j) in [(0, 1), (3, 20)] {
            let exact = (0..2)
                .map(|l| (angle(i, l) - angle(j, l)).cos())
                .sum::<f64>()
                / 2.0;
            let own = z.row(i).dot(&z.row(j));
            assert!((own - exact).abs() < 1e-5, "{device:?}: {own} {exact}");
        }
    }
}

/// `sqrt(x y) (L + 2 L sum_j sech(pi j L) cos(j L ln(y / x)))` for each column, on every device.
#[test]
fn additive_features_have_the_sum_of_samples_on_devices() {
    let mut x = counts(23, 5, 6);
    x[[2, 1]] = 0.0;
    x[[3, 1]] = 0.0;
    let rows = Rows::from(&x);
    for (samples, interval) in [(1, 0.8), (2, 0.5), (3, 0.4), (5, 0.3)] {
        let sum = |i: usize, j: usize| -> f64 {
            let columns = x.row(i).to_vec().into_iter().zip(x.row(j).to_vec());
            let column = |(x, y): (f64, f64)| {
                let sample = |k: i32| {
                    let at = f64::from(k) * interval;
                    2.0 / (std::f64::consts::PI * at).cosh() * (at * (y / x).ln()).cos()
                };
                if x * y > 0.0 {
                    (x * y).sqrt() * interval * (1.0 + (1..samples).map(sample).sum::<f64>())
                } else {
                    0.0
                }
            };
            columns.map(column).sum()
        };
        let map = AdditiveChi2Features::new()
            .samples(samples as usize)
            .interval(interval);
        let map = map.build(Affine::identity(5)).expect("builds");
        let usual = AdditiveChi2Features::new().samples(samples as usize);
        let usual = usual.build(Affine::identity(5)).expect("builds");
        assert!(samples > 3 || usual == map, "another interval of {samples}");
        let mut store = Store::default();
        map.write(&mut store).expect("writes");
        let again = features::read(&store).expect("reads");
        let beta = normal(map.output_dim(), 2, 5);
        for device in devices() {
            let z = features_of(&map, &rows, device).expect("runs");
            assert_eq!(z.dim(), (23, 5 * (2 * samples as usize - 1)));
            for (i, j) in [(0, 0), (0, 1), (2, 3), (3, 4), (9, 22)] {
                let (own, exact) = (z.row(i).dot(&z.row(j)), sum(i, j));
                assert!(
                    (own / exact - 1.0).abs() < 1e-5,
                    "{device:?} {samples}: {own} {exact}"
                );
            }
            let kept = features_of(again.as_ref(), &rows, device).expect("runs");
            assert_eq!(kept, z, "{device:?}");
            let mut x_nd = Matrix::new(device, 23, 5).expect("fits");
            map.input().load(&rows, &mut x_nd).expect("loads");
            let beta_dt = Matrix::upload(device, beta.view()).expect("fits");
            let mut y_nt = Matrix::new(device, 23, 2).expect("fits");
            let mut loaded = map.load(device).expect("loads");
            loaded.predict(&x_nd, &beta_dt, &mut y_nt).expect("runs");
            let y = y_nt.download().expect("reads").mapv(f64::from);
            let off = &y - &z.dot(&beta.mapv(f64::from));
            assert!(off.iter().all(|e| e.abs() < 2e-5), "{device:?}");
        }
    }
}

/// Output of scikit-learn 1.9's `AdditiveChi2Sampler` for the same rows, to the printed digits.
#[test]
fn additive_features_are_those_of_scikit_learn() {
    let x = array![[0.0, 0.5], [2.0, 0.125]];
    for (samples, published) in [
        (
            2,
            array![
                [
                    0.000000000,
                    0.500000000,
                    0.000000000,
                    0.419853200,
                    0.000000000,
                    -0.151630137
                ],
                [
                    1.000000000,
                    0.250000000,
                    0.839706399,
                    0.113040814,
                    0.303260273,
                    -0.192454868
                ]
            ],
        ),
        (
            3,
            array![
                [
                    0.000000000,
                    0.447213595,
                    0.000000000,
                    0.441413235,
                    0.000000000,
                    -0.125621294,
                    0.000000000,
                    0.215710930,
                    0.000000000,
                    -0.133598079
                ],
                [
                    0.894427191,
                    0.223606798,
                    0.882826471,
                    0.154562814,
                    0.251242589,
                    -0.169608151,
                    0.431421859,
                    -0.011750805,
                    0.267196157,
                    -0.126320353
                ]
            ],
        ),
    ] {
        let map = AdditiveChi2Features::new().samples(samples);
        let map = map.build(Affine::identity(2)).expect("builds");
        let z = features_of(&map, &Rows::from(&x), &Device::cpu()).expect("runs");
        let off = (&z - &published).fold(0.0_f64, |m, v: &f64| m.max(v.abs()));
        assert!(off < 3e-7, "{samples}: {off}");
    }
}

/// The documented error, and that it decreases with the number of samples.
#[test]
fn more_samples_are_nearer_to_the_kernel() {
    let kernel = parse("additive-chi2").expect("known");
    let ratios: Vec<f64> = (0..=100)
        .map(|i| 10.0_f64.powf(f64::from(i) / 100.0))
        .collect();
    let x = Array2::from_shape_fn((101, 1), |(i, _)| ratios[i]);
    let mut before = f64::INFINITY;
    for samples in [1, 2, 3, 4, 6, 10, 16] {
        let map = AdditiveChi2Features::new().samples(samples);
        let map = map.build(Affine::identity(1)).expect("builds");
        let z = features_of(&map, &Rows::from(&x), &Device::cpu()).expect("runs");
        // For values that differ up to tenfold, relative to sqrt(x y).
        let error = (0..101).map(|i| {
            let exact = kernel.evaluate(&[1.0], &[ratios[i]]);
            (z.row(0).dot(&z.row(i)) - exact).abs() / ratios[i].sqrt()
        });
        let worst = error.fold(0.0_f64, f64::max);
        println!("{samples} samples: {worst}");
        assert!(worst < before, "{samples}: {worst} after {before}");
        assert!(samples != 3 || (0.0495..0.0501).contains(&worst), "{worst}");
        before = worst;
    }
    assert!(before < 1e-4, "{before}");
}

/// One line with the position, for every way to pass rows.
#[test]
fn values_outside_of_the_domain_are_refused_by_row_and_column() {
    let mut x = counts(40, 2, 1);
    let y = x.sum_axis(ndarray::Axis(1));
    let additive = || AdditiveChi2Features::new().samples(2);
    let skewed = || SkewedChi2::new().skewedness(0.5).features(20);
    let good = Ridge::on(additive())
        .bandwidth(Bandwidth::Sigma(1.0))
        .fit((&x, &y));
    let good = good.expect("fits");
    x[[33, 1]] = -0.25;
    let bad = good.predict(&x).expect_err("negative").to_string();
    assert!(
        bad.starts_with("row 33, column 1 (counted from 0) holds -0.25"),
        "{bad}"
    );
    assert!(
        bad.contains("values of at least 0") && !bad.contains('\n'),
        "{bad}"
    );
    let fitted = Ridge::on(additive())
        .bandwidth(Bandwidth::Sigma(1.0))
        .fit((&x, &y));
    let error = fitted.expect_err("negative");
    assert!(matches!(error, Error::Parameter(_)), "{error}");
    assert!(error.to_string().contains("row 33, column 1"), "{error}");
    // The skewed kernel accepts values above -0.5, but not -0.5 itself.
    let fit = |x: &Array2<f64>| {
        let ridge = Ridge::on(skewed()).bandwidth(Bandwidth::Sigma(1.0));
        ridge.fit((x, &y))
    };
    assert!(fit(&x).is_ok());
    x[[33, 1]] = -0.5;
    let error = fit(&x).expect_err("no logarithm").to_string();
    assert!(error.contains("values of more than -0.5"), "{error}");
    // A union accepts values in the common domain of its parts.
    x[[33, 1]] = -0.25;
    let union = "tensor-sketch+additive-chi2".parse().expect("maps");
    let spec = MapSpec::new(union, parse("additive-chi2").expect("known"));
    assert!(spec.check().is_err(), "kernels differ");
}

#[test]
fn chi2_maps_are_made_by_name() {
    let x = counts(6, 3, 1);
    for (map, kernel, features, said) in [
        (
            "additive-chi2",
            "additive-chi2",
            16,
            "3 samples at intervals of 0.400, 3 columns to 15",
        ),
        (
            "additive-chi2",
            "additive-chi2",
            2,
            "1 sample at intervals of 0.800, 3 columns to 3",
        ),
        (
            "skewed-chi2",
            "skewed-chi2:0.2",
            8,
            "the skewed-chi2:0.2 kernel",
        ),
    ] {
        let mut spec = MapSpec::new(map.parse().expect("a map"), parse(kernel).expect("known"));
        spec.features = features;
        spec.check().expect("goes together");
        let mut source = MemorySource::new(&x, None).expect("finite");
        let map = spec.build(Affine::identity(3), &x, &mut source, &Device::cpu());
        let map = map.expect("builds");
        assert!(map.describe().contains(said), "{}", map.describe());
    }
    for (samples, interval) in [
        (0, 0.5),
        (2, 0.0),
        (2, -1.0),
        (2, f64::NAN),
        (usize::MAX, 0.5),
    ] {
        let map = AdditiveChi2Features::new()
            .samples(samples)
            .interval(interval);
        let map = map.build(Affine::identity(3));
        assert!(
            matches!(map, Err(Error::Parameter(_))),
            "{samples} {interval}"
        );
    }
    assert!(
        SkewedChi2::new()
            .features(0)
            .build(Affine::identity(3))
            .is_err()
    );
    assert!(
        SkewedChi2::new()
            .skewedness(f64::NAN)
            .build(Affine::identity(3))
            .is_err()
    );
}
