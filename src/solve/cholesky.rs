//! Cholesky factors and triangular solves of ndarray matrices, in place, on all threads.

use crate::device::CpuDevice;
use faer::{
    MatMut, MatRef, Spec,
    dyn_stack::{MemBuffer, MemStack},
    linalg::{cholesky::llt, triangular_solve},
};
use ndarray::Array2;

/// Overwrites the lower triangle of `a` (standard layout, only its lower triangle read) with L, `a = L L'`.
/// False when `a` is not positive definite.
pub(crate) fn factor(a: &mut Array2<f64>) -> bool {
    let n = a.nrows();
    let par = CpuDevice::shared().par();
    let scratch = llt::factor::cholesky_in_place_scratch::<f64>(n, par, Spec::default());
    let mut memory = MemBuffer::new(scratch);
    llt::factor::cholesky_in_place(
        matrix(a),
        Default::default(),
        par,
        MemStack::new(&mut memory),
        Spec::default(),
    )
    .is_ok()
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
