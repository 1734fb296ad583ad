//! Tests of the learners with a loss through the Rust builders; their solvers have separate tests.

use crate::{
    Device, Error,
    features::{Bandwidth, Binning, Fourier, MapBuilder},
    kernels::{Gaussian, Laplacian},
    learn::{ClassWeights, MarginLoss, ResidualLoss, Stopping},
    model::Model,
    models::{
        Lasso, LogisticRegression, OneClass, RidgeClassifier, SupportVectorClassifier,
        SupportVectorRegressor,
    },
    seed::{Seed, Stream},
};
use ndarray::{Array1, Array2, Axis, concatenate};

/// Points around `classes` centres on a circle, ordered by class.
fn blobs(classes: usize, each: usize) -> (Array2<f64>, Vec<String>) {
    let mut draws = Seed(11).stream(Stream::Sample, 0);
    let mut x = Array2::zeros((classes * each, 2));
    let mut labels = Vec::new();
    for (i, mut row) in x.rows_mut().into_iter().enumerate() {
        let angle = (i / each) as f64 * std::f64::consts::TAU / classes as f64;
        row[0] = 2.0 * angle.cos() + 0.7 * draws.normal();
        row[1] = 2.0 * angle.sin() + 0.7 * draws.normal();
        labels.push(format!("class {}", i / each));
    }
    (x, labels)
}

fn map() -> impl MapBuilder + 'static {
    Fourier::new(Gaussian).features(64)
}

fn right<T: PartialEq>(predicted: &[T], labels: &[T]) -> f64 {
    let right = predicted.iter().zip(labels).filter(|(a, b)| a == b);
    right.count() as f64 / labels.len() as f64
}

/// Mean of -log p of the labels; checks that the probabilities of each row sum to 1.
fn log_loss(model: &Model<Vec<String>>, x: &Array2<f64>, labels: &[String]) -> f64 {
    let p = model.predict_probabilities(x).expect("probabilities");
    let classes = model.classes();
    let losses = p.rows().into_iter().zip(labels).map(|(p, label)| {
        assert!((p.sum() - 1.0).abs() < 1e-12 && p.iter().all(|p| (0.0..=1.0).contains(p)));
        let class = classes.iter().position(|c| c == label);
        -p[class.expect("a class")].ln()
    });
    losses.sum::<f64>() / labels.len() as f64
}

#[test]
fn classifiers_learn_two_classes_and_five() {
    let cpu = Device::cpu();
    for classes in [2, 5] {
        let (x, labels) = blobs(classes, 80);
        let logistic = LogisticRegression::on(map()).lambda(1e-3).device(&cpu);
        let model = logistic.fit((&x, &labels)).expect("fits");
        // With five classes the overlap costs a few per cent.
        let floor = if classes == 2 { 0.98 } else { 0.85 };
        assert!(right(&model.predict(&x).expect("predicts"), &labels) > floor);
        let loss = log_loss(&model, &x, &labels);
        assert!(loss < if classes == 2 { 0.1 } else { 0.4 }, "{loss}");

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("m");
        model.save(&path).expect("saves");
        let read = Model::<Vec<String>>::load(&path)
            .expect("reads")
            .device(&cpu);
        assert_eq!(
            read.predict_probabilities(&x).expect("probabilities"),
            model.predict_probabilities(&x).expect("probabilities")
        );

        for loss in [MarginLoss::Hinge, MarginLoss::SquaredHinge] {
            let svm = SupportVectorClassifier::on(map()).lambda(1e-3).loss(loss);
            let model = svm.device(&cpu).fit((&x, &labels)).expect("fits");
            assert!(right(&model.predict(&x).expect("predicts"), &labels) > floor);
            let error = model.predict_probabilities(&x).expect_err("none");
            assert!(matches!(error, Error::Unsupported(_)), "{error}");
        }
    }
}

/// Sigmoids on scores of held-out rows come near the probabilities of logistic regression, whose
/// scores are log odds.
#[test]
fn other_classifiers_are_calibrated() {
    let cpu = Device::cpu();
    for classes in [2, 5] {
        let (x, labels) = blobs(classes, 80);
        let logistic = LogisticRegression::on(map()).lambda(1e-3).device(&cpu);
        let best = log_loss(&logistic.fit((&x, &labels)).expect("fits"), &x, &labels);
        let svm = SupportVectorClassifier::on(map()).lambda(1e-2).device(&cpu);
        let svm = svm.probabilities(true).fit((&x, &labels)).expect("fits");
        let ridge = RidgeClassifier::on(map()).lambda(1e-2).device(&cpu);
        let ridge = ridge.probabilities(true).fit((&x, &labels)).expect("fits");
        for model in [svm, ridge] {
            let loss = log_loss(&model, &x, &labels);
            assert!(loss < 1.6 * best + 0.05, "{loss} {best}");
        }
    }
    let few = (ndarray::array![[0.0], [1.0]], [1, 2]);
    let ridge = RidgeClassifier::on(map()).device(&cpu).probabilities(true);
    let message = ridge.fit(few).expect_err("too few").to_string();
    assert!(message.contains("at least 20 rows"), "{message}");
}

const TIGHT: Stopping = Stopping {
    tolerance: 1e-7,
    max_passes: 3000,
};

/// Logistic regression with tight tolerance.
fn logistic() -> LogisticRegression {
    let logistic = LogisticRegression::on(map()).lambda(1e-2).stopping(TIGHT);
    logistic
        .bandwidth(Bandwidth::Sigma(1.0))
        .device(&Device::cpu())
}

/// Two models give the same scores.
fn assert_close([a, b]: [Model<Vec<String>>; 2], x: &Array2<f64>, name: &str) {
    let scores = |model: Model<Vec<String>>| {
        let mut loaded = model.loaded().expect("loads");
        loaded.scores(x).expect("scores")
    };
    let worst = (scores(a) - scores(b)).fold(0.0, |m: f64, v| m.max(v.abs()));
    assert!(worst < 1e-3, "{name}: {worst}");
}

#[test]
fn weights_count_rows() {
    let (x, labels) = blobs(3, 30);
    let weights: Array1<f64> = (0..90).map(|i| f64::from(1 + i % 3)).collect();
    let copies: Vec<usize> = (0..90).flat_map(|i| vec![i; 1 + i % 3]).collect();
    let often = x.select(Axis(0), &copies);
    let often_labels: Vec<_> = copies.iter().map(|&i| labels[i].clone()).collect();
    let by_weights = logistic().fit((&x, &labels, &weights)).expect("fits");
    let by_copies = logistic().fit((&often, &often_labels)).expect("fits");
    assert_close([by_weights, by_copies], &x, "logistic");
    let hinge = SupportVectorClassifier::on(map()).loss(MarginLoss::Hinge);
    let hinge = hinge.lambda(1e-2).stopping(TIGHT);
    let hinge = hinge
        .bandwidth(Bandwidth::Sigma(1.0))
        .device(&Device::cpu());
    let by_weights = hinge.fit((&x, &labels, &weights)).expect("fits");
    let by_copies = hinge.fit((&often, &often_labels)).expect("fits");
    assert_close([by_weights, by_copies], &x, "hinge");
}

#[test]
fn weights_of_classes_are_weights_of_their_rows() {
    let (x, labels) = blobs(3, 30);
    let by_class = logistic().class_weights(ClassWeights::Of(vec![1.0, 2.0, 3.0]));
    let by_class = by_class.fit((&x, &labels)).expect("fits");
    let rows: Array1<f64> = (0..90).map(|i| f64::from(1 + i / 30)).collect();
    let by_row = logistic().fit((&x, &labels, &rows)).expect("fits");
    assert_close([by_class, by_row], &x, "classes");
    let balanced = logistic().class_weights(ClassWeights::Balanced);
    let (less_x, less) = (
        concatenate![Axis(0), x.view(), x.slice(ndarray::s![..30, ..])],
        [labels.clone(), labels[..30].to_vec()].concat(),
    );
    let balanced = balanced.fit((&less_x, &less)).expect("fits");
    let plain = logistic().fit((&x, &labels)).expect("fits");
    assert_close([balanced, plain], &x, "balanced");
    let wrong = logistic().class_weights(ClassWeights::Of(vec![1.0]));
    let message = wrong
        .fit((&x, &labels))
        .expect_err("one of three")
        .to_string();
    assert!(
        message.contains("one positive number for each"),
        "{message}"
    );
}

#[test]
fn regressions_follow_a_wave() {
    let x = Array2::from_shape_fn((400, 1), |(i, _)| i as f64 / 100.0);
    let mut draws = Seed(5).stream(Stream::Sample, 0);
    let wave = x.column(0).mapv(|x| 50.0 + 10.0 * x.sin());
    let y = wave.mapv(|y| y + draws.normal());
    let cpu = Device::cpu();
    for loss in [
        ResidualLoss::EpsilonInsensitive(0.1),
        ResidualLoss::SquaredEpsilonInsensitive(0.1),
        ResidualLoss::Huber(1.5),
        ResidualLoss::Quantile(0.5),
        ResidualLoss::Quantile(0.9),
    ] {
        let svr = SupportVectorRegressor::on(map()).loss(loss).device(&cpu);
        let predicted = svr
            .fit((&x, &y))
            .expect("fits")
            .predict(&x)
            .expect("predicts");
        let below = y.iter().zip(&predicted).filter(|(y, p)| y < p).count();
        let level = match loss {
            ResidualLoss::Quantile(level) => level,
            _ => 0.5,
        };
        assert!(
            (below as f64 / 400.0 - level).abs() < 0.07,
            "{loss:?}: {below}"
        );
        if level == 0.5 {
            let error = (&predicted - &wave).mapv(|e| e * e).mean().expect("rows");
            assert!(error.sqrt() < 0.6, "{loss:?}: {error}");
        }
    }
    let lasso = |l1| {
        let lasso = Lasso::on(map()).l1(l1).device(&cpu);
        lasso.fit((&x, &y)).expect("fits").linear().facts["nonzero_coefficients"]
    };
    let (strong, weak) = (lasso(0.1), lasso(1e-3));
    assert!(
        strong > 0.0 && strong < weak && weak <= 64.0,
        "{strong} {weak}"
    );

    let constant = Array1::from_elem(400, 7.5);
    let svr = SupportVectorRegressor::on(map()).device(&cpu);
    let predicted = svr.fit((&x, &constant)).expect("fits").predict(&x);
    assert!(
        predicted
            .expect("predicts")
            .iter()
            .all(|p| (p - 7.5).abs() < 0.01)
    );
}

#[test]
fn one_class_leaves_about_nu_outside() {
    let (x, _) = blobs(1, 500);
    for nu in [0.05, 0.3] {
        let one = OneClass::on(map()).nu(nu).device(&Device::cpu());
        let model = one.fit(&x).expect("fits");
        let labels = model.predict(&x).expect("predicts");
        let outside = labels.iter().filter(|&&label| label == -1).count();
        assert!(
            (outside as f64 / 500.0 - nu).abs() < 0.03,
            "{outside} at {nu}"
        );
        let far = model.predict(&ndarray::array![[9.0, 9.0], [2.0, 0.0]]);
        assert_eq!(far.expect("predicts"), [-1, 1]);
    }
    let error = OneClass::on(map()).nu(0.0).device(&Device::cpu()).fit(&x);
    assert!(error.expect_err("no share").to_string().contains("nu is 0"));
}

#[test]
fn binning_takes_smooth_losses() {
    let (x, labels) = blobs(3, 60);
    let map = || Binning::new(Laplacian).grids(30);
    let logistic = LogisticRegression::on(map())
        .lambda(1e-3)
        .device(&Device::cpu());
    let model = logistic.fit((&x, &labels)).expect("fits");
    assert!(right(&model.predict(&x).expect("predicts"), &labels) > 0.9);
    assert!(model.linear().facts["residual"] <= 1e-4);
    let hinge = SupportVectorClassifier::on(map()).loss(MarginLoss::Hinge);
    let error = hinge.device(&Device::cpu()).fit((&x, &labels));
    assert!(matches!(error, Err(Error::Unsupported(_))), "{error:?}");
}

/// Chunked rows and all adapters give the model of a single chunk on the CPU.
#[test]
fn streams_and_adapters_reach_the_same_model() {
    let (x, labels) = blobs(3, 200);
    let tight = Stopping {
        tolerance: 1e-6,
        max_passes: 500,
    };
    let sigma = || Bandwidth::Sigma(1.0);
    let logistic = |device: &Device, memory| {
        let learner = LogisticRegression::on(map()).lambda(1e-4).stopping(tight);
        let learner = learner.bandwidth(sigma()).device(device).memory(memory);
        learner.fit((&x, &labels)).expect("fits")
    };
    let svm = |device: &Device, memory| {
        let learner = SupportVectorClassifier::on(map()).lambda(1e-3);
        let learner = learner.stopping(tight).bandwidth(sigma());
        let learner = learner.device(device).memory(memory);
        learner.fit((&x, &labels)).expect("fits")
    };
    let scores = |model: Model<Vec<String>>| {
        let model = model.device(&Device::cpu());
        let mut loaded = model.loaded().expect("loads");
        loaded.scores(&x).expect("scores")
    };
    let cpu = Device::cpu();
    let whole = [
        scores(logistic(&cpu, 128 << 20)),
        scores(svm(&cpu, 128 << 20)),
    ];
    let mut others = vec![(cpu, 20_000)];
    others.extend(
        bochner_maps::under_test::gpus()
            .into_iter()
            .map(|g| (g, 50_000)),
    );
    for (device, memory) in others {
        let other = [
            scores(logistic(&device, memory)),
            scores(svm(&device, memory)),
        ];
        for (a, b) in whole.iter().zip(&other) {
            let size = a.fold(0.0, |m: f64, v| m.max(v.abs()));
            let worst = (a - b).fold(0.0, |m: f64, v| m.max(v.abs()));
            assert!(worst < 2e-3 * size, "{device:?}: {worst} of {size}");
        }
    }
}

/// Using the curvature of the loss, passes are few if most rows are far from the boundary of their
/// class.
#[test]
fn passes_are_few_on_digits() {
    let digits = concat!(env!("CARGO_MANIFEST_DIR"), "/data/digits.csv");
    let file = || crate::data::DataFile::at(digits).target("label");
    let map = || Fourier::new(Gaussian).features(200);
    let logistic = LogisticRegression::on(map())
        .lambda(1e-6)
        .device(&Device::cpu());
    let logistic = logistic
        .bandwidth(Bandwidth::Scale)
        .fit(file())
        .expect("fits");
    let svm = SupportVectorClassifier::on(map())
        .lambda(1e-6)
        .device(&Device::cpu());
    let svm = svm.bandwidth(Bandwidth::Scale).stopping(Stopping {
        tolerance: 1e-3,
        max_passes: 200,
    });
    let svm = svm.fit(file()).expect("fits");
    for facts in [&logistic.linear().facts, &svm.linear().facts] {
        println!("{facts:?}");
        assert!(
            facts["residual"] <= 1e-3 && facts["passes"] <= 30.0,
            "{facts:?}"
        );
    }
}

/// Features of a kernel as wide as the column are nearly equal, so that sweeps over their
/// coefficients converge late: the path of penalties must continue, or all but two coefficients are
/// lost.
#[test]
fn a_lasso_of_a_wide_kernel_chooses_a_small_penalty() {
    let x = Array2::from_shape_fn((300, 1), |(i, _)| (i * 37 % 300) as f64 / 30.0);
    let mut draws = Seed(3).stream(Stream::Sample, 0);
    let y = (x.column(0)).mapv(|x| (0.5 * x).sin() + 0.1 * x + 0.2 * draws.normal());
    let map = Fourier::new(Gaussian).features(200);
    let lasso = Lasso::on(map)
        .bandwidth(Bandwidth::Sigma(2.0))
        .device(&Device::cpu());
    let model = lasso.fit((&x, &y)).expect("fits");
    let facts = &model.linear().facts;
    assert!(facts["l1"] < 0.01, "{facts:?}");
    let off = model.predict(&x).expect("predicts") - &y;
    let share = off.mapv(|e| e * e).mean().expect("rows") / y.var(0.0);
    assert!(share < 0.3, "{share} {facts:?}");
}
