//! Tile shapes of the dense ops: all sum in the same order, so on drivers that do not reorder
//! operations, such as software adapters, results are bit-identical for all shapes. Other drivers
//! may contract and reassociate; parity tests check them.

use crate::common::gpus;
use bochner::{
    Device, Matrix,
    bench::baseline::{SquareGram, naive},
    check::{normal, worst},
    form::{
        DenseForm, Way,
        tile::{DIRECT_8X64, MENU, PREDICT_MENU, SQUARE_MENU, Tile},
        tuning,
    },
    ops::{
        Nonlinearity,
        gram::{self, GramAccumulator, Panels},
        predict::Predict,
        product::product_with,
        projection::{self, DenseMap, Projection},
    },
};
use ndarray::Array2;

fn upload(device: &Device, host: &Array2<f32>) -> Matrix {
    Matrix::upload(device, host.view()).expect("fits")
}

fn map(d: usize, s: usize) -> DenseMap {
    DenseMap {
        w_ds: normal(d, s, 2),
        phase_s: normal(1, s, 3).into_raw_vec_and_offset().0,
        amplitude_s: vec![0.1; s],
        nonlinearity: Nonlinearity::CosSin,
    }
}

/// The shapes of a menu that fit into the workgroup memory of an adapter.
fn able(device: &Device, menu: &[Tile]) -> Vec<Tile> {
    let Device::Gpu(gpu) = device else {
        unreachable!("tiles are of GPUs")
    };
    let able = menu.iter().filter(|tile| tile.check(gpu).is_ok());
    able.copied().collect()
}

/// Runs `op` with every shape and checks that results are bit-identical on a software adapter. They
/// must not be empty or constant.
fn same_bits<T: PartialEq + Clone>(
    device: &Device,
    menu: &[Tile],
    op: impl Fn(Tile) -> Array2<T>,
) -> Array2<T> {
    let menu = able(device, menu);
    let first = op(menu[0]);
    if !matches!(device, Device::Gpu(gpu) if gpu.is_software()) {
        println!("{device:?} may contract and reassociate: its bits are not compared");
        return first;
    }
    assert!(first.iter().any(|v| *v != first[[0, 0]]), "says nothing");
    let differ: Vec<_> = menu[1..]
        .iter()
        .filter(|tile| op(**tile) != first)
        .collect();
    let names: Vec<_> = differ.iter().map(|tile| tile.name).collect();
    assert!(names.is_empty(), "{names:?} differ on {device:?}");
    first
}

#[test]
fn projections_have_the_same_bits_with_every_tile_on_devices() {
    for device in gpus() {
        let (x, map) = (normal(131, 101, 1), map(101, 131));
        let x_nd = upload(device, &x);
        let run = |map: &DenseMap, tile: Tile| {
            let op = Projection::load_with(device, map, tile.into()).expect("loads");
            let mut z_nd = Matrix::new(device, 131, 262).expect("fits");
            op.run(&x_nd, &mut z_nd).expect("runs");
            z_nd.download().expect("reads back")
        };
        let z = same_bits(device, MENU, |tile| run(&map, tile));
        // Negative control: the same sums in another order have other bits.
        let mut turned = map.clone();
        turned.w_ds.invert_axis(ndarray::Axis(0));
        let mut x_turned = x.clone();
        x_turned.invert_axis(ndarray::Axis(1));
        let x_nd = upload(device, &x_turned);
        let op = Projection::load(device, &turned).expect("loads");
        let mut other = Matrix::new(device, 131, 262).expect("fits");
        op.run(&x_nd, &mut other).expect("runs");
        assert!(other.download().expect("reads back") != z);
    }
}

/// More rows of tiles than a band of workgroups, and a last band of one row.
#[test]
fn every_workgroup_has_a_tile_of_its_own_on_devices() {
    for device in gpus() {
        let (rows, d, s) = (1153, 5, 257);
        let (x_nd, map) = (upload(device, &normal(rows, d, 1)), map(d, s));
        let poison = Array2::from_elem((rows, 2 * s), f32::NAN);
        let z = same_bits(device, MENU, |tile| {
            let op = Projection::load_with(device, &map, tile.into()).expect("loads");
            let mut z_nd = upload(device, &poison);
            op.run(&x_nd, &mut z_nd).expect("runs");
            z_nd.download().expect("reads back")
        });
        assert!(z.iter().all(|v| v.is_finite()));
    }
}

#[test]
fn predictions_have_the_same_bits_with_every_tile_on_devices() {
    for device in gpus() {
        let map = map(33, 300);
        let x_nd = upload(device, &normal(131, 33, 1));
        for targets in [1, 19] {
            let beta_dt = upload(device, &normal(600, targets, 4));
            // Without workgroup memory the order of sums differs.
            let (staged, direct): (Vec<_>, Vec<_>) =
                PREDICT_MENU.iter().copied().partition(|t| t.bk > 0);
            assert_eq!(staged.len(), PREDICT_MENU.len() - 1);
            assert_eq!(direct, [DIRECT_8X64]);
            same_bits(device, &staged, |tile| {
                let op = Projection::load_with(device, &map, tile.into()).expect("loads");
                let mut y_nt = Matrix::new(device, 131, targets).expect("fits");
                Predict::new(&op)
                    .run(&x_nd, &beta_dt, &mut y_nt)
                    .expect("runs");
                y_nt.download().expect("reads back")
            });
        }
    }
}

#[test]
fn products_have_the_same_bits_with_every_tile_on_devices() {
    for device in gpus() {
        let a_nk = upload(device, &normal(131, 101, 1));
        let b_kt = upload(device, &normal(101, 131, 2));
        same_bits(device, MENU, |tile| {
            let mut c_nt = Matrix::new(device, 131, 131).expect("fits");
            product_with(&a_nk, &b_kt, &mut c_nt, tile).expect("runs");
            c_nt.download().expect("reads back")
        });
    }
}

#[test]
fn gram_sums_have_the_same_bits_with_every_tile_on_devices() {
    for device in gpus() {
        let z_nd = upload(device, &normal(333, 131, 1));
        let y_nt = upload(device, &normal(333, 3, 2));
        same_bits(device, SQUARE_MENU, |tile| {
            let sums = GramAccumulator::with_tile(device, 131, 3, tile, Panels::WHOLE);
            let mut sums = sums.expect("fits");
            for _ in 0..3 {
                sums.add(&z_nd, &y_nt).expect("runs");
            }
            let sums = sums.finish().expect("reads back");
            ndarray::concatenate![ndarray::Axis(1), sums.gram_dd, sums.zty_dt]
        });
    }
}

#[test]
fn a_forced_tile_is_taken_and_changes_no_bit_on_devices() {
    // Uses separate devices, since other tests query the choices of the shared ones.
    for device in Device::all_gpus().expect("every adapter opens") {
        let Device::Gpu(gpu) = &device else { continue };
        let (x, map) = (normal(70, 9, 1), map(9, 40));
        let x_nd = upload(&device, &x);
        let op = Projection::load(&device, &map).expect("loads");
        let run = || {
            let mut z_nd = Matrix::new(&device, 70, 80).expect("fits");
            op.run(&x_nd, &mut z_nd).expect("runs");
            z_nd.download().expect("reads back")
        };
        let own = run();
        for tile in &able(&device, MENU) {
            tuning::force(gpu, Some(tile.name)).expect("is known");
            assert_eq!(op.form(70), Some(DenseForm::Tile(*tile)));
            assert!(run() == own, "{} on {device:?}", tile.name);
        }
        // A few rows use their own form again if nothing is forced.
        tuning::force(gpu, Some(MENU[0].name)).expect("is known");
        assert_eq!(op.form(1), Some(DenseForm::Tile(MENU[0])));
        tuning::force(gpu, None).expect("is known");
        assert!(matches!(op.form(1), Some(DenseForm::Few { .. })));
        assert!(tuning::force(gpu, Some("64")).is_err());
    }
}

/// The baselines of `cargo bench --bench dense` compute the same results.
#[test]
fn baselines_agree_with_the_ops_on_devices() {
    for device in gpus() {
        let Device::Gpu(gpu) = device else { continue };
        let host = DenseMap {
            nonlinearity: Nonlinearity::Cos,
            ..map(13, 37)
        };
        let x = normal(35, 13, 1);
        let (x_nd, w_ds) = (upload(device, &x), upload(device, &host.w_ds));
        let pair = |(_, j): (usize, usize)| [host.phase_s[j / 2], host.amplitude_s[j / 2]][j % 2];
        let feature = upload(device, &Array2::from_shape_fn((1, 74), pair));
        let mut z_ns = upload(device, &Array2::from_elem((35, 37), f32::NAN));
        naive(gpu, &x_nd, &w_ds, &feature, &mut z_ns).expect("runs");
        let reference = projection::reference(&host, x.view());
        // 13 terms of size 4, through a slope of 0.1 * 2 pi.
        let allowed = 13.0 * 4.0 * 2.0_f64.powi(-24) * 0.63;
        let z = z_ns.download().expect("reads back");
        assert!(worst(z.view(), reference.view(), |_, _| allowed) < 1.0);

        let (z, y) = (normal(50, 130, 1), normal(50, 1, 2));
        let (z_nd, y_n1) = (upload(device, &z), upload(device, &y));
        for tile in able(device, SQUARE_MENU) {
            let mut square = SquareGram::new(device, 130, tile).expect("fits");
            square.add(&z_nd, &y_n1).expect("runs");
            let corner = square.corner().expect("reads back");
            let exact = gram::reference(z.view(), y.view()).gram_dd;
            let side = tile.cols() as usize;
            for ((i, j), &v) in corner.indexed_iter() {
                if let Some(exact) = exact.get([i.max(j), i.min(j)]) {
                    let error = (f64::from(v) - exact).abs();
                    assert!(error < 1e-4, "{} {i} {j} of {side}: {v} {exact}", tile.name);
                }
            }
        }
    }
}
