//! The last line of the tests: which devices they ran on. Not a harness, whose tests print nothing
//! when they pass.

use bochner::Device;
use std::process::ExitCode;

fn main() -> ExitCode {
    // What lists tests finds none here.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let adapters = Device::report().adapters.into_iter();
    let usable = adapters.filter(|adapter| adapter.refusal.is_none());
    let names: Vec<_> = usable.map(|adapter| adapter.name).collect();
    if !names.is_empty() {
        println!(
            "adapters: {}; they and the CPU were tested",
            names.join("; ")
        );
        return ExitCode::SUCCESS;
    }
    println!(
        "adapters: none; ONLY THE CPU WAS TESTED; `cargo xtask test` finds or installs an adapter"
    );
    match std::env::var("BOCHNER_REQUIRE_GPU").as_deref() {
        Ok("1") => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}
