//! One block of the triangle: pairs of slabs, stretch after stretch, the next pair on its way from
//! memory meanwhile.

use super::super::{
    hint::{LINE, prefetch},
    tile::{STRETCH, panel_columns},
};
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Vectors of a row of a slab.
const VECTORS: usize = 3;

/// Columns of a slab on this machine: three vectors.
pub(super) fn slab_columns() -> usize {
    panel_columns() / 2 * VECTORS
}

/// Adds the products of slabs `i` with slabs `j`, not above the diagonal, to `sums`: tiles of a few
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
        // A tile must divide the slab into whole tiles, and its sums and one row of the slab fit
        // the registers.
        match S::F32_LANES {
            16 => self.add::<S, 8, 6>(simd),
            8 => self.add::<S, 4, 6>(simd),
            4 => self.add::<S, 6, 2>(simd),
            _ => self.add::<S, 3, 1>(simd),
        }
    }
}

impl<'a, F: Fn(usize) -> &'a [f32]> Block<'_, F> {
    /// With tiles of `ROWS` rows, `TILES` of them in a slab.
    #[inline(always)]
    fn add<S: Simd, const ROWS: usize, const TILES: usize>(self, simd: S) {
        let width = ROWS * TILES;
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
                    for (t, c) in c.chunks_exact_mut(ROWS * width).enumerate() {
                        // Each tile asks for its share of the next pair, a line with every row of
                        // this one.
                        let (next, part) = match t < TILES / 2 {
                            true => (next[0], t),
                            false => (next[1], t - TILES / 2),
                        };
                        let next = next.get(part * STRETCH * LINE..).unwrap_or_default();
                        multiply::<S, ROWS, TILES>(simd, (a, t), b, c, k > 0, next);
                    }
                }
            }
        }
        // The stretches were added up in f32; f64 is touched once for all of them.
        for j in self.j.clone() {
            let first = self.i.start.max(j);
            let range = place(first, j)..place(self.i.end, j);
            let sums = self.sums[range.clone()].iter_mut();
            for (sum, &part) in sums.zip(&self.scratch[range]) {
                *sum += f64::from(part);
            }
        }
    }
}

/// `c = a' b`, or plus `c`, for tile `t` of the slab `a` and all of the slab `b`.
#[inline(always)]
fn multiply<S: Simd, const ROWS: usize, const TILES: usize>(
    simd: S,
    (a, t): (&[f32], usize),
    b: &[f32],
    c: &mut [f32],
    add: bool,
    next: &[f32],
) {
    assert!(t < TILES);
    let (a, _) = a.as_chunks::<ROWS>();
    let (a, _) = a.as_chunks::<TILES>();
    let (b, _) = S::as_simd_f32s(b);
    let (b, _) = b.as_chunks::<VECTORS>();
    // Three vectors of sums a row, three of b, and one broadcast of a: 28 of AVX-512's 32 registers
    // for eight rows, all 16 of AVX2's for four, 22 of NEON's 32 for six.
    let mut sums = [[simd.splat_f32s(0.0); VECTORS]; ROWS];
    for (k, (a, b)) in a.iter().zip(b).enumerate() {
        prefetch(next, k * LINE);
        for (sums, &a) in sums.iter_mut().zip(&a[t]) {
            let a = simd.splat_f32s(a);
            for (sum, &b) in sums.iter_mut().zip(b) {
                *sum = simd.mul_add_e_f32s(a, b, *sum);
            }
        }
    }
    let (c, _) = S::as_mut_simd_f32s(c);
    let (c, _) = c.as_chunks_mut::<VECTORS>();
    for (c, sums) in c.iter_mut().zip(sums) {
        for (c, sum) in c.iter_mut().zip(sums) {
            *c = if add { simd.add_f32s(*c, sum) } else { sum };
        }
    }
}
