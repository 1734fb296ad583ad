//! Every op against its f64 reference, on the CPU and on every adapter, at sizes around every tile edge. Outputs hold NaN
//! before each run, so that an element nobody writes cannot pass; each suite has a reference that must fail.

mod common;

use bochner::{
    Device, Matrix,
    ops::{
        gram::{self, GramAccumulator},
        predict, product,
        projection::{self, DenseMap, Nonlinearity, Projection},
        tile,
    },
};
use common::{devices, normal, worst};
use ndarray::{Array2, Axis};

const EPS: f64 = 1.0 / 16_777_216.0;

fn dense(d: usize, s: usize, nonlinearity: Nonlinearity, scale: f32) -> DenseMap {
    let outputs = s * nonlinearity.outputs();
    let phases = normal(1, s, 3);
    DenseMap {
        w_ds: normal(d, s, 2) * scale,
        phase_s: phases.iter().map(|p| p.abs().fract()).collect(),
        amplitude_s: (0..s)
            .map(|l| (2.0 / outputs as f32).sqrt() * (1.0 + l as f32 / s as f32))
            .collect(),
        nonlinearity,
    }
}

fn poisoned(device: &Device, rows: usize, cols: usize) -> Matrix {
    Matrix::upload(device, Array2::from_elem((rows, cols), f32::NAN).view()).expect("fits")
}

/// The allowed error of a feature: the rounding of a product of depth d, through a slope of at most 2 pi.
fn projection_bound(map: &DenseMap, x: &Array2<f32>) -> Array2<f64> {
    // Sum of |x||w| bounds every partial sum.
    let sums = x
        .mapv(|v| f64::from(v.abs()))
        .dot(&map.w_ds.mapv(|v| f64::from(v.abs())));
    let (s, outputs) = (map.freqs(), map.outputs());
    Array2::from_shape_fn((x.nrows(), outputs), |(i, j)| {
        let l = j % s;
        let size = 1.0 + sums[[i, l]] + f64::from(map.phase_s[l]);
        let slope = match map.nonlinearity {
            Nonlinearity::CosSin | Nonlinearity::Cos => 6.3,
            Nonlinearity::Step | Nonlinearity::Relu => 1.0,
            Nonlinearity::ReluSquared => 2.0 * size,
        };
        f64::from(map.amplitude_s[l]) * slope * 4.0 * EPS * size
    })
}

/// Steps jump where the projection is zero: a reference within rounding of the jump says nothing.
fn away_from_jumps(map: &DenseMap, x: &mut Array2<f32>) {
    if map.nonlinearity == Nonlinearity::Step {
        x.mapv_inplace(|v| (v * 4.0).round() / 4.0 + 0.123);
    }
}

const SIZES: &[(usize, usize, usize)] = &[
    // rows, d, s
    (1, 1, 1),
    (1, 784, 2),
    (3, 5, 7),
    (7, 17, 63),
    (8, 16, 64),
    (9, 15, 65),
    (63, 64, 31),
    (64, 33, 64),
    (65, 4, 129),
    (131, 101, 67),
    (257, 8, 50),
];

#[test]
fn projection_agrees_with_f64() {
    for device in devices() {
        for &tile in tile::MENU {
            for &(rows, d, s) in SIZES {
                for f in Nonlinearity::ALL {
                    let map = dense(d, s, f, 0.3);
                    let mut x = normal(rows, d, 1);
                    away_from_jumps(&map, &mut x);
                    let op = Projection::load_with(device, &map, tile).expect("loads");
                    let x_nd = Matrix::upload(device, x.view()).expect("fits");
                    let mut z_nd = poisoned(device, rows, op.outputs());
                    op.run(&x_nd, &mut z_nd).expect("runs");
                    let z = z_nd.download().expect("reads back");
                    let bound = projection_bound(&map, &x);
                    let reference = projection::reference(&map, x.view());
                    let ratio = worst(z.view(), reference.view(), |i, j| bound[[i, j]]);
                    assert!(
                        ratio < 1.0,
                        "{rows}x{d} -> {s} {f:?} {} on {device:?}: {ratio}",
                        tile.name
                    );
                }
            }
            if matches!(device, Device::Cpu(_)) {
                break;
            }
        }
    }
}

/// Negative control: a bandwidth 1 per mille off, a lost phase and two swapped features must all fail.
#[test]
fn projection_parity_notices_small_wrongs() {
    let map = dense(16, 64, Nonlinearity::CosSin, 0.3);
    let x = normal(9, 16, 1);
    let bound = projection_bound(&map, &x);
    let mut wrongs = vec![map.clone(), map.clone(), map.clone()];
    wrongs[0].w_ds *= 1.001;
    wrongs[1].phase_s[63] = 0.0;
    wrongs[2].w_ds.swap([0, 0], [0, 1]);
    for device in devices() {
        let op = Projection::load(device, &map).expect("loads");
        let x_nd = Matrix::upload(device, x.view()).expect("fits");
        let mut z_nd = poisoned(device, 9, op.outputs());
        op.run(&x_nd, &mut z_nd).expect("runs");
        let z = z_nd.download().expect("reads back");
        for wrong in &wrongs {
            let reference = projection::reference(wrong, x.view());
            let ratio = worst(z.view(), reference.view(), |i, j| bound[[i, j]]);
            assert!(ratio > 1.0, "a wrong reference passes on {device:?}");
        }
    }
}

/// The worst entry relative to the norms of its columns: (Z'Z, Z'Y).
fn gram_error(
    sums: &gram::GramSums,
    reference: &gram::GramSums,
    z: &Array2<f32>,
    y: &Array2<f32>,
) -> (f64, f64) {
    let norms = |m: &Array2<f32>| -> Vec<f64> {
        m.axis_iter(Axis(1))
            .map(|c| {
                c.iter()
                    .map(|&v| f64::from(v).powi(2))
                    .sum::<f64>()
                    .sqrt()
                    .max(1e-30)
            })
            .collect()
    };
    let (zn, yn) = (norms(z), norms(y));
    let error = |a: &Array2<f64>, b: &Array2<f64>, n: &[f64]| {
        a.indexed_iter()
            .map(|((i, j), v)| (v - b[[i, j]]).abs() / (zn[i] * n[j]))
            .fold(
                0.0,
                |m: f64, e| if e.is_nan() { f64::INFINITY } else { m.max(e) },
            )
    };
    (
        error(&sums.gram_dd, &reference.gram_dd, &zn),
        error(&sums.zty_dt, &reference.zty_dt, &yn),
    )
}

#[test]
fn gram_agrees_with_f64() {
    for device in devices() {
        for &tile in gram::MENU {
            for (rows, d, t) in [
                (1, 1, 1),
                (3, 63, 2),
                (17, 64, 64),
                (64, 65, 1),
                (65, 130, 3),
                (4097, 20, 65),
                (9000, 5, 1),
            ] {
                // Panels of one and of two tiles, and one for all.
                for panel_bytes in [16_384, 32_768, u64::MAX] {
                    let (z, y) = (normal(rows, d, 4), normal(rows, t, 5));
                    let (mut z_nd, mut y_nt) =
                        (poisoned(device, rows, d), poisoned(device, rows, t));
                    z_nd.write(z.view()).expect("fits");
                    y_nt.write(y.view()).expect("fits");
                    let mut sums =
                        GramAccumulator::with_tile(device, d, t, tile, panel_bytes).expect("fits");
                    sums.add(&z_nd, &y_nt).expect("runs");
                    let sums = sums.finish().expect("reads back");
                    let reference = gram::reference(z.view(), y.view());
                    let (zz, zy) = gram_error(&sums, &reference, &z, &y);
                    let allowed = 4.0 * EPS * (1.0 + (rows.min(gram::BLOCK_ROWS) as f64).sqrt());
                    assert!(
                        zz < allowed && zy < allowed,
                        "{rows} x {d}, {t} on {device:?}: {zz:e}, {zy:e}"
                    );
                    // Negative control: one row fewer.
                    let short = gram::reference(
                        z.slice(ndarray::s![1.., ..]),
                        y.slice(ndarray::s![1.., ..]),
                    );
                    let (zz, zy) = gram_error(&sums, &short, &z, &y);
                    assert!(
                        zz > allowed && zy > allowed,
                        "a lost row passes on {device:?}: {zz:e} {zy:e}"
                    );
                    if matches!(device, Device::Cpu(_)) {
                        break;
                    }
                }
            }
            if matches!(device, Device::Cpu(_)) {
                break;
            }
        }
    }
}

#[test]
fn gram_of_a_million_rows_stays_within_1e_6() {
    let (chunk, chunks, d) = (8192, 123, 4);
    for device in devices() {
        let z = normal(chunk, d, 6).mapv(|v| v.abs() + 0.1);
        let z_nd = Matrix::upload(device, z.view()).expect("fits");
        let y_nt = Matrix::upload(device, z.slice(ndarray::s![.., ..1])).expect("fits");
        let mut sums = GramAccumulator::new(device, d, 1).expect("fits");
        for _ in 0..chunks {
            sums.add(&z_nd, &y_nt).expect("runs");
        }
        let sums = sums.finish().expect("reads back");
        let one = gram::reference(z.view(), z.slice(ndarray::s![.., ..1]));
        for ((i, j), &g) in sums.gram_dd.indexed_iter() {
            let exact = one.gram_dd[[i, j]] * chunks as f64;
            assert!(
                (g - exact).abs() <= 1e-6 * exact.abs(),
                "{i} {j} on {device:?}: {g} {exact}"
            );
        }
    }
}

#[test]
fn fused_predict_agrees_with_f64() {
    for device in devices() {
        for &tile in tile::MENU {
            for &(rows, d, s) in SIZES {
                for (f, t) in [
                    (Nonlinearity::CosSin, 1),
                    (Nonlinearity::CosSin, 19),
                    (Nonlinearity::Cos, 5),
                    (Nonlinearity::Step, 2),
                    (Nonlinearity::Relu, 8),
                    (Nonlinearity::ReluSquared, 11),
                ] {
                    let map = dense(d, s, f, 0.3);
                    let mut x = normal(rows, d, 1);
                    away_from_jumps(&map, &mut x);
                    let beta = normal(map.outputs(), t, 8);
                    let op = Projection::load_with(device, &map, tile).expect("loads");
                    let x_nd = Matrix::upload(device, x.view()).expect("fits");
                    let beta_dt = Matrix::upload(device, beta.view()).expect("fits");
                    let mut y_nt = poisoned(device, rows, t);
                    op.predict(&x_nd, &beta_dt, &mut y_nt).expect("runs");
                    let y = y_nt.download().expect("reads back");
                    let z = projection::reference(&map, x.view()).mapv(f64::abs);
                    let size = z.dot(&beta.mapv(|v| f64::from(v).abs()));
                    let feature_bound =
                        projection_bound(&map, &x).dot(&beta.mapv(|v| f64::from(v).abs()));
                    let allowed = |i: usize, j: usize| {
                        feature_bound[[i, j]] + 4.0 * EPS * (1.0 + size[[i, j]])
                    };
                    let reference = predict::reference(&map, x.view(), beta.view());
                    let ratio = worst(y.view(), reference.view(), allowed);
                    assert!(
                        ratio < 1.0,
                        "{rows}x{d} -> {s} -> {t} {f:?} {} on {device:?}: {ratio}",
                        tile.name
                    );
                    // Negative control: the coefficients of the last feature lost.
                    let mut wrong = beta.clone();
                    wrong.row_mut(map.outputs() - 1).fill(0.0);
                    let reference = predict::reference(&map, x.view(), wrong.view());
                    let noticed = worst(y.view(), reference.view(), allowed) > 1.0;
                    let last_is_silent = z.column(map.outputs() - 1).iter().all(|&v| v < 1e-3);
                    assert!(
                        noticed || last_is_silent,
                        "a lost coefficient passes on {device:?}"
                    );
                }
            }
            if matches!(device, Device::Cpu(_)) {
                break;
            }
        }
    }
}

#[test]
fn product_agrees_with_f64() {
    for device in devices() {
        let forms = tile::MENU.iter().copied().map(Some).chain([None]);
        for form in forms {
            for (rows, k, t) in [
                (1, 1, 1),
                (3, 5, 2),
                (15, 63, 4),
                (16, 64, 5),
                (17, 65, 17),
                (63, 130, 64),
                (65, 7, 65),
                (257, 1027, 36),
            ] {
                let (a, b) = (normal(rows, k, 1), normal(k, t, 2));
                let a_nk = Matrix::upload(device, a.view()).expect("fits");
                let b_kt = Matrix::upload(device, b.view()).expect("fits");
                let mut c_nt = poisoned(device, rows, t);
                product::product_with(&a_nk, &b_kt, &mut c_nt, form).expect("runs");
                let c = c_nt.download().expect("reads back");
                let size = a.mapv(f32::abs).dot(&b.mapv(f32::abs));
                let allowed =
                    |i: usize, j: usize| (4.0 + (k as f64).sqrt()) * EPS * f64::from(size[[i, j]]);
                let ratio = worst(
                    c.view(),
                    product::reference(a.view(), b.view()).view(),
                    allowed,
                );
                assert!(ratio < 1.0, "{rows} x {k} x {t} on {device:?}: {ratio}");
                // Negative control: the last of k lost.
                let mut wrong = b.clone();
                wrong.row_mut(k - 1).fill(0.0);
                let reference = product::reference(a.view(), wrong.view());
                assert!(
                    worst(c.view(), reference.view(), allowed) > 1.0,
                    "a lost row passes on {device:?}"
                );
            }
            if matches!(device, Device::Cpu(_)) {
                break;
            }
        }
    }
}
