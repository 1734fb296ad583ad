//! Sums of targets, on the host.

use super::{NormalEquations, sparse::SparseSums};
use crate::{Error, Result, error::Remedy, model::Targets};
use ndarray::{Array1, Array2, s};

/// Sums computed on the host.
pub(super) struct OfTargets {
    pub(super) rows: u64,
    pub(super) weight: f64,
    pub(super) log_weight: f64,
    pub(super) weight_squares: f64,
    pub(super) y_sum_t: Array1<f64>,
    pub(super) y_square_t: Array1<f64>,
}

impl OfTargets {
    pub(super) fn zero(outputs: usize) -> Self {
        Self {
            rows: 0,
            weight: 0.0,
            log_weight: 0.0,
            weight_squares: 0.0,
            y_sum_t: Array1::zeros(outputs),
            y_square_t: Array1::zeros(outputs),
        }
    }

    /// Adds these sums, and the sums of sparse and f64 rows, to a total that has the other products
    /// of features already; `Z'Y` has a column of ones as last target. Errors if sums are not
    /// finite.
    pub(super) fn join(
        self,
        (mut zty_dt, sparse): (Array2<f64>, Option<&mut SparseSums>),
        targets: &Targets,
        total: &mut NormalEquations,
    ) -> Result<()> {
        let outputs = targets.outputs();
        if let Some(sparse) = sparse {
            sparse.take_onto(total.gram_and_rest(), &mut zty_dt);
        }
        let z_sum_d = zty_dt.column(outputs).to_owned();
        for k in 0..outputs {
            let mut column = zty_dt.column_mut(k);
            column.scaled_add(targets.shift(k), &z_sum_d);
        }
        let zty_dt = zty_dt.slice_move(s![.., ..outputs]);
        // No product of columns exceeds the larger of their squares.
        let squares = total.gram_dd.diag();
        if squares.iter().chain(&zty_dt).any(|v| !v.is_finite()) {
            let problem = "the sums are not finite: the features or targets are too large";
            return Err(Error::numerical(problem).help(Remedy::Standardize));
        }
        total.rows += self.rows;
        let beside = NormalEquations {
            weight: self.weight,
            log_weight: self.log_weight,
            weight_squares: self.weight_squares,
            zty_dt,
            z_sum_d,
            y_sum_t: self.y_sum_t,
            y_square_t: self.y_square_t,
            ..NormalEquations::zero(0, 0)
        };
        total.add_beside(&beside, 1.0);
        Ok(())
    }
}
