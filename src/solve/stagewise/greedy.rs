//! Greedy fit: adds the best feature in each step.

use super::{Growing, NO_MORE, Stagewise, at_least_one};
use crate::{Result, normal::NormalEquations};
use ndarray::ArrayView1;

/// A greedy fit (Jones 1992; Barron 1993): from `f_0 = 0`
///
/// `f_t = (1 - a_t) f_{t-1} + a_t c_t phi(.; z_t)`,
///
/// with the feature z_t, the weight a_t and the amplitude c_t that minimise the sum of squared
/// residuals. All features are tried in every step; targets share the feature but have separate
/// weights. After t steps at most t coefficients are not zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Greedy {
    /// Maximum number of steps.
    pub steps: usize,
    /// Whether to fit an intercept, by centring.
    pub intercept: bool,
    /// Early stopping: with held-out rows, stops after this number of steps without a smaller error
    /// on them.
    pub patience: usize,
}

impl Greedy {
    /// Fits to the sums of training rows; with sums of held-out rows, returns the step with the
    /// least error on these. A step takes `O(D t)`, after `O(D^2)` for centring.
    ///
    /// Errors with [`Error::Shape`](crate::Error::Shape) if there are no rows or sums of other
    /// shapes, and with [`Error::Parameter`](crate::Error::Parameter) on 0 steps.
    pub fn solve(
        &self,
        sums: &NormalEquations,
        held_out: Option<&NormalEquations>,
    ) -> Result<Stagewise> {
        at_least_one("the number of steps", self.steps)?;
        self.grow(sums, held_out, self.steps)
    }

    /// Fits exactly `count` steps, which may be 0, to the sums of rows. Errors as [`Self::solve`]
    /// does.
    pub fn solve_steps(&self, sums: &NormalEquations, count: usize) -> Result<Stagewise> {
        self.grow(sums, None, count)
    }

    fn grow(
        &self,
        sums: &NormalEquations,
        held_out: Option<&NormalEquations>,
        most: usize,
    ) -> Result<Stagewise> {
        let mut fit = Growing::new(sums, held_out, self.intercept)?;
        let (targets, features) = fit.beta_td.dim();
        let square: f64 = fit.train.square_t.sum();
        // Before centring, which leaves rounding errors of this size.
        let diagonal_d = sums.gram_dd.diag();
        // Features whose variance is lost to rounding are not used.
        let usable: Vec<usize> = (0..features)
            .filter(|&j| fit.train.gram_dd[[j, j]] > ALIKE * sums.gram_dd[[j, j]])
            .collect();
        let length = |beta: ArrayView1<'_, f64>| -> f64 {
            let each = beta.iter().zip(diagonal_d.iter());
            each.map(|(b, g)| b.abs() * g.max(0.0).sqrt()).sum()
        };
        let mut explained = 0.0;
        for _ in 0..most {
            let of_f = of_f(&fit);
            let pair = |k: usize, j: usize| Pair::new(&fit, of_f[k], (k, j));
            // Length of f if its terms did not cancel each other.
            let length_t: Vec<f64> = fit.beta_td.rows().into_iter().map(length).collect();
            let gain = |j: usize| {
                let of_target = |k: usize| {
                    let pair = pair(k, j);
                    let term = pair.add.abs() * diagonal_d[j].max(0.0).sqrt();
                    let length = pair.keep.abs() * length_t[k] + term;
                    pair.explains - ROUNDING * length * length
                };
                (0..targets).map(of_target).sum::<f64>()
            };
            let gains = usable.iter().map(|&j| (j, gain(j)));
            let best = gains.reduce(|best, next| if next.1 > best.1 { next } else { best });
            // The gain must exceed rounding.
            let Some((j, gain)) = best.filter(|b| b.1 - explained > NO_MORE * square) else {
                break;
            };
            explained = gain;
            let pairs: Vec<Pair> = (0..targets).map(|k| pair(k, j)).collect();
            for (k, Pair { keep, add, .. }) in pairs.into_iter().enumerate() {
                fit.step(k, keep, &[(j, add)]);
            }
            if !fit.end_stage(self.patience) {
                break;
            }
        }
        Ok(fit.finish())
    }
}

/// Squared sine of the angle with f below which a feature counts as parallel to f: sums of f32
/// features are accurate to 1e-6.
const ALIKE: f64 = 1e-5;

/// Relative error of sums of squares of f, relative to their value without cancellation, for sums
/// of f32 features: cancelling terms could otherwise show arbitrary gains.
const ROUNDING: f64 = 1e-6;

/// Least-squares fit of y on f and one feature.
#[derive(Debug, Clone, Copy)]
struct Pair {
    /// 1 - a of f.
    keep: f64,
    /// a c of the feature.
    add: f64,
    /// Decrease of the sum of squares compared with that of y.
    explains: f64,
}

/// f'f and f'y of each target.
fn of_f(fit: &Growing) -> Vec<[f64; 2]> {
    let of_target = |k: usize| {
        let beta = fit.beta_td.row(k);
        [
            beta.dot(&fit.train_td.row(k)),
            beta.dot(&fit.train.zty_td.row(k)),
        ]
    };
    (0..fit.beta_td.nrows()).map(of_target).collect()
}

impl Pair {
    /// The pair for target `k` and feature `j`.
    fn new(fit: &Growing, of_f: [f64; 2], (k, j): (usize, usize)) -> Self {
        Self::fit(
            of_f,
            fit.train.gram_dd[[j, j]],
            fit.train_td[[k, j]],
            fit.train.zty_td[[k, j]],
        )
    }

    /// From f'f and f'y, phi'phi, phi'f and phi'y.
    fn fit([ff, fy]: [f64; 2], pp: f64, pf: f64, py: f64) -> Self {
        let alone = if ff > 0.0 { fy / ff } else { 0.0 };
        let determinant = ff * pp - pf * pf;
        let (keep, add) = if ff <= 0.0 && pp > 0.0 {
            (0.0, py / pp)
        } else if determinant > ALIKE * ff * pp {
            (
                (pp * fy - pf * py) / determinant,
                (ff * py - pf * fy) / determinant,
            )
        } else {
            // The feature is parallel to f, or zero.
            (alone, 0.0)
        };
        Self {
            keep,
            add,
            explains: keep * fy + add * py,
        }
    }
}
