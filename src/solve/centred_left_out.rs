//! Exact leave-one-out errors of kernel ridge regression with an intercept that no penalty holds,
//! for every penalty from one decomposition.

use super::{
    centred::Centred,
    together::{LEAST, unseen_together},
};
use crate::{
    Result,
    linalg::{
        eigen::{Eigen, eigen},
        entries,
    },
};
use ndarray::{Array1, Array2, ArrayView2, Axis};

/// A centred kernel matrix `C K C = Q diag(l) Q'`, C = I - 11'/m, and targets along Q.
///
/// With the penalty L the fitted values are HY, and
/// `I - H = Q diag(L / (l + L)) Q' - 11'/m`: the vector of ones, of eigenvalue 0, is the
/// intercept's. A row left out errs by `(Y - HY)_i / (1 - h_ii)`, since the fit is a linear
/// smoother (Craven & Wahba 1979, lemma 3.1).
#[derive(Debug)]
pub(crate) struct CentredLeftOut {
    values_m: Array1<f64>,
    vectors_mm: Array2<f64>,
    squares_mm: Array2<f64>,
    along_mt: Array2<f64>,
}

impl CentredLeftOut {
    /// Of a kernel matrix `[m, m]` and targets `[m, t]`. Errors with
    /// [`Error::Numerical`](crate::Error::Numerical) on entries that are not finite.
    pub(crate) fn from_kernel(k_mm: &Array2<f64>, y_mt: ArrayView2<'_, f64>) -> Result<Self> {
        let Centred { k_mm, y_mt } = Centred::from_kernel(k_mm, y_mt);
        let Eigen {
            values_n,
            vectors_nn,
        } = eigen(&k_mm)?;
        Ok(Self {
            along_mt: vectors_nn.t().dot(&y_mt),
            squares_mm: vectors_nn.mapv(entries::square),
            values_m: values_n.mapv(|l| l.max(0.0)),
            vectors_mm: vectors_nn,
        })
    }

    /// The error of each row left out, `[m, t]`, with the penalty L > 0; `None` where a row decides
    /// on its own value but for rounding.
    pub(crate) fn errors(&self, penalty: f64) -> Option<Array2<f64>> {
        let m = self.values_m.len() as f64;
        let left_m = self.values_m.mapv(|l| penalty / (l + penalty));
        let own_m = self.squares_mm.dot(&left_m) - 1.0 / m;
        if own_m.iter().any(|&own| own < LEAST) {
            return None;
        }
        let damped_mt = &self.along_mt * &left_m.insert_axis(Axis(1));
        Some(self.vectors_mm.dot(&damped_mt) / own_m.insert_axis(Axis(1)))
    }

    /// As [`Self::errors`], the rows of each fold left out together.
    pub(crate) fn errors_of_folds(
        &self,
        penalty: f64,
        folds: &[Vec<usize>],
    ) -> Option<Array2<f64>> {
        let m = self.values_m.len() as f64;
        let left_m = self.values_m.mapv(|l| penalty / (l + penalty));
        let damped_mt = &self.along_mt * &left_m.view().insert_axis(Axis(1));
        unseen_together(folds, &self.vectors_mm.dot(&damped_mt), |fold| {
            let vectors_gm = self.vectors_mm.select(Axis(0), fold);
            (&vectors_gm * &left_m).dot(&vectors_gm.t()) - 1.0 / m
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Gaussian, gram};
    use faer::{Mat, linalg::solvers::Solve};

    /// Against a fit of its own to all rows but one, for each of them: `[K + L I, 1; 1', 0]`.
    #[test]
    fn errors_are_those_of_fits_without_each_row() {
        const M: usize = 30;
        let wave = |i: usize, j: usize| ((i * (7 * j + 5)) as f64 * 0.37).sin();
        let x = Array2::from_shape_fn((M, 2), |(i, j)| wave(i, j));
        let y = Array2::from_shape_fn((M, 2), |(i, t)| 3.0 + wave(i, t + 3) + x[[i, 0]]);
        let k = gram(&Gaussian, x.view());
        let path = CentredLeftOut::from_kernel(&k, y.view()).expect("decomposes");
        for penalty in [1e-4, 1e-2, 3.0] {
            let fast = path.errors(penalty).expect("errors");
            for i in 0..M {
                let rest: Vec<usize> = (0..M).filter(|&j| j != i).collect();
                let system = Mat::from_fn(M, M, |a, b| match (a < M - 1, b < M - 1) {
                    (true, true) => k[[rest[a], rest[b]]] + if a == b { penalty } else { 0.0 },
                    (false, false) => 0.0,
                    _ => 1.0,
                });
                let rhs = Mat::from_fn(M, 2, |a, t| match rest.get(a) {
                    Some(&row) => y[[row, t]],
                    None => 0.0,
                });
                let fit = system.partial_piv_lu().solve(&rhs);
                for t in 0..2 {
                    let along = rest
                        .iter()
                        .enumerate()
                        .map(|(a, &j)| k[[i, j]] * fit[(a, t)]);
                    let slow = y[[i, t]] - along.sum::<f64>() - fit[(M - 1, t)];
                    let near = (fast[[i, t]] - slow).abs() < 1e-8;
                    assert!(near, "{penalty} {i}: {} for {slow}", fast[[i, t]]);
                }
            }
        }
    }
}
