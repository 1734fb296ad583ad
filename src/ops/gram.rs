//! Gram accumulation: `Z'Z` (one triangle) and `Z'Y`, chunk after chunk, in two levels.
//!
//! Blocks of at most [`BLOCK_ROWS`] rows are summed in f32 and added to a compensated pair on a
//! GPU, shorter ones to f64 on the CPU: after 10^6 rows the relative error stays under 1e-6, where
//! one running f32 sum errs by 5e-6.

mod packed;

use super::{Binding, Op};
use crate::{
    Error, Result,
    device::{
        CpuDevice, Device, GpuDevice, Matrix,
        gpu::{Dispatch, PooledBuffer, Readback, even, shader::Constants},
    },
    form::{
        tile::{self, Tile},
        tuning::{self, Class, TunedOp},
    },
    ops::dispatch::narrow,
    simd::Triangle,
};
use ndarray::{Array2, ArrayView2};
use packed::{places, tile_count, unpack};

/// Rows summed in plain f32.
pub const BLOCK_ROWS: usize = 4096;
/// Bytes of tiles that are read back at a time.
const READ_BYTES: usize = 16 << 20;

/// The op for the registry.
pub static OP: Op = Op {
    name: "gram",
    source: include_str!("../../shaders/gram.wgsl"),
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
pub(crate) fn variant(tile: Tile, square: bool) -> (String, Constants) {
    let mut constants = tile.constants();
    constants.insert("SQUARE".into(), i64::from(square));
    let side = if square { "/square" } else { "" };
    (format!("{}{side}", tile.name), constants)
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

/// The sums on the host.
#[derive(Debug, Clone, PartialEq)]
pub struct GramSums {
    /// `Z'Z`, `[D, D]`; only the lower triangle with the diagonal is filled, the rest is zero.
    pub gram_dd: Array2<f64>,
    /// `Z'Y`, `[D, t]`.
    pub zty_dt: Array2<f64>,
}

/// `Z'Z` (lower triangle) and `Z'Y` in f64, from the f32 values that the op sees.
pub fn reference(z_nd: ArrayView2<'_, f32>, y_nt: ArrayView2<'_, f32>) -> GramSums {
    let z = z_nd.mapv(f64::from);
    let y = y_nt.mapv(f64::from);
    let mut gram_dd = z.t().dot(&z);
    for ((i, j), g) in gram_dd.indexed_iter_mut() {
        if j > i {
            *g = 0.0;
        }
    }
    GramSums {
        gram_dd,
        zty_dt: z.t().dot(&y),
    }
}

/// Running sums on a device.
#[derive(Debug)]
pub struct GramAccumulator {
    features: usize,
    targets: usize,
    state: State,
    /// Whether its work counts towards tuning, which serves the sums that begin after it.
    counts: bool,
}

fn class(features: usize) -> Class {
    Class::of(TunedOp::Gram, features, BLOCK_ROWS, features)
}

#[derive(Debug)]
enum State {
    Cpu {
        cpu: CpuDevice,
        sums: Triangle,
    },
    Gpu {
        gpu: GpuDevice,
        tile: Tile,
        panels: Vec<Panel>,
        fresh: bool,
    },
}

/// A run of tiles that fits one binding, and one dispatch of reasonable length.
#[derive(Debug)]
struct Panel {
    tile0: usize,
    count: usize,
    hi: PooledBuffer,
    lo: PooledBuffer,
}

impl GramAccumulator {
    /// Sums of zero for `features` columns of Z and `targets` columns of Y (at least one each).
    pub fn new(device: &Device, features: usize, targets: usize) -> Result<Self> {
        let tile = match device {
            Device::Cpu(_) => tile::SHARED_64,
            Device::Gpu(gpu) => tuning::tile(gpu, class(features)),
        };
        let mut sums = Self::with_tile(device, features, targets, tile, u64::MAX)?;
        sums.counts = true;
        Ok(sums)
    }

    /// As [`Self::new`], with a shape of [`tile::SQUARE_MENU`] and panels of at most `panel_bytes`.
    pub fn with_tile(
        device: &Device,
        features: usize,
        targets: usize,
        tile: Tile,
        panel_bytes: u64,
    ) -> Result<Self> {
        if features == 0 || targets == 0 {
            return Err(Error::shape(format!(
                "a Gram matrix of {features} features and {targets} targets is empty"
            )));
        }
        let state = match device {
            Device::Cpu(cpu) => State::Cpu {
                cpu: cpu.clone(),
                sums: Triangle::new(features, targets),
            },
            Device::Gpu(gpu) => {
                let side = tile.cols() as usize;
                let tile_bytes = 4 * side * side;
                let total = tile_count(features.div_ceil(side), targets.div_ceil(side));
                let limit = gpu.max_binding_bytes().min(panel_bytes) as usize;
                // Each panel is one dispatch, which must not take for ever.
                let by_work = gpu.most_work() / tile_work(&tile, BLOCK_ROWS as u32);
                let per_panel = even(total, (limit / tile_bytes).min(by_work as usize).max(1));
                let mut panels = Vec::new();
                for tile0 in (0..total).step_by(per_panel) {
                    let count = per_panel.min(total - tile0);
                    let what = || format!("the Gram matrix of {features} features");
                    let bytes = (count * tile_bytes) as u64;
                    panels.push(Panel {
                        tile0,
                        count,
                        hi: gpu.buffer(bytes, what)?,
                        lo: gpu.buffer(bytes, what)?,
                    });
                }
                State::Gpu {
                    gpu: gpu.clone(),
                    tile,
                    panels,
                    fresh: true,
                }
            }
        };
        Ok(Self {
            features,
            targets,
            state,
            counts: false,
        })
    }

    /// The tile shape that it runs with; `None` on the CPU.
    pub fn tile(&self) -> Option<Tile> {
        match &self.state {
            State::Cpu { .. } => None,
            State::Gpu { tile, .. } => Some(*tile),
        }
    }

    /// Does now what [`Self::add`] keeps until more rows are there; the sums are the same but for
    /// rounding.
    pub(crate) fn settle(&mut self) {
        if let State::Cpu { cpu, sums } = &mut self.state {
            cpu.install(|| sums.sum());
        }
    }

    /// Adds `Z'Z` and `Z'Y` of a chunk, `z` `[rows, D]`, `y` `[rows, t]`. On a GPU nothing is read
    /// back.
    pub fn add(&mut self, z_nd: &Matrix, y_nt: &Matrix) -> Result<()> {
        let (z_shape, y_shape) = ((z_nd.rows(), z_nd.cols()), (y_nt.rows(), y_nt.cols()));
        if z_shape.1 != self.features || y_shape != (z_shape.0, self.targets) {
            return Err(Error::shape(format!(
                "features are {z_shape:?} and targets {y_shape:?}; the sums are for {} features \
                 and {} targets",
                self.features, self.targets
            )));
        }
        match &mut self.state {
            State::Cpu { cpu, sums } => {
                let (z, y) = (z_nd.cpu("z")?, y_nt.cpu("y")?);
                cpu.install(|| sums.add(z, y));
                Ok(())
            }
            State::Gpu {
                gpu,
                tile,
                panels,
                fresh,
            } => {
                if self.counts {
                    let work = z_nd.rows() as f64 * (self.features * self.features) as f64;
                    tuning::worked(gpu, class(self.features), work)?;
                }
                let side = tile.cols() as usize;
                let (name, constants) = variant(*tile, false);
                for row0 in (0..z_nd.rows()).step_by(BLOCK_ROWS) {
                    for panel in panels.iter() {
                        let params = GramParams {
                            row0: narrow(row0)?,
                            row_end: narrow(z_nd.rows().min(row0 + BLOCK_ROWS))?,
                            z_stride4: narrow(z_nd.stride() / 4)?,
                            y_stride4: narrow(y_nt.stride() / 4)?,
                            z_tiles: narrow(self.features.div_ceil(side))?,
                            y_tiles: narrow(self.targets.div_ceil(side))?,
                            tile0: narrow(panel.tile0)?,
                            tile_count: narrow(panel.count)?,
                            fresh: u32::from(*fresh),
                            zero: 0,
                        };
                        record(
                            gpu,
                            (tile, &name, &constants),
                            &params,
                            [z_nd, y_nt],
                            [&panel.hi, &panel.lo],
                        )?;
                    }
                    *fresh = false;
                }
                Ok(())
            }
        }
    }

    /// The sums, in f64 on the host: the only readback of a fit, but for rare copies for safety.
    pub fn finish(self) -> Result<GramSums> {
        if let Some(sums) = self.so_far()? {
            return Ok(sums);
        }
        match self.state {
            State::Cpu { cpu, sums } => {
                let (gram_dd, zty_dt) = cpu.install(|| sums.finish());
                Ok(GramSums { gram_dd, zty_dt })
            }
            State::Gpu { .. } => unreachable!("a GPU's sums can be read at any time"),
        }
    }

    /// The sums so far, which go on as if nobody had looked. `None` on the CPU, which cannot be
    /// lost.
    pub(crate) fn so_far(&self) -> Result<Option<GramSums>> {
        match &self.state {
            State::Cpu { .. } => Ok(None),
            State::Gpu {
                gpu,
                tile,
                panels,
                fresh,
            } => {
                let mut sums = GramSums {
                    gram_dd: Array2::zeros((self.features, self.features)),
                    zty_dt: Array2::zeros((self.features, self.targets)),
                };
                if *fresh {
                    return Ok(Some(sums));
                }
                let side = tile.cols() as usize;
                let (z_tiles, y_tiles) =
                    (self.features.div_ceil(side), self.targets.div_ceil(side));
                let places = places(z_tiles, y_tiles);
                let area = side * side;
                let read_tiles = READ_BYTES / (4 * area);
                // In parts, so that little memory is enough at the end of a long fit. Buffers come
                // from a pool and may be longer than the panel.
                let parts = panels.iter().flat_map(|panel| {
                    let places = &places[panel.tile0..panel.tile0 + panel.count];
                    let parts = places.chunks(read_tiles).enumerate();
                    parts.flat_map(move |(part, places)| {
                        let first = part * read_tiles * area;
                        let floats = first..first + places.len() * area;
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
                    let next = match gpu.read_later(sum, floats.clone()) {
                        // One at a time, where there is no room for two.
                        Err(Error::OutOfMemory { .. }) if behind.is_some() => {
                            add(behind.take())?;
                            gpu.read_later(sum, floats)
                        }
                        next => next,
                    };
                    add(behind.replace((next?, places)))?;
                }
                add(behind)?;
                Ok(Some(sums))
            }
        }
    }
}

/// Records the sums of one panel over one block of rows.
pub(crate) fn record(
    gpu: &GpuDevice,
    (tile, name, constants): (&Tile, &str, &Constants),
    params: &GramParams,
    [z_nd, y_nt]: [&Matrix; 2],
    [hi, lo]: [&PooledBuffer; 2],
) -> Result<()> {
    let across = params.tile_count.min(65_535);
    gpu.dispatch(&Dispatch {
        op: &OP,
        variant: name,
        constants,
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
