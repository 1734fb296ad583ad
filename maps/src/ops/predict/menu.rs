//! The tiles that a fused prediction may take on a GPU, and how they are raced.

use super::Predict;
use crate::{
    Device, Matrix, Result,
    device::{GpuDevice, gpu::AdapterKind},
    form::{Class, Menu, Race, Shape, Tile, race::noisy, tile},
    ops::projection::{DenseMap, Projection, menu::noisy_map},
};

/// The menu of predictions. A workgroup walks over all frequencies, so that a shape has one column
/// for them.
pub(crate) static MENU: Menu<Tile> = Menu {
    op: "predict",
    ways: tile::PREDICT_MENU,
    deep: tile::DEEP,
    classes: Class::ALL,
    default: usual,
    race: |gpu, class| Ok(Box::new(Predicting::new(gpu, class)?)),
};

/// As [`tile::usual`]; 128 x 128 would sum in other strips.
fn usual(kind: AdapterKind, class: Class) -> Tile {
    match kind {
        AdapterKind::Software | AdapterKind::Integrated => tile::usual(kind, class),
        _ => tile::SHARED_64,
    }
}

/// The shape that stands for a class, and frequencies: of the large ones, several waves of
/// workgroups.
fn raced(kind: AdapterKind, class: Class) -> (Shape, usize) {
    let depth = if class.deep { 128 } else { 32 };
    let (rows, freqs) = match (class.large, kind) {
        // Thousands of times slower: less of the same.
        (true, AdapterKind::Software) => (4096, 64),
        (false, AdapterKind::Software) => (256, 128),
        (true, AdapterKind::Discrete | AdapterKind::Virtual) => (262_144, 256),
        (true, _) => (65_536, 256),
        (false, _) => (4096, 512),
    };
    let cols = 1;
    (Shape { rows, depth, cols }, freqs)
}

struct Predicting {
    device: Device,
    map: DenseMap,
    x_nd: Matrix,
    beta_dt: Matrix,
    y_nt: Matrix,
}

impl Predicting {
    fn new(gpu: &GpuDevice, class: Class) -> Result<Self> {
        let device = Device::Gpu(gpu.clone());
        let (Shape { rows, depth, .. }, freqs) = raced(gpu.report().kind, class);
        Ok(Self {
            map: noisy_map(depth, freqs),
            x_nd: noisy(&device, rows, depth)?,
            beta_dt: noisy(&device, 2 * freqs, 4)?,
            y_nt: Matrix::new(&device, rows, 4)?,
            device,
        })
    }
}

impl Race<Tile> for Predicting {
    fn runner(&mut self, tile: Tile) -> Result<Box<dyn FnMut() -> Result<()> + '_>> {
        let op = Projection::load_with(&self.device, &self.map, tile.into())?;
        let (x_nd, beta_dt, y_nt) = (&self.x_nd, &self.beta_dt, &mut self.y_nt);
        Ok(Box::new(move || Predict::new(&op).run(x_nd, beta_dt, y_nt)))
    }

    /// Tuning changes no order of sums: that of tiles through workgroup memory is another than that
    /// of tiles without.
    fn is_sound(&mut self, tile: Tile) -> Result<bool> {
        let kind = self.device.gpu()?.report().tiles_of();
        let stages = |tile: Tile| tile.bk > 0;
        Ok(Class::ALL
            .iter()
            .all(|&class| stages(usual(kind, class)) == stages(tile)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::few;

    #[test]
    fn the_shapes_that_are_raced_stand_for_their_class() {
        for &class in MENU.classes {
            let (shape, _) = raced(AdapterKind::Discrete, class);
            assert_eq!(MENU.class(shape), class);
        }
    }

    #[test]
    fn large_shapes_that_are_raced_are_several_waves() {
        for kind in [AdapterKind::Discrete, AdapterKind::Integrated] {
            for class in MENU.classes.iter().filter(|class| class.large) {
                let (shape, freqs) = raced(kind, *class);
                let splits = few::feature_splits(kind, shape.rows, freqs);
                for tile in MENU.ways.iter().filter(|tile| tile.bk > 0) {
                    let groups = splits * shape.rows / tile.rows() as usize;
                    let invocations = groups * (tile.tx * tile.ty) as usize;
                    let wave = few::enough_invocations(kind);
                    assert!(invocations >= 4 * wave, "{kind:?}, {}", tile.name);
                }
            }
        }
    }
}
