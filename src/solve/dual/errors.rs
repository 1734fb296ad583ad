//! Errors of rows that a fit in the dual has not seen.

use super::{Centred, factored};
use crate::{
    Result,
    linalg::cholesky::Lower,
    model::{CalibratedOn, LeftOutScores},
    solve::{
        looked_at::unseen,
        together::{inverse, unseen_together},
    },
};
use ndarray::{Array1, Array2, ArrayView1};

impl Centred {
    /// Mean squared errors of rows left out in turn, by the diagonal of the inverse; with the
    /// penalty of all rows, and what a free intercept has of the leverage of a row of weight 1.
    pub(super) fn left_out(
        &self,
        alpha_nt: &Array2<f64>,
        diagonal_n: &[f64],
        (weights_n, penalty, free): (ArrayView1<'_, f64>, f64, f64),
    ) -> Array1<f64> {
        let mut errors_t = Array1::zeros(alpha_nt.ncols());
        for ((alpha_t, a), w) in alpha_nt.rows().into_iter().zip(diagonal_n).zip(weights_n) {
            let left = penalty * a - w * free;
            errors_t.zip_mut_with(&alpha_t, |sum: &mut f64, alpha| {
                *sum += unseen(penalty * alpha, left).powi(2);
            });
        }
        errors_t / self.n
    }

    /// The scores of each row, left out alone.
    pub(super) fn left_out_each(
        &self,
        alpha_nt: &Array2<f64>,
        diagonal_n: &[f64],
        (weights_n, penalty, free): (ArrayView1<'_, f64>, f64, f64),
    ) -> Result<LeftOutScores> {
        let left = |i: usize| penalty * diagonal_n[i] - weights_n[i] * free;
        let error = |(i, k): (usize, usize)| {
            unseen(penalty * alpha_nt[[i, k]] / weights_n[i].sqrt(), left(i))
        };
        let errors_nt = Array2::from_shape_fn(alpha_nt.dim(), error);
        self.scores(errors_nt, weights_n, CalibratedOn::LeftOut)
    }

    /// Scores of rows that count for something, by errors `[n, t]`.
    pub(super) fn scores(
        &self,
        errors_nt: Array2<f64>,
        weights_n: ArrayView1<'_, f64>,
        on: CalibratedOn,
    ) -> Result<LeftOutScores> {
        let targets = errors_nt.ncols();
        let (mut id_m, mut weight_m) = (Vec::new(), Vec::new());
        let (mut y, mut error) = (Vec::new(), Vec::new());
        for (i, &w) in weights_n.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            id_m.push(i as u64);
            weight_m.push(w);
            let own = &self.y_nt.row(i) / w.sqrt() + &self.y_mean;
            y.extend(own);
            error.extend(errors_nt.row(i));
        }
        LeftOutScores::new((id_m, weight_m), (y, error), targets, on)
    }

    /// As [`Self::left_out`], of folds that are left out together; each row errs by so much times
    /// the root of its weight.
    pub(super) fn left_out_together(
        &self,
        gram: &Array2<f64>,
        alpha_nt: &Array2<f64>,
        (weights_n, penalty, free): (ArrayView1<'_, f64>, f64, f64),
        folds: &[Vec<usize>],
    ) -> Result<Option<Array2<f64>>> {
        let (factor, _) = factored(Lower::from_matrix(gram), self.y_nt.clone(), penalty)?;
        let inverse_nn = inverse(&factor);
        let roots_n = weights_n.mapv(f64::sqrt);
        Ok(unseen_together(folds, &(alpha_nt * penalty), |fold| {
            let own = |(i, j): (usize, usize)| {
                let (i, j) = (fold[i], fold[j]);
                penalty * inverse_nn[[i, j]] - roots_n[i] * roots_n[j] * free
            };
            Array2::from_shape_fn((fold.len(), fold.len()), own)
        }))
    }
}
