//! Gram sums on matrix units: tiles of products of f16 in the place of tiles in f32, between the
//! same blocks of rows and the same compensated pairs.
//!
//! Three products of f16 stand for one of f32, which may pay on some GPUs. On an H200 it does not:
//! they are taken where a caller asks for them
//! ([`MatrixUnits::All`](crate::device::MatrixUnits::All)).

mod arithmetic;
pub(super) mod check;
mod probe;

use super::{
    BLOCK_ROWS, targets,
    tiles::{GramParams, Way},
};
use crate::{
    Error, Result,
    device::{Device, GpuDevice, Matrix, MatrixUnits, gpu::Dispatch},
    ops::{
        Binding, Op, Variant,
        dispatch::narrow,
        units::{Fragments, NOT_REACHED, REACHED, refused},
    },
};
use std::ops::Range;

/// The op for the registry.
pub(crate) static UNITS_OP: Op = Op {
    name: "gram_units",
    source: bochner_shaders::GRAM_UNITS,
    params_bytes: size_of::<Params>(),
    bindings: &[
        Binding::Read("z"),
        Binding::Read("scale"),
        Binding::Write("sums"),
    ],
    variants: || {
        let ways = [Way::Add, Way::Split];
        let all = Fragments::all().flat_map(|f| ways.map(|way| variant(f, way)));
        all.collect()
    },
};

/// Powers of two for columns.
pub(crate) static SCALES_OP: Op = Op {
    name: "column_scales",
    source: bochner_shaders::COLUMN_SCALES,
    params_bytes: size_of::<ScalesParams>(),
    bindings: &[Binding::Read("z"), Binding::Write("scale")],
    variants: || vec![of_blocks([])],
};

/// Features from which on sums are taken.
const LEAST_FEATURES: usize = 256;
/// Vec4s of columns of a workgroup of `column_scales.wgsl`.
const SCALED_COLUMNS4: usize = 16;

fn of_blocks<const N: usize>(knobs: [(&'static str, i64); N]) -> Variant {
    Variant::new(knobs).with_constant("BLOCK", BLOCK_ROWS as i64)
}

fn variant(fragments: Fragments, way: Way) -> Variant {
    let of = fragments
        .variant()
        .with_constant("BLOCK", BLOCK_ROWS as i64);
    of.with_constant("SPLIT", (way == Way::Split).into())
}

/// The uniform parameters, as in the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    row0: u32,
    row_end: u32,
    z_stride4: u32,
    z_tiles: u32,
    tile0: u32,
    tile_count: u32,
    first_row: u32,
    zero: u32,
}

/// Those of the powers of two.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct ScalesParams {
    row0: u32,
    row_end: u32,
    z_stride4: u32,
}

/// What columns of some rows are multiplied by, block by block.
#[derive(Debug)]
pub(super) struct Scales {
    first_row: u32,
    powers: Matrix,
}

impl Scales {
    /// Records those of rows of z, of whole blocks but for the last.
    pub(super) fn record(gpu: &GpuDevice, z_nd: &Matrix, rows: Range<usize>) -> Result<Self> {
        if !REACHED {
            return Err(refused(gpu, NOT_REACHED));
        }
        let (stride, blocks) = (z_nd.stride(), rows.len().div_ceil(BLOCK_ROWS));
        let powers = Matrix::new(&Device::Gpu(gpu.clone()), blocks.max(1), stride)?;
        let first_row = narrow(rows.start)?;
        let params = ScalesParams {
            row0: first_row,
            row_end: narrow(rows.end)?,
            z_stride4: narrow(stride / 4)?,
        };
        gpu.dispatch(&Dispatch {
            op: &SCALES_OP,
            variant: of_blocks([]),
            params: bytemuck::bytes_of(&params),
            buffers: &[z_nd.gpu(gpu, "z")?, powers.gpu(gpu, "the scales")?],
            workgroups: [
                narrow((stride / 4).div_ceil(SCALED_COLUMNS4))?,
                narrow(blocks)?,
                1,
            ],
            work: 4.0 * (rows.len() * stride) as f64,
        })?;
        Ok(Self { first_row, powers })
    }
}

/// Records the sums of some tiles over some rows, whose columns have been scaled.
pub(super) fn record(
    gpu: &GpuDevice,
    (fragments, way): (Fragments, Way),
    params: &GramParams,
    (z_nd, scales): (&Matrix, &Scales),
    sums: &wgpu::Buffer,
) -> Result<()> {
    if !REACHED {
        return Err(refused(gpu, NOT_REACHED));
    }
    let own = Params {
        row0: params.row0,
        row_end: params.row_end,
        z_stride4: params.z_stride4,
        z_tiles: params.z_tiles,
        tile0: params.tile0,
        tile_count: params.tile_count,
        first_row: scales.first_row,
        zero: params.zero,
    };
    gpu.dispatch(&Dispatch {
        op: &UNITS_OP,
        variant: variant(fragments, way),
        params: bytemuck::bytes_of(&own),
        buffers: &[
            z_nd.gpu(gpu, "z")?,
            scales.powers.gpu(gpu, "the scales")?,
            sums,
        ],
        workgroups: params.workgroups(way)?,
        work: params.work(fragments.tile()),
    })
}

/// The fragments with which Gram sums are right on this adapter.
pub(super) fn tried(gpu: &GpuDevice) -> Result<std::result::Result<Fragments, String>> {
    if !REACHED {
        return Ok(Err(NOT_REACHED.into()));
    }
    let all = match Fragments::for_adapter(gpu) {
        Ok(all) => all,
        Err(why) => return Ok(Err(why)),
    };
    let size = gpu.tried_units(UNITS_OP.name.into(), || probe::probe(gpu, &all))?;
    Ok(size.map(|size| Fragments { size, ..all[0] }))
}

/// Those that sums of so many features and targets take by themselves, where
/// [`MatrixUnits::All`] allows it.
pub(super) fn chosen(
    gpu: &GpuDevice,
    features: usize,
    targets: usize,
) -> Result<Option<Fragments>> {
    // Of fewer features most of a tile is padding.
    let pays = features >= LEAST_FEATURES && targets <= targets::MOST;
    // A tile that a user asks for is taken.
    let asked = gpu.choices().forced().is_some();
    if !pays || asked || gpu.allows_units(MatrixUnits::All).is_err() {
        return Ok(None);
    }
    tried(gpu).map(|found| match found {
        Ok(fragments) => Some(fragments),
        Err(why) => {
            log::info!("matrix units of {} make no sums: {why}", gpu.describe());
            None
        }
    })
}

/// As [`tried`], for a caller who asks for them.
pub(super) fn asked(gpu: &GpuDevice) -> Result<Fragments> {
    tried(gpu)?.map_err(|why| refused(gpu, &why))
}

/// The error of more targets than stand beside the tiles.
pub(super) fn too_many(targets: usize) -> Error {
    Error::unsupported(format!(
        "{targets} targets are columns of tiles, which matrix units do not compute"
    ))
}
