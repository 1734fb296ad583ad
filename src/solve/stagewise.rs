//! Stagewise fits on sums: greedy selection of features, and boosting of blocks.

mod boosting;
mod greedy;
#[cfg(test)]
mod tests;

use crate::{Error, Result, model::Coefficients, normal::NormalEquations};
pub use boosting::Boosting;
pub use greedy::Greedy;

use ndarray::{Array1, Array2, Axis, Zip};

/// Smaller decreases of the sum of squares are not progress, for sums of f32 features.
const NO_MORE: f64 = 1e-10;

/// Sums over rows of centred features and targets.
#[derive(Debug, Clone)]
struct Centred {
    /// `Z'Z`, both triangles.
    gram_dd: Array2<f64>,
    /// `Z'y`, target-major.
    zty_td: Array2<f64>,
    square_t: Array1<f64>,
    n: f64,
}

impl Centred {
    /// Centred at these means, possibly of other rows.
    fn around(sums: &NormalEquations, z_mean: &Array1<f64>, y_mean: &Array1<f64>) -> Self {
        let n = sums.weight;
        let column = |a: &Array1<f64>| a.clone().insert_axis(Axis(1));
        let row = |a: &Array1<f64>| a.clone().insert_axis(Axis(0));
        let mut gram_dd = sums.gram_dd.clone();
        let (d, sum) = (z_mean.len(), &sums.z_sum_d);
        for i in 0..d {
            for j in 0..=i {
                let g = gram_dd[[i, j]] - sum[i] * z_mean[j] - z_mean[i] * sum[j]
                    + n * z_mean[i] * z_mean[j];
                gram_dd[[i, j]] = g;
                gram_dd[[j, i]] = g;
            }
        }
        let rest = &sums.y_sum_t - &(y_mean * n);
        let zty_dt = &sums.zty_dt - &(column(sum) * &row(y_mean)) - column(z_mean) * &row(&rest);
        let square_t = &sums.y_square_t - &(y_mean * &sums.y_sum_t * 2.0) + y_mean * y_mean * n;
        Self {
            gram_dd,
            zty_td: zty_dt.reversed_axes().as_standard_layout().into_owned(),
            square_t: square_t.mapv(|v| v.max(0.0)),
            n,
        }
    }

    /// `|y - f|^2` over `|y|^2`, for all targets, from `f = Z beta` and `Z'f`.
    fn error(&self, beta_td: &Array2<f64>, ztf_td: &Array2<f64>) -> f64 {
        let mut left = 0.0;
        Zip::from(beta_td)
            .and(ztf_td)
            .and(&self.zty_td)
            .for_each(|&beta, &ztf, &zty| left += beta * (ztf - 2.0 * zty));
        let all = self.square_t.sum();
        // Rounding can make it negative.
        if all > 0.0 {
            (1.0 + left / all).max(0.0)
        } else {
            0.0
        }
    }
}

/// A fit in progress.
struct Growing {
    train: Centred,
    held_out: Option<Centred>,
    beta_td: Array2<f64>,
    /// `Z'f` for training and held-out rows.
    train_td: Array2<f64>,
    held_td: Array2<f64>,
    z_mean: Array1<f64>,
    y_mean: Array1<f64>,
    best: Stage,
    stages: usize,
}

/// A stage that the fit may return to.
#[derive(Debug, Clone)]
struct Stage {
    beta_td: Array2<f64>,
    stage: usize,
    error: f64,
}

/// Result of a stagewise fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Stagewise {
    /// The coefficients, most of them zero.
    pub coefficients: Coefficients,
    /// Stage of the coefficients: that with the least hold-out error, or the last.
    pub stages: usize,
    /// `|y - f|^2 / |y|^2` about the training means, on the training rows.
    pub error: f64,
    /// The same on the held-out rows, if there are any.
    pub held_out_error: Option<f64>,
}

impl Growing {
    fn new(
        sums: &NormalEquations,
        held_out: Option<&NormalEquations>,
        intercept: bool,
    ) -> Result<Self> {
        if sums.weight <= 0.0 {
            return Err(Error::shape("there are no rows to fit"));
        }
        let (d, t) = sums.zty_dt.dim();
        if held_out.is_some_and(|held_out| held_out.zty_dt.dim() != (d, t)) {
            return Err(Error::shape("rows held out have other features or targets"));
        }
        let factor = if intercept { 1.0 / sums.weight } else { 0.0 };
        let (z_mean, y_mean) = (&sums.z_sum_d * factor, &sums.y_sum_t * factor);
        let held_out = held_out.map(|sums| Centred::around(sums, &z_mean, &y_mean));
        let zero = Array2::zeros((t, d));
        Ok(Self {
            train: Centred::around(sums, &z_mean, &y_mean),
            best: Stage {
                beta_td: zero.clone(),
                stage: 0,
                error: 1.0,
            },
            held_out,
            beta_td: zero.clone(),
            train_td: zero.clone(),
            held_td: zero,
            z_mean,
            y_mean,
            stages: 0,
        })
    }

    /// `f_k <- shrink f_k + sum_j change_j phi_j` for target k.
    fn step(&mut self, k: usize, shrink: f64, changes: &[(usize, f64)]) {
        let grown = [
            Some((&self.train, &mut self.train_td)),
            self.held_out.as_ref().map(|held| (held, &mut self.held_td)),
        ];
        for (sums, ztf_td) in grown.into_iter().flatten() {
            let mut ztf = ztf_td.row_mut(k);
            ztf *= shrink;
            for &(j, change) in changes {
                ztf.scaled_add(change, &sums.gram_dd.row(j));
            }
        }
        let mut beta = self.beta_td.row_mut(k);
        beta *= shrink;
        for &(j, change) in changes {
            beta[j] += change;
        }
    }

    /// Ends a stage. Returns whether to continue: not after `patience` stages without a smaller
    /// hold-out error.
    fn end_stage(&mut self, patience: usize) -> bool {
        self.stages += 1;
        let Some(held_out) = &self.held_out else {
            return true;
        };
        let error = held_out.error(&self.beta_td, &self.held_td);
        if error < self.best.error {
            self.best = Stage {
                beta_td: self.beta_td.clone(),
                stage: self.stages,
                error,
            };
        }
        self.stages - self.best.stage < patience
    }

    fn finish(self) -> Stagewise {
        let held_out_error = self.held_out.as_ref().map(|_| self.best.error);
        let (beta_td, stages) = match held_out_error {
            Some(_) => (self.best.beta_td, self.best.stage),
            None => (self.beta_td, self.stages),
        };
        let error = self
            .train
            .error(&beta_td, &beta_td.dot(&self.train.gram_dd));
        let intercept_t = &self.y_mean - &beta_td.dot(&self.z_mean);
        Stagewise {
            coefficients: Coefficients {
                beta_dt: beta_td.reversed_axes().as_standard_layout().into_owned(),
                intercept_t,
            },
            stages,
            error,
            held_out_error,
        }
    }
}

fn at_least_one(what: &str, count: usize) -> Result<()> {
    match count {
        0 => Err(Error::parameter(format!("{what} is 0; use at least 1"))),
        _ => Ok(()),
    }
}
