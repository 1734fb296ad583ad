//! Gaussian processes and calibrated intervals through the builders: compared with the exact
//! process, and with their nominal coverage, on every device.

use crate::common::devices;
use bochner::{
    models::{GaussianProcess, Lasso, LinearModel},
    prelude::*,
    sampling::Sampling,
    seed::Stream,
};
use ndarray::{Array1, Array2, Axis};

/// Rows of one column between 0 and 10, and a wave with noise of deviation `noise`.
fn wave(rows: usize, noise: f64, seed: u64) -> (Array2<f64>, Array1<f64>) {
    let mut draws = Seed(seed).stream(Stream::Data, 0);
    let x = Array2::from_shape_simple_fn((rows, 1), || 10.0 * draws.uniform());
    let y = x.column(0).mapv(|x| x.sin() + noise * draws.normal());
    (x, y)
}

/// Mean and variance of the exact process, f of covariance `signal exp(-|x - y|^2 / 2)`, at `new`
/// (Rasmussen & Williams 2006, algorithm 2.1).
fn exact(
    (x, y): (&Array2<f64>, &Array1<f64>),
    new: &Array2<f64>,
    (signal, noise): (f64, f64),
) -> (Array1<f64>, Array1<f64>) {
    let k = |a: f64, b: f64| signal * (-0.5 * (a - b).powi(2)).exp();
    let n = x.nrows();
    let mut l = Array2::from_shape_fn((n, n), |(i, j)| {
        k(x[[i, 0]], x[[j, 0]]) + if i == j { noise } else { 0.0 }
    });
    for j in 0..n {
        for i in j..n {
            let dot: f64 = (0..j).map(|m| l[[i, m]] * l[[j, m]]).sum();
            l[[i, j]] = if i == j {
                (l[[i, j]] - dot).sqrt()
            } else {
                (l[[i, j]] - dot) / l[[j, j]]
            };
        }
    }
    let solve = |b: &mut Array1<f64>| {
        for i in 0..n {
            let dot: f64 = (0..i).map(|m| l[[i, m]] * b[m]).sum();
            b[i] = (b[i] - dot) / l[[i, i]];
        }
    };
    let mut l_y = y.clone();
    solve(&mut l_y);
    let at = new.column(0).mapv(|new| {
        let mut cross = x.column(0).mapv(|x| k(x, new));
        solve(&mut cross);
        (cross.dot(&l_y), signal - cross.dot(&cross))
    });
    (at.mapv(|a| a.0), at.mapv(|a| a.1))
}

#[test]
fn a_gaussian_process_nears_the_exact_one_on_devices() {
    let (x, y) = wave(80, 0.2, 1);
    let new = Array2::from_shape_fn((25, 1), |(i, _)| i as f64 / 2.4);
    let (signal, noise) = (1.3, 0.05);
    let (mean, variance) = exact((&x, &y), &new, (signal, noise));
    for device in devices() {
        let off = |map: Box<dyn MapBuilder>| {
            let model = GaussianProcess::on(map)
                .bandwidth(Bandwidth::Sigma(1.0))
                .standardize(Standardize::No)
                .device(device)
                .noise(noise)
                .signal(signal)
                .intercept(false)
                .fit((&x, &y))
                .expect("fits");
            let intervals = model.intervals(&new, 0.9).expect("has intervals");
            let deviation = intervals.deviation_nt.expect("has a variance");
            let worst = |a: &Array1<f64>, b: &Array1<f64>| {
                let off = (a - b).mapv(f64::abs);
                off.fold(0.0_f64, |m, &e| m.max(e))
            };
            let found = deviation.column(0).mapv(|d| d * d - noise);
            (
                worst(&mean, &intervals.predicted_nt.column(0).to_owned()),
                worst(&variance, &found),
            )
        };
        let map = |features| {
            Fourier::new(Gaussian)
                .sampling(Sampling::Lattice)
                .features(features)
        };
        let (few, many) = (off(Box::new(map(32))), off(Box::new(map(1024))));
        println!("{}: {few:?} {many:?}", device.describe());
        assert!(many.0 < 0.06 && many.1 < 0.03, "{many:?}");
        assert!(
            2.0 * many.0 < few.0 && 2.0 * many.1 < few.1,
            "{few:?} {many:?}"
        );
    }
}

/// The true variances are recovered.
#[test]
fn the_likeliest_variances_are_near_the_true_ones() {
    let (x, y) = wave(800, 0.3, 2);
    let model = GaussianProcess::on(Fourier::new(Gaussian).features(200))
        .bandwidth(Bandwidth::Sigma(1.5))
        .device(&Device::cpu())
        .fit((&x, &y))
        .expect("fits");
    let facts = &model.linear().facts;
    let noise = facts["noise_deviation"];
    // One standard error of a deviation of 800 values is a fortieth.
    assert!((noise / 0.3 - 1.0).abs() < 0.08, "{noise}");
    assert!(facts["effective_dimension"] < 30.0, "{facts:?}");
    let (new, y_new) = wave(4000, 0.3, 3);
    let intervals = model.intervals(&new, 0.9).expect("has intervals");
    let share = coverage(&intervals, &y_new);
    assert!((share - 0.9).abs() < 0.03, "{share}");
}

/// More features than rows, and a kernel so smooth that most directions of the sums are rounding:
/// these are not treated as features, on any device. Only some draws of the rows are affected, so
/// there are twelve.
#[test]
fn rounding_of_the_sums_is_no_signal_on_devices() {
    let (rows, noise) = (46, 0.15);
    for device in devices() {
        for seed in 0..12 {
            let (x, y) = wave(rows, noise, seed);
            let model = GaussianProcess::on(Fourier::new(Gaussian).features(500))
                .bandwidth(Bandwidth::Sigma(3.0))
                .standardize(Standardize::No)
                .device(device)
                .fit((&x, &y))
                .expect("fits");
            let facts = &model.linear().facts;
            // Four standard errors of a deviation.
            let bound = 4.0 / (2.0 * rows as f64).sqrt();
            let found = facts["noise_deviation"] / noise;
            assert!((found - 1.0).abs() < bound, "{seed}: {facts:?}");
            assert!(facts["effective_dimension"] < 10.0, "{seed}: {facts:?}");
            let (new, y_new) = wave(2000, 0.0, 100);
            let predicted = model.predict(&new).expect("predicts");
            let square = (&predicted - &y_new).mapv(|e| e * e).mean();
            assert!(square.expect("rows") < noise * noise, "{seed}: {square:?}");
        }
    }
}

fn coverage(intervals: &bochner::models::Intervals, y: &Array1<f64>) -> f64 {
    let bounds = intervals.lower_nt.column(0).to_owned();
    let bounds = bounds.iter().zip(intervals.upper_nt.column(0));
    let held = bounds.zip(y).filter(|((l, u), y)| (*l..=*u).contains(y));
    held.count() as f64 / y.len() as f64
}

/// Coverage holds for any model: here the noise is skewed and grows with x, and the map is far too
/// small.
#[test]
fn calibrated_intervals_hold_what_they_promise() {
    let skewed = |rows, seed| {
        let (x, y) = wave(rows, 0.0, seed);
        let mut draws = Seed(seed).stream(Stream::Data, 1);
        let y = Array1::from_shape_fn(rows, |i| y[i] - (0.1 + x[[i, 0]]) * draws.uniform().ln());
        (x, y)
    };
    let (mut ridge, mut process) = (0.0, 0.0);
    let repetitions = 60;
    for seed in 0..repetitions {
        let (x, y) = skewed(200, seed);
        let (new, y_new) = skewed(300, 1000 + seed);
        let cpu = Device::cpu();
        let map = || Fourier::new(Gaussian).features(8);
        let model = Ridge::on(map())
            .device(&cpu)
            .calibrate(0.3)
            .seed(Seed(seed));
        let model = model.fit((&x, &y)).expect("fits");
        ridge += coverage(&model.intervals(&new, 0.8).expect("calibrated"), &y_new);
        let model = GaussianProcess::on(map()).device(&cpu).calibrate(0.3);
        let model = model.seed(Seed(seed)).fit((&x, &y)).expect("fits");
        process += coverage(&model.intervals(&new, 0.8).expect("calibrated"), &y_new);
    }
    for share in [ridge, process].map(|sum| sum / repetitions as f64) {
        // The mean over calibrations with m rows is between 0.8 and 0.8 + 1/(m + 1), m about 60;
        // the coverage of one varies by sqrt(.8 .2 / 60 + .8 .2 / 300) = 0.056, that of all by
        // 0.008.
        assert!((0.78..0.845).contains(&share), "{share}");
    }
}

#[test]
fn intervals_are_saved_and_errors_say_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gp.model");
    let (x, y) = wave(120, 0.2, 4);
    let y = ndarray::stack![Axis(1), y, &y * 2.0 + 5.0];
    let cpu = Device::cpu();
    let process = GaussianProcess::on(Fourier::new(Gaussian).features(32)).device(&cpu);
    for calibrate in [false, true] {
        let learner = if calibrate {
            process.clone().calibrate(0.25)
        } else {
            process.clone()
        };
        let model = learner.fit((&x, &y)).expect("fits");
        model.save(&path).expect("saves");
        let loaded = Model::<Array2<f64>>::load(&path)
            .expect("loads")
            .device(&cpu);
        let (a, b) = (model.intervals(&x, 0.7), loaded.intervals(&x, 0.7));
        assert_eq!(a.expect("has"), b.expect("has"));
        assert_eq!(loaded.linear().learner, "gaussian-process");
        assert_eq!(loaded.linear().facts, model.linear().facts);
        // The second target is twice the first.
        let widths = model.intervals(&x, 0.7).expect("has").width();
        let ratio = widths[[3, 1]] / widths[[3, 0]];
        assert!((ratio - 2.0).abs() < 1e-6, "{ratio}");
        assert!(model.intervals(&x, 1.0).is_err());
    }
    let kept = LinearModel::load(&path)
        .expect("loads")
        .conformal
        .expect("calibrated")
        .rows();
    let model = Model::<Array2<f64>>::load(&path)
        .expect("loads")
        .device(&cpu);
    let level = kept as f64 / (kept + 1) as f64;
    assert!(model.intervals(&x, level).is_ok());
    let message = model
        .intervals(&x, level + 1e-3)
        .expect_err("too high")
        .to_string();
    assert!(message.contains("calibrated rows"), "{message}");

    let plain = Lasso::on(Fourier::new(Gaussian).features(32)).device(&cpu);
    let plain = plain.fit((&x, &y)).expect("fits");
    let message = plain.intervals(&x, 0.9).expect_err("has none").to_string();
    assert!(message.contains(".calibrate(0.2)"), "{message}");
}

/// Functions drawn from the posterior of the second target, as a model with one output each.
#[test]
fn drawn_functions_are_a_model() {
    let (x, y) = wave(150, 0.1, 5);
    let y = ndarray::stack![Axis(1), y, 5.0 - &y * 2.0];
    let model = GaussianProcess::on(Fourier::new(Gaussian).features(64))
        .bandwidth(Bandwidth::Sigma(1.5))
        .device(&Device::cpu())
        .fit((&x, &y))
        .expect("fits");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gp.model");
    model.save(&path).expect("saves");
    let intervals = model.intervals(&x, 0.9).expect("has");
    let linear = LinearModel::load(&path).expect("loads");
    let drawn = linear.sample(1, 400, Seed(1)).expect("draws");
    let device = Device::cpu();
    let f = drawn
        .on(&device)
        .expect("loads")
        .predict(&(&x).into())
        .expect("predicts");
    assert_eq!(f.dim(), (150, 400));
    let noise = model.linear().facts["noise_deviation_1"];
    for i in [0, 70, 149] {
        let (mean, sd) = (f.row(i).mean().expect("some"), f.row(i).std(1.0));
        let deviation = intervals.deviation_nt.as_ref().expect("has")[[i, 1]];
        let latent = (deviation * deviation - noise * noise).sqrt();
        assert!((mean - intervals.predicted_nt[[i, 1]]).abs() < 5.0 * latent / 20.0);
        assert!((sd / latent - 1.0).abs() < 0.2, "{sd} {latent}");
    }
}

/// If all rows are landmarks the kernel is exact, and so are means, deviations and bounds, the
/// marginal likelihood and the effective dimension (Rasmussen & Williams 2006, sec. 2.2 and eq.
/// 2.30).
#[test]
fn with_every_row_a_landmark_the_process_is_the_exact_one() {
    let (x, y) = wave(40, 0.2, 7);
    let (signal, noise) = (1.3, 0.05);
    let model = GaussianProcess::on(Nystrom::new(Gaussian).features(40))
        .bandwidth(Bandwidth::Sigma(1.0))
        .standardize(Standardize::No)
        .device(&Device::cpu())
        .noise(noise)
        .signal(signal)
        .intercept(false)
        .fit((&x, &y))
        .expect("fits");
    let (mean, variance) = exact((&x, &y), &x, (signal, noise));
    for (level, quantile) in [
        (0.95, 1.959_963_984_540_054),
        (0.5, 0.674_489_750_196_081_7),
    ] {
        let found = model.intervals(&x, level).expect("has intervals");
        for i in 0..40 {
            let deviation = (variance[i] + noise).sqrt();
            let predicted = found.predicted_nt[[i, 0]];
            assert!((predicted - mean[i]).abs() < 3e-3, "{i}: {predicted}");
            let own = found.deviation_nt.as_ref().expect("has a variance")[[i, 0]];
            assert!(
                (own / deviation - 1.0).abs() < 3e-3,
                "{i}: {own} {deviation}"
            );
            for half in [
                found.upper_nt[[i, 0]] - predicted,
                predicted - found.lower_nt[[i, 0]],
            ] {
                assert!((half / own - quantile).abs() < 1e-9, "{half} {own}");
            }
        }
    }
    let k = bochner::kernels::gram(&Gaussian, x.view()) * signal;
    let values = faer::Mat::from_fn(40, 40, |i, j| k[[i, j]])
        .self_adjoint_eigenvalues(faer::Side::Lower)
        .expect("finite");
    let determinant: f64 = values.iter().map(|s| (s.max(0.0) + noise).ln()).sum();
    let dimension: f64 = values.iter().map(|s| s / (s + noise)).sum();
    // y'K^-1 y = y'(y - mean of f)/noise.
    let fit = y.dot(&(&y - &mean)) / noise;
    let likelihood = -0.5 * (fit + determinant + 40.0 * std::f64::consts::TAU.ln());
    let facts = &model.linear().facts;
    for (name, expected) in [
        ("noise_deviation", noise.sqrt()),
        ("signal_deviation", signal.sqrt()),
        ("effective_dimension", dimension),
        ("log_marginal_likelihood", likelihood),
    ] {
        let ratio = facts[name] / expected;
        assert!(
            (ratio - 1.0).abs() < 3e-3,
            "{name}: {} {expected}",
            facts[name]
        );
    }
    let lambda = model.linear().lambda;
    assert!(
        (lambda / (noise / signal / 40.0) - 1.0).abs() < 1e-12,
        "{lambda}"
    );
}

/// The ranked errors of the calibration rows, relative to the deviation for models with a variance.
#[test]
fn calibrated_bounds_are_the_ranked_errors_of_the_calibration() {
    let (x, y) = wave(90, 0.2, 8);
    let y = ndarray::stack![Axis(1), y, &y * 3.0 - 1.0];
    let (other, y_other) = wave(50, 0.4, 9);
    let y_other = ndarray::stack![Axis(1), y_other, &y_other * 2.0];
    let cpu = Device::cpu();
    let map = || Fourier::new(Gaussian).features(16);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model");
    let process = GaussianProcess::on(map()).device(&cpu).fit((&x, &y));
    let process = process.expect("fits");
    process.save(&path).expect("saves");
    let scale = process.intervals(&other, 0.5).expect("has").deviation_nt;
    let ridge = Ridge::on(map()).device(&cpu).fit((&x, &y)).expect("fits");
    for (scale, name) in [(scale, "process"), (None, "ridge")] {
        if scale.is_none() {
            ridge.save(&path).expect("saves");
        }
        let mut linear = LinearModel::load(&path).expect("loads");
        let mut source =
            bochner::data::MemorySource::new(&other, Some(y_other.clone())).expect("finite");
        linear.calibrate(&mut source, &cpu).expect("calibrates");
        let mut on = linear.intervals_on(&cpu).expect("calibrated");
        let found = on.predict(&(&other).into(), 0.8).expect("in reach");
        let mut errors = (&y_other - &found.predicted_nt).mapv(f64::abs);
        if let Some(scale) = &scale {
            errors /= scale;
        }
        for k in 0..2 {
            let mut ranked = errors.column(k).to_vec();
            ranked.sort_by(f64::total_cmp);
            // ceil(51 * 0.8) = 41.
            for i in 0..50 {
                let unit = scale.as_ref().map_or(1.0, |scale| scale[[i, k]]);
                let half = found.upper_nt[[i, k]] - found.predicted_nt[[i, k]];
                assert!((half / unit / ranked[40] - 1.0).abs() < 1e-9, "{name}");
            }
        }
    }
}
