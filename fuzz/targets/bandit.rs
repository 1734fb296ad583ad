#![no_main]

mod shared;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| shared::read(&["x.bandit"], bytes));
