//! Learners with default options on a small, noisy table.

use crate::{
    features::KernelColumns,
    learn::{Fit, Lambda},
    model::{HeldOut, LinearModel, Model},
    models::{BoostingRegressor, Falkon, GreedyRegressor, KernelRidge, Lasso, Learner, Numbers},
    prelude::*,
    seed::{Seed, Stream},
};
use ndarray::{Array1, Array2, s};

/// Rows and their targets.
type Table = (Array2<f64>, Array1<f64>);

/// Ten correlated columns, and a target with half of its variance explained by a few columns: 265
/// training rows and 400 test rows.
fn noisy() -> (Table, Table) {
    let mut draws = Seed(17).stream(Stream::Data, 0);
    let x = Array2::from_shape_simple_fn((665, 10), || draws.normal());
    let common = Array1::from_shape_simple_fn(665, || draws.normal());
    let x = x + &common.insert_axis(ndarray::Axis(1));
    let y = Array1::from_shape_fn(665, |i| {
        let of = x[[i, 0]] - x[[i, 3]] + 0.7 * x[[i, 5]] + 0.2 * x[[i, 8]].powi(2);
        150.0 + 40.0 * of + 110.0 * draws.normal()
    });
    let some = |range: std::ops::Range<usize>| {
        let (x, y) = (x.slice(s![range.clone(), ..]), y.slice(s![range]));
        (x.to_owned(), y.to_owned())
    };
    (some(0..265), some(265..665))
}

/// R2 on the test rows.
fn r2(model: &Model<Array1<f64>>) -> f64 {
    let (_, (x, y)) = noisy();
    let predicted = model.predict(&x).expect("predicts");
    let error = (&predicted - &y).mapv(|e| e * e).sum();
    1.0 - error / (y.var(0.0) * y.len() as f64)
}

/// With a bandwidth that overfits the noise without regularization.
fn fit<L: Fit>(learner: Learner<L, Numbers>) -> Model<Array1<f64>> {
    let ((x, y), _) = noisy();
    let learner = learner.device(&Device::cpu()).bandwidth(Bandwidth::Scale);
    learner.fit((&x, &y)).expect("fits")
}

fn beta(model: &LinearModel) -> &Array2<f64> {
    &model.coefficients.beta_dt
}

/// At the default penalty both overfit; at the chosen one they reach the attainable R2 and equal
/// the fit with that fixed penalty.
#[test]
fn kernel_machines_choose_their_penalty() {
    let columns = || KernelColumns::new(Gaussian);
    let exact = fit(KernelRidge::on(columns()));
    let falkon = fit(Falkon::on(columns().landmarks(265)));
    let usual = r2(&fit(KernelRidge::on(columns()).lambda(1e-6)));
    for (model, most) in [(&exact, 0.15), (&falkon, 0.15)] {
        let linear = model.linear();
        let name = &linear.learner;
        assert!(
            r2(model) > usual + 0.3 && r2(model) > 0.12,
            "{name}: {} {usual}",
            r2(model)
        );
        let curve = linear.lambda_curve.as_ref().expect("a curve");
        assert_eq!(curve.by, HeldOut::LeaveOneOut);
        assert_eq!(curve.best().lambda, linear.lambda);
        let of_rows = linear.facts["held_out_r2"];
        assert!((of_rows - r2(model)).abs() < most, "{of_rows}");
    }
    assert_eq!(exact.linear().lambda, falkon.linear().lambda);
    let lambda = exact.linear().lambda;
    let given = fit(KernelRidge::on(columns()).lambda(lambda));
    assert_eq!(beta(given.linear()), beta(exact.linear()));
    let given = fit(Falkon::on(columns().landmarks(265)).lambda(lambda));
    assert_eq!(beta(given.linear()), beta(falkon.linear()));
    // No other penalty is much better on new rows.
    for i in -8..=-2 {
        let other = Lambda::Fixed(10_f64.powf(f64::from(i) / 2.0));
        let other = r2(&fit(KernelRidge::on(columns()).lambda(other)));
        assert!(other < r2(&exact) + 0.03, "{i}: {other}");
    }
}

/// A sample of rows chooses about the same penalty as all rows: `lambda n` is equal.
#[test]
fn some_rows_choose_a_penalty_of_all() {
    let columns = || KernelColumns::new(Gaussian);
    let all = fit(KernelRidge::on(columns()).lambda(Lambda::auto(HeldOut::LeaveOneOut)));
    let some = Lambda::auto(HeldOut::LeaveSomeOut(130));
    let some = fit(KernelRidge::on(columns()).lambda(some));
    let curve = some.linear().lambda_curve.as_ref().expect("a curve");
    assert_eq!(curve.by, HeldOut::LeaveSomeOut(130));
    let apart = (some.linear().lambda / all.linear().lambda).log10();
    assert!(apart.abs() < 0.6, "{apart}");
    let folds = KernelRidge::on(columns()).lambda(Lambda::auto(HeldOut::Folds(3)));
    let ((x, y), _) = noisy();
    let message = folds.fit((&x, &y)).expect_err("refused").to_string();
    assert!(message.contains("not folds"), "{message}");
}

/// If the iteration ends too early, the model is kept, and its facts report the residual.
#[test]
fn falkon_keeps_what_it_has() {
    let falkon = Falkon::on(KernelColumns::new(Gaussian).landmarks(60));
    let model = fit(falkon.lambda(1e-7).max_iterations(2));
    let facts = &model.linear().facts;
    assert_eq!(facts["iterations"], 2.0);
    assert!(facts["relative_residual"] > facts["tolerance"], "{facts:?}");
    assert!(r2(&model).is_finite());
}

/// The lasso is as good as ridge regression, with few features and few sweeps.
#[test]
fn the_lasso_chooses_its_penalty() {
    let map = || Fourier::new(Gaussian).features(1000);
    let lasso = fit(Lasso::on(map()));
    let facts = &lasso.linear().facts;
    assert!(r2(&lasso) > 0.12, "{} {facts:?}", r2(&lasso));
    assert!(facts["nonzero_coefficients"] < 133.0 && facts["sweeps"] < 5000.0);
    let of_rows = facts["estimated_r2"];
    assert!((of_rows - r2(&lasso)).abs() < 0.15, "{of_rows}");
    // Equals the fit with the chosen penalty, and no other penalty is much better on new rows.
    let given = fit(Lasso::on(map()).l1(facts["l1"]));
    assert!((r2(&given) - r2(&lasso)).abs() < 1e-3);
    for times in [0.1, 0.3, 3.0] {
        let other = r2(&fit(Lasso::on(map())
            .l1(times * facts["l1"])
            .max_sweeps(3000)));
        assert!(other < r2(&lasso) + 0.04, "{times}: {other}");
    }
    // A duplicated table equals the table itself, and one whose weights are all 2.
    let ((x, y), _) = noisy();
    let twice = |a: &Array2<f64>| ndarray::concatenate![ndarray::Axis(0), *a, *a];
    let both = (twice(&x), ndarray::concatenate![ndarray::Axis(0), y, y]);
    let cpu = Device::cpu();
    let lasso = || Lasso::on(map()).bandwidth(Bandwidth::Scale);
    let repeated = lasso().device(&cpu).fit((&both.0, &both.1)).expect("fits");
    let source = crate::data::MemorySource::new(&x, Some(y.insert_axis(ndarray::Axis(1))));
    let source = source
        .expect("rows")
        .with_weights(Array1::from_elem(265, 2.0));
    let weighed = lasso().device(&cpu).fit(&mut source.expect("weights"));
    let weighed = weighed.expect("fits");
    let l1 = |model: &LinearModel| model.facts["l1"];
    assert!((l1(weighed.linear()) / facts["l1"] - 1.0).abs() < 1e-6);
    assert!((l1(repeated.linear()) / facts["l1"] - 1.0).abs() < 1e-6);
}

/// Stagewise learners stop by the hold-out error and then refit all rows; with all stages they
/// overfit.
#[test]
fn what_grows_stops_in_time() {
    let map = || Fourier::new(Gaussian).features(400);
    let greedy = || GreedyRegressor::on(map());
    let boosting = || BoostingRegressor::on(map());
    let all = [fit(greedy().held_out(0.0)), fit(boosting().held_out(0.0))];
    let usual = [fit(greedy()), fit(boosting())];
    for (all, usual) in all.iter().zip(&usual) {
        let linear = usual.linear();
        let name = &linear.learner;
        assert!(r2(all) < 0.0, "{name}: {}", r2(all));
        assert!(r2(usual) > 0.05, "{name}: {}", r2(usual));
        assert_eq!(linear.rows, 265, "{name}");
        assert!(linear.facts["held_out_error"] < 1.0, "{name}");
    }
    // The held-out rows are refitted too: the means are over all rows.
    let (rows, targets) = noisy().0;
    for model in &usual {
        let left = model.predict(&rows).expect("predicts") - &targets;
        let mean = left.mean().expect("rows");
        assert!(mean.abs() < 1e-3, "{}: {mean}", model.linear().learner);
    }
}
