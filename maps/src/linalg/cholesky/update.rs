//! The bulk of a factorisation: rows below a factored panel less the products of its rows.

use super::packed::{LINE, Packed, slabs};
use crate::{
    parallel,
    simd::{Fused, prefetch},
};
use pulp::{Simd, WithSimd};
use std::cell::RefCell;

/// Subtracts the products of packed row i with packed row j from column `first + j` of row i, for j
/// up to the end of i's slab. Threads share the rows, so no result depends on them.
pub(super) fn subtract(rows: &mut [f64], stride: usize, first: usize, packed: &Packed) {
    let (width, slabs) = slabs();
    let height = slabs * width;
    let all = rows.len().div_ceil(stride.max(1));
    let mut bands: Vec<_> = rows.chunks_mut(height * stride).enumerate().collect();
    // The last bands are the longest: they go first.
    bands.reverse();
    let shares = parallel::alone().worth(all * all / 2 * packed.depth);
    shares.parts(&mut bands, &|_, (band, rows)| {
        // Borrowed out here: in a closure under the dispatch there might be no vectors.
        TILES.with_borrow_mut(|tiles| {
            crate::instructions::arch().dispatch(Subtract {
                rows,
                stride,
                first,
                slab: *band * slabs,
                packed,
                tiles,
            });
        });
    });
}

thread_local! {
    /// Rows of a band as tiles take them.
    static TILES: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// As [`subtract`], for one band, whose first slab is `slab`.
struct Subtract<'a> {
    rows: &'a mut [f64],
    stride: usize,
    first: usize,
    slab: usize,
    packed: &'a Packed,
    /// Room for the rows, laid out.
    tiles: &'a mut Vec<f64>,
}

impl WithSimd for Subtract<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // As for Gram matrices: whole tiles in a slab, a register to spare, and four steps of depth
        // in a turn where a processor would begin too few instructions else.
        match S::F64_LANES {
            8 => self.run::<S, 8, 3, 3, 1, 4>(simd),
            4 => self.run::<S, 6, 4, 2, 3, 4>(simd),
            _ => self.run::<S, 8, 1, 2, 2, 1>(simd),
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
        const STEPS: usize,
    >(
        self,
        simd: S,
    ) {
        let (width, part) = (ROWS * TILES, VECTORS * S::F64_LANES);
        let Self {
            rows,
            stride,
            tiles,
            ..
        } = self;
        let count = rows.len().div_ceil(stride);
        let slabs = count.div_ceil(width);
        let tile_len = ROWS * self.packed.depth;
        tiles.resize((slabs * TILES * tile_len).max(tiles.len()), 0.0);
        for (s, tiles) in (0..slabs).zip(tiles.chunks_exact_mut(TILES * tile_len)) {
            lay_out::<ROWS, TILES>(self.packed.slab(self.slab + s), tiles);
        }
        let last = self.slab + slabs - 1;
        for j in 0..=last {
            let (b, next) = (self.packed.slab(j), self.packed.slab((j + 1).min(last)));
            let from = j.saturating_sub(self.slab) * TILES;
            // Each tile asks for its share of the next slab.
            let share = next.len().div_ceil((slabs * TILES - from) * GROUPS);
            let mut shares = next.chunks(share.next_multiple_of(LINE));
            // Columns outside, rows inside: a group of columns stays in first-level cache for all
            // tiles of the band, which are read in the order that they lie in.
            for group in 0..GROUPS {
                let col = self.first + j * width + group * part;
                for t in from..slabs * TILES {
                    let row = t * ROWS;
                    let below = (row + ROWS..row + 2 * ROWS).map(|row| row.min(count - 1));
                    let places = below.map(|row| &rows[row * stride + col.min(stride)..]);
                    places.for_each(|place| ask_for(place, part));
                    let a = &tiles[t * tile_len..][..tile_len];
                    let share = shares.next().unwrap_or_default();
                    let c = Sums::<S, ROWS, VECTORS>::of_tile::<GROUPS, STEPS>(
                        simd,
                        a,
                        (b, group),
                        share,
                    );
                    if row + ROWS <= count && col + part <= stride {
                        c.subtract_from(simd, (&mut *rows, stride), (row, col));
                    } else {
                        c.subtract_part_from((&mut *rows, stride), (row, col), count);
                    }
                }
            }
        }
    }
}

/// Asks for so many numbers, wherever in a line they begin.
#[inline(always)]
fn ask_for(place: &[f64], count: usize) {
    for line in 0..=count / LINE {
        prefetch(place, line * LINE);
    }
}

/// Lays a slab out, tile after tile.
#[inline(always)]
fn lay_out<const ROWS: usize, const TILES: usize>(slab: &[f64], tiles: &mut [f64]) {
    let (slab, _) = slab.as_chunks::<ROWS>();
    let (slab, _) = slab.as_chunks::<TILES>();
    let (tiles, _) = tiles.as_chunks_mut::<ROWS>();
    for (k, rows) in slab.iter().enumerate() {
        for (t, rows) in rows.iter().enumerate() {
            tiles[t * slab.len() + k] = *rows;
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

    /// `a' b` for a tile that is laid out and a group of vectors of the slab `b`. Meanwhile `share`
    /// comes nearer.
    #[inline(always)]
    fn of_tile<const GROUPS: usize, const STEPS: usize>(
        simd: S,
        a: &[f64],
        (b, group): Part<'_>,
        share: &[f64],
    ) -> Self {
        assert!(group < GROUPS);
        let (a, _) = a.as_chunks::<ROWS>();
        let (b, _) = S::as_simd_f64s(b);
        let (b, _) = b.as_chunks::<VECTORS>();
        let (b, _) = b.as_chunks::<GROUPS>();
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<STEPS>(), b.as_chunks::<STEPS>());
        let mut sums = [[simd.splat_f64s(0.0); VECTORS]; ROWS];
        for (k, (a, b)) in a.iter().zip(b).enumerate() {
            prefetch(share, k * LINE);
            for (a, b) in a.iter().zip(b) {
                add_step(simd, &mut sums, a, &b[group]);
            }
        }
        for (a, b) in a_rest.iter().zip(b_rest) {
            add_step(simd, &mut sums, a, &b[group]);
        }
        Self(sums)
    }

    /// As [`Self::of_tile`], for tile `t` of the slab `a` as it is.
    #[inline(always)]
    pub(super) fn of_slab<const TILES: usize, const GROUPS: usize>(
        simd: S,
        ((a, t), (b, group)): (Part<'_>, Part<'_>),
    ) -> Self {
        assert!(t < TILES && group < GROUPS);
        let (a, _) = a.as_chunks::<ROWS>();
        let (a, _) = a.as_chunks::<TILES>();
        let (b, _) = S::as_simd_f64s(b);
        let (b, _) = b.as_chunks::<VECTORS>();
        let (b, _) = b.as_chunks::<GROUPS>();
        let mut sums = [[simd.splat_f64s(0.0); VECTORS]; ROWS];
        for (a, b) in a.iter().zip(b) {
            add_step(simd, &mut sums, &a[t], &b[group]);
        }
        Self(sums)
    }
}

/// One step of depth of a tile.
#[inline(always)]
fn add_step<S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    sums: &mut [[S::f64s; VECTORS]; ROWS],
    a: &[f64; ROWS],
    b: &[S::f64s; VECTORS],
) {
    for (sums, &a) in sums.iter_mut().zip(a) {
        let a = simd.splat_f64s(a);
        for (sum, &b) in sums.iter_mut().zip(b) {
            *sum = simd.fused_f64s(a, b, *sum);
        }
    }
}
