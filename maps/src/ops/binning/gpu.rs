//! Hashes of bins on a GPU.

use super::Grids;
use crate::{
    Result,
    device::{Device, GpuDevice, Matrix, gpu::Dispatch},
    ops::{Binding, Op, Variant, dispatch::narrow},
};

/// Rows that one invocation hashes.
const ROWS: u32 = 4;
/// Grids of one workgroup.
const THREADS: u32 = 64;

/// The op for the registry.
pub(crate) static OP: Op = Op {
    name: "binning",
    source: bochner_shaders::BINNING,
    params_bytes: size_of::<Params>(),
    bindings: &[
        Binding::Read("x"),
        Binding::Read("grid"),
        Binding::Write("hash"),
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
    row0: u32,
    rows: u32,
    depth: u32,
    grids: u32,
    x_stride: u32,
    grid_stride2: u32,
    hash_stride2: u32,
}

/// Grids in a matrix.
#[derive(Debug)]
pub(super) struct Table {
    gpu: GpuDevice,
    depth: usize,
    grids: usize,
    /// Pairs of inverse pitch and shift as bits, `[d, 2 P]`.
    grid: Matrix,
}

impl Table {
    pub(super) fn upload(gpu: &GpuDevice, grids: &Grids) -> Result<Self> {
        let (depth, count) = grids.inverse_dp.dim();
        let mut grid = Matrix::new(&Device::Gpu(gpu.clone()), depth, 2 * count)?;
        let stride = grid.stride();
        grid.write_with(|out| {
            out.fill(0.0);
            let out: &mut [u32] = bytemuck::cast_slice_mut(out);
            let columns = grids
                .inverse_dp
                .rows()
                .into_iter()
                .zip(grids.shift_dp.rows());
            for (out, (inverse, shift)) in out.chunks_exact_mut(stride).zip(columns) {
                // Words, not floats: the matrix is only their place, and nothing computes with it
                // as f32.
                for (out, (&r, &o)) in out.chunks_exact_mut(2).zip(inverse.iter().zip(shift)) {
                    out.copy_from_slice(&[r, o]);
                }
            }
        })?;
        Ok(Self {
            gpu: gpu.clone(),
            depth,
            grids: count,
            grid,
        })
    }

    pub(super) fn run(&self, x_nd: &Matrix, row0: usize, hash: &mut Matrix) -> Result<()> {
        let gpu = &self.gpu;
        let params = Params {
            row0: narrow(row0)?,
            rows: narrow(hash.rows())?,
            depth: narrow(self.depth)?,
            grids: narrow(self.grids)?,
            x_stride: narrow(x_nd.stride())?,
            grid_stride2: narrow(self.grid.stride() / 2)?,
            hash_stride2: narrow(hash.stride() / 2)?,
        };
        gpu.dispatch(&Dispatch {
            op: &OP,
            variant: variant(),
            params: bytemuck::bytes_of(&params),
            buffers: &[
                x_nd.gpu(gpu, "x")?,
                self.grid.gpu(gpu, "the grids")?,
                hash.gpu(gpu, "the hashes")?,
            ],
            workgroups: [
                params.grids.div_ceil(THREADS),
                params.rows.div_ceil(ROWS),
                1,
            ],
            work: 20.0 * (hash.rows() * self.depth) as f64 * self.grids as f64,
        })
    }
}
