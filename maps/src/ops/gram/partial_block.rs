//! Rows on a GPU that wait for the rest of their block: a block is one of all rows, however these
//! come in chunks, so that chunks change no bit of the sums.

use super::BLOCK_ROWS;
use crate::{
    Result,
    device::{Device, GpuDevice, Matrix},
};
use std::ops::Range;

/// Fewer rows than a block has, from its first on.
#[derive(Debug)]
pub(super) struct PartialBlock {
    pub(super) z_nd: Matrix,
    pub(super) y_nt: Matrix,
}

impl PartialBlock {
    pub(super) fn new(gpu: &GpuDevice, features: usize, targets: usize) -> Result<Self> {
        let device = Device::Gpu(gpu.clone());
        let empty = |columns| {
            let mut matrix = Matrix::new(&device, BLOCK_ROWS, columns)?;
            matrix.set_rows(0)?;
            Ok(matrix)
        };
        Ok(Self {
            z_nd: empty(features)?,
            y_nt: empty(targets)?,
        })
    }

    /// How many there are.
    pub(super) fn rows(&self) -> usize {
        self.z_nd.rows()
    }

    /// Takes some rows of a chunk behind those that are there.
    pub(super) fn take(
        &mut self,
        gpu: &GpuDevice,
        chunk: [&Matrix; 2],
        rows: Range<usize>,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        for (to, from) in [&mut self.z_nd, &mut self.y_nt].into_iter().zip(chunk) {
            let (stride, at) = (from.stride(), to.rows());
            to.set_rows(at + rows.len())?;
            let floats = stride * rows.start..stride * rows.end;
            let (from, to) = (from.gpu(gpu, "a chunk")?, to.gpu(gpu, "its rows")?);
            gpu.copy_floats(from, floats, to, stride * at)?;
        }
        Ok(())
    }

    /// There are none any more.
    pub(super) fn clear(&mut self) -> Result<()> {
        self.z_nd.set_rows(0)?;
        self.y_nt.set_rows(0)
    }
}
