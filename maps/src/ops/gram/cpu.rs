//! Gram sums on the CPU: see [`Triangle`].

use super::GramSums;
use crate::{device::CpuDevice, simd::Triangle};
use ndarray::Array2;

/// Running sums.
#[derive(Debug)]
pub(super) struct Sums {
    cpu: CpuDevice,
    triangle: Triangle,
}

impl Sums {
    pub(super) fn new(cpu: &CpuDevice, (features, targets): (usize, usize)) -> Self {
        Self {
            cpu: cpu.clone(),
            triangle: cpu.install(|| Triangle::new(features, targets)),
        }
    }

    pub(super) fn add(&mut self, z: &[f32], y: &[f32]) {
        let triangle = &mut self.triangle;
        self.cpu.install(|| triangle.add(z, y));
    }

    /// Sums the rows that are packed and wait for more.
    pub(super) fn settle(&mut self) {
        let triangle = &mut self.triangle;
        self.cpu.install(|| triangle.sum());
    }

    /// Adds the sums to these and gives those of `Z'Y`; they begin anew at zero.
    pub(super) fn take_onto(&mut self, gram_dd: &mut Array2<f64>, targets: usize) -> Array2<f64> {
        let mut zty_dt = Array2::zeros((gram_dd.nrows(), targets));
        let triangle = &mut self.triangle;
        self.cpu
            .install(|| triangle.take_onto(gram_dd, &mut zty_dt));
        zty_dt
    }

    pub(super) fn finish(self) -> GramSums {
        let triangle = self.triangle;
        let (gram_dd, zty_dt) = self.cpu.install(|| triangle.finish());
        GramSums { gram_dd, zty_dt }
    }
}
