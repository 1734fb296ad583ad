//! What the suites share: the devices to run on, seeded data, and the comparison with a reference.
#![allow(dead_code, reason = "each suite uses its part")]

use bochner::{
    Device,
    seed::{Seed, Stream},
};
use ndarray::{Array2, ArrayView2};
use std::sync::OnceLock;

/// The CPU backend and every adapter that the system shows. Under BOCHNER_REQUIRE_GPU=1 no adapter is a failure.
pub(crate) fn devices() -> &'static [Device] {
    static DEVICES: OnceLock<Vec<Device>> = OnceLock::new();
    DEVICES.get_or_init(|| {
        let mut all = vec![Device::cpu()];
        all.extend(Device::all_gpus().expect("every usable adapter opens"));
        if std::env::var("BOCHNER_REQUIRE_GPU").as_deref() == Ok("1") {
            assert!(
                all.len() > 1,
                "no adapter, though BOCHNER_REQUIRE_GPU=1: `cargo xtask test` installs one"
            );
        }
        for device in &all {
            println!("device under test: {}", device.describe());
        }
        all
    })
}

/// Only the adapters.
pub(crate) fn gpus() -> impl Iterator<Item = &'static Device> {
    devices().iter().filter(|d| matches!(d, Device::Gpu(_)))
}

/// Standard normal numbers, the same on every platform.
pub(crate) fn normal(rows: usize, cols: usize, block: u64) -> Array2<f32> {
    let mut draws = Seed(7).stream(Stream::Sample, block);
    Array2::from_shape_simple_fn((rows, cols), || draws.normal() as f32)
}

/// The largest ratio of error to allowed error; a NaN counts as infinite.
pub(crate) fn worst(
    got: ArrayView2<'_, f32>,
    reference: ArrayView2<'_, f64>,
    allowed: impl Fn(usize, usize) -> f64,
) -> f64 {
    assert_eq!(got.dim(), reference.dim(), "shapes differ");
    let mut worst = 0.0_f64;
    for ((i, j), &g) in got.indexed_iter() {
        let ratio = (f64::from(g) - reference[[i, j]]).abs() / allowed(i, j);
        worst = if ratio.is_nan() {
            f64::INFINITY
        } else {
            worst.max(ratio)
        };
    }
    worst
}
