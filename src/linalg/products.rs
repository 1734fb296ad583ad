//! Products of matrices in f64, on all threads.

use crate::device::CpuDevice;
use faer::{
    Accum, MatMut, MatRef,
    linalg::matmul::{
        matmul,
        triangular::{self, BlockStructure},
    },
};
use ndarray::Array2;

/// `A B` of matrices in standard layout. Panics on others, and on shapes that do not go together.
pub(crate) fn product(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    let shape = (a.nrows(), b.ncols());
    let mut out = Array2::zeros(shape);
    matmul(
        matrix_mut(&mut out),
        Accum::Replace,
        matrix(a),
        matrix(b),
        1.0,
        CpuDevice::shared().par(),
    );
    out
}

/// `A A'` of a matrix in standard layout, the lower triangle; above it are zeros.
pub(crate) fn lower_outer(a: &Array2<f64>) -> Array2<f64> {
    let mut out = Array2::zeros((a.nrows(), a.nrows()));
    triangular::matmul(
        matrix_mut(&mut out),
        BlockStructure::TriangularLower,
        Accum::Replace,
        matrix(a),
        BlockStructure::Rectangular,
        matrix(a).transpose(),
        BlockStructure::Rectangular,
        1.0,
        CpuDevice::shared().par(),
    );
    out
}

fn matrix(a: &Array2<f64>) -> MatRef<'_, f64> {
    let (rows, cols) = a.dim();
    MatRef::from_row_major_slice(a.as_slice().expect("standard layout"), rows, cols)
}

fn matrix_mut(a: &mut Array2<f64>) -> MatMut<'_, f64> {
    let (rows, cols) = a.dim();
    MatMut::from_row_major_slice_mut(a.as_slice_mut().expect("standard layout"), rows, cols)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_ndarray() {
        let a = Array2::from_shape_fn((5, 7), |(i, j)| (i * 3 + j) as f64 / 4.0 - 2.0);
        let b = Array2::from_shape_fn((7, 4), |(i, j)| (i + 2 * j) as f64 / 3.0 - 1.0);
        let apart = product(&a, &b) - a.dot(&b);
        assert!(apart.iter().all(|e| e.abs() < 1e-13), "{apart}");
        let full = a.dot(&a.t());
        for ((i, j), &e) in lower_outer(&a).indexed_iter() {
            let expected = if j <= i { full[[i, j]] } else { 0.0 };
            assert!((e - expected).abs() < 1e-13, "{i} {j}");
        }
    }
}
