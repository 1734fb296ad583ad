//! The register tile: `rows x (two vectors)` sums that stay in registers over a stretch of depth.

use super::{
    Fused,
    hint::{LINE, prefetch, prefetch_beyond},
};
use pulp::{Simd, WithSimd};
use std::sync::OnceLock;

/// Depth that is summed in one go; longer sums are added up in stretches, which also keeps their
/// rounding error down.
pub(super) const STRETCH: usize = 256;

/// Steps of depth in a turn of AVX2's loop.
const STEPS: usize = 4;

/// Rows of the largest tile: two vectors of each, two operands and a broadcast must fit the
/// registers.
pub(super) const fn most_rows(lanes: usize) -> usize {
    match lanes {
        // AVX2 has 16 registers, AVX-512 and NEON have 32.
        8 => 6,
        _ => 12,
    }
}

/// The smallest tile that holds `rows` rows.
pub(super) const fn tile_rows(rows: usize, lanes: usize) -> usize {
    match rows {
        0 | 1 => 1,
        2 => 2,
        3 | 4 => 4,
        5..=8 if most_rows(lanes) > 8 => 8,
        _ => most_rows(lanes),
    }
}

/// Columns of a tile on this machine: two vectors.
pub(super) fn panel_columns() -> usize {
    struct Lanes;
    impl WithSimd for Lanes {
        type Output = usize;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> usize {
            S::F32_LANES
        }
    }
    static COLUMNS: OnceLock<usize> = OnceLock::new();
    *COLUMNS.get_or_init(|| 2 * crate::instructions::arch().dispatch(Lanes))
}

/// `c = a b` for `a` packed `[depth][rows]`, `b` packed `[depth][columns]` and `c`
/// `[rows][columns]`. With every step of depth one more line of `next` is asked for.
#[inline(always)]
pub(super) fn multiply<S: Simd>(
    simd: S,
    rows: usize,
    a: &[f32],
    b: &[f32],
    c: &mut [f32],
    next: &[f32],
) {
    let columns = 2 * S::F32_LANES;
    let stretches = a.chunks(STRETCH * rows).zip(b.chunks(STRETCH * columns));
    for (i, (a, b)) in stretches.enumerate() {
        let add = i > 0;
        let next = next.get(i * STRETCH * LINE..).unwrap_or_default();
        match rows {
            1 => stretch::<S, 1>(simd, a, b, c, add, next),
            2 => stretch::<S, 2>(simd, a, b, c, add, next),
            4 => stretch::<S, 4>(simd, a, b, c, add, next),
            6 => stretch::<S, 6>(simd, a, b, c, add, next),
            8 => stretch::<S, 8>(simd, a, b, c, add, next),
            _ => stretch::<S, 12>(simd, a, b, c, add, next),
        }
    }
}

#[inline(always)]
fn stretch<S: Simd, const ROWS: usize>(
    simd: S,
    a: &[f32],
    b: &[f32],
    c: &mut [f32],
    add: bool,
    next: &[f32],
) {
    // In registers over the whole stretch: 2 ROWS vectors of sums; of one depth two vectors of b,
    // which all rows share, and one broadcast of a. Twelve rows of AVX-512 are 27 of 32 registers,
    // six of AVX2 are 15 of 16: one row more would spill sums at every depth.
    let mut sums = [[simd.splat_f32s(0.0); 2]; ROWS];
    // Lines that are not there are asked for in vain, and a place that is no memory costs time.
    let lines = if next.is_empty() { b } else { next };
    let (a, _) = a.as_chunks::<ROWS>();
    let (b, _) = S::as_simd_f32s(b);
    let (b, _) = b.as_chunks::<2>();
    if S::F32_LANES == 8 {
        // A step of AVX2 has hardly more multiply-adds than the other instructions of a turn leave
        // room for: several share a turn.
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<STEPS>(), b.as_chunks::<STEPS>());
        for (k, (a, b)) in a.iter().zip(b).enumerate() {
            for (step, (a, b)) in a.iter().zip(b).enumerate() {
                prefetch_beyond(lines, (k * STEPS + step) * LINE);
                add_step(simd, &mut sums, a, b);
            }
        }
        for (a, b) in a_rest.iter().zip(b_rest) {
            add_step(simd, &mut sums, a, b);
        }
    } else {
        for (k, (a, b)) in a.iter().zip(b).enumerate() {
            prefetch(next, k * LINE);
            add_step(simd, &mut sums, a, b);
        }
    }
    let (c, _) = S::as_mut_simd_f32s(c);
    let (c, _) = c.as_chunks_mut::<2>();
    // A sum is one chain over the stretch, then one addition to the stretches before: the order
    // says nothing of ROWS, so a row has the same bits in every tile.
    for (c, sum) in c.iter_mut().zip(sums) {
        if add {
            *c = [simd.add_f32s(c[0], sum[0]), simd.add_f32s(c[1], sum[1])];
        } else {
            *c = sum;
        }
    }
}

/// One step of depth.
#[inline(always)]
fn add_step<S: Simd, const ROWS: usize>(
    simd: S,
    sums: &mut [[S::f32s; 2]; ROWS],
    a: &[f32; ROWS],
    b: &[S::f32s; 2],
) {
    let add = |sum: &mut [S::f32s; 2], a: S::f32s| {
        sum[0] = simd.fused_f32s(a, b[0], sum[0]);
        sum[1] = simd.fused_f32s(a, b[1], sum[1]);
    };
    #[cfg(target_arch = "aarch64")]
    if S::F32_LANES == 4 && ROWS.is_multiple_of(4) {
        let (fours, _) = S::as_simd_f32s(a);
        for (sums, &four) in sums.as_chunks_mut::<4>().0.iter_mut().zip(fours) {
            for (sum, a) in sums.iter_mut().zip(super::lanes::lanes::<S>(four)) {
                add(sum, a);
            }
        }
        return;
    }
    for (sum, &a) in sums.iter_mut().zip(a) {
        add(sum, simd.splat_f32s(a));
    }
}

/// Panels that one or two rows are multiplied with at a time: alone, they would wait for each sum's
/// own latency.
pub(super) const ABREAST: usize = 6;

/// As [`multiply`], for at most two rows and [`ABREAST`] panels, one after another in `b` and in
/// `c`. The order of each sum is the same.
#[inline(always)]
pub(super) fn multiply_abreast<S: Simd>(simd: S, rows: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    // Two rows by six panels are 24 sums: more than 16 registers hold.
    match rows {
        1 => abreast::<S, 1, ABREAST>(simd, a, b, c),
        _ if S::F32_LANES == 8 => abreast::<S, 2, { ABREAST / 2 }>(simd, a, b, c),
        _ => abreast::<S, 2, ABREAST>(simd, a, b, c),
    }
}

/// `PANELS` at a time.
#[inline(always)]
fn abreast<S: Simd, const ROWS: usize, const PANELS: usize>(
    simd: S,
    a: &[f32],
    b: &[f32],
    c: &mut [f32],
) {
    let (a, _) = a.as_chunks::<ROWS>();
    let (b, _) = S::as_simd_f32s(b);
    let (b, _) = b.as_chunks::<2>();
    let (c, _) = S::as_mut_simd_f32s(c);
    let (c, _) = c.as_chunks_mut::<2>();
    let depth = a.len();
    let some = b.chunks_exact(PANELS * depth);
    for (b, c) in some.zip(c.chunks_exact_mut(PANELS * ROWS)) {
        for from in (0..depth).step_by(STRETCH) {
            let a = &a[from..depth.min(from + STRETCH)];
            let panels: [_; PANELS] = std::array::from_fn(|p| &b[p * depth + from..][..a.len()]);
            // Twelve chains of multiply-adds or more, each independent of the others.
            let mut sums = [[[simd.splat_f32s(0.0); 2]; ROWS]; PANELS];
            for (k, a) in a.iter().enumerate() {
                for (sums, panel) in sums.iter_mut().zip(panels) {
                    for (sum, &a) in sums.iter_mut().zip(a) {
                        let a = simd.splat_f32s(a);
                        sum[0] = simd.fused_f32s(a, panel[k][0], sum[0]);
                        sum[1] = simd.fused_f32s(a, panel[k][1], sum[1]);
                    }
                }
            }
            for (c, sum) in c.iter_mut().zip(sums.as_flattened()) {
                if from > 0 {
                    *c = [simd.add_f32s(c[0], sum[0]), simd.add_f32s(c[1], sum[1])];
                } else {
                    *c = *sum;
                }
            }
        }
    }
}
