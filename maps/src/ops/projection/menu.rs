//! The tiles that a projection may take on a GPU, and how they are raced.

use super::{DenseMap, Projection};
use crate::{
    Device, Matrix, Result,
    device::GpuDevice,
    form::{
        Class, Menu, Race, Shape, Tile,
        race::{noise, noisy},
        tile,
    },
    ops::Nonlinearity,
};
use ndarray::Array2;

/// The menu of projections, whatever their nonlinearity.
pub(crate) static MENU: Menu<Tile> = Menu {
    op: "projection",
    ways: tile::MENU,
    deep: tile::DEEP,
    classes: Class::ALL,
    default: tile::usual,
    race: |gpu, class| Ok(Box::new(Featurize::new(gpu, class)?)),
};

struct Featurize {
    device: Device,
    map: DenseMap,
    x_nd: Matrix,
    z_nd: Matrix,
}

impl Featurize {
    fn new(gpu: &GpuDevice, class: Class) -> Result<Self> {
        let device = Device::Gpu(gpu.clone());
        let Shape { rows, depth, cols } = tile::raced(gpu.report().kind, class);
        Ok(Self {
            map: noisy_map(depth, cols),
            x_nd: noisy(&device, rows, depth)?,
            z_nd: Matrix::new(&device, rows, 2 * cols)?,
            device,
        })
    }
}

impl Race<Tile> for Featurize {
    fn runner(&mut self, tile: Tile) -> Result<Box<dyn FnMut() -> Result<()> + '_>> {
        let op = Projection::load_with(&self.device, &self.map, tile.into())?;
        Ok(Box::new(move || op.run(&self.x_nd, &mut self.z_nd)))
    }
}

/// A paired map of noise.
pub(in crate::ops) fn noisy_map(depth: usize, freqs: usize) -> DenseMap {
    DenseMap {
        w_ds: Array2::from_shape_fn((depth, freqs), |(k, l)| noise(k * freqs + l)),
        phase_s: vec![0.0; freqs],
        amplitude_s: vec![1.0; freqs],
        nonlinearity: Nonlinearity::CosSin,
    }
}
