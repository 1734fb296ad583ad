//! The lasso as quadratic problems, and the choice of its penalty.

use crate::{
    normal::NormalEquations,
    solve::{
        Quadratic, Separable,
        preconditioner::{Covariance, Point},
    },
};
use ndarray::{Array1, Array2, ArrayView1};

/// Least penalty of a path, relative to the root mean squares of a feature and a target: products
/// of f32 features and targets are only accurate to some units of rounding.
const RESOLVED: f64 = 16.0 * f32::EPSILON as f64;
/// Ratio of consecutive penalties of a path.
const STEP: f64 = 0.75;
/// Maximum number of penalties of a path: four decades.
const STEPS: usize = 33;
/// A path ends after `PATIENCE` penalties in a row without an improvement by the share `BETTER`.
const PATIENCE: usize = 5;
const BETTER: f64 = 1e-3;
/// Tolerance and maximum sweeps per penalty of a path. Features of a wide kernel are nearly equal
/// and take many sweeps; the next penalty continues from these coefficients, and the final fit has
/// its own stopping rule.
const STOP: (f64, usize) = (1e-4, 1000);

/// One quadratic per output, from sums over rows.
pub(super) struct Problem {
    quadratic: Quadratic,
    mean_d: Array1<f64>,
    y_mean_t: Array1<f64>,
    /// Products of features and targets, centred with an intercept, `[t, D]`.
    c_td: Array2<f64>,
    variance_t: Array1<f64>,
    /// Number of observations.
    n: f64,
    /// Smallest penalty above rounding.
    least_l1: f64,
    lambda: f64,
    intercept: bool,
}

/// Effective number of rows, `(sum w)^2 / sum w^2` (Kish 1965, "Survey sampling"), which does not
/// depend on the unit of weights.
pub(super) fn effective_rows(sums: &NormalEquations) -> f64 {
    let effective = sums.weight * sums.weight / sums.weight_squares;
    // Sums of earlier versions do not include the squares of weights.
    if effective.is_finite() {
        effective
    } else {
        sums.rows as f64
    }
}

/// Bound on the negative eigenvalues that rounding gives sums of f32 features: two units in the
/// last place of their trace.
pub(super) fn rounding(sums: &NormalEquations) -> f64 {
    f64::from(f32::EPSILON) * sums.gram_dd.diag().sum() / sums.weight
}

/// Smallest L1 penalty above the rounding of products of features and targets.
fn least_l1(sums: &NormalEquations) -> f64 {
    let largest = |squares: ArrayView1<'_, f64>| squares.fold(0.0, |m: f64, &s| m.max(s));
    let (z, y) = (
        largest(sums.gram_dd.diag()),
        largest(sums.y_square_t.view()),
    );
    RESOLVED * (z * y).sqrt() / sums.weight
}

/// Result of a path: the best penalty, its coefficients and their estimated error.
pub(super) struct Chosen {
    pub(super) l1: f64,
    /// Estimated mean squared error on new rows over the variance of the targets.
    pub(super) error: f64,
    pub(super) beta_td: Array2<f64>,
}

impl Problem {
    /// From sums of `n` observations.
    pub(super) fn from_sums(sums: NormalEquations, n: f64, lambda: f64, intercept: bool) -> Self {
        let weight = sums.weight;
        let y_mean_t = &sums.y_sum_t / weight;
        let mut variance_t = &sums.y_square_t / weight;
        let mut c_dt = &sums.zty_dt / weight;
        let least_l1 = least_l1(&sums);
        let covariance = Covariance::of_sums(sums, intercept);
        let (quadratic, mean_d) = Quadratic::from_covariance(covariance, 1.0, lambda);
        if intercept {
            for (mut c, &y_mean) in c_dt.columns_mut().into_iter().zip(&y_mean_t) {
                c.scaled_add(-y_mean, &mean_d);
            }
            variance_t.zip_mut_with(&y_mean_t, |v, mean| *v -= mean * mean);
        }
        Self {
            quadratic,
            mean_d,
            y_mean_t,
            c_td: c_dt.reversed_axes().as_standard_layout().into_owned(),
            variance_t,
            n,
            least_l1,
            lambda,
            intercept,
        }
    }

    /// Means of the features.
    pub(super) fn mean_d(&self) -> &Array1<f64> {
        &self.mean_d
    }

    /// Point with all coefficients 0, except intercepts.
    pub(super) fn zero(&self) -> Point {
        let mut at = Point::zero(self.c_td.nrows(), self.mean_d.len());
        if self.intercept {
            at.intercept_t.assign(&self.y_mean_t);
        }
        at
    }

    /// Sweeps from the current coefficients. Returns the maximum number of sweeps over outputs, and
    /// whether all converged.
    pub(super) fn minimise(
        &self,
        cost: Separable,
        beta_td: &mut Array2<f64>,
        stop: (f64, usize),
    ) -> (usize, bool) {
        let (mut most, mut all) = (0, true);
        for (mut x, c) in beta_td.rows_mut().into_iter().zip(self.c_td.rows()) {
            let (sweeps, done) = self.quadratic.minimise(&c.to_owned(), cost, &mut x, stop);
            most = most.max(sweeps);
            all &= done;
        }
        (most, all)
    }

    /// The objective, summed over outputs.
    pub(super) fn objective(&self, beta_td: &Array2<f64>, l1: f64) -> f64 {
        let mut objective = 0.0;
        for (k, x) in beta_td.rows().into_iter().enumerate() {
            let x = x.to_owned();
            objective += 0.5 * self.variance_t[k] + 0.5 * x.dot(&self.quadratic.times(&x))
                - self.c_td.row(k).dot(&x)
                + l1 * x.iter().map(|x| x.abs()).sum::<f64>();
        }
        objective
    }

    /// Mean over outputs of the generalised cross-validation error relative to the variance, `|r|^2
    /// / n / (1 - df / n)^2` (Golub, Heath & Wahba 1979), with the number of coefficients as
    /// degrees of freedom (Zou, Hastie & Tibshirani 2007). `None` if these exceed half of the rows,
    /// where the estimate is unreliable.
    fn estimated(&self, beta_td: &Array2<f64>) -> Option<f64> {
        let mut sum = 0.0;
        for (k, x) in beta_td.rows().into_iter().enumerate() {
            let used = x.iter().filter(|x| **x != 0.0).count() + usize::from(self.intercept);
            let spent = used as f64 / self.n;
            if spent > 0.5 {
                return None;
            }
            let x = x.to_owned();
            let fitted = x.dot(&self.quadratic.times(&x)) - self.lambda * x.dot(&x);
            let error = self.variance_t[k] - 2.0 * self.c_td.row(k).dot(&x) + fitted;
            let variance = if self.variance_t[k] > 0.0 {
                self.variance_t[k]
            } else {
                1.0
            };
            sum += error.max(0.0) / variance / (1.0 - spent).powi(2);
        }
        Some(sum / beta_td.nrows().max(1) as f64)
    }

    /// Follows the path down from the penalty at which all coefficients are 0, with warm starts,
    /// and returns the penalty with the least estimated error.
    pub(super) fn choose(&self) -> Chosen {
        let largest = self.c_td.fold(0.0, |m: f64, c| m.max(c.abs()));
        let mut beta_td = Array2::zeros(self.c_td.dim());
        let mut best = Chosen {
            // Targets unrelated to the features have no coefficients at any penalty.
            l1: if largest > 0.0 { largest } else { 1.0 },
            error: self.estimated(&beta_td).unwrap_or(1.0),
            beta_td: beta_td.clone(),
        };
        let (mut l1, mut since) = (largest, 0);
        for _ in 1..STEPS {
            l1 *= STEP;
            if l1 <= self.least_l1 || since >= PATIENCE {
                break;
            }
            self.minimise(Separable::Absolute(l1), &mut beta_td, STOP);
            let Some(error) = self.estimated(&beta_td) else {
                break;
            };
            since = if error < (1.0 - BETTER) * best.error {
                0
            } else {
                since + 1
            };
            if error < best.error {
                best = Chosen {
                    l1,
                    error,
                    beta_td: beta_td.clone(),
                };
            }
        }
        best
    }
}
