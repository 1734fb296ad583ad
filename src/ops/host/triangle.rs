//! The lower triangle of `Z'Z` and all of `Z'Y`, summed in f32 in registers over blocks of rows and in f64 over blocks.

use super::{
    Panels,
    pack::Aligned,
    tile::{MOST_SUMS, most_rows, multiply, panel_columns},
};
use ndarray::Array2;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Rows packed at a time, and panels that share what is read of the other operand: so many panels of so many rows stay in
/// second-level cache.
const DEPTH: usize = 768;
const GROUP: usize = 4;

/// Running sums of `[Z | Y]' Z`: for each panel of columns of Z the entries of the rows from the panel's first on, and
/// those of Y. Panels shrink towards the last column, so half of the square is never touched.
pub(crate) struct Triangle {
    features: usize,
    targets: usize,
    /// Panel after panel, tile after tile.
    sums: Vec<f64>,
    panels: Panels,
    packed: Aligned,
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
        let len = (0..features)
            .step_by(panel_columns())
            .map(|col| panel_len(features + targets, col))
            .sum();
        Self {
            features,
            targets,
            sums: vec![0.0; len],
            panels: Panels::empty(),
            packed: Aligned::default(),
        }
    }

    /// Adds rows, on the current thread pool. At most `DEPTH` of them are summed in f32.
    pub(crate) fn add(&mut self, z: &[f32], y: &[f32]) {
        let blocks = z.chunks(DEPTH * self.features);
        let blocks = blocks.zip(y.chunks(DEPTH * self.targets));
        blocks.for_each(|(z, y)| self.add_block(z, y));
    }

    fn add_block(&mut self, z: &[f32], y: &[f32]) {
        let (d, t) = (self.features, self.targets);
        let depth = z.len() / d;
        self.panels.repack(z, depth, d);
        let rows = d + t;
        let most = most_rows(panel_columns() / 2);
        let packed = self.packed.take(rows.next_multiple_of(most) * depth);
        packed
            .par_chunks_mut(most * depth)
            .enumerate()
            .for_each(|(tile, out)| pack_tile(z, y, (d, t), tile * most, most, out));
        let packed = &*packed;
        let mut rest = &mut self.sums[..];
        let mut work = Vec::new();
        for (col, panel) in self.panels.all().iter() {
            let (sums, tail) = rest.split_at_mut(panel_len(rows, col));
            work.push((col, panel, sums));
            rest = tail;
        }
        work.par_chunks_mut(GROUP).for_each(|group| {
            pulp::Arch::new().dispatch(GroupSum {
                depth,
                packed,
                group,
            });
        });
    }

    /// The sums: `Z'Z` with its lower triangle filled, and `Z'Y`.
    pub(crate) fn finish(self) -> (Array2<f64>, Array2<f64>) {
        let (d, t) = (self.features, self.targets);
        let mut gram = Array2::zeros((d, d));
        let mut zty = Array2::zeros((d, t));
        let width = panel_columns();
        let mut rest = &self.sums[..];
        for col in (0..d).step_by(width) {
            let (sums, tail) = rest.split_at(panel_len(d + t, col));
            rest = tail;
            let first = first_row(col);
            for (i, sums) in sums.chunks_exact(width).enumerate() {
                let row = first + i;
                for (j, &sum) in sums.iter().enumerate().take(d - col.min(d)) {
                    let col = col + j;
                    if row < d && col <= row {
                        gram[[row, col]] = sum;
                    } else if (d..d + t).contains(&row) {
                        zty[[col, row - d]] = sum;
                    }
                }
            }
        }
        (gram, zty)
    }
}

/// The first row of the sums of the panel at `col`: that of the tile that holds the diagonal.
fn first_row(col: usize) -> usize {
    let most = most_rows(panel_columns() / 2);
    col / most * most
}

fn panel_len(rows: usize, col: usize) -> usize {
    let most = most_rows(panel_columns() / 2);
    (rows.next_multiple_of(most) - first_row(col)) * panel_columns()
}

/// Columns `first..first + most` of `[Z | Y]`, depth-major; columns beyond the last are zero.
fn pack_tile(
    z: &[f32],
    y: &[f32],
    (d, t): (usize, usize),
    first: usize,
    most: usize,
    out: &mut [f32],
) {
    for ((z, y), out) in z
        .chunks_exact(d)
        .zip(y.chunks_exact(t))
        .zip(out.chunks_exact_mut(most))
    {
        if first + most <= d {
            out.copy_from_slice(&z[first..first + most]);
            continue;
        }
        for (c, out) in (first..).zip(out) {
            *out = match c {
                _ if c < d => z[c],
                _ if c < d + t => y[c - d],
                _ => 0.0,
            };
        }
    }
}

/// A few panels of columns, with their first columns and their sums, against all row tiles from the diagonal on.
struct GroupSum<'a, 'b> {
    depth: usize,
    packed: &'a [f32],
    group: &'a mut [(usize, &'b [f32], &'b mut [f64])],
}

impl WithSimd for GroupSum<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let most = most_rows(S::F32_LANES);
        let size = most * 2 * S::F32_LANES;
        let tiles = self.packed.chunks_exact(most * self.depth);
        let mut block = [0.0; MOST_SUMS];
        for (tile, a) in tiles.enumerate() {
            for (col, panel, sums) in self.group.iter_mut() {
                let first = *col / most;
                if let Some(at) = tile.checked_sub(first) {
                    multiply(simd, most, a, panel, &mut block[..size]);
                    let sums = &mut sums[at * size..][..size];
                    for (sum, &block) in sums.iter_mut().zip(&block) {
                        *sum += f64::from(block);
                    }
                }
            }
        }
    }
}
