//! Matrix products on the CPU: the right factor is laid out once for many rows.

use crate::{
    Result,
    device::{CpuDevice, Matrix},
    parallel,
    simd::{Epilogue, Panels, for_each_row, rows_per_block},
};
use pulp::{Simd, WithSimd};

/// Up to so many columns are dot products of whole rows; more fill the panels of a register tile.
const NARROW: usize = 12;

pub(super) fn run(cpu: &CpuDevice, a_nk: &Matrix, b_kt: &Matrix, c_nt: &mut Matrix) -> Result<()> {
    let (depth, cols) = (a_nk.cols(), b_kt.cols());
    if cols == 0 {
        return Ok(());
    }
    let block = rows_per_block(a_nk.rows(), cpu.threads());
    let a = a_nk.cpu("the left factor")?;
    let b = RightFactor::new(b_kt.cpu("the right factor")?, depth, cols);
    let c = c_nt.cpu_mut("the product")?;
    cpu.install(|| {
        let a = (a, block * depth);
        parallel::usual().pairs(c, block * cols, a, &|c, a| b.times(a, c));
    });
    Ok(())
}

/// `b` of a product `c = a b`. An entry of c is summed in one order whatever the batch of rows
/// around it.
pub(crate) struct RightFactor {
    depth: usize,
    cols: usize,
    layout: Layout,
}

enum Layout {
    /// `[t, k]`: columns whole.
    Narrow(Vec<f32>),
    Wide(Panels),
}

impl RightFactor {
    /// Lays out a row-major matrix, `[depth, cols]`.
    pub(crate) fn new(b: &[f32], depth: usize, cols: usize) -> Self {
        // Panels pad columns to their width; for a few targets most of the work would be padding.
        let layout = if cols <= NARROW {
            let mut columns = vec![0.0; depth * cols];
            for (k, row) in b.chunks_exact(cols.max(1)).enumerate() {
                for (t, &v) in row.iter().enumerate() {
                    columns[t * depth + k] = v;
                }
            }
            Layout::Narrow(columns)
        } else {
            Layout::Wide(Panels::pack(b, depth, cols))
        };
        Self {
            depth,
            cols,
            layout,
        }
    }

    /// Writes `c = a b` for whole rows of `a`, row-major, on this thread.
    pub(crate) fn times(&self, a: &[f32], c: &mut [f32]) {
        if self.cols == 0 {
            return;
        }
        match &self.layout {
            Layout::Narrow(columns) => {
                crate::instructions::arch().dispatch(Dots {
                    a,
                    columns,
                    c,
                    depth: self.depth,
                });
            }
            Layout::Wide(panels) => {
                let cols = self.cols;
                for_each_row(a, &mut [panels.all()].into_iter(), Store { c, cols });
            }
        }
    }
}

struct Store<'a> {
    c: &'a mut [f32],
    cols: usize,
}

impl Epilogue for Store<'_> {
    #[inline(always)]
    fn row<S: Simd>(&mut self, _: S, row: usize, col: usize, t: &[f32]) {
        self.c[row * self.cols + col..][..t.len()].copy_from_slice(t);
    }

    #[inline(always)]
    fn rows<S: Simd>(&mut self, _: S, row: usize, col: usize, t: &[f32]) {
        // As vectors, of which there are two: a copy of unknown length would be a call.
        let (t, _) = S::as_simd_f32s(t);
        let rows = self.c[row * self.cols..].chunks_exact_mut(self.cols);
        for (c, t) in rows.zip(t.as_chunks::<2>().0) {
            let (c, _) = S::as_mut_simd_f32s(&mut c[col..col + 2 * S::F32_LANES]);
            for (c, &t) in c.iter_mut().zip(t) {
                *c = t;
            }
        }
    }
}

struct Dots<'a> {
    a: &'a [f32],
    columns: &'a [f32],
    c: &'a mut [f32],
    depth: usize,
}

impl WithSimd for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let depth = self.depth;
        let cols = self.columns.len() / depth;
        let rows = self.a.chunks_exact(depth);
        for (a, c) in rows.zip(self.c.chunks_exact_mut(cols)) {
            // Four columns have eight sums of vectors, enough to hide the latency of a multiply-
            // add, and fit 16 registers beside their operands.
            let fours = self.columns.chunks(4 * depth);
            for (c, b) in c.chunks_mut(4).zip(fours) {
                let column = |t: usize| &b[t * depth..][..depth];
                match c.len() {
                    1 => c.copy_from_slice(&dots(simd, a, [column(0)])),
                    2 => c.copy_from_slice(&dots(simd, a, [0, 1].map(column))),
                    3 => c.copy_from_slice(&dots(simd, a, [0, 1, 2].map(column))),
                    _ => c.copy_from_slice(&dots(simd, a, [0, 1, 2, 3].map(column))),
                }
            }
        }
    }
}

/// Dot products of `a` with a few columns, so that `a` is loaded once for all. A sum has two
/// vectors of partial sums.
#[inline(always)]
fn dots<S: Simd, const N: usize>(simd: S, a: &[f32], b: [&[f32]; N]) -> [f32; N] {
    let (a, a_rest) = S::as_simd_f32s(a);
    let (a, a_last) = a.as_chunks::<2>();
    let b_rest = b.map(|b| S::as_simd_f32s(b).1);
    let b = b.map(|b| S::as_simd_f32s(b).0.as_chunks::<2>());
    // Whole pairs of vectors first, then one vector that may be left, then what fills none.
    let mut sums = [[simd.splat_f32s(0.0); 2]; N];
    for (k, a) in a.iter().enumerate() {
        for (sum, (b, _)) in sums.iter_mut().zip(b) {
            sum[0] = simd.mul_add_e_f32s(a[0], b[k][0], sum[0]);
            sum[1] = simd.mul_add_e_f32s(a[1], b[k][1], sum[1]);
        }
    }
    std::array::from_fn(|t| {
        let [mut first, second] = sums[t];
        // The order of a sum follows from depth and vector width alone, so that a row gives the
        // same bits in any batch.
        for (&a, &b) in a_last.iter().zip(b[t].1) {
            first = simd.mul_add_e_f32s(a, b, first);
        }
        let rest: f32 = a_rest.iter().zip(b_rest[t]).map(|(a, b)| a * b).sum();
        simd.reduce_sum_f32s(simd.add_f32s(first, second)) + rest
    })
}
