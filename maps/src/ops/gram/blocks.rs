//! The sums of blocks, added in order to compensated pairs.

use crate::{
    Result,
    device::{GpuDevice, gpu::Dispatch},
    ops::{
        Binding, Op, Variant,
        dispatch::{fold, narrow},
    },
};

/// The side of what gram_add.wgsl takes for a tile, and its floats.
pub(super) const TARGETS_SIDE: u32 = 16;

/// The op for the registry: the sums of blocks, added in order.
pub(crate) static ADD_OP: Op = Op {
    name: "gram_add",
    source: bochner_shaders::GRAM_ADD,
    params_bytes: size_of::<AddParams>(),
    bindings: &[Binding::Read("partial"), Binding::Write("sums")],
    variants: || [TARGETS_SIDE, 32, 64, 128].map(add_variant).into(),
};

/// For tiles of `side` x `side`.
fn add_variant(side: u32) -> Variant {
    Variant::new([("AREA4", i64::from(side * side / 4))])
}

/// As [`GramParams`], of the second pass.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct AddParams {
    tile_count: u32,
    blocks: u32,
    zero: u32,
}

/// Records the addition of the sums of so many blocks to pairs, of so many tiles of a side each.
pub(super) fn add_blocks(
    gpu: &GpuDevice,
    side: u32,
    (tiles, blocks): (usize, usize),
    partial: &wgpu::Buffer,
    sums: &wgpu::Buffer,
) -> Result<()> {
    let params = AddParams {
        tile_count: narrow(tiles)?,
        blocks: narrow(blocks)?,
        zero: 0,
    };
    let area = tiles * (side * side) as usize;
    gpu.dispatch(&Dispatch {
        op: &ADD_OP,
        variant: add_variant(side),
        params: bytemuck::bytes_of(&params),
        buffers: &[partial, sums],
        workgroups: fold(narrow((area / 4).div_ceil(64))?),
        // Memory bounds it, as every pass over a matrix.
        work: 10.0 * (blocks + 4) as f64 * area as f64,
    })
}
