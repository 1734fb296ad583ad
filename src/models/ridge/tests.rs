//! Ridge regression through its options.

use crate::{
    data::MemorySource,
    features::featurize,
    models::LinearModel,
    normal::NormalEquations,
    prelude::*,
    solve::{Cholesky, Coefficients, Intercept},
};
use ndarray::{Array1, Array2, Axis, concatenate, s};

/// By one penalty, by a path and by a state, the same as a fit to features with a column of ones
/// that writes it out, whose last coefficient is the intercept; rows count by their weights.
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
        let state = ridge(1.0).start((&x, &y)).expect("starts");
        let state = state.model(lambda).expect("a model");
        let of = |model: &LinearModel, weights: &Array1<f64>| {
            let mut rows = MemorySource::new(&x, None).expect("rows");
            let mut all = Vec::new();
            let keep = |z: ndarray::ArrayView2<'_, f32>| {
                all.extend(z.iter().map(|&z| f64::from(z)));
                Ok(())
            };
            let map = model.map.as_ref();
            featurize(map, &mut rows, &Device::cpu(), keep).expect("featurizes");
            let z_nd = Array2::from_shape_vec((80, 16), all).expect("rows");
            let ones = Array2::ones((80, 1));
            let z_np = concatenate(Axis(1), &[z_nd.view(), ones.view()]).expect("a column");
            let y_nt = y.clone().insert_axis(Axis(1));
            let by = weights.view().insert_axis(Axis(1));
            let (wz, wy) = (&z_np * &by, &y_nt * &by);
            let sums = NormalEquations {
                rows: 80,
                weight: weights.sum(),
                log_weight: 0.0,
                gram_dd: z_np.t().dot(&wz),
                zty_dt: z_np.t().dot(&wy),
                z_sum_d: wz.sum_axis(Axis(0)),
                y_sum_t: wy.sum_axis(Axis(0)),
                y_square_t: (&wy * &y_nt).sum_axis(Axis(0)),
            };
            let intercept = false;
            let both = Cholesky { lambda, intercept }.solve(&sums).expect("solves");
            Coefficients {
                beta_dt: both.beta_dt.slice(s![..16, ..]).to_owned(),
                intercept_t: both.beta_dt.row(16).to_owned(),
            }
        };
        for (name, model, weights) in [
            ("one penalty", plain.linear(), Array1::ones(80)),
            ("with weights", weighted.linear(), weights.clone()),
            ("a path", path.linear(), Array1::ones(80)),
            ("a state", state.linear(), Array1::ones(80)),
        ] {
            let off = apart(model, &of(model, &weights));
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

/// What sums alone give is refused where there are none.
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
    // Fewer rows than features, too, are solved by sums.
    let few = Ridge::on(Fourier::new(Gaussian).features(64)).intercept(Intercept::Penalised);
    let few = few.device(&Device::cpu()).lambda(1e-3).fit((&x, &y));
    assert!(
        !few.expect("fits")
            .linear()
            .facts
            .contains_key("rows_in_memory")
    );
}
