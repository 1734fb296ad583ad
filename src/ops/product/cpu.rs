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
        let Self {
            a,
            columns,
            c,
            depth,
        } = self;
        let cols = columns.len() / depth;
        let rows = a.chunks(ROWS * depth);
        for (a, c) in rows.zip(c.chunks_mut(ROWS * cols)) {
            let row = |i: usize| &a[i * depth..][..depth];
            if a.len() == ROWS * depth {
                // Three rows by two columns have twelve sums of vectors, which hide the latency of
                // a multiply-add, take fewer loads than multiply-adds, and fit 16 registers.
                let a: [&[f32]; ROWS] = [row(0), row(1), row(2)];
                by_columns::<S, ROWS, 2>(simd, a, columns, c);
            } else {
                for (i, c) in c.chunks_exact_mut(cols).enumerate() {
                    by_columns::<S, 1, 4>(simd, [row(i)], columns, c);
                }
            }
        }
    }
}

/// Rows whose dot products are summed together.
const ROWS: usize = 3;

/// Dot products of `R` rows with all columns, `C` of these at a time: two or four.
#[inline(always)]
fn by_columns<S: Simd, const R: usize, const C: usize>(
    simd: S,
    a: [&[f32]; R],
    columns: &[f32],
    c: &mut [f32],
) {
    let depth = a[0].len();
    let cols = columns.len() / depth;
    for from in (0..cols).step_by(C) {
        let column = |t: usize| &columns[(from + t) * depth..][..depth];
        let mut put = |dots: &[[f32; R]]| {
            for (t, dots) in dots.iter().enumerate() {
                for (c, &dot) in c.chunks_exact_mut(cols).zip(dots) {
                    c[from + t] = dot;
                }
            }
        };
        match cols - from {
            1 => put(&dots(simd, a, [column(0)])),
            2 => put(&dots(simd, a, [0, 1].map(column))),
            _ if C == 2 => put(&dots(simd, a, [0, 1].map(column))),
            3 => put(&dots(simd, a, [0, 1, 2].map(column))),
            _ => put(&dots(simd, a, [0, 1, 2, 3].map(column))),
        }
    }
}

/// Dot products of a few rows with a few columns, `[column][row]`, so that each is loaded once for
/// all of the others. A sum has two vectors of partial sums.
#[inline(always)]
fn dots<S: Simd, const R: usize, const C: usize>(
    simd: S,
    a: [&[f32]; R],
    b: [&[f32]; C],
) -> [[f32; R]; C] {
    // Whole pairs of vectors first, then one vector that may be left, then what fills none; all of
    // one length, so that the loop has one check for all.
    let steps = a[0].len() / (2 * S::F32_LANES);
    let pairs = |v| &pairs::<S>(v)[..steps];
    let (a_pairs, b_pairs) = (a.map(pairs), b.map(pairs));
    let mut sums = [[[simd.splat_f32s(0.0); 2]; R]; C];
    for k in 0..steps {
        for half in 0..2 {
            // A row at a time, so that 16 registers hold twelve sums, two columns and it.
            for (r, a) in a_pairs.iter().enumerate() {
                for (sums, b) in sums.iter_mut().zip(b_pairs) {
                    sums[r][half] = simd.mul_add_e_f32s(a[k][half], b[k][half], sums[r][half]);
                }
            }
        }
    }
    let mut out = [[0.0; R]; C];
    // A loop and not `from_fn`: a closure would have the sums in memory, at every step.
    for (t, (out, sums)) in out.iter_mut().zip(sums).enumerate() {
        for (r, (out, [mut first, second])) in out.iter_mut().zip(sums).enumerate() {
            let ((a, a_rest), (b, b_rest)) = (S::as_simd_f32s(a[r]), S::as_simd_f32s(b[t]));
            // The order of a sum follows from depth and vector width alone, so that a row gives the
            // same bits in any batch.
            for (&a, &b) in a[2 * steps..].iter().zip(&b[2 * steps..]) {
                first = simd.mul_add_e_f32s(a, b, first);
            }
            let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
            *out = simd.reduce_sum_f32s(simd.add_f32s(first, second)) + rest;
        }
    }
    out
}

/// Two vectors at a time.
#[inline(always)]
fn pairs<S: Simd>(v: &[f32]) -> &[[S::f32s; 2]] {
    S::as_simd_f32s(v).0.as_chunks().0
}
