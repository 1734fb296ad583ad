//! Errors of rows that are left out together.

use crate::linalg::cholesky::Lower;
use ndarray::{Array2, Axis};

/// Smaller values of 1 - h_ii are rounding errors, which must not be divided by.
pub(super) const LEAST: f64 = 1e-9;

/// Errors of the rows of each fold by a fit without the fold, `[m, t]`: for a linear smoother H
/// with residuals r they are `(I - H)_GG^-1 r_G` for the rows G of a fold, which is `r_i / (1 -
/// h_ii)` for one row (Craven & Wahba 1979, lemma 3.1). `left` returns `(I - H)_GG`. `None` if that
/// is lost to rounding.
pub(super) fn unseen_together(
    folds: &[Vec<usize>],
    residuals_mt: &Array2<f64>,
    mut left: impl FnMut(&[usize]) -> Array2<f64>,
) -> Option<Array2<f64>> {
    let mut errors_mt = Array2::zeros(residuals_mt.dim());
    for fold in folds {
        let mut factor = Lower::take(left(fold));
        if !factor.factor() || (0..fold.len()).any(|i| factor.row(i)[i].powi(2) < LEAST) {
            return None;
        }
        let mut own_gt = residuals_mt.select(Axis(0), fold);
        factor.solve(&mut own_gt);
        factor.solve_transposed(&mut own_gt);
        for (&row, own_t) in fold.iter().zip(own_gt.rows()) {
            errors_mt.row_mut(row).assign(&own_t);
        }
    }
    Some(errors_mt)
}

/// The inverse of a matrix by its factor.
pub(super) fn inverse(factor: &Lower) -> Array2<f64> {
    let mut inverse_mm = Array2::eye(factor.order());
    factor.solve(&mut inverse_mm);
    factor.solve_transposed(&mut inverse_mm);
    inverse_mm
}

#[cfg(test)]
mod tests {
    use crate::{
        data::Observations,
        kernels::{Gaussian, gram},
        solve::{Centred, CentredLeftOut, Dual, LeftOutFolds, WeightedRows},
    };
    use ndarray::{Array1, Array2, Axis};

    /// Rows of the table of these tests.
    const M: usize = 24;

    /// Features and targets of some rows, and folds of them.
    fn table() -> (Array2<f64>, Array2<f64>, Vec<Vec<usize>>) {
        let wave = |i: usize, j: usize| ((i * (7 * j + 5)) as f64 * 0.37).sin();
        let x = Array2::from_shape_fn((M, 2), |(i, j)| wave(i, j));
        let y = Array2::from_shape_fn((M, 2), |(i, t)| 3.0 + wave(i, t + 3) + x[[i, 0]]);
        let folds: Vec<Vec<usize>> = (0..3)
            .map(|k| (0..M).filter(|i| i * 7 % 11 % 3 == k).collect())
            .collect();
        assert!(folds.iter().all(|fold| fold.len() > 2));
        (x, y, folds)
    }

    /// Errors of the rows of each fold by a fit to the other rows.
    fn refitted(
        (z, y): (&Array2<f64>, &Array2<f64>),
        (folds, weights): (&[Vec<usize>], &Array1<f64>),
        penalty: f64,
    ) -> Array2<f64> {
        let mut errors = Array2::zeros((M, 2));
        for fold in folds {
            let rest: Vec<usize> = (0..M).filter(|i| !fold.contains(i)).collect();
            let w = weights.select(Axis(0), &rest);
            let dual = Dual {
                lambda: penalty / w.sum(),
                intercept: true,
            };
            let data = (z.select(Axis(0), &rest), y.select(Axis(0), &rest));
            let solved = dual.solve(data.0, data.1, Some(w.view()));
            let fit = solved.expect("solves").0;
            let found = z.select(Axis(0), fold).dot(&fit.beta_dt) + &fit.intercept_t;
            for (&row, found) in fold.iter().zip(found.rows()) {
                errors.row_mut(row).assign(&(&y.row(row) - &found));
            }
        }
        errors
    }

    /// Folds left out by a factor, by a decomposition and in the dual, with and without weights,
    /// have the errors of refits.
    #[test]
    fn folds_are_left_out_as_by_refitting() {
        let (x, y, folds) = table();
        let k = gram(&Gaussian, x.view());
        let z = crate::linalg::eigen::eigen(&k).expect("decomposes");
        let z = &z.vectors_nn * &z.values_n.mapv(|v| v.max(0.0).sqrt());
        let single = Observations::single(M);
        let unlike = Array1::from_shape_fn(M, |i| [1.0, 0.5, 3.0][i % 3]);
        for (penalty, weights) in [
            (1e-3, Array1::ones(M)),
            (1e-3, unlike.clone()),
            (0.3, Array1::ones(M)),
            (0.3, unlike),
        ] {
            let known = refitted((&z, &y), (&folds, &weights), penalty);
            let rows = WeightedRows {
                weights_n: weights.view(),
                observations: &single,
            };
            let factor = Centred::from_kernel(&k, y.view(), rows);
            let path = CentredLeftOut::from_kernel(&k, y.view(), rows).expect("decomposes");
            let by_factor = factor.errors_of_folds(penalty, &folds);
            for found in [by_factor, path.errors_of_folds(penalty, &folds)] {
                let gap = found.expect("errors") - &known;
                assert!(gap.iter().all(|gap| gap.abs() < 1e-6), "{penalty} {gap}");
            }
            let weighted = known.mapv(|e| e * e) * weights.view().insert_axis(Axis(1));
            let known_t = weighted.sum_axis(Axis(0)) / weights.sum();
            let relative = |errors_t: &Array1<f64>| errors_t.sum();
            let lambdas = [penalty / weights.sum()];
            let left_out = LeftOutFolds {
                folds: &folds,
                scores_rows: false,
            };
            let data = (z.clone(), y.clone());
            let how = (&lambdas[..], 0, &relative as &dyn Fn(&Array1<f64>) -> f64);
            let (_, found) = Dual::choose(true, data, rows, how, Some(left_out)).expect("solves");
            let gap = &found[&0].1.errors_t / &known_t - 1.0;
            assert!(gap.iter().all(|gap| gap.abs() < 1e-6), "{penalty} {gap}");
        }
    }
}
