//! Leave-one-out errors of a fit in the dual.

use super::{Centred, WeightedRows, factored};
use crate::{
    Result,
    linalg::cholesky::Lower,
    model::{CalibratedOn, LeftOutScores},
    solve::{
        looked_at::{left_by_share, unseen},
        together::{inverse, unseen_together},
    },
};
use ndarray::{Array1, Array2, ArrayView1, Axis};

impl Centred {
    /// Mean squared leave-one-out errors and scores by single observations, from the diagonal of
    /// the inverse; for the penalty of all rows, and the leverage of a free intercept for a row of
    /// weight 1.
    pub(super) fn left_out(
        &self,
        alpha_nt: &Array2<f64>,
        diagonal_n: &[f64],
        (rows, penalty, free): (WeightedRows<'_>, f64, f64),
    ) -> Result<(Array1<f64>, LeftOutScores)> {
        let (weights_n, share_n) = (rows.weights_n, &rows.observations.share_m);
        let left = |i: usize| {
            let left = penalty * diagonal_n[i] - weights_n[i] * free;
            left_by_share(left, share_n[i])
        };
        let error = |(i, k): (usize, usize)| unseen(penalty * alpha_nt[[i, k]], left(i));
        let errors_nt = Array2::from_shape_fn(alpha_nt.dim(), error);
        let errors_t = errors_nt.mapv(|e| e * e).sum_axis(Axis(0)) / self.n;
        let roots_n = weights_n.mapv(f64::sqrt).insert_axis(Axis(1));
        let of_rows = (errors_nt / &roots_n, alpha_nt * penalty / roots_n);
        let scores = self.scores(of_rows, rows, CalibratedOn::LeftOut)?;
        Ok((errors_t, scores))
    }

    /// Scores of rows with positive weight, from their leave-one-out errors and their residuals,
    /// `[n, t]` each.
    pub(super) fn scores(
        &self,
        (errors_nt, residuals_nt): (Array2<f64>, Array2<f64>),
        rows: WeightedRows<'_>,
        on: CalibratedOn,
    ) -> Result<LeftOutScores> {
        let targets = errors_nt.ncols();
        let (mut id_m, mut count_m, mut weight_m) = (Vec::new(), Vec::new(), Vec::new());
        let (mut y, mut error, mut residual) = (Vec::new(), Vec::new(), Vec::new());
        let weights_n = rows.weights_n.iter().enumerate();
        for (i, &w) in weights_n.filter(|(_, w)| **w > 0.0) {
            id_m.push(i as u64);
            count_m.push(rows.observations.count_m[i]);
            weight_m.push(w);
            let own = &self.y_nt.row(i) / w.sqrt() + &self.y_mean;
            y.extend(own);
            error.extend(errors_nt.row(i));
            residual.extend(residuals_nt.row(i));
        }
        let scores = (y, error, residual);
        LeftOutScores::new((id_m, count_m, weight_m), scores, targets, on)
    }

    /// As [`Self::left_out`], for folds that are left out together; errors are multiplied by the
    /// roots of the weights.
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
