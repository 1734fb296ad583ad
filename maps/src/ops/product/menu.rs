//! The tiles that a product of many columns may take on a GPU, and how they are raced.

use super::{ProductForm, product_with};
use crate::{
    Device, Matrix, Result,
    device::GpuDevice,
    form::{Class, Menu, Race, Shape, Tile, race::noisy, tile},
};

/// The menu of products of many columns.
pub(crate) static MENU: Menu<Tile> = Menu {
    op: "product",
    ways: tile::MENU,
    deep: tile::DEEP,
    classes: Class::ALL,
    default: tile::usual,
    race: |gpu, class| Ok(Box::new(Multiply::new(gpu, class)?)),
};

struct Multiply {
    a_nk: Matrix,
    b_kt: Matrix,
    c_nt: Matrix,
}

impl Multiply {
    fn new(gpu: &GpuDevice, class: Class) -> Result<Self> {
        let device = Device::Gpu(gpu.clone());
        let Shape { rows, depth, cols } = tile::raced(gpu.report().kind, class);
        Ok(Self {
            a_nk: noisy(&device, rows, depth)?,
            b_kt: noisy(&device, depth, cols)?,
            c_nt: Matrix::new(&device, rows, cols)?,
        })
    }
}

impl Race<Tile> for Multiply {
    fn runner(&mut self, tile: Tile) -> Result<Box<dyn FnMut() -> Result<()> + '_>> {
        let form = ProductForm::from(tile);
        Ok(Box::new(move || {
            product_with(&self.a_nk, &self.b_kt, &mut self.c_nt, form)
        }))
    }
}
