//! Kernel ridge regression with an intercept that no penalty holds, at one penalty.

use super::together::{LEAST, inverse, unseen_together};
use crate::linalg::cholesky::Lower;
use ndarray::{Array1, Array2, ArrayView2, Axis};

/// A kernel matrix whose rows and columns have mean 0, `C K C` with C = I - 11'/m, and targets of
/// mean 0.
#[derive(Debug)]
pub(crate) struct Centred {
    pub(super) k_mm: Array2<f64>,
    pub(super) y_mt: Array2<f64>,
}

impl Centred {
    /// Of a kernel matrix `[m, m]` and targets `[m, t]`.
    pub(crate) fn from_kernel(k_mm: &Array2<f64>, y_mt: ArrayView2<'_, f64>) -> Self {
        let m = k_mm.nrows() as f64;
        let means_m = k_mm.sum_axis(Axis(1)) / m;
        let mean = means_m.sum() / m;
        Self {
            k_mm: Array2::from_shape_fn(k_mm.dim(), |(i, j)| {
                // Symmetric to the last bit.
                k_mm[[i, j]] - (means_m[i] + means_m[j]) + mean
            }),
            y_mt: &y_mt - &(y_mt.sum_axis(Axis(0)) / m),
        }
    }

    /// The factor of `C K C + L I`; `None` where rounding leaves no positive definite matrix.
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

    /// What fits all rows, `[m, t]`, with the penalty L > 0: predictions of a row are the sum of
    /// its kernel values with the rows times these, but for a number that is the same for all.
    pub(crate) fn dual(&self, penalty: f64) -> Option<Array2<f64>> {
        Some(self.solve(&self.factor(penalty)?))
    }

    /// The error of each row left out, `[m, t]`, as
    /// [`CentredLeftOut::errors`](super::CentredLeftOut::errors) has it, from a factor in the place
    /// of a decomposition: `I - H = L (C K C + L I)^-1 - 11'/m`.
    pub(crate) fn errors(&self, penalty: f64) -> Option<Array2<f64>> {
        let lower = self.factor(penalty)?;
        let m = self.k_mm.nrows() as f64;
        let own_m = Array1::from(lower.inverse_diagonal()) * penalty - 1.0 / m;
        if own_m.iter().any(|&own| own < LEAST) {
            return None;
        }
        Some(self.solve(&lower) * penalty / own_m.insert_axis(Axis(1)))
    }

    /// As [`Self::errors`], the rows of each fold left out together.
    pub(crate) fn errors_of_folds(
        &self,
        penalty: f64,
        folds: &[Vec<usize>],
    ) -> Option<Array2<f64>> {
        let lower = self.factor(penalty)?;
        let inverse_mm = inverse(&lower);
        let m = self.k_mm.nrows() as f64;
        unseen_together(folds, &(self.solve(&lower) * penalty), |fold| {
            let own = |(i, j)| penalty * inverse_mm[[fold[i], fold[j]]] - 1.0 / m;
            Array2::from_shape_fn((fold.len(), fold.len()), own)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernels::{Gaussian, gram},
        solve::CentredLeftOut,
    };

    /// By a factor as by a decomposition, which a test of its own holds to fits without each row;
    /// and the fit of all rows is what is left of the targets by its own errors.
    #[test]
    fn factors_have_the_errors_of_decompositions() {
        const M: usize = 60;
        let wave = |i: usize, j: usize| ((i * (7 * j + 5)) as f64 * 0.37).sin();
        let x = Array2::from_shape_fn((M, 2), |(i, j)| wave(i, j));
        let y = Array2::from_shape_fn((M, 2), |(i, t)| 3.0 + wave(i, t + 3) + x[[i, 0]]);
        let k = gram(&Gaussian, x.view());
        let path = CentredLeftOut::from_kernel(&k, y.view()).expect("decomposes");
        let centred = Centred::from_kernel(&k, y.view());
        for penalty in [1e-4, 1e-2, 3.0] {
            let [slow, fast] = [path.errors(penalty), centred.errors(penalty)];
            let gap = slow.expect("errors") - fast.expect("errors");
            assert!(gap.iter().all(|gap| gap.abs() < 1e-8), "{penalty}");
            let dual = centred.dual(penalty).expect("a fit");
            // `(C K C + L I) a = C y`, so that what is left of y is the same in each row.
            let left = &y - &k.dot(&dual) - &dual * penalty;
            let spread = left.std_axis(Axis(0), 0.0);
            assert!(spread.iter().all(|s| s.abs() < 1e-7), "{penalty}: {spread}");
        }
    }
}
