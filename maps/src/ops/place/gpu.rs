//! Blocks moved on a GPU.

use super::Spot;
use crate::{
    Error, Result,
    device::{Device, GpuDevice, Matrix, gpu::Dispatch},
    ops::{Binding, Op, Variant, dispatch::narrow},
};
use ndarray::ArrayView2;

/// Rows of one workgroup.
const ROWS: u32 = 8;

/// The op for the registry.
pub(crate) static OP: Op = Op {
    name: "place",
    source: bochner_shaders::PLACE,
    params_bytes: size_of::<Params>(),
    bindings: &[
        Binding::Read("source"),
        Binding::Read("factor"),
        Binding::Write("place"),
    ],
    variants: || vec![variant()],
};

fn variant() -> Variant {
    Variant::new([("ROWS", ROWS.into())])
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

/// Pairs of scale and shift in one row.
#[derive(Debug)]
pub(super) struct Factors {
    gpu: GpuDevice,
    cols: usize,
    factor: Matrix,
}

impl Factors {
    pub(super) fn upload(gpu: &GpuDevice, factors: &[[f32; 2]]) -> Result<Self> {
        let row = ArrayView2::from_shape((1, 2 * factors.len()), factors.as_flattened())
            .map_err(|e| Error::shape(e.to_string()))?;
        Ok(Self {
            gpu: gpu.clone(),
            cols: factors.len(),
            factor: Matrix::upload(&Device::Gpu(gpu.clone()), row)?,
        })
    }

    pub(super) fn run(&self, spot: Spot, source: &Matrix, place: &mut Matrix) -> Result<()> {
        let gpu = &self.gpu;
        // Counted in floats, not vec4s: blocks start and end anywhere.
        let source_start = spot.source_row * source.stride() + spot.source_col;
        let params = Params {
            rows: narrow(spot.rows)?,
            cols: narrow(self.cols)?,
            source_start: narrow(source_start)?,
            source_stride: narrow(source.stride())?,
            place_start: narrow(spot.col)?,
            place_stride: narrow(place.stride())?,
            add: u32::from(spot.add),
        };
        gpu.dispatch(&Dispatch {
            op: &OP,
            variant: variant(),
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
