//! What parts rows: a hash of their numbers.

/// Which rows a [`Split`](super::Split) yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The rows to learn from.
    Train,
    /// The rows held out.
    Test,
}

/// 64 bits that `seed` gives to `row`: see [`Split`](super::Split).
#[doc(hidden)]
pub fn hash(seed: u64, row: u64) -> u64 {
    fn mix(mut z: u64) -> u64 {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    let step = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(row.wrapping_add(1));
    mix(mix(seed).wrapping_add(step))
}
