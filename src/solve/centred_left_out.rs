//! Exact leave-one-out errors of kernel ridge regression with an unpenalised intercept, for every
//! penalty from one decomposition.

use super::{centred::Centred, dual::WeightedRows};
use crate::{
    Result,
    linalg::{
        eigen::{Eigen, eigen},
        entries,
    },
};
use ndarray::{Array1, Array2, ArrayView2, Axis};

/// Decomposition of a centred kernel matrix `C S K S C = Q diag(l) Q'`, see [`Centred`], and
/// targets along Q.
///
/// With the penalty L the fitted values times S are `H C S Y`, and `I - H = Q diag(L / (l + L))
/// Q' - ss'/W`: the vector s, with eigenvalue 0, belongs to the intercept. The leave-one-out error
/// of a row is `(S Y - H S Y)_i / (1 - h_ii)` times S, since the fit is a linear smoother (Craven &
/// Wahba 1979, lemma 3.1); if only a share of the row is left out, `1 - share h_ii`.
#[derive(Debug)]
pub(crate) struct CentredLeftOut {
    centred: Centred,
    values_m: Array1<f64>,
    vectors_mm: Array2<f64>,
    squares_mm: Array2<f64>,
    along_mt: Array2<f64>,
}

impl CentredLeftOut {
    /// Decomposes a kernel matrix `[m, m]` with targets `[m, t]` of rows with weights above 0.
    /// Errors with [`Error::Numerical`](crate::Error::Numerical) on entries that are not finite.
    pub(crate) fn from_kernel(
        k_mm: &Array2<f64>,
        y_mt: ArrayView2<'_, f64>,
        rows: WeightedRows<'_>,
    ) -> Result<Self> {
        let centred = Centred::from_kernel(k_mm, y_mt, rows);
        let Eigen {
            values_n,
            vectors_nn,
        } = eigen(&centred.k_mm)?;
        Ok(Self {
            along_mt: vectors_nn.t().dot(&centred.y_mt),
            squares_mm: vectors_nn.mapv(entries::square),
            values_m: values_n.mapv(|l| l.max(0.0)),
            vectors_mm: vectors_nn,
            centred,
        })
    }

    /// Factors `L / (l + L)` along each eigenvector for the penalty L.
    fn left(&self, penalty: f64) -> Array1<f64> {
        self.values_m.mapv(|l| penalty / (l + penalty))
    }

    /// Residuals of the fit times the roots of the weights, `[m, t]`.
    fn residuals(&self, left_m: &Array1<f64>) -> Array2<f64> {
        let damped_mt = &self.along_mt * &left_m.view().insert_axis(Axis(1));
        self.vectors_mm.dot(&damped_mt)
    }

    /// Leave-one-out errors of rows by single observations, `[m, t]`, for the penalty L > 0; `None`
    /// if rounding leaves nothing of `1 - h` for a row.
    pub(crate) fn errors(&self, penalty: f64) -> Option<Array2<f64>> {
        let left_m = self.left(penalty);
        let own_m = self.squares_mm.dot(&left_m);
        self.centred.unseen(self.residuals(&left_m), own_m)
    }

    /// As [`Self::errors`], with the rows of each fold left out together.
    pub(crate) fn errors_of_folds(
        &self,
        penalty: f64,
        folds: &[Vec<usize>],
    ) -> Option<Array2<f64>> {
        let left_m = self.left(penalty);
        let scaled_mm = &self.vectors_mm * &left_m;
        let own = |i, j| scaled_mm.row(i).dot(&self.vectors_mm.row(j));
        let residuals_mt = self.residuals(&left_m);
        self.centred.unseen_folds(&residuals_mt, folds, own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        data::Observations,
        kernels::{Gaussian, gram},
    };
    use faer::{Mat, linalg::solvers::Solve};

    /// Compared with fits without one observation of each row: `[K S^2 + L I, 1; 1'S^2, 0]` with
    /// the remaining weights.
    #[test]
    fn errors_are_those_of_fits_without_each_observation() {
        const M: usize = 30;
        let wave = |i: usize, j: usize| ((i * (7 * j + 5)) as f64 * 0.37).sin();
        let x = Array2::from_shape_fn((M, 2), |(i, j)| wave(i, j));
        let y = Array2::from_shape_fn((M, 2), |(i, t)| 3.0 + wave(i, t + 3) + x[[i, 0]]);
        let k = gram(&Gaussian, x.view());
        let weights = Array1::from_shape_fn(M, |i| [1.0, 0.5, 3.0][i % 3]);
        let observations = Observations {
            share_m: (0..M).map(|i| [1.0, 0.25][i % 2]).collect(),
            ..Observations::single(M)
        };
        let rows = WeightedRows {
            weights_n: weights.view(),
            observations: &observations,
        };
        let path = CentredLeftOut::from_kernel(&k, y.view(), rows).expect("decomposes");
        for penalty in [1e-4, 1e-2, 3.0] {
            let fast = path.errors(penalty).expect("errors");
            for i in 0..M {
                let mut left = weights.clone();
                left[i] *= 1.0 - observations.share_m[i];
                let system = Mat::from_fn(M + 1, M + 1, |a, b| match (a < M, b < M) {
                    (true, true) => k[[a, b]] * left[b] + if a == b { penalty } else { 0.0 },
                    (false, false) => 0.0,
                    (true, false) => 1.0,
                    (false, true) => left[b],
                });
                let rhs = Mat::from_fn(M + 1, 2, |a, t| if a < M { y[[a, t]] } else { 0.0 });
                // K S^2 a + L a + b = y, with coefficients S^2 a.
                let fit = system.partial_piv_lu().solve(&rhs);
                for t in 0..2 {
                    let along = (0..M).map(|j| k[[i, j]] * left[j] * fit[(j, t)]);
                    let slow = y[[i, t]] - along.sum::<f64>() - fit[(M, t)];
                    let near = (fast[[i, t]] - slow).abs() < 1e-8;
                    assert!(near, "{penalty} {i}: {} for {slow}", fast[[i, t]]);
                }
            }
        }
    }
}
