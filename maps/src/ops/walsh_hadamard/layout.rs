//! How rows lie in the registers of invocations, the constants of the variants that follow, and the
//! parameters that all of them take.

use crate::{form::Registers, ops::Variant};

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
    /// short; or one of 32 KiB.
    pub(in crate::ops) rows: u32,
}

impl RowLayout {
    pub(in crate::ops) fn new(log_n: u32, registers: Registers) -> Self {
        // One exchange joins two halves of the levels; two do where a half is more than 32
        // registers.
        let most = match registers {
            Registers::Few => 5,
            Registers::Many => 6,
        };
        let log_e = log_n.min(4).max(log_n.div_ceil(2)).min(most);
        let invocations = 1 << (log_n - log_e);
        Self {
            log_n,
            log_e,
            rows: (4096 >> log_n).min(128 / invocations).max(1),
        }
    }

    /// The constants that shaders of rows expand with; an op adds its own.
    pub(in crate::ops) fn variant(self) -> Variant {
        Variant::new([
            ("LOG_N", self.log_n.into()),
            ("LOG_E", self.log_e.into()),
            ("ROWS", self.rows.into()),
        ])
    }

    /// Where the exchange in workgroup memory holds element `i` of a row.
    pub(in crate::ops) fn address(self, i: u32) -> u32 {
        let invocations = 1 << (self.log_n - self.log_e);
        if invocations > 1 << self.log_e {
            return i ^ (i >> 5 & 7) ^ (i >> 4 & 24);
        }
        let low = 8.min(1 << self.log_n);
        let (l, s, h) = (i % low, i / low % invocations, i / (low * invocations));
        // An invocation owns s in one layout and q in the other. The exclusive or spreads both over
        // the banks, so that neither way of walking hits one bank twice.
        let q = l + low * h;
        invocations * q + (s ^ (q % invocations))
    }
}

/// Rows of 2^4 to 2^10 elements are moved in vec4s: longer ones are more than a workgroup of 128
/// invocations of 32 elements, shorter ones less than an invocation's.
const QUADS: std::ops::RangeInclusive<u32> = 4..=10;

/// How many whole rows of 2^`log_n` elements a workgroup takes, and the variant that does.
pub(super) fn whole(log_n: u32, in_place: bool, registers: Registers) -> (u32, Variant) {
    // An invocation can hold a row of 16; sharing it is for neighbours that load together.
    let is_own = registers == Registers::Many && log_n == 4;
    let (rows, layout) = if QUADS.contains(&log_n) && !is_own {
        // Eight vec4s in each of 128 invocations: 16 KiB of workgroup memory.
        let (log_e, rows) = (3, 4096 >> log_n);
        let layout = RowLayout { log_n, log_e, rows };
        (rows, layout.variant().with_constant("QUADS", 1))
    } else {
        let layout = RowLayout::new(log_n, registers);
        (layout.rows, layout.variant().with_constant("QUADS", 0))
    };
    let variant = layout
        .with_constant("STRIDED", 0)
        .with_constant("IN_PLACE", in_place.into());
    (rows, variant.with_constant("COLUMNS", 4))
}

/// The neighbouring columns that an invocation of a pass of so many levels takes.
pub(in crate::ops) fn columns(levels: u32, registers: Registers) -> u32 {
    match registers {
        Registers::Few => 4.min(32 >> levels),
        Registers::Many => 4,
    }
}

/// How many invocations a pass of so many levels over rows of 2^`log_n` elements takes for each.
pub(in crate::ops) fn strided_invocations(log_n: u32, levels: u32, registers: Registers) -> u32 {
    (1 << (log_n - levels)) / columns(levels, registers)
}

pub(super) fn strided_variant(levels: u32, registers: Registers) -> Variant {
    Variant::new([
        ("LOG_N", levels.into()),
        ("LOG_E", levels.into()),
        ("ROWS", 1),
        ("QUADS", 0),
        ("STRIDED", 1),
        ("IN_PLACE", 1),
        ("COLUMNS", columns(levels, registers).into()),
    ])
}

/// The variants of an op for either way to use registers, each once.
pub(in crate::ops) fn of_both(forms: fn(Registers) -> Vec<Variant>) -> Vec<Variant> {
    let few = forms(Registers::Few);
    let mut all = forms(Registers::Many);
    all.retain(|variant| !few.contains(variant));
    all.extend(few);
    all
}

#[cfg(test)]
mod tests {
    use super::super::log_whole;
    use super::*;

    /// The elements in one register of all invocations of a row, by layout, as
    /// `shaders/shared/row_layout.wgsl` has them where a row has more invocations than registers.
    fn elements(log_n: u32, layout: char, r: u32) -> Vec<u32> {
        let (n, t) = (1 << log_n, 1 << (log_n - 5));
        let of = |i: u32| match layout {
            'A' if t == 256 => r % 8 + 8 * (i % 64) + 512 * (r / 8) + 2048 * (i / 64),
            'A' => r % 8 + 8 * (i % (t / 2)) + 4 * t * (r / 8) + 16 * t * (i / (t / 2)),
            'M' if t == 256 => {
                i % 8 + 8 * (r / 2) + 128 * (i / 8 % 16) + 2048 * (r % 2) + 4096 * (i / 128)
            }
            'M' => i % 8 + 8 * (r / 2) + 128 * (i / 8) + r % 2 * n / 2,
            _ if t == 256 => i % 128 + 128 * (r % 16) + 2048 * (i / 128) + 4096 * (r / 16),
            _ => i + t * r,
        };
        (0..t).map(of).collect()
    }

    #[test]
    fn rows_of_8192_take_one_dispatch_where_there_is_memory_for_them() {
        for (bytes, registers, longest) in [
            (16_384, Registers::Few, 12),
            (32_767, Registers::Few, 12),
            (32_768, Registers::Few, 13),
            (65_536, Registers::Few, 13),
            (65_536, Registers::Many, 12),
        ] {
            assert_eq!(
                log_whole(bytes, registers),
                longest,
                "{bytes} {registers:?}"
            );
            let layout = RowLayout::new(longest, registers);
            assert!(4 * (layout.rows << longest) <= bytes);
            assert!(layout.rows << (longest - layout.log_e) <= 256);
        }
    }

    #[test]
    fn neighbours_hit_all_banks_in_every_layout() {
        for log_n in [11, 12, 13] {
            let layout = RowLayout::new(log_n, Registers::Few);
            for name in ['A', 'M', 'B'] {
                let mut seen = vec![false; 1 << log_n];
                for r in 0..32 {
                    let elements = elements(log_n, name, r);
                    for warp in elements.chunks(32) {
                        let banks = warp.iter().map(|&i| layout.address(i) % 32);
                        let banks: std::collections::HashSet<_> = banks.collect();
                        assert_eq!(banks.len(), 32, "{name} of 2^{log_n}, register {r}");
                    }
                    for i in elements {
                        assert!(!std::mem::replace(
                            &mut seen[layout.address(i) as usize],
                            true
                        ));
                    }
                }
                // Every element has a place of its own.
                assert!(seen.into_iter().all(|seen| seen));
            }
        }
    }
}
