//! Cholesky factors and triangular solves of ndarray matrices, in place, on all threads.

use crate::device::CpuDevice;
use faer::{
    Auto, MatMut, MatRef, Spec,
    dyn_stack::{MemBuffer, MemStack},
    linalg::{cholesky::llt, triangular_solve},
};
use ndarray::Array2;
use rayon::prelude::*;

/// Rows that start a multiple of this many bytes apart fall on the same few lines of a cache.
const ALIAS_BYTES: usize = 4096;
/// Floats that keep them apart.
const PADDING: usize = 8;
/// Columns that are factored together.
const BLOCK: usize = 256;

/// Overwrites the lower triangle of `a` (standard layout, only its lower triangle read) with L, `a = L L'`.
/// False when `a` is not positive definite.
pub(crate) fn factor(a: &mut Array2<f64>) -> bool {
    let n = a.nrows();
    if n < BLOCK || !(n * size_of::<f64>()).is_multiple_of(ALIAS_BYTES) {
        return factor_in_place(matrix(a));
    }
    let stride = n + PADDING;
    let mut apart = vec![0.0; n * stride];
    let flat = a.as_slice_mut().expect("standard layout");
    let rows = flat
        .par_chunks_exact_mut(n)
        .zip(apart.par_chunks_exact_mut(stride));
    rows.enumerate()
        .for_each(|(i, (row, apart))| apart[..=i].copy_from_slice(&row[..=i]));
    // faer 0.24's own constructor of strided row-major views takes the strides for those of columns.
    let columns = MatMut::from_column_major_slice_with_stride_mut(&mut apart, n, n, stride);
    let definite = factor_in_place(columns.transpose_mut());
    let rows = flat
        .par_chunks_exact_mut(n)
        .zip(apart.par_chunks_exact(stride));
    rows.enumerate()
        .for_each(|(i, (row, apart))| row[..=i].copy_from_slice(&apart[..=i]));
    definite
}

fn factor_in_place(a: MatMut<'_, f64>) -> bool {
    let n = a.nrows();
    let par = CpuDevice::shared().par();
    let mut params = <llt::factor::LltParams as Auto<f64>>::auto();
    (params.block_size, params.recursion_threshold) = (BLOCK, BLOCK / 2);
    let params = Spec::new(params);
    let scratch = llt::factor::cholesky_in_place_scratch::<f64>(n, par, params);
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    llt::factor::cholesky_in_place(a, Default::default(), par, stack, params).is_ok()
}

/// Overwrites `b` (standard layout) with `L^-1 b`, L the lower triangle of `factor`.
pub(crate) fn solve_lower(factor: &Array2<f64>, b: &mut Array2<f64>) {
    let n = factor.nrows();
    let lower = MatRef::from_row_major_slice(factor.as_slice().expect("standard layout"), n, n);
    let par = CpuDevice::shared().par();
    triangular_solve::solve_lower_triangular_in_place(lower, matrix(b), par);
}

/// Overwrites `b` (standard layout) with `L'^-1 b`.
pub(crate) fn solve_upper(factor: &Array2<f64>, b: &mut Array2<f64>) {
    let n = factor.nrows();
    let lower = MatRef::from_row_major_slice(factor.as_slice().expect("standard layout"), n, n);
    let par = CpuDevice::shared().par();
    triangular_solve::solve_upper_triangular_in_place(lower.transpose(), matrix(b), par);
}

fn matrix(a: &mut Array2<f64>) -> MatMut<'_, f64> {
    let (rows, cols) = a.dim();
    MatMut::from_row_major_slice_mut(a.as_slice_mut().expect("standard layout"), rows, cols)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// L L' is the matrix again, where rows are kept apart and where they are not.
    #[test]
    fn factors_multiply_to_the_matrix() {
        for n in [1, 7, 300, 512] {
            let full = Array2::from_shape_fn((n, n), |(i, j)| match i == j {
                true => n as f64,
                false => ((i * j) as f64).sin(),
            });
            let mut lower = full.clone();
            assert!(factor(&mut lower));
            for ((i, j), l) in lower.indexed_iter_mut() {
                if j > i {
                    *l = 0.0;
                }
            }
            let error = lower.dot(&lower.t()) - &full;
            assert!(error.iter().all(|e| e.abs() < 1e-12 * n as f64), "{n}");
        }
        assert!(!factor(&mut Array2::from_elem((512, 512), -1.0)));
    }
}
