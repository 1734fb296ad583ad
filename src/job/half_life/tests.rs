//! Fits that forget against fits to rows with the weights in closed form.

use crate::{
    data::{Folds, MemorySource, Rows},
    door::Learner,
    job::{Meaning, TargetScale},
    learn::{Fit, RowWeights},
    models::{
        Density, GaussianProcess, KernelPca, LogisticRegression, Ridge, RidgeClassifier,
        SupportVectorClassifier,
    },
    prelude::*,
    seed::{Seed, Stream},
};
use ndarray::{Array1, Array2, s};

const HALF_LIFE: f64 = 37.5;

/// Rows whose law turns, their weights in closed form, and labels.
fn data(n: usize) -> (Array2<f64>, Array1<f64>, Array1<f64>) {
    let mut draws = Seed(8).stream(Stream::Data, 0);
    let x = Array2::from_shape_simple_fn((n, 2), || 3.0 * draws.uniform());
    let turn = |i: usize| if 2 * i < n { 1.0 } else { -1.0 };
    let y = Array1::from_shape_fn(n, |i| {
        turn(i) * x[[i, 0]].sin() + x[[i, 1]] + 0.2 * draws.normal()
    });
    (x, y, weights(n))
}

fn weights(n: usize) -> Array1<f64> {
    Array1::from_shape_fn(n, |i| 2_f64.powf(-((n - 1 - i) as f64) / HALF_LIFE))
}

fn map() -> Fourier {
    Fourier::new(Gaussian).features(60).seed(Seed(3))
}

/// Predictions of a learner that forgets, of one that is given the weights, and of one to which
/// all rows count alike.
fn three<L: Fit + Clone, T: Clone>(
    learner: &Learner<L, T>,
    meaning: Meaning,
    y: &Array1<f64>,
) -> [Array2<f64>; 3] {
    let (x, _, w) = data(y.len());
    let y = y.clone().insert_axis(ndarray::Axis(1));
    let fit = |half_life: Option<f64>, weighted: bool| {
        let rows = MemorySource::new(&x, Some(y.clone())).expect("rows");
        let mut rows = if weighted {
            rows.with_weights(w.clone()).expect("weights")
        } else {
            rows
        };
        let mut learner = learner.clone();
        learner.job.half_life = half_life;
        let run = crate::Run::on(&Device::cpu());
        let fitted = learner.job.any().fit(&mut rows, meaning, &run);
        let model = fitted.expect("fits").model;
        let mut rows = MemorySource::new(&x, None).expect("rows");
        let mut all = Vec::new();
        (model.on(&run).expect("runs"))
            .stream(&mut rows, |found, _| {
                all.extend(found.iter().copied());
                Ok(())
            })
            .expect("predicts");
        let columns = all.len() / x.nrows();
        Array2::from_shape_vec((x.nrows(), columns), all).expect("a shape")
    };
    [
        fit(Some(HALF_LIFE), false),
        fit(None, true),
        fit(None, false),
    ]
}

/// The largest difference beside the largest value.
fn apart(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let largest = b.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    (a - b).iter().fold(0.0_f64, |m, v| m.max(v.abs())) / largest
}

fn holds([forgets, weighted, plain]: [Array2<f64>; 3], least: f64) {
    let off = apart(&forgets, &weighted);
    assert!(off < 1e-6, "{off}");
    // The weights matter.
    let off = apart(&forgets, &plain);
    assert!(off > least, "{off}");
}

/// All that is chosen is chosen by the same weights: bandwidth, scales, penalty.
#[test]
fn a_half_life_is_a_fit_to_weighted_rows() {
    let (_, y, _) = data(500);
    let label = y.mapv(|y| f64::from(u8::from(y > 1.5)));
    let (amounts, labels) = (Meaning::Amounts, Meaning::Labels);
    holds(three(&Ridge::on(map()), amounts, &y), 0.1);
    holds(three(&Ridge::on(map()).lambda(1e-3), amounts, &y), 0.1);
    holds(three(&RidgeClassifier::on(map()), labels, &label), 0.05);
    holds(three(&LogisticRegression::on(map()), labels, &label), 0.05);
    holds(
        three(&SupportVectorClassifier::on(map()), labels, &label),
        0.05,
    );
    let process = GaussianProcess::on(map()).weights(RowWeights::Counts);
    holds(three(&process, amounts, &y), 0.1);
    holds(
        three(&KernelPca::on(map()).components(2), Meaning::Nothing, &y),
        1e-3,
    );
    holds(three(&Density::on(map()), Meaning::Nothing, &y), 1e-3);
}

/// Far more rows than half-lives: finite, and a fit to the last rows.
#[test]
fn the_far_past_is_gone() {
    let (x, y, _) = data(6000);
    let ridge = Ridge::on(map())
        .lambda(1e-2)
        .bandwidth(Bandwidth::Sigma(1.0));
    let ridge = ridge.standardize(Standardize::No).device(&Device::cpu());
    let all = ridge
        .clone()
        .half_life(HALF_LIFE)
        .fit((&x, &y))
        .expect("fits");
    let last = s![4000.., ..];
    let (few, y_few) = (x.slice(last).to_owned(), y.slice(s![4000..]).to_owned());
    let few = ridge
        .half_life(HALF_LIFE)
        .fit((&few, &y_few))
        .expect("fits");
    let [all, few] = [all, few].map(|model| model.predict(&x).expect("predicts"));
    let off = (&all - &few).fold(0.0_f64, |m, v| m.max(v.abs()));
    assert!(off < 1e-6, "{off}");
}

/// Batches of any size age what came before: on one map the sums are those of all rows with the
/// weights in closed form.
#[test]
fn batches_are_one_stream() {
    let (x, y, w) = data(400);
    let part = |from: usize, to: usize| {
        let rows = s![from..to, ..];
        (x.slice(rows).to_owned(), y.slice(s![from..to]).to_owned())
    };
    let ridge = Ridge::on(map()).lambda(1e-2).device(&Device::cpu());
    let (x0, y0) = part(0, 90);
    let forgetting = ridge.clone().half_life(HALF_LIFE);
    let mut grown = forgetting.start((&x0, &y0)).expect("starts");
    // The same map by the same weights.
    let w0 = weights(90);
    let weighted = ridge.start((&x0, &y0, &w0)).expect("starts");
    let mut weighted = weighted.without_rows().expect("none");
    weighted.add((&x, &y, &w)).expect("adds");
    let mut at = 90;
    for size in [1, 1, 7, 150, 151] {
        let (x, y) = part(at, at + size);
        at += size;
        grown.add((&x, &y)).expect("adds");
        // Through bytes, as a run that ends and goes on.
        grown = forgetting
            .go_on(&grown.to_bytes().expect("bytes"))
            .expect("goes on");
    }
    assert_eq!((at, grown.rows()), (400, 400));
    let [forgets, expected] = [&grown, &weighted].map(|g| {
        let model = g.model().expect("a model");
        model
            .predict(&x)
            .expect("predicts")
            .insert_axis(ndarray::Axis(1))
    });
    let off = apart(&forgets, &expected);
    assert!(off < 1e-6, "{off}");
    let (own, other) = (&grown.sums().normal, &weighted.sums().normal);
    for (a, b) in [
        (own.weight, other.weight),
        (own.weight_squares, other.weight_squares),
        (own.log_weight, other.log_weight),
    ] {
        assert!((a / b - 1.0).abs() < 1e-10, "{a} {b}");
    }
    let says = |result: crate::Result<()>, part: &str| {
        let message = result.expect_err("refused").to_string();
        assert!(message.contains(part), "{message}");
    };
    says(grown.forget((&x0, &y0)), "half-life");
    let other = ridge.clone().half_life(9.0);
    let bytes = grown.to_bytes().expect("bytes");
    says(other.go_on::<Array1<f64>>(&bytes).map(|_| ()), "half-life");
    says(ridge.go_on::<Array1<f64>>(&bytes).map(|_| ()), "half-life");
}

/// A row that is refused leaves sums as they were, not yet older.
#[test]
fn a_row_with_nan_changes_nothing() {
    let (x, y, _) = data(120);
    let ridge = Ridge::on(map()).lambda(1e-4).half_life(20.0);
    let mut grown = ridge
        .device(&Device::cpu())
        .start((&x, &y))
        .expect("starts");
    let before = grown.to_bytes().expect("bytes");
    let mut broken = x.clone();
    broken[[7, 1]] = f64::NAN;
    assert!(grown.add((&broken, &y)).is_err());
    assert_eq!(grown.to_bytes().expect("bytes"), before);
}

/// The penalty is chosen by rows that are still worth something, however long the stream is.
#[test]
fn a_penalty_is_chosen_by_rows_of_now() {
    let mut draws = Seed(4).stream(Stream::Data, 0);
    let mut batch = |noise: f64| {
        let x = Array2::from_shape_simple_fn((2000, 1), || 6.0 * draws.uniform());
        let y = x.column(0).mapv(f64::sin);
        let y = y.mapv(|y| y + noise * draws.normal());
        (x, y)
    };
    let ridge = Ridge::on(map()).bandwidth(Bandwidth::Sigma(0.3));
    let ridge = ridge.half_life(300.0).device(&Device::cpu());
    let (x, y) = batch(0.01);
    let mut grown = ridge.start((&x, &y)).expect("starts");
    let clean = grown.model().expect("a model").linear().lambda;
    for _ in 0..12 {
        let (x, y) = batch(1.0);
        grown.add((&x, &y)).expect("adds");
    }
    let noisy = grown.model().expect("a model").linear().lambda;
    assert!(noisy > 10.0 * clean, "{noisy:e} {clean:e}");
    let kept = grown.sums().kept_rows().expect("some");
    assert!(kept > 1000, "{kept}");
}

#[test]
fn what_takes_no_weights_and_odd_half_lives_are_refused() {
    let (x, y, _) = data(60);
    let process = GaussianProcess::on(map()).half_life(9.0);
    let message = process.fit((&x, &y)).expect_err("refused").to_string();
    assert!(
        message.contains("no half-life") && message.contains("counts"),
        "{message}"
    );
    for rows in [0.0, -1.0, f64::NAN] {
        let ridge = Ridge::on(map()).half_life(rows);
        let message = ridge.fit((&x, &y)).expect_err("refused").to_string();
        assert!(message.contains("one row or more"), "{message}");
    }
}

/// What a model keeps: the half-life, and weights only where rows had some.
#[test]
fn the_job_says_the_half_life() {
    let (x, y, w) = data(60);
    let ridge = Ridge::on(map()).half_life(9.0).device(&Device::cpu());
    let word = |model: &crate::model::LinearModel, name: &str| {
        let job = model.job.as_ref().expect("a job");
        job.get(name).map(str::to_owned)
    };
    let plain = ridge.fit((&x, &y)).expect("fits");
    assert_eq!(word(plain.linear(), "half-life").as_deref(), Some("9.0"));
    assert_eq!(word(plain.linear(), "weighted"), None);
    let weighted = ridge.fit((&x, &y, &w)).expect("fits");
    assert_eq!(word(weighted.linear(), "weighted").as_deref(), Some("true"));
}

/// Rows of any shape of source are the same.
#[test]
fn rows_in_single_precision_forget_alike() {
    let (x, y, _) = data(200);
    let ridge = Ridge::on(map())
        .lambda(1e-4)
        .half_life(30.0)
        .device(&Device::cpu());
    let double = ridge.fit((&x, &y)).expect("fits");
    let mut single = MemorySource::new(
        Rows::from(x.mapv(|v| v as f32)),
        Some(y.insert_axis(ndarray::Axis(1))),
    )
    .expect("rows");
    let single = ridge.fit(&mut single).expect("fits");
    let double = double.predict(&x).expect("predicts");
    let single = single.predict(&x).expect("predicts");
    let off = (&double - &single.column(0)).fold(0.0_f64, |m, v| m.max(v.abs()));
    assert!(off < 1e-3, "{off}");
}

/// Each fold is a fit that forgets by the order of its own rows, where sums would be shared
/// otherwise.
#[test]
fn folds_forget_by_their_own_rows() {
    let (x, y, _) = data(300);
    let y = y.insert_axis(ndarray::Axis(1));
    let open = || MemorySource::new(&x, Some(y.clone()));
    let ridge = Ridge::on(map())
        .lambda(1e-2)
        .bandwidth(Bandwidth::Sigma(1.0));
    let ridge = ridge
        .standardize(Standardize::No)
        .target_scale(TargetScale::AsIs);
    let run = crate::Run::on(&Device::cpu());
    let folds = Folds::dealt(&mut open().expect("rows"), 3, Seed(2)).expect("folds");
    let scored = |half_life: Option<f64>, apart: bool| {
        let mut ridge = ridge.clone();
        ridge.job.half_life = half_life;
        let job = ridge.job.any();
        let scores = if apart {
            job.cross_validate_by_fits(open, Meaning::Amounts, &folds, &run)
        } else {
            job.cross_validate(open, Meaning::Amounts, &folds, &run)
        };
        scores.expect("scores").mean("rmse").expect("a score").mean
    };
    let (forgets, plain) = (scored(Some(HALF_LIFE), false), scored(None, false));
    assert_eq!(forgets, scored(Some(HALF_LIFE), true));
    assert!((forgets / plain - 1.0).abs() > 0.1, "{forgets} {plain}");
}
