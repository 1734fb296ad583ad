//! Drawn functions compared with the exact Gaussian process in closed form.

use super::*;
use crate::{
    features::KernelColumns,
    kernels::{Kernel, Matern, cross, gram},
    linalg::cholesky::Lower,
    models::{KernelRidge, PosteriorFunctions},
    prelude::*,
};
use std::sync::Arc;

const NOISE: f64 = 0.05;
const SIGNAL: f64 = 2.0;

fn rows() -> (Array2<f64>, Array1<f64>, Array2<f64>) {
    let x = ndarray::array![[0.0], [0.4], [0.9], [1.1], [2.5], [3.0], [3.2], [4.5]];
    let y = x.column(0).mapv(|x: f64| 1.0 + 1.5 * (1.3 * x).sin());
    (x, y, ndarray::array![[0.2], [1.0], [1.8], [3.9], [7.0]])
}

fn functions(kernel: &Arc<dyn Kernel>, samples: usize) -> PosteriorFunctions {
    PosteriorFunctions::on(KernelColumns::new(kernel.clone()))
        .bandwidth(Bandwidth::Sigma(1.0))
        .standardize(Standardize::No)
        .device(&Device::cpu())
        .noise(NOISE)
        .signal(SIGNAL)
        .samples(samples)
}

fn kernels() -> [Arc<dyn Kernel>; 2] {
    [
        Arc::new(Gaussian),
        Arc::new(Matern::new(2.5).expect("a kernel")),
    ]
}

/// Mean and covariance of the exact process at new rows (Rasmussen & Williams 2006, eqs. 2.23
/// and 2.24).
fn exact(kernel: &dyn Kernel) -> (Array1<f64>, Array2<f64>) {
    let (x, y, new) = rows();
    let mut k_nn = gram(kernel, x.view()) * SIGNAL;
    k_nn.diag_mut().mapv_inplace(|k| k + NOISE);
    let mut factor = Lower::from_matrix(&k_nn);
    assert!(factor.factor());
    let mut rooted = cross(kernel, x.view(), new.view()) * SIGNAL;
    factor.solve(&mut rooted);
    let mut y = y.insert_axis(Axis(1));
    factor.solve(&mut y);
    let covariance = gram(kernel, new.view()) * SIGNAL - rooted.t().dot(&rooted);
    (rooted.t().dot(&y).column(0).to_owned(), covariance)
}

/// Mean and covariance of functions over many seeds, each with its own draw of the prior. Since the
/// update is exact, both equal the exact process for any number of features.
#[test]
fn mean_and_covariance_are_those_of_the_exact_process() {
    let (x, y, new) = rows();
    let (seeds, samples) = (250, 40);
    for kernel in kernels() {
        let (mean, covariance) = exact(kernel.as_ref());
        // Row by row, the estimates of each seed: five means, and fifteen covariances.
        let mut found = Array2::zeros((seeds, 20));
        let mut expected = Array1::zeros(20);
        for seed in 0..seeds {
            let functions = functions(&kernel, samples).intercept(false).features(64);
            let model = functions.seed(Seed(seed as u64)).fit((&x, &y));
            let drawn = model.expect("fits").predict(&new).expect("predicts");
            // Deviations from the exact mean, so that no degrees of freedom are lost.
            let away = &drawn - &mean.view().insert_axis(Axis(1));
            let mut at = 5;
            for i in 0..5 {
                found[[seed, i]] = drawn.row(i).mean().expect("functions");
                expected[i] = mean[i];
                for j in 0..=i {
                    found[[seed, at]] = away.row(i).dot(&away.row(j)) / samples as f64;
                    expected[at] = covariance[[i, j]];
                    at += 1;
                }
            }
        }
        let average = found.mean_axis(Axis(0)).expect("seeds");
        let errors = found.std_axis(Axis(0), 1.0) / (seeds as f64).sqrt();
        for k in 0..20 {
            let off = (average[k] - expected[k]).abs();
            assert!(off < 4.0 * errors[k], "{k}: {average} {expected} {errors}");
        }
        // Variances are accurate to a few per cent.
        for variance in [5, 7, 10, 14, 19] {
            assert!(errors[variance] < 0.06 * expected[variance], "{errors}");
        }
    }
}

/// With many rows and few features, draws of coefficients have too little variance, even away from
/// the rows ("variance starvation", Wilson et al. 2020); draws by Matheron's rule return to the
/// prior.
#[test]
fn functions_vary_as_the_prior_away_from_the_rows() {
    let x = Array2::from_shape_fn((150, 1), |(i, _)| i as f64 / 25.0);
    let y = x.column(0).mapv(f64::sin);
    let new = ndarray::array![[3.0], [14.0]];
    let kernel: Arc<dyn Kernel> = Arc::new(Gaussian);
    let samples = 2000;
    let functions = functions(&kernel, samples).intercept(false).features(32);
    let functions = functions.bandwidth(Bandwidth::Sigma(0.1));
    let drawn = functions.fit((&x, &y)).expect("fits");
    let drawn = drawn.predict(&new).expect("predicts");
    let coefficients = GaussianProcess::on(Fourier::new(kernel).features(32));
    let coefficients = coefficients.bandwidth(Bandwidth::Sigma(0.1));
    let coefficients = coefficients.standardize(Standardize::No).intercept(false);
    let coefficients = coefficients
        .device(&Device::cpu())
        .noise(NOISE)
        .signal(SIGNAL);
    let model = coefficients
        .fit((&x, &y))
        .expect("fits")
        .linear()
        .to_bytes();
    let model = LinearModel::from_bytes(&model.expect("writes")).expect("reads");
    let model = model.sample(0, samples, Seed(1)).expect("draws");
    let starved = model.on(&Device::cpu()).expect("loads");
    let starved = { starved }
        .scores(&crate::data::Rows::from(&new))
        .expect("predicts");
    let far = |drawn: &Array2<f64>| drawn.row(1).var(1.0) / SIGNAL;
    // |z|^2 = 1 for any features, and the rows have no influence there.
    let bound = 4.0 * (2.0 / samples as f64).sqrt();
    assert!((far(&drawn) - 1.0).abs() < bound, "{}", far(&drawn));
    assert!(drawn.row(1).mean().expect("functions").abs() < 4.0 * (SIGNAL / samples as f64).sqrt());
    assert!(far(&starved) < 0.5, "{}", far(&starved));
    // Near the rows both have the same variance.
    let near = [&drawn, &starved].map(|drawn| drawn.row(0).var(1.0));
    assert!(near.iter().all(|v| *v < NOISE), "{near:?}");
}

/// Given its draws, a function equals the formula in f64 with the exact kernel.
#[test]
fn a_function_is_the_formula_of_its_draws() {
    let (x, y, new) = rows();
    for kernel in kernels() {
        let seed = Seed(5);
        let own = functions(&kernel, 3)
            .intercept(false)
            .features(60)
            .seed(seed);
        let found = own
            .fit((&x, &y))
            .expect("fits")
            .predict(&new)
            .expect("predicts");
        let (w_ds, e_ns) = draw(seed, (60, 8, 3));
        let fourier = Fourier::new(kernel.clone()).features(60);
        let features = Features::on(fourier)
            .bandwidth(Bandwidth::Sigma(1.0))
            .seed(seed);
        let features = features.standardize(Standardize::No).device(&Device::cpu());
        let features = features.fit(&x).expect("draws");
        let prior = |rows: &Array2<f64>| {
            let z = features.transform(rows).expect("runs").mapv(f64::from);
            z.dot(&w_ds) * SIGNAL.sqrt()
        };
        let mut k_nn = gram(kernel.as_ref(), x.view()) * SIGNAL;
        k_nn.diag_mut().mapv_inplace(|k| k + NOISE);
        let mut factor = Lower::from_matrix(&k_nn);
        assert!(factor.factor());
        let mut off = &y.view().insert_axis(Axis(1)) - &prior(&x) - &(e_ns * NOISE.sqrt());
        factor.solve(&mut off);
        factor.solve_transposed(&mut off);
        let k_new = cross(kernel.as_ref(), new.view(), x.view()) * SIGNAL;
        let expected = prior(&new) + k_new.dot(&off);
        let apart = (&found - &expected).mapv(f64::abs);
        assert!(apart.iter().all(|e| *e < 2e-5), "{apart}");
    }
}

/// With a flat prior of the intercept the functions scatter around kernel ridge regression and are
/// invariant under a constant added to the targets; variances that are not given are estimated.
#[test]
fn functions_lie_around_kernel_ridge_regression() {
    let (x, y, new) = rows();
    let kernel: Arc<dyn Kernel> = Arc::new(Gaussian);
    let ridge = KernelRidge::on(KernelColumns::new(kernel.clone()));
    let ridge = ridge
        .bandwidth(Bandwidth::Sigma(1.0))
        .standardize(Standardize::No);
    let ridge = ridge.device(&Device::cpu()).lambda(NOISE / SIGNAL / 8.0);
    let expected = ridge
        .fit((&x, &y))
        .expect("fits")
        .predict(&new)
        .expect("predicts");
    let model = functions(&kernel, 2000).fit((&x, &y)).expect("fits");
    let drawn = model.predict(&new).expect("predicts");
    let errors = drawn.std_axis(Axis(1), 0.0) / 2000_f64.sqrt();
    let mean = drawn.mean_axis(Axis(1)).expect("functions");
    for i in 0..5 {
        assert!(
            (mean[i] - expected[i]).abs() < 4.0 * errors[i] + 1e-4,
            "{mean} {expected}"
        );
    }
    let moved = functions(&kernel, 2)
        .fit((&x, &(&y + 100.0)))
        .expect("fits");
    let moved = moved.predict(&new).expect("predicts") - 100.0;
    let apart = moved - drawn.slice(ndarray::s![.., ..2]);
    assert!(apart.iter().all(|e| e.abs() < 1e-3), "{apart}");

    // Enough noise to keep the most likely variances inside their range.
    let y = &y + &x.column(0).mapv(|x| 0.2 * (x * 977.0).sin());
    let free = PosteriorFunctions::on(KernelColumns::new(kernel)).device(&Device::cpu());
    let free = free
        .bandwidth(Bandwidth::Sigma(1.0))
        .standardize(Standardize::No);
    let facts = free.fit((&x, &y)).expect("fits").linear().facts.clone();
    // No other variances are more likely.
    for (noise, signal) in [(1.1, 1.0), (0.9, 1.0), (1.0, 1.1), (1.0, 0.9)] {
        let other = free.clone();
        let other = other.noise(noise * facts["noise_deviation"].powi(2));
        let other = other.signal(signal * facts["signal_deviation"].powi(2));
        let other = other.fit((&x, &y)).expect("fits").linear().facts.clone();
        let name = "log_marginal_likelihood";
        assert!(other[name] < facts[name] + 1e-6, "{other:?} {facts:?}");
    }
}

/// `-1/2 (y'Py + log |K| + log(1'K^-1 1 / n) + (n - 1) log 2 pi)`, the restricted likelihood of
/// contrasts (Patterson & Thompson 1971), `P = K^-1 - K^-1 1 1'K^-1 / 1'K^-1 1`; without an
/// intercept Rasmussen & Williams (2.30).
#[test]
fn the_likelihood_is_that_of_the_exact_process() {
    let (x, y, _) = rows();
    let n = y.len() as f64;
    for kernel in kernels() {
        let mut k_nn = gram(kernel.as_ref(), x.view()) * SIGNAL;
        k_nn.diag_mut().mapv_inplace(|k| k + NOISE);
        let mut factor = Lower::from_matrix(&k_nn);
        assert!(factor.factor());
        let mut both = Array2::ones((y.len(), 2));
        both.column_mut(0).assign(&y);
        factor.solve(&mut both);
        let [yy, y1, one] =
            [(0, 0), (0, 1), (1, 1)].map(|(i, j)| both.column(i).dot(&both.column(j)));
        let log_determinant: f64 = (0..y.len()).map(|i| 2.0 * factor.row(i)[i].ln()).sum();
        let tau = std::f64::consts::TAU.ln();
        for (intercept, expected) in [
            (false, yy + log_determinant + n * tau),
            (
                true,
                yy - y1 * y1 / one + log_determinant + (one / n).ln() + (n - 1.0) * tau,
            ),
        ] {
            let functions = functions(&kernel, 1).intercept(intercept).fit((&x, &y));
            let found = functions.expect("fits").linear().facts["log_marginal_likelihood"];
            let expected = -0.5 * expected;
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }
}

#[test]
fn a_file_keeps_the_functions_and_what_cannot_be_drawn_says_so() {
    let (x, y, new) = rows();
    let kernel: Arc<dyn Kernel> = Arc::new(Gaussian);
    let model = functions(&kernel, 3).fit((&x, &y)).expect("fits");
    let bytes = model.linear().to_bytes().expect("writes");
    let read = LinearModel::from_bytes(&bytes).expect("reads");
    let mut predictor = read.on(&Device::cpu()).expect("loads");
    let again = predictor
        .predict(&crate::data::Rows::from(&new))
        .expect("predicts");
    assert_eq!(again, model.predict(&new).expect("predicts"));
    // Drawing more functions starts with the same ones.
    let more = functions(&kernel, 5).fit((&x, &y)).expect("fits");
    let more = more.predict(&new).expect("predicts");
    let apart = more.slice(ndarray::s![.., ..3]).to_owned() - &again;
    assert!(apart.iter().all(|e| e.abs() < 1e-5), "{apart}");

    let refused = |functions: PosteriorFunctions| {
        let refused = functions.fit((&x, &y)).expect_err("refused");
        refused.to_string()
    };
    assert!(refused(functions(&kernel, 0)).contains("at least 1"));
    let other = PosteriorFunctions::on(Fourier::new(Gaussian).features(8));
    assert!(refused(other.device(&Device::cpu())).contains("KernelColumns"));
    let two = ndarray::concatenate![Axis(1), x, x];
    let message = functions(&kernel, 2).fit((&x, &two)).expect_err("refused");
    assert!(message.to_string().contains("one target"), "{message}");
}

/// The estimates of a process on features give the same functions as if passed as options.
#[test]
fn functions_given_rows_are_those_of_the_same_variances() {
    let (x, y, new) = rows();
    let (cpu, seed) = (Device::cpu(), Seed(5));
    for kernel in kernels() {
        let process = GaussianProcess::on(Fourier::new(kernel.clone()).features(80));
        let process = process
            .bandwidth(Bandwidth::Sigma(1.0))
            .standardize(Standardize::No)
            .device(&cpu)
            .noise(NOISE)
            .signal(SIGNAL);
        for intercept in [true, false] {
            let process = process.clone().intercept(intercept).fit((&x, &y));
            let targets = y.clone().insert_axis(Axis(1));
            let mut source =
                crate::data::MemorySource::new(x.clone(), Some(targets)).expect("rows");
            let process = process.expect("fits");
            let run = crate::Run::on(&cpu);
            let drawn = process
                .linear()
                .sample_given((&mut source, 0), (3, 60), seed, &run)
                .expect("draws");
            let mut drawn = drawn.on(&cpu).expect("loads");
            let drawn = drawn
                .scores(&crate::data::Rows::from(&new))
                .expect("predicts");
            let expected = functions(&kernel, 3).features(60).seed(seed);
            let expected = expected.intercept(intercept).fit((&x, &y)).expect("fits");
            let apart = (drawn - expected.predict(&new).expect("predicts")).mapv(f64::abs);
            assert!(apart.iter().all(|e| *e < 1e-5), "{apart}");
            let two = process
                .linear()
                .sample_given((&mut source, 1), (3, 60), seed, &run);
            assert!(
                two.expect_err("no such target")
                    .to_string()
                    .contains("target 1")
            );
        }
    }
}
