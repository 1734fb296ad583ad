//! Kernel ridge regression on the full kernel matrix: the reference for all approximations.

use crate::{
    Error, Result,
    error::Remedy,
    linalg::{cholesky::Lower, entries},
    model::Coefficients,
};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

/// Coefficients of the rows, and the effective dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelSolution {
    /// `alpha`, `[n, t]`, and the intercept: `f(x) = sum_i alpha_i k(x, x_i) + b`.
    pub coefficients: Coefficients,
    /// `tr K (K + lambda n I)^-1`, of the centred kernel with an intercept.
    pub effective_dimension: f64,
}

/// Solves `(K + lambda n I) alpha = y - b` for all columns of `y`, `[n, t]`, in f64 by a Cholesky
/// factor in the memory of `K`, `[n, n]` (Saunders, Gammerman & Vovk 1998). lambda is PER SAMPLE.
///
/// With `intercept` b is free: its stationarity is `1'alpha = 0`, so that with
/// `u = (K + lambda n I)^-1 y` and `v = (K + lambda n I)^-1 1`
/// `b = 1'u / 1'v` and `alpha = u - b v`, the same function as
/// [`Ridge`](crate::models::Ridge) on features whose inner products are K. At lambda = 0 it
/// interpolates.
///
/// # Errors
/// [`Error::Shape`] on inconsistent shapes; [`Error::Parameter`] unless lambda is finite and >= 0;
/// [`Error::Numerical`] if the matrix is not positive definite, as for equal rows at lambda = 0.
///
/// ```
/// use bochner::solve::kernel_ridge;
/// use ndarray::array;
/// // (2 + 3) alpha = 10
/// let solved = kernel_ridge(array![[2.0]], array![[10.0]].view(), 3.0, false)?;
/// assert_eq!(solved.coefficients.beta_dt, array![[2.0]]);
/// # Ok::<(), bochner::Error>(())
/// ```
pub fn kernel_ridge(
    k_nn: Array2<f64>,
    y_nt: ArrayView2<'_, f64>,
    lambda: f64,
    intercept: bool,
) -> Result<KernelSolution> {
    let ones_n = Array1::ones(y_nt.nrows());
    weighted_kernel_ridge(k_nn, y_nt, ones_n.view(), lambda, intercept)
}

/// As [`kernel_ridge`], for rows with weights c, `[n]`, whose sum is W: it minimises `sum_i c_i
/// (y_i - f(x_i))^2 / W + lambda |f|^2`, so that a row of weight 2 equals two rows.
///
/// With `S = diag(sqrt(c))` the coefficients are `alpha = S a` with `(S K S + lambda W I) a = S
/// (y - b)`, and `1'alpha = 0` determines b.
///
/// # Errors
/// As [`kernel_ridge`], and [`Error::Parameter`] on a weight that is negative or not finite, or if
/// none is positive.
///
/// ```
/// use bochner::solve::weighted_kernel_ridge;
/// use ndarray::array;
/// // One row of any weight is one row: (2 + 3) alpha = 10
/// let (k, y, c) = (array![[2.0]], array![[10.0]], array![7.0]);
/// let solved = weighted_kernel_ridge(k, y.view(), c.view(), 3.0, false)?;
/// assert!((solved.coefficients.beta_dt[[0, 0]] - 2.0).abs() < 1e-12);
/// # Ok::<(), bochner::Error>(())
/// ```
pub fn weighted_kernel_ridge(
    k_nn: Array2<f64>,
    y_nt: ArrayView2<'_, f64>,
    weights_n: ArrayView1<'_, f64>,
    lambda: f64,
    intercept: bool,
) -> Result<KernelSolution> {
    let (n, targets) = y_nt.dim();
    let total = total_weight(&k_nn, n, weights_n, lambda)?;
    let root_n = weights_n.mapv(f64::sqrt);
    let penalty = lambda * total;
    let factor = factored(k_nn, &root_n, (lambda, penalty))?;
    let mut solved = beside_ones(&factor, y_nt, &root_n, lambda)?;
    let root_n1 = root_n.view().insert_axis(Axis(1));
    // |M^-1 S 1|^2, with M the factored matrix.
    let along = solved.column(targets).dot(&solved.column(targets));
    solved *= &root_n1;
    let (u_nt, v_n) = (
        solved.slice(ndarray::s![.., ..targets]),
        solved.column(targets),
    );
    let trace = factor.inverse_norm_squared();
    let (beta_dt, intercept_t, dimension) = if intercept {
        let b_t = u_nt.sum_axis(Axis(0)) / v_n.sum();
        let trace = trace - along / v_n.sum();
        let along = v_n.insert_axis(Axis(1));
        let dimension = n as f64 - 1.0 - penalty * trace;
        (&u_nt - &(&along * &b_t), b_t, dimension)
    } else {
        (
            u_nt.to_owned(),
            Array1::zeros(targets),
            n as f64 - penalty * trace,
        )
    };
    Ok(KernelSolution {
        coefficients: Coefficients {
            beta_dt,
            intercept_t,
        },
        effective_dimension: dimension.max(0.0),
    })
}

/// Total weight of the rows. Errors unless kernel, weights and penalty have consistent shapes and
/// valid values.
fn total_weight(
    k_nn: &Array2<f64>,
    n: usize,
    weights_n: ArrayView1<'_, f64>,
    lambda: f64,
) -> Result<f64> {
    if k_nn.dim() != (n, n) || n == 0 {
        return Err(Error::shape(format!(
            "a kernel matrix of {:?} does not go with {n} rows of targets",
            k_nn.dim()
        )));
    }
    if !(lambda >= 0.0 && lambda.is_finite()) {
        return Err(Error::parameter(format!(
            "lambda is {lambda}; it must be 0 or positive, and finite"
        )));
    }
    if weights_n.len() != n {
        return Err(Error::shape(format!(
            "{} weights do not go with {n} rows",
            weights_n.len()
        )));
    }
    let total = weights_n.sum();
    if weights_n.iter().any(|&c| c < 0.0) || !(total > 0.0 && total.is_finite()) {
        return Err(Error::parameter(
            "weights of rows must be 0 or positive, and finite, and one of them positive",
        ));
    }
    Ok(total)
}

/// A factor of `M = S K S + penalty I`, with S the roots of weights. Errors if M is singular within
/// rounding.
pub(super) fn factored(
    mut k_nn: Array2<f64>,
    root_n: &Array1<f64>,
    (lambda, penalty): (f64, f64),
) -> Result<Lower> {
    let n = k_nn.nrows();
    for (mut row, &root) in k_nn.rows_mut().into_iter().zip(root_n) {
        row.zip_mut_with(root_n, |k, &other| *k *= root * other);
    }
    let largest = k_nn.diag().fold(0.0_f64, |m, &k| m.max(k));
    entries::add_to_diagonal(&mut k_nn, penalty);
    let mut factor = Lower::take(k_nn);
    let positive = factor.factor();
    // The pivot of equal rows is a rounding error of zero, without information.
    let smallest = (0..n).map(|i| factor.row(i)[i].powi(2));
    let smallest = smallest.fold(f64::INFINITY, f64::min);
    if !positive || smallest <= n as f64 * f64::EPSILON * largest {
        let problem = format!("the kernel matrix is singular to rounding at lambda = {lambda}");
        return Err(Error::numerical(problem).help(Remedy::LargerLambda));
    }
    Ok(factor)
}

/// `M^-1` times the columns of `S y`, followed by `M^-1 S 1`. Errors if they are not finite.
pub(super) fn beside_ones(
    factor: &Lower,
    y_nt: ArrayView2<'_, f64>,
    root_n: &Array1<f64>,
    lambda: f64,
) -> Result<Array2<f64>> {
    let (n, targets) = y_nt.dim();
    let mut solved = Array2::ones((n, targets + 1));
    solved.slice_mut(ndarray::s![.., ..targets]).assign(&y_nt);
    solved *= &root_n.view().insert_axis(Axis(1));
    factor.solve(&mut solved);
    factor.solve_transposed(&mut solved);
    if solved.iter().any(|v| !v.is_finite()) {
        let problem = format!("the coefficients are not finite at lambda = {lambda:e}");
        return Err(Error::numerical(problem).help(Remedy::LargerLambda));
    }
    Ok(solved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernels::{Gaussian, gram},
        linalg::eigen::eigen,
        seed::{Seed, Stream},
    };
    use ndarray::array;

    /// Checks the defining equations by products, and the dimension by eigenvalues of the centred
    /// kernel.
    #[test]
    fn the_equations_hold() {
        let mut draws = Seed(3).stream(Stream::Data, 0);
        let x = Array2::from_shape_simple_fn((40, 2), || draws.normal());
        let y = Array2::from_shape_simple_fn((40, 2), || 5.0 + draws.normal());
        let k = gram(&Gaussian, x.view());
        for lambda in [1e-2, 1e-5] {
            for intercept in [true, false] {
                let solved = kernel_ridge(k.clone(), y.view(), lambda, intercept).expect("solves");
                let Coefficients {
                    beta_dt,
                    intercept_t,
                } = &solved.coefficients;
                let left = k.dot(beta_dt) + beta_dt * (lambda * 40.0) + intercept_t - &y;
                assert!(left.iter().all(|r| r.abs() < 1e-9), "{left}");
                let sums = beta_dt.sum_axis(Axis(0));
                assert_eq!(intercept, sums.iter().all(|s| s.abs() < 1e-6), "{sums}");
                let centre = if intercept {
                    Array2::<f64>::eye(40) - 1.0 / 40.0
                } else {
                    Array2::eye(40)
                };
                let values = eigen(&centre.dot(&k).dot(&centre)).expect("decomposes");
                let free = values.values_n.mapv(|v| v / (v + lambda * 40.0)).sum();
                assert!((solved.effective_dimension / free - 1.0).abs() < 1e-6);
            }
        }
    }

    /// A row of weight c equals c rows; multiplying all weights by a constant changes nothing.
    #[test]
    fn weights_are_repetitions() {
        let mut draws = Seed(4).stream(Stream::Data, 0);
        let x = Array2::from_shape_simple_fn((30, 2), || draws.normal());
        let y = Array2::from_shape_simple_fn((30, 2), || 5.0 + draws.normal());
        let counts = Array1::from_shape_fn(30, |i| (i % 4) as f64);
        let repeated: Vec<usize> = (0..30).flat_map(|i| vec![i; i % 4]).collect();
        let (many_x, many_y) = (x.select(Axis(0), &repeated), y.select(Axis(0), &repeated));
        let k = gram(&Gaussian, x.view());
        for intercept in [true, false] {
            let many = gram(&Gaussian, many_x.view());
            let many = kernel_ridge(many, many_y.view(), 1e-2, intercept).expect("solves");
            let mut alpha = Array2::<f64>::zeros((30, 2));
            for (r, &i) in repeated.iter().enumerate() {
                let mut row = alpha.row_mut(i);
                row += &many.coefficients.beta_dt.row(r);
            }
            for times in [1.0, 0.3] {
                let c = &counts * times;
                let few = weighted_kernel_ridge(k.clone(), y.view(), c.view(), 1e-2, intercept);
                let few = few.expect("solves");
                let off = &few.coefficients.beta_dt - &alpha;
                assert!(off.iter().all(|d| d.abs() < 1e-9), "{off}");
                let off = &few.coefficients.intercept_t - &many.coefficients.intercept_t;
                assert!(off.iter().all(|d| d.abs() < 1e-9), "{off}");
                let ratio = few.effective_dimension / many.effective_dimension;
                assert!((ratio - 1.0).abs() < 1e-9, "{ratio}");
            }
        }
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            let mut c = counts.clone();
            c[3] = bad;
            assert!(weighted_kernel_ridge(k.clone(), y.view(), c.view(), 1.0, true).is_err());
        }
        let none = Array1::zeros(30);
        assert!(weighted_kernel_ridge(k.clone(), y.view(), none.view(), 1.0, true).is_err());
        let short = Array1::ones(29);
        assert!(weighted_kernel_ridge(k, y.view(), short.view(), 1.0, true).is_err());
    }

    #[test]
    fn at_zero_it_interpolates_or_says_why_not() {
        let x = Array2::from_shape_fn((6, 1), |(i, _)| i as f64);
        let y = array![[1.0], [0.0], [2.0], [5.0], [5.0], [-1.0]];
        let k = gram(&Gaussian, x.view());
        let solved = kernel_ridge(k.clone(), y.view(), 0.0, true).expect("solves");
        let fitted = k.dot(&solved.coefficients.beta_dt) + &solved.coefficients.intercept_t;
        assert!((fitted - &y).iter().all(|r| r.abs() < 1e-12));
        let twice = gram(&Gaussian, array![[0.0], [1.0], [0.0]].view());
        let y = array![[1.0], [2.0], [3.0]];
        let message = kernel_ridge(twice, y.view(), 0.0, true).expect_err("singular");
        assert!(
            message.to_string().contains("larger .lambda(..)"),
            "{message}"
        );
        let one = Array2::<f64>::eye(3);
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(kernel_ridge(one.clone(), y.view(), bad, true).is_err());
        }
        let short = Array1::<f64>::zeros(2).insert_axis(Axis(1));
        assert!(kernel_ridge(one, short.view(), 1.0, true).is_err());
    }
}
