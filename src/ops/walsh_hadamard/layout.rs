//! How rows lie in the registers of invocations, the constants of the variants that follow, and the
//! parameters that all of them take.

use crate::ops::Variant;

/// The uniform parameters, as in the shaders of transforms.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Params {
    pub(super) rows: u32,
    pub(super) x_stride4: u32,
    pub(super) y_stride4: u32,
    pub(super) row4: u32,
    pub(super) inner4: u32,
}

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

    /// The constants that shaders of rows expand with; an op adds its own.
    pub(in crate::ops) fn variant(self) -> Variant {
        Variant::of([
            ("LOG_N", self.log_n.into()),
            ("LOG_E", self.log_e.into()),
            ("ROWS", self.rows.into()),
        ])
    }

    /// Where the exchange in workgroup memory holds element `i` of a row.
    pub(in crate::ops) fn address(self, i: u32) -> u32 {
        let invocations = 1 << (self.log_n - self.log_e);
        let low = 8.min(1 << self.log_n);
        let (l, s, h) = (i % low, i / low % invocations, i / (low * invocations));
        // An invocation owns s in one layout and q in the other. The exclusive or spreads both over
        // the banks, so that neither way of walking hits one bank twice.
        let q = l + low * h;
        invocations * q + (s ^ (q % invocations))
    }
}

/// Rows of 2^4 to 2^10 elements are moved in vec4s: longer ones would take more registers than some
/// GPUs have, shorter ones are less than one invocation's.
const QUADS: std::ops::RangeInclusive<u32> = 4..=10;

/// How many whole rows of 2^`log_n` elements a workgroup takes, and the variant that does.
pub(super) fn whole(log_n: u32, in_place: bool) -> (u32, Variant) {
    let (rows, layout) = if QUADS.contains(&log_n) {
        // One exchange joins two halves of the levels between vec4s; four vec4s need none.
        let log_q = log_n - 2;
        let log_e = log_q.min(2).max(log_q.div_ceil(2));
        let invocations = 1 << (log_q - log_e);
        // 16 KiB of workgroup memory, 128 invocations.
        let rows = (4096 >> log_n).min(128 / invocations);
        let layout = RowLayout { log_n, log_e, rows };
        (rows, layout.variant().with("QUADS", 1))
    } else {
        let layout = RowLayout::new(log_n);
        (layout.rows, layout.variant().with("QUADS", 0))
    };
    let variant = layout.with("STRIDED", 0).with("IN_PLACE", in_place.into());
    (rows, variant)
}

pub(super) fn strided_variant(levels: u32) -> Variant {
    Variant::of([
        ("LOG_N", levels.into()),
        ("LOG_E", levels.into()),
        ("ROWS", 1),
        ("QUADS", 0),
        ("STRIDED", 1),
        ("IN_PLACE", 1),
    ])
}
