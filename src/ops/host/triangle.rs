//! The lower triangle of `Z'Z` and all of `Z'Y`, summed in f32 in registers over blocks of rows and in f64 over blocks.

use super::{
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
    /// The block in work, in panels of columns and in tiles of rows of the result; both depth-major.
    panels: Aligned,
    tiles: Aligned,
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
            panels: Aligned::default(),
            tiles: Aligned::default(),
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
        let (width, group) = (panel_columns(), group_columns());
        let len = (d + t).next_multiple_of(group) * depth;
        let (panels, tiles) = (self.panels.take(len), self.tiles.take(len));
        panels
            .par_chunks_mut(group * depth)
            .zip(tiles.par_chunks_mut(group * depth))
            .enumerate()
            .for_each(|(g, (panels, tiles))| pack(z, y, (d, t), g * group, panels, tiles));
        let most = most_rows(width / 2);
        let tiles = &tiles[..(d + t).next_multiple_of(most) * depth];
        let mut rest = &mut self.sums[..];
        let mut work = Vec::new();
        for (col, panel) in (0..d)
            .step_by(width)
            .zip(panels.chunks_exact(width * depth))
        {
            let (sums, tail) = rest.split_at_mut(panel_len(d + t, col));
            work.push((col, panel, sums));
            rest = tail;
        }
        work.par_chunks_mut(GROUP).for_each(|group| {
            pulp::Arch::new().dispatch(GroupSum {
                depth,
                tiles,
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

/// Columns that are whole panels and whole tiles.
fn group_columns() -> usize {
    let (width, most) = (panel_columns(), most_rows(panel_columns() / 2));
    // Tiles have 12, 6 or 4 rows; panels a power of two of columns.
    if most.is_multiple_of(3) {
        3 * width.max(4)
    } else {
        width.max(most)
    }
}

/// The most columns of a group.
const MOST_GROUP: usize = 96;

/// The group of columns of `[Z | Y]` from `first` on, in panels and in tiles, reading each row once; columns beyond the last
/// are zero.
fn pack(
    z: &[f32],
    y: &[f32],
    (d, t): (usize, usize),
    first: usize,
    panels: &mut [f32],
    tiles: &mut [f32],
) {
    let (width, most, group) = (
        panel_columns(),
        most_rows(panel_columns() / 2),
        group_columns(),
    );
    let depth = panels.len() / group;
    let mut edge = [0.0; MOST_GROUP];
    for (k, (z, y)) in z.chunks_exact(d).zip(y.chunks_exact(t)).enumerate() {
        let row = match z.get(first..first + group) {
            Some(row) => row,
            None => {
                for (c, value) in (first..first + group).zip(&mut edge) {
                    *value = match c {
                        _ if c < d => z[c],
                        _ if c < d + t => y[c - d],
                        _ => 0.0,
                    };
                }
                &edge[..group]
            }
        };
        for (part, panel) in row
            .chunks_exact(width)
            .zip(panels.chunks_exact_mut(width * depth))
        {
            panel[k * width..][..width].copy_from_slice(part);
        }
        for (part, tile) in row
            .chunks_exact(most)
            .zip(tiles.chunks_exact_mut(most * depth))
        {
            tile[k * most..][..most].copy_from_slice(part);
        }
    }
}

/// A few panels of columns, with their first columns and their sums, against all row tiles from the diagonal on.
struct GroupSum<'a, 'b> {
    depth: usize,
    tiles: &'a [f32],
    group: &'a mut [(usize, &'b [f32], &'b mut [f64])],
}

impl WithSimd for GroupSum<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let most = most_rows(S::F32_LANES);
        let size = most * 2 * S::F32_LANES;
        let tiles = self.tiles.chunks_exact(most * self.depth);
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
