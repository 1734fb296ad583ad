//! Complex products on a GPU: an invocation takes a frequency through all factors.

use super::real_parts;
use crate::{
    Result,
    device::{GpuDevice, Matrix, gpu::Dispatch},
    ops::{
        Binding, Op, Variant,
        dispatch::{moved, narrow},
    },
};

/// Rows of one workgroup.
const ROWS: u32 = 8;

/// The op for the registry.
pub(crate) static OP: Op = Op {
    name: "complex_product",
    source: bochner_shaders::COMPLEX_PRODUCT,
    params_bytes: size_of::<Params>(),
    bindings: &[Binding::Read("t"), Binding::Write("z")],
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
    real: u32,
    factors: u32,
    t_stride: u32,
    z_stride: u32,
}

pub(super) fn run(gpu: &GpuDevice, t_nf: &Matrix, factors: usize, z_ns: &mut Matrix) -> Result<()> {
    let params = Params {
        rows: narrow(z_ns.rows())?,
        cols: narrow(z_ns.cols())?,
        real: narrow(real_parts(z_ns.cols()))?,
        factors: narrow(factors)?,
        t_stride: narrow(t_nf.stride())?,
        z_stride: narrow(z_ns.stride())?,
    };
    gpu.dispatch(&Dispatch {
        op: &OP,
        variant: variant(),
        params: bytemuck::bytes_of(&params),
        buffers: &[t_nf.gpu(gpu, "the factors")?, z_ns.gpu(gpu, "the product")?],
        workgroups: [params.real.div_ceil(64), params.rows.div_ceil(ROWS), 1],
        work: moved(t_nf),
    })
}
