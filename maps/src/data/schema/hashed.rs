//! Where a text of many categories goes.

use crate::data::parting::hash;

/// A number that stands for a text: FNV-1a of its bytes and a finaliser, the same on every machine.
pub(super) fn number_of(text: &str) -> u64 {
    let fold = |h: u64, &byte: &u8| (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    hash(text.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, fold), 0)
}

/// The column of `count` that a text takes, and the sign that it has there.
pub(super) fn place_of(text: &str, count: usize) -> (usize, f64) {
    let mixed = number_of(text);
    let place = (mixed >> 1) % count.max(1) as u64;
    (place as usize, if mixed & 1 == 0 { 1.0 } else { -1.0 })
}
