//! The exchanges that a transform may take on a GPU, and how they are raced.

use super::WalshHadamard;
use crate::{
    Device, Matrix, Result,
    device::{GpuDevice, gpu::AdapterKind},
    form::{Class, Exchange, Menu, Race, Shape, race::noisy},
};

/// The menu of transforms whose rows have a choice.
pub(crate) static MENU: Menu<Exchange> = Menu {
    op: "transform",
    ways: Exchange::ALL,
    deep: 256,
    classes: Class::ALL,
    // Neither barriers nor workgroup memory, where subgroups have one size.
    default: |_, _| Exchange::SubgroupShuffles,
    race: |gpu, class| Ok(Box::new(Transform::new(gpu, class)?)),
};

/// The shape of so many rows of `n` elements.
pub(super) fn shape(rows: usize, n: usize) -> Shape {
    let (depth, cols) = (n, n);
    Shape { rows, depth, cols }
}

/// Rows and their length that stand for a class. The large ones are more than the caches of most
/// adapters hold.
fn raced(kind: AdapterKind, class: Class) -> (usize, usize) {
    let n = if class.deep { 1024 } else { 256 };
    let elements = if class.large { 1 << 24 } else { 1 << 18 };
    match kind {
        // Thousands of times slower: less of the same.
        AdapterKind::Software => (elements / n / 4, n),
        _ => (elements / n, n),
    }
}

struct Transform {
    device: Device,
    x_nd: Matrix,
    y_nd: Matrix,
}

impl Transform {
    fn new(gpu: &GpuDevice, class: Class) -> Result<Self> {
        let device = Device::Gpu(gpu.clone());
        let (rows, n) = raced(gpu.report().kind, class);
        Ok(Self {
            x_nd: noisy(&device, rows, n)?,
            y_nd: Matrix::new(&device, rows, n)?,
            device,
        })
    }
}

impl Race<Exchange> for Transform {
    fn runner(&mut self, exchange: Exchange) -> Result<Box<dyn FnMut() -> Result<()> + '_>> {
        let op = WalshHadamard::new(self.x_nd.cols())?.with_exchange(exchange);
        Ok(Box::new(move || op.run_into(&self.x_nd, &mut self.y_nd)))
    }

    /// Shuffles rely on subgroups that are full and of the size that the driver told: what gives
    /// other bits than workgroup memory is not taken, so that tuning changes no bit of a transform.
    fn is_sound(&mut self, exchange: Exchange) -> Result<bool> {
        let n = self.x_nd.cols();
        let x_nd = noisy(&self.device, 259, n)?;
        let bits = |exchange| {
            let mut y_nd = Matrix::new(&self.device, x_nd.rows(), n)?;
            let op = WalshHadamard::new(n)?.with_exchange(exchange);
            op.run_into(&x_nd, &mut y_nd)?;
            y_nd.download()
        };
        Ok(bits(exchange)? == bits(Exchange::WorkgroupMemory)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shapes_that_are_raced_stand_for_their_class() {
        for &class in MENU.classes {
            let (rows, n) = raced(AdapterKind::Discrete, class);
            assert_eq!(MENU.class(shape(rows, n)), class);
        }
    }
}
