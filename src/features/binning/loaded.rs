//! A binning map on a device: hashes there, dictionary and sums on the host.

use super::{BinningMap, Dictionary, UNSEEN};
use crate::{
    Device, Error, Matrix, Result,
    data::Rows,
    features::{FeatureMap, LoadedMap},
    ops::binning::{Binning as Op, Grids, download},
    stream::Portions,
};
use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

/// Hashes that are read back at a time.
const BLOCK_HASHES: usize = 1 << 20;

/// The op with its output, for blocks of rows.
#[derive(Debug)]
pub(super) struct Hasher {
    op: Op,
    hash: Matrix,
    block: usize,
}

impl Hasher {
    pub(super) fn load(device: &Device, grids: &Grids) -> Result<Self> {
        let op = Op::load(device, grids)?;
        let block = (BLOCK_HASHES / op.grids()).clamp(1, 65_536);
        Ok(Self {
            hash: op.output(block)?,
            op,
            block,
        })
    }

    pub(super) fn grids(&self) -> usize {
        self.op.grids()
    }

    /// Hands over the hashes of all rows of `x`, block after block, with the number of the block's first row.
    pub(super) fn each_block(
        &mut self,
        x_nd: &Matrix,
        mut take: impl FnMut(usize, ArrayView2<'_, u64>) -> Result<()>,
    ) -> Result<()> {
        for row0 in (0..x_nd.rows()).step_by(self.block) {
            self.hash.set_rows(self.block.min(x_nd.rows() - row0))?;
            self.op.run(x_nd, row0, &mut self.hash)?;
            take(row0, download(&self.hash)?.view())?;
        }
        Ok(())
    }
}

/// A [`BinningMap`] on a device, with its buffers.
#[derive(Debug)]
pub struct Binner<'m> {
    map: &'m BinningMap,
    hasher: Hasher,
    x_nd: Matrix,
}

impl<'m> Binner<'m> {
    pub(super) fn new(map: &'m BinningMap, device: &Device, rows: usize) -> Result<Self> {
        let hasher = Hasher::load(device, &map.drawn.grids)?;
        let mut portions = Portions::new(rows);
        loop {
            match Matrix::new(device, portions.rows(), map.input_dim()) {
                Ok(x_nd) => return Ok(Self { map, hasher, x_nd }),
                Err(error) => portions.shrink(portions.rows(), error)?,
            }
        }
    }

    /// Rows that are worked on at a time.
    pub fn chunk_rows(&self) -> usize {
        self.x_nd.capacity_rows()
    }

    /// As [`BinningMap::indices`].
    pub fn indices(&mut self, rows: &Rows) -> Result<Array2<u32>> {
        let mut all = Array2::from_elem((rows.nrows(), self.map.grids()), UNSEEN);
        let chunk = self.chunk_rows();
        for from in (0..rows.nrows()).step_by(chunk) {
            let part = rows.slice(from..rows.nrows().min(from + chunk));
            self.map.drawn.input.load(&part, &mut self.x_nd)?;
            self.hasher.each_block(&self.x_nd, |row0, hashes| {
                let at = from + row0;
                let out = all.slice_mut(s![at..at + hashes.nrows(), ..]);
                self.map.dictionary.look_up(hashes, out);
                Ok(())
            })?;
        }
        Ok(all)
    }
}

/// What predicts.
#[derive(Debug)]
pub(super) struct LoadedBinning {
    hasher: Hasher,
    dictionary: Dictionary,
    value: f64,
    indices: Array2<u32>,
    sums: Vec<f64>,
}

impl LoadedBinning {
    pub(super) fn new(map: &BinningMap, device: &Device) -> Result<Self> {
        Ok(Self {
            hasher: Hasher::load(device, &map.drawn.grids)?,
            dictionary: map.dictionary.clone(),
            value: map.value(),
            indices: Array2::zeros((0, map.grids())),
            sums: Vec::new(),
        })
    }
}

impl LoadedMap for LoadedBinning {
    fn featurize(&mut self, _x_nd: &Matrix, _z_nd: &mut Matrix) -> Result<()> {
        Err(super::super::not_dense("binning"))
    }

    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        let (rows, targets) = (x_nd.rows(), beta_dt.cols());
        if beta_dt.rows() != self.dictionary.bins() || (y_nt.rows(), y_nt.cols()) != (rows, targets)
        {
            return Err(Error::shape(format!(
                "{} x {targets} coefficients for {} bins, y is {} x {}",
                beta_dt.rows(),
                self.dictionary.bins(),
                y_nt.rows(),
                y_nt.cols()
            )));
        }
        if rows == 0 || targets == 0 {
            return Ok(());
        }
        let beta_dt = beta_dt.download()?;
        let Self {
            hasher,
            dictionary,
            value,
            indices,
            sums,
        } = self;
        sums.clear();
        sums.resize(rows * targets, 0.0);
        hasher.each_block(x_nd, |row0, hashes| {
            let n = hashes.nrows();
            if indices.nrows() < n {
                *indices = Array2::zeros((n, hashes.ncols()));
            }
            dictionary.look_up(hashes, indices.slice_mut(s![..n, ..]));
            let sums = &mut sums[row0 * targets..(row0 + n) * targets];
            let columns = indices.as_slice().expect("standard layout");
            sums.par_chunks_mut(targets)
                .zip(columns.par_chunks(hashes.ncols()))
                .with_min_len(64)
                .for_each(|(sums, columns)| {
                    for &column in columns.iter().filter(|&&c| c != UNSEEN) {
                        let beta = beta_dt.row(column as usize);
                        for (sum, &b) in sums.iter_mut().zip(&beta) {
                            *sum += f64::from(b);
                        }
                    }
                    sums.iter_mut().for_each(|sum| *sum *= *value);
                });
            Ok(())
        })?;
        let y = Array2::from_shape_fn((rows, targets), |(i, k)| sums[i * targets + k] as f32);
        y_nt.write(y.view())
    }
}
