use super::{LEVEL, assert_level, normals, shuffled};
use crate::common::devices;
use bochner::{
    Device,
    data::MemorySource,
    features::{Affine, FeatureMap, Fourier, Landmarks, Nystrom},
    hypothesis::{Independence, IndependenceOptions, IndependenceOutcome, Null},
    kernels::{Gaussian, gram},
    prelude::Bandwidth,
    seed::Seed,
};
use ndarray::{Array2, Axis, concatenate, s};

fn on_cpu(features: usize) -> Independence {
    Independence::on(Fourier::new(Gaussian).features(features)).device(&Device::cpu())
}

/// y = |x| + noise: dependent on x but uncorrelated with it.
fn folded(n: usize, seed: u64, noise: f64) -> (Array2<f64>, Array2<f64>) {
    let x = normals(n, 1, 2 * seed);
    let y = x.mapv(f64::abs) + noise * normals(n, 1, 2 * seed + 1);
    (x, y)
}

/// tr(K H L H)/n^2 of exp(-d^2/2).
fn exact(x: &Array2<f64>, y: &Array2<f64>) -> f64 {
    let [k, l] = [x, y].map(|x| {
        let k = gram(&Gaussian, x.view());
        let mean = k.mean_axis(Axis(0)).expect("rows");
        let all = mean.mean().expect("rows");
        let rows = mean.clone().insert_axis(Axis(1));
        k - &rows - &mean + all
    });
    (k * l).mean().expect("rows")
}

fn of_maps(
    maps: [&dyn FeatureMap; 2],
    x: &Array2<f64>,
    y: &Array2<f64>,
    null: Null,
) -> IndependenceOutcome {
    let xy = concatenate(Axis(1), &[x.view(), y.view()]).expect("rows");
    let mut source = MemorySource::new(xy, None).expect("finite");
    let options = IndependenceOptions {
        null,
        seed: Seed(2),
    };
    options
        .test(maps, &mut source, &Device::cpu())
        .expect("tests")
}

#[test]
fn false_alarms_come_at_the_level() {
    for (null, n) in [(Null::Asymptotic, 200), (Null::Permutation(99), 60)] {
        assert_level(&format!("HSIC, {null:?}"), |seed| {
            let (x, y) = (normals(n, 2, 2 * seed), normals(n, 1, 2 * seed + 1));
            let test = on_cpu(16).null(null).seed(Seed(seed));
            test.test(&x, &y).expect("tests").outcome.rejects(LEVEL)
        });
    }
}

#[test]
fn dependence_without_correlation_is_found() {
    for null in [Null::Asymptotic, Null::Permutation(99)] {
        let found = (0..100).filter(|&seed| {
            let (x, y) = folded(150, seed, 0.5);
            let test = on_cpu(24).null(null).seed(Seed(seed));
            test.test(&x, &y).expect("tests").outcome.rejects(LEVEL)
        });
        let found = found.count();
        assert!(found >= 85, "{null:?}: {found} of 100");
    }
}

#[test]
fn the_statistic_is_that_of_the_kernels() {
    let (x, y) = folded(150, 3, 0.7);
    let hsic = exact(&x, &y);
    // Each map depends on its own column.
    let sees = |j: usize| {
        let survey = bochner::data::Survey::new(
            &mut MemorySource::new(Array2::<f64>::zeros((1, 2)), None).expect("finite"),
            0,
            0,
        );
        // A constant column becomes 0.
        let mut survey = survey.expect("reads");
        (survey.max[j], survey.variance[j]) = (1.0, 1.0);
        Affine::standardize(&survey)
    };
    let mut errors = Vec::new();
    for features in [32, 256, 1024] {
        let over = |seed: u64| {
            let map = |j: usize| {
                let map = Fourier::new(Gaussian).features(features);
                let map = map.seed(Seed(2 * seed + j as u64));
                map.build(sees(j)).expect("builds")
            };
            let maps: [&dyn FeatureMap; 2] = [&map(0), &map(1)];
            (of_maps(maps, &x, &y, Null::Asymptotic).hsic - hsic).powi(2)
        };
        errors.push((0..6).map(over).sum::<f64>().sqrt());
    }
    // Eight and four times the features: errors decrease to 0.35 and 0.5 on average.
    assert!(
        errors[1] < 0.7 * errors[0] && errors[2] < 0.8 * errors[1],
        "{errors:?}"
    );
    assert!(errors[2] < 6_f64.sqrt() * 0.1 * hsic, "{errors:?} {hsic}");

    // Landmarks at every row reproduce the kernels on them.
    let xy = concatenate(Axis(1), &[x.view(), y.view()]).expect("rows");
    let map = |j: usize| {
        let map = Nystrom::new(Gaussian).landmarks(Landmarks::Rows(xy.clone()));
        map.features(150).build(sees(j), &xy).expect("builds")
    };
    let maps: [&dyn FeatureMap; 2] = [&map(0), &map(1)];
    for null in [Null::Asymptotic, Null::Permutation(1)] {
        let of = of_maps(maps, &x, &y, null);
        assert!(
            (of.hsic / hsic - 1.0).abs() < 1e-3,
            "{null:?}: {} {hsic}",
            of.hsic
        );
        assert!((of.outcome.statistic / (150.0 * of.hsic) - 1.0).abs() < 1e-12);
        assert_eq!(of.outcome.null, null);
    }
}

/// Under independence both null distributions agree.
#[test]
fn both_nulls_give_one_p_value() {
    for seed in 0..5 {
        let (x, y) = (normals(300, 1, 80 + seed), normals(300, 2, 90 + seed));
        let p = |null| {
            on_cpu(16)
                .null(null)
                .test(&x, &y)
                .expect("tests")
                .outcome
                .p_value
        };
        let (exact, limit) = (p(Null::Permutation(1000)), p(Null::Asymptotic));
        let noise = 4.0 * (exact * (1.0 - exact) / 1000.0).sqrt();
        assert!((exact - limit).abs() < noise + 0.03, "{exact} {limit}");
    }
}

#[test]
fn order_chunks_and_devices_change_nothing() {
    let (x, y) = folded(2500, 1, 9.0);
    let xy = concatenate(Axis(1), &[x.view(), y.view()]).expect("rows");
    let other = shuffled(&xy, 4);
    let (other_x, other_y) = (other.slice(s![.., ..1]), other.slice(s![.., 1..]));
    for null in [Null::Asymptotic, Null::Permutation(40)] {
        let test = on_cpu(12).null(null);
        let whole = test.test(&x, &y).expect("tests");
        assert_eq!(whole.rows, 2500);
        let moved = test.test(other_x, other_y).expect("tests");
        assert!((moved.hsic / whole.hsic - 1.0).abs() < 1e-4, "{null:?}");
        if null == Null::Asymptotic {
            let ratio = moved.outcome.p_value / whole.outcome.p_value;
            assert!((ratio - 1.0).abs() < 1e-3);
        }
        let small = test.clone().memory(40_000).test(&x, &y).expect("tests");
        assert!((small.outcome.p_value / whole.outcome.p_value - 1.0).abs() < 1e-9);
        assert_eq!(test.test(&x, &y).expect("tests"), whole);
        let swapped = test.test(&y, &x).expect("tests");
        // Seeds belong to positions, so y gets other features there.
        assert!((swapped.hsic / whole.hsic - 1.0).abs() > 1e-3);
        for device in devices() {
            let on = test.clone().device(device).test(&x, &y).expect("tests");
            assert!((on.hsic / whole.hsic - 1.0).abs() < 1e-3, "{device:?}");
            let p = (on.outcome.p_value - whole.outcome.p_value).abs();
            assert!(p < 1e-3, "{device:?}: {p}");
        }
    }
}

#[test]
fn what_cannot_be_tested_is_told_in_one_line() {
    let (x, y) = folded(30, 1, 0.5);
    let told = |result: bochner::Result<IndependenceOutcome>, fragment: &str| {
        let error = result.expect_err(fragment).to_string();
        assert!(error.contains(fragment) && !error.contains('\n'), "{error}");
    };
    told(
        on_cpu(8).test(&x, normals(29, 1, 1)),
        "x has 30 rows and y has 29",
    );
    let flat = Array2::from_elem((30, 1), 2.0);
    told(on_cpu(8).test(&x, &flat), "all of y is constant");
    told(on_cpu(8).test(&flat, &x), "all of x is constant");
    let few = |x: &Array2<f64>| x.slice(s![..3, ..]).to_owned();
    told(on_cpu(8).test(few(&x), few(&y)), "3 rows");
    told(
        on_cpu(8).null(Null::Permutation(0)).test(&x, &y),
        "0 permutations",
    );
    let wide = on_cpu(4000).null(Null::Permutation(500));
    told(wide.test(&x, &y), "fewer");
    let xy = concatenate(Axis(1), &[x.view(), y.view()]).expect("rows");
    let mut source = MemorySource::new(xy, None).expect("finite");
    told(
        on_cpu(8).test_columns(&mut source, &[0], &[0, 1]),
        "column 0",
    );
    told(on_cpu(8).test_columns(&mut source, &[0], &[2]), "column 2");
    told(on_cpu(8).test_columns(&mut source, &[], &[1]), "no columns");
    // An additional constant column is ignored, and a given bandwidth applies to each group.
    let beside = concatenate(Axis(1), &[x.view(), flat.view()]).expect("rows");
    let test = on_cpu(24).bandwidth(Bandwidth::Sigma(1.0));
    assert!(
        test.test(&beside, x.mapv(|x| x * x))
            .expect("tests")
            .outcome
            .rejects(0.01)
    );
}
