//! Leave-one-out errors of kernel ridge regression from one factor.

use super::{
    WeightedRows,
    kernel_ridge::{beside_ones, factored},
    looked_at::{left_by_share, unseen},
    together::{inverse, unseen_together},
};
use crate::{Result, linalg::entries};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

/// Leave-one-out results for a penalty.
#[derive(Debug, Clone)]
pub(crate) struct KernelLeftOut {
    /// Mean squared error of each target.
    pub(crate) errors_t: Array1<f64>,
    /// See [`KernelSolution`](super::KernelSolution).
    pub(crate) effective_dimension: f64,
}

/// Leave-one-out errors of the fit of [`weighted_kernel_ridge`](super::weighted_kernel_ridge): with
/// C the inverse of `M = S K S + lambda W I`, less the share of a free intercept, a row with
/// coefficient a has the leave-one-out residual `a_i / C_ii` (Cawley & Talbot 2004, for kernels).
/// For the full kernel matrix, a factor and its inverse take `2 n^3 / 3` operations and a copy of
/// the matrix. With folds, the rows of each are left out together, which needs the full inverse, as
/// large as the kernel matrix.
///
/// Errors as that does; the errors of targets are infinite if they are lost to rounding.
pub(crate) fn kernel_left_out(
    k_nn: &Array2<f64>,
    y_nt: ArrayView2<'_, f64>,
    rows: WeightedRows<'_>,
    (lambda, intercept): (f64, bool),
    folds: Option<&[Vec<usize>]>,
) -> Result<KernelLeftOut> {
    let weights_n = rows.weights_n;
    let (n, targets) = y_nt.dim();
    let (total, root_n) = (weights_n.sum(), weights_n.mapv(f64::sqrt));
    let penalty = lambda * total;
    let factor = factored(k_nn.clone(), &root_n, (lambda, penalty))?;
    let solved = beside_ones(&factor, y_nt, &root_n, lambda)?;
    let mut inverse_n = Array1::from(factor.inverse_diagonal());
    let mut a_nt = solved.slice(s![.., ..targets]).to_owned();
    let mut dimension = n as f64 - penalty * inverse_n.sum();
    if intercept {
        let v_n = solved.column(targets);
        let along = root_n.dot(&v_n);
        let b_t = root_n.dot(&a_nt) / along;
        a_nt -= &(&v_n.insert_axis(Axis(1)) * &b_t);
        inverse_n.zip_mut_with(&v_n, |c, v| *c -= v * v / along);
        dimension += penalty * v_n.dot(&v_n) / along - 1.0;
    }
    // Residual of the row, and the share of it by its leverage.
    let (residuals_nt, left_n) = (a_nt * penalty, inverse_n * penalty);
    let errors_nt = match folds {
        None => {
            let mut errors_nt = residuals_nt;
            let lefts = left_n.iter().zip(&rows.observations.share_m);
            for (mut errors_t, (left, share)) in errors_nt.rows_mut().into_iter().zip(lefts) {
                let left = left_by_share(*left, *share);
                errors_t.mapv_inplace(|residual| unseen(residual, left));
            }
            Some(errors_nt)
        }
        Some(folds) => {
            let mut left_nn = inverse(&factor);
            if intercept {
                let v_n1 = solved.slice(s![.., targets..]);
                left_nn -= &(&v_n1.dot(&v_n1.t()) / root_n.dot(&v_n1.column(0)));
            }
            left_nn *= penalty;
            unseen_together(folds, &residuals_nt, |fold| {
                left_nn.select(Axis(0), fold).select(Axis(1), fold)
            })
        }
    };
    let errors_t = match errors_nt {
        Some(errors_nt) => errors_nt.mapv(entries::square).sum_axis(Axis(0)) / total,
        None => Array1::from_elem(targets, f64::INFINITY),
    };
    Ok(KernelLeftOut {
        errors_t,
        effective_dimension: dimension.max(0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        data::Observations,
        kernels::{Gaussian, gram},
        seed::{Seed, Stream},
        solve::weighted_kernel_ridge,
    };

    /// Equals refitting without each row or fold, with weights and any kind of intercept.
    #[test]
    fn rows_are_left_out_as_by_refitting() {
        const N: usize = 30;
        let mut draws = Seed(5).stream(Stream::Data, 0);
        let x = Array2::from_shape_simple_fn((N, 2), || draws.normal());
        let y = Array2::from_shape_simple_fn((N, 2), || 5.0 + draws.normal());
        let k = gram(&Gaussian, x.view());
        let weights = Array1::from_shape_fn(N, |i| [1.0, 0.5, 3.0][i % 3]);
        let each: Vec<Vec<usize>> = (0..N).map(|i| vec![i]).collect();
        let five: Vec<Vec<usize>> = (0..5)
            .map(|fold| (0..N).filter(|i| i * 7 % 11 % 5 == fold).collect())
            .collect();
        let all = [
            (None, &each),
            (Some(&each[..]), &each),
            (Some(&five[..]), &five),
        ];
        for (lambda, intercept) in [(1e-3, true), (1e-1, true), (1e-2, false)] {
            let ones = Array1::ones(N);
            let both = [&weights, &ones].into_iter();
            for (weights, (folds, outs)) in both.flat_map(|w| all.map(|all| (w, all))) {
                let how = (lambda, intercept);
                let rows = WeightedRows {
                    weights_n: weights.view(),
                    observations: &Observations::single(N),
                };
                let left = kernel_left_out(&k, y.view(), rows, how, folds);
                let left = left.expect("solves");
                let mut expected_t = Array1::<f64>::zeros(2);
                for out in outs {
                    let rest = Vec::from_iter((0..N).filter(|i| !out.contains(i)));
                    let k_rest = k.select(Axis(0), &rest).select(Axis(1), &rest);
                    let w = weights.select(Axis(0), &rest);
                    // The absolute penalty of the fit to all rows.
                    let same = lambda * weights.sum() / w.sum();
                    let y_rest = y.select(Axis(0), &rest);
                    let fit =
                        weighted_kernel_ridge(k_rest, y_rest.view(), w.view(), same, intercept);
                    let fit = fit.expect("solves").coefficients;
                    for &row in out {
                        let near = k.row(row).select(Axis(0), &rest);
                        let apart_t = &y.row(row) - &(near.dot(&fit.beta_dt) + &fit.intercept_t);
                        expected_t += &(apart_t.mapv(|e| e * e) * weights[row]);
                    }
                }
                expected_t /= weights.sum();
                let apart = (&left.errors_t / &expected_t - 1.0).mapv(f64::abs);
                assert!(apart.iter().all(|a| *a < 1e-9), "{lambda} {apart}");
                let all =
                    weighted_kernel_ridge(k.clone(), y.view(), weights.view(), lambda, intercept);
                let dimension = all.expect("solves").effective_dimension;
                assert!((left.effective_dimension / dimension - 1.0).abs() < 1e-9);
            }
        }
    }
}
