//! Blocks moved on the CPU.

use super::Spot;
use crate::{
    Result,
    device::{CpuDevice, Matrix},
    parallel,
};

/// Rows that a thread moves at a time: they are short work, and fewer would cost more to hand out
/// than to move.
const ROWS: usize = 64;

/// Pairs of scale and shift.
#[derive(Debug)]
pub(super) struct Factors {
    cpu: CpuDevice,
    factors: Vec<[f32; 2]>,
}

impl Factors {
    pub(super) fn new(cpu: &CpuDevice, factors: &[[f32; 2]]) -> Self {
        Self {
            cpu: cpu.clone(),
            factors: factors.to_vec(),
        }
    }

    pub(super) fn run(&self, spot: Spot, source: &Matrix, place: &mut Matrix) -> Result<()> {
        let factors = &self.factors;
        let source_start = spot.source_row * source.stride() + spot.source_col;
        let (from_stride, to_stride) = (source.stride(), place.stride());
        let from = &source.cpu("the source")?[source_start..];
        let to = place.cpu_mut("the place")?;
        self.cpu.install(|| {
            let len = to.len().min(spot.rows * to_stride);
            let from = (from, ROWS * from_stride);
            parallel::usual().pairs(&mut to[..len], ROWS * to_stride, from, &|to, from| {
                for (to, from) in to.chunks_mut(to_stride).zip(from.chunks(from_stride)) {
                    let to = to[spot.col..].iter_mut().zip(from);
                    for ((to, &from), &[scale, shift]) in to.zip(factors) {
                        let value = from * scale + shift;
                        *to = if spot.add { *to + value } else { value };
                    }
                }
            });
        });
        Ok(())
    }
}
