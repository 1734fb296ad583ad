//! Gram sums on a GPU: tiles of the upper triangle, packed one after another, in panels, and few
//! targets beside them. Whole blocks of rows are summed as they come; what is left of a chunk waits
//! for the next.

use super::{
    BLOCK_ROWS, GramSums, Panels,
    packed::tile_count,
    panels::{self, Panel},
    targets::{self, TargetSums},
    units::{self, Scales},
    waiting::Waiting,
};
use crate::{
    Result,
    device::{
        GpuDevice, Matrix,
        gpu::{Dispatch, PooledBuffer},
    },
    form::{
        Way as _,
        tile::{self, Tile},
    },
    ops::{
        Binding, Op, Variant,
        dispatch::{fold, narrow},
        units::Fragments,
    },
};
use std::ops::Range;

/// Rows of one dispatch at most.
const DISPATCH_ROWS: usize = 4096;

/// The op for the registry.
pub(crate) static OP: Op = Op {
    name: "gram",
    source: include_str!("../../../shaders/gram.wgsl"),
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

/// The op for the registry: the sums of blocks, added in order.
pub(crate) static ADD_OP: Op = Op {
    name: "gram_add",
    source: include_str!("../../../shaders/gram_add.wgsl"),
    params_bytes: size_of::<AddParams>(),
    bindings: &[Binding::Read("partial"), Binding::Write("sums")],
    variants: || [targets::SIDE, 32, 64, 128].map(add_variant).into(),
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
        .with("SQUARE", (way == Way::Square).into())
        .with("SPLIT", (way == Way::Split).into())
        .with("BLOCK", BLOCK_ROWS as i64)
}

/// For tiles of `side` x `side`.
fn add_variant(side: u32) -> Variant {
    Variant::of([("AREA4", i64::from(side * side / 4))])
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

/// As [`GramParams`], of the second pass.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct AddParams {
    tile_count: u32,
    blocks: u32,
    zero: u32,
}

/// Running sums: pairs of a high and a low part.
#[derive(Debug)]
pub(super) struct Sums {
    pub(super) gpu: GpuDevice,
    pub(super) features: usize,
    pub(super) targets: usize,
    pub(super) form: Form,
    pub(super) panels: Vec<(Panel, PooledBuffer)>,
    /// Where the blocks of a panel that is split leave their sums.
    partial: Option<PooledBuffer>,
    /// Z'Y, unless targets are so many that they are columns of tiles.
    pub(super) beside: Option<TargetSums>,
    pub(super) waiting: Waiting,
}

impl Sums {
    pub(super) fn new(
        gpu: &GpuDevice,
        (features, targets): (usize, usize),
        form: Form,
        panels: Panels,
    ) -> Result<Self> {
        if let Form::Tile(tile) = form {
            tile.check(gpu)?;
        }
        let side = form.side() as usize;
        let pair_bytes = 8 * side * side;
        let beside = TargetSums::new(gpu, features, targets)?;
        let in_tiles = if beside.is_some() { 0 } else { targets };
        if let (Form::Units(_), 1..) = (form, in_tiles) {
            return Err(units::too_many(targets));
        }
        let total = tile_count(features.div_ceil(side), in_tiles.div_ceil(side));
        let limit = gpu.max_binding_bytes().min(panels.bytes) as usize;
        // A dispatch must not take for ever.
        let by_work = gpu.most_work(&OP) / tile_work(form.side(), DISPATCH_ROWS);
        let most = (limit / pair_bytes).min(by_work as usize).max(1);
        let planned = panels::cut(total, most, panels.wave);
        let what = || format!("the Gram matrix of {features} features");
        let sums = planned.iter().map(|panel| {
            let bytes = panel_bytes(panel, form);
            let sums = gpu.buffer(bytes, what)?;
            gpu.clear(&sums, bytes);
            Ok((panel.clone(), sums))
        });
        let sums = sums.collect::<Result<_>>()?;
        let split = planned.iter().map(Panel::partial_tiles).max().unwrap_or(0);
        let partial = || gpu.buffer((split * pair_bytes / 2) as u64, what);
        Ok(Self {
            gpu: gpu.clone(),
            features,
            targets,
            form,
            panels: sums,
            partial: (split > 0).then(partial).transpose()?,
            beside,
            waiting: Waiting::new(gpu, features, targets)?,
        })
    }

    pub(super) fn form(&self) -> Form {
        self.form
    }

    /// Columns of tiles that are targets.
    pub(super) fn y_tiles(&self) -> usize {
        match self.beside {
            Some(_) => 0,
            None => self.targets.div_ceil(self.form.side() as usize),
        }
    }

    /// Records the sums of some rows of a chunk. Blocks are those of all rows so far, however they
    /// came.
    pub(super) fn add(&mut self, z_nd: &Matrix, y_nt: &Matrix, rows: Range<usize>) -> Result<()> {
        let first = match self.waiting.rows() {
            0 => rows.start,
            there => rows.end.min(rows.start + BLOCK_ROWS - there),
        };
        self.waiting
            .take(&self.gpu, [z_nd, y_nt], rows.start..first)?;
        if self.waiting.rows() == BLOCK_ROWS {
            self.settle()?;
        }
        let whole = first + (rows.end - first) / BLOCK_ROWS * BLOCK_ROWS;
        self.sum(z_nd, y_nt, first..whole)?;
        self.waiting.take(&self.gpu, [z_nd, y_nt], whole..rows.end)
    }

    /// Sums the rows that wait for the rest of their block.
    pub(super) fn settle(&mut self) -> Result<()> {
        let rows = self.waiting.rows();
        self.sum(&self.waiting.z_nd, &self.waiting.y_nt, 0..rows)?;
        self.waiting.clear()
    }

    /// Records the sums of some rows, of whole blocks but for the last.
    fn sum(&self, z_nd: &Matrix, y_nt: &Matrix, rows: Range<usize>) -> Result<()> {
        if let Some(beside) = &self.beside {
            beside.sum(&self.gpu, [z_nd, y_nt], rows.clone())?;
        }
        let scales = self.scales(z_nd, rows.clone())?;
        let operands = ([z_nd, y_nt], scales.as_ref());
        for (panel, sums) in &self.panels {
            let at_once = panel.blocks.map_or(DISPATCH_ROWS, |b| b * BLOCK_ROWS);
            for row0 in rows.clone().step_by(at_once) {
                let part = row0..rows.end.min(row0 + at_once);
                let params = self.params([z_nd, y_nt], part.clone(), panel.tiles.clone())?;
                match &self.partial {
                    Some(partial) if panel.blocks.is_some() => {
                        self.record(&params, Way::Split, operands, partial)?;
                        let blocks = part.len().div_ceil(BLOCK_ROWS);
                        let size = (panel.tiles.len(), blocks);
                        add_blocks(&self.gpu, self.form.side(), size, partial, sums)?;
                    }
                    _ => self.record(&params, Way::Add, operands, sums)?,
                }
            }
        }
        Ok(())
    }

    /// Records the sums of the rows that wait, in plain f32, for some tiles.
    pub(super) fn sum_waiting(&self, tiles: Range<usize>, partial: &wgpu::Buffer) -> Result<()> {
        let Waiting { z_nd, y_nt, .. } = &self.waiting;
        let rows = 0..self.waiting.rows();
        let params = self.params([z_nd, y_nt], rows.clone(), tiles)?;
        let scales = self.scales(z_nd, rows)?;
        let operands = ([z_nd, y_nt], scales.as_ref());
        self.record(&params, Way::Split, operands, partial)
    }

    /// What matrix units ask for beside z.
    fn scales(&self, z_nd: &Matrix, rows: Range<usize>) -> Result<Option<Scales>> {
        match self.form {
            Form::Units(_) if !rows.is_empty() => Scales::of(&self.gpu, z_nd, rows).map(Some),
            _ => Ok(None),
        }
    }

    fn params(
        &self,
        [z_nd, y_nt]: [&Matrix; 2],
        rows: Range<usize>,
        tiles: Range<usize>,
    ) -> Result<GramParams> {
        let side = self.form.side() as usize;
        Ok(GramParams {
            row0: narrow(rows.start)?,
            row_end: narrow(rows.end)?,
            z_stride4: narrow(z_nd.stride() / 4)?,
            y_stride4: narrow(y_nt.stride() / 4)?,
            z_tiles: narrow(self.features.div_ceil(side))?,
            y_tiles: narrow(self.y_tiles())?,
            tile0: narrow(tiles.start)?,
            tile_count: narrow(tiles.len())?,
            zero: 0,
        })
    }

    fn record(
        &self,
        params: &GramParams,
        way: Way,
        (operands, scales): ([&Matrix; 2], Option<&Scales>),
        sums: &wgpu::Buffer,
    ) -> Result<()> {
        match (self.form, scales) {
            (Form::Tile(tile), _) => record(&self.gpu, (&tile, way), params, operands, sums),
            (Form::Units(fragments), Some(scales)) => {
                let z_nd = (operands[0], scales);
                units::record(&self.gpu, (fragments, way), params, z_nd, sums)
            }
            // No rows.
            (Form::Units(_), None) => Ok(()),
        }
    }

    /// The sums so far, which go on as if nobody had looked.
    pub(super) fn read(&self) -> Result<GramSums> {
        super::read::sums(self)
    }

    /// The sums, which begin anew at zero.
    pub(super) fn take(&mut self) -> Result<GramSums> {
        let sums = self.read()?;
        for (panel, buffer) in &self.panels {
            self.gpu.clear(buffer, panel_bytes(panel, self.form));
        }
        if let Some(beside) = &self.beside {
            beside.clear(&self.gpu);
        }
        self.waiting.clear()?;
        Ok(sums)
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

/// Bytes of the pairs of a panel.
fn panel_bytes(panel: &Panel, form: Form) -> u64 {
    let side = form.side() as usize;
    (8 * side * side * panel.tiles.len()) as u64
}

/// Operations of one tile.
fn tile_work(side: u32, rows: usize) -> f64 {
    2.0 * rows as f64 * f64::from(side).powi(2)
}
