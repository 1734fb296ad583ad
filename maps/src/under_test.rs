//! The adapters that unit tests run on, as `tests/common` for the others.

use crate::Device;

/// Every adapter, opened for one test alone. Under BOCHNER_REQUIRE_GPU=1 no adapter is a failure.
///
/// Only tests with `device` or `adapter` in their names may ask, as in `tests/common`.
pub fn gpus() -> Vec<Device> {
    assert!(
        std::env::var("BOCHNER_TEST_DEVICES").as_deref() != Ok("none"),
        "a test that runs on devices has `device` or `adapter` in its name"
    );
    let all = Device::all_gpus().expect("every usable adapter opens");
    assert!(
        !all.is_empty() || std::env::var("BOCHNER_REQUIRE_GPU").as_deref() != Ok("1"),
        "no adapter, though BOCHNER_REQUIRE_GPU=1"
    );
    for device in &all {
        println!("device under test: {}", device.describe());
    }
    all
}
