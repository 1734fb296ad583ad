//! Products of matrices in f64, on all threads.

use super::cholesky::subtract_outer;
use crate::device::CpuDevice;
use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use ndarray::{Array2, ArrayView2, s};

/// `A B` of matrices in standard layout. Panics on others, and on shapes that do not go together.
pub fn product(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    multiply(a.view(), b.view(), CpuDevice::shared().par())
}

/// As [`product`], on the thread that asks: for one that has its share of the rows.
pub fn product_of_share(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Array2<f64> {
    multiply(a, b, Par::Seq)
}

fn multiply(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>, par: Par) -> Array2<f64> {
    let mut out = Array2::zeros((a.nrows(), b.ncols()));
    let (to, a, b) = (matrix_mut(&mut out), matrix(a), matrix(b));
    matmul(to, Accum::Replace, a, b, 1.0, par);
    out
}

/// `A A'` of a matrix in standard layout, the lower triangle; above it are zeros. The bits are the
/// same on every machine.
pub fn lower_outer(a: &Array2<f64>) -> Array2<f64> {
    let n = a.nrows();
    let mut out = Array2::zeros((n, n));
    CpuDevice::shared().install(|| subtract_lower_outer(&mut out, a.view()));
    for (i, mut row) in out.rows_mut().into_iter().enumerate() {
        row.slice_mut(s![..=i]).mapv_inplace(|v| 0.0 - v);
        row.slice_mut(s![i + 1..]).fill(0.0);
    }
    out
}

/// Subtracts the lower triangle of `A A'` from `C`, of which the rest then means nothing. The bits
/// are the same on every machine. Panics on matrices in another layout, and on shapes that do not
/// go together.
pub fn subtract_lower_outer(c: &mut Array2<f64>, a: ArrayView2<'_, f64>) {
    let n = a.nrows();
    assert_eq!(c.dim(), (n, n), "as many rows and columns as factors");
    let rows = a.to_slice().expect("standard layout");
    subtract_outer(c.as_slice_mut().expect("standard layout"), n, rows);
}

fn matrix(a: ArrayView2<'_, f64>) -> MatRef<'_, f64> {
    let (rows, cols) = a.dim();
    MatRef::from_row_major_slice(a.to_slice().expect("standard layout"), rows, cols)
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
        for own in [product(&a, &b), product_of_share(a.view(), b.view())] {
            let apart = own - a.dot(&b);
            assert!(apart.iter().all(|e| e.abs() < 1e-13), "{apart}");
        }
    }

    /// In shapes around the edges of slabs and of blocks of columns, of no column, too.
    #[test]
    fn outer_products_are_those_of_ndarray() {
        for (rows, cols) in [(1, 1), (5, 7), (24, 3), (49, 0), (131, 300), (290, 129)] {
            let a = Array2::from_shape_fn((rows, cols), |(i, j)| {
                ((i * 31 + j * 17) % 23) as f64 / 7.0 - 1.5
            });
            let full = a.dot(&a.t());
            for ((i, j), &e) in lower_outer(&a).indexed_iter() {
                let expected = if j <= i { full[[i, j]] } else { 0.0 };
                assert!((e - expected).abs() < 1e-11, "{rows} x {cols}: {i} {j}");
            }
        }
    }
}
