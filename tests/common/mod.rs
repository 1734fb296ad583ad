//! Helpers shared by the suites: devices, seeded data, and comparison with a reference.
#![allow(dead_code, reason = "each suite uses its part")]

use bochner::Device;
#[allow(unused_imports, reason = "each suite uses its part")]
pub(crate) use bochner::check::{normal, worst};
use std::sync::OnceLock;

/// The CPU backend, first, and every adapter of the system, opened once per process. With
/// BOCHNER_REQUIRE_GPU=1 it fails without an adapter.
///
/// Only tests with `device` or `adapter` in their names may call this: `cargo xtask test` runs
/// those once for each driver, and all others with BOCHNER_TEST_DEVICES set to `none`.
pub(crate) fn devices() -> &'static [Device] {
    static DEVICES: OnceLock<Vec<Device>> = OnceLock::new();
    DEVICES.get_or_init(|| {
        assert!(
            std::env::var("BOCHNER_TEST_DEVICES").as_deref() != Ok("none"),
            "a test that runs on devices has `device` or `adapter` in its name"
        );
        let mut all = vec![Device::cpu()];
        all.extend(Device::all_gpus().expect("every usable adapter opens"));
        if std::env::var("BOCHNER_REQUIRE_GPU").as_deref() == Ok("1") {
            assert!(
                all.len() > 1,
                "no adapter, though BOCHNER_REQUIRE_GPU=1: `cargo xtask test` installs one"
            );
        }
        // Exactly the adapters listed as usable.
        let adapters = Device::report().adapters;
        let usable = adapters.iter().filter(|a| a.refusal.is_none()).count();
        assert_eq!(all.len(), 1 + usable, "{adapters:?}");
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
