//! Structured maps in one op: `z = amplitude * cos(2 pi (C x + phase))`, C made of signs,
//! Walsh-Hadamard transforms, permutations and diagonals, so that a feature costs O(log d) instead
//! of O(d).

mod cpu;
mod gpu;
mod map;

pub use gpu::{OP, STAGE_OP};
pub use map::{Mixing, StructuredMap, reference};

use super::product;
use crate::{
    Error, Result,
    device::{Device, Matrix},
    ops::Nonlinearity,
};

/// A structured map loaded on a device.
#[derive(Debug)]
pub struct Structured {
    device: Device,
    map: StructuredMap,
    tables: Tables,
    /// Features of the rows in work of [`Self::predict`], kept between calls.
    scratch: Option<Matrix>,
}

#[derive(Debug)]
enum Tables {
    Cpu(cpu::Tables),
    Gpu(Box<gpu::Tables>),
}

/// Features that [`Structured::predict`] keeps at a time.
const SCRATCH_BYTES: usize = 32 << 20;

impl Structured {
    /// Uploads the parameters. Errors with [`Error::Shape`] when they do not fit together, and with
    /// [`Error::Limit`] when they exceed the device's bindings.
    pub fn load(device: &Device, map: &StructuredMap) -> Result<Self> {
        map.check()?;
        Ok(Self {
            device: device.clone(),
            map: map.clone(),
            tables: match device {
                Device::Cpu(_) => Tables::Cpu(cpu::Tables::new(map)),
                Device::Gpu(_) => Tables::Gpu(Box::new(gpu::Tables::new(device, map)?)),
            },
            scratch: None,
        })
    }

    /// Number of output columns, D.
    pub fn outputs(&self) -> usize {
        self.map.outputs()
    }

    /// How often a GPU reads and writes each element of a block.
    pub(crate) fn passes(&self) -> u32 {
        gpu::passes(&self.map)
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
        self.run_rows(x_nd, 0, z_nd)
    }

    /// Writes `y = z beta`, shape `[rows, t]`, for coefficients of shape `[D, t]`; at most 32 MiB
    /// of features at a time. Errors with [`Error::Shape`] on other shapes.
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
        if let (Device::Cpu(device), Tables::Cpu(tables)) = (&self.device, &self.tables) {
            return cpu::predict(&self.map, tables, device, x_nd, beta_dt, y_nt);
        }
        let most = (SCRATCH_BYTES / (4 * outputs.next_multiple_of(4))).max(1);
        let batch = most.min(rows);
        let mut z_nd = match self.scratch.take() {
            Some(z_nd) if z_nd.capacity_rows() >= batch => z_nd,
            _ => Matrix::new(&self.device, batch, outputs)?,
        };
        for row0 in (0..rows).step_by(most) {
            z_nd.set_rows(batch.min(rows - row0))?;
            self.run_rows(x_nd, row0, &mut z_nd)?;
            product::product_into_rows(&z_nd, beta_dt, y_nt, row0)?;
        }
        self.scratch = Some(z_nd);
        Ok(())
    }

    /// The features of as many rows as z has, from row `row0` of x on.
    fn run_rows(&self, x_nd: &Matrix, row0: usize, z_nd: &mut Matrix) -> Result<()> {
        match (&self.device, &self.tables) {
            (Device::Cpu(device), Tables::Cpu(tables)) => {
                cpu::run(&self.map, tables, device, x_nd, z_nd)
            }
            (Device::Gpu(device), Tables::Gpu(tables)) => {
                gpu::run(&self.map, tables, device, x_nd, row0, z_nd)
            }
            _ => unreachable!("tables are made for the device"),
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
fn form(nonlinearity: Nonlinearity) -> i64 {
    i64::from(nonlinearity != Nonlinearity::CosSin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        features::{Affine, Fastfood, Sorf},
        kernels::Gaussian,
    };

    /// What an op left behind the columns of x must not reach a feature, in one dispatch and in
    /// steps.
    #[test]
    fn the_padding_of_x_counts_for_nothing() {
        for device in crate::under_test::gpus() {
            for d in [3, 21, 4097] {
                let fastfood = Fastfood::new(Gaussian).features(10);
                let sorf = Sorf::new(Gaussian).features(10);
                let input = || Affine::identity(d);
                for map in [fastfood.build(input()), sorf.build(input())] {
                    let map = map.expect("draws");
                    let op = Structured::load(&device, map.parameters()).expect("loads");
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
