//! Hashes of bins on the CPU.

use super::{END, Grids, START, bin, fixed, mix};
use crate::{
    Result,
    device::{CpuDevice, Matrix},
    instructions::{Loops, vectorized},
};
use rayon::prelude::*;

/// Grids as rows of pairs.
#[derive(Debug)]
pub(super) struct Table {
    cpu: CpuDevice,
    depth: usize,
    grids: usize,
    /// Inverse pitch and shift, `[d, P]`.
    grid: Vec<[u32; 2]>,
}

impl Table {
    pub(super) fn new(cpu: &CpuDevice, grids: &Grids) -> Self {
        let (depth, count) = grids.inverse_dp.dim();
        let pairs = grids.inverse_dp.iter().zip(&grids.shift_dp);
        Self {
            cpu: cpu.clone(),
            depth,
            grids: count,
            grid: pairs.map(|(&inverse, &shift)| [inverse, shift]).collect(),
        }
    }

    pub(super) fn run(&self, x_nd: &Matrix, row0: usize, hash: &mut Matrix) -> Result<()> {
        let (depth, words) = (self.depth, 2 * self.grids);
        let x = &x_nd.cpu("x")?[row0 * depth..];
        let grid = &self.grid[..];
        let hash: &mut [u32] = bytemuck::cast_slice_mut(hash.cpu_mut("the hashes")?);
        self.cpu.install(|| {
            hash.par_chunks_mut(words)
                .zip(x.par_chunks(depth))
                .for_each_init(
                    || (vec![0; self.grids], vec![0; self.grids]),
                    |(a, b), (hash, x)| {
                        vectorized(Row {
                            x,
                            grid,
                            a,
                            b,
                            hash,
                        });
                    },
                );
        });
        Ok(())
    }
}

/// One row in all grids: column by column, so that the grids of a column are neighbours in memory
/// and in vectors.
struct Row<'a> {
    x: &'a [f32],
    grid: &'a [[u32; 2]],
    /// The two halves of every grid's hash: each a vector of its own, where pairs would need
    /// shuffles.
    a: &'a mut [u32],
    b: &'a mut [u32],
    hash: &'a mut [u32],
}

impl Loops for Row<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            x,
            grid,
            a,
            b,
            hash,
        } = self;
        a.fill(START[0]);
        b.fill(START[1]);
        for (&x, grid) in x.iter().zip(grid.chunks_exact(a.len())) {
            // In whole numbers from here on: equal on every device, bit for bit.
            let x = fixed(x);
            for ((a, b), &[inverse, shift]) in a.iter_mut().zip(&mut *b).zip(grid) {
                [*a, *b] = mix([*a, *b], bin(x, inverse, shift));
            }
        }
        for ((out, &mut a), &mut b) in hash.chunks_exact_mut(2).zip(a).zip(b) {
            out.copy_from_slice(&END.into_iter().fold([a, b], mix));
        }
    }
}
