//! Rows with the same features, merged before a kernel system is solved.

use crate::data::{Rows, hash_of_contents};
use ndarray::{Array1, Array2, ArrayView1};
use std::collections::HashMap;

/// Distinct features of rows.
pub(super) struct DistinctFeatures {
    /// First row of each, in the order of the rows.
    pub(super) places: Vec<usize>,
    /// Index of the distinct row of each row, `[n]`.
    of_row: Vec<usize>,
}

impl DistinctFeatures {
    /// Finds rows with the same features; `None` if all are distinct.
    pub(super) fn find(x: &Rows) -> Option<Self> {
        let (mut places, mut of_row) = (Vec::<usize>::new(), Vec::new());
        let mut known: HashMap<u64, usize> = HashMap::new();
        for row in 0..x.nrows() {
            let next = places.len();
            let of_hash = *known.entry(hash(x, row)).or_insert(next);
            // Rows with equal hashes but different features stay separate.
            let is_known = places
                .get(of_hash)
                .is_some_and(|&first| same(x, first, row));
            of_row.push(if is_known { of_hash } else { next });
            if !is_known {
                places.push(row);
            }
        }
        (places.len() < x.nrows()).then_some(Self { places, of_row })
    }

    /// Kernel, weighted means of targets and total weights of the distinct rows: the sum of squares
    /// `sum w (y - f)^2` of rows with the same f equals that of their mean up to a constant.
    pub(super) fn merge(
        &self,
        k_nn: &Array2<f64>,
        y_nt: &Array2<f64>,
        weights_n: &Array1<f64>,
    ) -> (Array2<f64>, Array2<f64>, Array1<f64>) {
        let m = self.places.len();
        let (mut y_mt, mut weights_m) = (Array2::zeros((m, y_nt.ncols())), Array1::zeros(m));
        for ((&place, y_t), &weight) in self.of_row.iter().zip(y_nt.rows()).zip(weights_n) {
            weights_m[place] += weight;
            y_mt.row_mut(place).scaled_add(weight, &y_t);
        }
        for (mut y_t, &weight) in y_mt.rows_mut().into_iter().zip(&weights_m) {
            if weight > 0.0 {
                y_t /= weight;
            }
        }
        let k_mm = Array2::from_shape_fn((m, m), |(i, j)| k_nn[[self.places[i], self.places[j]]]);
        (k_mm, y_mt, weights_m)
    }
}

fn hash(x: &Rows, row: usize) -> u64 {
    let none = ArrayView1::from(&[]);
    match x {
        Rows::F32(x) => hash_of_contents(x.row(row).iter().map(|&v| f64::from(v)), none),
        Rows::F64(x) => hash_of_contents(x.row(row).iter().copied(), none),
    }
}

fn same(x: &Rows, a: usize, b: usize) -> bool {
    match x {
        Rows::F32(x) => x.row(a) == x.row(b),
        Rows::F64(x) => x.row(a) == x.row(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernels::{Gaussian, gram},
        solve::weighted_kernel_ridge,
    };
    use ndarray::{Axis, s};

    /// Merged rows have the solution of all rows: the coefficients of equal rows sum to the
    /// coefficient of the merged row.
    #[test]
    fn merged_rows_have_the_same_solution() {
        let x = Array2::from_shape_fn((40, 2), |(i, j)| [(i * 7 % 5) as f64, (i % 3) as f64][j]);
        let y = Array2::from_shape_fn((40, 2), |(i, t)| 3.0 + ((i * (t + 2)) as f64 * 0.7).sin());
        let weights = Array1::from_shape_fn(40, |i| [1.0, 0.5, 3.0][i % 3]);
        let k = gram(&Gaussian, x.view());
        let distinct = DistinctFeatures::find(&Rows::F64(x)).expect("equal rows");
        assert_eq!(distinct.places.len(), 15);
        let (k_mm, y_mt, weights_m) = distinct.merge(&k, &y, &weights);
        for intercept in [true, false] {
            let solve = |k: &Array2<f64>, y: &Array2<f64>, weights: &Array1<f64>| {
                let how = (k.clone(), y.view(), weights.view());
                let solved = weighted_kernel_ridge(how.0, how.1, how.2, 1e-3, intercept);
                solved.expect("solves")
            };
            let (all, merged) = (solve(&k, &y, &weights), solve(&k_mm, &y_mt, &weights_m));
            let mut sums = Array2::<f64>::zeros((15, 2));
            for (i, &place) in distinct.of_row.iter().enumerate() {
                let mut sum = sums.slice_mut(s![place, ..]);
                sum += &all.coefficients.beta_dt.index_axis(Axis(0), i);
            }
            let apart = (&sums - &merged.coefficients.beta_dt).mapv(f64::abs);
            assert!(
                apart.iter().all(|apart| *apart < 1e-8),
                "{intercept} {apart}"
            );
            let apart = all.effective_dimension - merged.effective_dimension;
            assert!(apart.abs() < 1e-8, "{intercept} {apart}");
        }
        assert!(DistinctFeatures::find(&Rows::F64(Array2::eye(4))).is_none());
    }
}
