//! One row at a time, at low latency: `cargo run --release --example one_row`.
//!
//! A model that is loaded once keeps its parameters and buffers on the device, so that a call moves
//! one row there and one number back.

use bochner::prelude::*;
use ndarray::{Array2, s};
use std::time::Instant;

fn main() -> Result<()> {
    let x = Array2::from_shape_fn((2000, 64), |(i, j)| ((i * (j + 11)) % 97) as f32 / 97.0);
    let y: Vec<f32> = x
        .rows()
        .into_iter()
        .map(|x| (4.0 * x[0]).sin() + x[5])
        .collect();
    let model = Ridge::on(Fourier::new(Gaussian).features(1024)).fit((&x, &y))?;

    let mut loaded = model.loaded()?;
    let mut times = Vec::new();
    for (i, &y) in y.iter().enumerate().take(500) {
        let start = Instant::now();
        let predicted = loaded.predict(x.slice(s![i..=i, ..]))?;
        times.push(start.elapsed());
        assert!((predicted[0] - f64::from(y)).abs() < 0.2, "row {i}");
    }
    times.sort_unstable();
    println!(
        "a row of 64 columns through 1024 features: median {:?}, slowest {:?}",
        times[250], times[499]
    );
    Ok(())
}
