//! Gram sums on a GPU: tiles of the upper triangle, packed one after another, in panels, and few
//! targets beside them. Whole blocks of rows are summed as they come; what is left of a chunk waits
//! for the next.

mod read;

use super::{
    BLOCK_ROWS, GramSums, Panels,
    blocks::add_blocks,
    packed::tile_count,
    panels::{self, Panel},
    partial_block::PartialBlock,
    targets::TargetSums,
    tiles::{Form, GramParams, OP, Way, record, tile_work},
    units::{self, Scales},
};
use crate::{
    Result,
    device::{GpuDevice, Matrix, gpu::PooledBuffer},
    form::Way as _,
    ops::dispatch::narrow,
    wait::wait,
};
use std::ops::Range;

/// Rows of one dispatch at most.
const DISPATCH_ROWS: usize = 4096;

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
    pub(super) waiting: PartialBlock,
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
            waiting: PartialBlock::new(gpu, features, targets)?,
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
        let PartialBlock { z_nd, y_nt, .. } = &self.waiting;
        let rows = 0..self.waiting.rows();
        let params = self.params([z_nd, y_nt], rows.clone(), tiles)?;
        let scales = self.scales(z_nd, rows)?;
        let operands = ([z_nd, y_nt], scales.as_ref());
        self.record(&params, Way::Split, operands, partial)
    }

    /// What matrix units ask for beside z.
    fn scales(&self, z_nd: &Matrix, rows: Range<usize>) -> Result<Option<Scales>> {
        match self.form {
            Form::Units(_) if !rows.is_empty() => Scales::record(&self.gpu, z_nd, rows).map(Some),
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
        wait(self.read_later())
    }

    /// As [`Self::read`], in a browser too.
    pub(super) async fn read_later(&self) -> Result<GramSums> {
        read::sums_later(self).await
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

/// Bytes of the pairs of a panel.
fn panel_bytes(panel: &Panel, form: Form) -> u64 {
    let side = form.side() as usize;
    (8 * side * side * panel.tiles.len()) as u64
}
