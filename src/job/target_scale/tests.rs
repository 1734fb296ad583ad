use super::*;
use crate::{
    job::Job,
    learn::RidgeOptions,
    model::{LinearModel, Link},
    prelude::*,
    seed::{Seed, Stream},
};
use ndarray::{Array1, Array2};

const NOISE: f64 = 0.8;

/// `exp(x_0 + x_1 / 2 + noise)`, and its mean by x.
fn prices(rows: usize) -> (Array2<f64>, Array1<f64>, Array1<f64>) {
    let mut draws = Seed(3).stream(Stream::Data, 0);
    let x = Array2::from_shape_fn((rows, 2), |_| draws.normal());
    let log = x.dot(&ndarray::array![1.0, 0.5]);
    let y = log.mapv(|log| (log + NOISE * draws.normal()).exp());
    (x, y, log.mapv(|log| (log + NOISE * NOISE / 2.0).exp()))
}

/// What a model says before it is brought back.
fn scores(model: &LinearModel, x: &Array2<f64>) -> Array1<f64> {
    let mut predictor = model.on(Run::on(&Device::cpu())).expect("loads");
    let scores_nt = predictor.scores(&x.clone().into()).expect("scores");
    scores_nt.column(0).to_owned()
}

fn ridge() -> Ridge {
    Ridge::on(Fourier::new(Gaussian).features(200)).device(&Device::cpu())
}

/// Without smearing all predictions would be medians, which are less by a factor of 1.38.
#[test]
fn logarithms_are_brought_back_as_means() {
    let (x, y, mean) = prices(3000);
    let model = ridge().target_scale(TargetScale::Log).fit((&x, &y));
    let model = model.expect("fits");
    let Some(Link::Exponential { ln_smear }) = model.linear().link.clone() else {
        panic!("{:?}", model.linear().link);
    };
    assert!((ln_smear - NOISE * NOISE / 2.0).abs() < 0.05, "{ln_smear}");
    let scores = scores(model.linear(), &x);
    let residuals = &y.mapv(f64::ln) - &scores;
    let smear = residuals.mapv(f64::exp).mean().expect("rows");
    assert!((ln_smear - smear.ln()).abs() < 1e-6, "{ln_smear} {smear}");
    let ratio = model.predict(&x).expect("predicts") / &mean;
    let off = ratio.mapv(|r| r.ln().abs()).mean().expect("rows");
    assert!(off < 0.1, "{off}");
    // A file brings it back, and the job says it.
    let bytes = model.linear().to_bytes().expect("writes");
    let read = LinearModel::from_bytes(&bytes).expect("reads");
    assert_eq!(read.link, model.linear().link);
    let job = read.job.expect("a job");
    assert_eq!(job.get("target-scale"), Some("log"));
}

/// Rows left out decide: for amounts whose errors are shares of them, and not for others.
#[test]
fn rows_left_out_decide_on_the_scale() {
    let (x, prices, _) = prices(800);
    // As skewed as prices, with errors that are alike everywhere.
    let counts: Array1<f64> = (x.rows().into_iter().zip(0..))
        .map(|(x, i)| 9.0 + 2.0 * (x[0] + x[1]).max(0.0).powi(2) + f64::from(i % 7) / 7.0)
        .collect();
    for (y, scale) in [(prices, TargetScale::Log), (counts, TargetScale::AsIs)] {
        let y = y.insert_axis(ndarray::Axis(1));
        let mut rows = crate::data::MemorySource::new(&x, Some(y)).expect("finite");
        let job = Job::new(
            RidgeOptions::default(),
            Fourier::new(Gaussian).features(200),
        );
        let run = Run::on(&Device::cpu());
        let fitted = job.any().fit(&mut rows, crate::job::Meaning::Amounts, &run);
        let fitted = fitted.expect("fits");
        let race = fitted.race.expect("a race");
        let scales: Vec<TargetScale> = race.scales.iter().map(|&(scale, _)| scale).collect();
        // Counts with their long tail are looked at by their ranks, too.
        assert_eq!(
            scales.len(),
            if scale == TargetScale::Log { 2 } else { 3 },
            "{race}"
        );
        assert_eq!(scales[0], scale, "{race}: {:?}", race.scales);
        let logs = fitted.model.link.is_some();
        assert_eq!(logs, scale == TargetScale::Log, "{race}");
        let said = race.to_string().contains("by their logarithms");
        assert_eq!(said, logs, "{race}");
    }
}

/// The ends of intervals are those of the logarithms, brought back.
#[test]
fn intervals_hold_what_they_promise() {
    let (x, y, _) = prices(4000);
    let (seen, new) = (ndarray::s![..2000, ..], ndarray::s![2000.., ..]);
    let logs = ridge().target_scale(TargetScale::Log).calibrate(0.3);
    let model = logs.fit((
        &x.slice(seen).to_owned(),
        &y.slice(ndarray::s![..2000]).to_owned(),
    ));
    let of = model.expect("fits").intervals(x.slice(new).to_owned(), 0.8);
    let of = of.expect("intervals");
    let inside = (of.lower_nt.iter().zip(&of.upper_nt))
        .zip(y.slice(ndarray::s![2000..]))
        .filter(|((low, high), y)| *low < *y && *y < *high);
    let share = inside.count() as f64 / 2000.0;
    assert!((share - 0.8).abs() < 0.04, "{share}");
    // As wide as the amount is large: 2 z(.9) deviations of the logarithm.
    let ratio = (&of.upper_nt / &of.lower_nt).mapv(f64::ln).mean();
    let expected = 2.0 * 1.2816 * NOISE;
    let ratio = ratio.expect("rows");
    assert!(
        (ratio / expected - 1.0).abs() < 0.08,
        "{ratio} for {expected}"
    );
}

#[test]
fn what_has_no_logarithm_is_refused_by_its_value() {
    let (x, mut y, _) = prices(60);
    y[7] = -3.0;
    let log = ridge().target_scale(TargetScale::Log);
    let message = log.fit((&x, &y)).expect_err("below 0").to_string();
    assert!(
        message.contains("a target is -3") && message.contains("AsIs"),
        "{message}"
    );
    y[7] = 0.0;
    let message = log.fit((&x, &y)).expect_err("0").to_string();
    assert!(message.contains("a target is 0"), "{message}");
    let two = Array2::from_elem((60, 2), 1.5);
    assert!(log.fit((&x, &two)).is_err());
    assert!("logarithm".parse::<TargetScale>().is_err());
}

/// `sinh(2 (x_0 + x_1 / 2 + noise))`, long tails to both sides, and its mean by x:
/// `sinh(2 m) exp(2 s^2)`.
fn tails(rows: usize) -> (Array2<f64>, Array1<f64>, Array1<f64>) {
    const SPREAD: f64 = 0.3;
    let mut draws = Seed(4).stream(Stream::Data, 0);
    let x = Array2::from_shape_fn((rows, 2), |_| draws.normal());
    let line = x.dot(&ndarray::array![1.0, 0.5]);
    let y = line.mapv(|m| (2.0 * (m + SPREAD * draws.normal())).sinh());
    let grows = (2.0 * SPREAD * SPREAD).exp();
    (x, y, line.mapv(|m| (2.0 * m).sinh() * grows))
}

/// Means by their formula: medians, sinh(2 m), are less by a factor of 1.2.
#[test]
fn ranks_are_brought_back_as_means() {
    let (x, y, mean) = tails(4000);
    let fitted = ridge().target_scale(TargetScale::Rank).fit((&x, &y));
    let model = fitted.expect("fits");
    let predicted = model.predict(&x).expect("predicts");
    // Where amounts are not few.
    let near: Vec<usize> = (0..x.nrows())
        .filter(|&i| (1.0..8.0).contains(&mean[i].abs()))
        .collect();
    let of = |f: &dyn Fn(usize) -> f64| near.iter().map(|&i| f(i)).sum::<f64>() / near.len() as f64;
    let ratio = of(&|i| (predicted[i] / mean[i]).ln());
    assert!(ratio.abs() < 0.04, "{ratio} of {}", near.len());
    let off = of(&|i| (predicted[i] / mean[i]).ln().abs());
    assert!(off < 0.1, "{off}");
    // To the digits of a curve, what residuals make of each.
    let Some(Link::Ranks { ranks, .. }) = &model.linear().link else {
        panic!("{:?}", model.linear().link);
    };
    let scores = scores(model.linear(), &x);
    let residuals = &y.mapv(|y| ranks.at(y)) - &scores;
    for &i in near.iter().step_by(100) {
        let each = residuals.mapv(|e| ranks.reaches(scores[i] + e));
        let gap = predicted[i] - each.mean().expect("rows");
        assert!(gap.abs() < 0.01 * mean[i].abs(), "{i}: {gap}");
    }
    // As a file has it, and the job.
    let bytes = model.linear().to_bytes().expect("writes");
    let read = LinearModel::from_bytes(&bytes).expect("reads");
    assert_eq!(read.link, model.linear().link);
    assert_eq!(read.job.expect("a job").get("target-scale"), Some("rank"));
    // Ends of intervals are those of the scores.
    let logs = ridge().target_scale(TargetScale::Rank).calibrate(0.3);
    let (seen, new) = (ndarray::s![..2000], 2000);
    let rows = |x: &Array2<f64>| x.slice(ndarray::s![..2000, ..]).to_owned();
    let model = logs
        .fit((&rows(&x), &y.slice(seen).to_owned()))
        .expect("fits");
    let of = model
        .intervals(x.slice(ndarray::s![new.., ..]).to_owned(), 0.8)
        .expect("intervals");
    let inside = (new..4000)
        .filter(|&i| of.lower_nt[[i - new, 0]] < y[i] && y[i] < of.upper_nt[[i - new, 0]]);
    let share = inside.count() as f64 / 2000.0;
    assert!((share - 0.8).abs() < 0.04, "{share}");
}

/// Ranks are taken for long tails of what is fitted, and not for those of its errors, whose means
/// they lose.
#[test]
fn rows_left_out_decide_on_ranks() {
    let (x, long, _) = tails(600);
    let mut draws = Seed(6).stream(Stream::Data, 0);
    let noisy: Array1<f64> = (x.rows().into_iter())
        .map(|x| 2.0 * (x[0] + x[1]) + draws.normal() / draws.normal().abs().max(0.02))
        .collect();
    for (y, scale) in [(long, TargetScale::Rank), (noisy, TargetScale::AsIs)] {
        let y = y.insert_axis(ndarray::Axis(1));
        let mut rows = crate::data::MemorySource::new(&x, Some(y)).expect("finite");
        let map = Fourier::new(Gaussian).features(200);
        let job = Job::new(RidgeOptions::default(), map);
        let run = Run::on(&Device::cpu());
        let fitted = job.any().fit(&mut rows, crate::job::Meaning::Amounts, &run);
        let race = fitted.expect("fits").race.expect("a race");
        assert_eq!(race.scales[0].0, scale, "{race}: {:?}", race.scales);
        assert_eq!(
            race.to_string().contains("by their ranks"),
            scale == TargetScale::Rank
        );
    }
}

/// Sums of rows know the scale, and the rows that bring it back, in bytes, too: where the first
/// rows are all rows the model is that of a fit.
#[test]
fn sums_are_brought_back_as_fits_are() {
    let (x, y, _) = prices(900);
    for scale in [TargetScale::Log, TargetScale::Rank] {
        let learner = ridge().target_scale(scale);
        let fitted = learner.fit((&x, &y)).expect("fits");
        let growing = learner.start((&x, &y)).expect("starts");
        let bytes = growing.to_bytes().expect("bytes");
        let mut again = learner.go_on(&bytes).expect("goes on");
        let expected = fitted.predict(&x).expect("predicts");
        for of in [&growing, &again] {
            let predicted = of.model().expect("a model").predict(&x).expect("predicts");
            let gap = (&predicted - &expected) / &expected;
            assert!(gap.iter().all(|gap| gap.abs() < 1e-4), "{scale}");
        }
        // Rows that come later are seen on the same scale.
        again.add((&x, &y)).expect("adds");
        let predicted = again
            .model()
            .expect("a model")
            .predict(&x)
            .expect("predicts");
        let gap = ((&predicted - &expected) / &expected).mapv(f64::abs).mean();
        assert!(gap.expect("rows") < 0.02, "{scale}: {gap:?}");
    }
    // Unless asked for, later rows may be of any amount.
    let growing = ridge().start((&x, &y)).expect("starts");
    let model = growing.model().expect("a model");
    assert_eq!(model.linear().link, None);
}
