//! What the suites share: the devices to run on, seeded data, and the comparison with a reference.
#![allow(dead_code, reason = "each suite uses its part")]

use bochner::Device;
#[allow(unused_imports, reason = "each suite uses its part")]
pub(crate) use bochner::check::{normal, worst};
use std::sync::OnceLock;

/// The CPU backend, first, and every adapter that the system shows, opened once a process. Under
/// BOCHNER_REQUIRE_GPU=1 no adapter is a failure.
///
/// Only tests with `device` or `adapter` in their names may ask: `cargo xtask test` runs those once
/// for each driver, and all others where BOCHNER_TEST_DEVICES is `none`.
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
        // What is listed as usable, and no fewer.
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
