//! One block of the triangle: pairs of slabs, stretch after stretch, the next pair on its way from
//! memory meanwhile.
//!
//! A tile is a few rows of the sums, which are columns of slab i, by a group of vectors of slab j.
//! Read where they lie, its operands would be a line of every three or so, more than first-level
//! cache holds: a stretch of slab i is laid out anew, band after band, for all slabs j.

use super::super::{
    Fused,
    hint::{LINE, prefetch_beyond},
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

/// Floats of a stretch of a slab.
pub(super) fn stretch_floats() -> usize {
    STRETCH * slab_columns()
}

/// Adds the products of slabs `i` with slabs `j`, not above the diagonal, to `sums`: bands of a few
/// rows by a whole slab, row-major within and one after another.
pub(super) struct Block<'a, F> {
    pub i: Range<usize>,
    pub j: Range<usize>,
    /// Slab s, `[depth, slab columns]`.
    pub slab: F,
    /// For a stretch of a slab: `[bands, depth, rows of a band]`.
    pub laid: &'a mut [f32],
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
        // Four steps of depth at a time, for a step has hardly more multiply-adds than the
        // instructions that four a cycle leave room for.
        match S::F32_LANES {
            16 => self.add::<S, 8, 6, 3, 1, 4>(simd),
            8 => self.add::<S, 6, 8, 2, 3, 4>(simd),
            _ => self.add::<S, 6, 2, 3, 1, 1>(simd),
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
        const STEPS: usize,
    >(
        self,
        simd: S,
    ) {
        let width = ROWS * BANDS;
        let size = width * width;
        let depth = (self.slab)(self.j.start).len() / width;
        let share = |next, tile| NextLines::share(next, (tile, BANDS * GROUPS), width);
        let place =
            |i: usize, j: usize| ((j - self.j.start) * self.i.len() + i - self.i.start) * size;
        for k in (0..depth).step_by(STRETCH) {
            let stretch = |s: usize| {
                let slab = (self.slab)(s);
                &slab[k * width..slab.len().min((k + STRETCH) * width)]
            };
            // Slab i is laid out for all j before the next one; while a pair is multiplied, the
            // stretch of j after it is asked for, or the next i.
            for i in self.i.clone().filter(|&i| i >= self.j.start) {
                let depth = lay_out::<ROWS, BANDS>(stretch(i), self.laid);
                let last = (i + 1).min(self.j.end);
                for j in self.j.start..last {
                    let next = if j + 1 < last {
                        stretch(j + 1)
                    } else {
                        stretch((i + 1).min(self.i.end - 1))
                    };
                    let b = stretch(j);
                    let c = &mut self.scratch[place(i, j)..][..size];
                    // Columns outside, rows inside: a group of vectors stays in first-level cache
                    // for all bands, which are read in the order that they lie in.
                    for group in 0..GROUPS {
                        let bands = c.chunks_exact_mut(ROWS * width).enumerate();
                        for ((band, c), a) in bands.zip(self.laid.chunks_exact(depth * ROWS)) {
                            // Nobody reads what is above the diagonal.
                            if i == j && (band + 1) * ROWS <= group * VECTORS * S::F32_LANES {
                                continue;
                            }
                            // Each tile asks for its share. With a line a step the first three
                            // asked for all, more than comes while they work.
                            let tile = (a, (b, group), share(next, group * BANDS + band));
                            multiply::<S, ROWS, VECTORS, GROUPS, STEPS>(simd, tile, c, k > 0);
                        }
                    }
                }
            }
        }
        // The stretches were added up in f32; f64 is touched once for all of them.
        for j in self.j.clone() {
            let range = place(self.i.start.max(j), j)..place(self.i.end, j);
            widen(&self.scratch[range.clone()], &mut self.sums[range]);
        }
    }
}

/// What is multiplied next, and after how many steps of depth one more line of it is asked for.
struct NextLines<'a> {
    lines: &'a [f32],
    every: usize,
}

impl<'a> NextLines<'a> {
    /// The share of one tile among so many, of a stretch of so many columns.
    #[inline(always)]
    fn share(next: &'a [f32], (tile, tiles): (usize, usize), columns: usize) -> Self {
        Self {
            lines: &next[tile * (next.len() / tiles)..],
            every: tiles * LINE / columns,
        }
    }
}

/// Lays a stretch of a slab out, band after band, and gives its depth.
#[inline(always)]
fn lay_out<const ROWS: usize, const BANDS: usize>(slab: &[f32], laid: &mut [f32]) -> usize {
    let (slab, _) = slab.as_chunks::<ROWS>();
    let (slab, _) = slab.as_chunks::<BANDS>();
    let (laid, _) = laid.as_chunks_mut::<ROWS>();
    for (k, row) in slab.iter().enumerate() {
        for (band, part) in row.iter().enumerate() {
            laid[band * slab.len() + k] = *part;
        }
    }
    slab.len()
}

/// Adds parts of sums to these.
#[inline(always)]
fn widen(parts: &[f32], sums: &mut [f64]) {
    for (sum, &part) in sums.iter_mut().zip(parts) {
        *sum += f64::from(part);
    }
}

/// `c = a' b`, or plus `c`, for one band of a slab, laid out, and one group of vectors of the slab
/// `b`, while lines of `next` are asked for.
#[inline(always)]
fn multiply<
    S: Simd,
    const ROWS: usize,
    const VECTORS: usize,
    const GROUPS: usize,
    const STEPS: usize,
>(
    simd: S,
    (a, (b, group), next): (&[f32], (&[f32], usize), NextLines<'_>),
    c: &mut [f32],
    add: bool,
) {
    assert!(group < GROUPS);
    let (a, _) = a.as_chunks::<ROWS>();
    let (b, _) = S::as_simd_f32s(b);
    let (b, _) = b.as_chunks::<VECTORS>();
    let (b, _) = b.as_chunks::<GROUPS>();
    let mut sums = [[simd.splat_f32s(0.0); VECTORS]; ROWS];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<STEPS>(), b.as_chunks::<STEPS>());
    for (k, (a, b)) in a.iter().zip(b).enumerate() {
        for (step, (a, b)) in a.iter().zip(b).enumerate() {
            let step = k * STEPS + step;
            if step.is_multiple_of(next.every) {
                prefetch_beyond(next.lines, step / next.every * LINE);
            }
            add_step(simd, &mut sums, a, &b[group]);
        }
    }
    for (a, b) in a_rest.iter().zip(b_rest) {
        add_step(simd, &mut sums, a, &b[group]);
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

/// One step of depth of a tile.
#[inline(always)]
fn add_step<S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    sums: &mut [[S::f32s; VECTORS]; ROWS],
    a: &[f32; ROWS],
    b: &[S::f32s; VECTORS],
) {
    for (sums, &a) in sums.iter_mut().zip(a) {
        let a = simd.splat_f32s(a);
        for (sum, &b) in sums.iter_mut().zip(b) {
            *sum = simd.fused_f32s(a, b, *sum);
        }
    }
}
