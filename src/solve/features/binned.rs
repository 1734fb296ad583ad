//! Binned rows: one column number per row and grid in memory.

use super::FeatureProducts;
use crate::{
    Result,
    features::binning::{BinningMap, UNSEEN},
};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

/// Rows that a thread sums at a time.
const BLOCK: usize = 2048;

/// The column numbers of n rows in P grids, `4 n P` bytes, grid after grid.
#[derive(Debug)]
pub struct BinnedRows {
    rows: usize,
    /// One vector of n per grid.
    grids: Vec<Vec<u32>>,
    starts: Vec<usize>,
    offset: usize,
    value: f64,
}

impl BinnedRows {
    /// No rows yet. The columns of the map begin at column `offset`, and its features are multiplied by `root` (the root of a
    /// weight).
    pub fn new(map: &BinningMap, offset: usize, root: f64) -> Self {
        Self {
            rows: 0,
            grids: vec![Vec::new(); map.grids()],
            starts: map.grid_starts(),
            offset,
            value: root * map.value(),
        }
    }

    /// Takes more rows, `[rows, P]`, as [`BinningMap::indices`] gives them. Panics on another number of grids.
    pub fn push(&mut self, indices_np: ArrayView2<'_, u32>) {
        assert_eq!(
            indices_np.ncols(),
            self.grids.len(),
            "another number of grids"
        );
        self.rows += indices_np.nrows();
        self.grids
            .par_iter_mut()
            .enumerate()
            .for_each(|(g, grid)| grid.extend(indices_np.column(g)));
    }

    /// Hands each grid, with its range of `columns`, to `work`.
    fn each_grid(&self, columns: &mut [f64], work: impl Fn(&[u32], u32, &mut [f64]) + Sync) {
        let mut rest = &mut columns[self.offset..];
        let mut jobs = Vec::with_capacity(self.grids.len());
        for (grid, range) in self.grids.iter().zip(self.starts.windows(2)) {
            let (own, after) = rest.split_at_mut(range[1] - range[0]);
            jobs.push((grid, range[0] as u32, own));
            rest = after;
        }
        jobs.into_par_iter()
            .for_each(|(grid, first, own)| work(grid, first, own));
    }
}

fn row(array: &mut Array2<f64>, k: usize) -> &mut [f64] {
    array.row_mut(k).into_slice().expect("standard layout")
}

impl FeatureProducts for BinnedRows {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.offset + self.starts.last().copied().unwrap_or(0)
    }

    fn add_product(&mut self, beta_td: ArrayView2<'_, f64>, r_tn: &mut Array2<f64>) -> Result<()> {
        for (k, beta) in beta_td.rows().into_iter().enumerate() {
            let beta = beta.to_slice().expect("standard layout");
            let beta = &beta[self.offset..];
            row(r_tn, k)
                .par_chunks_mut(BLOCK)
                .enumerate()
                .for_each(|(b, r)| {
                    let mut sums = [0.0; BLOCK];
                    for grid in &self.grids {
                        for (sum, &column) in sums.iter_mut().zip(&grid[b * BLOCK..][..r.len()]) {
                            // UNSEEN lies beyond every column.
                            *sum += beta
                                .get(column as usize)
                                .copied()
                                .filter(|_| column != UNSEEN)
                                .unwrap_or(0.0);
                        }
                    }
                    for (r, sum) in r.iter_mut().zip(sums) {
                        *r += self.value * sum;
                    }
                });
        }
        Ok(())
    }

    fn transposed(&mut self, r_tn: ArrayView2<'_, f64>, out_td: &mut Array2<f64>) -> Result<()> {
        for (k, r) in r_tn.rows().into_iter().enumerate() {
            let r = r.to_slice().expect("standard layout");
            self.each_grid(row(out_td, k), |grid, first, out| {
                out.fill(0.0);
                for (&column, &r) in grid.iter().zip(r) {
                    if column != UNSEEN {
                        out[(column - first) as usize] += r;
                    }
                }
                out.iter_mut().for_each(|v| *v *= self.value);
            });
        }
        Ok(())
    }

    fn moments(&mut self, out_2d: &mut Array2<f64>) -> Result<()> {
        for (power, value) in [self.value, self.value * self.value]
            .into_iter()
            .enumerate()
        {
            self.each_grid(row(out_2d, power), |grid, first, out| {
                out.fill(0.0);
                for &column in grid.iter().filter(|&&c| c != UNSEEN) {
                    out[(column - first) as usize] += value;
                }
            });
        }
        Ok(())
    }
}
