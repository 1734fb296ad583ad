//! Kernel ridge regression and Falkon compared with explicit linear systems.

use crate::common::devices;
use bochner::{
    error::Remedy,
    features::{KernelColumns, KernelColumnsMap, Landmarks, Structure},
    kernels::{cross, gram},
    models::{Falkon, FalkonClassifier, KernelRidge, KernelRidgeClassifier},
    prelude::*,
};
use ndarray::{Array1, Array2, Axis, s};

/// Two columns of unit spread and a smooth target.
fn data(rows: usize, from: usize) -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((rows, 2), |(i, j)| {
        (((i + from) * (37 * j + 11)) % 2003) as f64 / 660.0
    });
    let y = x.rows().into_iter().enumerate();
    let y = y.map(|(i, x)| 10.0 + (2.0 * x[0]).sin() + x[1] + 0.2 * ((i * 7) % 5) as f64);
    let y = y.collect();
    (x, y)
}

/// Rows after the scaling of a map without standardisation.
fn seen(x: &Array2<f64>, columns: &KernelColumnsMap) -> Array2<f64> {
    use bochner::{data::Rows, features::FeatureMap};
    columns.input().apply(&Rows::from(x)).expect("rows")
}

/// Gaussian elimination with pivots.
fn solve(mut a: Array2<f64>, mut b: Array1<f64>) -> Array1<f64> {
    let n = a.nrows();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[[i, k]].abs().total_cmp(&a[[j, k]].abs()));
        let pivot = pivot.expect("rows");
        for j in 0..n {
            a.swap([k, j], [pivot, j]);
        }
        b.swap(k, pivot);
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[[i, k]] / a[[k, k]];
            let row = a.row(k).to_owned();
            a.row_mut(i).scaled_add(-factor, &row);
            b[i] -= factor * b[k];
        }
    }
    (0..n).map(|i| b[i] / a[[i, i]]).collect()
}

/// `alpha` and `b` that minimise `sum_i w_i (K alpha + b - y)_i^2 + n lambda alpha'H alpha`, n the
/// sum of the weights, from the equations of a zero gradient.
fn direct(
    k: &Array2<f64>,
    h: &Array2<f64>,
    (y, w): (&Array1<f64>, &Array1<f64>),
    lambda: f64,
    intercept: bool,
) -> (Array1<f64>, f64) {
    let m = k.ncols();
    let weighted = k * &w.view().insert_axis(Axis(1));
    let mut a = Array2::zeros((m + 1, m + 1));
    a.slice_mut(s![..m, ..m])
        .assign(&(k.t().dot(&weighted) + h * (lambda * w.sum())));
    let mut right = Array1::zeros(m + 1);
    right.slice_mut(s![..m]).assign(&weighted.t().dot(y));
    a[[m, m]] = 1.0;
    if intercept {
        let sums = weighted.sum_axis(Axis(0));
        a.slice_mut(s![m, ..m]).assign(&sums);
        a.slice_mut(s![..m, m]).assign(&sums);
        a[[m, m]] = w.sum();
        right[m] = w.dot(y);
    }
    let solved = solve(a, right);
    (solved.slice(s![..m]).to_owned(), solved[m])
}

fn columns(model: &Model<Array1<f64>>) -> KernelColumnsMap {
    match model.linear().map.structure() {
        Structure::Kernel(columns) => columns.clone(),
        other => panic!("{other:?}"),
    }
}

fn worst(a: &Array1<f64>, b: &Array1<f64>) -> f64 {
    (a - b).fold(0.0, |m, e| m.max(e.abs()))
}

/// Kernel values near k(0), and near 0: both reference levels of a block.
const SIGMAS: [f64; 2] = [0.4, 2.0];

#[test]
fn kernel_ridge_is_the_solution_of_its_equations_on_devices() {
    let ((x, y), (new, _)) = (data(120, 0), data(40, 500));
    for sigma in SIGMAS {
        for (lambda, intercept) in [(1e-2, true), (1e-5, true), (1e-3, false)] {
            let mut first = None;
            for device in devices() {
                let ridge = KernelRidge::on(KernelColumns::new(Gaussian))
                    .bandwidth(Bandwidth::Sigma(sigma))
                    .standardize(Standardize::No)
                    .device(device)
                    .lambda(lambda)
                    .intercept(intercept);
                let model = ridge.fit((&x, &y)).expect("fits");
                let columns = columns(&model);
                let (u, v) = (seen(&x, &columns), seen(&new, &columns));
                let (k, of_new) = (
                    gram(&Gaussian, u.view()),
                    cross(&Gaussian, v.view(), u.view()),
                );
                // (K + lambda n I) alpha = y - b, bordered by 1'alpha = 0.
                let mut a = Array2::zeros((121, 121));
                let penalty = Array2::<f64>::eye(120) * (lambda * 120.0);
                a.slice_mut(s![..120, ..120]).assign(&(&k + &penalty));
                a.slice_mut(s![120, ..120])
                    .fill(f64::from(u8::from(intercept)));
                a.slice_mut(s![..120, 120])
                    .fill(f64::from(u8::from(intercept)));
                a[[120, 120]] = f64::from(u8::from(!intercept));
                let mut right = Array1::zeros(121);
                right.slice_mut(s![..120]).assign(&y);
                let solved = solve(a, right);
                let expected = of_new.dot(&solved.slice(s![..120])) + solved[120];
                let predicted = model.predict(&new).expect("predicts");
                let error = worst(&predicted, &expected);
                // Coefficients grow as 1 / lambda, and f32 rounds their products.
                assert!(error < 2e-3, "{sigma} {lambda} {device:?}: {error:e}");
                first.get_or_insert(predicted);
            }
            assert!(first.is_some());
        }
    }
}

#[test]
fn falkon_is_the_direct_solution_on_devices() {
    let ((x, y), (new, _)) = (data(400, 0), data(50, 700));
    let ones = Array1::ones(400);
    let weights = Array1::from_shape_fn(400, |i| ((i % 4) as f64).max(0.5));
    for sigma in SIGMAS {
        for (lambda, intercept, w) in [
            (1e-3, true, &ones),
            (1e-6, true, &ones),
            (1e-4, false, &ones),
            (1e-4, true, &weights),
        ] {
            for device in devices() {
                let falkon = Falkon::on(KernelColumns::new(Gaussian).landmarks(30))
                    .bandwidth(Bandwidth::Sigma(sigma))
                    .standardize(Standardize::No)
                    .device(device)
                    .lambda(lambda)
                    .tolerance(1e-7)
                    .intercept(intercept);
                let model = falkon.fit((&x, &y, w)).expect("fits");
                let columns = columns(&model);
                let landmarks = columns.landmarks().mapv(f64::from);
                let (u, v) = (seen(&x, &columns), seen(&new, &columns));
                let k = cross(&Gaussian, u.view(), landmarks.view());
                let of_new = cross(&Gaussian, v.view(), landmarks.view());
                let mut h = gram(&Gaussian, landmarks.view());
                h.diag_mut()
                    .mapv_inplace(|k| k + model.linear().facts["jitter"]);
                let (alpha, b) = direct(&k, &h, (&y, w), lambda, intercept);
                let expected = of_new.dot(&alpha) + b;
                let predicted = model.predict(&new).expect("predicts");
                let error = worst(&predicted, &expected);
                println!(
                    "{sigma} {lambda:e} {intercept}: {error:e} {:?}",
                    model.linear().facts
                );
                // For a wide kernel coefficients are large, and predictions have rounding errors.
                let most = if sigma < 1.0 { 1e-4 } else { 2e-2 };
                assert!(error < most, "{sigma} {lambda} {device:?}: {error:e}");
                assert!(model.linear().facts["iterations"] < 40.0);
            }
        }
    }
}

/// The identity.
fn eye(n: usize) -> Array2<f64> {
    Array2::eye(n)
}

/// Columns of the solution of several right-hand sides.
fn solve_all(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    let columns = b
        .columns()
        .into_iter()
        .map(|c| solve(a.clone(), c.to_owned()));
    let columns: Vec<Array1<f64>> = columns.collect();
    Array2::from_shape_fn(b.dim(), |(i, j)| columns[j][i])
}

/// Kernel ridge regression with the approximate kernel `C H^-1 C'`, C = K_nm and H = K_mm, by
/// Woodbury's formula `(C H^-1 C' + r I)^-1 = (I - C (r H + C'C)^-1 C') / r`, r = lambda n: ridge
/// regression on Nystrom features is that, and so is Falkon on the same landmarks.
#[test]
fn nystrom_ridge_and_falkon_are_woodburys_formula_on_devices() {
    let ((x, y), (new, _)) = (data(150, 0), data(40, 500));
    let landmarks = x.slice(s![..144;12, ..]).to_owned();
    for (sigma, lambda) in [(0.6, 1e-3), (0.6, 1e-5), (1.5, 1e-2)] {
        let (rows, at, of) = (x.mapv(|v| v / sigma), &new / sigma, &landmarks / sigma);
        let c = cross(&Gaussian, rows.view(), of.view());
        let h = gram(&Gaussian, of.view());
        let r = lambda * 150.0;
        let inner = &h * r + c.t().dot(&c);
        let inverse = (eye(150) - c.dot(&solve_all(&inner, &c.t().to_owned()))) / r;
        // The formula itself, compared with the matrix that it inverts.
        let approximate = c.dot(&solve_all(&h, &c.t().to_owned()));
        let identity = inverse.dot(&(&approximate + &(eye(150) * r)));
        let off = (&identity - &eye(150)).fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(off < 1e-4, "{off:e}");
        let alpha = inverse.dot(&y);
        let of_new = cross(&Gaussian, at.view(), of.view());
        let expected = of_new.dot(&solve(h.clone(), c.t().dot(&alpha)));
        let chosen = || Landmarks::Rows(landmarks.clone());
        for device in devices() {
            let ridge = Ridge::on(Nystrom::new(Gaussian).landmarks(chosen()).features(12))
                .bandwidth(Bandwidth::Sigma(sigma))
                .standardize(Standardize::No)
                .intercept(false)
                .device(device);
            let ridge = ridge.lambda(lambda).fit((&x, &y)).expect("fits");
            let columns = KernelColumns::new(Gaussian).landmarks(12).choice(chosen());
            let falkon = Falkon::on(columns)
                .bandwidth(Bandwidth::Sigma(sigma))
                .standardize(Standardize::No)
                .intercept(false)
                .tolerance(1e-9)
                .device(device);
            let falkon = falkon.lambda(lambda).fit((&x, &y)).expect("fits");
            for (model, name) in [(ridge, "ridge"), (falkon, "falkon")] {
                let error = worst(&model.predict(&new).expect("predicts"), &expected);
                // For targets of about 10.
                assert!(error < 5e-3, "{name} {sigma} {lambda}: {error:e}");
            }
        }
    }
}

/// With every row as a landmark there is no approximation.
#[test]
fn falkon_comes_to_kernel_ridge_as_landmarks_come_to_all_rows() {
    let ((x, y), (new, _)) = (data(200, 0), data(50, 500));
    let sigma = Bandwidth::Sigma(0.5);
    let cpu = Device::cpu();
    let exact = KernelRidge::on(KernelColumns::new(Gaussian)).lambda(1e-4);
    let exact = exact.bandwidth(sigma.clone()).device(&cpu);
    let exact = exact.fit((&x, &y)).expect("fits").predict(&new);
    let exact = exact.expect("predicts");
    let errors: Vec<f64> = [10, 40, 200]
        .iter()
        .map(|&m| {
            let falkon = Falkon::on(KernelColumns::new(Gaussian).landmarks(m)).lambda(1e-4);
            let falkon = falkon.bandwidth(sigma.clone()).device(&cpu);
            let model = falkon.fit((&x, &y)).expect("fits");
            worst(&model.predict(&new).expect("predicts"), &exact)
        })
        .collect();
    assert!(
        errors[0] > 5.0 * errors[1] && errors[1] > 5.0 * errors[2],
        "{errors:?}"
    );
    assert!(errors[2] < 0.02, "{errors:?}");
}

#[test]
fn both_classify_the_digits_and_survive_a_file() {
    let digits =
        || DataFile::at(concat!(env!("CARGO_MANIFEST_DIR"), "/../data/digits.csv")).target("label");
    let cpu = Device::cpu();
    let exact = KernelRidgeClassifier::on(KernelColumns::new(Gaussian))
        .lambda(1e-5)
        .device(&cpu);
    let columns = KernelColumns::new(Gaussian).landmarks(300);
    let falkon = FalkonClassifier::on(columns).lambda(1e-5).device(&cpu);
    let folder = tempfile::tempdir().expect("a folder");
    for (name, model, least) in [
        (
            "kernel-ridge",
            exact.probabilities(true).fit(digits()),
            0.999,
        ),
        ("falkon", falkon.probabilities(true).fit(digits()), 0.99),
    ] {
        let model = model.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(model.linear().learner, name);
        let path = folder.path().join(name);
        model.save(&path).expect("saves");
        let read = Model::<Vec<f64>>::load(&path).expect("loads").device(&cpu);
        let mut source = digits().open().expect("opens");
        let (mut right, mut rows) = (0, 0);
        read.stream(&mut source, |predicted, y| {
            rows += y.nrows();
            right += predicted.iter().zip(y).filter(|(p, y)| p == y).count();
            Ok(())
        })
        .expect("streams");
        let accuracy = right as f64 / rows as f64;
        assert!(accuracy > least, "{name}: {accuracy}");
        assert!(read.linear().probabilities.is_some());
    }
}

#[test]
fn what_cannot_be_done_is_one_line() {
    let (x, y) = data(50, 0);
    let cpu = Device::cpu();
    let exact = || KernelRidge::on(KernelColumns::new(Gaussian)).device(&cpu);
    let falkon = |m| Falkon::on(KernelColumns::new(Gaussian).landmarks(m)).device(&cpu);
    let line = |error: Error, says: &str| {
        let text = error.to_string();
        assert!(text.contains(says) && !text.contains('\n'), "{text}");
        error
    };
    // 50^2 values of 8 bytes are 20,000.
    let error = exact().memory(19_000).fit((&x, &y)).expect_err("no room");
    assert!(matches!(error, Error::Limit { .. }), "{error}");
    assert_eq!(error.remedies()[0], Remedy::MoreMemory);
    exact().memory(20_000).fit((&x, &y)).expect("fits");
    line(
        exact().lambda(-1.0).fit((&x, &y)).expect_err("negative"),
        "lambda is -1",
    );
    line(
        falkon(9).lambda(-1.0).fit((&x, &y)).expect_err("negative"),
        "lambda is -1",
    );
    line(
        falkon(9).lambda(0.0).fit((&x, &y)).expect_err("zero"),
        "lambda is 0",
    );
    line(
        falkon(0).fit((&x, &y)).expect_err("none"),
        "KernelColumns::landmarks",
    );
    line(falkon(51).fit((&x, &y)).expect_err("too many"), "50 rows");
    line(
        falkon(200_000).fit((&x, &y)).expect_err("too many"),
        "50 rows",
    );
    let map = || Fourier::new(Gaussian).features(20);
    line(
        Falkon::on(map())
            .device(&cpu)
            .fit((&x, &y))
            .expect_err("a map"),
        "KernelColumns",
    );
    line(
        KernelRidge::on(map())
            .device(&cpu)
            .fit((&x, &y))
            .expect_err("a map"),
        "KernelColumns",
    );
    let few = falkon(9).lambda(1e-9).max_iterations(1).tolerance(1e-12);
    // A fit that did not reach its tolerance is kept, and reports its residual.
    let facts = few.fit((&x, &y)).expect("kept").linear().facts.clone();
    assert_eq!(facts["iterations"], 1.0);
    assert!(facts["relative_residual"] > facts["tolerance"], "{facts:?}");
    // Equal rows: singular without a penalty, harmless with one.
    let twice = ndarray::concatenate![Axis(0), x.view(), x.view()];
    let y_twice = ndarray::concatenate![Axis(0), y.view(), y.view()];
    let singular = exact().lambda(0.0).fit((&twice, &y_twice));
    line(singular.expect_err("singular"), "larger .lambda(..)");
    let one = exact()
        .lambda(1e-4)
        .fit((&x, &y))
        .expect("fits")
        .predict(&x);
    let two = exact()
        .lambda(1e-4)
        .fit((&twice, &y_twice))
        .expect("fits")
        .predict(&x);
    assert!(worst(&one.expect("predicts"), &two.expect("predicts")) < 1e-3);
    falkon(100)
        .fit((&twice, &y_twice))
        .expect("equal landmarks");
}

#[test]
fn one_class_constants_and_more_classes_than_rows() {
    let (x, _) = data(30, 0);
    let cpu = Device::cpu();
    let columns = || KernelColumns::new(Gaussian);
    let constant = Array1::from_elem(30, 7.5);
    let exact = KernelRidge::on(columns()).device(&cpu).fit((&x, &constant));
    let falkon = Falkon::on(columns().landmarks(9))
        .device(&cpu)
        .fit((&x, &constant));
    for model in [exact, falkon] {
        let predicted = model.expect("fits").predict(&x).expect("predicts");
        assert!(
            predicted.iter().all(|p| (p - 7.5).abs() < 1e-6),
            "{predicted}"
        );
    }
    let one = ["a"; 30];
    let exact = KernelRidgeClassifier::on(columns()).device(&cpu);
    let falkon = FalkonClassifier::on(columns().landmarks(3)).device(&cpu);
    for error in [exact.fit((&x, one)).err(), falkon.fit((&x, one)).err()] {
        let text = error.expect("refused").to_string();
        assert!(text.contains("two classes"), "{text}");
    }
    // Every row is a separate class, plus an additional label.
    let own: Vec<i64> = (0..30).collect();
    let predicted = exact
        .lambda(1e-6)
        .fit((&x, &own))
        .expect("fits")
        .predict(&x);
    assert_eq!(predicted.expect("predicts"), own);
    let few = x.slice(s![..4, ..]);
    let predicted = falkon.fit((few, [4, 3, 2, 1])).expect("fits").predict(few);
    assert_eq!(predicted.expect("predicts").len(), 4);
}
