//! Exact kernel matrices in f64: the oracle beside every approximation.

use super::Kernel;
use crate::parallel;
use ndarray::{Array2, ArrayView2};

/// `k(x_i, y_j)` for all rows, shape `[n, m]`, through [`Kernel::evaluate`], on all threads. Rows
/// are at unit scale.
///
/// # Panics
/// If the rows differ in length.
///
/// ```
/// use bochner::kernels::{Gaussian, cross};
/// use ndarray::array;
/// let k = cross(&Gaussian, array![[0.0], [1.0]].view(), array![[1.0]].view());
/// assert_eq!(k, array![[(-0.5_f64).exp()], [1.0]]);
/// ```
pub fn cross(
    kernel: &dyn Kernel,
    x_nd: ArrayView2<'_, f64>,
    y_md: ArrayView2<'_, f64>,
) -> Array2<f64> {
    assert_eq!(x_nd.ncols(), y_md.ncols(), "rows of one length");
    let (x, y) = (rows(x_nd), rows(y_md));
    let mut k = Array2::zeros((x.len(), y.len()));
    let out = k.as_slice_mut().expect("standard layout");
    parallel::usual().chunks(out, y.len().max(1), &|i, k| {
        for (k, y) in k.iter_mut().zip(&y) {
            *k = kernel.evaluate(&x[i], y);
        }
    });
    k
}

/// The kernel matrix of one set of rows, `[n, n]`, symmetric to the last bit: as [`cross`], at half
/// the cost.
pub fn gram(kernel: &dyn Kernel, x_nd: ArrayView2<'_, f64>) -> Array2<f64> {
    let x = rows(x_nd);
    let n = x.len();
    let mut k = Array2::zeros((n, n));
    let out = k.as_slice_mut().expect("standard layout");
    parallel::at_most(8).chunks(out, n.max(1), &|i, k| {
        for (k, y) in k.iter_mut().zip(&x[..=i]) {
            *k = kernel.evaluate(&x[i], y);
        }
    });
    for i in 0..n {
        for j in 0..i {
            k[[j, i]] = k[[i, j]];
        }
    }
    k
}

fn rows(x_nd: ArrayView2<'_, f64>) -> Vec<Vec<f64>> {
    x_nd.rows().into_iter().map(|row| row.to_vec()).collect()
}
