//! Gram sums on a GPU: tiles of the upper triangle, packed one after another, in panels of one
//! dispatch each.

use super::{
    BLOCK_ROWS, GramSums, MENU,
    menu::shape,
    packed::{places, tile_count, unpack},
};
use crate::{
    Error, Result,
    device::{
        GpuDevice, Matrix,
        gpu::{Dispatch, PooledBuffer, Readback, even},
    },
    form::tile::{self, Tile},
    ops::{Binding, Op, Variant, dispatch::narrow},
};
use ndarray::Array2;

/// Bytes of tiles that are read back at a time.
const READ_BYTES: usize = 16 << 20;

/// The op for the registry.
pub(crate) static OP: Op = Op {
    name: "gram",
    source: include_str!("../../../shaders/gram.wgsl"),
    params_bytes: size_of::<GramParams>(),
    bindings: &[
        Binding::Read("z"),
        Binding::Read("y"),
        Binding::Write("hi"),
        Binding::Write("lo"),
    ],
    variants: || {
        let menu = tile::SQUARE_MENU.iter();
        menu.flat_map(|&t| [false, true].map(|square| variant(t, square)))
            .collect()
    },
};

/// Tiles on and above the diagonal, or for a baseline all of the square.
pub(crate) fn variant(tile: Tile, square: bool) -> Variant {
    tile.variant().with("SQUARE", square.into())
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
    pub(crate) fresh: u32,
    pub(crate) zero: u32,
}

/// Running sums: pairs of a high and a low part.
#[derive(Debug)]
pub(super) struct Sums {
    gpu: GpuDevice,
    features: usize,
    targets: usize,
    tile: Tile,
    panels: Vec<Panel>,
    /// Until something was added: the panels then hold what was there before.
    fresh: bool,
    /// Whether the work counts towards tuning, which serves the sums that begin after it.
    counts: bool,
}

/// A run of tiles that fits one binding, and one dispatch of reasonable length.
#[derive(Debug)]
struct Panel {
    tile0: usize,
    count: usize,
    hi: PooledBuffer,
    lo: PooledBuffer,
}

impl Sums {
    pub(super) fn new(
        gpu: &GpuDevice,
        (features, targets): (usize, usize),
        tile: Tile,
        panel_bytes: u64,
    ) -> Result<Self> {
        let side = tile.cols() as usize;
        let tile_bytes = 4 * side * side;
        let total = tile_count(features.div_ceil(side), targets.div_ceil(side));
        let limit = gpu.max_binding_bytes().min(panel_bytes) as usize;
        // Each panel is one dispatch, which must not take for ever.
        let by_work = gpu.most_work() / tile_work(&tile, BLOCK_ROWS as u32);
        // Panels of equal size: a small last one would leave the adapter idle.
        let per_panel = even(total, (limit / tile_bytes).min(by_work as usize).max(1));
        let mut panels = Vec::new();
        for tile0 in (0..total).step_by(per_panel) {
            let count = per_panel.min(total - tile0);
            let what = || format!("the Gram matrix of {features} features");
            let bytes = (count * tile_bytes) as u64;
            panels.push(Panel {
                tile0,
                count,
                // Not cleared: `fresh` has the first dispatch write instead of add.
                hi: gpu.buffer(bytes, what)?,
                lo: gpu.buffer(bytes, what)?,
            });
        }
        Ok(Self {
            gpu: gpu.clone(),
            features,
            targets,
            tile,
            panels,
            fresh: true,
            counts: false,
        })
    }

    pub(super) fn tile(&self) -> Tile {
        self.tile
    }

    /// Counts the work towards tuning from now on.
    pub(super) fn count(&mut self) {
        self.counts = true;
    }

    /// Records the sums of a chunk.
    pub(super) fn add(&mut self, z_nd: &Matrix, y_nt: &Matrix) -> Result<()> {
        if self.counts {
            let work = z_nd.rows() as f64 * (self.features * self.features) as f64;
            MENU.worked(&self.gpu, shape(self.features), work)?;
        }
        let side = self.tile.cols() as usize;
        let variant = variant(self.tile, false);
        // A block is summed in plain f32 in registers, then added to hi and lo without loss: its
        // length, not the number of rows, bounds the rounding. The order of blocks is the order of
        // rows, on every device.
        for row0 in (0..z_nd.rows()).step_by(BLOCK_ROWS) {
            for panel in &self.panels {
                let params = GramParams {
                    row0: narrow(row0)?,
                    row_end: narrow(z_nd.rows().min(row0 + BLOCK_ROWS))?,
                    z_stride4: narrow(z_nd.stride() / 4)?,
                    y_stride4: narrow(y_nt.stride() / 4)?,
                    z_tiles: narrow(self.features.div_ceil(side))?,
                    y_tiles: narrow(self.targets.div_ceil(side))?,
                    tile0: narrow(panel.tile0)?,
                    tile_count: narrow(panel.count)?,
                    fresh: u32::from(self.fresh),
                    zero: 0,
                };
                record(
                    &self.gpu,
                    (&self.tile, variant.clone()),
                    &params,
                    [z_nd, y_nt],
                    [&panel.hi, &panel.lo],
                )?;
            }
            self.fresh = false;
        }
        Ok(())
    }

    /// The sums so far, which go on as if nobody had looked.
    pub(super) fn read(&self) -> Result<GramSums> {
        let mut sums = GramSums {
            gram_dd: Array2::zeros((self.features, self.features)),
            zty_dt: Array2::zeros((self.features, self.targets)),
        };
        if self.fresh {
            return Ok(sums);
        }
        let side = self.tile.cols() as usize;
        let (z_tiles, y_tiles) = (self.features.div_ceil(side), self.targets.div_ceil(side));
        let places = places(z_tiles, y_tiles);
        let area = side * side;
        let read_tiles = READ_BYTES / (4 * area);
        // In parts, so that little memory is enough at the end of a long fit. Buffers come from a
        // pool and may be longer than the panel.
        let parts = self.panels.iter().flat_map(|panel| {
            let places = &places[panel.tile0..panel.tile0 + panel.count];
            let parts = places.chunks(read_tiles).enumerate();
            parts.flat_map(move |(part, places)| {
                let first = part * read_tiles * area;
                let floats = first..first + places.len() * area;
                // hi and lo are added one after another in f64, where their sum is exact enough.
                [&panel.hi, &panel.lo].map(|sum| (sum, floats.clone(), places))
            })
        });
        // While one part is added on the host, the next is on its way.
        let mut add = |part: Option<(Readback, &[_])>| {
            part.map_or(Ok(()), |(readback, places)| {
                readback.finish(|data| unpack(data, side, places, z_tiles, &mut sums))
            })
        };
        let mut behind = None;
        for (sum, floats, places) in parts {
            let next = match self.gpu.read_later(sum, floats.clone()) {
                // One at a time, where there is no room for two.
                Err(Error::OutOfMemory { .. }) if behind.is_some() => {
                    add(behind.take())?;
                    self.gpu.read_later(sum, floats)
                }
                next => next,
            };
            add(behind.replace((next?, places)))?;
        }
        add(behind)?;
        Ok(sums)
    }
}

/// Records the sums of one panel over one block of rows.
pub(crate) fn record(
    gpu: &GpuDevice,
    (tile, variant): (&Tile, Variant),
    params: &GramParams,
    [z_nd, y_nt]: [&Matrix; 2],
    [hi, lo]: [&PooledBuffer; 2],
) -> Result<()> {
    // A grid has 65,535 groups a side; those beyond the last tile return at once.
    let across = params.tile_count.min(65_535);
    gpu.dispatch(&Dispatch {
        op: &OP,
        variant,
        params: bytemuck::bytes_of(params),
        buffers: &[z_nd.gpu(gpu, "z")?, y_nt.gpu(gpu, "y")?, hi, lo],
        workgroups: [across, params.tile_count.div_ceil(across), 1],
        work: f64::from(params.tile_count) * tile_work(tile, params.row_end - params.row0),
    })
}

/// Operations of one tile.
fn tile_work(tile: &Tile, rows: u32) -> f64 {
    2.0 * f64::from(rows) * f64::from(tile.rows()) * f64::from(tile.cols())
}
