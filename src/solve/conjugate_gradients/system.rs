//! The linear system of conjugate gradients.

use crate::{
    Result,
    solve::{
        FeatureProducts,
        features::weigh,
        sketch::{Centred, CgPreconditioner},
    },
};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, Zip};

/// Centred, penalised Gram matrix as an operator.
pub(super) struct System<'a, 'f> {
    pub(super) features: &'a mut (dyn FeatureProducts + 'f),
    /// Column means, zero without an intercept.
    pub(super) mean_d: Array1<f64>,
    pub(super) weights_n: Option<ArrayView1<'a, f64>>,
    /// The sum of the weights.
    pub(super) n: f64,
    pub(super) penalty: f64,
    pub(super) r_tn: Array2<f64>,
}

impl System<'_, '_> {
    /// `out = (Z'WZ - n m m' + lambda n I) v`, W the weights.
    pub(super) fn product(
        &mut self,
        v_td: ArrayView2<'_, f64>,
        out_td: &mut Array2<f64>,
    ) -> Result<()> {
        self.r_tn.fill(0.0);
        let weights_n = self.weights_n;
        let between = &mut |row0, r_tm: ArrayViewMut2<'_, f64>| weigh(r_tm, weights_n, row0);
        self.features
            .round_trip_through(v_td, &mut self.r_tn, between, out_td)?;
        for (mut out, v) in out_td.rows_mut().into_iter().zip(v_td.rows()) {
            let along = self.n * self.mean_d.dot(&v);
            for ((out, v), m) in out.iter_mut().zip(v).zip(&self.mean_d) {
                *out += self.penalty * v - along * m;
            }
        }
        Ok(())
    }

    /// Computes a sketch preconditioner.
    pub(super) fn sketch<'p>(&mut self, rank: usize) -> Result<Option<CgPreconditioner<'p>>> {
        let of = Centred {
            mean_d: &self.mean_d,
            weights_n: self.weights_n,
            n: self.n,
            penalty: self.penalty,
        };
        CgPreconditioner::sketch(self.features, &of, rank)
    }
}

/// Means of features and targets; zeros without an intercept.
pub(super) struct Middle {
    /// The sum of the weights.
    pub(super) n: f64,
    pub(super) mean_d: Array1<f64>,
    pub(super) shift_t: Array1<f64>,
    /// Sums of the squares of features.
    pub(super) square_d: Array1<f64>,
}

impl Middle {
    /// Jacobi preconditioner: 1 / diag(Z'Z - n m m' + lambda n I).
    pub(super) fn diagonal<'p>(&self, penalty: f64) -> CgPreconditioner<'p> {
        let inverse_d = Zip::from(&self.square_d)
            .and(&self.mean_d)
            .map_collect(|&square, &m| 1.0 / ((square - self.n * m * m).max(0.0) + penalty));
        CgPreconditioner::Diagonal(inverse_d)
    }

    /// Z'y centred, `[t, D]`.
    pub(super) fn right_side(
        &self,
        features: &mut dyn FeatureProducts,
        y_tn: ArrayView2<'_, f64>,
        weights_n: Option<ArrayView1<'_, f64>>,
    ) -> Result<Array2<f64>> {
        let mut b_td = Array2::zeros((y_tn.nrows(), self.mean_d.len()));
        let mut centred = &y_tn - &self.shift_t.view().insert_axis(Axis(1));
        if let Some(weights_n) = weights_n {
            centred *= &weights_n;
        }
        features.transposed(centred.view(), &mut b_td)?;
        Ok(b_td)
    }
}
