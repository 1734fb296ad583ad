//! Moves a block of one matrix to a place in another, each column scaled and shifted on the way:
//! what puts the features of several maps side by side, and prepares the rows of one map for
//! another.

use super::{Binding, Op};
use crate::{
    Error, Result,
    device::{
        Device, Matrix,
        gpu::{Dispatch, shader::Constants},
    },
    ops::dispatch::narrow,
};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

/// Rows of one workgroup.
const ROWS: u32 = 8;

/// The op for the registry.
pub static OP: Op = Op {
    name: "place",
    source: include_str!("../../shaders/place.wgsl"),
    params_bytes: size_of::<Params>(),
    bindings: &[
        Binding::Read("source"),
        Binding::Read("factor"),
        Binding::Write("place"),
    ],
    variants: || vec![variant()],
};

fn variant() -> (String, Constants) {
    ("64x8".into(), [("ROWS".into(), i64::from(ROWS))].into())
}

/// The uniform parameters, as in the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    rows: u32,
    cols: u32,
    source_start: u32,
    source_stride: u32,
    place_start: u32,
    place_stride: u32,
    add: u32,
}

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
    device: Device,
    cols: usize,
    factor: Matrix,
}

impl Place {
    /// Uploads a pair (scale, shift) per column.
    pub fn load(device: &Device, factors: &[[f32; 2]]) -> Result<Self> {
        let row = ArrayView2::from_shape((1, 2 * factors.len()), factors.as_flattened())
            .map_err(|e| Error::shape(e.to_string()))?;
        Ok(Self {
            device: device.clone(),
            cols: factors.len(),
            factor: Matrix::upload(device, row)?,
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
        let source_start = spot.source_row * source.stride() + spot.source_col;
        match &self.device {
            Device::Cpu(cpu) => {
                let factors: &[[f32; 2]] = bytemuck::cast_slice(self.factor.cpu("the factors")?);
                let (from_stride, to_stride) = (source.stride(), place.stride());
                let from = &source.cpu("the source")?[source_start..];
                let to = place.cpu_mut("the place")?;
                cpu.install(|| {
                    to.par_chunks_mut(to_stride)
                        .zip(from.par_chunks(from_stride))
                        .take(spot.rows)
                        .with_min_len(64)
                        .for_each(|(to, from)| {
                            let to = to[spot.col..].iter_mut().zip(from);
                            for ((to, &from), &[scale, shift]) in to.zip(factors) {
                                let value = from * scale + shift;
                                *to = if spot.add { *to + value } else { value };
                            }
                        });
                });
                Ok(())
            }
            Device::Gpu(gpu) => {
                let params = Params {
                    rows: narrow(spot.rows)?,
                    cols: narrow(self.cols)?,
                    source_start: narrow(source_start)?,
                    source_stride: narrow(source.stride())?,
                    place_start: narrow(spot.col)?,
                    place_stride: narrow(place.stride())?,
                    add: u32::from(spot.add),
                };
                let (name, constants) = variant();
                gpu.dispatch(&Dispatch {
                    op: &OP,
                    variant: &name,
                    constants: &constants,
                    params: bytemuck::bytes_of(&params),
                    buffers: &[
                        source.gpu(gpu, "the source")?,
                        self.factor.gpu(gpu, "the factors")?,
                        place.gpu(gpu, "the place")?,
                    ],
                    workgroups: [params.cols.div_ceil(64), params.rows.div_ceil(ROWS), 1],
                    work: 20.0 * (spot.rows * self.cols) as f64,
                })
            }
        }
    }
}
