//! Learned metrics and searches: definitions, accuracy, and robustness.

use crate::common::{devices, normal};
use bochner::{
    data::{MemorySource, Rows, Survey},
    features::{Affine, FeatureMap, Fourier, Mixed},
    kernels,
    metric::MetricOptions,
    models::{Budget, LearnedMetric, LinearModel, Metric, Search},
    prelude::*,
    sampling::Sampling,
    seed::Seed,
};
use ndarray::{Array1, Array2, array, s};

fn cpu() -> Device {
    Device::cpu()
}

fn rows(n: usize, d: usize, seed: u64) -> Array2<f64> {
    normal(n, d, seed).mapv(f64::from)
}

fn search(metric: Option<Metric>) -> Search {
    Search {
        bandwidth: true,
        lambda: true,
        metrics: metric.map(MetricOptions::from).into_iter().collect(),
        metric_required: metric.is_some(),
        ..Search::default()
    }
}

fn ridge(features: usize) -> Ridge {
    let map = Fourier::new(Gaussian).features(features);
    Ridge::on(map).seed(Seed(1)).device(&cpu())
}

/// Root mean squared error over the deviation.
fn error(predicted: &Array1<f64>, y: &Array1<f64>) -> f64 {
    ((predicted - y).mapv(|e| e * e).mean().expect("rows") / y.var(0.0)).sqrt()
}

/// `R = (M d / tr M + 0.001 I)^(power / 2)` with `tr R^2 = d`, by hand.
#[test]
fn roots_are_their_formula() {
    let m = array![[3.0, 1.0], [1.0, 3.0]];
    let of = |kind, power| {
        let options = MetricOptions {
            power,
            ..MetricOptions::from(kind)
        };
        LearnedMetric::from_matrix(&m, options).expect("a metric")
    };
    // Eigenvalues 4 and 2 along (1, 1) and (1, -1), over their mean.
    let (large, small) = (4.0 / 3.0 + 1e-3, 2.0 / 3.0 + 1e-3);
    for power in [1.0, 0.5] {
        let (a, b) = (f64::powf(large, power), f64::powf(small, power));
        let mean = (a + b) / 2.0;
        let (a, b) = ((a / mean).sqrt(), (b / mean).sqrt());
        let expected = array![[a + b, a - b], [a - b, a + b]] / 2.0;
        let root = of(Metric::Full, power).root();
        assert!(
            (&root - &expected).iter().all(|e| e.abs() < 1e-12),
            "{root}"
        );
        let root = of(Metric::Diagonal, power).root();
        assert_eq!(root, Array2::<f64>::eye(2));
    }
    let uneven =
        LearnedMetric::from_matrix(&array![[8.0, 0.0], [0.0, 0.0]], Metric::Diagonal.into());
    let uneven = uneven.expect("a metric");
    assert_eq!(uneven.importance(), [1.0, 0.0]);
    let (a, b) = (2.001 / 1.001, 0.001 / 1.001);
    let expected = Array2::from_diag(&array![f64::sqrt(a), f64::sqrt(b)]);
    assert!((uneven.root() - expected).iter().all(|e| e.abs() < 1e-12));
    // Without any gradient, the columns are unchanged.
    let none =
        LearnedMetric::from_matrix(&Array2::zeros((3, 3)), Metric::Full.into()).expect("a metric");
    assert!(
        (none.root() - Array2::<f64>::eye(3))
            .iter()
            .all(|e| e.abs() < 1e-12)
    );
    let bad = MetricOptions {
        power: 0.0,
        ..Metric::Full.into()
    };
    assert!(LearnedMetric::from_matrix(&m, bad).is_err());
    assert!(LearnedMetric::from_matrix(&Array2::zeros((2, 3)), Metric::Full.into()).is_err());
    assert!(LearnedMetric::from_matrix(&array![[f64::NAN]], Metric::Full.into()).is_err());
}

/// A map of mixed columns equals the map of columns mixed beforehand, on every device, and after a
/// round trip through its file.
#[test]
fn mixed_columns_are_columns_that_were_mixed_on_devices() {
    let x = rows(60, 3, 2);
    let root = array![[1.0, 0.3, 0.0], [-0.4, 0.5, -0.2], [0.6, 0.2, 2.0]];
    let input = Affine::new(vec![0.5, -1.0, 0.0], vec![2.0, 1.0, 0.5]).expect("finite");
    let v = input.apply(&Rows::from(&x)).expect("fits").dot(&root);
    let plain = || Affine::identity(3).lengthscale(1.7).expect("positive");
    let maps: [(&str, Box<dyn FeatureMap>); 4] = [
        (
            "fourier",
            Box::new(
                Fourier::new(Gaussian)
                    .features(32)
                    .build(plain())
                    .expect("draws"),
            ),
        ),
        (
            "fastfood",
            Box::new(
                Fastfood::new(Gaussian)
                    .features(32)
                    .build(plain())
                    .expect("draws"),
            ),
        ),
        (
            "sorf",
            Box::new(
                Sorf::new(Gaussian)
                    .features(32)
                    .build(plain())
                    .expect("draws"),
            ),
        ),
        (
            "nystrom",
            Box::new(
                Nystrom::new(Gaussian)
                    .features(20)
                    .build(plain(), &v)
                    .expect("draws"),
            ),
        ),
    ];
    for (name, map) in maps {
        let gram = |map: &dyn FeatureMap, x: &Array2<f64>, device: &Device| {
            let mut all = Array2::zeros((x.nrows(), map.output_dim()));
            let mut source = MemorySource::new(x, None).expect("finite");
            let mut at = 0;
            bochner::features::featurize(map, &mut source, device, |z| {
                all.slice_mut(s![at..at + z.nrows(), ..])
                    .assign(&z.mapv(f64::from));
                at += z.nrows();
                Ok(())
            })
            .expect("runs");
            all
        };
        let expected = gram(map.as_ref(), &v, &cpu());
        let mixed = Mixed::compose(input.clone(), &root, map).expect("fits");
        // Frequencies multiplied by the matrix are rounded to 11 bits.
        let bound = match name {
            "fourier" => 3e-3,
            // Whitening amplifies the rounding of f32.
            "nystrom" => 2e-4,
            _ => 2e-5,
        };
        for device in devices() {
            let z = gram(mixed.as_ref(), &x, device);
            let worst = (&z - &expected).iter().fold(0.0_f64, |m, e| m.max(e.abs()));
            assert!(worst < bound, "{name} on {}: {worst:e}", device.describe());
        }
        assert_eq!(
            mixed.name(),
            if name == "fourier" {
                "fourier"
            } else {
                "mixed"
            }
        );
        assert_eq!(mixed.kind(), name);
        let mut store = bochner::features::Store::default();
        mixed.write(&mut store).expect("writes");
        let read = bochner::features::read(&store).expect("reads");
        assert_eq!(
            gram(read.as_ref(), &x, &cpu()),
            gram(mixed.as_ref(), &x, &cpu()),
            "{name}"
        );
        assert_eq!(read.describe(), mixed.describe());
    }
    let map = Fourier::new(Gaussian)
        .features(4)
        .build(Affine::identity(2))
        .expect("draws");
    assert!(Mixed::compose(input.clone(), &root, Box::new(map)).is_err());
    let centred = Affine::new(vec![1.0; 3], vec![1.0; 3]).expect("finite");
    let map = Fastfood::new(Gaussian)
        .features(4)
        .build(centred)
        .expect("draws");
    assert!(Mixed::compose(input, &root, Box::new(map)).is_err());
}

/// y depends on two of twelve columns, or on two directions across them.
fn few_directions(n: usize, seed: u64, turned: bool) -> (Array2<f64>, Array1<f64>) {
    let x = rows(n, 12, seed);
    let direction = |k: usize, x: ndarray::ArrayView1<'_, f64>| {
        if turned {
            (0..12)
                .map(|j| if (j + k).is_multiple_of(3) { 0.5 } else { 0.0 } * x[j])
                .sum()
        } else {
            x[3 * k + 1]
        }
    };
    let y = x.rows().into_iter().map(|x| {
        let (a, b): (f64, f64) = (direction(0, x), direction(1, x));
        (2.0 * a).sin() + b * b
    });
    let y = y.collect();
    (x, y)
}

#[test]
fn a_metric_finds_few_directions_and_predicts_better_on_devices() {
    for (kind, turned) in [(Metric::Diagonal, false), (Metric::Full, true)] {
        let (x, y) = few_directions(1200, 3, turned);
        let (x_test, y_test) = few_directions(500, 4, turned);
        let fit = |metric| {
            let model = ridge(300)
                .search(search(metric))
                .fit((&x, &y))
                .expect("fits");
            (
                error(&model.predict(&x_test).expect("predicts"), &y_test),
                model,
            )
        };
        let (plain, model) = fit(None);
        assert!(model.linear().metric.is_none());
        let (learned, model) = fit(Some(kind));
        assert!(
            learned < 0.4 * plain && learned < 0.15,
            "{kind}: {learned} for {plain}"
        );
        let linear = model.linear();
        let metric = linear.metric.as_ref().expect("was asked for");
        assert_eq!(metric.kind(), kind);
        let importance = metric.importance();
        assert!((importance.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        if !turned {
            assert!(importance[1] + importance[4] > 0.97, "{importance:?}");
        }
        // The file stores it, and predicts the same on every device.
        let read = LinearModel::from_bytes(&linear.to_bytes().expect("writes")).expect("reads");
        assert_eq!(read.metric, linear.metric);
        let expected = linear
            .on(&cpu())
            .expect("loads")
            .predict(&Rows::from(&x_test));
        let expected = expected.expect("predicts");
        for device in devices() {
            let got = read
                .on(device)
                .expect("loads")
                .predict(&Rows::from(&x_test));
            let apart = &got.expect("predicts") - &expected;
            assert!(
                apart.iter().all(|e| e.abs() < 2e-3),
                "{}",
                device.describe()
            );
        }
    }
}

/// Constant, noise, duplicate, binary and far columns, and maps that mix columns themselves.
#[test]
fn odd_columns_and_other_maps_do_no_harm() {
    let noise = rows(900, 8, 5);
    let x = Array2::from_shape_fn((900, 6), |(i, j)| match j {
        0 => noise[[i, 0]],
        1 => 7.0,
        2 => 1e6 + 1e3 * noise[[i, 0]],
        3 => f64::from(u8::from(noise[[i, 1]] > 0.0)),
        4 => noise[[i, 2]] * 1e-3,
        _ => noise[[i, 3]],
    });
    let y: Array1<f64> = (0..900)
        .map(|i| (1.5 * x[[i, 0]]).sin() + x[[i, 3]])
        .collect();
    let maps: [Box<dyn Fn() -> Box<dyn MapBuilder>>; 4] = [
        Box::new(|| {
            Box::new(
                Fourier::new(Gaussian)
                    .sampling(Sampling::Orthogonal)
                    .features(200),
            )
        }),
        Box::new(|| Box::new(Fastfood::new(Gaussian).features(200))),
        Box::new(|| Box::new(Sorf::new(Gaussian).features(200))),
        Box::new(|| Box::new(Nystrom::new(Gaussian).features(120))),
    ];
    for map in maps {
        for kind in [Metric::Diagonal, Metric::Full] {
            let name = format!("{kind} {:?}", map());
            let fit = |metric| {
                let ridge = Ridge::on(map()).device(&cpu()).search(search(metric));
                ridge.fit((&x, &y)).expect("fits")
            };
            let model = fit(Some(kind));
            let metric = model.linear().metric.clone().expect("was asked for");
            let share = metric.importance();
            assert_eq!(share[1], 0.0, "{name}: {share:?}");
            // An irrelevant column keeps a finite lengthscale due to the floor.
            let root = metric.root();
            let least = (1e-3_f64 / 1.001).sqrt();
            for own in root.diag() {
                assert!(own.is_finite() && *own >= 0.999 * least, "{name}: {root}");
            }
            assert!(share[4] + share[5] < 0.05, "{name}: {share:?}");
            let (learned, plain) = (
                error(&model.predict(&x).expect("predicts"), &y),
                error(&fit(None).predict(&x).expect("predicts"), &y),
            );
            assert!(
                learned < 1.1 * plain.max(0.02),
                "{name}: {learned} for {plain}"
            );
        }
    }
}

/// No column is relevant, or the targets are constant.
#[test]
fn targets_without_a_signal_are_borne() {
    let x = rows(300, 3, 6);
    let noise = rows(300, 1, 7).column(0).to_owned();
    for y in [noise, Array1::from_elem(300, 4.0)] {
        let model = ridge(60)
            .search(Search::everything())
            .fit((&x, &y))
            .expect("fits");
        let predicted = model.predict(&x).expect("predicts");
        assert!(predicted.iter().all(|p| p.is_finite()));
    }
    // Equal rows have no median distance.
    let same = Array2::from_elem((50, 2), 3.0);
    let y = Array1::from_shape_fn(50, |i| i as f64);
    let model = ridge(20)
        .bandwidth(Bandwidth::Sigma(1.0))
        .search(search(Some(Metric::Full)));
    let model = model.fit((&same, &y)).expect("fits");
    assert!((model.predict(&same).expect("predicts")[0] - 24.5).abs() < 1e-3);
}

#[test]
fn one_seed_gives_one_model_and_a_budget_is_kept() {
    let (x, y) = few_directions(400, 8, false);
    let labels: Vec<&str> = y
        .iter()
        .map(|y| if *y > 1.0 { "high" } else { "low" })
        .collect();
    let fit = |trials: usize| {
        let heard = std::sync::Arc::new(std::sync::Mutex::new(0));
        let count = heard.clone();
        let search = Search {
            budget: Budget::Trials(trials),
            ..Search::everything()
        };
        let map = Fourier::new(Gaussian)
            .features(120)
            .sampling(Sampling::Orthogonal);
        let model = RidgeClassifier::on(map)
            .seed(Seed(2))
            .device(&cpu())
            .search(search);
        let model = model.progress(move |step| {
            if let bochner::Step::Trial(trial, best) = step {
                assert!((0.0..=1.0).contains(&best));
                *count.lock().expect("not poisoned") = trial;
            }
        });
        let model = model.fit((&x, &labels)).expect("fits");
        let heard = *heard.lock().expect("not poisoned");
        (model.linear().to_bytes().expect("writes"), heard)
    };
    for trials in [1, 4, 17, 26] {
        let (first, heard) = fit(trials);
        assert_eq!(heard, trials);
        assert!(first == fit(trials).0, "{trials} trials");
    }
    // It ends on its own.
    let (_, heard) = fit(1000);
    assert!(heard < 100, "{heard}");
}

/// Settings that are given are not searched.
#[test]
fn what_is_given_stays() {
    let (x, y) = few_directions(300, 9, false);
    let kernels = vec![kernels::parse("matern52").expect("known")];
    let only = Search {
        kernels,
        ..Search::default()
    };
    let model = ridge(80)
        .lambda(3e-4)
        .bandwidth(Bandwidth::Sigma(2.5))
        .search(only);
    let model = model.fit((&x, &y)).expect("fits");
    let linear = model.linear();
    assert_eq!(linear.lambda, 3e-4);
    assert!(linear.metric.is_none());
    // 1 / (2 pi 2.5): not changed by a rule.
    let unit = Fourier::new(Gaussian).features(80).seed(Seed(1));
    let expected = unit.build(Affine::identity(12).lengthscale(2.5).expect("positive"));
    let mut source = MemorySource::new(&x, None).expect("finite");
    let survey = Survey::new(&mut source, 0, 0).expect("surveys");
    let probe = Array2::from_shape_vec((1, 12), survey.mean.clone()).expect("a row");
    let at = |map: &dyn FeatureMap, x: &Array2<f64>| {
        let apart = x + 1.0;
        let of = |x| map.input().apply(&Rows::from(x)).expect("fits");
        (of(&apart) - of(x))[[0, 0]]
    };
    let (own, unit) = (
        at(linear.map.as_ref(), &probe),
        at(&expected.expect("draws"), &probe),
    );
    assert!((own / unit - 1.0).abs() < 1e-9, "{own} {unit}");
    let per_column = ridge(80).bandwidth(Bandwidth::SigmaPerColumn(vec![1.0; 12]));
    let refused = per_column
        .metric(Metric::Full)
        .fit((&x, &y))
        .expect_err("refused");
    assert!(refused.to_string().contains("one lengthscale"), "{refused}");
    let binning = Ridge::on(Binning::new(Laplacian))
        .device(&cpu())
        .metric(Metric::Diagonal);
    assert!(binning.fit((&x, &y)).is_err());
}
