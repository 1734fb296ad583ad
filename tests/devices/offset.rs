//! Columns far from 0, such as times and identifiers: results that depend on differences only lose
//! no digits to the offset.

use crate::common::{devices, gpus};
use bochner::{
    Device, Matrix, Result, Run,
    data::{MemorySource, Rows, Survey},
    features::{ArcCosine, Bandwidth, FeatureMap, Fourier, MapSpec, Nystrom, Standardize, Union},
    kernels::{self, Gaussian, Kernel},
    models::{FitOptions, LinearModel, Targets},
    seed::Seed,
};
use ndarray::Array2;

const ROWS: usize = 600;

/// 0 to 1, uniform, shuffled.
fn u(i: usize) -> f64 {
    (i * 7 % ROWS) as f64 / ROWS as f64
}

fn place(offset: f64) -> Array2<f64> {
    Array2::from_shape_fn((ROWS, 1), |(i, _)| 5.0 * u(i) + offset)
}

/// x = 5 u + offset and y = sin(6 u).
fn wave(offset: f64) -> (MemorySource, Array2<f64>) {
    let y = Array2::from_shape_fn((ROWS, 1), |(i, _)| (6.0 * u(i)).sin());
    let source = MemorySource::new(place(offset), Some(y.clone())).expect("finite");
    (source, y)
}

fn rmse(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    (a - b).mapv(|e| e * e).mean().expect("rows").sqrt()
}

/// Fits the wave and predicts its rows, with the model itself and as read back from a file.
fn error(map: &str, kernel: &str, offset: f64, device: &Device) -> Result<f64> {
    let (mut source, y) = wave(offset);
    let mut spec = MapSpec::new(map.parse()?, kernels::parse(kernel)?);
    spec.features = 100;
    let survey = Survey::new(&mut source, 1000, 0)?;
    let scaling = Standardize::No.decide(&survey, spec.kernel.is_shift_invariant());
    let lengthscales = Bandwidth::Median.lengthscales(spec.kernel.as_ref(), &survey, &scaling)?;
    let input = scaling.input(&lengthscales)?;
    let cpu = Device::cpu();
    let map = spec.build(
        input,
        &survey.sample,
        &mut source,
        Run::on(&cpu).memory(1 << 24),
    )?;
    let targets = Targets::real(&survey);
    let model = LinearModel::fit(map, &mut source, targets, &FitOptions::on(device))?;
    let x = Rows::from(place(offset));
    let here = tempfile::TempDir::new().expect("a temporary directory");
    let path = here.path().join("model");
    model.save(&path)?;
    let predicted = model.on(Run::on(device).memory(1 << 24))?.predict(&x)?;
    let again = LinearModel::load(&path)?
        .on(Run::on(device).memory(1 << 24))?
        .predict(&x)?;
    assert_eq!(predicted, again, "a saved model centres as it did");
    Ok(rmse(&predicted, &y))
}

#[test]
fn an_offset_costs_no_accuracy_on_devices() {
    for (map, kernel) in [
        ("fourier", "gaussian"),
        ("fastfood", "gaussian"),
        ("sorf", "matern52"),
        ("nystrom", "gaussian"),
        ("binning", "laplacian"),
        ("0.5*fourier+0.5*nystrom", "laplacian"),
    ] {
        let near = error(map, kernel, 0.0, &Device::cpu()).expect("fits");
        assert!(near < 0.1, "{map}: {near}");
        // f64 itself rounds x by 6e-5 at 1e12, and 6 u by a fifth of 6 times that.
        for (offset, rounding) in [(1e5, 0.0), (1e6, 0.0), (-1e8, 1e-7), (1e12, 1e-4)] {
            for device in devices() {
                let far = error(map, kernel, offset, device).expect("fits");
                assert!(
                    far < 1.25 * near + rounding,
                    "{map} of {kernel} at {offset:e} on {device:?}: {far:e} beside {near:e}"
                );
            }
        }
    }
}

/// z(x) of rows near 2^24 on every device, compared with the CPU's.
#[test]
fn devices_agree_on_large_whole_numbers() {
    let x = Array2::from_shape_fn((300, 2), |(i, j)| {
        f64::from(1 << 24) + ((i * 37 + j * 11) % 300) as f64
    });
    let mut source = MemorySource::new(x.clone(), None).expect("finite");
    let survey = Survey::new(&mut source, 0, 0).expect("reads");
    let scaling = Standardize::No.decide(&survey, Gaussian.is_shift_invariant());
    let map = Fourier::new(Gaussian).features(512);
    let map = map
        .build(scaling.input(&[10.0]).expect("positive"))
        .expect("builds");
    let on = |device: &Device| {
        let mut x_nd = Matrix::new(device, 300, 2).expect("fits");
        let mut z_nd = Matrix::new(device, 300, 512).expect("fits");
        map.input().load(&Rows::from(&x), &mut x_nd).expect("loads");
        let mut loaded = map.load(device).expect("loads");
        loaded.featurize(&x_nd, &mut z_nd).expect("runs");
        z_nd.download().expect("reads")
    };
    let cpu = on(&Device::cpu());
    // The exact kernel, from the integers.
    let k = |i: usize, j: usize| {
        let square = |c: usize| ((x[[i, c]] - x[[j, c]]) / 10.0).powi(2);
        (-0.5 * (square(0) + square(1))).exp()
    };
    let estimate = cpu.dot(&cpu.t());
    let worst = (0..300).map(|i| (f64::from(estimate[[i, 0]]) - k(i, 0)).abs());
    let mean = worst.sum::<f64>() / 300.0;
    // 256 pairs of features: the standard deviation is at most 1/sqrt(512) = 0.044.
    assert!(mean < 0.06, "{mean}");
    for device in gpus() {
        let gpu = on(device);
        let difference = (&gpu - &cpu).iter().fold(0.0_f32, |m, v| m.max(v.abs()));
        assert!(difference < 1e-5, "{device:?}: {difference:e}");
    }
}

/// A first part without centring does not cost the centred part of a union its digits.
#[test]
fn a_union_prepares_rows_for_the_part_that_centres_on_devices() {
    let offset = 1e7;
    let (mut source, _) = wave(offset);
    let survey = Survey::new(&mut source, 0, 0).expect("reads");
    let input = |shift_invariant| {
        let scaling = Standardize::No.decide(&survey, shift_invariant);
        scaling.input(&[1.0]).expect("positive")
    };
    let moved = ArcCosine::new()
        .features(4)
        .build(input(false))
        .expect("builds");
    let fourier = || {
        Fourier::new(Gaussian)
            .features(32)
            .seed(Seed(3))
            .build(input(true))
    };
    let alone = fourier().expect("builds");
    let union = Union::new(vec![
        (Box::new(moved) as Box<dyn FeatureMap>, 1.0),
        (Box::new(fourier().expect("builds")), 1.0),
    ]);
    let union = union.expect("fits together");
    let x = Rows::from(place(offset));
    for device in devices() {
        let z = |map: &dyn FeatureMap| {
            let mut x_nd = Matrix::new(device, ROWS, 1).expect("fits");
            let mut z_nd = Matrix::new(device, ROWS, map.output_dim()).expect("fits");
            map.input().load(&x, &mut x_nd).expect("loads");
            map.load(device)
                .expect("loads")
                .featurize(&x_nd, &mut z_nd)
                .expect("runs");
            z_nd.download().expect("reads")
        };
        let (beside, alone) = (z(&union), z(&alone));
        let beside = beside.slice(ndarray::s![.., 4..]).to_owned();
        let difference = (&beside - &alone)
            .iter()
            .fold(0.0_f32, |m, v| m.max(v.abs()));
        assert!(difference < 1e-5, "{device:?}: {difference:e}");
    }
}

/// Nystrom's landmarks are centred like its rows.
#[test]
fn landmarks_far_from_the_origin_reproduce_the_kernel() {
    let x = Array2::from_shape_fn((20, 1), |(i, _)| 1e9 + i as f64);
    let mut source = MemorySource::new(x.clone(), None).expect("finite");
    let survey = Survey::new(&mut source, 20, 0).expect("reads");
    let input = Standardize::No
        .decide(&survey, true)
        .input(&[2.0])
        .expect("positive");
    let map = Nystrom::new(Gaussian)
        .features(20)
        .build(input, &x)
        .expect("builds");
    let device = Device::cpu();
    let mut x_nd = Matrix::new(&device, 20, 1).expect("fits");
    let mut z_nd = Matrix::new(&device, 20, map.output_dim()).expect("fits");
    map.input().load(&Rows::from(&x), &mut x_nd).expect("loads");
    map.load(&device)
        .expect("loads")
        .featurize(&x_nd, &mut z_nd)
        .expect("runs");
    let z = z_nd.download().expect("reads");
    let k = z.dot(&z.t());
    for ((i, j), &k) in k.indexed_iter() {
        let exact = (-0.5 * ((i as f64 - j as f64) / 2.0).powi(2)).exp();
        assert!(
            (f64::from(k) - exact).abs() < 1e-3,
            "{i} {j}: {k} beside {exact}"
        );
    }
}
