//! Rows of a panel, laid out for tiles.

use crate::{device::Aligned, parallel};
use pulp::{Simd, WithSimd};

/// Operations that take as long as a number takes to be packed.
const PACKED: usize = 16;
/// Numbers of a cache line.
pub(super) const LINE: usize = 8;

/// Rows of a slab on this machine, those that every tile of the update divides, and slabs that a
/// thread takes at a time: packed, they stay in second-level cache.
pub(super) fn slabs() -> (usize, usize) {
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
        _ => (8, 12),
    }
}

/// Rows of a panel of the factor, in slabs: depth-major, rows beyond the last zero. They begin on a
/// cache line, for a group of vectors is one line, or a few: of lines that begin elsewhere it would
/// take one more, and twice its share of first-level cache.
#[derive(Default)]
pub(super) struct Packed {
    pub(super) depth: usize,
    data: Aligned,
}

impl Packed {
    /// Packs columns `from..to` of rows that lie `stride` apart.
    pub(super) fn pack(&mut self, rows: &[f64], stride: usize, columns: (usize, usize)) {
        let (width, _) = slabs();
        let slab_len = width * (columns.1 - columns.0);
        let slabs = self.room(rows.len().div_ceil(stride), columns);
        let rows = (rows, width * stride);
        let shares = parallel::usual().worth(slabs.len() * PACKED);
        shares.pairs(slabs, slab_len, rows, &|slab, rows| {
            pack(slab, rows, stride, columns);
        });
    }

    /// As [`Self::pack`]; `work` changes each slab, which goes back at once: it is in cache.
    pub(super) fn pack_through(
        &mut self,
        rows: &mut [f64],
        stride: usize,
        columns: (usize, usize),
        work: &(dyn Fn(&mut [f64]) + Sync),
    ) {
        let (width, _) = slabs();
        let slab_len = width * (columns.1 - columns.0);
        let slabs = self.room(rows.len().div_ceil(stride), columns);
        let rows = rows.chunks_mut(width * stride);
        let of_each = PACKED + (columns.1 - columns.0) / 2;
        let shares = parallel::usual().worth(slabs.len() * of_each);
        let mut both: Vec<_> = slabs.chunks_mut(slab_len).zip(rows).collect();
        shares.parts(&mut both, &|_, (slab, rows)| {
            pack(slab, rows, stride, columns);
            work(slab);
            unpack(slab, rows, stride, columns);
        });
    }

    /// Room for columns `from..to` of so many rows.
    fn room(&mut self, rows: usize, (from, to): (usize, usize)) -> &mut [f64] {
        self.depth = to - from;
        let len = rows.next_multiple_of(slabs().0) * self.depth;
        bytemuck::cast_slice_mut(self.data.take(2 * len))
    }

    /// All slabs, and what was more before.
    pub(super) fn all(&self) -> &[f64] {
        bytemuck::cast_slice(self.data.as_slice())
    }

    /// As [`Self::all`], to change.
    pub(super) fn all_mut(&mut self) -> &mut [f64] {
        bytemuck::cast_slice_mut(self.data.as_mut_slice())
    }

    pub(super) fn slab(&self, s: usize) -> &[f64] {
        let len = slabs().0 * self.depth;
        &self.all()[s * len..][..len]
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
        let columns = (from, from + self.depth);
        let slabs = (self.all(), self.slab_len());
        let shares = parallel::usual().worth(slabs.0.len() * PACKED);
        shares.pairs(rows, self.width() * stride, slabs, &|rows, slab| {
            unpack(slab, rows, stride, columns);
        });
    }
}

/// Writes columns `from..to` of rows to a slab. A line of each depth comes from as many rows at
/// once: of more, their places in memory would be too many for a processor to see what comes.
fn pack(slab: &mut [f64], rows: &[f64], stride: usize, (from, to): (usize, usize)) {
    let width = slab.len() / (to - from);
    let mut rows = rows.chunks(stride).map(|row| &row[from..to]);
    for first in (0..width).step_by(LINE) {
        // Rows beyond the last are zero.
        let some: [&[f64]; LINE] = std::array::from_fn(|_| rows.next().unwrap_or_default());
        let all = some.iter().all(|row| row.len() == to - from);
        for (k, out) in slab.chunks_exact_mut(width).enumerate() {
            let out = &mut out[first..];
            match out.first_chunk_mut::<LINE>() {
                Some(out) if all => *out = std::array::from_fn(|r| some[r][k]),
                _ => {
                    for (out, row) in out.iter_mut().zip(some) {
                        *out = row.get(k).copied().unwrap_or_default();
                    }
                }
            }
        }
    }
}

/// Writes a slab back to where [`pack`] has it from.
fn unpack(slab: &[f64], rows: &mut [f64], stride: usize, (from, to): (usize, usize)) {
    let width = slab.len() / (to - from);
    let mut rows = rows.chunks_mut(stride).map(|row| &mut row[from..to]);
    for first in (0..width).step_by(LINE) {
        let mut some: [&mut [f64]; LINE] = std::array::from_fn(|_| rows.next().unwrap_or_default());
        let all = some.iter().all(|row| row.len() == to - from);
        for (k, slab) in slab.chunks_exact(width).enumerate() {
            let slab = &slab[first..];
            if let (Some(slab), true) = (slab.first_chunk::<LINE>(), all) {
                for (row, &v) in some.iter_mut().zip(slab) {
                    row[k] = v;
                }
                continue;
            }
            for (row, &v) in some.iter_mut().zip(slab) {
                if let Some(to) = row.get_mut(k) {
                    *to = v;
                }
            }
        }
    }
}
