//! Least squares without a penalty, from sums: the solution of least norm.

use crate::{Error, Result, linalg::eigen::eigen, model::Coefficients, normal::NormalEquations};
use ndarray::{Array1, Array2, Axis, s};

/// Least squares of least norm: among the beta that minimise `|y - Z beta - b|^2` the one with the
/// smallest |beta|, the limit of ridge regression as its penalty goes to 0, `beta = Z^+ y` (Golub &
/// Van Loan 2013, "Matrix computations", section 5.5), by eigenvalues of `Z'Z`. The intercept comes
/// from centring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeastNorm {
    /// Whether to fit an intercept.
    pub intercept: bool,
    /// Rank tolerance, relative to the largest eigenvalue, for columns scaled to equal variance:
    /// smaller eigenvalues are treated as 0, since rounding leaves them for linearly dependent
    /// columns.
    pub rounding: f64,
}

impl LeastNorm {
    /// The tolerance for sums of `columns` columns, in f64 or in f32.
    pub fn rounding_of(columns: usize, in_single: bool) -> f64 {
        let digits = if in_single {
            f64::from(f32::EPSILON)
        } else {
            f64::EPSILON
        };
        10.0 * columns as f64 * digits
    }

    /// Solves for all targets, on the CPU, in f64, and returns the rank of the columns as well.
    ///
    /// Errors with [`Error::Shape`] without rows, and with [`Error::Numerical`] on sums that are
    /// not finite.
    pub fn solve(&self, sums: &NormalEquations) -> Result<(Coefficients, f64)> {
        if sums.weight <= 0.0 {
            return Err(Error::shape("there are no rows to fit"));
        }
        let n = sums.weight;
        let share = if self.intercept { n.recip() } else { 0.0 };
        let (z_mean, y_mean) = (&sums.z_sum_d * share, &sums.y_sum_t * share);
        let features = z_mean.len();
        let centred = |(i, j): (usize, usize)| {
            let (i, j) = (i.max(j), i.min(j));
            sums.gram_dd[[i, j]] - n * z_mean[i] * z_mean[j]
        };
        let gram_dd = Array2::from_shape_fn((features, features), centred);
        // Centring loses digits of columns far from 0.
        let least = |i: usize| self.rounding * sums.gram_dd[[i, i]].abs();
        let scale_d = Array1::from_shape_fn(features, |i| {
            let square = gram_dd[[i, i]];
            if square > least(i) {
                square.sqrt().recip()
            } else {
                0.0
            }
        });
        let scaled_dd = Array2::from_shape_fn((features, features), |(i, j)| {
            gram_dd[[i, j]] * scale_d[i] * scale_d[j]
        });
        let zty_dt = &sums.zty_dt
            - &(z_mean
                .view()
                .insert_axis(Axis(1))
                .dot(&y_mean.view().insert_axis(Axis(0)))
                * n);
        let eigen = eigen(&scaled_dd)?;
        let largest = eigen.values_n.first().copied().unwrap_or(0.0);
        let rank = eigen
            .values_n
            .iter()
            .filter(|&&v| v > self.rounding * largest)
            .count();
        let scale_d = scale_d.insert_axis(Axis(1));
        let kept_dr = eigen.vectors_nn.slice(s![.., ..rank]);
        let values_r = eigen.values_n.slice(s![..rank]).insert_axis(Axis(1));
        let along_rt = kept_dr.t().dot(&(&zty_dt * &scale_d)) / values_r;
        let beta_dt = kept_dr.dot(&along_rt) * &scale_d;
        // Components along combinations of columns that are zero would increase the norm.
        let row_dr = &kept_dr * &scale_d.mapv(|s| if s > 0.0 { s.recip() } else { 0.0 });
        let beta_dt = projected(&row_dr, beta_dt)?;
        let intercept_t = &y_mean - &beta_dt.t().dot(&z_mean);
        let coefficients = Coefficients {
            beta_dt,
            intercept_t,
        };
        Ok((coefficients, rank as f64))
    }
}

/// Projects the columns of beta, `[D, t]`, onto the span of the columns of `of_dr`.
fn projected(of_dr: &Array2<f64>, beta_dt: Array2<f64>) -> Result<Array2<f64>> {
    if of_dr.ncols() == of_dr.nrows() {
        return Ok(beta_dt);
    }
    let inner = eigen(&of_dr.t().dot(of_dr))?;
    let along = inner.vectors_nn.t().dot(&of_dr.t().dot(&beta_dt));
    let along = along / inner.values_n.view().insert_axis(Axis(1));
    Ok(of_dr.dot(&inner.vectors_nn.dot(&along)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{array, concatenate};

    fn sums(z: &Array2<f64>, y: &Array2<f64>) -> NormalEquations {
        NormalEquations {
            rows: z.nrows() as u64,
            weight: z.nrows() as f64,
            weight_squares: z.nrows() as f64,
            log_weight: 0.0,
            gram_dd: z.t().dot(z),
            zty_dt: z.t().dot(y),
            z_sum_d: z.sum_axis(Axis(0)),
            y_sum_t: y.sum_axis(Axis(0)),
            y_square_t: (y * y).sum_axis(Axis(0)),
            rest: Vec::new(),
        }
    }

    fn rows() -> (Array2<f64>, Array2<f64>) {
        let z = array![
            [1.0, 50.0],
            [0.3, -10.0],
            [0.9, 1.0],
            [-0.6, 8.0],
            [0.2, 2.0]
        ];
        (
            z,
            array![[1.0, 5.0], [2.0, 4.0], [0.5, 6.5], [-1.0, 5.5], [3.0, 4.2]],
        )
    }

    fn solve(z: &Array2<f64>, y: &Array2<f64>, intercept: bool) -> (Coefficients, f64) {
        let rounding = LeastNorm::rounding_of(z.ncols(), false);
        let least = LeastNorm {
            intercept,
            rounding,
        };
        least.solve(&sums(z, y)).expect("solves")
    }

    /// Residuals are orthogonal to columns, and to ones with an intercept.
    #[test]
    fn residuals_are_orthogonal_to_columns() {
        let (z, y) = rows();
        for intercept in [true, false] {
            let (fit, rank) = solve(&z, &y, intercept);
            assert_eq!(rank, 2.0);
            let residual = &y - &(z.dot(&fit.beta_dt) + &fit.intercept_t);
            let along = z.t().dot(&residual);
            assert!(along.iter().all(|v| v.abs() < 1e-11), "{along}");
            let sum = residual.sum_axis(Axis(0));
            assert_eq!(intercept, sum.iter().all(|r| r.abs() < 1e-12));
        }
    }

    /// For `[Z, 3 Z]` the solution of least norm gives `beta / 10` to Z and `3 beta / 10` to the
    /// other, and 0 to a column without variance.
    #[test]
    fn of_several_solutions_it_is_the_smallest() {
        let (z, y) = rows();
        for intercept in [true, false] {
            let (once, _) = solve(&z, &y, intercept);
            let nothing = Array2::from_elem((5, 1), if intercept { 7.0 } else { 0.0 });
            let several = concatenate![Axis(1), z, &z * 3.0, nothing];
            let (fit, rank) = solve(&several, &y, intercept);
            assert_eq!(rank, 2.0);
            let expected = concatenate![
                Axis(0),
                &once.beta_dt * 0.1,
                &once.beta_dt * 0.3,
                Array2::zeros((1, 2))
            ];
            let apart = (&fit.beta_dt - &expected).mapv(f64::abs);
            assert!(apart.iter().all(|a| *a < 1e-10), "{apart}");
            let apart = (&fit.intercept_t - &once.intercept_t).mapv(f64::abs);
            assert!(apart.iter().all(|a| *a < 1e-10), "{apart}");
        }
    }
}
