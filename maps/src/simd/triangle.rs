//! The lower triangle of `Z'Z` and all of `Z'Y`: rows are packed as they come, summed in f32 over a
//! few thousand of them and in f64 beyond.

mod block;

use super::{
    hint::{LINE, prefetch},
    tile::STRETCH,
};
use crate::{
    device::{Aligned, large_pages},
    linalg::compensated,
    parallel,
};
use block::{Block, slab_columns, stretch_floats};
use ndarray::Array2;
use std::{cell::RefCell, ops::Range};

/// Packed rows take this much, or an eighth of the sums if that is more: every pass over the rows
/// costs one over the sums.
const PACKED_BYTES: usize = 32 << 20;
/// Rows that are summed in f32 at most.
const MOST_ROWS: usize = 4096;
/// Columns on a side of a block of sums: in f32 it stays in second-level cache beside the operands
/// of one stretch.
const BLOCK_COLUMNS: usize = 288;
/// Blocks of a large matrix that each thread has, about: those on the diagonal are half as long.
const BLOCKS_OF_A_THREAD: usize = 8;
/// Slabs packed by one thread at a time: whole runs of a row.
const PACKED_TOGETHER: usize = 4;
/// Rows after the one that is packed whose lines are asked for: of a wide matrix a thread packs a
/// part of each, too short for the processor to see what comes.
const ROWS_AHEAD: usize = 8;
/// Sums that a thread sets to zero at a time.
const CLEARED: usize = 1 << 16;

thread_local! {
    /// A stretch of a slab, laid out, and the f32 sums of the block in work.
    static SCRATCH: RefCell<Aligned> = RefCell::default();
}

/// Running sums of `[Z | Y]' Z`. Columns are packed into slabs, as wide as the columns of a
/// register tile; pairs of slabs are multiplied, on and below the diagonal only.
pub(crate) struct Triangle {
    features: usize,
    targets: usize,
    /// Rows that the slabs hold before they are summed.
    capacity: usize,
    filled: usize,
    /// Pairs of slabs that are summed together.
    blocks: Vec<Slabs>,
    /// Slab after slab of `[Z | Y]`, each `[capacity, slab columns]`.
    packed: Aligned,
    /// Block after block, pair after pair, tile after tile.
    sums: Vec<f64>,
}

impl std::fmt::Debug for Triangle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "sums of {} features and {} targets",
            self.features, self.targets
        )
    }
}

impl Triangle {
    pub(crate) fn new(features: usize, targets: usize) -> Self {
        let width = slab_columns();
        let slabs = (features + targets).div_ceil(width);
        let blocks: Vec<_> = blocks(features, targets, rayon::current_num_threads()).collect();
        let pairs: usize = blocks.iter().map(pairs).sum();
        let mut sums = vec![0.0; pairs * width * width];
        large_pages::ask_for(&mut sums);
        let capacity = rows_held(features + targets);
        Self {
            features,
            targets,
            capacity,
            filled: 0,
            blocks,
            packed: Aligned::zeroed(slabs * width * capacity),
            sums,
        }
    }

    /// Adds rows, on the current thread pool.
    pub(crate) fn add(&mut self, mut z: &[f32], mut y: &[f32]) {
        while !z.is_empty() {
            let rows = (z.len() / self.features).min(self.capacity - self.filled);
            let (z_now, z_rest) = z.split_at(rows * self.features);
            let (y_now, y_rest) = y.split_at(rows * self.targets);
            self.pack(z_now, y_now);
            self.filled += rows;
            if self.filled == self.capacity {
                self.sum();
            }
            (z, y) = (z_rest, y_rest);
        }
    }

    /// Copies rows to the places after those filled.
    fn pack(&mut self, z: &[f32], y: &[f32]) {
        let (d, t, width) = (self.features, self.targets, slab_columns());
        let slab_len = self.capacity * width;
        let from = self.filled * width;
        let slabs = &mut self.packed.as_mut_slice()[..(d + t).div_ceil(width) * slab_len];
        parallel::usual().chunks(slabs, PACKED_TOGETHER * slab_len, &|run, slabs| {
            let first = run * PACKED_TOGETHER * width;
            // The last run may have fewer slabs than the others.
            let columns = slabs.len() / self.capacity;
            let mut edge = vec![0.0; columns];
            let all = z;
            for (k, (z, y)) in z.chunks_exact(d).zip(y.chunks_exact(t)).enumerate() {
                for line in (0..columns).step_by(LINE) {
                    prefetch(all, (k + ROWS_AHEAD) * d + first + line);
                }
                let row = z.get(first..first + columns).unwrap_or_else(|| {
                    // The end of Z, then Y, then zeros.
                    let z = &z[first.min(d)..];
                    edge[..z.len()].copy_from_slice(z);
                    let y = &y[(first + z.len() - d).min(t)..];
                    let y = &y[..y.len().min(columns - z.len())];
                    edge[z.len()..][..y.len()].copy_from_slice(y);
                    &edge
                });
                let parts = row.chunks_exact(width);
                for (part, slab) in parts.zip(slabs.chunks_exact_mut(slab_len)) {
                    slab[from + k * width..][..width].copy_from_slice(part);
                }
            }
        });
    }

    /// Adds the products of the packed rows to the sums, on the current thread pool.
    pub(crate) fn sum(&mut self) {
        if self.filled == 0 {
            return;
        }
        let width = slab_columns();
        let (packed, depth) = (self.packed.as_slice(), self.filled);
        let slab = |s: usize| &packed[s * self.capacity * width..][..depth * width];
        // Each block owns its own run of the sums, so that threads need no lock, and a sum is
        // always added to by one thread in one order.
        let mut rest = &mut self.sums[..];
        let mut work = Vec::new();
        for block in &self.blocks {
            let (sums, tail) = rest.split_at_mut(pairs(block) * width * width);
            work.push((block, sums));
            rest = tail;
        }
        parallel::usual().parts(&mut work, &|_, ((i, j), sums)| {
            SCRATCH.with_borrow_mut(|scratch| {
                let both = scratch.take(stretch_floats() + sums.len());
                let (laid, scratch) = both.split_at_mut(stretch_floats());
                crate::instructions::arch().dispatch(Block {
                    i: i.clone(),
                    j: j.clone(),
                    slab,
                    laid,
                    scratch,
                    sums,
                });
            });
        });
        self.filled = 0;
    }

    /// The sums, on the current thread pool: `Z'Z` with its lower triangle filled, and `Z'Y`.
    pub(crate) fn finish(mut self) -> (Array2<f64>, Array2<f64>) {
        let (d, t) = (self.features, self.targets);
        let mut gram = Array2::zeros((d, d));
        self.sum();
        // Given back before the matrices are touched: both at once would be the peak of a fit.
        self.packed = Aligned::default();
        let tiles = self.tiles();
        let width = slab_columns();
        let entries = gram.as_slice_mut().expect("allocated row by row");
        parallel::usual().chunks(entries, width * d, &|i, band| {
            for &(at, j) in &tiles[i] {
                let lines = band.chunks_exact_mut(d).zip(self.lines(at));
                for (r, (out, sums)) in lines.enumerate() {
                    // Tiles on the diagonal are whole: their upper halves are left, as are the
                    // padding's sums.
                    let end = (i * width + r + 1).min((j + 1) * width);
                    let out = out.get_mut(j * width..end).unwrap_or_default();
                    for (out, sum) in out.iter_mut().zip(sums) {
                        *out = *sum;
                    }
                }
            }
        });
        let mut zty = Array2::zeros((d, t));
        self.read_targets(&tiles, &mut zty);
        (gram, zty)
    }

    /// Adds `Z'Z` to that of rows before, in the same places, on the current thread pool, and gives
    /// `Z'Y`; begins anew at zero. `rest_d` is what rounding took from the diagonal.
    pub(crate) fn take_onto(&mut self, gram: &mut Array2<f64>, rest_d: &mut [f64]) -> Array2<f64> {
        self.sum();
        let tiles = self.tiles();
        let width = slab_columns();
        let mut rows = compensated::rows(gram, rest_d);
        parallel::usual().parts(&mut rows, &|row, sums| {
            for &(at, j) in &tiles[row / width] {
                let line = &self.sums[at + row % width * width..][..width];
                sums.add(j * width, line.iter().copied());
            }
        });
        let mut zty = Array2::zeros((self.features, self.targets));
        self.read_targets(&tiles, &mut zty);
        parallel::usual().chunks(&mut self.sums, CLEARED, &|_, sums| sums.fill(0.0));
        zty
    }

    /// Of each slab of rows its tiles: where they lie, and their slab of columns.
    fn tiles(&self) -> Vec<Vec<(usize, usize)>> {
        let width = slab_columns();
        let mut tiles = vec![Vec::new(); (self.features + self.targets).div_ceil(width)];
        let mut at = 0;
        for (i, j) in &self.blocks {
            for j in j.clone() {
                for i in i.clone() {
                    tiles[i].push((at, j));
                    at += width * width;
                }
            }
        }
        tiles
    }

    /// The lines of the tile that lies there.
    fn lines(&self, at: usize) -> impl Iterator<Item = &[f64]> {
        let width = slab_columns();
        self.sums[at..][..width * width].chunks_exact(width)
    }

    /// Writes `Z'Y`.
    fn read_targets(&self, tiles: &[Vec<(usize, usize)>], zty: &mut Array2<f64>) {
        let (d, t, width) = (self.features, self.targets, slab_columns());
        for (i, tiles) in tiles.iter().enumerate().skip(d / width) {
            for &(at, j) in tiles {
                for (row, sums) in (i * width..d + t).zip(self.lines(at)) {
                    let Some(target) = row.checked_sub(d) else {
                        continue;
                    };
                    for (col, sum) in (j * width..d).zip(sums) {
                        zty[[col, target]] = *sum;
                    }
                }
            }
        }
    }
}

/// Rows that the slabs of so many columns hold before they are summed: of the shape alone, never of
/// threads or vectors, for the cut decides which products are added in f32, and so the bits.
fn rows_held(columns: usize) -> usize {
    let bytes = PACKED_BYTES.max(columns * columns / 2);
    let rows = bytes / (4 * columns).max(1);
    ((rows + STRETCH / 2) / STRETCH * STRETCH).clamp(STRETCH, MOST_ROWS)
}

/// Slabs of `[Z | Y]`, and those of Z that they are multiplied with.
type Slabs = (Range<usize>, Range<usize>);

/// Blocks of pairs of slabs: runs of slabs of `[Z | Y]`, from the diagonal on, against a run of
/// slabs of Z. A slab is laid out once in a block, so few long runs are best, of which each thread
/// has some.
fn blocks(features: usize, targets: usize, threads: usize) -> impl Iterator<Item = Slabs> {
    let width = slab_columns();
    let slabs = (features + targets).div_ceil(width);
    // Half of the pairs of runs are below the diagonal. One thread waits for no other.
    let runs = match threads {
        0 | 1 => 1,
        _ => (2 * BLOCKS_OF_A_THREAD * threads).isqrt(),
    };
    let side = slabs.div_ceil(runs).min(BLOCK_COLUMNS / width).max(1);
    let run = move |from: usize, end: usize| from..end.min(from + side);
    let columns = features.div_ceil(width);
    (0..columns).step_by(side).flat_map(move |j| {
        (j..slabs)
            .step_by(side)
            .map(move |i| (run(i, slabs), run(j, columns)))
    })
}

/// Pairs of a block. Those above the diagonal have a place too, which stays zero.
fn pairs((i, j): &Slabs) -> usize {
    i.len() * j.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(z: &Array2<f32>, y: &Array2<f32>, parts: &[usize]) -> (Array2<f64>, Array2<f64>) {
        let (d, t) = (z.ncols(), y.ncols());
        let mut triangle = Triangle::new(d, t);
        let (z, y) = (z.as_slice().unwrap(), y.as_slice().unwrap());
        let mut from = 0;
        for &rows in parts {
            triangle.add(
                &z[from * d..(from + rows) * d],
                &y[from * t..(from + rows) * t],
            );
            from += rows;
        }
        assert_eq!(from * d, z.len());
        triangle.finish()
    }

    /// The same bits however rows come, with sums just emptied and not, over several blocks with
    /// edges.
    #[test]
    fn sums_do_not_depend_on_how_rows_come() {
        for (rows, d, t) in [
            (2 * MOST_ROWS, 5, 2),
            (MOST_ROWS + 77, 49, 3),
            (301, 400, 90),
        ] {
            let value =
                |seed: usize| move |(i, j): (usize, usize)| ((i * 31 + j * 17 + seed) as f32).sin();
            let z = Array2::from_shape_fn((rows, d), value(0));
            let y = Array2::from_shape_fn((rows, t), value(5));
            let whole = sums(&z, &y, &[rows]);
            let exact = z.mapv(f64::from).t().dot(&z.mapv(f64::from));
            let largest = exact.diag().iter().fold(0.0_f64, |m, &v| m.max(v));
            for ((row, col), &sum) in whole.0.indexed_iter() {
                let expected = if col <= row { exact[[row, col]] } else { 0.0 };
                assert!((sum - expected).abs() < 1e-6 * largest, "{row} {col}");
            }
            for parts in [
                vec![1, 100, rows - 101],
                vec![7, rows - 7],
                vec![rows - 1, 1],
            ] {
                assert_eq!(sums(&z, &y, &parts), whole, "{rows} x {d}: {parts:?}");
            }
        }
    }
}
