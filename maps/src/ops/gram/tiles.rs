//! Tiles of Gram sums in one dispatch.

use super::BLOCK_ROWS;
use crate::{
    Result,
    device::{GpuDevice, Matrix, gpu::Dispatch},
    form::tile::{self, Tile},
    ops::{
        Binding, Op, Variant,
        dispatch::{fold, narrow},
        units::Fragments,
    },
};

/// The op for the registry.
pub(crate) static OP: Op = Op {
    name: "gram",
    source: bochner_shaders::GRAM,
    params_bytes: size_of::<GramParams>(),
    bindings: &[
        Binding::Read("z"),
        Binding::Read("y"),
        Binding::Write("sums"),
    ],
    variants: || {
        let menu = tile::SQUARE_MENU.iter();
        let ways = [Way::Add, Way::Split, Way::Square];
        menu.flat_map(|&t| ways.map(|way| variant(t, way)))
            .collect()
    },
};

/// What a workgroup does with its tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// It adds all blocks to the sums, one after another.
    Add,
    /// It leaves the sums of one block.
    Split,
    /// As [`Self::Add`], of all tiles of the square: a baseline.
    Square,
}

/// How the sums of a tile are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// In f32.
    Tile(Tile),
    /// On matrix units.
    Units(Fragments),
}

impl Form {
    /// Rows and columns of a tile.
    pub(super) fn side(self) -> u32 {
        match self {
            Self::Tile(tile) => tile.cols(),
            Self::Units(fragments) => fragments.tile(),
        }
    }

    /// Those of a workgroup.
    pub(super) fn invocations(self) -> u32 {
        match self {
            Self::Tile(tile) => tile.tx * tile.ty,
            Self::Units(fragments) => fragments.invocations(),
        }
    }
}

/// A tile shape, and what becomes of its tiles.
pub(crate) fn variant(tile: Tile, way: Way) -> Variant {
    tile.variant()
        .with_constant("SQUARE", (way == Way::Square).into())
        .with_constant("SPLIT", (way == Way::Split).into())
        .with_constant("BLOCK", BLOCK_ROWS as i64)
}

/// The uniform parameters, as in the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct GramParams {
    pub(crate) row0: u32,
    pub(crate) row_end: u32,
    pub(crate) z_stride4: u32,
    pub(crate) y_stride4: u32,
    pub(crate) z_tiles: u32,
    pub(crate) y_tiles: u32,
    pub(crate) tile0: u32,
    pub(crate) tile_count: u32,
    pub(crate) zero: u32,
}

impl GramParams {
    fn rows(&self) -> usize {
        (self.row_end - self.row0) as usize
    }

    /// A grid has 65,535 groups a side; those beyond the last tile return at once.
    pub(super) fn workgroups(&self, way: Way) -> Result<[u32; 3]> {
        let [across, down, _] = fold(self.tile_count);
        let blocks = match way {
            Way::Split => narrow(self.rows().div_ceil(BLOCK_ROWS))?,
            _ => u32::from(self.rows() > 0),
        };
        Ok([across, down, blocks])
    }

    /// Operations on tiles of a side.
    pub(super) fn work(&self, side: u32) -> f64 {
        f64::from(self.tile_count) * tile_work(side, self.rows())
    }
}

/// Records the sums of some tiles over some rows.
pub(crate) fn record(
    gpu: &GpuDevice,
    (tile, way): (&Tile, Way),
    params: &GramParams,
    [z_nd, y_nt]: [&Matrix; 2],
    sums: &wgpu::Buffer,
) -> Result<()> {
    gpu.dispatch(&Dispatch {
        op: &OP,
        variant: variant(*tile, way),
        params: bytemuck::bytes_of(params),
        buffers: &[z_nd.gpu(gpu, "z")?, y_nt.gpu(gpu, "y")?, sums],
        workgroups: params.workgroups(way)?,
        work: params.work(tile.cols()),
    })
}

/// Operations of one tile.
pub(super) fn tile_work(side: u32, rows: usize) -> f64 {
    2.0 * rows as f64 * f64::from(side).powi(2)
}
