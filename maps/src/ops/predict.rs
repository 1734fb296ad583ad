//! Projection, nonlinearity and their product with coefficients in one op: `y = f(x W + phase)
//! beta`, the features never stored. Its parameters are those of a projection.

pub(crate) mod check;
mod cpu;
mod gpu;
mod menu;

pub(crate) use gpu::OP;
pub(crate) use menu::MENU;

use super::{
    Loaded,
    projection::{self, DenseMap, Projection},
};
use crate::{Error, Result, device::Matrix, form::DenseForm};
use ndarray::{Array2, ArrayView2};

/// `y = f(x W + phase) beta` in f64, from the f32 inputs that the op sees.
pub fn reference(
    map: &DenseMap,
    x_nd: ArrayView2<'_, f32>,
    beta_dt: ArrayView2<'_, f32>,
) -> Array2<f64> {
    projection::reference(map, x_nd).dot(&beta_dt.mapv(f64::from))
}

/// The fused predict of a projection, with what that has loaded.
#[derive(Debug, Clone, Copy)]
pub struct Predict<'p>(&'p Projection);

impl<'p> Predict<'p> {
    /// Predictions by the features of this projection.
    pub fn new(projection: &'p Projection) -> Self {
        Self(projection)
    }

    /// Writes `y = f(x W + phase) beta`, shape `[rows, t]`, for coefficients `beta` of shape `[D,
    /// t]`. Errors with [`Error::Shape`] on other shapes.
    pub fn run(&self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        self.0.check_input(x_nd)?;
        if beta_dt.rows() != self.0.outputs() {
            return Err(Error::shape(format!(
                "coefficients are for {} features, the map gives {}",
                beta_dt.rows(),
                self.0.outputs()
            )));
        }
        if (y_nt.rows(), y_nt.cols()) != (x_nd.rows(), beta_dt.cols()) {
            return Err(Error::shape(format!(
                "y is {} x {}, the prediction {} x {}",
                y_nt.rows(),
                y_nt.cols(),
                x_nd.rows(),
                beta_dt.cols()
            )));
        }
        if y_nt.rows() == 0 || y_nt.cols() == 0 {
            return Ok(());
        }
        match &self.0.loaded {
            Loaded::Cpu(map) => {
                let beta = beta_dt.cpu("the coefficients")?;
                cpu::run(
                    map,
                    x_nd.cpu("x")?,
                    beta,
                    y_nt.cpu_mut("y")?,
                    beta_dt.cols(),
                );
                Ok(())
            }
            Loaded::Gpu(map) => gpu::run(map, x_nd, beta_dt, y_nt),
        }
    }

    /// The form that [`Self::run`] takes for so many rows; `None` on the CPU.
    pub fn form(&self, rows: usize) -> Option<DenseForm> {
        match &self.0.loaded {
            Loaded::Cpu(_) => None,
            Loaded::Gpu(map) => Some(gpu::form(map, rows)),
        }
    }

    /// As [`Self::run`] on a GPU, in `splits` parts instead of as many as suit the adapter; for
    /// checks, which have shapes that fit and a map that was loaded with a tile.
    pub(crate) fn run_in_splits(
        &self,
        x_nd: &Matrix,
        beta_dt: &Matrix,
        y_nt: &mut Matrix,
        splits: usize,
    ) -> Result<()> {
        if let Loaded::Gpu(map) = &self.0.loaded
            && let DenseForm::Tile(tile) = gpu::form(map, x_nd.rows())
        {
            return gpu::tiled(map, x_nd, beta_dt, y_nt, (tile, splits));
        }
        Err(Error::unsupported("splits are of tiles on a GPU"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::normal;
    use crate::{
        form::tile::{self, Tile},
        ops::Nonlinearity,
    };

    #[test]
    fn parts_of_the_frequencies_are_summed_in_one_order_by_every_tile_on_devices() {
        for device in crate::under_test::gpus() {
            if !device.gpu().expect("a GPU").is_software() {
                println!("{device:?} may contract and reassociate: its bits are not compared");
                continue;
            }
            let map = DenseMap {
                w_ds: normal(9, 300, 1),
                phase_s: vec![0.1; 300],
                amplitude_s: vec![0.2; 300],
                nonlinearity: Nonlinearity::CosSin,
            };
            let up = |host: Array2<f32>| Matrix::upload(&device, host.view()).expect("fits");
            let (x_nd, beta_dt) = (up(normal(70, 9, 2)), up(normal(600, 3, 3)));
            let run = |&tile: &Tile, splits| {
                let op = Projection::load_with(&device, &map, tile.into()).expect("loads");
                let mut y_nt = Matrix::new(&device, 70, 3).expect("fits");
                let op = Predict::new(&op);
                op.run_in_splits(&x_nd, &beta_dt, &mut y_nt, splits)
                    .expect("runs");
                y_nt.download().expect("reads back")
            };
            // Without workgroup memory they sum in another order.
            let staged = tile::PREDICT_MENU.iter().filter(|tile| tile.bk > 0);
            let mut results = staged.map(|tile| run(tile, 3));
            let first = results.next().expect("a tile");
            assert!(results.all(|y| y == first), "{device:?}");
            // Negative control: other parts give other bits.
            assert!(run(&tile::PREDICT_MENU[0], 5) != first, "{device:?}");
        }
    }
}
