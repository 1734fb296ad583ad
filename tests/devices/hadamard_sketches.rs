//! Hadamard sketches: mean and variance over all draws, and over seeds, compared with the
//! polynomial kernel and the documented variance; factor by factor on every device; files and
//! invalid inputs.

use crate::common::{devices, normal};
use bochner::{
    Device, Error, Matrix,
    analysis::{estimates, features_of},
    data::Rows,
    features::{Affine, FeatureMap, HadamardSketch, MapSpec, Store, Turns, read},
    kernels::parse,
    prelude::*,
};
use ndarray::{Array2, ArrayView1, array};

/// Numbers of complex and real features of D.
fn counts(features: usize) -> (usize, usize) {
    let real = if features.is_multiple_of(2) { 2 } else { 1 };
    ((features - real) / 2, real)
}

/// Documented variance of the estimate with `features` features.
fn variance(degree: u32, constant: f64, features: usize, x: &[f64], y: &[f64]) -> f64 {
    let with = |v: &[f64]| match constant {
        0.0 => v.to_vec(),
        c => [v, &[c.sqrt()]].concat(),
    };
    let (x, y) = (with(x), with(y));
    let n = x.len().next_power_of_two();
    let sum = |f: &dyn Fn(f64, f64) -> f64| x.iter().zip(&y).map(|(&x, &y)| f(x, y)).sum::<f64>();
    let product = sum(&|x, y| x * y);
    let squares = sum(&|x, y| x * x * y * y);
    let a = product * product;
    let b = sum(&|x, _| x * x) * sum(&|_, y| y * y) - squares;
    let e = a - squares;
    let p = |v: f64| v.powi(degree as i32);
    let (m, t) = counts(features);
    let of_block = |size: usize| size * size.saturating_sub(1);
    let ordered_pairs = (m / n * of_block(n) + of_block(m % n)) as f64;
    let others = n as f64 - 1.0;
    let own = (p(a + b) + p(a + e)) / 2.0 - p(a);
    let shared = match ordered_pairs {
        0.0 => 0.0,
        _ => (p(a - b / others) + p(a - e / others)) / 2.0 - p(a),
    };
    let real = p(a + b + e) - p(a);
    (4.0 * (m as f64 * own + ordered_pairs * shared) + t as f64 * real) / (features as f64).powi(2)
}

/// Enumerates all diagonals and rows, for two columns: the mean equals the kernel and the variance
/// the documented one, up to the rounding of f32.
#[test]
fn over_all_draws_mean_and_variance_are_exact() {
    let x = array![[0.8, -0.5], [1.1, 0.6]];
    for (degree, features) in [
        (1, 1),
        (1, 3),
        (1, 4),
        (1, 5),
        (1, 6),
        (2, 1),
        (2, 3),
        (2, 5),
    ] {
        let (complex, real) = counts(features);
        let blocks = complex.div_ceil(2);
        // Digits of a number: for each factor four for an entry of a block, two for one of a real
        // feature, and two for the order of the rows of a block.
        let sizes: Vec<u32> = [4, 2, 2]
            .iter()
            .zip([2 * blocks, 2 * real, blocks])
            .flat_map(|(&size, times)| std::iter::repeat_n(size, times))
            .collect();
        let sizes = sizes.repeat(degree as usize);
        let all: u32 = sizes.iter().product();
        let (mut sum, mut squares) = (0.0, 0.0);
        for mut code in 0..all {
            let digits: Vec<u32> = sizes
                .iter()
                .map(|size| {
                    let digit = code % size;
                    code /= size;
                    digit
                })
                .collect();
            let mut quarters = Array2::zeros((degree as usize * (blocks + real), 2));
            let mut rows = Array2::zeros((degree as usize, complex));
            for (k, digits) in digits.chunks(sizes.len() / degree as usize).enumerate() {
                let (entries, orders) = digits.split_at(2 * (blocks + real));
                for (at, &digit) in entries.iter().enumerate() {
                    let quarter = if at < 2 * blocks { digit } else { 2 * digit };
                    quarters[[k * (blocks + real) + at / 2, at % 2]] = quarter;
                }
                for c in 0..complex {
                    rows[[k, c]] = (c % 2) ^ orders[c / 2] as usize;
                }
            }
            let map = HadamardSketch::new(degree, 0.0).features(features);
            let map = map.turns(Turns { quarters, rows });
            let map = map.build(Affine::identity(2)).expect("fits");
            let z = features_of(&map, &Rows::from(&x), &Device::cpu()).expect("runs");
            let estimate = z.row(0).dot(&z.row(1));
            sum += estimate;
            squares += estimate * estimate;
        }
        let mean = sum / f64::from(all);
        let own = squares / f64::from(all) - mean * mean;
        let kernel = parse(&format!("polynomial:{degree}:0")).expect("known");
        let (a, b) = (x.row(0).to_vec(), x.row(1).to_vec());
        let exact = kernel.evaluate(&a, &b);
        let said = variance(degree, 0.0, features, &a, &b);
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

/// Random draws, many columns, several blocks: within four standard errors of the kernel, with its
/// gamma.
#[test]
fn drawn_sketches_are_unbiased_with_the_variance_that_is_said() {
    const SEEDS: u64 = 2000;
    let x = normal(3, 7, 3).mapv(|v| 1.0 + 0.5 * f64::from(v));
    let pairs = [(0, 1), (0, 2), (1, 1)];
    let scale = 0.6_f64;
    let scaled = &x * scale;
    for (degree, constant, features) in [(1, 0.0, 20), (2, 1.0, 64), (3, 0.5, 64), (4, 0.0, 97)] {
        let rows = Rows::from(&x);
        let seeds = (0..SEEDS).map(Seed);
        let run = estimates(&rows, &pairs, &Device::cpu(), seeds, |seed| {
            let map = HadamardSketch::new(degree, constant).features(features);
            let input = Affine::identity(7).lengthscale(1.0 / scale)?;
            Ok(Box::new(map.seed(seed).build(input)?))
        });
        let run = run.expect("runs");
        let kernel = parse(&format!("polynomial:{degree}:{constant}")).expect("known");
        for (p, (i, j)) in pairs.into_iter().enumerate() {
            let (a, b) = (scaled.row(i).to_vec(), scaled.row(j).to_vec());
            let said = variance(degree, constant, features, &a, &b);
            let exact = kernel.evaluate(&a, &b);
            let of_mean = (said / SEEDS as f64).sqrt();
            let error = (run.mean[p] - exact).abs() / of_mean;
            assert!(error < 4.0, "{degree} {i} {j}: {error} standard errors");
            let ratio = run.variance[p] / said;
            assert!((0.75..1.35).contains(&ratio), "{degree} {i} {j}: {ratio}");
            // Negative control: gamma changed by 3 %.
            let off = (run.mean[p] - 1.03_f64.powi(degree as i32) * exact).abs();
            assert!(
                off > 4.0 * of_mean || degree != 2,
                "{degree} {i} {j}: 3 per cent pass"
            );
        }
    }
}

/// Features of one row by their definition: factor by factor, in f64.
fn defined(turns: &Turns, root: f64, features: usize, x: ArrayView1<'_, f64>) -> Vec<f64> {
    let (complex, real) = counts(features);
    let mut x = x.to_vec();
    if root != 0.0 {
        x.push(root);
    }
    let n = x.len().next_power_of_two();
    let blocks = complex.div_ceil(n);
    let form = |k: usize, diagonal: usize, row: usize| {
        let mut sum = (0.0, 0.0);
        for (j, x) in x.iter().enumerate() {
            let sign = if (row & j).count_ones().is_multiple_of(2) {
                *x
            } else {
                -x
            };
            match turns.quarters[[k * (blocks + real) + diagonal, j]] {
                0 => sum.0 += sign,
                1 => sum.1 += sign,
                2 => sum.0 -= sign,
                _ => sum.1 -= sign,
            }
        }
        sum
    };
    let product = |of: &dyn Fn(usize) -> (f64, f64)| {
        (0..turns.rows.nrows())
            .map(of)
            .fold((1.0, 0.0), |(a, b), (c, d)| (a * c - b * d, a * d + b * c))
    };
    let weight = |w: f64| (w / features as f64).sqrt();
    let complex_ones: Vec<_> = (0..complex)
        .map(|c| product(&|k| form(k, c / n, turns.rows[[k, c]])))
        .collect();
    let real_one = |at: usize| weight(1.0) * product(&|k| form(k, blocks + at, 0)).0;
    let mut z = vec![real_one(0)];
    z.extend(complex_ones.iter().map(|z| weight(2.0) * z.0));
    if real == 2 {
        z.push(real_one(1));
    }
    z.extend(complex_ones.iter().map(|z| weight(2.0) * z.1));
    z
}

/// On every device, with a constant and without, with full and partial blocks; predictions are
/// features times coefficients, and a file stores everything.
#[test]
fn features_are_as_defined_on_devices() {
    let x = normal(37, 6, 4).mapv(f64::from);
    let rows = Rows::from(&x);
    for (degree, constant, features) in [(1, 0.0, 8), (2, 0.7, 33), (3, 1.0, 40), (5, 0.0, 1)] {
        let map = HadamardSketch::new(degree, constant).features(features);
        let map = map
            .seed(Seed(7))
            .build(Affine::identity(6))
            .expect("builds");
        let root = f64::sqrt(constant);
        let exact: Vec<f64> = x
            .rows()
            .into_iter()
            .flat_map(|row| defined(map.turns(), root, features, row))
            .collect();
        let exact = Array2::from_shape_vec((37, features), exact).expect("fits");
        let most = exact.fold(0.0_f64, |m, v| m.max(v.abs()));
        let mut store = Store::default();
        map.write(&mut store).expect("writes");
        let again = read(&store).expect("reads");
        assert_eq!(again.describe(), map.describe());
        let beta = normal(features, 2, 5);
        for device in devices() {
            let z = features_of(&map, &rows, device).expect("runs");
            let off = (&z - &exact).fold(0.0_f64, |m, v| m.max(v.abs()));
            assert!(off < 2e-6 * most, "{device:?} {degree}: {off} of {most}");
            let kept = features_of(again.as_ref(), &rows, device).expect("runs");
            assert_eq!(kept, z, "{device:?}");
            let mut x_nd = Matrix::new(device, 37, 6).expect("fits");
            map.input().load(&rows, &mut x_nd).expect("loads");
            let beta_dt = Matrix::upload(device, beta.view()).expect("fits");
            let mut y_nt = Matrix::new(device, 37, 2).expect("fits");
            let mut loaded = map.load(device).expect("loads");
            loaded.predict(&x_nd, &beta_dt, &mut y_nt).expect("runs");
            let y = y_nt.download().expect("reads").mapv(f64::from);
            let expected = exact.dot(&beta.mapv(f64::from));
            let most = expected.fold(1.0_f64, |m, v| m.max(v.abs()));
            let off = (&y - &expected).fold(0.0_f64, |m, v| m.max(v.abs()));
            assert!(off < 1e-5 * most, "{device:?} {degree}: {off} of {most}");
        }
    }
}

/// Rows of a block differ, so that a full block of a linear kernel gives the exact kernel.
#[test]
fn full_blocks_of_degree_1_err_by_their_real_features_alone() {
    let x = normal(5, 8, 6).mapv(f64::from);
    let map = HadamardSketch::new(1, 0.0).features(2 * 8 * 3 + 1);
    let map = map
        .seed(Seed(3))
        .build(Affine::identity(8))
        .expect("builds");
    let z = features_of(&map, &Rows::from(&x), &Device::cpu()).expect("runs");
    for i in 0..5 {
        for j in 0..5 {
            let exact = x.row(i).dot(&x.row(j));
            let real = z[[i, 0]] * z[[j, 0]];
            let own = z.row(i).dot(&z.row(j)) - real;
            assert!((own - exact * 48.0 / 49.0).abs() < 1e-4, "{own} {exact}");
        }
    }
}

#[test]
fn sketches_are_made_by_name_and_refuse_what_is_none() {
    let map = "hadamard-sketch".parse().expect("a map");
    let mut spec = MapSpec::new(map, parse("polynomial:3:0.5").expect("known"));
    spec.features = 12;
    spec.check().expect("goes together");
    let x = normal(4, 6, 1).mapv(f64::from);
    let mut source = bochner::data::MemorySource::new(&x, None).expect("finite");
    let map = spec.build(Affine::identity(6), &x, &mut source, &Device::cpu());
    let said = "hadamard-sketch features of the polynomial:3:0.5 kernel, 6 columns to 12";
    assert_eq!(map.expect("builds").describe(), said);
    let sketch = |degree, constant, features| {
        let map = HadamardSketch::new(degree, constant).features(features);
        map.build(Affine::identity(2))
    };
    for (degree, constant) in [(0, 1.0), (65, 1.0), (2, -1.0), (2, f64::NAN)] {
        assert!(matches!(
            sketch(degree, constant, 4),
            Err(Error::Parameter(_))
        ));
    }
    assert!(matches!(sketch(2, 1.0, 0), Err(Error::Shape(_))));
    if cfg!(target_os = "linux") {
        let error = sketch(2, 1.0, 1 << 60).expect_err("no memory");
        assert!(matches!(error, Error::HostMemory { .. }), "{error}");
    }
    // One block of two rows and a real feature.
    let with = |quarters: Array2<u32>, rows: Array2<usize>| {
        let map = HadamardSketch::new(1, 0.0).features(5);
        map.turns(Turns { quarters, rows })
            .build(Affine::identity(2))
    };
    let (quarters, rows) = (array![[3, 1], [0, 2]], array![[1, 0]]);
    assert!(with(quarters.clone(), rows.clone()).is_ok());
    for bad in [array![[4, 1], [0, 2]], array![[3, 1], [1, 2]]] {
        assert!(matches!(with(bad, rows.clone()), Err(Error::Parameter(_))));
    }
    let beyond = with(quarters.clone(), array![[2, 0]]);
    assert!(matches!(beyond, Err(Error::Parameter(_))));
    assert!(matches!(with(array![[3, 1]], rows), Err(Error::Shape(_))));
    assert!(matches!(with(quarters, array![[1]]), Err(Error::Shape(_))));
}
