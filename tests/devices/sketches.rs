//! Tensor sketches: mean and variance over all hashes, and over seeds, compared with the polynomial
//! kernel and the documented variance; the circular convolution; devices, files and sparse rows.

use crate::common::{devices, normal};
use bochner::{
    Device, Error, Matrix,
    analysis::{estimates, features_of},
    data::Rows,
    features::{Affine, FeatureMap, Hashes, MapSpec, Store, TensorSketch, read},
    kernels::parse,
    prelude::*,
};
use ndarray::{Array2, ArrayView1, array, s};

/// Documented variance of the estimate with `features` features.
fn variance(degree: u32, constant: f64, features: f64, x: &[f64], y: &[f64]) -> f64 {
    let with = |v: &[f64]| [v, &[constant.sqrt()]].concat();
    let (x, y) = (with(x), with(y));
    let sum = |f: &dyn Fn(f64, f64) -> f64| x.iter().zip(&y).map(|(&x, &y)| f(x, y)).sum::<f64>();
    let product = sum(&|x, y| x * y);
    let squares = sum(&|x, y| x * x * y * y);
    let a = product * product;
    let b = sum(&|x, _| x * x) * sum(&|_, y| y * y) - squares;
    let e = a - squares;
    let p = |v: f64| v.powi(degree as i32);
    let twice = if features % 2.0 == 0.0 { 2.0 } else { 1.0 };
    (p(a + b) + p(a + e) - 2.0 * p(a)) / features
        + twice * (p(a + b + e) - p(a + b) - p(a + e) + p(a)) / features.powi(2)
}

/// Enumerates all positions and signs: the mean equals the kernel and the variance the documented
/// one, up to the rounding of f32.
#[test]
fn over_all_hashes_mean_and_variance_are_exact() {
    let x = array![[0.8, -0.5], [1.1, 0.6]];
    for (degree, constant, features) in [
        (1, 0.0, 2_usize),
        (1, 0.4, 3),
        (2, 0.0, 2),
        (2, 0.0, 3),
        (2, 0.0, 4),
        (2, 0.4, 1),
        (3, 0.0, 2),
    ] {
        let columns = 2 + usize::from(constant != 0.0);
        let hashed = degree as usize * columns;
        let all = (2 * features).pow(hashed as u32);
        let (mut sum, mut squares) = (0.0, 0.0);
        for code in 0..all {
            let digit = |at: usize| code / (2 * features).pow(at as u32) % (2 * features);
            let shape = (degree as usize, columns);
            let at = |k: usize, j: usize| digit(k * columns + j);
            let hashes = Hashes {
                places: Array2::from_shape_fn(shape, |(k, j)| at(k, j) / 2),
                signs: Array2::from_shape_fn(shape, |(k, j)| [1.0, -1.0][at(k, j) % 2]),
            };
            let map = TensorSketch::new(degree, constant).features(features);
            let map = map.hashes(hashes).build(Affine::identity(2));
            let z = features_of(&map.expect("fits"), &Rows::from(&x), &Device::cpu());
            let z = z.expect("runs");
            let estimate = z.row(0).dot(&z.row(1));
            sum += estimate;
            squares += estimate * estimate;
        }
        let mean = sum / all as f64;
        let own = squares / all as f64 - mean * mean;
        let kernel = parse(&format!("polynomial:{degree}:{constant}")).expect("known");
        let (a, b) = (x.row(0).to_vec(), x.row(1).to_vec());
        let exact = kernel.evaluate(&a, &b);
        let said = variance(degree, constant, features as f64, &a, &b);
        assert!(
            (mean - exact).abs() < 1e-5,
            "{degree} {features}: {mean} {exact}"
        );
        assert!(
            (own - said).abs() < 1e-4 * said,
            "{degree} {features}: {own} {said}"
        );
    }
}

/// Random hashes, many columns: within four standard errors of the kernel, with its gamma.
#[test]
fn drawn_sketches_are_unbiased_with_the_variance_that_is_said() {
    const SEEDS: u64 = 2000;
    let x = normal(3, 7, 3).mapv(|v| 1.0 + 0.5 * f64::from(v));
    let pairs = [(0, 1), (0, 2), (1, 1)];
    let scale = 0.6_f64;
    let scaled = &x * scale;
    for (degree, constant, features) in [(1, 0.0, 20), (2, 1.0, 64), (3, 0.5, 64), (4, 0.0, 97)] {
        let rows = Rows::from(&x);
        let run = estimates(
            &rows,
            &pairs,
            &Device::cpu(),
            (0..SEEDS).map(Seed),
            |seed| {
                let map = TensorSketch::new(degree, constant).features(features);
                let input = Affine::identity(7).lengthscale(1.0 / scale)?;
                Ok(Box::new(map.seed(seed).build(input)?))
            },
        );
        let run = run.expect("runs");
        let kernel = parse(&format!("polynomial:{degree}:{constant}")).expect("known");
        for (p, (i, j)) in pairs.into_iter().enumerate() {
            let (a, b) = (scaled.row(i).to_vec(), scaled.row(j).to_vec());
            let said = variance(degree, constant, features as f64, &a, &b);
            let exact = kernel.evaluate(&a, &b);
            let error = (run.mean[p] - exact).abs() / (said / SEEDS as f64).sqrt();
            assert!(error < 4.0, "{degree} {i} {j}: {error} standard errors");
            let off = (run.mean[p] - 1.03_f64.powi(degree as i32) * exact).abs();
            // Negative control: gamma changed by 3 %.
            let seen = off / (said / SEEDS as f64).sqrt() > 4.0;
            assert!(
                seen || degree < 4 || i != j,
                "{degree} {i} {j}: 3 per cent pass"
            );
            let ratio = run.variance[p] / said;
            assert!((0.75..1.35).contains(&ratio), "{degree} {i} {j}: {ratio}");
        }
    }
}

/// The sketch of Pham & Pagh: circular convolution of count sketches, entry by entry.
fn convolution(hashes: &Hashes, root: f64, features: usize, x: ArrayView1<'_, f64>) -> Vec<f64> {
    let mut all = vec![0.0; features];
    all[0] = 1.0;
    for (places, signs) in hashes.places.rows().into_iter().zip(hashes.signs.rows()) {
        let mut sketch = vec![0.0; features];
        for (j, (&place, sign)) in places.iter().zip(signs).enumerate() {
            sketch[place] += sign * x.get(j).copied().unwrap_or(root);
        }
        let mut next = vec![0.0; features];
        for (a, v) in all.iter().enumerate() {
            for (b, w) in sketch.iter().enumerate() {
                next[(a + b) % features] += v * w;
            }
        }
        all = next;
    }
    all
}

/// Features are a Fourier transform of the convolution, and so have its inner products, on every
/// device; predictions are features times coefficients, and a file stores everything.
#[test]
fn features_have_the_products_of_the_convolution_on_devices() {
    let x = normal(37, 6, 4).mapv(f64::from);
    let rows = Rows::from(&x);
    for (degree, constant, features) in [(1, 0.0, 8), (2, 0.7, 33), (3, 1.0, 40), (5, 0.0, 1)] {
        let map = TensorSketch::new(degree, constant).features(features);
        let map = map
            .seed(Seed(7))
            .build(Affine::identity(6))
            .expect("builds");
        let sketch = |i: usize| convolution(map.hashes(), constant.sqrt(), features, x.row(i));
        let exact = Array2::from_shape_fn((37, 37), |(i, j)| {
            sketch(i)
                .iter()
                .zip(sketch(j))
                .map(|(a, b)| a * b)
                .sum::<f64>()
        });
        let mut store = Store::default();
        map.write(&mut store).expect("writes");
        let again = read(&store).expect("reads");
        assert_eq!(again.describe(), map.describe());
        let beta = normal(features, 2, 5);
        for device in devices() {
            let z = features_of(&map, &rows, device).expect("runs");
            assert_eq!(z.dim(), (37, features));
            for ((i, j), k) in exact.indexed_iter() {
                let own = z.row(i).dot(&z.row(j));
                let size = (exact[[i, i]] * exact[[j, j]]).sqrt();
                assert!(
                    (own - k).abs() < 1e-5 * size,
                    "{device:?} {degree}: {own} {k}"
                );
            }
            let kept = features_of(again.as_ref(), &rows, device).expect("runs");
            assert_eq!(kept, z, "{device:?}");
            let mut x_nd = Matrix::new(device, 37, 6).expect("fits");
            map.input().load(&rows, &mut x_nd).expect("loads");
            let beta_dt = Matrix::upload(device, beta.view()).expect("fits");
            let mut y_nt = Matrix::new(device, 37, 2).expect("fits");
            let mut loaded = map.load(device).expect("loads");
            loaded.predict(&x_nd, &beta_dt, &mut y_nt).expect("runs");
            let y = y_nt.download().expect("reads").mapv(f64::from);
            let expected = z.dot(&beta.mapv(f64::from));
            let most = expected.fold(1.0_f64, |m, v| m.max(v.abs()));
            let off = (&y - &expected).fold(0.0_f64, |m, v| m.max(v.abs()));
            assert!(off < 1e-5 * most, "{device:?} {degree}: {off} of {most}");
        }
    }
}

/// Ridge regression on enough features fits a polynomial that no linear model can.
#[test]
fn learners_on_a_sketch_are_polynomial_on_devices() {
    let x = normal(400, 4, 8).mapv(f64::from);
    let y = x.map_axis(ndarray::Axis(1), |r| {
        2.0 * r[0] * r[1] - r[2] * r[2] + r[3] + 0.5
    });
    for device in devices() {
        let model = Ridge::on(TensorSketch::new(2, 1.0).features(400))
            .bandwidth(Bandwidth::Gamma(0.5))
            .standardize(Standardize::No)
            .device(device)
            .lambda(1e-6);
        let model = model.fit((
            &x.slice(s![..300, ..]).to_owned(),
            &y.slice(s![..300]).to_owned(),
        ));
        let own = model
            .expect("fits")
            .predict(x.slice(s![300.., ..]).to_owned());
        let off = own.expect("predicts") - y.slice(s![300..]);
        let worst = off.fold(0.0_f64, |m, v| m.max(v.abs()));
        assert!(worst < 1e-2, "{}: {worst}", device.describe());
    }
}

#[test]
fn sketches_are_made_by_name_and_refuse_what_is_none() {
    let map = "tensor-sketch".parse().expect("a map");
    let mut spec = MapSpec::new(map, parse("polynomial:3:0.5").expect("known"));
    spec.features = 12;
    spec.check().expect("goes together");
    let x = normal(4, 6, 1).mapv(f64::from);
    let mut source = bochner::data::MemorySource::new(&x, None).expect("finite");
    let map = spec.build(Affine::identity(6), &x, &mut source, &Device::cpu());
    let map = map.expect("builds");
    let said = "tensor-sketch features of the polynomial:3:0.5 kernel, 6 columns to 12";
    assert_eq!(map.describe(), said);
    let sketch = |degree, constant, features| {
        let map = TensorSketch::new(degree, constant).features(features);
        map.build(Affine::identity(2))
    };
    assert!(matches!(sketch(0, 1.0, 4), Err(Error::Parameter(_))));
    assert!(matches!(sketch(65, 1.0, 4), Err(Error::Parameter(_))));
    assert!(matches!(sketch(2, -1.0, 4), Err(Error::Parameter(_))));
    assert!(matches!(sketch(2, f64::NAN, 4), Err(Error::Parameter(_))));
    assert!(matches!(sketch(2, 1.0, 0), Err(Error::Shape(_))));
    if cfg!(target_os = "linux") {
        let error = sketch(2, 1.0, 1 << 60).expect_err("no memory");
        assert!(matches!(error, Error::HostMemory { .. }), "{error}");
    }
    let with = |places: Array2<usize>, signs: Array2<f64>| {
        let map = TensorSketch::new(1, 0.0).features(4);
        map.hashes(Hashes { places, signs })
            .build(Affine::identity(2))
    };
    let signs = array![[1.0, -1.0]];
    assert!(with(array![[3, 0]], signs.clone()).is_ok());
    assert!(matches!(
        with(array![[4, 0]], signs.clone()),
        Err(Error::Parameter(_))
    ));
    assert!(matches!(
        with(array![[3, 0]], array![[1.0, 0.5]]),
        Err(Error::Parameter(_))
    ));
    assert!(matches!(
        with(array![[3], [0]], signs),
        Err(Error::Shape(_))
    ));
    for bad in [
        "polynomial:0",
        "polynomial:2:-1",
        "polynomial:x",
        "polynomial:2:1:3",
    ] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}
