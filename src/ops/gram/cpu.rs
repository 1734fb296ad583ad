//! Gram sums on the CPU: see [`Triangle`].

use super::GramSums;
use crate::{device::CpuDevice, simd::Triangle};
use std::mem;

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
            triangle: Triangle::new(features, targets),
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

    /// The sums; they begin anew at zero.
    pub(super) fn take(&mut self, size: (usize, usize)) -> GramSums {
        let anew = Self::new(&self.cpu, size);
        mem::replace(self, anew).finish()
    }

    pub(super) fn finish(self) -> GramSums {
        let triangle = self.triangle;
        let (gram_dd, zty_dt) = self.cpu.install(|| triangle.finish());
        GramSums { gram_dd, zty_dt }
    }
}
