//! Moves a block of one matrix to a place in another, each column scaled and shifted on the way:
//! what puts the features of several maps side by side, and prepares the rows of one map for
//! another.

pub(crate) mod check;
mod cpu;
mod gpu;

pub(crate) use gpu::OP;

use super::Loaded;
use crate::{
    Error, Result,
    device::{Device, Matrix},
};
use ndarray::{Array2, ArrayView2};

/// Which block goes where, `[rows, cols]` as large as the op's factors and the smaller of the two
/// matrices say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spot {
    /// Number of rows.
    pub rows: usize,
    /// First row of the source.
    pub source_row: usize,
    /// First column of the source.
    pub source_col: usize,
    /// First column of the place; rows go to rows `0..`.
    pub col: usize,
    /// Whether to add to what is there.
    pub add: bool,
}

/// `place[i, col + j] = source[source_row + i, source_col + j] * scale_j + shift_j`, on top of
/// `place` if `add`, in f64.
pub fn reference(
    factors: &[[f32; 2]],
    spot: Spot,
    source: ArrayView2<'_, f32>,
    place: ArrayView2<'_, f32>,
) -> Array2<f64> {
    let mut out = place.mapv(f64::from);
    for i in 0..spot.rows {
        for (j, &[scale, shift]) in factors.iter().enumerate() {
            let from = f64::from(source[[spot.source_row + i, spot.source_col + j]]);
            let value = from * f64::from(scale) + f64::from(shift);
            let to = &mut out[[i, spot.col + j]];
            *to = value + if spot.add { *to } else { 0.0 };
        }
    }
    out
}

/// Scale and shift of each column, on a device.
#[derive(Debug)]
pub struct Place {
    cols: usize,
    loaded: Loaded<cpu::Factors, gpu::Factors>,
}

impl Place {
    /// Uploads a pair (scale, shift) per column.
    pub fn load(device: &Device, factors: &[[f32; 2]]) -> Result<Self> {
        Ok(Self {
            cols: factors.len(),
            loaded: match device {
                Device::Cpu(cpu) => Loaded::Cpu(cpu::Factors::new(cpu, factors)),
                Device::Gpu(gpu) => Loaded::Gpu(gpu::Factors::upload(gpu, factors)?),
            },
        })
    }

    /// Moves a block; see [`reference()`] for the formula. What lies outside of the block stays.
    /// Errors with [`Error::Shape`] when the block does not lie within both matrices.
    pub fn run(&self, spot: Spot, source: &Matrix, place: &mut Matrix) -> Result<()> {
        let fits = spot.source_row + spot.rows <= source.rows()
            && spot.source_col + self.cols <= source.cols()
            && spot.rows <= place.rows()
            && spot.col + self.cols <= place.cols();
        if !fits {
            return Err(Error::shape(format!(
                "a block of {} x {} at {spot:?} does not lie within {} x {} and {} x {}",
                spot.rows,
                self.cols,
                source.rows(),
                source.cols(),
                place.rows(),
                place.cols()
            )));
        }
        if spot.rows == 0 || self.cols == 0 {
            return Ok(());
        }
        match &self.loaded {
            Loaded::Cpu(factors) => factors.run(spot, source, place),
            Loaded::Gpu(factors) => factors.run(spot, source, place),
        }
    }
}
