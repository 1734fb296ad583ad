//! The bulk of a factorization: rows below a factored panel less the products of its rows.

use crate::{parallel, simd::prefetch};
use pulp::{Simd, WithSimd};

/// Numbers of a cache line.
const LINE: usize = 8;

/// Rows of a slab on this machine, those that every tile below divides, and slabs that a thread
/// takes at a time: packed, they stay in second-level cache.
fn slabs() -> (usize, usize) {
    struct Lanes;
    impl WithSimd for Lanes {
        type Output = usize;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> usize {
            S::F64_LANES
        }
    }
    match crate::instructions::arch().dispatch(Lanes) {
        8 => (24, 12),
        4 => (24, 6),
        2 => (8, 12),
        _ => (3, 12),
    }
}

/// Rows of a panel of the factor, in slabs: depth-major, rows beyond the last zero.
#[derive(Default)]
pub(super) struct Packed {
    pub(super) depth: usize,
    pub(super) data: Vec<f64>,
}

impl Packed {
    /// Packs columns `from..to` of rows that lie `stride` apart.
    pub(super) fn pack(&mut self, rows: &[f64], stride: usize, (from, to): (usize, usize)) {
        let (width, _) = slabs();
        let depth = to - from;
        let count = rows.len().div_ceil(stride);
        let len = count.next_multiple_of(width) * depth;
        self.depth = depth;
        self.data.resize(len.max(self.data.len()), 0.0);
        let slabs = &mut self.data[..len];
        let rows = (rows, width * stride);
        parallel::usual().pairs(slabs, width * depth, rows, &|slab, rows| {
            let count = rows.len().div_ceil(stride);
            for (k, out) in slab.chunks_exact_mut(width).enumerate() {
                for (r, out) in out.iter_mut().enumerate() {
                    *out = if r < count {
                        rows[r * stride + from + k]
                    } else {
                        0.0
                    };
                }
            }
        });
    }

    fn slab(&self, s: usize) -> &[f64] {
        let len = slabs().0 * self.depth;
        &self.data[s * len..][..len]
    }

    /// Rows of a slab.
    pub(super) fn width(&self) -> usize {
        slabs().0
    }

    pub(super) fn slab_len(&self) -> usize {
        self.width() * self.depth
    }

    /// Writes the rows back to columns from `from` on of where they came from.
    pub(super) fn unpack(&self, rows: &mut [f64], stride: usize, from: usize) {
        let (width, depth) = (self.width(), self.depth);
        let slabs = (self.data.as_slice(), width * depth);
        parallel::usual().pairs(rows, width * stride, slabs, &|rows, slab| {
            for (r, row) in rows.chunks_mut(stride).enumerate() {
                let columns = row[from..from + depth].iter_mut();
                for (to, slab) in columns.zip(slab.chunks_exact(width)) {
                    *to = slab[r];
                }
            }
        });
    }
}

/// Subtracts the products of packed row i with packed row j from column `first + j` of row i, for j
/// up to the end of i's slab. Threads share the rows, so no result depends on them.
pub(super) fn subtract(rows: &mut [f64], stride: usize, first: usize, packed: &Packed) {
    let (width, slabs) = slabs();
    let height = slabs * width;
    let mut bands: Vec<_> = rows.chunks_mut(height * stride).enumerate().collect();
    // The last bands are the longest: they go first.
    bands.reverse();
    parallel::alone().parts(&mut bands, &|_, (band, rows)| {
        crate::instructions::arch().dispatch(Subtract {
            rows,
            stride,
            first,
            slab: *band * slabs,
            packed,
        });
    });
}

/// As [`subtract`], for one band, whose first slab is `slab`.
struct Subtract<'a> {
    rows: &'a mut [f64],
    stride: usize,
    first: usize,
    slab: usize,
    packed: &'a Packed,
}

impl WithSimd for Subtract<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // As for Gram matrices: whole tiles in a slab, and a register to spare.
        match S::F64_LANES {
            8 => self.run::<S, 8, 3, 3, 1>(simd),
            4 => self.run::<S, 6, 4, 2, 3>(simd),
            2 => self.run::<S, 8, 1, 2, 2>(simd),
            _ => self.run::<S, 3, 1, 3, 1>(simd),
        }
    }
}

impl Subtract<'_> {
    /// With tiles of `ROWS` rows by `VECTORS` vectors: of a pair of slabs `TILES` by `GROUPS`.
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
    ) {
        let width = ROWS * TILES;
        let part = VECTORS * S::F64_LANES;
        let Self { rows, stride, .. } = self;
        let count = rows.len().div_ceil(stride);
        let slabs = count.div_ceil(width);
        for j in 0..self.slab + slabs {
            let (b, next) = (
                self.packed.slab(j),
                self.packed.slab((j + 1).min(self.slab + slabs - 1)),
            );
            let from = j.saturating_sub(self.slab);
            // Each tile asks for its share of the next slab.
            let share = next.len().div_ceil((slabs - from) * TILES * GROUPS);
            let mut shares = next.chunks(share.next_multiple_of(LINE));
            for i in from..slabs {
                let a = self.packed.slab(self.slab + i);
                for (t, group) in (0..TILES * GROUPS).map(|tile| (tile / GROUPS, tile % GROUPS)) {
                    let row = i * width + t * ROWS;
                    let col = self.first + j * width + group * part;
                    let whole = row + ROWS <= count && col + part <= stride;
                    let share = shares.next().unwrap_or_default();
                    let pair = ((a, t), (b, group));
                    let c = Sums::<S, ROWS, VECTORS>::compute::<TILES, GROUPS>(
                        simd,
                        pair,
                        share,
                        |r| {
                            let next = (row + ROWS + r).min(count - 1);
                            &rows[next * stride + col.min(stride)..(next + 1) * stride]
                        },
                    );
                    if whole {
                        c.subtract_from(simd, (&mut *rows, stride), (row, col));
                    } else {
                        c.subtract_part_from((&mut *rows, stride), (row, col), count);
                    }
                }
            }
        }
    }
}

/// One part of a slab among all.
pub(super) type Part<'a> = (&'a [f64], usize);

/// A tile of sums in registers.
pub(super) struct Sums<S: Simd, const ROWS: usize, const VECTORS: usize>(
    pub(super) [[S::f64s; VECTORS]; ROWS],
);

impl<S: Simd, const ROWS: usize, const VECTORS: usize> Sums<S, ROWS, VECTORS> {
    /// Subtracts a whole tile from its place. What does this and the next in one has the tile on
    /// the stack while it is summed.
    #[inline(always)]
    fn subtract_from(
        &self,
        simd: S,
        (rows, stride): (&mut [f64], usize),
        (row, col): (usize, usize),
    ) {
        let part = VECTORS * S::F64_LANES;
        for (r, sums) in self.0.iter().enumerate() {
            let at = (row + r) * stride + col;
            let (c, _) = S::as_mut_simd_f64s(&mut rows[at..at + part]);
            for (c, &sum) in c.iter_mut().zip(sums) {
                *c = simd.sub_f64s(*c, sum);
            }
        }
    }

    /// Subtracts what of a tile is of so many rows and of their columns.
    #[inline(always)]
    fn subtract_part_from(
        &self,
        (rows, stride): (&mut [f64], usize),
        (row, col): (usize, usize),
        count: usize,
    ) {
        for (r, sums) in self.0.iter().enumerate().take(count.saturating_sub(row)) {
            let sums: &[f64] = bytemuck::cast_slice(sums);
            let at = (row + r) * stride;
            let c = &mut rows[at + col.min(stride)..at + stride];
            c.iter_mut().zip(sums).for_each(|(c, sum)| *c -= sum);
        }
    }

    /// `a' b` for tile `t` of the slab `a` and a group of vectors of the slab `b`. Meanwhile
    /// `share` comes nearer, and the places of the tile after this one, row by row.
    #[inline(always)]
    pub(super) fn compute<'c, const TILES: usize, const GROUPS: usize>(
        simd: S,
        ((a, t), (b, group)): (Part<'_>, Part<'_>),
        share: &[f64],
        places: impl Fn(usize) -> &'c [f64],
    ) -> Self {
        assert!(t < TILES && group < GROUPS);
        for r in 0..ROWS {
            let row = places(r);
            for line in 0..=VECTORS * S::F64_LANES / LINE {
                prefetch(row, line * LINE);
            }
        }
        let (a, _) = a.as_chunks::<ROWS>();
        let (a, _) = a.as_chunks::<TILES>();
        let (b, _) = S::as_simd_f64s(b);
        let (b, _) = b.as_chunks::<VECTORS>();
        let (b, _) = b.as_chunks::<GROUPS>();
        let mut sums = [[simd.splat_f64s(0.0); VECTORS]; ROWS];
        for (k, (a, b)) in a.iter().zip(b).enumerate() {
            prefetch(share, k * LINE);
            for (sums, &a) in sums.iter_mut().zip(&a[t]) {
                let a = simd.splat_f64s(a);
                for (sum, &b) in sums.iter_mut().zip(&b[group]) {
                    *sum = simd.mul_add_e_f64s(a, b, *sum);
                }
            }
        }
        Self(sums)
    }
}
