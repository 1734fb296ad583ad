//! Projections on matrix units, on every adapter that lists them: `cargo xtask units` brings one.
//! Where none does the tests say so; under BOCHNER_REQUIRE_UNITS=1 they fail then.

mod common;

use bochner::{
    Device, Matrix,
    form::DenseForm,
    ops::{
        Nonlinearity,
        projection::{self, DenseMap, Projection},
    },
    sampling::round_to_11_bits,
};
use common::{gpus, normal, worst};
use ndarray::Array2;

/// The adapters that list units, and the side of their fragments.
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
fn features_err_no_more_than_those_of_tiles() {
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
            // Negative control: frequencies half of a place of 11 bits off.
            let mut wrong = map.clone();
            wrong.w_ds *= 1.0 + 1.0 / 4096.0;
            let wrong = projection::reference(&wrong, x.view());
            let ratio = worst(units.view(), wrong.view(), |_, _| 10.0 * errors[1]);
            assert!(ratio > 1.0, "{ratio}");
        }
    }
}

/// A row has the same bits in any batch: nothing of other rows, as their size, shows.
#[test]
fn rows_have_their_bits_in_any_batch() {
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

/// What cannot go to units is refused by name, and so is a device without.
#[test]
fn what_units_cannot_take_is_refused() {
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
    }
    for device in gpus() {
        if let Device::Gpu(gpu) = device
            && let Err(why) = &gpu.report().units
        {
            let message = cannot(device, &map(100, 8));
            assert!(message.contains(why), "{message}");
        }
    }
}
