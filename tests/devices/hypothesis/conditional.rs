use super::{LEVEL, assert_level, normals, shuffled};
use crate::common::devices;
use bochner::{
    Device,
    features::{Bandwidth, Form, Fourier},
    hypothesis::{ConditionalIndependence, ConditionalOutcome, Variant},
    kernels::Gaussian,
    seed::Seed,
};
use ndarray::{Array2, Axis, concatenate, s};

fn on_cpu(features: usize) -> ConditionalIndependence {
    let map = Fourier::new(Gaussian).form(Form::Phase).features(features);
    ConditionalIndependence::on(map)
        .bandwidth(Bandwidth::Median)
        .device(&Device::cpu())
}

type Three = [Array2<f64>; 3];

/// x -> z -> y, nonlinear: dependent, and independent given z.
fn chain(n: usize, seed: u64) -> Three {
    let noise = |k: u64| normals(n, 1, 3 * seed + k);
    let x = noise(0);
    let z = x.mapv(|x| x + 0.5 * x.sin()) + 0.6 * noise(1);
    let y = z.mapv(|z| (1.5 * z).tanh()) + 0.4 * noise(2);
    [x, y, z]
}

/// x -> z <- y: independent, and dependent given z.
fn collider(n: usize, seed: u64) -> Three {
    let noise = |k: u64| normals(n, 1, 3 * seed + k);
    let (x, y) = (noise(0), noise(1));
    let z = &x + &y + 0.5 * noise(2);
    [x, y, z]
}

fn rejects(variant: Variant, [x, y, z]: &Three, seed: u64) -> bool {
    let test = on_cpu(25).variant(variant).seed(Seed(seed));
    test.test(x, y, z).expect("tests").outcome.rejects(LEVEL)
}

#[test]
fn false_alarms_come_at_the_level() {
    for variant in [Variant::Rcot, Variant::Rcit] {
        // Independent of each other and of z: the case of the asymptotic distribution.
        assert_level(&format!("{variant:?}"), |seed| {
            let noise = |k: u64| normals(400, 1, 3 * seed + k);
            rejects(variant, &[noise(0), noise(1), noise(2)], seed)
        });
    }
}

#[test]
fn a_chain_is_cut_by_its_middle() {
    for variant in [Variant::Rcot, Variant::Rcit] {
        assert_level(&format!("{variant:?} on a chain"), |seed| {
            rejects(variant, &chain(600, seed), seed)
        });
        // Given another variable than z the ends depend on each other.
        let found = (0..50).filter(|&seed| {
            let [x, y, _] = chain(300, seed);
            rejects(variant, &[x, y, normals(300, 1, 9000 + seed)], seed)
        });
        let found = found.count();
        assert!(found >= 48, "{variant:?}: {found} of 50");
    }
}

#[test]
fn a_collider_is_opened_by_its_middle() {
    for variant in [Variant::Rcot, Variant::Rcit] {
        let found = |given: bool| {
            let found = (0..100).filter(|&seed| {
                let [x, y, mut z] = collider(400, seed);
                if !given {
                    z = normals(400, 1, 9000 + seed);
                }
                rejects(variant, &[x, y, z], seed)
            });
            found.count()
        };
        let (given, not) = (found(true), found(false));
        assert!(
            given >= 95 && not <= 15,
            "{variant:?}: {given} and {not} of 100"
        );
    }
}

/// A single feature of a very wide kernel is linear. Then n |C|^2 relative to its distribution is
/// the square of sum r_x r_y/sqrt(sum r_x^2 r_y^2) with the residuals of linear regression, and
/// normal.
#[test]
fn with_linear_features_it_is_the_test_of_partial_correlation() {
    let n = 500;
    let mut p_values = Vec::new();
    for seed in 0..6 {
        let noise = |k: u64| normals(n, 1, 10 * seed + k);
        let z = noise(0);
        let (x, y) = (&z + &noise(1), &z + &noise(2) + 0.08 * &noise(1));
        let line = Fourier::new(Gaussian).form(Form::Phase).features(1);
        let test = ConditionalIndependence::on(line.clone())
            .outer(line)
            .bandwidth(Bandwidth::Sigma(300.0))
            .seed(Seed(seed))
            .device(&Device::cpu());
        let p = test.test(&x, &y, &z).expect("tests").outcome.p_value;
        let centred = |v: &Array2<f64>| v - v.mean().expect("rows");
        let residual = |v: &Array2<f64>| {
            let (v, z) = (centred(v), centred(&z));
            let slope = (&v * &z).sum() / (&z * &z).sum();
            v - slope * z
        };
        let products = residual(&x) * residual(&y);
        let normal = products.sum() / products.mapv(|p| p * p).sum().sqrt();
        let closed = libm::erfc(normal.abs() / 2_f64.sqrt());
        assert!((p - closed).abs() < 0.02, "{seed}: {p} {closed}");
        p_values.push(p);
    }
    // Not all p-values are on one side.
    assert!(p_values.iter().any(|&p| p < 0.3) && p_values.iter().any(|&p| p > 0.05));
}

/// RCIT combines z with x, so its statistic differs.
#[test]
fn the_variants_differ_by_what_they_see_of_z() {
    let [x, y, z] = collider(200, 3);
    let of = |variant, z: &Array2<f64>| {
        let test = on_cpu(25).variant(variant).seed(Seed(2));
        test.test(&x, &y, z).expect("tests").outcome.statistic
    };
    assert_ne!(of(Variant::Rcot, &z), of(Variant::Rcit, &z));
}

#[test]
fn order_chunks_and_devices_change_nothing() {
    let [x, y, z] = collider(1500, 5);
    let y = &y + &normals(1500, 1, 77) * 12.0;
    let all = concatenate(Axis(1), &[x.view(), y.view(), z.view()]).expect("rows");
    let other = shuffled(&all, 4);
    // A bandwidth from sampled rows would differ, since it would use other rows.
    let test = on_cpu(25).bandwidth(Bandwidth::Scale);
    let whole = test.test(&x, &y, &z).expect("tests");
    let near = |other: ConditionalOutcome, allowed: f64| {
        let ratio = other.outcome.statistic / whole.outcome.statistic;
        let p = (other.outcome.p_value - whole.outcome.p_value).abs();
        assert!(
            (ratio - 1.0).abs() < allowed && p < allowed,
            "{other:?} {whole:?}"
        );
    };
    let column = |j: usize| other.slice(s![.., j..=j]);
    near(
        test.test(column(0), column(1), column(2)).expect("tests"),
        1e-3,
    );
    // Sums in other portions differ by rounding, which a ridge of 1e-10 amplifies.
    near(
        test.clone().memory(60_000).test(&x, &y, &z).expect("tests"),
        1e-6,
    );
    assert_eq!(test.test(&x, &y, &z).expect("tests"), whole);
    for device in devices() {
        near(
            test.clone().device(device).test(&x, &y, &z).expect("tests"),
            1e-3,
        );
    }
}

#[test]
fn what_cannot_be_tested_is_told_in_one_line() {
    let [x, y, z] = chain(60, 1);
    let told = |result: bochner::Result<ConditionalOutcome>, fragment: &str| {
        let error = result.expect_err(fragment).to_string();
        assert!(error.contains(fragment) && !error.contains('\n'), "{error}");
    };
    told(on_cpu(31).test(&x, &y, &z), "60 rows for 31 features of z");
    let flat = Array2::from_elem((60, 1), 2.0);
    told(on_cpu(8).test(&x, &y, &flat), "all of z is constant");
    told(on_cpu(8).test(&flat, &y, &z), "all of x is constant");
    told(on_cpu(8).test(&x, &y, normals(61, 1, 1)), "z has 61");
    told(on_cpu(8).lambda(-1.0).test(&x, &y, &z), "lambda is -1");
    told(on_cpu(8).lambda(f64::NAN).test(&x, &y, &z), "lambda is NaN");
    let wide = on_cpu(8).outer(Fourier::new(Gaussian).features(100));
    told(wide.test(&x, &y, &z), "100 features of x");
    // Duplicate columns of z count once, and repeated rows work.
    let twice = concatenate(Axis(1), &[z.view(), z.view()]).expect("rows");
    on_cpu(25).test(&x, &y, &twice).expect("tests");
    let steps = z.mapv(f64::round);
    on_cpu(25).test(&x, &y, &steps).expect("tests");
}

/// Defaults of the command line and Python: paired features, 100 of z, some of whose low-frequency
/// cosines are nearly 1 in every row, so that their covariance is a small part of their sums.
#[test]
fn pairs_of_features_keep_the_level() {
    for features in [50, 100, 200] {
        assert_level(&format!("{features} paired features"), |seed| {
            let noise = |k: u64| normals(500, 1, 3 * seed + k);
            let z = noise(0);
            let x = z.mapv(f64::sin) + 0.5 * noise(1);
            let y = &z * &z + 0.5 * noise(2);
            let map = Fourier::new(Gaussian).features(features);
            let test = ConditionalIndependence::on(map)
                .bandwidth(Bandwidth::Median)
                .seed(Seed(seed))
                .device(&Device::cpu());
            test.test(&x, &y, &z).expect("tests").outcome.rejects(LEVEL)
        });
    }
}
