//! The tiles that Gram sums may take on a GPU, and how they are raced.

use super::{BLOCK_ROWS, GramAccumulator, Panels, tiles::Form};
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
        AdapterKind::Discrete | AdapterKind::Virtual if !class.large => tile::SHARED_64,
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

/// Rows and features that stand for a class: several waves of workgroups, a block of rows each.
fn raced(kind: AdapterKind, class: Class) -> (usize, usize) {
    match (class.large, kind) {
        // Thousands of times slower: less of the same.
        (true, AdapterKind::Software) => (128, 512),
        (false, AdapterKind::Software) => (128, 128),
        // On an H200 the winner of 2,048 features loses an eighth at 4,096 and more.
        (true, AdapterKind::Discrete | AdapterKind::Virtual) => (8192, 4096),
        (true, _) => (2048, 2048),
        (false, AdapterKind::Discrete | AdapterKind::Virtual) => (65_536, 512),
        (false, _) => (16_384, 512),
    }
}

struct Sum {
    gpu: GpuDevice,
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
            gpu: gpu.clone(),
        })
    }
}

impl Race<Tile> for Sum {
    fn runner(&mut self, tile: Tile) -> Result<Box<dyn FnMut() -> Result<()> + '_>> {
        let (z, y) = (&self.z_nd, &self.y_nt);
        let (device, panels) = (z.device(), Panels::for_adapter(&self.gpu, Form::Tile(tile)));
        let mut sums = GramAccumulator::with_tile(device, z.cols(), y.cols(), tile, panels)?;
        Ok(Box::new(move || {
            sums.add(z, y)?;
            sums.settle()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::few;

    #[test]
    fn the_shapes_that_are_raced_stand_for_their_class() {
        for &class in MENU.classes {
            let (_, features) = raced(AdapterKind::Discrete, class);
            assert_eq!(MENU.class(shape(features)), class);
        }
    }

    #[test]
    fn shapes_that_are_raced_are_several_waves() {
        for kind in [AdapterKind::Discrete, AdapterKind::Integrated] {
            for &class in MENU.classes {
                let (rows, features) = raced(kind, class);
                for tile in MENU.ways.iter().filter(|tile| tile.bk > 0) {
                    let tiles = features / tile.cols() as usize;
                    let groups = tiles * (tiles + 1) / 2 * (rows / BLOCK_ROWS);
                    let invocations = groups * (tile.tx * tile.ty) as usize;
                    let wave = few::enough_invocations(kind);
                    assert!(invocations >= 4 * wave, "{kind:?} {class:?}, {}", tile.name);
                }
            }
        }
    }
}
