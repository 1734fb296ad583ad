//! Gram accumulation: `Z'Z` (one triangle) and `Z'Y`, chunk after chunk, in two levels.
//!
//! On a GPU blocks of [`BLOCK_ROWS`] rows are summed in f32 and added to a compensated pair; on the
//! CPU shorter ones are, and added to f64: after 10^6 rows the relative error stays under 1e-6,
//! where one running f32 sum errs by 5e-6. (Rounding of values that are all the same goes one way:
//! a column of 1/3 errs by 3.3e-6 in tiles of a GPU.) Blocks are those of all rows, however these
//! come.

mod blocks;
pub(crate) mod check;
mod cpu;
mod gpu;
mod menu;
mod packed;
mod panels;
mod partial_block;
mod targets;
mod tiles;
mod units;

pub(crate) use blocks::ADD_OP;
pub(crate) use menu::MENU;
pub use panels::Panels;
pub(crate) use targets::TARGETS_OP;
pub(crate) use tiles::{GramParams, OP, Way, record};
pub(crate) use units::{SCALES_OP, UNITS_OP};

use self::tiles::Form;
use super::Loaded;
use crate::{
    Error, Result,
    device::{Device, GpuDevice, Matrix},
    form::{DenseForm, Tile, tile},
    linalg::compensated,
};
use ndarray::{Array2, ArrayView2};
use std::ops::Range;

/// Rows that a GPU sums in plain f32.
pub const BLOCK_ROWS: usize = 512;

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
    loaded: Loaded<cpu::Sums, gpu::Sums>,
}

impl GramAccumulator {
    /// Sums of zero for `features` columns of Z and `targets` columns of Y (at least one each).
    pub fn new(device: &Device, features: usize, targets: usize) -> Result<Self> {
        let Device::Gpu(gpu) = device else {
            return Self::with_tile(device, features, targets, tile::SHARED_64, Panels::WHOLE);
        };
        let tile = Form::Tile(MENU.choice(gpu, menu::shape(features)));
        let units = units::chosen(gpu, features, targets)?;
        let form = units.map_or(tile, Form::Units);
        Self::from_parts(
            gpu,
            (features, targets),
            form,
            Panels::for_adapter(gpu, form),
        )
    }

    /// As [`Self::new`], on the matrix units of a GPU, cut into these panels. Errors with
    /// [`Error::Unsupported`] where there are none whose sums err no more than those of f32, and on
    /// more than 32 targets.
    pub fn with_units(
        device: &Device,
        features: usize,
        targets: usize,
        panels: Panels,
    ) -> Result<Self> {
        let Device::Gpu(gpu) = device else {
            return Err(Error::unsupported("a CPU has no matrix units"));
        };
        let form = Form::Units(units::asked(gpu)?);
        Self::from_parts(gpu, (features, targets), form, panels)
    }

    /// As [`Self::new`], with a shape of [`tile::SQUARE_MENU`], cut into these panels. Errors with
    /// [`Error::Unsupported`] on a shape that takes more workgroup memory than the adapter has.
    pub fn with_tile(
        device: &Device,
        features: usize,
        targets: usize,
        tile: Tile,
        panels: Panels,
    ) -> Result<Self> {
        let size = (features, targets);
        let cpu = match device {
            Device::Gpu(gpu) => return Self::from_parts(gpu, size, Form::Tile(tile), panels),
            Device::Cpu(cpu) => cpu,
        };
        check(size)?;
        Ok(Self {
            features,
            targets,
            loaded: Loaded::Cpu(cpu::Sums::new(cpu, size)),
        })
    }

    fn from_parts(
        gpu: &GpuDevice,
        size: (usize, usize),
        form: Form,
        panels: Panels,
    ) -> Result<Self> {
        check(size)?;
        let (features, targets) = size;
        Ok(Self {
            features,
            targets,
            loaded: Loaded::Gpu(gpu::Sums::new(gpu, size, form, panels)?),
        })
    }

    /// The form that it runs in; `None` on the CPU.
    pub fn form(&self) -> Option<DenseForm> {
        match &self.loaded {
            Loaded::Cpu(_) => None,
            Loaded::Gpu(sums) => Some(match sums.form() {
                Form::Tile(tile) => DenseForm::Tile(tile),
                Form::Units(fragments) => DenseForm::Units {
                    side: fragments.side,
                },
            }),
        }
    }

    /// Does now what [`Self::add`] keeps until more rows are there; the sums are the same but for
    /// rounding.
    pub(crate) fn settle(&mut self) -> Result<()> {
        match &mut self.loaded {
            Loaded::Cpu(sums) => sums.settle(),
            Loaded::Gpu(sums) => sums.settle()?,
        }
        Ok(())
    }

    /// Adds `Z'Z` and `Z'Y` of a chunk, `z` `[rows, D]`, `y` `[rows, t]`. On a GPU nothing is read
    /// back.
    pub fn add(&mut self, z_nd: &Matrix, y_nt: &Matrix) -> Result<()> {
        self.add_rows(z_nd, y_nt, 0..z_nd.rows())
    }

    /// As [`Self::add`], of some rows of a chunk.
    #[doc(hidden)]
    pub fn add_rows(&mut self, z_nd: &Matrix, y_nt: &Matrix, rows: Range<usize>) -> Result<()> {
        let (z_shape, y_shape) = ((z_nd.rows(), z_nd.cols()), (y_nt.rows(), y_nt.cols()));
        if z_shape.1 != self.features || y_shape != (z_shape.0, self.targets) {
            return Err(Error::shape(format!(
                "features are {z_shape:?} and targets {y_shape:?}; the sums are for {} features and {} targets",
                self.features, self.targets
            )));
        }
        match &mut self.loaded {
            Loaded::Cpu(sums) => {
                let of = |m: &Matrix| m.stride() * rows.start..m.stride() * rows.end;
                sums.add(&z_nd.cpu("z")?[of(z_nd)], &y_nt.cpu("y")?[of(y_nt)]);
            }
            Loaded::Gpu(sums) => sums.add(z_nd, y_nt, rows)?,
        }
        Ok(())
    }

    /// The sums, in f64 on the host.
    pub fn finish(self) -> Result<GramSums> {
        match self.loaded {
            Loaded::Cpu(sums) => Ok(sums.finish()),
            Loaded::Gpu(sums) => sums.read(),
        }
    }

    /// As [`Self::finish`], in a browser too.
    #[doc(hidden)]
    pub async fn finish_later(self) -> Result<GramSums> {
        match self.loaded {
            Loaded::Cpu(sums) => Ok(sums.finish()),
            Loaded::Gpu(sums) => sums.read_later().await,
        }
    }

    /// Adds `Z'Z` to that of other rows, [`compensated`], and gives `Z'Y`; begins anew at zero.
    /// After an error nothing was added.
    #[doc(hidden)]
    pub fn take_onto(
        &mut self,
        gram_dd: &mut Array2<f64>,
        rest_d: &mut [f64],
    ) -> Result<Array2<f64>> {
        match &mut self.loaded {
            // In place: large triangles are in memory once.
            Loaded::Cpu(sums) => Ok(sums.take_onto(gram_dd, rest_d)),
            Loaded::Gpu(sums) => {
                let sums = sums.take()?;
                compensated::add_all((gram_dd, rest_d), (&sums.gram_dd, &[]), 1.0);
                Ok(sums.zty_dt)
            }
        }
    }
}

/// Errors on sums of nothing.
fn check((features, targets): (usize, usize)) -> Result<()> {
    if features == 0 || targets == 0 {
        Err(Error::shape(format!(
            "a Gram matrix of {features} features and {targets} targets is empty"
        )))
    } else {
        Ok(())
    }
}
