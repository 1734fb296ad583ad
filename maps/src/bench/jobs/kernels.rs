//! Blocks of exact kernels, Nystrom features, and random binning.

use super::{Job, block_rows, blocks, draw, form_name, head, relative, way};
use crate::{
    Device, Matrix, Result,
    bench::{COMPARED_ROWS, Shape},
    features::{Affine, Binning, FeatureMap, Landmarks, LoadedMap, Nystrom, NystromFeatures},
    form::DenseForm,
    kernels::{Gaussian, Laplacian},
    ops::{
        binning::{self, Grids},
        kernel_block::{self, KernelBlock},
    },
};
use ndarray::{Array2, s};
use std::sync::Arc;

struct Block {
    op: KernelBlock,
    landmarks: Array2<f32>,
    rows: usize,
    block: usize,
    x_nd: Matrix,
    k_nm: Matrix,
}

/// Rows at which a Gaussian kernel is neither 0 nor 1.
fn rows_of_kernel(rows: usize, dim: usize, start: usize) -> Array2<f32> {
    draw(rows, dim, (1.0 / dim as f32).sqrt(), start)
}

pub(in crate::bench) fn kernel_block(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    let (d, m) = (shape.dim, shape.features);
    let block = block_rows(device, shape.rows, d.max(m), d + m)?;
    let landmarks = rows_of_kernel(m, d, 23);
    Ok(Box::new(Block {
        op: KernelBlock::load(device, Arc::new(Gaussian), landmarks.view())?,
        landmarks,
        rows: shape.rows,
        block,
        x_nd: Matrix::upload(device, rows_of_kernel(block, d, 29).view())?,
        k_nm: Matrix::new(device, block, m)?,
    }))
}

impl Job for Block {
    fn run(&mut self) -> Result<()> {
        for rows in blocks(self.rows, self.block) {
            self.x_nd.set_rows(rows)?;
            self.k_nm.set_rows(rows)?;
            self.op.run(&self.x_nd, &mut self.k_nm)?;
        }
        Ok(())
    }

    fn error(&mut self) -> Result<f64> {
        self.x_nd.set_rows(self.block)?;
        self.k_nm.set_rows(self.block)?;
        self.op.run(&self.x_nd, &mut self.k_nm)?;
        let rows = COMPARED_ROWS.min(self.block);
        let got = head(&mut self.k_nm, rows)?;
        let x = rows_of_kernel(rows, self.landmarks.ncols(), 29);
        let reference = kernel_block::reference(&Gaussian, x.view(), self.landmarks.view());
        Ok(relative(got.view(), reference.view()))
    }

    fn tile(&self) -> String {
        form_name(self.op.tile().map(DenseForm::Tile))
    }

    fn blocks(&self) -> usize {
        self.rows.div_ceil(self.block)
    }
}

struct NystromMap {
    map: NystromFeatures,
    loaded: Box<dyn LoadedMap>,
    rows: usize,
    block: usize,
    x_nd: Matrix,
    z_nr: Matrix,
}

pub(in crate::bench) fn nystrom(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    let (d, m) = (shape.dim, shape.features);
    let landmarks = rows_of_kernel(m, d, 23).mapv(f64::from);
    let map = Nystrom::new(Gaussian).landmarks(Landmarks::Rows(landmarks));
    let map = map.build(Affine::identity(d), Array2::<f32>::zeros((0, d)))?;
    let r = map.output_dim();
    let block = block_rows(device, shape.rows, d.max(m), d + m + r)?;
    Ok(Box::new(NystromMap {
        loaded: map.load(device)?,
        rows: shape.rows,
        block,
        x_nd: Matrix::upload(device, rows_of_kernel(block, d, 29).view())?,
        z_nr: Matrix::new(device, block, r)?,
        map,
    }))
}

impl Job for NystromMap {
    fn run(&mut self) -> Result<()> {
        for rows in blocks(self.rows, self.block) {
            self.x_nd.set_rows(rows)?;
            self.z_nr.set_rows(rows)?;
            self.loaded.featurize(&self.x_nd, &mut self.z_nr)?;
        }
        Ok(())
    }

    fn error(&mut self) -> Result<f64> {
        self.x_nd.set_rows(self.block)?;
        self.z_nr.set_rows(self.block)?;
        self.loaded.featurize(&self.x_nd, &mut self.z_nr)?;
        let rows = COMPARED_ROWS.min(self.block);
        let got = head(&mut self.z_nr, rows)?;
        let x = rows_of_kernel(rows, self.map.landmarks().ncols(), 29);
        let block = kernel_block::reference(&Gaussian, x.view(), self.map.landmarks());
        let reference = block.dot(&self.map.root().mapv(f64::from));
        Ok(relative(got.view(), reference.view()))
    }

    fn tile(&self) -> String {
        way(self.x_nd.device(), || "block, product".into())
    }

    fn blocks(&self) -> usize {
        self.rows.div_ceil(self.block)
    }
}

struct Bins {
    op: binning::GridHash,
    grids: Grids,
    rows: usize,
    block: usize,
    x_nd: Matrix,
    hash: Matrix,
}

/// Rows within a few lengthscales of each other.
fn rows_of_bins(rows: usize, dim: usize) -> Array2<f32> {
    draw(rows, dim, 2.0 / dim as f32, 31)
}

pub(in crate::bench) fn binning(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    let (d, grids) = (shape.dim, shape.features);
    let block = block_rows(device, shape.rows, d.max(2 * grids), d + 2 * grids)?;
    let drawn = Binning::new(Laplacian).grids(grids);
    let grids = drawn.draw(Affine::identity(d))?.parameters().clone();
    let op = binning::GridHash::load(device, &grids)?;
    Ok(Box::new(Bins {
        hash: op.output(block)?,
        op,
        grids,
        rows: shape.rows,
        block,
        x_nd: Matrix::upload(device, rows_of_bins(block, d).view())?,
    }))
}

impl Job for Bins {
    fn run(&mut self) -> Result<()> {
        for rows in blocks(self.rows, self.block) {
            self.hash.set_rows(rows)?;
            self.op.run(&self.x_nd, 0, &mut self.hash)?;
        }
        Ok(())
    }

    /// The share of hashes that differ: zero or wrong.
    fn error(&mut self) -> Result<f64> {
        self.hash.set_rows(self.block)?;
        self.op.run(&self.x_nd, 0, &mut self.hash)?;
        let rows = COMPARED_ROWS.min(self.block);
        let got = binning::download(&self.hash)?;
        let exact = binning::reference(
            &self.grids,
            rows_of_bins(rows, self.grids.inverse_dp.nrows()).view(),
        );
        let got = got.slice(s![..rows, ..]);
        let wrong = got.iter().zip(&exact).filter(|(got, exact)| got != exact);
        Ok(wrong.count() as f64 / exact.len() as f64)
    }

    fn tile(&self) -> String {
        way(self.x_nd.device(), || "grids".into())
    }

    fn blocks(&self) -> usize {
        self.rows.div_ceil(self.block)
    }
}
