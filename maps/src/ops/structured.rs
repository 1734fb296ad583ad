//! Structured maps in one op: `z = amplitude * cos(2 pi (C x + phase))`, C made of signs,
//! Walsh-Hadamard transforms, permutations and diagonals, so that a feature costs O(log d) instead
//! of O(d).

#[doc(hidden)]
pub mod check;
mod cpu;
mod gpu;
mod map;

pub(crate) use gpu::{OP, STAGE_OP, forms, stage_forms};
pub use map::{Mixing, StructuredMap, reference};

use super::Loaded;
use crate::{
    Error, Result,
    device::{Device, Matrix},
    ops::Nonlinearity,
};

/// A structured map loaded on a device.
#[derive(Debug)]
pub struct Structured {
    map: StructuredMap,
    loaded: Loaded<cpu::Tables, Box<gpu::Tables>>,
}

impl Structured {
    /// Uploads the parameters. Errors with [`Error::Shape`] when they do not fit together, and with
    /// [`Error::Limit`] when they exceed the device's bindings.
    pub fn load(device: &Device, map: &StructuredMap) -> Result<Self> {
        map.check()?;
        Ok(Self {
            map: map.clone(),
            loaded: match device {
                Device::Cpu(cpu) => Loaded::Cpu(cpu::Tables::new(cpu, map)),
                Device::Gpu(gpu) => Loaded::Gpu(Box::new(gpu::Tables::new(gpu, map)?)),
            },
        })
    }

    /// Number of output columns, D.
    pub fn outputs(&self) -> usize {
        self.map.outputs()
    }

    /// How often a GPU reads and writes each element of a block.
    pub(crate) fn passes(&self) -> u32 {
        match &self.loaded {
            Loaded::Cpu(_) => 1,
            Loaded::Gpu(tables) => gpu::passes(&self.map, tables),
        }
    }

    /// Writes `z`, shape `[rows, D]`, for `x` of shape `[rows, d]`, both on the map's device.
    /// Errors with [`Error::Shape`] on other shapes and with [`Error::Device`] on a matrix of
    /// another device.
    pub fn run(&self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        self.check_input(x_nd)?;
        if (z_nd.rows(), z_nd.cols()) != (x_nd.rows(), self.outputs()) {
            return Err(Error::shape(format!(
                "z is {} x {}, the map gives {} x {}",
                z_nd.rows(),
                z_nd.cols(),
                x_nd.rows(),
                self.outputs()
            )));
        }
        match &self.loaded {
            Loaded::Cpu(tables) => cpu::run(&self.map, tables, x_nd, z_nd),
            Loaded::Gpu(tables) => gpu::run(&self.map, tables, x_nd, 0, z_nd),
        }
    }

    /// Writes `y = z beta`, shape `[rows, t]`, for coefficients of shape `[D, t]`; on a GPU
    /// 32 to 256 MiB of features at a time, by its kind. Errors with [`Error::Shape`] on other
    /// shapes.
    pub fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        self.check_input(x_nd)?;
        let (rows, outputs) = (x_nd.rows(), self.outputs());
        if beta_dt.rows() != outputs || (y_nt.rows(), y_nt.cols()) != (rows, beta_dt.cols()) {
            return Err(Error::shape(format!(
                "{rows} rows of {outputs} features and coefficients of shape {} x {} do not give \
                 {} x {}",
                beta_dt.rows(),
                beta_dt.cols(),
                y_nt.rows(),
                y_nt.cols()
            )));
        }
        match &mut self.loaded {
            Loaded::Cpu(tables) => cpu::predict(&self.map, tables, x_nd, beta_dt, y_nt),
            Loaded::Gpu(tables) => gpu::predict(&self.map, tables, x_nd, beta_dt, y_nt),
        }
    }

    fn check_input(&self, x_nd: &Matrix) -> Result<()> {
        if x_nd.cols() == self.map.depth {
            return Ok(());
        }
        Err(Error::shape(format!(
            "rows have {} columns, the map takes {}",
            x_nd.cols(),
            self.map.depth
        )))
    }
}

/// The shader's constant for the form of the features.
fn form(nonlinearity: &Nonlinearity) -> i64 {
    i64::from(*nonlinearity != Nonlinearity::CosSin)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an op left behind the columns of x must not reach a feature, in one dispatch and in
    /// steps.
    #[test]
    fn the_padding_of_x_counts_for_nothing_on_devices() {
        for device in crate::under_test::gpus() {
            for d in [3, 21, 4097] {
                for map in check::maps(d, 5, &Nonlinearity::CosSin) {
                    let op = Structured::load(&device, &map).expect("loads");
                    let mut x_nd = Matrix::new(&device, 2, d).expect("fits");
                    let stride = x_nd.stride();
                    x_nd.write_with(|out| {
                        for row in out.chunks_exact_mut(stride) {
                            row[..d].fill(0.0);
                            row[d..].fill(f32::NAN);
                        }
                    })
                    .expect("uploads");
                    let mut z_nd = Matrix::new(&device, 2, 10).expect("fits");
                    op.run(&x_nd, &mut z_nd).expect("runs");
                    let z = z_nd.download().expect("reads back");
                    assert!(z.iter().all(|v| v.is_finite()), "{d}: {z}");
                }
            }
        }
    }
}
