//! The documented objective of each learner, recomputed from the predictions of its model: this
//! detects a loss, penalty or weight that is a few per cent off between the builder and the solver.

use crate::{
    Device,
    features::{Bandwidth, Fourier},
    kernels::Gaussian,
    learn::{ClassWeights, Fit, MarginLoss, ResidualLoss, Stopping},
    model::Model,
    models::{
        Labels, Lasso, Learner, LogisticRegression, OneClass, OwnLoss, SupportVectorClassifier,
        SupportVectorRegressor,
    },
    seed::{Seed, Stream},
};
use ndarray::{Array1, Array2, Axis};

const TIGHT: Stopping = Stopping {
    tolerance: 1e-6,
    max_passes: 5000,
};

fn map() -> Fourier {
    Fourier::new(Gaussian).features(24)
}

/// Overlapping groups of 40 rows, and the group of each row.
fn groups(count: usize) -> (Array2<f64>, Vec<usize>) {
    let mut draws = Seed(31).stream(Stream::Sample, 0);
    let group = |i: usize| i / 40;
    let x = Array2::from_shape_fn((40 * count, 2), |(i, j)| {
        let angle = 2.2 * group(i) as f64 + if j == 0 { 0.0 } else { 1.5 };
        1.5 * angle.cos() + draws.normal()
    });
    (x, (0..40 * count).map(group).collect())
}

/// A wave with heavy-tailed noise, far from 0.
fn wave() -> (Array2<f64>, Array1<f64>) {
    let mut draws = Seed(32).stream(Stream::Sample, 0);
    let x = Array2::from_shape_fn((150, 1), |(i, _)| i as f64 / 25.0);
    let y = x.column(0).mapv(|x| 20.0 + 3.0 * x.sin());
    let y = y.mapv(|y| y + 0.5 * draws.normal().powi(3));
    (x, y)
}

#[track_caller]
fn agrees(what: &str, reached: f64, own: f64) {
    assert!(
        (reached / own - 1.0).abs() < 1e-4,
        "{what}: the solver reached {reached}, and the model has {own}"
    );
}

fn squares(beta: &Array2<f64>) -> f64 {
    beta.iter().map(|b| b * b).sum()
}

fn absolutes(beta: &Array2<f64>) -> f64 {
    beta.iter().map(|b| b.abs()).sum()
}

/// The scores of a classifier, one column for each problem of its solver, and their coefficients:
/// for two classes the second column, or the difference of both.
fn solved(
    model: &Model<Vec<usize>>,
    x: &Array2<f64>,
    difference: bool,
) -> (Array2<f64>, Array2<f64>) {
    let scores = model.loaded().expect("loads").scores(x).expect("scores");
    let beta = model.linear().coefficients.beta_dt.clone();
    let one = |both: Array2<f64>| {
        let (first, second) = (both.column(0), both.column(1));
        let column = if difference {
            &second - &first
        } else {
            second.to_owned()
        };
        column.insert_axis(Axis(1))
    };
    match scores.ncols() {
        2 => (one(scores), one(beta)),
        _ => (scores, beta),
    }
}

/// Weighted mean over rows of `loss` at +-1 and a score, summed over problems.
fn margins(
    scores: &Array2<f64>,
    group_n: &[usize],
    weight_n: &[f64],
    loss: impl Fn(f64) -> f64,
) -> f64 {
    let positive = |k: usize, group: usize| group == if scores.ncols() == 1 { 1 } else { k };
    let mut sum = 0.0;
    for (i, row) in scores.rows().into_iter().enumerate() {
        for (k, s) in row.iter().enumerate() {
            let y = if positive(k, group_n[i]) { 1.0 } else { -1.0 };
            sum += weight_n[i] * loss(y * s);
        }
    }
    sum / weight_n.iter().sum::<f64>()
}

fn classifier<L: Fit>(learner: Learner<L, Labels>) -> Learner<L, Labels> {
    learner
        .bandwidth(Bandwidth::Sigma(1.2))
        .device(&Device::cpu())
}

#[test]
fn classifiers_minimise_what_they_say() {
    for count in [2, 3] {
        let (x, group_n) = groups(count);
        let row_n: Array1<f64> = (0..40 * count).map(|i| 1.0 + (i % 4) as f64).collect();
        let class_k: Vec<f64> = vec![1.0, 2.5, 0.5][..count].to_vec();
        // Class weights multiply weights of rows.
        let weight_n: Vec<f64> = (0..40 * count)
            .map(|i| row_n[i] * class_k[group_n[i]])
            .collect();
        let weights = ClassWeights::Of(class_k.clone());
        for (lambda, l1) in [(0.05, 0.0), (0.02, 0.01)] {
            let learner = classifier(LogisticRegression::on(map()))
                .lambda(lambda)
                .l1(l1);
            let learner = learner.class_weights(weights.clone()).stopping(TIGHT);
            let model = learner.fit((&x, &group_n, &row_n)).expect("fits");
            let (scores, beta) = solved(&model, &x, true);
            let loss = match count {
                2 => margins(&scores, &group_n, &weight_n, |m| (-m).exp().ln_1p()),
                _ => {
                    let each = scores.rows().into_iter().zip(&group_n).zip(&weight_n);
                    let sum: f64 = each
                        .map(|((s, &g), w)| w * (s.mapv(f64::exp).sum().ln() - s[g]))
                        .sum();
                    sum / weight_n.iter().sum::<f64>()
                }
            };
            let own = loss + 0.5 * lambda * squares(&beta) + l1 * absolutes(&beta);
            agrees("logistic", model.linear().facts["objective"], own);
        }
        for (loss, of) in [
            (
                MarginLoss::Hinge,
                (|m| (1.0 - m).max(0.0)) as fn(f64) -> f64,
            ),
            (MarginLoss::SquaredHinge, |m| (1.0 - m).max(0.0).powi(2)),
        ] {
            let learner = classifier(SupportVectorClassifier::on(map())).loss(loss);
            let learner = learner.lambda(0.05).class_weights(weights.clone());
            let model = learner.stopping(TIGHT).fit((&x, &group_n, &row_n));
            let model = model.expect("fits");
            let (scores, beta) = solved(&model, &x, false);
            let own = margins(&scores, &group_n, &weight_n, of) + 0.025 * squares(&beta);
            agrees("svm", model.linear().facts["objective"], own);
        }
    }
}

/// `n / (K n_c)` with weighted rows: all classes have the same total weight.
#[test]
fn balanced_classes_are_those_of_the_weighted_rows() {
    let (x, group_n) = groups(3);
    let row_n: Array1<f64> = (0..120).map(|i| f64::from(1 + i % 4 * (i / 40))).collect();
    let learner = classifier(LogisticRegression::on(map())).lambda(0.05);
    let learner = learner
        .stopping(TIGHT)
        .class_weights(ClassWeights::Balanced);
    let model = learner.fit((&x, &group_n, &row_n)).expect("fits");
    let of_class = |k: usize| -> f64 { (40 * k..40 * k + 40).map(|i| row_n[i]).sum() };
    let weight_n = (0..120).map(|i| row_n[i] / of_class(group_n[i]));
    let weight_n: Vec<f64> = weight_n.collect();
    let (scores, beta) = solved(&model, &x, true);
    let each = scores.rows().into_iter().zip(&group_n).zip(&weight_n);
    let loss: f64 = each
        .map(|((s, &g), w)| w * (s.mapv(f64::exp).sum().ln() - s[g]) / 3.0)
        .sum();
    let own = loss + 0.025 * squares(&beta);
    agrees("balanced", model.linear().facts["objective"], own);
}

/// `|beta_j| <= bound / sqrt(D)` with 24 features: some coefficients are at the bound.
fn lie_at_bound(beta: &Array2<f64>, bound: f64) {
    let largest = beta.fold(0.0, |m: f64, b| m.max(b.abs()));
    assert!(
        (largest * 24_f64.sqrt() / bound - 1.0).abs() < 1e-6,
        "{largest}"
    );
}

/// The loss of logistic regression.
fn softplus() -> OwnLoss {
    OwnLoss::new("softplus", 1.0, |m| {
        (-m).max(0.0) + (-m.abs()).exp().ln_1p()
    })
}

/// For every classification loss: some coefficients are at the bound, the others where the slope of
/// the mean loss is zero.
#[test]
fn a_bound_is_that_of_the_scores_coefficients() {
    let (x, group_n) = groups(2);
    let learner = classifier(LogisticRegression::on(map()))
        .lambda(0.0)
        .bound(2.0);
    let model = learner.fit((&x, &group_n)).expect("fits");
    let (_, beta) = solved(&model, &x, true);
    lie_at_bound(&beta, 2.0);
    let weight_n = vec![1.0; 80];
    for (loss, of) in [
        (
            MarginLoss::Hinge,
            (|m: f64| (1.0 - m).max(0.0)) as fn(f64) -> f64,
        ),
        (MarginLoss::SquaredHinge, |m| (1.0 - m).max(0.0).powi(2)),
        (MarginLoss::Own(softplus()), |m| (-m).exp().ln_1p()),
    ] {
        let learner = classifier(SupportVectorClassifier::on(map())).loss(loss);
        let learner = learner.lambda(0.0).bound(1.5).stopping(TIGHT);
        let model = learner.fit((&x, &group_n)).expect("fits");
        let (scores, beta) = solved(&model, &x, false);
        lie_at_bound(&beta, 1.5);
        let own = margins(&scores, &group_n, &weight_n, of);
        agrees(&format!("{loss:?}"), model.linear().facts["objective"], own);
    }
}

/// The same for every regression loss.
#[test]
fn a_bound_is_that_of_the_coefficients_of_amounts() {
    let (x, y) = wave();
    for loss in [
        ResidualLoss::EpsilonInsensitive(0.7),
        ResidualLoss::Huber(0.4),
        ResidualLoss::Quantile(0.8),
        ResidualLoss::Own(OwnLoss::new("root", 1.0, |r| (1.0 + r * r).sqrt())),
    ] {
        let learner = SupportVectorRegressor::on(map())
            .device(&Device::cpu())
            .loss(loss);
        let model = learner
            .lambda(0.01)
            .bound(4.0)
            .stopping(TIGHT)
            .fit((&x, &y));
        let model = model.expect("fits");
        let beta = &model.linear().coefficients.beta_dt;
        lie_at_bound(beta, 4.0);
        let residuals = &model.predict(&x).expect("predicts") - &y;
        let own = residuals
            .mapv(|r| residual_loss(loss, r))
            .mean()
            .expect("rows");
        let own = own + 0.005 * squares(beta);
        agrees(&format!("{loss:?}"), model.linear().facts["objective"], own);
    }
}

/// Logistic regression, and a support vector machine with the logistic loss as custom loss, agree.
#[test]
fn bounds_of_logistic_regression_and_of_its_loss_are_one() {
    let (x, group_n) = groups(2);
    let logistic = classifier(LogisticRegression::on(map()))
        .lambda(0.0)
        .bound(1.5);
    let logistic = logistic.stopping(TIGHT).fit((&x, &group_n)).expect("fits");
    let machine = classifier(SupportVectorClassifier::on(map())).loss(MarginLoss::Own(softplus()));
    let machine = machine
        .lambda(0.0)
        .bound(1.5)
        .stopping(TIGHT)
        .fit((&x, &group_n));
    let objectives = [&logistic, &machine.expect("fits")].map(|m| m.linear().facts["objective"]);
    agrees("both", objectives[0], objectives[1]);
}

fn residual_loss(loss: ResidualLoss, r: f64) -> f64 {
    match loss {
        ResidualLoss::EpsilonInsensitive(e) => (r.abs() - e).max(0.0),
        ResidualLoss::SquaredEpsilonInsensitive(e) => (r.abs() - e).max(0.0).powi(2),
        ResidualLoss::Huber(width) if r.abs() <= width => 0.5 * r * r,
        ResidualLoss::Huber(width) => width * (r.abs() - 0.5 * width),
        ResidualLoss::Quantile(level) if r < 0.0 => -level * r,
        ResidualLoss::Quantile(level) => (1.0 - level) * r,
        // The custom loss of these tests.
        ResidualLoss::Own(_) => r.hypot(1.0),
    }
}

#[test]
fn regressions_minimise_what_they_say() {
    let (x, y) = wave();
    let deviation = y.std(0.0);
    let epsilon = 0.1 * deviation;
    let of = |loss: Option<ResidualLoss>, r: f64| {
        residual_loss(loss.unwrap_or(ResidualLoss::EpsilonInsensitive(epsilon)), r)
    };
    for loss in [
        None,
        Some(ResidualLoss::EpsilonInsensitive(0.7)),
        Some(ResidualLoss::SquaredEpsilonInsensitive(0.7)),
        Some(ResidualLoss::Huber(0.4)),
        Some(ResidualLoss::Quantile(0.8)),
    ] {
        let learner = SupportVectorRegressor::on(map()).device(&Device::cpu());
        let mut learner = learner.lambda(0.02).stopping(TIGHT);
        learner.job.learner.loss = loss;
        let model = learner.fit((&x, &y)).expect("fits");
        let residuals = &model.predict(&x).expect("predicts") - &y;
        let beta = &model.linear().coefficients.beta_dt;
        let own = residuals.mapv(|r| of(loss, r)).mean().expect("rows") + 0.01 * squares(beta);
        agrees(&format!("{loss:?}"), model.linear().facts["objective"], own);
    }
    let (l1, lambda) = (0.03, 0.02);
    let mut learner = Lasso::on(map())
        .device(&Device::cpu())
        .l1(l1)
        .lambda(lambda);
    for intercept in [true, false] {
        learner.job.learner.intercept = intercept;
        let model = learner.fit((&x, &y)).expect("fits");
        let residuals = &model.predict(&x).expect("predicts") - &y;
        let beta = &model.linear().coefficients.beta_dt;
        let own = 0.5 * residuals.mapv(|r| r * r).mean().expect("rows")
            + l1 * absolutes(beta)
            + 0.5 * lambda * squares(beta);
        agrees("lasso", model.linear().facts["objective"], own);
    }
}

#[test]
fn novelty_detection_minimises_what_it_says() {
    let (x, _) = groups(2);
    let nu = 0.2;
    let learner = OneClass::on(map()).nu(nu).device(&Device::cpu());
    let model = learner.stopping(TIGHT).fit(&x).expect("fits");
    let scores = model.loaded().expect("loads").scores(&x).expect("scores");
    let coefficients = &model.linear().coefficients;
    let beta = coefficients.beta_dt.column(1);
    let outside = scores.column(1).mapv(|s| (-s).max(0.0)).sum() / (nu * x.nrows() as f64);
    let own = 0.5 * beta.dot(&beta) + coefficients.intercept_t[1] + outside;
    agrees("one class", model.linear().facts["objective"], own);
}

/// With a small penalty, stopping early shows in the objective, not in labels: by default the
/// squared hinge comes within half a per cent of the minimum.
#[test]
fn the_squared_hinge_ends_near_its_least_by_itself() {
    let (x, group) = groups(3);
    let learner = SupportVectorClassifier::on(Fourier::new(Gaussian).features(64));
    let learner = learner.lambda(1e-7).bandwidth(Bandwidth::Sigma(0.5));
    let learner = learner.device(&Device::cpu());
    let reached = |learner: &SupportVectorClassifier| {
        let model = learner.fit((&x, &group)).expect("fits");
        model.linear().facts["objective"]
    };
    let loose = Stopping {
        tolerance: 1e-3,
        ..TIGHT
    };
    let least = reached(&learner.clone().stopping(TIGHT));
    let default = reached(&learner);
    assert!(default < 1.005 * least, "{default} of {least}");
    // A tolerance of 1e-3 would miss it.
    let missed = reached(&learner.stopping(loose));
    assert!(missed > 1.01 * least, "{missed} of {least}");
}
