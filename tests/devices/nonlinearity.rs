//! User-defined nonlinearities: the same features, fits and predictions on the CPU and on every
//! adapter, expressions that are refused, and files.

use crate::common::{devices, gpus, normal, worst};
use bochner::{
    Error, Matrix,
    analysis::features_of,
    data::Rows,
    error::Remedy,
    features::{Affine, DenseFeatures, FeatureMap, Store, read},
    prelude::*,
};
use ndarray::{Array1, Array2};
use std::process::Command;

fn gelu(t: f32) -> f32 {
    0.5 * t * (1.0 + (0.797_884_6 * (t + 0.044_715 * t * t * t)).tanh())
}

/// Works on every GPU: arguments that would overflow are clamped.
const GELU: &str = "0.5 * t * (1.0 + tanh(clamp(0.7978846 * (t + 0.044715 * t * t * t), -20, 20)))";

fn swish(t: f32) -> f32 {
    t / (1.0 + (-t).exp())
}

fn built(custom: &Custom, columns: usize) -> DenseFeatures {
    custom.build(Affine::identity(columns)).expect("builds")
}

type Function = fn(f32) -> f32;

/// Functions with jumps, kinks, poles and overflow, and their expressions.
fn pairs() -> Vec<(Custom, Function)> {
    let all: [(&str, Function, &str); 9] = [
        ("gelu", gelu, GELU),
        ("tanh", f32::tanh, "tanh(clamp(t, -10.0, 10.0))"),
        ("swish", swish, "t / (1.0 + exp(-t))"),
        ("sine", f32::sin, "sin(t)"),
        ("gaussian", |t| (-t * t).exp(), "exp(-t * t)"),
        ("exponential", f32::exp, "exp(t)"),
        (
            "sign",
            |t| if t > 0.0 { 1.0 } else { -1.0 },
            "select(-1.0, 1.0, t > 0.0)",
        ),
        (
            "leaky",
            |t| if t > 0.0 { t } else { 0.01 * t },
            "select(0.01 * t, t, t > 0)",
        ),
        ("logarithm", |t| t.abs().ln(), "log(abs(t))"),
    ];
    let custom = all.map(|(name, f, text)| (Custom::new(name, f).wgsl(text), f));
    custom.into()
}

/// Features and predictions, for few rows and for many, compared with f64; a missing scale is
/// detected.
#[test]
fn features_and_predictions_are_those_of_the_function_on_devices() {
    for (custom, f) in pairs() {
        // One frequency more than whole vec4s: the padding must have no effect, even if the
        // function is infinite at zero.
        let map = custom
            .features(61)
            .build(Affine::identity(7))
            .expect("builds");
        let dense = map.parameters();
        for rows in [1, 3, 70] {
            let x = normal(rows, 7, 1);
            let t = x.mapv(f64::from).dot(&dense.w_ds.mapv(f64::from));
            let amplitude = f64::from(dense.amplitude_s[0]);
            let exact = t.mapv(|t| amplitude * f64::from(f(t as f32)));
            let beta = normal(61, 2, 3);
            let y_exact = exact.dot(&beta.mapv(f64::from));
            for device in devices() {
                let what = format!("{} of {rows} rows on {device:?}", map.describe());
                let mut loaded = map.load(device).expect(&what);
                let x_nd = Matrix::upload(device, x.view()).expect("fits");
                let nan = |cols| Array2::from_elem((rows, cols), f32::NAN);
                let mut z_nd = Matrix::upload(device, nan(61).view()).expect("fits");
                loaded.featurize(&x_nd, &mut z_nd).expect(&what);
                let z = z_nd.download().expect("reads back");
                // A few millionths of t, and the accuracy that WGSL allows.
                let close = |i: usize, j: usize| {
                    let exact: f64 = exact[[i, j]];
                    amplitude * 1e-3 + 1e-3 * exact.abs()
                };
                // Only away from jumps and poles.
                let smooth = |i: usize, j: usize| {
                    if t[[i, j]].abs() > 0.01 {
                        close(i, j)
                    } else {
                        f64::INFINITY
                    }
                };
                assert!(worst(z.view(), exact.view(), smooth) < 1.0, "{what}");
                assert!(
                    worst(z.view(), (&exact * 1.2).view(), smooth) > 1.0,
                    "{what}"
                );
                let beta_dt = Matrix::upload(device, beta.view()).expect("fits");
                let mut y_nt = Matrix::upload(device, nan(2).view()).expect("fits");
                loaded.predict(&x_nd, &beta_dt, &mut y_nt).expect(&what);
                let y = y_nt.download().expect("reads back");
                // The fused prediction is the features times the coefficients.
                let y_of_z = z.mapv(f64::from).dot(&beta.mapv(f64::from));
                let size = z
                    .mapv(|v| f64::from(v.abs()))
                    .dot(&beta.mapv(|b| f64::from(b.abs())));
                let sums = |i: usize, j: usize| 1e-3 * size[[i, j]];
                assert!(worst(y.view(), y_of_z.view(), sums) < 1.0, "{what}");
                assert!(
                    worst(y.view(), (&y_exact * 1.2 + 1.0).view(), sums) > 1.0,
                    "{what}"
                );
            }
        }
    }
}

#[test]
fn a_fit_and_its_predictions_agree_on_devices() {
    let x = normal(300, 4, 1).mapv(f64::from);
    let y: Array1<f64> = x
        .rows()
        .into_iter()
        .map(|x| (x[0] * x[1]).tanh() + x[2])
        .collect();
    let map = || Custom::new("gelu", gelu).wgsl(GELU).features(120);
    let fit = |device: &Device| {
        let ridge = Ridge::on(map())
            .bandwidth(Bandwidth::Sigma(2.0))
            .lambda(1e-4);
        let model = ridge.device(device).fit((&x, &y)).expect("fits");
        model.predict(&x).expect("predicts")
    };
    let cpu = fit(&Device::cpu());
    let rmse =
        |y: &Array1<f64>, p: &Array1<f64>| (y - p).mapv(|e| e * e).mean().expect("rows").sqrt();
    assert!(rmse(&y, &cpu) < 0.2, "{}", rmse(&y, &cpu));
    for device in gpus() {
        let gpu = fit(device);
        let off = rmse(&cpu, &gpu);
        assert!(off < 1e-3, "{off} on {device:?}");
    }
}

/// Negative control of the comparison at load: each of these is wrong somewhere, the last two where
/// data are rare.
#[test]
fn an_expression_that_is_not_the_function_is_refused_by_every_adapter() {
    let tanh = |text: &str| Custom::new("tanh", f32::tanh).wgsl(text);
    let wrong = [
        tanh("t"),
        tanh("tanh(1.01 * clamp(t, -10.0, 10.0))"),
        tanh("tanh(clamp(t, -10.0, 10.0)) + 0.004"),
        tanh("select(tanh(clamp(t, -10.0, 10.0)), 0.0, t == 0.25)"),
        tanh("log(t)"),
        tanh("t / 0.0"),
        Custom::new("small", |t: f32| 1e-5 * t.tanh()).wgsl("1e-5 * tanh(1.02 * clamp(t, -9, 9))"),
        Custom::new("line", |t| t).wgsl("clamp(t, -100.0, 100.0)"),
        Custom::new("parabola", |t| t * t).wgsl("select(t * t, 0.0, t < -127.0)"),
    ];
    for device in gpus() {
        for custom in &wrong {
            // A difference only at a quarter, where the function has no jump, is detected if the
            // sweep includes a quarter.
            let refused = built(custom, 3).load(device).expect_err("differs");
            assert!(matches!(refused, Error::Parameter(_)), "{refused}");
            let message = refused.to_string();
            println!("{message}");
            for part in ["differ on", "at t = ", "WGSL `"] {
                assert!(
                    message.contains(part) && !message.contains('\n'),
                    "{message}"
                );
            }
        }
    }
}

/// One name with two texts: pipelines are distinguished by the text, in one process and on one
/// device.
#[test]
fn functions_of_one_name_do_not_share_a_shader_on_devices() {
    for device in gpus() {
        let square = Custom::new("own", |t| t * t).wgsl("t * t").features(8);
        let absolute = Custom::new("own", f32::abs).wgsl("abs(t)").features(8);
        let x = Rows::from(normal(5, 3, 1));
        for custom in [&square, &absolute, &square] {
            let map = built(custom, 3);
            let cpu = features_of(&map, &x, &Device::cpu()).expect("runs");
            let gpu = features_of(&map, &x, device).expect("runs");
            let off = (&cpu - &gpu).fold(0.0_f64, |worst, e| worst.max(e.abs()));
            assert!(off < 1e-5, "{off} on {device:?}");
        }
    }
}

#[test]
fn without_an_expression_a_gpu_says_how_to_give_it_on_devices() {
    let map = built(&Custom::new("tanh", f32::tanh), 3);
    assert!(map.load(&Device::cpu()).is_ok());
    for device in gpus() {
        let error = map.load(device).expect_err("has no expression");
        let remedies = error.remedies();
        assert!(remedies.contains(&Remedy::UseCpu), "{error}");
        assert!(error.to_string().contains(".wgsl("), "{error}");
    }
}

#[test]
fn what_is_no_expression_is_refused_when_it_is_built() {
    let custom = Custom::new("broken", f32::tanh).wgsl("tanh(t; }");
    let built = custom.build(Affine::identity(3));
    for error in [
        built.expect_err("built"),
        custom.register().expect_err("registered"),
    ] {
        assert!(matches!(error, Error::Parameter(_)), "{error}");
        assert!(error.to_string().contains("broken, `tanh(t; }`"), "{error}");
    }
}

const MODEL: &str = "BOCHNER_TEST_MODEL";

fn rows() -> Array2<f64> {
    normal(40, 3, 5).mapv(f64::from)
}

#[test]
fn a_registered_function_is_saved_and_loaded_in_another_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("swish.model");
    let x = rows();
    let y: Array1<f64> = x.column(0).mapv(f64::tanh);
    let custom = Custom::new("swish", swish)
        .wgsl("t / (1.0 + exp(-t))")
        .features(30);
    let model = Ridge::on(custom.clone())
        .bandwidth(Bandwidth::Sigma(1.0))
        // The other process predicts on it too, since a GPU has different rounding.
        .device(&Device::cpu())
        .fit((&x, &y));
    let model = model.expect("fits");
    let refused = model
        .save(&path)
        .expect_err("is not registered")
        .to_string();
    assert!(
        refused.contains("Custom::new(\"swish\", ..).register()"),
        "{refused}"
    );
    assert!(!path.exists());
    custom.register().expect("is free");
    assert!(
        custom
            .register()
            .expect_err("is taken")
            .to_string()
            .contains("swish")
    );
    // Another function with the same name cannot be stored.
    let other = built(&Custom::new("swish", f32::tanh), 3);
    let refused = other.write(&mut Store::default()).expect_err("is another");
    assert!(
        refused.to_string().contains("another function"),
        "{refused}"
    );
    model.save(&path).expect("saves");
    let predicted = model.predict(&x).expect("predicts");
    let read: Model<Array1<f64>> = Model::load(&path).expect("loads");
    let read = read.device(&Device::cpu());
    assert_eq!(read.predict(&x).expect("predicts"), predicted);
    let child = |test: &str| {
        let this = std::env::current_exe().expect("this test");
        let mut child = Command::new(this);
        child.args(["--exact", test, "--ignored", "--nocapture"]);
        let output = child.env(MODEL, &path).output().expect("runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{text}"
        );
        text
    };
    child("nonlinearity::loads_with_another_function_or_none");
    let text = child("nonlinearity::loads_with_the_same_function");
    for y in &predicted {
        assert!(text.contains(&format!("{y:?}")), "{y} is not among {text}");
    }
}

#[test]
#[ignore = "the other process of a_registered_function_is_saved_and_loaded_in_another_process"]
fn loads_with_the_same_function() {
    let path = std::env::var_os(MODEL).expect("a model");
    let custom = Custom::new("swish", swish).wgsl("t / (1.0 + exp(-t))");
    custom.register().expect("is free");
    let model: Model<Array1<f64>> = Model::load(path).expect("loads");
    println!(
        "{:?}",
        model
            .device(&Device::cpu())
            .predict(rows())
            .expect("predicts")
            .to_vec()
    );
}

#[test]
#[ignore = "the other process of a_registered_function_is_saved_and_loaded_in_another_process"]
fn loads_with_another_function_or_none() {
    let path = std::env::var_os(MODEL).expect("a model");
    let load = || {
        Model::<Array1<f64>>::load(&path)
            .expect_err("is not known")
            .to_string()
    };
    let message = load();
    assert!(
        message.contains("Custom::new(\"swish\", ..).register()"),
        "{message}"
    );
    Custom::new("swish", f32::tanh).register().expect("is free");
    let message = load();
    assert!(message.contains("other values"), "{message}");
}

/// A part of a union stores its function like a map.
#[test]
fn a_map_in_a_store_comes_back_with_its_function_on_devices() {
    let custom = Custom::new("cube", |t| t * t * t)
        .wgsl("t * t * t")
        .features(9);
    custom.register().expect("is free");
    let map = built(&custom, 2);
    let mut store = Store::default();
    map.write(&mut store).expect("writes");
    let again = read(&store).expect("reads");
    let x = Rows::from(normal(4, 2, 1));
    for device in devices() {
        let z = features_of(&map, &x, device).expect("runs");
        assert_eq!(features_of(again.as_ref(), &x, device).expect("runs"), z);
    }
}
