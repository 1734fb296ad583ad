use super::*;
use crate::{
    model::{HeldOut, LambdaCurve, LambdaPoint, LinearModel},
    prelude::*,
};
use ndarray::{Array1, Array2, Axis};

/// Both hold-out methods find the valley of a curve. The curve is kept in the model and in its
/// file, and its best point equals a fit with that penalty.
#[test]
fn the_best_penalty_is_chosen_and_its_curve_kept() {
    let x = Array2::from_shape_fn((120, 1), |(i, _)| i as f64 / 12.0);
    let noise = |i: usize| ((i * 7919) % 101) as f64 / 101.0 - 0.5;
    let y: Vec<f64> = (0..120).map(|i| x[[i, 0]].sin() + noise(i)).collect();
    let ridge = || {
        let map = Fourier::new(Gaussian).features(60);
        Ridge::on(map)
            .bandwidth(Bandwidth::Sigma(0.2))
            .device(&Device::cpu())
    };
    for by in [HeldOut::LeaveOneOut, HeldOut::Folds(5)] {
        let model = ridge()
            .lambda(Lambda::auto(by))
            .fit((&x, &y))
            .expect("fits");
        let linear = model.linear();
        let curve = linear.lambda_curve.as_ref().expect("a curve");
        assert_eq!((curve.by, curve.points.len()), (by, 17));
        let (first, last) = (curve.points[0], curve.points[16]);
        let best = curve.best();
        assert_eq!(best.lambda, linear.lambda);
        assert!(
            best.error < 0.95 * first.error && best.error < 0.8 * last.error,
            "{curve:?}"
        );
        assert!(first.effective_dimension > last.effective_dimension);
        let one = ridge().lambda(best.lambda).fit((&x, &y)).expect("fits");
        let beta = |model: &LinearModel| model.coefficients.beta_dt.clone();
        let apart = beta(linear) - beta(one.linear());
        assert!(apart.iter().all(|b| b.abs() < 1e-4));
        let fact = |model: &LinearModel| model.facts["effective_dimension"];
        assert!((fact(linear) - fact(one.linear())).abs() < 1e-3);

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("m");
        model.save(&path).expect("saves");
        let loaded = LinearModel::load(&path).expect("loads");
        assert_eq!(loaded.lambda_curve, linear.lambda_curve);
    }
    for (bad, says) in [(&[][..], "no lambda"), (&[1e-3, 0.0], "lambda is 0")] {
        let message = ridge()
            .lambdas(bad)
            .fit((&x, &y))
            .expect_err("refused")
            .to_string();
        assert!(message.contains(says), "{message}");
    }
}
/// Leave-one-out errors of a sample of rows agree with the errors of all rows within sampling
/// noise; a sample of all rows gives the same errors.
#[test]
fn some_rows_tell_what_all_do() {
    let x = Array2::from_shape_fn((6000, 1), |(i, _)| (i * 37 % 6000) as f64 / 600.0);
    let noise = |i: usize| ((i * 7919) % 101) as f64 / 101.0 - 0.5;
    let y: Vec<f64> = (0..6000)
        .map(|i| x[[i, 0]].sin() + 2.0 * noise(i))
        .collect();
    let fit = |by| {
        let map = Fourier::new(Gaussian).features(60);
        let ridge = Ridge::on(map).lambda(Lambda::auto(by));
        let ridge = ridge.bandwidth(Bandwidth::Sigma(0.2));
        ridge.device(&Device::cpu()).fit((&x, &y)).expect("fits")
    };
    let curve = |by| fit(by).linear().lambda_curve.clone().expect("a curve");
    let all = curve(HeldOut::LeaveOneOut);
    let every = curve(HeldOut::LeaveSomeOut(6000));
    assert_eq!(every.by, HeldOut::LeaveOneOut);
    for (every, all) in every.points.iter().zip(&all.points) {
        let apart = every.error / all.error - 1.0;
        assert!(
            apart.abs() < 1e-9,
            "the same rows in another order: {apart:e}"
        );
    }
    let model = fit(HeldOut::LeaveSomeOut(2000));
    let some = model.linear().lambda_curve.clone().expect("a curve");
    assert_eq!(some.by, HeldOut::LeaveSomeOut(2000));
    for (some, all) in some.points.iter().zip(&all.points) {
        assert_eq!(some.effective_dimension, all.effective_dimension);
        let ratio = some.error / all.error;
        assert!(ratio != 1.0 && (ratio - 1.0).abs() < 0.05, "{ratio}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m");
    model.save(&path).expect("saves");
    let loaded = LinearModel::load(&path).expect("loads");
    assert_eq!(loaded.lambda_curve, Some(some));
}

/// If rounding is larger than every penalty, there is nothing to choose.
#[test]
fn a_penalty_below_rounding_is_refused() {
    let x = Array2::from_shape_fn((300, 1), |(i, _)| 1e8 + (i * 7 % 300) as f64 / 60.0);
    let y: Vec<f64> = (0..300)
        .map(|i| (1.2 * f64::from(i * 7 % 300) / 60.0).sin())
        .collect();
    let map = ArcCosine::new().features(50);
    let ridge = Ridge::on(map).lambda(Lambda::auto(HeldOut::LeaveOneOut));
    let ridge = ridge.standardize(Standardize::No).device(&Device::cpu());
    let message = ridge.fit((&x, &y)).expect_err("refused").to_string();
    assert!(message.contains("rounding alone"), "{message}");
    assert!(message.contains("standardize"), "{message}");
}

/// A penalty below rounding is replaced by the best above it unless it is better than the mean and
/// clearly better than that one.
#[test]
fn a_penalty_below_rounding_gives_way() {
    let curve =
        |errors: [f64; 3]| LambdaCurve {
            by: HeldOut::LeaveOneOut,
            points: Vec::from_iter(errors.iter().zip([1e-9, 1e-5, 1e-1]).map(
                |(&error, lambda)| LambdaPoint {
                    lambda,
                    error,
                    effective_dimension: 1.0,
                },
            )),
        };
    let taken = |errors, rounding| {
        let curve = curve(errors);
        trusted(&curve, rounding).map(|point| point.lambda)
    };
    assert_eq!(taken([1.01, 1.3, 1.2], 1e-8).ok(), Some(1e-1));
    assert_eq!(taken([1.01, 1.1, 1.2], 1e-8).ok(), Some(1e-5));
    assert_eq!(taken([1.01, 1.2, 1.2], 1e-8).ok(), Some(1e-1));
    assert_eq!(taken([1.01, 1.3, 1.2], 1e-10).ok(), Some(1e-9));
    assert_eq!(taken([0.99, 1.3, 1.2], 1e-8).ok(), Some(1e-1));
    assert_eq!(taken([0.95, 1.3, 1.2], 1e-8).ok(), Some(1e-9));
    assert_eq!(taken([0.10, 0.12, 0.2], 1e-8).ok(), Some(1e-5));
    assert_eq!(taken([0.10, 0.13, 0.2], 1e-8).ok(), Some(1e-9));
    assert_eq!(taken([0.13, 0.12, 0.2], 1e-8).ok(), Some(1e-5));
    assert_eq!(taken([f64::NAN, 1.3, 1.01], 1.0).ok(), None);
}

/// Leave-one-out errors and the choice equal refitting without each row.
#[test]
fn leave_one_out_chooses_as_refitting_does() {
    const N: usize = 50;
    let x = Array2::from_shape_fn((N, 1), |(i, _)| i as f64 / 5.0);
    let noise = |i: usize| ((i * 7919) % 101) as f64 / 101.0 - 0.5;
    let y = Array1::from_shape_fn(N, |i| x[[i, 0]].sin() + noise(i));
    let ridge = || {
        let map = Fourier::new(Gaussian).features(30);
        Ridge::on(map)
            .bandwidth(Bandwidth::Sigma(0.3))
            .standardize(Standardize::No)
            .device(&Device::cpu())
    };
    let lambdas = [1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 1.0];
    let model = ridge().lambdas(&lambdas).fit((&x, &y)).expect("fits");
    let refitted = lambdas.map(|lambda| {
        let errors = (0..N).map(|left| {
            let rest: Vec<usize> = (0..N).filter(|&i| i != left).collect();
            let rows = (x.select(Axis(0), &rest), y.select(Axis(0), &rest));
            // The same penalty as with all rows.
            let lambda = lambda * N as f64 / rest.len() as f64;
            let fit = ridge()
                .lambda(lambda)
                .fit((&rows.0, &rows.1))
                .expect("fits");
            let own = x.select(Axis(0), &[left]);
            (fit.predict(&own).expect("predicts")[0] - y[left]).powi(2)
        });
        errors.sum::<f64>() / N as f64
    });
    let ranked = lambdas.iter().zip(refitted);
    let best = ranked
        .min_by(|(_, a), (_, b)| a.total_cmp(b))
        .expect("some")
        .0;
    let linear = model.linear();
    assert_eq!(linear.lambda, *best, "{refitted:?}");
    assert!(lambdas[0] < *best && *best < lambdas[7], "{refitted:?}");
    let curve = linear.lambda_curve.as_ref().expect("a curve");
    let of_variance = y.var(0.0);
    for (point, refitted) in curve.points.iter().zip(refitted) {
        let ratio = point.error * of_variance / refitted;
        assert!((ratio - 1.0).abs() < 1e-2, "{point:?}: {ratio}");
    }
}

/// Cross-validation errors of a wide kernel equal those on new rows: no penalty is chosen by errors
/// that are rounding.
#[test]
fn folds_say_what_new_rows_say() {
    let mut draws = crate::seed::Seed(1).stream(crate::seed::Stream::Data, 0);
    let mut rows = |n: usize| {
        let x = Array2::from_shape_simple_fn((n, 1), || 2.0 * draws.uniform() - 1.0);
        let noise = Array1::from_shape_simple_fn(n, || draws.normal());
        let y = &x.column(0) + &noise;
        (x, y)
    };
    let ((x, y), (x1, y1)) = (rows(600), rows(2000));
    let map = Fourier::new(Gaussian).features(200);
    let ridge = Ridge::on(map).lambda(Lambda::auto(HeldOut::Folds(5)));
    let ridge = ridge
        .standardize(Standardize::No)
        .bandwidth(Bandwidth::Sigma(20.0));
    let model = ridge.device(&Device::cpu()).fit((&x, &y)).expect("fits");
    let said = model.linear().facts["held_out_r2"];
    let error = (&model.predict(&x1).expect("predicts") - &y1).mapv(|e| e * e);
    let r2 = 1.0 - error.sum() / (y1.var(0.0) * 2000.0);
    assert!(
        (0.15..0.35).contains(&said) && r2 > 0.2,
        "said {said}, is {r2}"
    );
}
