//! Empty and minimal inputs: no rows, one column, one or two features, on every device and in every
//! form.

use crate::common::{devices, normal, worst};
use bochner::{
    Device, Matrix,
    features::{Affine, Fastfood, FeatureMap, Form, Fourier, Sorf},
    form::{DenseForm, Tile, Way, tile::MENU},
    kernels::{Gaussian, parse},
    ops::{
        Nonlinearity,
        binning::{self, GridHash, Grids},
        gram::{self, GramAccumulator},
        kernel_block::{self, KernelBlock},
        place::{Place, Spot},
        predict::{self, Predict},
        product::{self, ProductForm, product, product_with},
        projection::{self, DenseMap, Projection},
        walsh_hadamard::WalshHadamard,
    },
};
use ndarray::Array2;

fn upload(device: &Device, host: &Array2<f32>) -> Matrix {
    Matrix::upload(device, host.view()).expect("fits")
}

fn poisoned(device: &Device, rows: usize, cols: usize) -> Matrix {
    upload(device, &Array2::from_elem((rows, cols), f32::NAN))
}

fn map(d: usize, s: usize, nonlinearity: Nonlinearity) -> DenseMap {
    DenseMap {
        w_ds: normal(d, s, 2),
        phase_s: vec![0.25; s],
        amplitude_s: vec![1.0; s],
        nonlinearity,
    }
}

const ROWS: [usize; 4] = [0, 1, 5, 70];

/// Bound for sums of few terms of size at most 4, with a slope of 2 pi.
const SMALL: f64 = 1e-5;

#[test]
fn maps_of_one_column_to_one_or_two_features_on_devices() {
    for device in devices() {
        for rows in ROWS {
            for (f, s) in [
                (Nonlinearity::Cos, 1),
                (Nonlinearity::Cos, 2),
                (Nonlinearity::CosSin, 1),
                (Nonlinearity::Relu, 1),
            ] {
                let map = map(1, s, f.clone());
                let x = normal(rows, 1, 1);
                let op = Projection::load(device, &map).expect("loads");
                let x_nd = upload(device, &x);
                let mut z_nd = poisoned(device, rows, op.outputs());
                op.run(&x_nd, &mut z_nd).expect("runs");
                let what = format!("{rows} rows, {f:?}, {s} on {device:?}");
                let z = z_nd.download().expect("reads back");
                let reference = projection::reference(&map, x.view());
                assert!(
                    worst(z.view(), reference.view(), |_, _| SMALL) < 1.0,
                    "{what}"
                );
                let beta = normal(op.outputs(), 1, 3);
                let mut y_nt = poisoned(device, rows, 1);
                Predict::new(&op)
                    .run(&x_nd, &upload(device, &beta), &mut y_nt)
                    .expect("runs");
                let y = y_nt.download().expect("reads back");
                let reference = predict::reference(&map, x.view(), beta.view());
                assert!(
                    worst(y.view(), reference.view(), |_, _| SMALL) < 1.0,
                    "{what}"
                );
            }
        }
    }
}

#[test]
fn products_of_one_column_on_devices() {
    for device in devices() {
        for rows in ROWS {
            for (k, t) in [(1, 1), (1, 2), (2, 1), (5, 1)] {
                let (a, b) = (normal(rows, k, 1), normal(k, t, 2));
                let (a_nk, b_kt) = (upload(device, &a), upload(device, &b));
                let reference = product::reference(a.view(), b.view());
                let check = |c_nt: &Matrix, what: &str| {
                    let c = c_nt.download().expect("reads back");
                    let ratio = worst(c.view(), reference.view(), |_, _| SMALL);
                    assert!(ratio < 1.0, "{rows} x {k} x {t} {what} on {device:?}");
                };
                let mut c_nt = poisoned(device, rows, t);
                product(&a_nk, &b_kt, &mut c_nt).expect("runs");
                check(&c_nt, "as chosen");
                let others = [ProductForm::Narrow, DenseForm::Few { splits: 3 }.into()];
                let able = |tile: &&Tile| device.as_gpu().is_none_or(|gpu| tile.check(gpu).is_ok());
                let tiles = MENU.iter().filter(able).map(|&tile| tile.into());
                for form in tiles.chain(others) {
                    let mut c_nt = poisoned(device, rows, t);
                    product_with(&a_nk, &b_kt, &mut c_nt, form).expect("runs");
                    check(&c_nt, &form.name());
                }
            }
        }
    }
}

#[test]
fn gram_sums_of_one_or_two_features_and_of_nothing_on_devices() {
    for device in devices() {
        for rows in ROWS {
            for d in [1, 2] {
                let (z, y) = (normal(rows, d, 1), normal(rows, 1, 2));
                let mut sums = GramAccumulator::new(device, d, 1).expect("fits");
                sums.add(&upload(device, &z), &upload(device, &y))
                    .expect("adds");
                let sums = sums.finish().expect("reads back");
                let reference = gram::reference(z.view(), y.view());
                let apart = (&sums.gram_dd - &reference.gram_dd)
                    .iter()
                    .chain(&(&sums.zty_dt - &reference.zty_dt))
                    .fold(
                        0.0,
                        |m: f64, e| if e.is_nan() { f64::NAN } else { m.max(e.abs()) },
                    );
                assert!(apart < 1e-4, "{rows} x {d} on {device:?}: {apart}");
            }
        }
        let nothing = GramAccumulator::new(device, 2, 1).expect("fits");
        let sums = nothing.finish().expect("reads back");
        assert!(sums.gram_dd.iter().all(|&v| v == 0.0));
    }
}

#[test]
fn kernel_blocks_of_one_column_and_one_landmark_on_devices() {
    let kernel = parse("gaussian").expect("known");
    for device in devices() {
        for rows in ROWS {
            for m in [1, 2] {
                let (x, y) = (normal(rows, 1, 1), normal(m, 1, 2));
                let op = KernelBlock::load(device, kernel.clone(), y.view()).expect("loads");
                let x_nd = upload(device, &x);
                let mut k_nm = poisoned(device, rows, m);
                op.run(&x_nd, &mut k_nm).expect("runs");
                let k = k_nm.download().expect("reads back");
                let reference = kernel_block::reference(kernel.as_ref(), x.view(), y.view());
                let ratio = worst(k.view(), reference.view(), |_, _| SMALL);
                assert!(ratio < 1.0, "{rows} x {m} on {device:?}");
                let mut out = poisoned(device, rows, 1);
                op.times(
                    &x_nd,
                    &upload(device, &normal(m, 1, 3)),
                    &mut out,
                    &mut None,
                )
                .expect("runs");
                assert!(out.download().expect("reads").iter().all(|v| v.is_finite()));
            }
        }
    }
}

#[test]
fn no_rows_and_one_column_are_placed_on_devices() {
    for device in devices() {
        for rows in ROWS {
            let place = Place::load(device, &[[2.0, 1.0]]).expect("loads");
            let source = upload(device, &normal(rows, 1, 1));
            let mut to = poisoned(device, rows, 3);
            let spot = Spot {
                rows,
                col: 2,
                ..Spot::default()
            };
            place.run(spot, &source, &mut to).expect("runs");
            let to = to.download().expect("reads back");
            let source = source.download().expect("reads back");
            for (to, from) in to.rows().into_iter().zip(source.column(0)) {
                assert!((to[2] - (2.0 * from + 1.0)).abs() < 1e-5 && to[0].is_nan());
            }
        }
    }
}

#[test]
fn maps_of_one_column_and_one_or_two_features_featurize_nothing_and_something_on_devices() {
    for device in devices() {
        for features in [1, 2] {
            let input = || Affine::identity(1);
            let maps: [Box<dyn FeatureMap>; 3] = [
                Box::new(
                    Fourier::new(Gaussian)
                        .features(features)
                        .form(Form::Phase)
                        .build(input())
                        .expect("builds"),
                ),
                Box::new(
                    Fastfood::new(Gaussian)
                        .features(features)
                        .form(Form::Phase)
                        .build(input())
                        .expect("builds"),
                ),
                Box::new(
                    Sorf::new(Gaussian)
                        .features(features)
                        .form(Form::Phase)
                        .build(input())
                        .expect("builds"),
                ),
            ];
            for map in maps {
                let mut loaded = map.load(device).expect("loads");
                for rows in ROWS {
                    let x_nd = upload(device, &normal(rows, 1, 1));
                    let mut z_nd = poisoned(device, rows, features);
                    loaded.featurize(&x_nd, &mut z_nd).expect("runs");
                    let z = z_nd.download().expect("reads back");
                    let what = format!("{} of {rows} rows on {device:?}", map.name());
                    assert!(
                        z.nrows() == rows && z.iter().all(|v| v.abs() < 1.5),
                        "{what}"
                    );
                    let beta_dt = upload(device, &normal(features, 1, 3));
                    let mut y_nt = poisoned(device, rows, 1);
                    loaded.predict(&x_nd, &beta_dt, &mut y_nt).expect("runs");
                    let y = y_nt.download().expect("reads back");
                    assert!(
                        y.nrows() == rows && y.iter().all(|v| v.is_finite()),
                        "{what}"
                    );
                }
            }
        }
    }
}

#[test]
fn bins_of_one_column_and_transforms_of_two_on_devices() {
    for device in devices() {
        let grids = Grids {
            inverse_dp: Array2::from_elem((1, 1), Grids::inverse(0.5)),
            shift_dp: Array2::from_elem((1, 1), 12_345),
        };
        let bins = GridHash::load(device, &grids).expect("loads");
        let transform = WalshHadamard::new(2).expect("the shortest there is");
        for rows in ROWS {
            let x = normal(rows, 1, 1);
            let x_nd = upload(device, &x);
            let mut hash = bins.output(rows).expect("fits");
            bins.run(&x_nd, 0, &mut hash).expect("runs");
            let hash = binning::download(&hash).expect("reads back");
            assert_eq!(
                hash,
                binning::reference(&grids, x.view()),
                "{rows}, {device:?}"
            );
            let pairs = normal(rows, 2, 4);
            let mut y_nd = poisoned(device, rows, 2);
            transform
                .run_into(&upload(device, &pairs), &mut y_nd)
                .expect("runs");
            let turned = Array2::from_shape_fn((rows, 2), |(i, j)| {
                pairs[[i, 0]] + [1.0, -1.0][j] * pairs[[i, 1]]
            });
            assert_eq!(y_nd.download().expect("reads back"), turned);
        }
    }
}
