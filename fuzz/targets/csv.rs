#![no_main]

mod shared;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let name = match bytes {
        [0x1f, 0x8b, ..] => "x.csv.gz",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "x.csv.zst",
        _ => "x.csv",
    };
    shared::read(&[name], bytes);
});
