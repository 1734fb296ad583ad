//! Chi-squared features on a GPU: an invocation takes a number through all samples.

use super::Samples;
use crate::{
    Error, Result,
    device::{Device, GpuDevice, Matrix, gpu::Dispatch},
    ops::{
        Binding, Op, Variant,
        dispatch::{moved, narrow},
    },
};
use ndarray::ArrayView2;

/// Rows of one workgroup.
const ROWS: u32 = 4;

/// The op for the registry.
pub(crate) static OP: Op = Op {
    name: "additive_chi2",
    source: bochner_shaders::ADDITIVE_CHI2,
    params_bytes: size_of::<Params>(),
    bindings: &[
        Binding::Read("x"),
        Binding::Read("samples"),
        Binding::Write("z"),
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
    count: u32,
    x_stride: u32,
    z_stride: u32,
}

pub(super) fn run(
    gpu: &GpuDevice,
    samples: Samples,
    x_nd: &Matrix,
    z_nd: &mut Matrix,
) -> Result<()> {
    let table = samples.table();
    let table = ArrayView2::from_shape((1, table.len()), &table)
        .map_err(|e| Error::shape(e.to_string()))?;
    let table = Matrix::upload(&Device::Gpu(gpu.clone()), table)?;
    let params = Params {
        rows: narrow(x_nd.rows())?,
        cols: narrow(x_nd.cols())?,
        count: narrow(samples.count)?,
        x_stride: narrow(x_nd.stride())?,
        z_stride: narrow(z_nd.stride())?,
    };
    gpu.dispatch(&Dispatch {
        op: &OP,
        variant: variant(),
        params: bytemuck::bytes_of(&params),
        buffers: &[
            x_nd.gpu(gpu, "x")?,
            table.gpu(gpu, "the samples")?,
            z_nd.gpu(gpu, "z")?,
        ],
        workgroups: [params.cols.div_ceil(64), params.rows.div_ceil(ROWS), 1],
        work: moved(z_nd),
    })
}
