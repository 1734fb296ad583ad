//! What a ridge regression on some columns is worth on rows left out.

use crate::linalg::{cholesky::Lower, entries, products::lower_outer};
use ndarray::{Array1, Array2, Axis};

/// Penalties on columns of rows of unit length that weigh 1 on average.
const PENALTIES: [f64; 5] = [0.3, 1.0, 4.0, 16.0, 64.0];
/// What is left of 1 - h_ii by rounding is no number to divide by.
const LEAST: f64 = 1e-9;

/// Targets `[m, t]` less their mean, each times the root of its row's weight.
pub(super) struct Centred {
    roots_m: Array1<f64>,
    own_m: Array1<f64>,
    y_mt: Array2<f64>,
}

impl Centred {
    /// Of targets and weights of rows.
    pub(super) fn new(y_mt: &Array2<f64>, weights_m: &Array1<f64>) -> Self {
        let weights_m = weights_m * (weights_m.len() as f64 / weights_m.sum());
        let own_m = &weights_m / weights_m.sum();
        let roots_m = weights_m.mapv(f64::sqrt);
        let y_mt = centred(y_mt, &own_m, &roots_m);
        Self {
            roots_m,
            own_m,
            y_mt,
        }
    }

    /// The squared error of each row by the mean of all others, `[m]`.
    pub(super) fn by_mean(&self) -> Array1<f64> {
        let left_m = 1.0 - &self.own_m;
        let errors_mt = &self.y_mt / &left_m.insert_axis(Axis(1));
        entries::row_squares(errors_mt.view())
    }

    /// The squared error of each row by a ridge regression on all others, with an intercept, at the
    /// penalty that is best. Fitted values are `H y`; a row left out errs by
    /// `(y - H y)_i / (1 - h_ii)` (Craven & Wahba 1979, lemma 3.1).
    pub(super) fn by_ridge(&self, x_md: &Array2<f64>) -> Array1<f64> {
        let x_md = centred(x_md, &self.own_m, &self.roots_m);
        let x_dm = x_md.t().as_standard_layout().into_owned();
        let gram_dd = lower_outer(&x_dm);
        let mut best = (f64::INFINITY, self.by_mean());
        for penalty in PENALTIES {
            let mut penalised_dd = gram_dd.clone();
            entries::add_to_diagonal(&mut penalised_dd, penalty);
            let mut factor = Lower::take(penalised_dd);
            if !factor.factor() {
                continue;
            }
            // With L^-1 X' = T the fitted values are T'T y.
            let mut t_dm = x_dm.clone();
            factor.solve(&mut t_dm);
            let left_m = 1.0 - &self.own_m - entries::column_squares(t_dm.view());
            if left_m.iter().any(|&left| left < LEAST) {
                continue;
            }
            let fitted_mt = t_dm.t().dot(&t_dm.dot(&self.y_mt));
            let errors_mt = (&self.y_mt - &fitted_mt) / left_m.insert_axis(Axis(1));
            let squares_m = entries::row_squares(errors_mt.view());
            if squares_m.sum() < best.0 {
                best = (squares_m.sum(), squares_m);
            }
        }
        best.1
    }
}

/// Columns less their means, each row times a root.
fn centred(a_mk: &Array2<f64>, own_m: &Array1<f64>, roots_m: &Array1<f64>) -> Array2<f64> {
    let mean_k = own_m.dot(a_mk);
    (a_mk - &mean_k) * roots_m.view().insert_axis(Axis(1))
}

/// Whether squared errors of the same rows are less than others by more than two standard errors of
/// that. Rows left out in turn are not independent: what two of them say of each other counts in
/// both, so that where nothing is told the variance of the sum is twice that of so many rows.
pub(super) fn are_less(squares_m: &Array1<f64>, others_m: &Array1<f64>) -> bool {
    let gain_m = others_m - squares_m;
    let gain = gain_m.sum();
    let variance = 2.0
        * (&gain_m - gain / gain_m.len() as f64)
            .mapv(entries::square)
            .sum();
    gain > 2.0 * variance.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against fits of their own to all rows but one, by the normal equations beside ones.
    #[test]
    fn errors_are_those_of_fits_without_each_row() {
        const M: usize = 40;
        let wave = |i: usize, j: usize| ((i * (7 * j + 5)) as f64 * 0.37).sin();
        let x = Array2::from_shape_fn((M, 2), |(i, j)| wave(i, j));
        let y = Array2::from_shape_fn((M, 1), |(i, _)| 3.0 + wave(i, 4) + 2.0 * x[[i, 0]]);
        let w = Array1::from_shape_fn(M, |i| 1.0 + (i % 3) as f64);
        let unit = M as f64 / w.sum();
        let one = |out: usize, penalty: f64| {
            // Two columns and an intercept, by Gauss on 3 x 4.
            let mut a = [[0.0; 4]; 3];
            for i in (0..M).filter(|&i| i != out) {
                let row = [x[[i, 0]], x[[i, 1]], 1.0, y[[i, 0]]];
                for (r, line) in a.iter_mut().enumerate() {
                    for (c, entry) in line.iter_mut().enumerate() {
                        *entry += unit * w[i] * row[r] * row[c];
                    }
                }
            }
            a[0][0] += penalty;
            a[1][1] += penalty;
            for p in 0..3 {
                let pivot = a[p];
                for (_, line) in a.iter_mut().enumerate().filter(|(r, _)| *r != p) {
                    let factor = line[p] / pivot[p];
                    line.iter_mut()
                        .zip(pivot)
                        .for_each(|(v, by)| *v -= factor * by);
                }
            }
            let b: Vec<f64> = (0..3).map(|p| a[p][3] / a[p][p]).collect();
            y[[out, 0]] - b[0] * x[[out, 0]] - b[1] * x[[out, 1]] - b[2]
        };
        let all =
            |penalty: f64| Array1::from_shape_fn(M, |i| unit * w[i] * one(i, penalty).powi(2));
        let best = PENALTIES.map(all).into_iter();
        let best = best
            .min_by(|a, b| a.sum().total_cmp(&b.sum()))
            .expect("some");
        let centred = Centred::new(&y, &w);
        let found = centred.by_ridge(&x);
        assert!(
            (&found - &best).iter().all(|d| d.abs() < 1e-10),
            "{found} {best}"
        );
        let by_mean = centred.by_mean();
        let wide = all(1e12);
        assert!(
            (&by_mean - &wide).iter().all(|d| d.abs() < 1e-9),
            "{by_mean}"
        );
        assert!(are_less(&found, &by_mean) && !are_less(&by_mean, &found));
    }
}
