//! Kernel blocks on the CPU: in f32 where the kernel has a form, else in f64 through the kernel
//! itself.

mod elementary;
mod forms;
mod products;
mod tiles;

use super::{Level, Scaled};
use crate::{
    Result,
    device::{CpuDevice, Matrix},
    kernels::{BlockForm, Kernel},
    ops::product::RightFactor,
    parallel,
    simd::rows_per_block,
};
use forms::LANES;
use ndarray::ArrayView2;
use products::Products;
use std::sync::Arc;

/// A kernel and its landmarks.
#[derive(Debug)]
pub(super) struct Landmarks {
    cpu: CpuDevice,
    depth: usize,
    count: usize,
    level: Level,
    layout: Layout,
}

#[derive(Debug)]
enum Layout {
    /// Tiles `[ceil(m / 16), d, 16]` and the lengths, padded with zeros.
    Tiles {
        form: BlockForm,
        tiles: Vec<f32>,
        lengths: Vec<f32>,
    },
    /// Long landmarks of a kernel of their distance.
    Products(Products),
    /// One row after another, for a kernel without a form.
    Rows {
        kernel: Arc<dyn Kernel>,
        rows: Vec<Vec<f64>>,
        /// What its values are measured from.
        base: f64,
    },
}

fn wide(row: &[f32]) -> Vec<f64> {
    row.iter().map(|&v| f64::from(v)).collect()
}

impl Landmarks {
    pub(super) fn in_f32(
        cpu: &CpuDevice,
        form: BlockForm,
        level: Level,
        landmarks: &Scaled<'_>,
    ) -> Self {
        let (count, depth) = landmarks.landmarks_md.dim();
        let layout = match Products::new(form, level, landmarks.landmarks_md) {
            Some(products) => Layout::Products(products),
            None => Self::tiles(form, landmarks),
        };
        Self {
            cpu: cpu.clone(),
            depth,
            count,
            level,
            layout,
        }
    }

    fn tiles(form: BlockForm, landmarks: &Scaled<'_>) -> Layout {
        let (count, depth) = landmarks.landmarks_md.dim();
        let tiles = 0..count.div_ceil(LANES);
        // Sixteen landmarks beside each other for every column of x: one value of x meets a whole
        // vector of them.
        let tile = |tile: usize| {
            let values = (0..depth).flat_map(move |c| (0..LANES).map(move |lane| (lane, c)));
            values.map(move |(lane, c)| landmarks.value(tile * LANES + lane, c))
        };
        let padded = 0..count.next_multiple_of(LANES);
        Layout::Tiles {
            form,
            tiles: tiles.flat_map(tile).collect(),
            lengths: padded.map(|j| landmarks.length(j)).collect(),
        }
    }

    pub(super) fn in_f64(
        cpu: &CpuDevice,
        kernel: Arc<dyn Kernel>,
        level: Level,
        landmarks_md: ArrayView2<'_, f32>,
    ) -> Self {
        let (count, depth) = landmarks_md.dim();
        let rows = landmarks_md.rows().into_iter();
        let rows = rows.map(|row| row.iter().map(|&v| f64::from(v)).collect());
        let rows: Vec<Vec<f64>> = rows.collect();
        let base = match level {
            Level::Zero => 0.0,
            Level::Top => kernel.evaluate(&rows[0], &rows[0]),
        };
        Self {
            cpu: cpu.clone(),
            depth,
            count,
            level,
            layout: Layout::Rows { kernel, rows, base },
        }
    }

    fn width(&self) -> usize {
        self.level.columns(self.count)
    }

    /// Writes the block of all rows of x.
    pub(super) fn run(&self, x_nd: &Matrix, k_nm: &mut Matrix) -> Result<()> {
        let (rows, width) = (x_nd.rows(), self.width());
        let x = x_nd.cpu("x")?;
        let k = k_nm.cpu_mut("the kernel block")?;
        let block = rows_per_block(rows, self.cpu.threads());
        self.cpu.install(|| {
            let x = (x, block * self.depth);
            parallel::usual().pairs(k, block * width, x, &|k, x| self.block(x, k));
        });
        Ok(())
    }

    /// Writes the block times `b`, of which a part stays in cache.
    pub(super) fn times(&self, x_nd: &Matrix, b_mt: &Matrix, out_nt: &mut Matrix) -> Result<()> {
        let (rows, width, cols) = (x_nd.rows(), self.width(), b_mt.cols());
        let x = x_nd.cpu("x")?;
        let b = RightFactor::new(b_mt.cpu("the right factor")?, width, cols);
        let out = out_nt.cpu_mut("the product")?;
        // Few enough rows for the block of k to stay in cache.
        let block = rows_per_block(rows, self.cpu.threads()).min(128);
        self.cpu.install(|| {
            let (x, size) = ((x, block * self.depth), block * cols.max(1));
            parallel::usual().pairs_with_room(out, size, x, &|[k, _], out, x| {
                k.resize(x.len() / self.depth * width, 0.0);
                self.block(x, k);
                b.times(k, out);
            });
        });
        Ok(())
    }

    /// Whole rows on one thread.
    fn block(&self, x: &[f32], k: &mut [f32]) {
        match &self.layout {
            Layout::Tiles {
                form,
                tiles,
                lengths,
            } => tiles::Block {
                form: *form,
                level: self.level,
                x,
                d: self.depth,
                packed: tiles,
                norm: lengths,
                landmarks: self.count,
                k,
            }
            .write(),
            Layout::Products(products) => products.write(x, k),
            Layout::Rows { kernel, rows, base } => {
                let each = x.chunks_exact(self.depth);
                for (x, k) in each.zip(k.chunks_exact_mut(self.width())) {
                    // Once a row: kernels take f64.
                    let x = wide(x);
                    // From the top there is a column more.
                    k[self.width() - 1] = 1.0;
                    for (k, y) in k.iter_mut().zip(rows) {
                        *k = (kernel.evaluate(&x, y) - base) as f32;
                    }
                }
            }
        }
    }
}
