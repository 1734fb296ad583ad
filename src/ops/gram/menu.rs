//! The tiles that Gram sums may take on a GPU, and how they are raced.

use super::{BLOCK_ROWS, GramAccumulator};
use crate::{
    Device, Matrix, Result,
    device::{GpuDevice, gpu::AdapterKind},
    form::{Class, Menu, Race, Shape, Tile, race::noisy, tile},
};

/// The menu of Gram sums, which are over thousands of rows and thus always deep.
pub(crate) static MENU: Menu<Tile> = Menu {
    op: "gram",
    ways: tile::SQUARE_MENU,
    deep: tile::DEEP,
    classes: Class::DEEP,
    default: |kind, class| match kind {
        AdapterKind::Software => tile::DIRECT_64,
        _ => tile::usual(kind, class),
    },
    race: |gpu, class| Ok(Box::new(Sum::new(gpu, class)?)),
};

/// The shape of Z'Z for so many features.
pub(super) fn shape(features: usize) -> Shape {
    Shape {
        rows: features,
        depth: BLOCK_ROWS,
        cols: features,
    }
}

/// Rows and features that stand for a class.
fn raced(kind: AdapterKind, class: Class) -> (usize, usize) {
    let features = if class.large { 2048 } else { 512 };
    match kind {
        // Thousands of times slower: less of the same.
        AdapterKind::Software => (128, features / 4),
        _ => (2048, features),
    }
}

struct Sum {
    device: Device,
    z_nd: Matrix,
    y_nt: Matrix,
}

impl Sum {
    fn new(gpu: &GpuDevice, class: Class) -> Result<Self> {
        let device = Device::Gpu(gpu.clone());
        let (rows, features) = raced(gpu.report().kind, class);
        Ok(Self {
            z_nd: noisy(&device, rows, features)?,
            y_nt: noisy(&device, rows, 4)?,
            device,
        })
    }
}

impl Race<Tile> for Sum {
    fn runner(&mut self, tile: Tile) -> Result<Box<dyn FnMut() -> Result<()> + '_>> {
        let (z, y) = (&self.z_nd, &self.y_nt);
        let sums = GramAccumulator::with_tile(&self.device, z.cols(), y.cols(), tile, u64::MAX);
        let mut sums = sums?;
        Ok(Box::new(move || sums.add(z, y)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shapes_that_are_raced_stand_for_their_class() {
        for &class in MENU.classes {
            let (_, features) = raced(AdapterKind::Discrete, class);
            assert_eq!(MENU.class(shape(features)), class);
        }
    }
}
