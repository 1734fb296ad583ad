//! Columns of a factor: rows of a matrix times the inverse of a factored block, and the block
//! itself, which is that of its own rows.
//!
//! An entry is `(a - s) / d`, s one chain of multiply-adds over the columns before it, in order: no
//! vector length, tile or thread says anything of its bits.

use super::{packed::Packed, update::Sums};
use crate::simd::Fused;
use pulp::{Simd, WithSimd};

/// Factors a block on the diagonal, packed as rows of itself. Gives the inverses of the pivots;
/// `None` where it is not positive definite.
pub(super) fn factor(block: &mut Packed) -> Option<Vec<f64>> {
    let mut inverses = Vec::with_capacity(block.depth);
    let (size, depth, width) = (block.slab_len(), block.depth, block.width());
    for s in 0..depth.div_ceil(width) {
        let (above, rest) = block.all_mut().split_at_mut(s * size);
        let done = crate::instructions::arch().dispatch(Forward {
            above,
            x: &mut rest[..size],
            depth,
            inverses: Inverses::New(&mut inverses),
        });
        if !done {
            return None;
        }
    }
    Some(inverses)
}

/// Overwrites a slab of rows B, packed, with `B L'^-1`, L a block that [`factor`] has factored.
pub(super) fn solve(block: &Packed, inverses: &[f64], slab: &mut [f64]) {
    crate::instructions::arch().dispatch(Forward {
        above: block.all(),
        x: slab,
        depth: block.depth,
        inverses: Inverses::Known(inverses),
    });
}

enum Inverses<'a> {
    Known(&'a [f64]),
    /// Of the rows above; those of `x` are to be found.
    New(&'a mut Vec<f64>),
}

/// One slab of rows.
struct Forward<'a> {
    /// The slabs of the block; those above `x` where it is of the block.
    above: &'a [f64],
    x: &'a mut [f64],
    depth: usize,
    inverses: Inverses<'a>,
}

impl WithSimd for Forward<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        match S::F64_LANES {
            8 => self.run::<S, 8, 3, 3, 1>(simd),
            4 => self.run::<S, 6, 4, 2, 3>(simd),
            _ => self.run::<S, 8, 1, 2, 2>(simd),
        }
    }
}

impl Forward<'_> {
    /// With tiles as [`Sums`] has them. False where a pivot is not positive.
    #[inline(always)]
    fn run<
        S: Simd,
        const ROWS: usize,
        const TILES: usize,
        const VECTORS: usize,
        const GROUPS: usize,
    >(
        self,
        simd: S,
    ) -> bool {
        let Self {
            above,
            x,
            depth,
            mut inverses,
        } = self;
        let width = ROWS * TILES;
        // Of the block's own rows, no column beyond the diagonal is of use.
        let last = match inverses {
            Inverses::Known(_) => depth,
            Inverses::New(_) => depth.min(above.len() / depth + width),
        };
        for k in (0..last).step_by(ROWS) {
            let (slab, tile) = (k / width * width * depth, k % width / ROWS);
            // Rows k and on of L: above, or those of x themselves.
            let own = matches!(inverses, Inverses::New(_)) && slab == above.len();
            let zero = [[simd.splat_f64s(0.0); VECTORS]; ROWS];
            let mut sums = [zero; GROUPS];
            for (group, sums) in sums.iter_mut().enumerate() {
                let x = &x[..k * width];
                let l = if own { x } else { &above[slab..][..k * width] };
                let pair = ((l, tile), (x, group));
                *sums = Sums::<S, ROWS, VECTORS>::of_slab::<TILES, GROUPS>(simd, pair).0;
            }
            let columns = Columns {
                k,
                width,
                first: tile * ROWS,
                above: (!own).then(|| &above[slab..]),
            };
            for i in 0..ROWS.min(last - k) {
                columns.subtract(simd, x, &sums, i);
                let at = columns.place(i, i);
                let Some((pivot, inverse)) = inverses.at(k + i, own.then(|| x[at])) else {
                    return false;
                };
                let row = (k + i) * width..(k + i + 1) * width;
                let inverse = simd.splat_f64s(inverse);
                for x in S::as_mut_simd_f64s(&mut x[row]).0 {
                    *x = simd.mul_f64s(*x, inverse);
                }
                if let Some(pivot) = pivot {
                    x[at] = pivot;
                }
            }
        }
        true
    }
}

impl Inverses<'_> {
    /// The pivot of a column of the slab's own rows, of which what is left on the diagonal is
    /// given, and the inverse of the pivot; `None` where it is not positive.
    #[inline(always)]
    fn at(&mut self, column: usize, left: Option<f64>) -> Option<(Option<f64>, f64)> {
        let inverses = match (self, left) {
            (Inverses::Known(inverses), _) => return Some((None, inverses[column])),
            (Inverses::New(inverses), None) => return Some((None, inverses[column])),
            (Inverses::New(inverses), Some(_)) => inverses,
        };
        let pivot = left?.sqrt();
        // NaN is not above zero either.
        if !(pivot > 0.0 && pivot.is_finite()) {
            return None;
        }
        inverses.push(1.0 / pivot);
        Some((Some(pivot), 1.0 / pivot))
    }
}

/// Columns of a tile of L.
struct Columns<'a> {
    /// The first of them.
    k: usize,
    width: usize,
    /// The first row of the tile in its slab.
    first: usize,
    /// The slab, where it is not that of `x`.
    above: Option<&'a [f64]>,
}

impl Columns<'_> {
    /// Where entry `(i, j)` of the tile is in its slab.
    #[inline(always)]
    fn place(&self, i: usize, j: usize) -> usize {
        (self.k + j) * self.width + self.first + i
    }

    /// Has the chains go on through the tile's own columns, and subtracts them from column `i`.
    #[inline(always)]
    fn subtract<S: Simd, const ROWS: usize, const VECTORS: usize, const GROUPS: usize>(
        &self,
        simd: S,
        x: &mut [f64],
        sums: &[[[S::f64s; VECTORS]; ROWS]; GROUPS],
        i: usize,
    ) {
        let &Self { k, width, .. } = self;
        for (group, sums) in sums.iter().enumerate() {
            for (v, &sum) in sums[i].iter().enumerate() {
                let at = (group * VECTORS + v) * S::F64_LANES;
                let vector = |x: &[f64], j: usize| {
                    S::as_simd_f64s(&x[(k + j) * width + at..][..S::F64_LANES]).0[0]
                };
                let mut sum = sum;
                for j in 0..i {
                    let l = match self.above {
                        None => x[self.place(i, j)],
                        Some(above) => above[self.place(i, j)],
                    };
                    sum = simd.fused_f64s(simd.splat_f64s(l), vector(x, j), sum);
                }
                let rest = simd.sub_f64s(vector(x, i), sum);
                let to = &mut x[(k + i) * width + at..][..S::F64_LANES];
                S::as_mut_simd_f64s(to).0[0] = rest;
            }
        }
    }
}
