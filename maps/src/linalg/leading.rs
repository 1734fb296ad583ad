//! The leading eigenvectors of a positive semidefinite matrix in f64, on all threads.

use super::eigen::{EIGEN_BYTES, Eigen, eigen, sign};
use crate::{
    Result,
    linalg::entries::column_squares,
    parallel,
    seed::{Seed, Stream},
};
use ndarray::{Array2, ArrayView2, Axis, s};

/// Smaller matrices are decomposed whole.
const SMALL: usize = 256;
/// Directions beside those that are wanted: the more, the faster those converge.
const BESIDE: usize = 10;
/// So many iterations at most; then the gaps are too small and the matrix is decomposed whole.
const MOST: usize = 60;
/// Done when `|A v - theta v|` is at most this share of the largest eigenvalue.
const TOLERANCE: f64 = 1e-11;
/// Rows that a thread multiplies at a time.
const ROWS: usize = 64;

/// Whether `k` of `n` are few enough for subspace iteration.
fn iterates(n: usize, k: usize) -> bool {
    n >= SMALL && k.saturating_add(BESIDE).saturating_mul(8) <= n
}

/// Bytes of each pair of rows while [`leading`] finds eigenvectors. Iterations take 16, but nobody
/// knows before whether the gaps are large enough for them: without those it takes what [`eigen`]
/// does, 42 measured at 2,000 rows.
pub const LEADING_BYTES: u32 = EIGEN_BYTES;

/// The `k` largest eigenvalues of a positive semidefinite matrix, of which the lower triangle is
/// read, and their eigenvectors `[n, k]`, signed as [`eigen`] signs them.
///
/// Few of many are found by subspace iteration with Rayleigh and Ritz's projection from a random
/// start (Halko, Martinsson and Tropp 2011, sec. 4.5), which costs `n^2` times some hundreds
/// instead of `9 n^3`.
///
/// Errors as [`eigen`] does.
pub fn leading(a_nn: &Array2<f64>, k: usize) -> Result<Eigen> {
    let n = a_nn.nrows();
    if iterates(n, k)
        && let Some(found) = iterate(a_nn, k)?
    {
        return Ok(found);
    }
    let all = eigen(a_nn)?;
    Ok(Eigen {
        values_n: all.values_n.slice(s![..k]).to_owned(),
        vectors_nn: all.vectors_nn.slice(s![.., ..k]).to_owned(),
    })
}

/// Subspace iteration; `None` when it has not converged.
fn iterate(a_nn: &Array2<f64>, k: usize) -> Result<Option<Eigen>> {
    let n = a_nn.nrows();
    let full_nn = Array2::from_shape_fn((n, n), |(i, j)| a_nn[[i.max(j), i.min(j)]]);
    let mut draws = Seed(0).stream(Stream::Iteration, 0);
    let mut q_nl = Array2::from_shape_simple_fn((n, k + BESIDE.max(k)), || draws.normal());
    for _ in 0..MOST {
        let product = times(&full_nn, q_nl.view());
        q_nl = orthonormal(&times(&full_nn, product.view()));
        let product = times(&full_nn, q_nl.view());
        if product.iter().any(|v| !v.is_finite()) {
            // The whole decomposition says what is wrong.
            return Ok(None);
        }
        let small = eigen(&q_nl.t().dot(&product))?;
        let turn = small.vectors_nn.slice(s![.., ..k]);
        let mut vectors_nn = q_nl.dot(&turn);
        let values_n = small.values_n.slice(s![..k]).to_owned();
        let residual = product.dot(&turn) - &vectors_nn * &values_n;
        let worst = column_squares(residual.view()).mapv_into(f64::sqrt);
        let bound = TOLERANCE * values_n[0].max(0.0);
        if worst.iter().all(|&r| r <= bound) {
            sign(&mut vectors_nn);
            return Ok(Some(Eigen {
                values_n,
                vectors_nn,
            }));
        }
    }
    Ok(None)
}

/// `A Q`, rows of A on all threads.
fn times(a_nn: &Array2<f64>, q_nl: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut product = Array2::zeros((a_nn.nrows(), q_nl.ncols()));
    let mut parts: Vec<_> = (product.axis_chunks_iter_mut(Axis(0), ROWS))
        .zip(a_nn.axis_chunks_iter(Axis(0), ROWS))
        .collect();
    parallel::usual().parts(&mut parts, &|_, (to, rows)| {
        ndarray::linalg::general_mat_mul(1.0, rows, &q_nl, 0.0, to);
    });
    product
}

/// An orthonormal basis of the columns.
pub fn orthonormal(y_nl: &Array2<f64>) -> Array2<f64> {
    let (n, l) = y_nl.dim();
    let q = faer::Mat::from_fn(n, l, |i, j| y_nl[[i, j]])
        .qr()
        .compute_thin_Q();
    Array2::from_shape_fn((n, l), |(i, j)| q[(i, j)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array1;

    /// A matrix with eigenvalues 0.8^i in a random basis: some of many as all of them.
    #[test]
    fn few_of_many_are_those_of_the_whole() {
        let n = 300;
        let mut draws = Seed(1).stream(Stream::Data, 0);
        let basis = orthonormal(&Array2::from_shape_simple_fn((n, n), || draws.normal()));
        let values = Array1::from_shape_fn(n, |i| 0.8_f64.powi(i as i32));
        let a_nn = (&basis * &values).dot(&basis.t());
        let mut lower = a_nn.clone();
        for i in 0..n {
            lower.slice_mut(s![i, i + 1..]).fill(f64::NAN);
        }
        let few = iterate(&lower, 4).expect("runs").expect("converges");
        let whole = eigen(&lower).expect("decomposes");
        assert!(
            (&few.values_n - &values.slice(s![..4]))
                .iter()
                .all(|e| e.abs() < 1e-13)
        );
        let difference = &few.vectors_nn - &whole.vectors_nn.slice(s![.., ..4]);
        assert!(difference.iter().all(|e| e.abs() < 1e-9), "{difference}");
        // Equal eigenvalues have no gap: the whole decomposition finds them.
        assert!(iterate(&Array2::eye(n), 4).expect("runs").is_some());
        let flat = Array1::from_shape_fn(n, |i| 1.0 - 1e-6 * i as f64);
        let flat = (&basis * &flat).dot(&basis.t());
        assert!(iterate(&flat, 4).expect("runs").is_none());
        let found = leading(&flat, 4).expect("decomposes");
        assert_eq!(found.vectors_nn.dim(), (n, 4));
        assert!((found.values_n[3] - (1.0 - 3e-6)).abs() < 1e-12);
    }
}
