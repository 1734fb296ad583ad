//! Averaged probabilities of models compared with formulas on explicit features in f64.

use super::*;
use crate::{
    data::{MemorySource, Rows},
    features::featurize,
    flow::Run,
    learn::{Fit, Stopping},
    linalg::cholesky::Lower,
    model::probabilities::averages::mean_sigmoid,
    model::{LinearModel, Probabilities},
    models::LogisticRegression,
    prelude::*,
    seed::{Seed, Stream},
};
use ndarray::{Array1, Array2, ArrayView1, Axis, s};

const LAMBDA: f64 = 3e-3;

/// Two touching rings in two columns; weights.
fn rows(n: usize) -> (Array2<f64>, Vec<&'static str>, Array1<f64>) {
    let mut draws = Seed(4).stream(Stream::Data, 0);
    let x = Array2::from_shape_simple_fn((n, 2), || draws.normal());
    let labels = x.rows().into_iter().map(|x| {
        let out = x.dot(&x) + 0.6 * draws.normal() > 1.6;
        if out { "out" } else { "in" }
    });
    let labels = labels.collect();
    (
        x,
        labels,
        Array1::from_shape_fn(n, |i| 0.5 + (i % 3) as f64),
    )
}

fn map() -> Fourier {
    Fourier::new(Gaussian).features(24).seed(Seed(2))
}

fn learner() -> LogisticRegression {
    let learner = LogisticRegression::on(map()).lambda(LAMBDA).laplace(true);
    let learner = learner.standardize(Standardize::No).device(&Device::cpu());
    learner.bandwidth(Bandwidth::Sigma(1.0)).stopping(Stopping {
        tolerance: 1e-8,
        max_passes: 500,
    })
}

/// Features of rows by the map of a model, centred like the model.
fn features(model: &LinearModel, x: &Array2<f64>) -> Array2<f64> {
    let mut all = Vec::new();
    let mut source = MemorySource::new(x, None).expect("rows");
    let run = Run::on(&Device::cpu());
    featurize(model.map.as_ref(), &mut source, run, |z_nd| {
        all.extend(z_nd.iter().map(|&z| f64::from(z)));
        Ok(())
    })
    .expect("runs");
    Array2::from_shape_vec((x.nrows(), model.map.output_dim()), all).expect("a shape")
}

/// Features, followed by a column of ones if `size` exceeds their number.
fn with_ones(z_nd: &Array2<f64>, size: usize) -> Array2<f64> {
    let mut columns = Array2::ones((z_nd.nrows(), size));
    columns.slice_mut(s![.., ..z_nd.ncols()]).assign(z_nd);
    columns
}

/// `log p(y, at) + size/2 log 2 pi - 1/2 log |H|`, for a mode with `size` coefficients, their
/// precision and the sum of their squares.
fn log_evidence(
    loss: f64,
    (features, precision, square): (usize, f64, f64),
    (size, log_determinant): (usize, f64),
) -> f64 {
    let tau = std::f64::consts::TAU;
    let of_prior = features as f64 * (precision / tau).ln() - precision * square;
    let of_normal = size as f64 * tau.ln() - log_determinant;
    0.5 * (of_prior + of_normal) - loss
}

#[test]
fn probabilities_are_means_over_the_posterior() {
    let (x, labels, weights) = rows(90);
    for intercept in [true, false] {
        let learner = learner().intercept(intercept);
        let model = learner.fit((&x, &labels, &weights)).expect("fits");
        let plain = learner.laplace(false).fit((&x, &labels, &weights));
        let plain = plain.expect("fits");
        assert_eq!(model.linear().coefficients, plain.linear().coefficients);

        let z_nd = features(model.linear(), &x);
        let beta_dt = &model.linear().coefficients.beta_dt;
        let intercept_t = &model.linear().coefficients.intercept_t;
        let beta_d = &beta_dt.column(1) - &beta_dt.column(0);
        let b = intercept_t[1] - intercept_t[0];
        let score_n = z_nd.dot(&beta_d) + b;
        let p_n = score_n.mapv(|s| 1.0 / (1.0 + (-s).exp()));
        let c_n = &weights * &p_n * &(1.0 - &p_n);
        let (features, total) = (z_nd.ncols(), weights.sum());
        let size = features + usize::from(intercept);
        let columns = with_ones(&z_nd, size);
        let mut hessian = columns.t().dot(&(&columns * &c_n.insert_axis(Axis(1))));
        let precision = LAMBDA * total;
        for j in 0..features {
            hessian[[j, j]] += precision;
        }
        let mut factor = Lower::from_matrix(&hessian);
        assert!(factor.factor());
        let mut rooted = columns.t().as_standard_layout().into_owned();
        factor.solve(&mut rooted);
        let variance_n = rooted.map_axis(Axis(0), |c| c.dot(&c));

        let found = model.predict_probabilities(&x).expect("probabilities");
        for i in 0..90 {
            let expected = mean_sigmoid(score_n[i], variance_n[i]);
            let off = (found[[i, 1]] - expected).abs();
            assert!(off < 2e-5, "{i}: {} {expected}", found[[i, 1]]);
            assert!((found.row(i).sum() - 1.0).abs() < 1e-12);
        }
        // Labels equal the labels at the mode, and probabilities are on the same side of 1/2.
        let predicted = model.predict(&x).expect("predicts");
        assert_eq!(predicted, plain.predict(&x).expect("predicts"));
        let likely = found.rows().into_iter().map(|p| p[1] > p[0]);
        assert!(
            likely
                .zip(&predicted)
                .all(|(out, label)| out == (*label == "out"))
        );

        let log_determinant: f64 = (0..size).map(|i| 2.0 * factor.row(i)[i].ln()).sum();
        let each = score_n.iter().zip(&labels).zip(&weights);
        let losses = each.map(|((s, label), w)| {
            let side = if *label == "out" { 1.0 } else { -1.0 };
            w * (-side * s).exp().ln_1p()
        });
        let of_prior = (features, precision, beta_d.dot(&beta_d));
        let expected = log_evidence(losses.sum(), of_prior, (size, log_determinant));
        let evidence = model.linear().facts["log_marginal_likelihood"];
        assert!((evidence - expected).abs() < 2e-4, "{evidence} {expected}");
    }
}

/// Class weights act on the likelihood like weights of rows.
#[test]
fn balanced_classes_are_weights_of_rows() {
    let (x, labels, _) = rows(90);
    let balanced = learner().class_weights(crate::learn::ClassWeights::Balanced);
    let balanced = balanced.fit((&x, &labels)).expect("fits");
    let count = |of: &str| labels.iter().filter(|l| **l == of).count() as f64;
    let counts = labels.iter().map(|l| 45.0 / count(l));
    let weighted = learner().fit((&x, &labels, &counts.collect::<Array1<f64>>()));
    let weighted = weighted.expect("fits");
    let apart = balanced.predict_probabilities(&x).expect("probabilities")
        - weighted.predict_probabilities(&x).expect("probabilities");
    assert!(apart.iter().all(|e| e.abs() < 1e-6), "{apart}");
}

#[test]
fn a_file_keeps_the_posterior() {
    let (x, labels, _) = rows(60);
    let model = learner().fit((&x, &labels)).expect("fits");
    let bytes = model.linear().to_bytes().expect("writes");
    let read = LinearModel::from_bytes(&bytes).expect("reads");
    assert_eq!(read.probabilities, Some(Probabilities::Averaged));
    let mut predictor = read.probabilities_on(&Device::cpu()).expect("loads");
    let again = predictor.predict(&Rows::from(&x)).expect("predicts");
    let expected = model.predict_probabilities(&x).expect("probabilities");
    assert_eq!(again, expected);
    // Chunk by chunk.
    let (mut at, mut source) = (0, MemorySource::new(&x, None).expect("rows"));
    let streamed = predictor.stream(&mut source, |scores, p, _| {
        assert_eq!(p, expected.slice(s![at..at + p.nrows(), ..]));
        assert_eq!(scores.dim(), p.dim());
        at += p.nrows();
        Ok(())
    });
    assert_eq!(streamed.expect("streams"), 60);
    let message = read
        .probabilities_of(Array2::zeros((1, 2)))
        .expect_err("rows");
    assert!(
        message.to_string().contains("probabilities_on"),
        "{message}"
    );
    assert!(read.intervals_on(&Device::cpu()).is_err());
    assert!(read.sample(0, 1, Seed(0)).is_err());
}

#[test]
fn what_has_no_approximation_says_so() {
    let (x, labels, _) = rows(60);
    let refused = |learner: LogisticRegression| {
        let refused = learner.fit((&x, &labels)).expect_err("refused");
        assert!(matches!(refused, Error::Unsupported(_)), "{refused}");
        refused.to_string()
    };
    assert!(refused(learner().l1(0.1)).contains("not of l1"));
    assert!(refused(learner().bound(1.0)).contains("not of l1 or a bound"));
    let grids = Binning::new(Laplacian).grids(10);
    let grids = LogisticRegression::on(grids)
        .device(&Device::cpu())
        .laplace(true);
    assert!(refused(grids).contains("binning"));
    assert!(learner().job.learner.takes_weights());
}

/// Three rings in two columns, with weights.
fn three(n: usize) -> (Array2<f64>, Vec<i32>, Array1<f64>) {
    let (x, _, weights) = rows(n);
    let mut draws = Seed(6).stream(Stream::Data, 1);
    let ring = |x: ArrayView1<'_, f64>| {
        let size = x.dot(&x) + 0.6 * draws.normal();
        i32::from(size > 0.8) + i32::from(size > 2.5)
    };
    let labels = x.rows().into_iter().map(ring).collect();
    (x, labels, weights)
}

/// The result of [`approximate_classes`] for a model without spread, with a full Hessian up to
/// `whole` unknowns.
fn of_classes(
    learner: &LogisticRegression,
    (x, labels, weights): (&Array2<f64>, &[i32], &Array1<f64>),
    whole: usize,
) -> LinearModel {
    let model = learner.clone().laplace(false).fit((x, labels, weights));
    let bytes = model.expect("fits").linear().to_bytes().expect("writes");
    let mut model = LinearModel::from_bytes(&bytes).expect("reads");
    let y = Array2::from_shape_fn((labels.len(), 1), |(i, _)| f64::from(labels[i]));
    let mut source = MemorySource::new(x, Some(y)).expect("rows");
    source = source.with_weights(weights.to_vec()).expect("weights");
    let run = Run::on(&Device::cpu());
    approximate_classes(&mut model, &mut source, &learner.job.learner, &run, whole).expect("a law");
    model.probabilities = Some(Probabilities::Averaged);
    model
}

/// Mean softmax of scores with sampled deviations for each class.
fn mean_softmax(scores: ArrayView1<'_, f64>, moves: &[Array1<f64>; 3]) -> Array1<f64> {
    let mut mean = Array1::<f64>::zeros(3);
    let away = ndarray::stack(Axis(1), &moves.each_ref().map(|m| m.view())).expect("a table");
    for moved in away.rows() {
        let s = &scores + &moved;
        let top = s.fold(f64::NEG_INFINITY, |m: f64, &s| m.max(s));
        let e = s.mapv(|s| (s - top).exp());
        mean.scaled_add(1.0 / (away.nrows() as f64 * e.sum()), &e);
    }
    mean
}

/// Samples all coefficients from their normal distribution, by a Hessian of all classes in f64 on
/// explicit features.
#[test]
fn of_three_classes_probabilities_are_means_over_the_posterior() {
    let (x, labels, weights) = three(120);
    for intercept in [true, false] {
        let learner = learner().intercept(intercept);
        let model = learner.fit((&x, &labels, &weights)).expect("fits");
        let plain = learner.clone().laplace(false).fit((&x, &labels, &weights));
        let plain = plain.expect("fits");
        assert_eq!(model.linear().coefficients, plain.linear().coefficients);

        let z_nd = features(model.linear(), &x);
        let of = &model.linear().coefficients;
        let scores = z_nd.dot(&of.beta_dt) + &of.intercept_t;
        let p_nc = plain.predict_probabilities(&x).expect("probabilities");
        let (d, total) = (z_nd.ncols(), weights.sum());
        let size = d + usize::from(intercept);
        let columns = with_ones(&z_nd, size);
        // All 3 P unknowns; the direction that a softmax ignores has a prior, a weak one for
        // intercepts.
        let mut hessian = Array2::zeros((3 * size, 3 * size));
        for (k, l) in (0..3).flat_map(|k| (0..3).map(move |l| (k, l))) {
            let same = if k == l { 1.0 } else { 0.0 };
            let c_n = &p_nc.column(k) * &(same - &p_nc.column(l)) * &weights;
            let block = columns.t().dot(&(&columns * &c_n.insert_axis(Axis(1))));
            let place = s![k * size..(k + 1) * size, l * size..(l + 1) * size];
            hessian.slice_mut(place).assign(&block);
        }
        for (k, j) in (0..3).flat_map(|k| (0..size).map(move |j| (k, j))) {
            hessian[[k * size + j, k * size + j]] += if j < d { LAMBDA * total } else { 1e-7 };
        }
        let mut factor = Lower::from_matrix(&hessian);
        assert!(factor.factor());
        let drawn = 16_000;
        let mut draws = Seed(8).stream(Stream::Data, 0);
        let mut away = Array2::from_shape_simple_fn((3 * size, drawn), || draws.normal());
        factor.solve_transposed(&mut away);
        let found = model.predict_probabilities(&x).expect("probabilities");
        let mut worst = 0.0_f64;
        for i in (0..120).step_by(12) {
            let part = |k: usize| away.slice(s![k * size..(k + 1) * size, ..]);
            let moves = [0, 1, 2].map(|k| columns.row(i).dot(&part(k)));
            let mean = mean_softmax(scores.row(i), &moves);
            let off = &found.row(i) - &mean;
            worst = off.fold(worst, |m, e| m.max(e.abs()));
            assert!((found.row(i).sum() - 1.0).abs() < 1e-12);
        }
        // Sixteen thousand samples have an error of a quarter of a per cent.
        assert!(worst < 0.008, "{worst}");
        let plainly = (&plain.predict_probabilities(&x).expect("p") - &found).mapv(f64::abs);
        assert!(
            plainly.fold(0.0_f64, |m, e| m.max(*e)) > 0.05,
            "no spread shows"
        );
    }
}

/// Blocks ignore covariances between them, and are close.
#[test]
fn blocks_are_near_the_whole() {
    let (x, labels, weights) = three(120);
    let learner = learner();
    let of = |whole| of_classes(&learner, (&x, &labels, &weights), whole);
    let (whole, blocks) = (of(1000), of(0));
    let fitted = learner.fit((&x, &labels, &weights)).expect("fits");
    assert_eq!(whole.class_spread, fitted.linear().class_spread);
    let apart = |m: &LinearModel| m.class_spread.as_ref().map(|spread| spread.apart);
    assert_eq!((apart(&whole), apart(&blocks)), (Some(false), Some(true)));
    let p = |model: &LinearModel| {
        let mut predictor = model.probabilities_on(&Device::cpu()).expect("loads");
        predictor.predict(&Rows::from(&x)).expect("predicts")
    };
    let off = (p(&whole) - p(&blocks)).mapv(f64::abs);
    let most = off.fold(0.0_f64, |m, e| m.max(*e));
    assert!(most < 0.05, "{most}");
    let evidence = |model: &LinearModel| model.facts["log_marginal_likelihood"];
    let (a, b) = (evidence(&whole), evidence(&blocks));
    assert!((a - b).abs() < 0.05 * a.abs(), "{a} {b}");
}

#[test]
fn a_file_keeps_the_posterior_of_three_classes() {
    let (x, labels, _) = three(60);
    let model = learner().fit((&x, &labels)).expect("fits");
    let bytes = model.linear().to_bytes().expect("writes");
    let read = LinearModel::from_bytes(&bytes).expect("reads");
    assert_eq!(read.probabilities, Some(Probabilities::Averaged));
    assert_eq!(read.class_spread, model.linear().class_spread);
    let mut predictor = read.probabilities_on(&Device::cpu()).expect("loads");
    let again = predictor.predict(&Rows::from(&x)).expect("predicts");
    let expected = model.predict_probabilities(&x).expect("probabilities");
    assert_eq!(again, expected);
}
