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

    /// Adds `Z'Z` to a sum and what rounding took from it, and gives `Z'Y`; begins anew at zero.
    pub(super) fn take_onto(
        &mut self,
        gram_dd: &mut Array2<f64>,
        rest_d: &mut [f64],
    ) -> Array2<f64> {
        let triangle = &mut self.triangle;
        self.cpu.install(|| triangle.take_onto(gram_dd, rest_d))
    }

    pub(super) fn finish(self) -> GramSums {
        let triangle = self.triangle;
        let (gram_dd, zty_dt) = self.cpu.install(|| triangle.finish());
        GramSums { gram_dd, zty_dt }
    }
}
