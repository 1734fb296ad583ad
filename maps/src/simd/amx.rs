//! The matrix unit of recent x86-64 processors (AMX): eight tiles of 16 lines, and products of
//! 16-bit floats (bf16) that it sums in f32.
//!
//! The arithmetic is that of Intel's manual (volume 2, TDPBF16PS): of 32 depths, two chains of
//! multiply-adds that start from zero, one for even depths and one for odd; their sum is added to
//! the tile. It says nothing of where in a tile a row lies.

#![allow(
    unsafe_code,
    reason = "the language has no stable words for tiles; each use says why it is sound"
)]

use crate::{device::Line, instructions::UNITS_VARIABLE};
use std::{arch::asm, marker::PhantomData, sync::OnceLock};

/// Lines of a tile, which are rows of what is on the left of a product and pairs of depths of what
/// is on the right.
pub(super) const LINES: usize = 16;
/// Depth that one product of tiles sums: a line of bf16.
pub(super) const DEPTH: usize = 32;

/// What a tile holds: 16 lines of 16 f32 or 32 bf16.
pub(super) type Tile = [Line; LINES];

/// Whether this machine has the unit, AVX-512 is in use, nobody left matrix units out, and the
/// system lets this process use the unit. The first call asks the system for it.
pub(super) fn available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| {
        let is_wanted = std::env::var(UNITS_VARIABLE).map_or(true, |units| units != "none");
        is_wanted && crate::instructions::wide().is_some() && has_bf16_tiles() && is_permitted()
    })
}

/// Whether the processor multiplies tiles of bf16.
fn has_bf16_tiles() -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    const BF16: u32 = 1 << 22;
    const TILES: u32 = 1 << 24;
    #[allow(unused_unsafe, reason = "safe since Rust 1.93")]
    // SAFETY: every x86-64 processor has the instruction.
    let edx = unsafe {
        match __cpuid(0).eax {
            7.. => __cpuid_count(7, 0).edx,
            _ => 0,
        }
    };
    edx & BF16 != 0 && edx & TILES != 0
}

/// Asks Linux for the state of tiles, which a process has only where it asked (kernel
/// documentation, arch/x86/xstate).
#[cfg(target_os = "linux")]
fn is_permitted() -> bool {
    const ARCH_PRCTL: i64 = 158;
    const ARCH_REQ_XCOMP_PERM: u64 = 0x1023;
    const XFEATURE_XTILEDATA: u64 = 18;
    let answer: i64;
    // SAFETY: the call takes two numbers and writes no memory of the program; a kernel that does
    // not know it says so.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") ARCH_PRCTL => answer,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") XFEATURE_XTILEDATA,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    answer == 0
}

/// Other systems have ways of their own.
#[cfg(not(target_os = "linux"))]
fn is_permitted() -> bool {
    false
}

/// The tiles of this thread, until it is dropped. Sums are tiles 0 to 5.
pub(super) struct Tiles {
    here: PhantomData<*const ()>,
}

impl Tiles {
    /// Tiles of which those of sums and of left operands have `rows` lines. The machine must have
    /// them.
    pub(super) fn new(rows: usize) -> Self {
        assert!(available() && (1..=LINES).contains(&rows));
        // Palette 1; from byte 16 the bytes of a line as u16; from byte 48 the lines.
        let mut shapes = [0_u8; 64];
        shapes[0] = 1;
        for tile in 0..8 {
            shapes[16 + 2 * tile] = 64;
            shapes[48 + tile] = LINES as u8;
        }
        for tile in 0..=STACKED_LEFT {
            shapes[48 + tile] = rows as u8;
        }
        // SAFETY: the machine has tiles, the process may use them, and `shapes` is valid: tiles of
        // products fit each other, tile 6 and 7 being on the right (and on the left where `rows` is
        // LINES). Nothing that the compiler makes uses tiles.
        unsafe { asm!("ldtilecfg [{}]", in(reg) shapes.as_ptr(), options(nostack)) }
        let here = PhantomData;
        Self { here }
    }

    /// Sets tile 0 to 5 to zero.
    #[inline(always)]
    pub(super) fn zero(&self) {
        // SAFETY: the tiles have a shape as long as `self` is there.
        unsafe {
            asm!(
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "tilezero tmm4",
                "tilezero tmm5",
                options(nostack, nomem)
            );
        }
    }

    /// Products of three pieces of 16 rows with two pieces of 32 columns: tiles 0 to 2 get those of
    /// each left piece with the first 16 columns, 3 to 5 those with the rest. The third left piece
    /// meets the first right piece alone.
    ///
    /// `left` has the pieces, `right` the first piece of both halves, then the second.
    #[inline(always)]
    pub(super) fn tall(&self, left: &[Tile; 3], right: &[Tile; 4]) {
        // SAFETY: each tile reads 16 lines of 64 bytes, which a Tile has. Neighbours have different
        // sums, so that none waits for the one before.
        unsafe {
            asm!(
                "tileloadd tmm6, [{a} + {s}]",
                "tileloadd tmm7, [{b} + {s}]",
                "tdpbf16ps tmm0, tmm6, tmm7",
                "tileloadd tmm6, [{a} + {s} + 2048]",
                "tdpbf16ps tmm2, tmm6, tmm7",
                "tileloadd tmm6, [{a} + {s} + 1024]",
                "tdpbf16ps tmm1, tmm6, tmm7",
                "tileloadd tmm7, [{b} + {s} + 1024]",
                "tdpbf16ps tmm4, tmm6, tmm7",
                "tileloadd tmm6, [{a} + {s} + 2048]",
                "tdpbf16ps tmm5, tmm6, tmm7",
                "tileloadd tmm6, [{a} + {s}]",
                "tdpbf16ps tmm3, tmm6, tmm7",
                "tileloadd tmm7, [{b} + {s} + 2048]",
                "tdpbf16ps tmm0, tmm6, tmm7",
                "tileloadd tmm6, [{a} + {s} + 1024]",
                "tdpbf16ps tmm1, tmm6, tmm7",
                "tileloadd tmm7, [{b} + {s} + 3072]",
                "tdpbf16ps tmm4, tmm6, tmm7",
                "tileloadd tmm6, [{a} + {s}]",
                "tdpbf16ps tmm3, tmm6, tmm7",
                a = in(reg) left.as_ptr(),
                b = in(reg) right.as_ptr(),
                s = in(reg) 64_usize,
                options(nostack, readonly)
            );
        }
    }

    /// Products of stacked rows with two pieces of 32 columns: tiles `2 PANEL` and `2 PANEL + 1`
    /// get those of each half. `left` has the rows that meet the first right piece, and those that
    /// meet the second.
    #[inline(always)]
    pub(super) fn stacked<const PANEL: usize>(&self, left: &[Tile; 2], right: &[Tile; 4]) {
        macro_rules! products {
            ($first:literal, $second:literal) => {
                // SAFETY: as in `tall`.
                unsafe {
                    asm!(
                        "tileloadd tmm4, [{a} + {s}]",
                        "tileloadd tmm5, [{a} + {s} + 1024]",
                        "tileloadd tmm6, [{b} + {s}]",
                        "tileloadd tmm7, [{b} + {s} + 1024]",
                        concat!("tdpbf16ps tmm", $first, ", tmm4, tmm6"),
                        concat!("tdpbf16ps tmm", $second, ", tmm4, tmm7"),
                        "tileloadd tmm6, [{b} + {s} + 2048]",
                        "tileloadd tmm7, [{b} + {s} + 3072]",
                        concat!("tdpbf16ps tmm", $first, ", tmm5, tmm6"),
                        concat!("tdpbf16ps tmm", $second, ", tmm5, tmm7"),
                        a = in(reg) left.as_ptr(),
                        b = in(reg) right.as_ptr(),
                        s = in(reg) 64_usize,
                        options(nostack, readonly)
                    );
                }
            };
        }
        match PANEL {
            0 => products!("0", "1"),
            _ => products!("2", "3"),
        }
    }

    /// Copies tiles 0 to 5, whose lines are f32.
    #[inline(always)]
    pub(super) fn store(&self, sums: &mut [Tile; 6]) {
        // SAFETY: six tiles of at most 16 lines of 64 bytes, which `sums` has room for.
        unsafe {
            asm!(
                "tilestored [{c} + {s}], tmm0",
                "tilestored [{c} + {s} + 1024], tmm1",
                "tilestored [{c} + {s} + 2048], tmm2",
                "tilestored [{c} + {s} + 3072], tmm3",
                "tilestored [{c} + {s} + 4096], tmm4",
                "tilestored [{c} + {s} + 5120], tmm5",
                c = in(reg) sums.as_mut_ptr(),
                s = in(reg) 64_usize,
                options(nostack)
            );
        }
    }
}

/// Tile 4 and 5 are sums of [`Tiles::tall`] and left operands of [`Tiles::stacked`]: the last that
/// have as many lines as there are rows.
const STACKED_LEFT: usize = 5;

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: the machine has tiles; they are not used until they get a shape again.
        unsafe { asm!("tilerelease", options(nostack, nomem)) }
    }
}
