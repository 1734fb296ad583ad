use super::{LEVEL, assert_level, normals, shuffled};
use crate::common::devices;
use bochner::{
    Device, Run,
    data::MemorySource,
    features::{Affine, Bandwidth, FeatureMap, Fourier, Landmarks, Nystrom, Standardize},
    hypothesis::{Null, Pooled, TwoSample, TwoSampleOptions, TwoSampleOutcome},
    kernels::{Gaussian, cross},
    prelude::Binning,
    seed::Seed,
};
use ndarray::{Array2, Axis, concatenate};

fn on_cpu(features: usize) -> TwoSample {
    TwoSample::on(Fourier::new(Gaussian).features(features)).device(&Device::cpu())
}

/// Mean of exp(-|x - y|^2/2) over pairs, excluding pairs of a row with itself if `others`.
fn mean_kernel(x: &Array2<f64>, y: &Array2<f64>, others: bool) -> f64 {
    let k = cross(&Gaussian, x.view(), y.view());
    if others {
        (k.sum() - k.diag().sum()) / (k.len() - k.nrows()) as f64
    } else {
        k.mean().expect("rows")
    }
}

/// Biased and unbiased MMD^2 of the exact kernel.
fn exact(a: &Array2<f64>, b: &Array2<f64>) -> [f64; 2] {
    [false, true].map(|others| {
        mean_kernel(a, a, others) + mean_kernel(b, b, others) - 2.0 * mean_kernel(a, b, false)
    })
}

fn of_map(map: &dyn FeatureMap, a: &Array2<f64>, b: &Array2<f64>, null: Null) -> TwoSampleOutcome {
    let source = |x: &Array2<f64>| MemorySource::new(x, None).expect("finite");
    let (mut a, mut b) = (source(a), source(b));
    let mut pooled = Pooled::new(&mut a, &mut b).expect("alike");
    let options = TwoSampleOptions {
        null,
        seed: Seed(3),
    };
    options
        .test(map, &mut pooled, &Device::cpu())
        .expect("tests")
}

#[test]
fn false_alarms_come_at_the_level() {
    // With few rows of many columns the covariance is inaccurate, which the null distribution takes
    // into account.
    for (null, [n, m], columns, features) in [
        (Null::Permutation(99), [40, 60], 2, 24),
        (Null::Asymptotic, [150, 100], 2, 24),
        (Null::Asymptotic, [10, 10], 30, 160),
        (Null::Asymptotic, [15, 40], 60, 160),
    ] {
        assert_level(&format!("MMD, {null:?}, {n} and {m} rows"), |seed| {
            let [a, b] = [(n, 0), (m, 1)].map(|(n, s)| normals(n, columns, 2 * seed + s));
            let test = on_cpu(features).null(null).seed(Seed(seed));
            test.test(&a, &b).expect("tests").outcome.rejects(LEVEL)
        });
    }
}

#[test]
fn shifts_and_spreads_are_found() {
    for null in [Null::Permutation(99), Null::Asymptotic] {
        let found = |change: fn(f64) -> f64| {
            let found = (0..100).filter(|&seed| {
                let (a, b) = (normals(100, 2, 2 * seed), normals(150, 2, 2 * seed + 1));
                let test = on_cpu(64).null(null).seed(Seed(seed));
                let outcome = test.test(&a, b.mapv(change)).expect("tests").outcome;
                outcome.rejects(LEVEL)
            });
            found.count()
        };
        // Hotelling's test would detect this shift in 98 of 100 cases.
        assert!(found(|v| v + 0.5) >= 90, "{null:?}: {}", found(|v| v + 0.5));
        assert!(found(|v| 1.7 * v) >= 80, "{null:?}: {}", found(|v| 1.7 * v));
        assert!(found(|v| v) <= 15, "{null:?}");
    }
}

/// MMD^2 of N(0, 1) and N(s, 1) under exp(-d^2/2) is 2/sqrt 3 (1 - exp(-s^2/6)).
#[test]
fn the_statistic_is_that_of_the_kernel() {
    let (a, b) = (normals(120, 1, 1), normals(90, 1, 2) + 0.8);
    let [biased, unbiased] = exact(&a, &b);
    let closed = 2.0 / 3_f64.sqrt() * (1.0 - (-0.64_f64 / 6.0).exp());
    assert!((unbiased / closed - 1.0).abs() < 0.6, "{unbiased} {closed}");
    let mut errors = Vec::new();
    for features in [64, 1024, 16_384] {
        let over = |seed| {
            let map = Fourier::new(Gaussian).features(features).seed(Seed(seed));
            let map = map.build(Affine::identity(1)).expect("builds");
            let of = of_map(&map, &a, &b, Null::Permutation(1));
            // Both differ by the same terms of each row.
            let (p, q) = (of.biased - biased, of.unbiased - unbiased);
            assert!(
                (of.outcome.statistic / (of.biased * 90.0 * 120.0 / 210.0) - 1.0).abs() < 1e-12
            );
            p * p + q * q
        };
        errors.push((0..8).map(over).sum::<f64>().sqrt());
    }
    // Sixteen times the features, a quarter of the error.
    assert!(
        errors[1] < 0.45 * errors[0] && errors[2] < 0.45 * errors[1],
        "{errors:?}"
    );
    assert!(errors[2] < 0.03 * biased * 8_f64.sqrt(), "{errors:?}");

    // Landmarks at every row reproduce the kernel on them.
    let both = concatenate(Axis(0), &[a.view(), b.view()]).expect("alike");
    let map = Nystrom::new(Gaussian).landmarks(Landmarks::Rows(both.clone()));
    let map = map.features(210).build(Affine::identity(1), &both);
    let map = map.expect("builds");
    for null in [Null::Permutation(1), Null::Asymptotic] {
        let of = of_map(&map, &a, &b, null);
        let error = (of.biased / biased - 1.0).abs() + (of.unbiased / unbiased - 1.0).abs();
        assert!(error < 1e-3, "{null:?}: {of:?} {biased} {unbiased}");
        assert_eq!(of.outcome.null, null);
    }
}

/// Without randomness in the map, both nulls use the same distribution.
#[test]
fn both_nulls_give_one_p_value() {
    for seed in 0..5 {
        let (a, b) = (
            normals(200, 2, 50 + seed),
            normals(300, 2, 70 + seed) + 0.12,
        );
        let p = |null| {
            on_cpu(64)
                .null(null)
                .test(&a, &b)
                .expect("tests")
                .outcome
                .p_value
        };
        let (exact, limit) = (p(Null::Permutation(2000)), p(Null::Asymptotic));
        let noise = 4.0 * (exact * (1.0 - exact) / 2000.0).sqrt();
        assert!((exact - limit).abs() < noise + 0.02, "{exact} {limit}");
    }
}

#[test]
fn the_order_of_rows_and_the_sizes_of_chunks_change_nothing() {
    let (a, b) = (normals(3000, 3, 1), normals(2000, 3, 2) + 0.04);
    for null in [Null::Permutation(50), Null::Asymptotic] {
        let test = on_cpu(32).null(null);
        let whole = test.test(&a, &b).expect("tests");
        let other = test.test(shuffled(&a, 1), shuffled(&b, 2)).expect("tests");
        assert!((other.biased / whole.biased - 1.0).abs() < 1e-6);
        assert!((other.unbiased - whole.unbiased).abs() < 1e-6 * whole.biased);
        let (p, q) = (whole.outcome.p_value, other.outcome.p_value);
        match null {
            Null::Asymptotic => assert!((p / q - 1.0).abs() < 1e-4, "{p} {q}"),
            Null::Permutation(n) => {
                let noise = 6.0 * (p * (1.0 - p) / n as f64).sqrt() + 1.0 / n as f64;
                assert!((p - q).abs() < noise, "{p} {q}");
            }
        }
        let small = test.clone().memory(40_000).test(&a, &b).expect("tests");
        let ratio = small.outcome.p_value / whole.outcome.p_value;
        assert!((ratio - 1.0).abs() < 1e-9, "{null:?}: {ratio}");
        assert!((small.biased / whole.biased - 1.0).abs() < 1e-9);
        // One seed, one result.
        assert_eq!(test.test(&a, &b).expect("tests"), whole);
        let swapped = test.test(&b, &a).expect("tests");
        assert!((swapped.biased / whole.biased - 1.0).abs() < 1e-6);
        assert_eq!(swapped.rows, [2000, 3000]);
    }
}

#[test]
fn every_device_finds_the_same() {
    let (a, b) = (normals(300, 4, 1), normals(200, 4, 2) + 0.1);
    let source = |x: &Array2<f64>| MemorySource::new(x, None).expect("finite");
    let map = Fourier::new(Gaussian)
        .features(48)
        .build(Affine::identity(4));
    let map = map.expect("builds");
    for null in [Null::Permutation(60), Null::Asymptotic] {
        let options = TwoSampleOptions {
            null,
            seed: Seed(1),
        };
        let on = |device: &Device| {
            let (mut a, mut b) = (source(&a), source(&b));
            let mut pooled = Pooled::new(&mut a, &mut b).expect("alike");
            let run = Run::on(device).memory(1 << 20);
            options.test(&map, &mut pooled, run).expect("tests")
        };
        let cpu = on(&Device::cpu());
        for device in devices() {
            let other = on(device);
            assert!((other.biased / cpu.biased - 1.0).abs() < 1e-4, "{device:?}");
            let p = (other.outcome.p_value - cpu.outcome.p_value).abs();
            assert!(p < 1e-3, "{device:?}: {p}");
        }
    }
}

#[test]
fn what_cannot_be_tested_is_told_in_one_line() {
    let (a, b) = (normals(20, 2, 1), normals(20, 2, 2));
    let told = |result: bochner::Result<TwoSampleOutcome>, fragment: &str| {
        let error = result.expect_err(fragment).to_string();
        assert!(error.contains(fragment) && !error.contains('\n'), "{error}");
    };
    let one = a.slice(ndarray::s![..1, ..]).to_owned();
    told(on_cpu(8).test(&one, &b), "the first sample has 1 row; ");
    told(on_cpu(8).test(&a, &one), "the second sample has 1 row; ");
    told(
        on_cpu(8).test(&a, normals(20, 3, 1)),
        "2 columns and the second 3",
    );
    told(
        on_cpu(8).null(Null::Permutation(0)).test(&a, &b),
        "0 permutations",
    );
    let flat = Array2::from_elem((20, 2), 3.0);
    told(on_cpu(8).test(&flat, &flat), "no spread");
    let binning = TwoSample::on(Binning::new(bochner::kernels::Laplacian)).device(&Device::cpu());
    told(binning.test(&a, &b), "binning");
    // A given bandwidth needs no spread: equal constants are the same distribution, others differ.
    for null in [Null::Permutation(199), Null::Asymptotic] {
        let given = on_cpu(8).bandwidth(Bandwidth::Sigma(1.0)).null(null);
        let given = given.standardize(Standardize::No);
        let p = |b: &Array2<f64>| given.test(&flat, b).expect("tests").outcome.p_value;
        assert_eq!(p(&flat), 1.0, "{null:?}");
        assert!(p(&(&flat + 1.0)) < 0.01, "{null:?}");
    }
    // An additional constant column has no effect.
    let beside = |x: &Array2<f64>| {
        let flat = flat.slice(ndarray::s![.., ..1]);
        concatenate(Axis(1), &[x.view(), flat]).expect("rows")
    };
    let test = on_cpu(32).test(beside(&a), beside(&(&b + 2.0)));
    assert!(test.expect("tests").outcome.rejects(0.01));
}
