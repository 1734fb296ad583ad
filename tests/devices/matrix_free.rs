//! Unions of maps and conjugate gradients: the same results as parts side by side and as the
//! Cholesky solver.

use crate::common::{devices, normal, worst};
use bochner::{
    Device, Matrix, Run, Step,
    data::{MemorySource, Rows, Survey},
    features::{Affine, Binning, BinningMap, DenseFeatures, FeatureMap, Fourier, Union},
    kernels::{Gaussian, Laplacian},
    models::{Coefficients, FitOptions, LinearModel, Solver, Targets},
    ops::place::{self, Place, Spot},
    seed::Seed,
    solve::{
        BinnedRows, Cholesky, ConjugateGradients, FeatureProducts, NormalEquations, SideBySide,
        StreamedRows,
    },
};
use ndarray::{Array2, Axis, s};
use std::sync::{Arc, Mutex};

const EPS: f64 = 1.0 / 16_777_216.0;

#[test]
fn place_agrees_with_f64_on_devices() {
    for device in devices() {
        for (rows, cols, source_row, source_col, col) in [
            (1, 1, 0, 0, 0),
            (7, 63, 2, 1, 3),
            (8, 64, 0, 5, 0),
            (9, 65, 1, 0, 70),
            (130, 3, 3, 3, 1),
        ] {
            let source = normal(rows + source_row + 1, cols + source_col + 2, 1);
            let before = normal(rows + 2, cols + col + 1, 2);
            let factors: Vec<[f32; 2]> = normal(cols, 2, 3)
                .rows()
                .into_iter()
                .map(|r| [r[0], r[1]])
                .collect();
            let op = Place::load(device, &factors).expect("loads");
            let from = Matrix::upload(device, source.view()).expect("fits");
            for add in [false, true] {
                let spot = Spot {
                    rows,
                    source_row,
                    source_col,
                    col,
                    add,
                };
                let mut start = before.clone();
                if !add {
                    // Overwritten values do not matter; values outside must stay.
                    start.slice_mut(s![..rows, col..col + cols]).fill(f32::NAN);
                }
                let mut to = Matrix::upload(device, start.view()).expect("fits");
                op.run(spot, &from, &mut to).expect("runs");
                let got = to.download().expect("reads back");
                let check = |spot: Spot, before: &Array2<f32>| {
                    let reference = place::reference(&factors, spot, source.view(), before.view());
                    worst(got.view(), reference.view(), |_, _| 40.0 * EPS)
                };
                let ratio = check(spot, &before);
                assert!(ratio < 1.0, "{rows} x {cols} on {device:?}: {ratio}");
                // Negative control: the block one row further down in the source.
                let wrong = Spot {
                    source_row: source_row + 1,
                    ..spot
                };
                assert!(check(wrong, &before) > 1.0);
            }
            let beyond = Spot {
                rows: rows + 9,
                ..Spot::default()
            };
            let mut to = Matrix::upload(device, before.view()).expect("fits");
            assert!(op.run(beyond, &from, &mut to).is_err());
        }
    }
}

fn data(n: usize, d: usize) -> (Array2<f64>, Array2<f64>) {
    let x = normal(n, d, 31).mapv(|v| 3.0 + 2.0 * f64::from(v));
    let y = Array2::from_shape_fn((n, 2), |(i, k)| 10.0 + x[[i, k]].sin() + 0.1 * x[[i, 2]]);
    (x, y)
}

fn fourier(features: usize, lengthscale: f64, center: &Affine, seed: u64) -> DenseFeatures {
    let input = center.clone().lengthscale(lengthscale).expect("positive");
    Fourier::new(Gaussian)
        .features(features)
        .seed(Seed(seed))
        .build(input)
        .expect("builds")
}

fn bins(source: &mut MemorySource, input: &Affine, lengthscale: f64, grids: usize) -> BinningMap {
    let input = input.clone().lengthscale(lengthscale).expect("positive");
    let binning = Binning::new(Laplacian).grids(grids).seed(Seed(9));
    binning.fit(input, source, &Device::cpu()).expect("fits")
}

fn featurize(map: &dyn FeatureMap, device: &Device, rows: &Rows) -> Array2<f32> {
    let mut x_nd = Matrix::new(device, rows.nrows(), map.input_dim()).expect("fits");
    map.input().load(rows, &mut x_nd).expect("loads");
    let nan = Array2::from_elem((rows.nrows(), map.output_dim()), f32::NAN);
    let mut z_nd = Matrix::upload(device, nan.view()).expect("fits");
    map.load(device)
        .expect("loads")
        .featurize(&x_nd, &mut z_nd)
        .expect("runs");
    z_nd.download().expect("reads back")
}

#[test]
fn a_union_is_its_parts_side_by_side_on_devices() {
    let (x, y) = data(133, 5);
    let mut source = MemorySource::new(x.clone(), Some(y)).expect("a source");
    let survey = Survey::new(&mut source, 100, 0).expect("surveys");
    let rows = Rows::from(x);
    let standard = Affine::standardize(&survey);
    // Another lengthscale, and another centre.
    let parts = || {
        vec![
            (fourier(64, 1.5, &standard, 1), 0.5),
            (fourier(30, 4.0, &standard, 2), 2.0),
            (fourier(18, 3.0, &Affine::identity(5), 3), 1.0),
        ]
    };
    let boxed = || {
        parts()
            .into_iter()
            .map(|(m, w)| (Box::new(m) as Box<dyn FeatureMap>, w))
    };
    let union = Union::new(boxed().collect()).expect("builds");
    let mut store = bochner::features::Store::default();
    union.write(&mut store).expect("writes");
    let read = bochner::features::read(&store).expect("reads");
    let beta = normal(112, 3, 5);
    for device in devices() {
        let z = featurize(&union, device, &rows);
        assert_eq!(z, featurize(read.as_ref(), device, &rows));
        let mut at = 0;
        for (part, weight) in parts() {
            let own = featurize(&part, device, &rows).mapv(|v| f64::from(v) * f64::sqrt(weight));
            let block = z.slice(s![.., at..at + own.ncols()]);
            // Rescaled rows have two more roundings in phases of up to a few turns.
            let ratio = worst(block, own.view(), |_, _| 1e-5);
            assert!(ratio < 1.0, "columns {at}.. on {device:?}: {ratio}");
            at += own.ncols();
        }
        let k = z.row(0).dot(&z.row(0));
        assert!(
            (k - 3.5).abs() < 1e-4,
            "k(x, x) is the sum of the weights, not {k}"
        );
        let mut x_nd = Matrix::new(device, 133, 5).expect("fits");
        union.input().load(&rows, &mut x_nd).expect("loads");
        let beta_dt = Matrix::upload(device, beta.view()).expect("fits");
        let mut y_nt = Matrix::new(device, 133, 3).expect("fits");
        let mut loaded = union.load(device).expect("loads");
        loaded.predict(&x_nd, &beta_dt, &mut y_nt).expect("runs");
        let fused = y_nt.download().expect("reads back");
        let by_hand = z.mapv(f64::from).dot(&beta.mapv(f64::from));
        let ratio = worst(fused.view(), by_hand.view(), |_, _| 2e-5);
        assert!(ratio < 1.0, "predict on {device:?}: {ratio}");
    }
    let fit = FitOptions::on(&Device::cpu());
    let model = LinearModel::fit(Box::new(union), &mut source, Targets::real(&survey), &fit);
    assert_eq!(model.expect("fits").coefficients.beta_dt.dim(), (112, 2));
}

/// Conjugate gradients and Cholesky on the same features.
#[test]
fn conjugate_gradients_agree_with_cholesky_on_devices() {
    let (x, y) = data(700, 5);
    let rows = Rows::from(x.clone());
    let mut source = MemorySource::new(x, Some(y.clone())).expect("a source");
    let survey = Survey::new(&mut source, 100, 0).expect("surveys");
    let map = fourier(80, 2.0, &Affine::standardize(&survey), 4);
    let targets = Targets::Real {
        columns: 2,
        shift: vec![10.0; 2],
    };
    let y_tn = y.t().as_standard_layout().into_owned();
    for device in devices() {
        for memory in [60_000, 1 << 26] {
            let summed = NormalEquations::accumulate(
                &map,
                &mut source,
                &targets,
                Run::on(device).memory(memory),
            );
            let summed = summed.expect("sums");
            let sums = in_f64(&featurize(&map, device, &rows).mapv(f64::from), &y);
            for intercept in [true, false] {
                let lambda = 1e-4;
                let exact = Cholesky { lambda, intercept }.solve(&sums).expect("solves");
                let mut rows = StreamedRows::new(
                    &[(&map, 0, 1.0)],
                    &mut source,
                    700,
                    Run::on(device).memory(memory),
                )
                .expect("loads");
                let solver = ConjugateGradients {
                    lambda,
                    intercept,
                    tolerance: 1e-9,
                    max_iterations: 500,
                    ..ConjugateGradients::default()
                };
                let mut last = (0, f64::NAN);
                let solution = solver
                    .solve(&mut rows, y_tn.view(), &mut |i, r| last = (i, r))
                    .expect("solves");
                assert!(solution.converged && last.0 == solution.iterations && last.1 <= 1e-9);
                let distance = |exact: &Coefficients| {
                    let size = exact.beta_dt.fold(0.0, |m: f64, b| m.max(b.abs()));
                    let got = &solution.coefficients;
                    let beta =
                        (&got.beta_dt - &exact.beta_dt).fold(0.0, |m: f64, e| m.max(e.abs()));
                    (&got.intercept_t - &exact.intercept_t).fold(beta, |m: f64, e| m.max(e.abs()))
                        / size
                };
                let error = distance(&exact);
                // The sums of a fit have f32 roundings, which a small lambda amplifies.
                let fitted = distance(
                    &Cholesky { lambda, intercept }
                        .solve(&summed)
                        .expect("solves"),
                );
                println!(
                    "{} iterations, {error:.1e} from Cholesky, {fitted:.1e} from a fit, {device:?}",
                    solution.iterations
                );
                assert!(error < 1e-6 && fitted < 1e-3);
            }
        }
    }
}

fn in_f64(z: &Array2<f64>, y: &Array2<f64>) -> NormalEquations {
    NormalEquations {
        rows: z.nrows() as u64,
        weight: z.nrows() as f64,
        log_weight: 0.0,
        weight_squares: z.nrows() as f64,
        gram_dd: z.t().dot(z),
        zty_dt: z.t().dot(y),
        z_sum_d: z.sum_axis(Axis(0)),
        y_sum_t: y.sum_axis(Axis(0)),
        y_square_t: (y * y).sum_axis(Axis(0)),
        rest: Vec::new(),
    }
}

/// The only test with one-hot features: bins combined with Fourier features, with weights, compared
/// with Cholesky.
#[test]
fn bins_beside_fourier_features_agree_with_cholesky_on_devices() {
    let (x, y) = data(500, 4);
    let mut source = MemorySource::new(x.clone(), Some(y.clone())).expect("a source");
    let survey = Survey::new(&mut source, 100, 0).expect("surveys");
    let standard = Affine::standardize(&survey);
    let (binned, dense) = (
        bins(&mut source, &standard, 6.0, 11),
        fourier(40, 2.0, &standard, 4),
    );
    let (rows, cpu) = (Rows::from(x), Device::cpu());
    let indices = binned.indices(&cpu, &rows).expect("maps");
    let (weights, at) = ([0.7_f64, 1.8_f64], 40);
    let mut z = Array2::zeros((500, 40 + binned.bins()));
    let fourier = featurize(&dense, &cpu, &rows).mapv(|v| f64::from(v) * weights[0].sqrt());
    z.slice_mut(s![.., ..40]).assign(&fourier);
    for ((i, _), &column) in indices.indexed_iter() {
        z[[i, at + column as usize]] += binned.value() * weights[1].sqrt();
    }
    let sums = in_f64(&z, &y);
    let lambda = 1e-3;
    let exact = Cholesky {
        lambda,
        intercept: true,
    }
    .solve(&sums)
    .expect("solves");
    let y_tn = y.t().as_standard_layout().into_owned();
    let solver = ConjugateGradients {
        lambda,
        tolerance: 1e-10,
        ..ConjugateGradients::default()
    };
    let distance = |got: &bochner::models::Coefficients| {
        let beta = (&got.beta_dt - &exact.beta_dt).fold(0.0, |m: f64, e| m.max(e.abs()));
        (&got.intercept_t - &exact.intercept_t).fold(beta, |m: f64, e| m.max(e.abs()))
    };
    let solve = |source: &mut MemorySource| {
        let mut rows = BinnedRows::new(&binned, at, weights[1].sqrt());
        rows.push(indices.slice(s![..123, ..]));
        rows.push(indices.slice(s![123.., ..]));
        let mut features = SideBySide::default();
        features.push(rows).expect("first");
        let maps = [(&dense as &dyn FeatureMap, 0, weights[0].sqrt())];
        features
            .push(
                StreamedRows::new(&maps, source, 500, Run::on(&cpu).memory(100_000))
                    .expect("loads"),
            )
            .expect("same rows");
        solver
            .solve(&mut features, y_tn.view(), &mut |_, _| {})
            .expect("solves")
    };
    let solution = solve(&mut source);
    let error = distance(&solution.coefficients);
    println!(
        "{} columns, {} iterations, {error:.1e} from Cholesky",
        z.ncols(),
        solution.iterations
    );
    assert!(solution.converged && error < 1e-6, "{error}");

    // The same through the model, saved, on every device.
    let parts: Vec<(Box<dyn FeatureMap>, f64)> = vec![
        (Box::new(dense.clone()), weights[0]),
        (Box::new(binned.clone()), weights[1]),
    ];
    let union = Union::new(parts).expect("builds");
    let steps = Arc::new(Mutex::new(Vec::new()));
    let heard = steps.clone();
    let run = Run::on(&cpu).memory(100_000);
    let run = run.progress(move |step| heard.lock().expect("whole").push(step));
    let options = FitOptions {
        lambda: solver.lambda,
        intercept: solver.intercept,
        solver: Solver::ConjugateGradients {
            tolerance: solver.tolerance,
            max_iterations: solver.max_iterations,
        },
        ..FitOptions::on(run)
    };
    let targets = Targets::real(&survey);
    let model = LinearModel::fit(Box::new(union), &mut source, targets, &options).expect("fits");
    let steps = steps.lock().expect("whole");
    assert!(distance(&model.coefficients) < 1e-6);
    assert!(steps.contains(&Step::Rows(500)) && matches!(steps.last(), Some(Step::Iteration(..))));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model");
    model.save(&path).expect("saves");
    let read = LinearModel::load(&path).expect("reads");
    let by_hand = z.dot(&model.coefficients.beta_dt) + &model.coefficients.intercept_t;
    for device in devices() {
        let predicted = read
            .on(Run::on(device).memory(1 << 20))
            .expect("loads")
            .predict(&rows)
            .expect("predicts");
        let worst = (&predicted - &by_hand).fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(worst < 1e-4, "{worst} on {device:?}");
    }
}

/// Any number of targets, with bins without training rows, compared with explicit Z.
#[test]
fn products_agree_with_the_matrix() {
    let (x, y) = data(611, 4);
    let part = x.slice(s![..300, ..]).to_owned();
    let mut seen = MemorySource::new(part, None).expect("a source");
    let mut source = MemorySource::new(x.clone(), Some(y)).expect("a source");
    let survey = Survey::new(&mut source, 100, 0).expect("surveys");
    let standard = Affine::standardize(&survey);
    let binned = bins(&mut seen, &standard, 2.0, 7);
    // More columns than a thread processes at a time.
    let dense = fourier(300, 2.0, &standard, 4);
    let (rows, cpu) = (Rows::from(x), Device::cpu());
    let indices = binned.indices(&cpu, &rows).expect("maps");
    let at = binned.bins();
    let mut z = Array2::<f64>::zeros((611, at + 300));
    for ((i, _), &column) in indices.indexed_iter() {
        if column != bochner::features::UNSEEN {
            z[[i, column as usize]] += binned.value() * 0.5;
        }
    }
    let fourier = featurize(&dense, &cpu, &rows).mapv(|v| f64::from(v) * 1.5);
    z.slice_mut(s![.., at..]).assign(&fourier);
    let mut stored = BinnedRows::new(&binned, 0, 0.5);
    stored.push(indices.view());
    let mut features = SideBySide::default();
    features.push(stored).expect("first");
    let maps = [(&dense as &dyn FeatureMap, at, 1.5)];
    let streamed = StreamedRows::new(&maps, &mut source, 611, Run::on(&cpu).memory(900_000));
    features.push(streamed.expect("loads")).expect("same rows");
    let mut moments = Array2::from_elem((2, z.ncols()), f64::NAN);
    features.moments(&mut moments).expect("runs");
    let near = |a: &Array2<f64>, b: &Array2<f64>| (a - b).iter().all(|e| e.abs() < 1e-10);
    assert!(near(
        &moments.slice(s![..1, ..]).to_owned(),
        &z.sum_axis(Axis(0)).insert_axis(Axis(0))
    ));
    let squares = z.mapv(|v| v * v).sum_axis(Axis(0)).insert_axis(Axis(0));
    assert!(near(&moments.slice(s![1.., ..]).to_owned(), &squares));
    for targets in [1, 2, 3, 4, 7, 8, 15] {
        let beta = normal(targets, z.ncols(), 41).mapv(f64::from);
        let before = normal(targets, 611, 42).mapv(f64::from);
        let expected = &before + &beta.dot(&z.t());
        let mut out = Array2::from_elem((targets, z.ncols()), f64::NAN);
        let mut r = before.clone();
        features
            .round_trip(beta.view(), &mut r, &mut out)
            .expect("runs");
        assert!(
            near(&r, &expected) && near(&out, &expected.dot(&z)),
            "{targets} targets"
        );
        out.fill(f64::NAN);
        features.transposed(before.view(), &mut out).expect("runs");
        assert!(near(&out, &before.dot(&z)), "{targets} targets, transposed");
        let mut r = before.clone();
        features.add_product(beta.view(), &mut r).expect("runs");
        assert!(near(&r, &expected));
    }
}

#[test]
fn mistakes_are_one_clear_line() {
    let (x, y) = data(60, 4);
    let mut source = MemorySource::new(x, Some(y.clone())).expect("a source");
    let survey = Survey::new(&mut source, 50, 0).expect("surveys");
    let standard = Affine::standardize(&survey);
    let boxed = |map: DenseFeatures| Box::new(map) as Box<dyn FeatureMap>;
    let union = |parts| {
        Union::new(parts)
            .map(|_| ())
            .expect_err("refused")
            .to_string()
    };
    let first = || fourier(8, 1.0, &standard, 1);
    assert!(union(vec![]).contains("at least one"));
    assert!(union(vec![(boxed(first()), -1.0)]).contains("must be positive"));
    let other = fourier(8, 1.0, &Affine::identity(3), 1);
    assert!(union(vec![(boxed(first()), 1.0), (boxed(other), 1.0)]).contains("4 and 3 columns"));
    let two: Vec<(Box<dyn FeatureMap>, f64)> = vec![
        (Box::new(bins(&mut source, &standard, 1.0, 2)), 1.0),
        (Box::new(bins(&mut source, &standard, 2.0, 2)), 1.0),
    ];
    assert!(union(two).contains("share the lengthscales"));

    let map = first();
    let y_tn = y.t().as_standard_layout().into_owned();
    let mut solve = |solver: ConjugateGradients, rows: usize, y: ndarray::ArrayView2<'_, f64>| {
        let mut features = StreamedRows::new(
            &[(&map, 0, 1.0)],
            &mut source,
            rows,
            Run::on(&Device::cpu()).memory(1 << 20),
        )
        .expect("loads");
        solver.solve(&mut features, y, &mut |_, _| {})
    };
    let solver = ConjugateGradients::default();
    let hasty = ConjugateGradients {
        max_iterations: 1,
        tolerance: 1e-12,
        ..solver
    };
    let unfinished = solve(hasty, 60, y_tn.view()).expect("a result");
    assert!(!unfinished.converged && unfinished.iterations == 1);
    let message = unfinished
        .require_converged()
        .expect_err("not converged")
        .to_string();
    assert!(
        message.contains("more iterations") && !message.contains('\n'),
        "{message}"
    );
    for bad in [
        ConjugateGradients {
            lambda: 0.0,
            ..solver
        },
        ConjugateGradients {
            tolerance: f64::NAN,
            ..solver
        },
    ] {
        assert!(
            solve(bad, 60, y_tn.view())
                .expect_err("refused")
                .to_string()
                .contains("must be positive")
        );
    }
    let message = solve(solver, 61, y_tn.view())
        .expect_err("other rows")
        .to_string();
    assert!(message.contains("60 targets for 61 rows"), "{message}");
    let short = y_tn.slice(s![.., ..50]);
    let message = solve(solver, 50, short).expect_err("changed").to_string();
    assert!(message.contains("had 50 rows and now has 60"), "{message}");
    // A target that is constant needs no coefficients.
    let constant = Array2::from_elem((1, 60), 4.0);
    let flat = solve(solver, 60, constant.view()).expect("solves");
    assert!(flat.converged && flat.coefficients.beta_dt.iter().all(|b| b.abs() < 1e-12));
    assert!((flat.coefficients.intercept_t[0] - 4.0).abs() < 1e-12);
}
