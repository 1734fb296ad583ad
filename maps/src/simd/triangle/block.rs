//! One block of the triangle: pairs of slabs, stretch after stretch, the next pair on its way from
//! memory meanwhile.

use super::super::{
    hint::{LINE, prefetch},
    tile::{STRETCH, panel_columns},
};
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Columns of a slab on this machine: those that every tile below divides.
pub(super) fn slab_columns() -> usize {
    match panel_columns() / 2 {
        16 | 8 => 48,
        lanes => 3 * lanes,
    }
}

/// Adds the products of slabs `i` with slabs `j`, not above the diagonal, to `sums`: bands of a few
/// rows by a whole slab, row-major within and one after another.
pub(super) struct Block<'a, F> {
    pub i: Range<usize>,
    pub j: Range<usize>,
    /// Slab s, `[depth, slab columns]`.
    pub slab: F,
    /// As long as `sums`.
    pub scratch: &'a mut [f32],
    pub sums: &'a mut [f64],
}

impl<'a, F: Fn(usize) -> &'a [f32]> WithSimd for Block<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // A tile must divide the slab, and its sums, its part of a row of the slab and one
        // broadcast must leave a register: where all are taken LLVM keeps a sum on the stack, a
        // chain through memory. 28 of AVX-512's 32 are taken, 15 of AVX2's 16, 22 of NEON's 32.
        match S::F32_LANES {
            16 => self.add::<S, 8, 6, 3, 1>(simd),
            8 => self.add::<S, 6, 8, 2, 3>(simd),
            4 => self.add::<S, 6, 2, 3, 1>(simd),
            _ => self.add::<S, 3, 1, 3, 1>(simd),
        }
    }
}

impl<'a, F: Fn(usize) -> &'a [f32]> Block<'_, F> {
    /// With tiles of `ROWS` rows by `VECTORS` vectors: of a pair of slabs `BANDS` by `GROUPS`.
    #[inline(always)]
    fn add<
        S: Simd,
        const ROWS: usize,
        const BANDS: usize,
        const VECTORS: usize,
        const GROUPS: usize,
    >(
        self,
        simd: S,
    ) {
        let width = ROWS * BANDS;
        let size = width * width;
        let depth = (self.slab)(self.j.start).len() / width;
        let place =
            |i: usize, j: usize| ((j - self.j.start) * self.i.len() + i - self.i.start) * size;
        for k in (0..depth).step_by(STRETCH) {
            let stretch = |s: usize| {
                let slab = (self.slab)(s);
                &slab[k * width..slab.len().min((k + STRETCH) * width)]
            };
            // Slab j is used for all i before the next one, so of a pair only slab i is new; while
            // a pair is multiplied, the stretches of the pair after it are asked for.
            for j in self.j.clone() {
                let first = self.i.start.max(j);
                for i in first..self.i.end {
                    let next_i = if i + 1 < self.i.end { i + 1 } else { first };
                    let next_j = if next_i > i {
                        j
                    } else {
                        (j + 1).min(self.j.end - 1)
                    };
                    let next = [stretch(next_i), stretch(next_j)];
                    let (a, b) = (stretch(i), stretch(j));
                    let c = &mut self.scratch[place(i, j)..][..size];
                    for (band, c) in c.chunks_exact_mut(ROWS * width).enumerate() {
                        for group in 0..GROUPS {
                            // Each tile asks for its share of the next pair, a line with every row
                            // of this one.
                            let (tile, half) = (band * GROUPS + group, BANDS * GROUPS / 2);
                            let (next, part) = if tile < half {
                                (next[0], tile)
                            } else {
                                (next[1], tile - half)
                            };
                            let next = next.get(part * STRETCH * LINE..).unwrap_or_default();
                            let pair = ((a, band), (b, group));
                            multiply::<S, ROWS, BANDS, VECTORS, GROUPS>(simd, pair, c, k > 0, next);
                        }
                    }
                }
            }
        }
        // The stretches were added up in f32; f64 is touched once for all of them.
        for j in self.j.clone() {
            let first = self.i.start.max(j);
            let range = place(first, j)..place(self.i.end, j);
            widen(&self.scratch[range.clone()], &mut self.sums[range]);
        }
    }
}

/// Adds parts of sums to these.
#[inline(always)]
fn widen(parts: &[f32], sums: &mut [f64]) {
    for (sum, &part) in sums.iter_mut().zip(parts) {
        *sum += f64::from(part);
    }
}

/// One part of a slab among all.
type Part<'a> = (&'a [f32], usize);

/// `c = a' b`, or plus `c`, for one band of the slab `a` and one group of vectors of the slab `b`.
#[inline(always)]
fn multiply<
    S: Simd,
    const ROWS: usize,
    const BANDS: usize,
    const VECTORS: usize,
    const GROUPS: usize,
>(
    simd: S,
    ((a, band), (b, group)): (Part<'_>, Part<'_>),
    c: &mut [f32],
    add: bool,
    next: &[f32],
) {
    assert!(band < BANDS && group < GROUPS);
    let (a, _) = a.as_chunks::<ROWS>();
    let (a, _) = a.as_chunks::<BANDS>();
    let (b, _) = S::as_simd_f32s(b);
    let (b, _) = b.as_chunks::<VECTORS>();
    let (b, _) = b.as_chunks::<GROUPS>();
    let mut sums = [[simd.splat_f32s(0.0); VECTORS]; ROWS];
    for (k, (a, b)) in a.iter().zip(b).enumerate() {
        prefetch(next, k * LINE);
        for (sums, &a) in sums.iter_mut().zip(&a[band]) {
            let a = simd.splat_f32s(a);
            for (sum, &b) in sums.iter_mut().zip(&b[group]) {
                *sum = simd.mul_add_e_f32s(a, b, *sum);
            }
        }
    }
    let (c, _) = S::as_mut_simd_f32s(c);
    let (c, _) = c.as_chunks_mut::<VECTORS>();
    let (c, _) = c.as_chunks_mut::<GROUPS>();
    for (c, sums) in c.iter_mut().zip(sums) {
        for (c, sum) in c[group].iter_mut().zip(sums) {
            *c = if add { simd.add_f32s(*c, sum) } else { sum };
        }
    }
}
