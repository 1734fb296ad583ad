//! How rows lie in the registers of invocations, and the constants of the variants that follow.

use crate::device::gpu::shader::Constants;

/// How a whole row of 2^k elements lies in registers: see `shaders/shared/row_layout.wgsl`.
#[derive(Debug, Clone, Copy)]
pub(in crate::ops) struct RowLayout {
    log_n: u32,
    log_e: u32,
    /// Rows of a workgroup: at most 16 KiB and 256 invocations, 64 invocations where rows are
    /// short.
    pub(in crate::ops) rows: u32,
}

impl RowLayout {
    pub(in crate::ops) fn new(log_n: u32) -> Self {
        // One exchange joins two halves of the levels.
        let log_e = log_n.min(4).max(log_n.div_ceil(2));
        let invocations = 1 << (log_n - log_e);
        Self {
            log_n,
            log_e,
            rows: (4096 >> log_n).min(128 / invocations),
        }
    }

    pub(in crate::ops) fn constants(self) -> Constants {
        let pairs = [
            ("LOG_N", self.log_n),
            ("LOG_E", self.log_e),
            ("ROWS", self.rows),
        ];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), i64::from(value)));
        pairs.into_iter().collect()
    }

    /// Where the exchange in workgroup memory holds element `i` of a row.
    pub(in crate::ops) fn address(self, i: u32) -> u32 {
        let invocations = 1 << (self.log_n - self.log_e);
        let low = 8.min(1 << self.log_n);
        let (l, s, h) = (i % low, i / low % invocations, i / (low * invocations));
        let q = l + low * h;
        invocations * q + (s ^ (q % invocations))
    }
}

/// Rows of 2^4 to 2^10 elements are moved in vec4s: longer ones would take more registers than some
/// GPUs have, shorter ones are less than one invocation's.
const QUADS: std::ops::RangeInclusive<u32> = 4..=10;

/// Constants of a dispatch on whole rows, ROWS of them in a workgroup.
fn whole_constants(log_n: u32) -> Constants {
    if !QUADS.contains(&log_n) {
        let mut constants = RowLayout::new(log_n).constants();
        constants.insert("QUADS".into(), 0);
        return constants;
    }
    // One exchange joins two halves of the levels between vec4s; four vec4s need none.
    let log_q = log_n - 2;
    let log_e = log_q.min(2).max(log_q.div_ceil(2));
    let invocations = 1 << (log_q - log_e);
    // 16 KiB of workgroup memory, 128 invocations.
    let rows = (4096 >> log_n).min(128 / invocations);
    let pairs = [
        ("QUADS", 1),
        ("LOG_N", log_n),
        ("LOG_E", log_e),
        ("ROWS", rows),
    ];
    let pairs = pairs.map(|(name, value)| (name.to_owned(), i64::from(value)));
    pairs.into_iter().collect()
}

pub(super) fn whole_variant(log_n: u32, in_place: bool) -> (String, Constants) {
    let mut constants = whole_constants(log_n);
    constants.insert("STRIDED".into(), 0);
    constants.insert("IN_PLACE".into(), in_place.into());
    let way = if in_place { "in-place" } else { "copy" };
    (format!("2^{log_n}/{way}"), constants)
}

pub(super) fn strided_variant(levels: u32) -> (String, Constants) {
    let pairs = [
        ("STRIDED", 1),
        ("QUADS", 0),
        ("IN_PLACE", 1),
        ("LOG_N", levels.into()),
        ("LOG_E", levels.into()),
        ("ROWS", 1),
    ];
    let constants = pairs.map(|(name, value): (_, i64)| (name.to_owned(), value));
    (
        format!("strided-2^{levels}"),
        constants.into_iter().collect(),
    )
}
