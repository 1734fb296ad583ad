//! Kernel ridge regression in its dual, through a low-rank kernel matrix.

use crate::{Error, Result};
use faer::{MatRef, Side};
use ndarray::{Array2, ArrayView2};

/// Solves `(C H^+ C' + penalty I) alpha = y` for all columns of `y`, `[n, t]`, in O(n m^2 + m^3),
/// through `(1/penalty) (I - C (penalty H + C'C)^+ C')` (Woodbury; Williams & Seeger 2001, eq. 11).
///
/// For Nystrom `C = K_nm` and `H = K_mm`; for any feature map `C = Z` and `H = I`. `penalty` is
/// lambda n for a lambda per sample. A singular H (equal landmarks) does no harm: directions below
/// `m 2^-52` of the largest eigenvalue are left out. Predictions at new rows are
/// `C_new H^+ C' alpha`.
///
/// # Errors
/// [`Error::Shape`] when the shapes do not go together; [`Error::Parameter`] unless `penalty` is
/// positive and finite; [`Error::Numerical`] on values that are not finite.
///
/// ```
/// use bochner::solve::woodbury;
/// use ndarray::array;
/// // (1 * 1 + 3) alpha = 8
/// let alpha = woodbury(array![[1.0]].view(), array![[1.0]].view(), 3.0, array![[8.0]].view())?;
/// assert_eq!(alpha, array![[2.0]]);
/// # Ok::<(), bochner::Error>(())
/// ```
pub fn woodbury(
    c_nm: ArrayView2<'_, f64>,
    h_mm: ArrayView2<'_, f64>,
    penalty: f64,
    y_nt: ArrayView2<'_, f64>,
) -> Result<Array2<f64>> {
    let (n, m) = c_nm.dim();
    if h_mm.dim() != (m, m) || y_nt.nrows() != n || n == 0 || m == 0 {
        return Err(Error::shape(format!(
            "a kernel of {n} rows and {m} landmarks does not go with {:?} and {:?}",
            h_mm.dim(),
            y_nt.dim()
        )));
    }
    if !(penalty > 0.0 && penalty.is_finite()) {
        return Err(Error::parameter(format!(
            "the penalty is {penalty}; it must be positive and finite"
        )));
    }
    let inner = c_nm.t().dot(&c_nm) + &h_mm * penalty;
    let not_finite = || Error::numerical("the kernel matrix is not finite");
    if inner.iter().any(|v| !v.is_finite()) {
        return Err(not_finite());
    }
    let inner = inner.as_standard_layout();
    let eigen = MatRef::from_row_major_slice(inner.as_slice().expect("standard layout"), m, m)
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| not_finite())?;
    let lambda = eigen.S().column_vector();
    let u_mm = Array2::from_shape_fn((m, m), |(i, j)| eigen.U()[(i, j)]);
    let cutoff = m as f64 * f64::EPSILON * lambda[m - 1];
    let mut weights = u_mm.t().dot(&c_nm.t().dot(&y_nt));
    for (i, mut row) in weights.rows_mut().into_iter().enumerate() {
        let inverse = match lambda[i] > cutoff {
            true => 1.0 / lambda[i],
            false => 0.0,
        };
        row.mapv_inplace(|v| v * inverse);
    }
    Ok((&y_nt - &c_nm.dot(&u_mm.dot(&weights))) / penalty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernels::{Gaussian, cross, gram},
        seed::{Seed, Stream},
    };
    use ndarray::{Axis, array};

    /// Against a direct solve of the n x n system, with equal landmarks among the rest.
    #[test]
    fn the_residual_vanishes_with_singular_landmarks_too() {
        let mut draws = Seed(1).stream(Stream::Data, 0);
        let x = Array2::from_shape_simple_fn((30, 2), || draws.normal());
        let y = Array2::from_shape_simple_fn((30, 2), || draws.normal());
        for chosen in [&[0, 7, 12, 20][..], &[0, 7, 12, 20, 7, 7, 0]] {
            let landmarks = x.select(Axis(0), chosen);
            let c = cross(&Gaussian, x.view(), landmarks.view());
            let h = gram(&Gaussian, landmarks.view());
            // The kernel from the four different landmarks, by elimination.
            let (c4, h4) = (
                cross(&Gaussian, x.view(), landmarks.slice(ndarray::s![..4, ..])),
                gram(&Gaussian, landmarks.slice(ndarray::s![..4, ..])),
            );
            for penalty in [3.0, 1e-3] {
                let alpha = woodbury(c.view(), h.view(), penalty, y.view()).expect("solves");
                let inner = solve(h4.clone(), c4.t().dot(&alpha));
                let residual = c4.dot(&inner) + &alpha * penalty - &y;
                assert!(
                    residual.iter().all(|r| r.abs() < 1e-9),
                    "{penalty}: {residual}"
                );
            }
        }
        let one = array![[1.0]];
        assert!(woodbury(one.view(), one.view(), 0.0, one.view()).is_err());
        assert!(woodbury(one.view(), Array2::eye(2).view(), 1.0, one.view()).is_err());
    }

    /// Gaussian elimination without pivots, for a positive definite matrix.
    fn solve(mut a: Array2<f64>, mut b: Array2<f64>) -> Array2<f64> {
        let n = a.nrows();
        for k in 0..n {
            for i in (0..n).filter(|&i| i != k) {
                let factor = a[[i, k]] / a[[k, k]];
                let (row_a, row_b) = (a.row(k).to_owned(), b.row(k).to_owned());
                a.row_mut(i).scaled_add(-factor, &row_a);
                b.row_mut(i).scaled_add(-factor, &row_b);
            }
        }
        for k in 0..n {
            let pivot = a[[k, k]];
            b.row_mut(k).mapv_inplace(|v| v / pivot);
        }
        b
    }
}
