//! Projections and Gram sums on matrix units, on every adapter that supports them: `cargo xtask
//! units` provides one. Without one the tests print so; with BOCHNER_REQUIRE_UNITS=1 they fail.

use crate::common::{gpus, normal, worst};
use bochner::{
    Device, Matrix,
    device::MatrixUnits,
    form::DenseForm,
    ops::{
        Nonlinearity,
        gram::{self, GramAccumulator, Panels},
        projection::{self, DenseMap, Projection},
    },
    sampling::round_to_11_bits,
};
use ndarray::{Array2, Axis};

/// The adapters with matrix units, and the size of their fragments.
fn with_units() -> Vec<(&'static Device, u32)> {
    let mut found = Vec::new();
    for device in gpus() {
        let Device::Gpu(gpu) = device else { continue };
        match &gpu.report().units {
            Ok(side) => found.push((device, *side)),
            Err(why) => println!("not run on {}: {why}", device.describe()),
        }
    }
    let required = std::env::var("BOCHNER_REQUIRE_UNITS").as_deref() == Ok("1");
    assert!(
        !required || !found.is_empty(),
        "no adapter has matrix units"
    );
    found
}

fn map(d: usize, s: usize) -> DenseMap {
    let w = normal(d, s, 2).mapv(|w| round_to_11_bits(f64::from(w) / 16.0));
    DenseMap {
        w_ds: w,
        phase_s: vec![0.25; s],
        amplitude_s: vec![1.0; s],
        nonlinearity: Nonlinearity::CosSin,
    }
}

fn features(device: &Device, map: &DenseMap, x: &Array2<f32>, form: DenseForm) -> Array2<f32> {
    let op = Projection::load_with(device, map, form).expect("loads");
    let x_nd = Matrix::upload(device, x.view()).expect("fits");
    let nan = Array2::from_elem((x.nrows(), op.outputs()), f32::NAN);
    let mut z_nd = Matrix::upload(device, nan.view()).expect("fits");
    op.run(&x_nd, &mut z_nd).expect("runs");
    z_nd.download().expect("reads back")
}

fn mean_error(z: &Array2<f32>, exact: &Array2<f64>) -> f64 {
    let square = |(&z, e): (&f32, &f64)| (f64::from(z) - e).powi(2);
    (z.iter().zip(exact).map(square).sum::<f64>() / z.len() as f64).sqrt()
}

#[test]
fn features_err_no_more_than_those_of_tiles_on_devices() {
    for (device, side) in with_units() {
        for (n, d, s) in [(100, 784, 200), (33, 1000, 61)] {
            let (map, x) = (map(d, s), normal(n, d, 3));
            let exact = projection::reference(&map, x.view());
            let units = features(device, &map, &x, DenseForm::Units { side });
            let tiles = bochner::form::tile::DIRECT_8X64;
            let tiles = features(device, &map, &x, tiles.into());
            let errors = [&units, &tiles].map(|z| mean_error(z, &exact));
            println!("{errors:?} of units and tiles, {n} x {d} to {s}, on {device:?}");
            assert!(errors[0] <= errors[1], "{errors:?} on {device:?}");
            // Negative control: frequencies off by half a unit of 11 bits.
            let mut wrong = map.clone();
            wrong.w_ds *= 1.0 + 1.0 / 4096.0;
            let wrong = projection::reference(&wrong, x.view());
            let ratio = worst(units.view(), wrong.view(), |_, _| 10.0 * errors[1]);
            assert!(ratio > 1.0, "{ratio}");
        }
    }
}

/// A row has the same bits in any batch, independent of the size of other rows.
#[test]
fn rows_have_their_bits_in_any_batch_on_devices() {
    for (device, side) in with_units() {
        let map = map(300, 70);
        let mut x = normal(70, 300, 4);
        for (i, mut row) in x.rows_mut().into_iter().enumerate() {
            row *= [1.0, 1e6, 1e-6][i % 3];
        }
        let form = DenseForm::Units { side };
        let all = features(device, &map, &x, form);
        for i in [0, 1, 2, 40, 69] {
            let row = x.slice(ndarray::s![i..=i, ..]).to_owned();
            let alone = features(device, &map, &row, form);
            assert_eq!(alone.row(0), all.row(i), "row {i} on {device:?}");
        }
    }
}

/// Units are used only where allowed, and not for maps of few columns, or sums of few features or
/// many targets.
#[test]
fn units_are_taken_for_what_they_may_be_used_for_on_devices() {
    for (device, side) in with_units() {
        let Device::Gpu(gpu) = device else { continue };
        let units = Some(DenseForm::Units { side });
        let taken = |what| {
            gpu.use_units(what);
            let form = |d| {
                let op = Projection::load(device, &map(d, 70)).expect("loads");
                op.form(500) == units
            };
            let sums = |features, targets| {
                let sums = GramAccumulator::new(device, features, targets).expect("fits");
                sums.form() == units
            };
            let few = [form(64), sums(255, 1), sums(300, 33)];
            assert_eq!(few, [false; 3], "{what:?} on {device:?}");
            [form(65), sums(256, 32)]
        };
        assert_eq!(taken(MatrixUnits::All), [true, true]);
        assert_eq!(taken(MatrixUnits::Projections), [true, false]);
        assert_eq!(taken(MatrixUnits::None), [false, false]);
    }
}

#[test]
fn words_for_units_are_known_or_refused() {
    assert_eq!("all".parse::<MatrixUnits>().ok(), Some(MatrixUnits::All));
    let refused = "some".parse::<MatrixUnits>().expect_err("no such word");
    assert!(refused.to_string().contains("`projections`"), "{refused}");
}

/// Sums in chunks of any size have the same bits, and errors no larger than with tiles.
#[test]
fn sums_have_their_bits_in_any_chunks_and_err_no_more_than_those_of_tiles_on_devices() {
    for (device, _) in with_units() {
        let (n, d) = (1700, 300);
        let mut z = normal(n, d, 5);
        for (j, mut column) in z.columns_mut().into_iter().enumerate() {
            column *= [1.0, 1e3, 1e-3][j % 3];
        }
        let y = normal(n, 3, 6);
        let exact = gram::reference(z.view(), y.view());
        let sum = |mut sums: GramAccumulator, chunk: usize| {
            let rows = z.axis_chunks_iter(Axis(0), chunk);
            for (z, y) in rows.zip(y.axis_chunks_iter(Axis(0), chunk)) {
                let [z, y] = [z, y].map(|m| Matrix::upload(device, m).expect("fits"));
                sums.add(&z, &y).expect("runs");
            }
            sums.finish().expect("reads back")
        };
        let on_units = || GramAccumulator::with_units(device, d, 3, Panels::WHOLE).expect("units");
        let tile = bochner::form::tile::DIRECT_64;
        let in_tiles = GramAccumulator::with_tile(device, d, 3, tile, Panels::WHOLE);
        let whole = sum(on_units(), n);
        for chunk in [100, 512, 999] {
            assert_eq!(
                sum(on_units(), chunk),
                whole,
                "chunks of {chunk} on {device:?}"
            );
        }
        let error = |sums: &gram::GramSums| {
            let each = sums.gram_dd.indexed_iter().map(|((i, j), g)| {
                let norms = exact.gram_dd[[i, i]] * exact.gram_dd[[j, j]];
                (g - exact.gram_dd[[i, j]]).powi(2) / norms
            });
            (each.sum::<f64>() / (d * d) as f64).sqrt()
        };
        let errors = [&whole, &sum(in_tiles.expect("fits"), n)].map(error);
        println!("{errors:?} of units and tiles on {device:?}");
        assert!(errors[0] <= errors[1], "{errors:?} on {device:?}");
    }
}

/// Unsupported cases are refused by name, and so is a device without units.
#[test]
fn what_units_cannot_take_is_refused_on_devices() {
    let cannot = |device: &Device, map: &DenseMap| {
        let form = DenseForm::Units { side: 8 };
        let refused = Projection::load_with(device, map, form).expect_err("refused");
        refused.to_string()
    };
    for (device, _) in with_units() {
        let mut fine = map(100, 8);
        fine.w_ds[[3, 3]] = 1.0 + 1.0 / 2048.0;
        let message = cannot(device, &fine);
        assert!(message.contains("f16 does not hold"), "{message}");
        let sums = GramAccumulator::with_units(device, 300, 33, Panels::WHOLE);
        let message = sums.expect_err("refused").to_string();
        assert!(message.contains("33 targets"), "{message}");
    }
    for device in gpus() {
        if let Device::Gpu(gpu) = device
            && let Err(why) = &gpu.report().units
        {
            let message = cannot(device, &map(100, 8));
            assert!(message.contains(why), "{message}");
            let sums = GramAccumulator::with_units(device, 300, 1, Panels::WHOLE);
            let message = sums.expect_err("refused").to_string();
            assert!(message.contains(why), "{message}");
        }
    }
}
