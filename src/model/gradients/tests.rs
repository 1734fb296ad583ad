//! Gradients compared with central differences of the formula, and with closed forms.

use super::*;
use crate::{
    features::{KernelColumns, Linear},
    job::TargetScale,
    models::PosteriorFunctions,
    prelude::*,
};
use ndarray::{Array1, Array2, array};

fn rows(n: usize) -> (Array2<f64>, Array1<f64>) {
    let at = |(i, j): (usize, usize)| [0.01, 3.0][j] * ((i * [37, 53][j]) % 101) as f64 / 25.0;
    let x = Array2::from_shape_fn((n, 2), at);
    let y = x.rows().into_iter();
    let y = y.map(|x| (100.0 * x[0]).sin() + 0.1 * x[1] + 0.3).collect();
    (x, y)
}

/// Outputs by the formula of the map, in f64.
fn outputs(model: &LinearModel, x: &Array2<f64>) -> Array2<f64> {
    let u_nd = model.map.input().apply(&Rows::from(x)).expect("fits");
    let formula = model.map.formula().expect("a formula");
    let z_nd = formula.features(u_nd.view()).expect("fits");
    z_nd.dot(&model.coefficients.beta_dt)
}

/// Checks that the gradients equal central differences, within a millionth of the largest.
fn are_differences(model: &LinearModel, x: &Array2<f64>) {
    let found = model
        .gradients()
        .expect("smooth")
        .at(&Rows::from(x))
        .expect("fits");
    let largest = found.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    assert!(largest > 0.0);
    for (j, step) in [1e-6, 3e-4].into_iter().enumerate() {
        let moved = |by: f64| {
            let mut moved = x.clone();
            moved.column_mut(j).mapv_inplace(|v| v + by);
            outputs(model, &moved)
        };
        let expected = (moved(step) - moved(-step)) / (2.0 * step);
        let of_column = found.slice(s![.., .., j]);
        let scale = expected.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let apart = (&of_column - &expected).mapv(f64::abs);
        assert!(
            apart.iter().all(|e| *e <= 2e-5 * scale),
            "{j}: {apart} of {scale}"
        );
    }
}

#[test]
fn gradients_are_central_differences() {
    let (x, y) = rows(40);
    let matern = || Matern::new(2.5).expect("a kernel");
    let cpu = Device::cpu();
    let ridge = |map: Box<dyn Fn() -> Ridge>| {
        let ridge = map()
            .standardize(Standardize::Yes)
            .device(&cpu)
            .lambda(1e-3);
        ridge.fit((&x, &y)).expect("fits")
    };
    let fourier = || Fourier::new(Gaussian).features(40);
    for model in [
        ridge(Box::new(move || Ridge::on(fourier()))),
        ridge(Box::new(move || {
            Ridge::on(fourier()).linear_part(Linear::Yes)
        })),
        ridge(Box::new(move || {
            Ridge::on(Nystrom::new(matern()).features(20))
        })),
        ridge(Box::new(|| {
            Ridge::on(ArcCosine::new().order(2).features(40))
        })),
    ] {
        are_differences(model.linear(), &x.slice(s![..9, ..]).to_owned());
    }
    // Functions of a process, drawn by coefficients and by Matheron's rule.
    let process = GaussianProcess::on(fourier()).device(&cpu);
    let process = process.noise(0.01).signal(1.0).fit((&x, &y)).expect("fits");
    let bytes = process.linear().to_bytes().expect("writes");
    let drawn = LinearModel::from_bytes(&bytes).expect("reads");
    are_differences(&drawn.sample(0, 5, Seed(3)).expect("draws"), &x);
    let functions = PosteriorFunctions::on(KernelColumns::new(matern()));
    let functions = functions.device(&cpu).samples(5).features(60).noise(0.01);
    let functions = functions.signal(1.0).fit((&x, &y)).expect("fits");
    // Between the rows, since a Matern kernel is not smooth at them.
    let between = &x + &array![[0.003, 0.7]];
    are_differences(functions.linear(), &between);
}

/// `d/dx sum_k a_k cos(w_k x) + b_k sin(w_k x)` with the drawn frequencies, for every output, at
/// more rows than a block has.
#[test]
fn gradients_are_the_closed_form_in_every_block() {
    let x = Array2::from_shape_fn((BLOCK_ROWS + 90, 1), |(i, _)| i as f64 / 100.0);
    let y = ndarray::concatenate![Axis(1), x.mapv(f64::sin), x.mapv(|x| (2.0 * x).cos()),];
    let ridge = Ridge::on(Fourier::new(Gaussian).features(30)).bandwidth(Bandwidth::Sigma(0.8));
    let ridge = ridge
        .standardize(Standardize::No)
        .lambda(1e-4)
        .device(&Device::cpu());
    let model = ridge.fit((&x, &y)).expect("fits");
    let found = model.gradients(&x).expect("smooth");
    assert_eq!(found.dim(), (x.nrows(), 2, 1));
    let linear = model.linear();
    let map = linear.map.fourier().expect("Fourier features");
    let parameters = map.parameters();
    let (beta, scale) = (&linear.coefficients.beta_dt, map.input().scale()[0]);
    for (i, x) in x.column(0).iter().enumerate() {
        for t in 0..2 {
            let of = |k: usize| {
                let w = std::f64::consts::TAU * f64::from(parameters.w_ds[[0, k]]) * scale;
                let root = f64::from(parameters.amplitude_s[k]);
                let (sin, cos) = (w * (x - map.input().center()[0])).sin_cos();
                root * w * (beta[[15 + k, t]] * cos - beta[[k, t]] * sin)
            };
            let expected: f64 = (0..15).map(of).sum();
            let apart = (found[[i, t, 0]] - expected).abs();
            assert!(apart < 1e-6, "{i} {t}: {} {expected}", found[[i, t, 0]]);
        }
    }
}

#[test]
fn what_has_no_gradient_says_so() {
    let (x, y) = rows(60);
    let refused = |ridge: Ridge| {
        let ridge = ridge.device(&Device::cpu()).lambda(1e-3);
        let model = ridge.fit((&x, &y)).expect("fits");
        model.gradients(&x).expect_err("refused").to_string()
    };
    let fourier = || Fourier::new(Gaussian).features(8);
    let bent = refused(Ridge::on(fourier()).standardize(Standardize::Rank));
    assert!(bent.contains("by raw columns"), "{bent}");
    let binned = refused(Ridge::on(Binning::new(Laplacian).grids(4)));
    assert!(binned.contains("binning"), "{binned}");
    let moved = refused(Ridge::on(fourier()).target_scale(TargetScale::Rank));
    assert!(moved.contains("another scale"), "{moved}");
    let kernel: std::sync::Arc<dyn Kernel> = std::sync::Arc::new(Gaussian);
    let model = Ridge::on(Fourier::new(kernel).features(8)).device(&Device::cpu());
    let model = model.lambda(1e-3).fit((&x, &y)).expect("fits");
    assert!(model.gradients(array![[1.0]]).is_err());
    assert!(model.gradients(array![[1.0, f64::NAN]]).is_err());
}
