//! A binning map on a device: hashes there, dictionary and sums on the host.

use super::{BinningMap, Dictionary, DrawnGrids, UNSEEN};
use crate::{
    Device, Error, Matrix, Result,
    data::Rows,
    features::LoadedMap,
    flow::{Portions, RowNeeds, Run},
    ops::binning::{GridHash, Grids, download},
    parallel,
};
use ndarray::{Array2, ArrayView2, s};
use std::ops::Range;

/// Hashes that are read back at a time.
const BLOCK_HASHES: usize = 1 << 20;

/// The op with its output, for blocks of rows.
#[derive(Debug)]
pub(super) struct Hasher {
    op: GridHash,
    hash: Matrix,
    block: usize,
}

impl Hasher {
    pub(super) fn load(device: &Device, grids: &Grids) -> Result<Self> {
        let op = GridHash::load(device, grids)?;
        let block = (BLOCK_HASHES / op.grids()).clamp(1, 65_536);
        Ok(Self {
            hash: op.output(block)?,
            op,
            block,
        })
    }

    /// Hands over the hashes of all rows of `x`, block after block, with the number of the block's
    /// first row.
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

/// Raw rows on their way to hashes, in portions that the device has room for.
#[derive(Debug)]
pub(super) struct HashedRows<'m> {
    work: Work<'m>,
    portions: Portions,
}

/// The grids and where rows go before they are hashed.
#[derive(Debug)]
struct Work<'m> {
    drawn: &'m DrawnGrids,
    device: Device,
    hasher: Hasher,
    x_nd: Option<Matrix>,
}

impl<'m> HashedRows<'m> {
    /// Loads the grids, for the chunks of `run` from a source with so many target columns. Hashes
    /// are read back in blocks of their own.
    pub(super) fn new(drawn: &'m DrawnGrids, targets: usize, run: &Run) -> Result<Self> {
        let device = &run.device;
        let columns = drawn.input.columns();
        let needs = RowNeeds::read(columns + targets).matrix(device, columns);
        let portions = Portions::new(needs.rows_of(run)?);
        Ok(Self {
            work: Work {
                drawn,
                device: device.clone(),
                hasher: Hasher::load(device, &drawn.grids)?,
                x_nd: None,
            },
            portions,
        })
    }

    /// Rows that are worked on at a time.
    pub(super) fn chunk_rows(&self) -> usize {
        self.portions.rows()
    }

    /// Hands over the hashes of all rows, block after block, with the number of the block's first
    /// row. Rows for which the device has no room come again, some of them twice: what is taken
    /// twice must be as if it came once.
    pub(super) fn each_block(
        &mut self,
        rows: &Rows,
        mut take: impl FnMut(usize, ArrayView2<'_, u64>) -> Result<()>,
    ) -> Result<()> {
        let prepare = |work: &mut Work<'_>, range: Range<usize>, most| {
            let (from, part) = (range.start, rows.part(range));
            work.each_block(&part, most, |row0, hashes| take(from + row0, hashes))
        };
        self.portions
            .for_each_range(rows.nrows(), &mut self.work, prepare, |_, _, ()| Ok(()))
    }
}

impl Work<'_> {
    fn each_block(
        &mut self,
        rows: &Rows,
        most: usize,
        take: impl FnMut(usize, ArrayView2<'_, u64>) -> Result<()>,
    ) -> Result<()> {
        let input = &self.drawn.input;
        let room = rows.nrows()..=most;
        if !matches!(&self.x_nd, Some(x_nd) if room.contains(&x_nd.capacity_rows())) {
            // The old one first, so that a pool can hand it out again.
            self.x_nd = None;
        }
        let x_nd = match &mut self.x_nd {
            Some(x_nd) => x_nd,
            none => none.insert(Matrix::new(&self.device, rows.nrows(), input.columns())?),
        };
        input.load(rows, x_nd)?;
        self.hasher.each_block(x_nd, take)
    }
}

/// A [`BinningMap`] on a device, with its buffers.
#[derive(Debug)]
#[doc(hidden)]
pub struct Binner<'m> {
    map: &'m BinningMap,
    hashed: HashedRows<'m>,
}

impl<'m> Binner<'m> {
    pub(super) fn new(map: &'m BinningMap, run: &Run) -> Result<Self> {
        Ok(Self {
            map,
            hashed: HashedRows::new(&map.drawn, 0, run)?,
        })
    }

    /// As [`BinningMap::indices`].
    pub fn indices(&mut self, rows: &Rows) -> Result<Array2<u32>> {
        let mut all = Array2::from_elem((rows.nrows(), self.map.grids()), UNSEEN);
        self.hashed.each_block(rows, |row0, hashes| {
            let out = all.slice_mut(s![row0..row0 + hashes.nrows(), ..]);
            self.map.dictionary.look_up(hashes, out);
            Ok(())
        })?;
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
            let columns = (columns, hashes.ncols());
            parallel::at_least(64).pairs(sums, targets, columns, &|sums, columns| {
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
