//! Features of a function of your own, on the CPU and on every GPU: `cargo run --release --example
//! own_nonlinearity`.
//!
//! The CPU calls the Rust function, a GPU computes the WGSL expression beside it; the two are
//! compared when a map is loaded there. A model keeps the function's name, so that the program that
//! loads it registers the same.

use bochner::prelude::*;
use ndarray::{Array1, Array2};

/// x / (1 + exp(-x)).
fn swish() -> Custom {
    Custom::new("swish", |t| t / (1.0 + (-t).exp())).wgsl("t / (1.0 + exp(-t))")
}

fn main() -> Result<()> {
    // Once, before the first model is saved or loaded.
    swish().register()?;
    let x = Array2::from_shape_fn((500, 4), |(i, j)| {
        (((i + 3) * (2 * j + 5)) % 17) as f64 / 8.0 - 1.0
    });
    let y: Array1<f64> = x.rows().into_iter().map(|x| x[0] * x[1] + x[2]).collect();
    let folder = tempfile::tempdir().map_err(|e| Error::io("the temporary folder", e))?;
    let path = folder.path().join("swish.model");

    let mut devices = vec![Device::cpu()];
    devices.extend(Device::all_gpus()?);
    for device in &devices {
        let model = Ridge::on(swish().features(200))
            .bandwidth(Bandwidth::Sigma(1.0))
            .lambda(1e-6)
            .device(device)
            .fit((&x, &y))?;
        model.save(&path)?;
        let read: Model<Array1<f64>> = Model::load(&path)?.device(device);
        let predicted = read.predict(&x)?;
        let worst = (&predicted - &y).fold(0.0_f64, |worst, e| worst.max(e.abs()));
        println!("{}: largest error {worst:.1e}", device.describe());
        assert!(worst < 0.05, "{worst}");
        assert_eq!(predicted, model.predict(&x)?);
    }
    // One that is off is refused, with the argument that shows it.
    let wrong = Custom::new("swish", |t| t / (1.0 + (-t).exp())).wgsl("t / (1.0 + exp2(-t))");
    for device in &devices[1..] {
        let map = Ridge::on(wrong.clone()).bandwidth(Bandwidth::Sigma(1.0));
        let refused = map
            .device(device)
            .fit((&x, &y))
            .expect_err("is another function");
        println!("{refused}");
    }
    Ok(())
}
