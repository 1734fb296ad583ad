//! Kernel ridge regression with an unpenalised intercept, at one penalty.

use super::{
    dual::WeightedRows,
    looked_at::left_by_share,
    together::{LEAST, inverse, unseen_together},
};
use crate::linalg::cholesky::Lower;
use ndarray::{Array1, Array2, ArrayView2, Axis};

/// Kernel matrix and targets, centred at their weighted means and multiplied by the roots of the
/// weights: with S = diag(sqrt w), s = S 1, W = s's and C = I - ss'/W these are `C S K S C` and `C
/// S y`.
#[derive(Debug)]
pub(crate) struct Centred {
    pub(super) k_mm: Array2<f64>,
    pub(super) y_mt: Array2<f64>,
    /// Roots of the weights, `[m]`.
    pub(super) roots_m: Array1<f64>,
    /// Total weight.
    pub(super) weight: f64,
    /// Share of each row that is left out at a time, `[m]`.
    pub(super) share_m: Vec<f64>,
}

impl Centred {
    /// Centres a kernel matrix `[m, m]` and targets `[m, t]` of rows with weights above 0.
    pub(crate) fn from_kernel(
        k_mm: &Array2<f64>,
        y_mt: ArrayView2<'_, f64>,
        rows: WeightedRows<'_>,
    ) -> Self {
        let (weights_m, weight) = (rows.weights_n, rows.weights_n.sum());
        let means_m = (k_mm * &weights_m).sum_axis(Axis(1)) / weight;
        let mean = (&weights_m * &means_m).sum() / weight;
        let middle_t = (&y_mt * &weights_m.insert_axis(Axis(1))).sum_axis(Axis(0)) / weight;
        let roots_m = weights_m.mapv(f64::sqrt);
        Self {
            k_mm: Array2::from_shape_fn(k_mm.dim(), |(i, j)| {
                // Exactly symmetric.
                let centred = k_mm[[i, j]] - (means_m[i] + means_m[j]) + mean;
                roots_m[i] * roots_m[j] * centred
            }),
            y_mt: (&y_mt - &middle_t) * roots_m.view().insert_axis(Axis(1)),
            roots_m,
            weight,
            share_m: rows.observations.share_m.clone(),
        }
    }

    /// The factor of `C S K S C + L I`; `None` if rounding leaves it not positive definite.
    fn factor(&self, penalty: f64) -> Option<Lower> {
        let mut lower = Lower::from_matrix(&self.k_mm);
        (0..lower.order()).for_each(|i| lower.row_mut(i)[i] += penalty);
        lower.factor().then_some(lower)
    }

    fn solve(&self, lower: &Lower) -> Array2<f64> {
        let mut dual_mt = self.y_mt.clone();
        lower.solve(&mut dual_mt);
        lower.solve_transposed(&mut dual_mt);
        dual_mt
    }

    /// Coefficients of the fit to all rows, `[m, t]`, with the penalty L > 0: predictions are the
    /// sum of kernel values with the rows times these, up to a constant.
    pub(crate) fn dual(&self, penalty: f64) -> Option<Array2<f64>> {
        let dual_mt = self.solve(&self.factor(penalty)?);
        Some(dual_mt * self.roots_m.view().insert_axis(Axis(1)))
    }

    /// Leave-one-out errors, `[m, t]`, as
    /// [`CentredLeftOut::errors`](super::CentredLeftOut::errors), from a factor instead of a
    /// decomposition: `I - H = L (C S K S C + L I)^-1 - ss'/W`.
    pub(crate) fn errors(&self, penalty: f64) -> Option<Array2<f64>> {
        let lower = self.factor(penalty)?;
        let own_m = Array1::from(lower.inverse_diagonal()) * penalty;
        self.unseen(self.solve(&lower) * penalty, own_m)
    }

    /// Leave-one-out errors by single observations, `[m, t]`, from the residuals times the roots of
    /// the weights and the diagonal of `I - H + ss'/W`.
    pub(super) fn unseen(
        &self,
        residuals_mt: Array2<f64>,
        mut own_m: Array1<f64>,
    ) -> Option<Array2<f64>> {
        for (i, own) in own_m.iter_mut().enumerate() {
            *own -= self.roots_m[i] * self.roots_m[i] / self.weight;
            *own = left_by_share(*own, self.share_m[i]);
        }
        if own_m.iter().any(|&own| own < LEAST) {
            return None;
        }
        Some(residuals_mt / (own_m * &self.roots_m).insert_axis(Axis(1)))
    }

    /// The same for folds whose rows are left out together.
    pub(super) fn unseen_folds(
        &self,
        residuals_mt: &Array2<f64>,
        folds: &[Vec<usize>],
        own: impl Fn(usize, usize) -> f64,
    ) -> Option<Array2<f64>> {
        let errors_mt = unseen_together(folds, residuals_mt, |fold| {
            Array2::from_shape_fn((fold.len(), fold.len()), |(i, j)| {
                let (i, j) = (fold[i], fold[j]);
                own(i, j) - self.roots_m[i] * self.roots_m[j] / self.weight
            })
        });
        errors_mt.map(|errors_mt| errors_mt / self.roots_m.view().insert_axis(Axis(1)))
    }

    /// As [`Self::errors`], with the rows of each fold left out together.
    pub(crate) fn errors_of_folds(
        &self,
        penalty: f64,
        folds: &[Vec<usize>],
    ) -> Option<Array2<f64>> {
        let lower = self.factor(penalty)?;
        let inverse_mm = inverse(&lower);
        let residuals_mt = self.solve(&lower) * penalty;
        self.unseen_folds(&residuals_mt, folds, |i, j| penalty * inverse_mm[[i, j]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        data::Observations,
        kernels::{Gaussian, gram},
        solve::CentredLeftOut,
    };

    /// A factor agrees with a decomposition, which a separate test compares with refits; and the
    /// residuals of the fit to all rows match its leave-one-out errors.
    #[test]
    fn factors_have_the_errors_of_decompositions() {
        const M: usize = 60;
        let wave = |i: usize, j: usize| ((i * (7 * j + 5)) as f64 * 0.37).sin();
        let x = Array2::from_shape_fn((M, 2), |(i, j)| wave(i, j));
        let y = Array2::from_shape_fn((M, 2), |(i, t)| 3.0 + wave(i, t + 3) + x[[i, 0]]);
        let k = gram(&Gaussian, x.view());
        let weights = Array1::from_shape_fn(M, |i| [1.0, 0.5, 3.0][i % 3]);
        let rows = WeightedRows {
            weights_n: weights.view(),
            observations: &Observations::single(M),
        };
        let path = CentredLeftOut::from_kernel(&k, y.view(), rows).expect("decomposes");
        let centred = Centred::from_kernel(&k, y.view(), rows);
        for penalty in [1e-4, 1e-2, 3.0] {
            let [slow, fast] = [path.errors(penalty), centred.errors(penalty)];
            let gap = slow.expect("errors") - fast.expect("errors");
            assert!(gap.iter().all(|gap| gap.abs() < 1e-8), "{penalty}");
            let dual = centred.dual(penalty).expect("a fit");
            // `(C S K S C + L I) b = C S y` and `a = S b`: `y - K a - L a / w` is the same in each
            // row.
            let left = &y - &k.dot(&dual) - &dual * penalty / weights.view().insert_axis(Axis(1));
            let spread = left.std_axis(Axis(0), 0.0);
            assert!(spread.iter().all(|s| s.abs() < 1e-6), "{penalty}: {spread}");
        }
    }
}
