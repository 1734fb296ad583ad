//! Binned rows: one column number per row and grid in memory.

use super::FeatureProducts;
use crate::{
    Result,
    features::{BinningMap, UNSEEN},
    parallel,
};
use ndarray::{Array2, ArrayView2, Axis, s};

/// Rows per unit of parallel work.
const BLOCK: usize = 2048;

/// The column numbers of n rows in P grids, `4 n P` bytes, grid after grid.
#[derive(Debug)]
pub struct BinnedRows {
    pub(super) rows: usize,
    /// One vector of n per grid.
    pub(super) grids: Vec<Vec<u32>>,
    pub(super) starts: Vec<usize>,
    pub(super) offset: usize,
    pub(super) value: f64,
}

/// Callback for a grid: the columns of its rows, its first column, and its part of each row of
/// sums.
type Work<'w> = dyn Fn(&[u32], u32, &mut [&mut [f64]]) + Sync + 'w;

impl BinnedRows {
    /// Starts without rows. The columns of the map start at column `offset`, and its features are
    /// multiplied by `root` (the root of a weight).
    pub fn new(map: &BinningMap, offset: usize, root: f64) -> Self {
        Self {
            rows: 0,
            grids: vec![Vec::new(); map.grids()],
            starts: map.grid_starts(),
            offset,
            value: root * map.value(),
        }
    }

    /// Number of grids, P.
    pub fn grids(&self) -> usize {
        self.grids.len()
    }

    /// Appends rows, `[rows, P]`, from [`BinningMap::indices`]. Panics on another number of grids.
    pub fn push(&mut self, indices_np: ArrayView2<'_, u32>) {
        assert_eq!(
            indices_np.ncols(),
            self.grids.len(),
            "another number of grids"
        );
        self.rows += indices_np.nrows();
        parallel::usual().parts(&mut self.grids, &|g, grid| {
            grid.extend(indices_np.column(g));
        });
    }

    /// Calls `work` for each grid, with its range of columns in each of the `rows`.
    fn each_grid(&self, rows: Vec<&mut [f64]>, work: &Work<'_>) {
        let mut rests: Vec<_> = rows.into_iter().map(|r| &mut r[self.offset..]).collect();
        let mut jobs = Vec::with_capacity(self.grids.len());
        for (grid, range) in self.grids.iter().zip(self.starts.windows(2)) {
            let mut own = Vec::with_capacity(rests.len());
            for rest in &mut rests {
                let (left, right) = std::mem::take(rest).split_at_mut(range[1] - range[0]);
                own.push(left);
                *rest = right;
            }
            jobs.push((grid, range[0] as u32, own));
        }
        parallel::usual().parts(&mut jobs, &|_, (grid, first, own)| work(grid, *first, own));
    }

    /// Adds the products of W targets: each row index is read once for all of them.
    fn add_products<const W: usize>(&self, beta: [&[f64]; W], r: [&mut [f64]; W]) {
        let first = self.offset;
        let bins = self.columns() - first;
        let beta: Vec<[f64; W]> = (0..bins)
            .map(|j| std::array::from_fn(|k| beta[k][first + j]))
            .collect();
        let mut sums = vec![[0.0; W]; self.rows];
        let mut blocks: Vec<_> = sums.chunks_mut(BLOCK).collect();
        parallel::usual().parts(&mut blocks, &|b, sums| {
            for grid in &self.grids {
                for (sum, &column) in sums.iter_mut().zip(&grid[b * BLOCK..]) {
                    // UNSEEN is larger than every column.
                    if let Some(beta) = beta.get(column as usize) {
                        sum.iter_mut().zip(beta).for_each(|(sum, b)| *sum += b);
                    }
                }
            }
        });
        for (k, r) in r.into_iter().enumerate() {
            r.iter_mut()
                .zip(&sums)
                .for_each(|(r, sum)| *r += self.value * sum[k]);
        }
    }

    /// Writes the transposed products of W targets.
    fn write_transposed<const W: usize>(&self, r: [&[f64]; W], out: Vec<&mut [f64]>) {
        let r: Vec<[f64; W]> = (0..self.rows)
            .map(|i| std::array::from_fn(|k| r[k][i]))
            .collect();
        self.each_grid(out, &|grid, first, own| {
            let mut sums = vec![[0.0; W]; own[0].len()];
            for (&column, r) in grid.iter().zip(&r).filter(|(c, _)| **c != UNSEEN) {
                let sum = &mut sums[(column - first) as usize];
                sum.iter_mut().zip(r).for_each(|(sum, r)| *sum += r);
            }
            for (k, out) in own.iter_mut().enumerate() {
                out.iter_mut()
                    .zip(&sums)
                    .for_each(|(out, sum)| *out = self.value * sum[k]);
            }
        });
    }

    /// Adds `z_i w_i` of every row i to `sum_d`, one row after another.
    pub(crate) fn add_weighted(&self, weight_n: &[f64], sum_d: &mut [f64]) {
        self.each_grid(vec![sum_d], &|grid, first, own| {
            for (&column, w) in grid.iter().zip(weight_n).filter(|(c, _)| **c != UNSEEN) {
                own[0][(column - first) as usize] += self.value * w;
            }
        });
    }

    /// Adds targets `k ..` together, as many as fill vectors; returns their number.
    fn add_some(&self, k: usize, beta_td: ArrayView2<'_, f64>, r_tn: &mut Array2<f64>) -> usize {
        macro_rules! of {
            ($w:literal) => {{
                let mut rows = r_tn.axis_iter_mut(Axis(0)).skip(k);
                let r = std::array::from_fn(|_| {
                    let row = rows.next().expect("a target");
                    row.into_slice().expect("standard layout")
                });
                let beta = std::array::from_fn(|i| slice(&beta_td, k + i));
                self.add_products::<$w>(beta, r);
                $w
            }};
        }
        match beta_td.nrows() - k {
            8.. => of!(8),
            4.. => of!(4),
            2.. => of!(2),
            _ => of!(1),
        }
    }

    fn transpose_some(
        &self,
        k: usize,
        r_tn: ArrayView2<'_, f64>,
        out_td: &mut Array2<f64>,
    ) -> usize {
        macro_rules! of {
            ($w:literal) => {{
                let rows = out_td.axis_iter_mut(Axis(0)).skip(k).take($w);
                let out = rows.map(|row| row.into_slice().expect("standard layout"));
                let r = std::array::from_fn(|i| slice(&r_tn, k + i));
                self.write_transposed::<$w>(r, out.collect());
                $w
            }};
        }
        match r_tn.nrows() - k {
            8.. => of!(8),
            4.. => of!(4),
            2.. => of!(2),
            _ => of!(1),
        }
    }
}

fn slice<'a>(array: &'a ArrayView2<'_, f64>, k: usize) -> &'a [f64] {
    array.slice(s![k, ..]).to_slice().expect("standard layout")
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
        let mut k = 0;
        while k < beta_td.nrows() {
            k += self.add_some(k, beta_td, r_tn);
        }
        Ok(())
    }

    fn transposed(&mut self, r_tn: ArrayView2<'_, f64>, out_td: &mut Array2<f64>) -> Result<()> {
        let mut k = 0;
        while k < r_tn.nrows() {
            k += self.transpose_some(k, r_tn, out_td);
        }
        Ok(())
    }

    fn moments(&mut self, out_2d: &mut Array2<f64>) -> Result<()> {
        for (power, value) in [self.value, self.value * self.value]
            .into_iter()
            .enumerate()
        {
            self.each_grid(vec![row(out_2d, power)], &|grid, first, own| {
                let out = &mut own[0];
                out.fill(0.0);
                for &column in grid.iter().filter(|&&c| c != UNSEEN) {
                    out[(column - first) as usize] += value;
                }
            });
        }
        Ok(())
    }
}
