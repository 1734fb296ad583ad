//! Losses with a kink: alternating direction method of multipliers (ADMM) with a factor of the
//! features' covariance.

use super::{
    FeatureProducts,
    coordinates::{Quadratic, Separable},
    loss::KinkedLoss,
    preconditioner::{Covariance, Point, Preconditioner},
    proximal::{SWEEPS, WITHIN},
    quasi_newton::Reached,
    risk::{FittedRows, coefficients, not_finite},
};
use crate::Result;
use ndarray::{Array1, Array2, ArrayView1, ArrayViewMut2, Axis, s};

/// Over-relaxation of each step.
const RELAXATION: f64 = 1.6;
/// Passes between checks of the stiffness (step-size parameter rho), and the maximum number of its
/// changes.
const LOOK_EVERY: usize = 10;
const MOST_CHANGES: usize = 20;
/// It is changed if the factor that would balance the residuals is at least this, or at most its
/// inverse.
const UNEVEN: f64 = 3.0;

/// Minimises `sum_i w_i loss(y_i, s_i) / sum_i w_i + lambda/2 |beta|^2 + tilt b` with `s_i =
/// z_i'beta + b`, for each output, by ADMM (Boyd et al. 2011, sec. 3 and 5.1; relaxed as in sec.
/// 3.4.3): copies of the scores take proximal steps, and coefficients follow by `(rho C + lambda
/// I)^-1` times the gradient, one factor for all outputs. Each iteration is one pass over the rows
/// and holds `24 t n` bytes. With a separable cost, the coefficients follow by coordinate descent
/// on a copy of C instead.
///
/// The step on coefficients is a Newton step from their current values, so that rounding in the
/// sums behind C affects the speed but not the result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Admm {
    pub(crate) lambda: f64,
    pub(crate) intercept: bool,
    /// Linear cost of the intercept.
    pub(crate) tilt: f64,
    /// Separable cost or bound of the coefficients.
    pub(crate) cost: Option<Separable>,
    /// The initial rho, which is adapted to the residuals: about the slope of the loss divided by
    /// the size of the scores.
    pub(crate) stiffness: f64,
    /// Converged if scores and their copies differ by this share, and the copies move by this share
    /// of the slopes.
    pub(crate) tolerance: f64,
    /// Maximum number of passes over the rows.
    pub(crate) max_passes: usize,
}

/// Sums over the rows of one output.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    loss: f64,
    apart: f64,
    moved: f64,
    scores: f64,
    copies: f64,
    slopes: f64,
}

impl Sums {
    /// The relative residuals: primal and dual.
    fn residuals(&self) -> (f64, f64) {
        let share = |part: f64, whole: f64| match (part > 0.0, whole > 0.0) {
            (true, true) => (part / whole).sqrt(),
            (true, false) => 1.0,
            (false, _) => 0.0,
        };
        // If no row has a slope, the scale of the copies is used instead.
        let pulled = if self.slopes > 0.0 {
            self.slopes
        } else {
            self.copies
        };
        (
            share(self.apart, self.scores.max(self.copies)),
            share(self.moved, pulled),
        )
    }
}

/// Copies of the scores, and the multipliers that tie them to the scores, `[t, n]`.
struct Copies {
    own_tn: Array2<f64>,
    pull_tn: Array2<f64>,
}

impl Copies {
    fn zero(outputs: usize, rows: usize) -> Self {
        Self {
            own_tn: Array2::zeros((outputs, rows)),
            pull_tn: Array2::zeros((outputs, rows)),
        }
    }

    /// Proximal steps for rows `row0 ..`, whose scores `[t, m]` become residuals for the
    /// coefficients.
    fn step(
        &mut self,
        row0: usize,
        mut s_tm: ArrayViewMut2<'_, f64>,
        (rows, loss): (&FittedRows, &dyn KinkedLoss),
        step: f64,
        sums_t: &mut [Sums],
    ) {
        for (k, mut scores) in s_tm.rows_mut().into_iter().enumerate() {
            let all = s![k, row0..row0 + scores.len()];
            let mut own = self.own_tn.slice_mut(all);
            let mut pull = self.pull_tn.slice_mut(all);
            let sums = &mut sums_t[k];
            let values = scores.iter_mut().zip(&mut own).zip(&mut pull);
            for (i, ((s, own), pull)) in values.enumerate() {
                let (y, w) = (rows.targets.value(k, row0 + i), rows.weight(row0 + i));
                sums.loss += w * loss.value(y, *s);
                let drawn = RELAXATION * *s + (1.0 - RELAXATION) * *own + *pull;
                let next = loss.proximal(y, drawn, step);
                sums.apart += w * (*s - next).powi(2);
                sums.moved += w * (next - *own).powi(2);
                sums.scores += w * *s * *s;
                sums.copies += w * next * next;
                *pull = drawn - next;
                *own = next;
                sums.slopes += w * *pull * *pull;
                *s = w * (*s + *pull - next);
            }
        }
    }
}

/// Lowest objective of each output so far, and its point.
struct Best {
    at: Point,
    value_t: Vec<f64>,
}

impl Best {
    /// No point evaluated yet.
    fn none(at: &Point) -> Self {
        Self {
            at: at.clone(),
            value_t: vec![f64::INFINITY; at.intercept_t.len()],
        }
    }

    fn see(&mut self, at: &Point, output: usize, value: f64) {
        if value < self.value_t[output] {
            self.value_t[output] = value;
            let beta = at.beta_td.row(output);
            self.at.beta_td.row_mut(output).assign(&beta);
            self.at.intercept_t[output] = at.intercept_t[output];
        }
    }
}

/// Update of the coefficients from the copies of the scores.
enum Follow {
    /// By one factor.
    Factor(Preconditioner),
    /// With a separable cost.
    Each(Quadratic, Separable),
}

impl Follow {
    /// Changes the stiffness.
    fn stiffen(&mut self, covariance: &Covariance, (rho, lambda): (f64, f64)) -> Result<()> {
        match self {
            Self::Factor(preconditioner) => {
                *preconditioner = covariance.preconditioner(rho, lambda)?
            }
            Self::Each(quadratic, _) => quadratic.rescale(rho),
        }
        Ok(())
    }

    fn step(&self, at: &mut Point, gradient: &Point, tolerance: f64) {
        match self {
            Self::Factor(preconditioner) => at.add(-1.0, &preconditioner.inverse(gradient)),
            Self::Each(quadratic, cost) => {
                *at = quadratic.step(at, gradient, *cost, (WITHIN * tolerance, SWEEPS));
            }
        }
    }
}

impl Admm {
    fn follow(&self, covariance: &Covariance, rho: f64) -> Result<Follow> {
        Ok(match self.cost {
            None => Follow::Factor(covariance.preconditioner(rho, self.lambda)?),
            Some(cost) => {
                let (quadratic, _) =
                    Quadratic::from_covariance(covariance.clone(), rho, self.lambda);
                Follow::Each(quadratic, cost)
            }
        })
    }

    /// Objective of an output with this mean loss, whose scores are shifted by `shift`.
    fn objective(&self, loss: f64, beta_d: ArrayView1<'_, f64>, shift: f64) -> f64 {
        let cost = self.cost;
        let cost: f64 = cost.map_or(0.0, |c| beta_d.iter().map(|&b| c.value(b)).sum());
        let square = 0.5 * self.lambda * beta_d.dot(&beta_d);
        loss + square + cost + self.tilt * shift
    }

    /// Completes the slopes of coefficients, which contain the weighted rows already, by centring,
    /// tilt and penalty, and sets that of the intercept, from the means of the residuals and the
    /// stiffness.
    fn complete(
        &self,
        gradient: &mut Point,
        at: &Point,
        (rho, mean_t): (f64, Array1<f64>),
        mean_d: &Array1<f64>,
    ) {
        for ((mut g, &mean), beta) in (gradient.beta_td.rows_mut().into_iter())
            .zip(&mean_t)
            .zip(at.beta_td.rows())
        {
            g.scaled_add(-rho * mean - self.tilt, mean_d);
            g.scaled_add(self.lambda, &beta);
        }
        if self.intercept {
            gradient.intercept_t = mean_t * rho + self.tilt;
        }
    }

    /// Keeps outputs with the lowest objective so far, from sums over rows with this total weight.
    fn look(
        &self,
        best: &mut Best,
        (at, shift_t): (&Point, &Array1<f64>),
        (sums_t, total): (&[Sums], f64),
    ) -> Result<()> {
        for (k, sums) in sums_t.iter().enumerate() {
            let value = self.objective(sums.loss / total, at.beta_td.row(k), shift_t[k]);
            if !value.is_finite() {
                return Err(not_finite());
            }
            best.see(at, k, value);
        }
        Ok(())
    }

    /// Minimises. `hear` gets the number of passes and the larger relative residual.
    pub(crate) fn solve(
        &self,
        features: &mut dyn FeatureProducts,
        (rows, loss): (&FittedRows, &dyn KinkedLoss),
        covariance: &Covariance,
        hear: &mut dyn FnMut(usize, f64),
    ) -> Result<Reached> {
        let outputs = rows.targets.outputs();
        let mean_d = &covariance.mean_d;
        let total = rows.total();
        let mut rho = self.stiffness;
        let mut follow = self.follow(covariance, rho)?;
        let mut copies = Copies::zero(outputs, rows.rows);
        let mut work_tn = copies.own_tn.clone();
        let mut at = Point::zero(outputs, mean_d.len());
        let mut best = Best::none(&at);
        let (mut passes, mut changes, mut residual) = (0, 0, f64::INFINITY);
        // The first passes are not checked: all start at zero, where a loss may have its kink.
        while passes < self.max_passes && (passes < 3 || residual > self.tolerance) {
            let shift = &at.intercept_t - &at.beta_td.dot(mean_d);
            for (mut row, &shift) in work_tn.rows_mut().into_iter().zip(&shift) {
                row.fill(shift);
            }
            let mut sums_t = vec![Sums::default(); outputs];
            let mut gradient = Point::zero(outputs, mean_d.len());
            let mut between = |row0: usize, s_tm: ArrayViewMut2<'_, f64>| {
                copies.step(row0, s_tm, (rows, loss), 1.0 / rho, &mut sums_t);
            };
            let beta = at.beta_td.view();
            features.round_trip_through(beta, &mut work_tn, &mut between, &mut gradient.beta_td)?;
            passes += 1;
            self.look(&mut best, (&at, &shift), (&sums_t, total))?;
            let relative = sums_t.iter().map(Sums::residuals);
            residual = relative.fold(0.0, |m, (primal, dual)| m.max(primal).max(dual));
            hear(passes, residual);

            let mean_t = work_tn.sum_axis(Axis(1)) / total;
            gradient.beta_td *= rho / total;
            self.complete(&mut gradient, &at, (rho, mean_t), mean_d);
            follow.step(&mut at, &gradient, self.tolerance);

            if passes % LOOK_EVERY == 0 && changes < MOST_CHANGES {
                let factor = stiffer(&sums_t);
                if !(1.0 / UNEVEN..UNEVEN).contains(&factor) {
                    changes += 1;
                    rho *= factor;
                    copies.pull_tn /= factor;
                    follow.stiffen(covariance, (rho, self.lambda))?;
                }
            }
        }
        Ok(Reached {
            coefficients: coefficients(&best.at, mean_d),
            objective: best.value_t.iter().sum(),
            passes,
            residual,
            converged: residual <= self.tolerance,
        })
    }
}

/// Factor by which the stiffness must change to balance the residuals.
fn stiffer(sums_t: &[Sums]) -> f64 {
    let mut all = Sums::default();
    for sums in sums_t {
        all.apart += sums.apart;
        all.moved += sums.moved;
        all.scores += sums.scores;
        all.copies += sums.copies;
        all.slopes += sums.slopes;
    }
    let (primal, dual) = all.residuals();
    if primal > 0.0 && dual > 0.0 {
        (primal / dual).sqrt().clamp(0.05, 20.0)
    } else {
        1.0
    }
}
