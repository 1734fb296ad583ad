//! Tests of ridge regression through its options.

use crate::{
    Run,
    data::{Chunk, ChunkSource, MemorySource, Survey},
    features::{Affine, FeatureMap, featurize},
    learn::{Fit, FitData, FitSums, Lambda, RidgeOptions, Solver},
    model::{Coefficients, HeldOut, LambdaCurve, LinearModel, Model, Targets},
    normal::NormalEquations,
    prelude::*,
    seed::Seed,
    solve::{Cholesky, Intercept},
    sums::RowsToSum,
};
use ndarray::{Array1, Array2, Axis, concatenate, s};

/// Weighted rows of a target, `[n, 1]` and `[n]`.
type Weighted<'a> = (&'a Array2<f64>, &'a Array1<f64>, &'a Array1<f64>);

/// Coefficients on 16 features of a map and a column of ones, whose coefficient is the intercept.
fn with_a_column_of_ones(
    map: &dyn FeatureMap,
    (x, y, weights): Weighted<'_>,
    lambda: f64,
) -> Coefficients {
    let n = x.nrows();
    let mut rows = MemorySource::new(x, None).expect("rows");
    let mut all = Vec::new();
    let keep = |z: ndarray::ArrayView2<'_, f32>| {
        all.extend(z.iter().map(|&z| f64::from(z)));
        Ok(())
    };
    featurize(map, &mut rows, &Device::cpu(), keep).expect("featurizes");
    let z_nd = Array2::from_shape_vec((n, 16), all).expect("rows");
    let ones = Array2::ones((n, 1));
    let z_np = concatenate(Axis(1), &[z_nd.view(), ones.view()]).expect("a column");
    let y_nt = y.clone().insert_axis(Axis(1));
    let by = weights.view().insert_axis(Axis(1));
    let (wz, wy) = (&z_np * &by, &y_nt * &by);
    let sums = NormalEquations {
        rows: n as u64,
        weight: weights.sum(),
        log_weight: 0.0,
        weight_squares: weights.mapv(|w| w * w).sum(),
        gram_dd: z_np.t().dot(&wz),
        zty_dt: z_np.t().dot(&wy),
        z_sum_d: wz.sum_axis(Axis(0)),
        y_sum_t: wy.sum_axis(Axis(0)),
        y_square_t: (&wy * &y_nt).sum_axis(Axis(0)),
        rest: Vec::new(),
    };
    let intercept = false;
    let both = Cholesky { lambda, intercept }.solve(&sums).expect("solves");
    Coefficients {
        beta_dt: both.beta_dt.slice(s![..16, ..]).to_owned(),
        intercept_t: both.beta_dt.row(16).to_owned(),
    }
}

/// For one penalty, a path and a state, the fit equals one on features with an explicit column of
/// ones, whose last coefficient is the intercept; weights of rows count.
#[test]
fn a_penalised_intercept_is_that_of_a_feature_of_ones() {
    let x = Array2::from_shape_fn((80, 1), |(i, _)| (i * 37 % 80) as f64 / 10.0);
    let y: Array1<f64> = x.iter().map(|x| 5.0 + x.sin()).collect();
    let weights = Array1::from_shape_fn(80, |i| 0.5 + (i % 3) as f64);
    let ridge = |lambda: f64| {
        let ridge = Ridge::on(Fourier::new(Gaussian).features(16)).lambda(lambda);
        let ridge = ridge.bandwidth(Bandwidth::Sigma(1.0));
        let ridge = ridge.standardize(Standardize::No).device(&Device::cpu());
        ridge.intercept(Intercept::Penalised)
    };
    let apart = |model: &LinearModel, other: &Coefficients| {
        let own = &model.coefficients;
        let beta = (&own.beta_dt - &other.beta_dt).mapv(f64::abs).sum();
        beta + (&own.intercept_t - &other.intercept_t).mapv(f64::abs).sum()
    };
    for lambda in [1e-2, 0.1, 3.0] {
        let weighted = ridge(lambda).fit((&x, &y, &weights)).expect("fits");
        let plain = ridge(lambda).fit((&x, &y)).expect("fits");
        let path = ridge(1.0).lambdas(&[lambda]).fit((&x, &y)).expect("fits");
        let state = ridge(lambda).start((&x, &y)).expect("starts");
        let state = state.model().expect("a model");
        for (name, model, weights) in [
            ("one penalty", plain.linear(), Array1::ones(80)),
            ("with weights", weighted.linear(), weights.clone()),
            ("a path", path.linear(), Array1::ones(80)),
            ("a state", state.linear(), Array1::ones(80)),
        ] {
            let rows = (&x, &y, &weights);
            let other = with_a_column_of_ones(model.map.as_ref(), rows, lambda);
            let off = apart(model, &other);
            assert!(off < 1e-3, "{name} at {lambda}: {off:e}");
        }
        let free = ridge(lambda).intercept(true).fit((&x, &y)).expect("fits");
        let one = plain.linear().coefficients.intercept_t[0];
        assert!(
            one < 0.95 * free.linear().coefficients.intercept_t[0],
            "{one}"
        );
    }
}

/// Options that need sums are refused without them.
#[test]
fn a_penalised_intercept_takes_sums() {
    let x = Array2::from_shape_fn((30, 1), |(i, _)| i as f64 / 10.0);
    let y: Array1<f64> = x.iter().map(|x| x.sin()).collect();
    let refusal = |ridge: Ridge| {
        let ridge = ridge.intercept(Intercept::Penalised).device(&Device::cpu());
        let message = ridge.fit((&x, &y)).expect_err("refused").to_string();
        assert!(message.contains("penalised intercept"), "{message}");
        assert!(!message.contains('\n'), "{message}");
    };
    let fourier = || Ridge::on(Fourier::new(Gaussian).features(16));
    refusal(fourier().solver(Solver::Dual));
    refusal(fourier().solver(Solver::conjugate_gradients()));
    refusal(Ridge::on(Binning::new(Laplacian).grids(4)));
    refusal(fourier().leaves(10));
    // Fewer rows than features are solved from sums too.
    let few = Ridge::on(Fourier::new(Gaussian).features(64)).intercept(Intercept::Penalised);
    let few = few.device(&Device::cpu()).lambda(1e-3).fit((&x, &y));
    assert!(
        !few.expect("fits")
            .linear()
            .facts
            .contains_key("rows_in_memory")
    );
}

/// Ridge regression of two columns with enough memory for all rows.
fn on_fourier(features: usize) -> Ridge {
    let map = Fourier::new(Gaussian).features(features);
    let ridge = Ridge::on(map).bandwidth(Bandwidth::Sigma(0.7));
    let ridge = ridge.standardize(Standardize::No).device(&Device::cpu());
    ridge.memory(1 << 30)
}

/// Rows with duplicates, and weights that differ.
fn repeating() -> (Array2<f64>, Array1<f64>, Array1<f64>) {
    let noise = |i: usize| ((i * 7919) % 101) as f64 / 101.0 - 0.5;
    let x = Array2::from_shape_fn((150, 2), |(i, j)| ((i * (7 * j + 3)) % 43) as f64 / 9.0);
    let y = Array1::from_shape_fn(150, |i| (2.0 * x[[i, 0]]).sin() + x[[i, 1]] + noise(i));
    let weights = Array1::from_shape_fn(150, |i| 1.0 + (i % 3) as f64);
    (x, y, weights)
}

/// The chosen penalty, and the errors of all that were tried.
fn chosen(model: &Model<Array1<f64>>) -> (f64, LambdaCurve) {
    let curve = model.linear().lambda_curve.clone().expect("a curve");
    (model.linear().lambda, curve)
}

/// Eigenvectors, a search with factors and the dual choose the same penalty and agree on the errors
/// at penalties that all of them evaluate.
#[test]
fn every_way_chooses_the_same_penalty() {
    let (x, y, weights) = repeating();
    for features in [100, 400] {
        let usual = on_fourier(features).fit((&x, &y, &weights)).expect("fits");
        let all = on_fourier(features).lambda(Lambda::auto(HeldOut::LeaveOneOut));
        let eigen = all.fit((&x, &y, &weights)).expect("fits");
        let walk = on_fourier(features).solver(Solver::Cholesky);
        let walked = walk.fit((&x, &y, &weights)).expect("fits");
        let solver = |model: &Model<Array1<f64>>| {
            let fact = |name| model.linear().facts.contains_key(name);
            (fact("rows_in_memory"), fact("penalties_tried"))
        };
        assert_eq!(solver(&usual), (features > 150, false));
        assert_eq!(
            (solver(&eigen), solver(&walked)),
            ((false, false), (false, true))
        );
        let (lambda, all) = chosen(&eigen);
        assert_eq!((all.points.len(), all.by), (17, HeldOut::LeaveOneOut));
        assert!(lambda > all.points[0].lambda && lambda < all.points[16].lambda);
        for model in [&usual, &walked] {
            let (own, curve) = chosen(model);
            assert_eq!(
                (own, curve.by),
                (lambda, HeldOut::LeaveOneOut),
                "{features}"
            );
            for point in &curve.points {
                let same = all.points.iter().find(|p| p.lambda == point.lambda);
                let same = same.expect("is on the grid");
                let apart = (point.error / same.error - 1.0).abs();
                // Below 1e-6 the rounding of f32 sums is visible.
                assert!(
                    apart < 1e-3 || point.lambda < 1e-6,
                    "{features} {point:?} {same:?}"
                );
                let apart = (point.effective_dimension / same.effective_dimension - 1.0).abs();
                assert!(
                    apart < 1e-2 || point.lambda < 2e-6,
                    "{features} {point:?} {same:?}"
                );
            }
            let off = (model.predict(&x).expect("predicts") - eigen.predict(&x).expect("predicts"))
                .fold(0.0, |m: f64, v| m.max(v.abs()));
            assert!(off < 1e-3, "{features}: {off:e}");
        }
    }
}

/// Sums of parts in any order, one of them added twice and subtracted once, choose the penalty of
/// all rows.
#[test]
fn sums_of_parts_choose_the_penalty_of_all_rows() {
    let (x, y, weights) = repeating();
    let part = |rows: std::ops::Range<usize>| {
        let of = |a: &Array1<f64>| a.slice(s![rows.clone()]).to_owned();
        let x = x.slice(s![rows.clone(), ..]).to_owned();
        (x, of(&y), of(&weights))
    };
    let (first, second, third) = (part(0..40), part(40..90), part(90..150));
    for features in [100, 400] {
        let eigen = on_fourier(features).lambda(Lambda::auto(HeldOut::LeaveOneOut));
        let (lambda, all) = chosen(&eigen.fit((&x, &y, &weights)).expect("fits"));
        let ridge = on_fourier(features);
        let mut growing = ridge.start((&first.0, &first.1, &first.2)).expect("starts");
        let mut other = growing.without_rows().expect("none");
        other.add((&third.0, &third.1, &third.2)).expect("adds");
        for _ in 0..2 {
            let twice = (&second.0, &second.1, &second.2);
            growing.add(twice).expect("adds");
        }
        growing.merge(&other).expect("merges");
        assert_ne!(chosen(&growing.model().expect("a model")).1, all);
        growing
            .forget((&second.0, &second.1, &second.2))
            .expect("forgets");
        let (own, curve) = chosen(&growing.model().expect("a model"));
        assert_eq!((own, curve.by), (lambda, HeldOut::LeaveOneOut));
        assert!((curve.best().error / all.best().error - 1.0).abs() < 1e-4);
    }
}

/// For every method of choosing, a row of weight 2 equals two rows.
#[test]
fn weights_choose_as_repeated_rows_do() {
    let noise = |i: usize| ((i * 7919) % 101) as f64 / 101.0 - 0.5;
    let x = Array2::from_shape_fn((90, 1), |(i, _)| i as f64 / 10.0);
    let y = Array1::from_shape_fn(90, |i| (2.0 * x[[i, 0]]).sin() + 2.0 * noise(i));
    let weights = Array1::from_shape_fn(90, |i| (i % 4) as f64);
    let rows: Vec<usize> = (0..90).flat_map(|i| vec![i; i % 4]).collect();
    let (many_x, many_y) = (x.select(Axis(0), &rows), y.select(Axis(0), &rows));
    for (features, memory) in [(60, 1 << 30), (60, 28 * 60 * 60 - 1), (300, 1 << 30)] {
        let map = Fourier::new(Gaussian).features(features);
        let ridge = Ridge::on(map).bandwidth(Bandwidth::Sigma(0.7));
        let ridge = ridge
            .standardize(Standardize::No)
            .device(&Device::cpu())
            .memory(memory);
        let weighted = ridge.fit((&x, &y, &weights)).expect("fits");
        let repeated = ridge.fit((&many_x, &many_y)).expect("fits");
        let curve = |model: &Model<Array1<f64>>| {
            let curve = model.linear().lambda_curve.clone().expect("a curve");
            curve
                .points
                .iter()
                .map(|p| (p.lambda, p.error))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            weighted.linear().lambda,
            repeated.linear().lambda,
            "{features}"
        );
        for (one, other) in curve(&weighted).iter().zip(curve(&repeated)) {
            let apart = (one.1 / other.1 - 1.0).abs();
            assert!(
                one.0 == other.0 && (apart < 1e-3 || one.0 < 1e-6),
                "{one:?} {other:?}"
            );
        }
    }
}

/// Rows of weight 0 and missing targets give one-line errors in every method of choosing.
#[test]
fn nothing_to_choose_by_is_an_error() {
    let x = Array2::from_shape_fn((90, 1), |(i, _)| i as f64 / 10.0);
    let (y, none) = (x.column(0).mapv(f64::sin), Array1::<f64>::zeros(90));
    for features in [60, 300] {
        let ridge = Ridge::on(Fourier::new(Gaussian).features(features)).device(&Device::cpu());
        let message = ridge.fit((&x, &y, &none)).expect_err("weights").to_string();
        assert!(message.contains("weight 0"), "{message}");
        let mut rows = MemorySource::new(&x, None).expect("rows");
        let survey = Survey::new(&mut rows, 0, 0).expect("a survey");
        let map = Fourier::new(Gaussian).features(features);
        let map = map.build(Affine::identity(1)).expect("builds");
        let run = Run::on(&Device::cpu());
        let data = FitData {
            source: &mut rows,
            targets: Targets::none(),
            survey: &survey,
            kernel: None,
            bandwidth: None,
            start: None,
            seed: Seed(0),
            run: &run,
        };
        let fitted = RidgeOptions::default().fit(Box::new(map), data);
        let message = fitted.expect_err("no targets").to_string();
        assert!(message.contains("no targets"), "{message}");
    }
}

/// Source whose rows must not be read.
struct Unreadable;

impl ChunkSource for Unreadable {
    fn columns(&self) -> usize {
        1
    }
    fn targets(&self) -> usize {
        1
    }
    fn rows(&self) -> Option<usize> {
        None
    }
    fn next_chunk(&mut self, _: usize) -> Result<Option<Chunk>> {
        panic!("a row is read")
    }
    fn rewind(&mut self) -> Result<()> {
        panic!("rows are to be read")
    }
}

/// A learner without warm starts refuses one before it reads a row.
#[test]
fn a_warm_start_is_refused_before_rows_are_read() {
    let x = Array2::from_shape_fn((90, 1), |(i, _)| i as f64 / 10.0);
    let mut rows = MemorySource::new(&x, Some(x.mapv(f64::sin))).expect("rows");
    let ridge = Ridge::on(Fourier::new(Gaussian).features(20)).device(&Device::cpu());
    let model = ridge.fit(&mut rows).expect("fits");
    let refused = ridge.fit_from(&model, &mut Unreadable);
    let message = refused.expect_err("begins nowhere").to_string();
    assert!(message.contains("does not go on"), "{message}");
}

/// Asynchronous sums, with the rows kept, equal the blocking ones to the bit.
#[test]
fn sums_that_are_awaited_are_those_that_are_waited_for_on_devices() {
    let x = Array2::from_shape_fn((700, 3), |(i, j)| ((i * (3 * j + 7)) % 101) as f64 / 50.0);
    let y = x.map_axis(Axis(1), |x| x[0] * x[1] + x[2]);
    let y = y.insert_axis(Axis(1));
    let map = Fourier::new(Gaussian).features(90);
    let map = map.build(Affine::identity(3)).expect("builds");
    let targets = Targets::Real {
        columns: 1,
        shift: vec![1.0],
    };
    let mut devices = bochner_maps::under_test::gpus();
    devices.push(Device::cpu());
    for device in devices {
        let run = Run::on(&device);
        let source = |rows: usize| {
            let (x, y) = (x.slice(s![..rows, ..]), y.slice(s![..rows, ..]));
            MemorySource::new(x, Some(y.to_owned())).expect("rows")
        };
        for lambda in [Lambda::Usual, Lambda::Fixed(1e-3)] {
            let ridge = RidgeOptions {
                lambda,
                ..RidgeOptions::default()
            };
            let mut rows = [700, 700, 699].map(source);
            let [first, again, fewer] = rows.each_mut().map(|source| RowsToSum {
                source,
                targets: &targets,
                kernel: None,
                seed: Seed(0),
                run: &run,
            });
            let waited = ridge.sum(&map, first).expect("sums");
            let awaited = pollster::block_on(ridge.sum_later(&map, again)).expect("sums");
            assert!(waited.kept.is_some(), "{:?}", ridge.lambda);
            assert_eq!(waited, awaited, "{device:?}");
            let fewer = ridge.sum(&map, fewer).expect("sums");
            assert_ne!(fewer, awaited, "a row is seen");
        }
    }
}
