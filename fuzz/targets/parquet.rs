#![no_main]

mod shared;

libfuzzer_sys::fuzz_target!(
    // Crates below panic at what a file holds, which is caught where they are called: what is not
    // caught ends the target without the hook of libfuzzer-sys, too.
    init: drop(std::panic::take_hook()),
    |bytes: &[u8]| shared::read(&["x.parquet", "x.arrow", "x.arrows"], bytes)
);
