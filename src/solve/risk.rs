//! Penalised mean loss over rows, its gradient by one pass, and line searches without a pass.

mod rows;

use crate::{Device, Error, Result, error::Remedy, model::Coefficients};
pub(crate) use rows::{FittedRows, RowLoss, RowTargets};

use super::{
    FeatureProducts,
    curvature::Curvature,
    preconditioner::{Covariance, Point, Preconditioner},
};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};
use std::ops::Range;

/// Rows that a line search evaluates at a time.
const TOGETHER: usize = 4096;

/// `sum_i w_i loss(y_i, z_i'beta + b) / sum_i w_i + lambda/2 |beta|^2`, with the weights of
/// [`FittedRows`].
pub(crate) struct Risk<'a, 'f> {
    pub(crate) features: &'a mut (dyn FeatureProducts + 'f),
    pub(crate) rows: &'a FittedRows,
    pub(crate) loss: &'a RowLoss,
    pub(crate) covariance: &'a Covariance,
    pub(crate) lambda: f64,
    pub(crate) intercept: bool,
    /// Buffer for the slopes of all rows.
    slopes_tn: Array2<f64>,
}

impl<'a, 'f> Risk<'a, 'f> {
    pub(crate) fn new(
        features: &'a mut (dyn FeatureProducts + 'f),
        rows: &'a FittedRows,
        loss: &'a RowLoss,
        covariance: &'a Covariance,
        (lambda, intercept): (f64, bool),
    ) -> Self {
        Self {
            slopes_tn: Array2::zeros((rows.targets.outputs(), rows.rows)),
            features,
            rows,
            loss,
            covariance,
            lambda,
            intercept,
        }
    }

    pub(crate) fn outputs(&self) -> usize {
        self.rows.targets.outputs()
    }

    pub(crate) fn blocks(&self) -> Vec<Range<usize>> {
        self.loss.blocks(self.outputs())
    }

    /// Scores of zero coefficients.
    pub(crate) fn scores(&self) -> Array2<f64> {
        Array2::zeros(self.slopes_tn.dim())
    }

    pub(crate) fn zero(&self) -> Point {
        Point::zero(self.outputs(), self.covariance.mean_d.len())
    }

    /// The objective of each output (for the multinomial loss, all of it in the first) and its
    /// gradient; writes the scores of all rows. One pass.
    pub(crate) fn evaluate(
        &mut self,
        at: &Point,
        scores_tn: &mut Array2<f64>,
    ) -> Result<(Vec<f64>, Point)> {
        let Self {
            rows,
            loss,
            slopes_tn,
            covariance,
            ..
        } = self;
        let mean_d = &covariance.mean_d;
        let shift = &at.intercept_t - &at.beta_td.dot(mean_d);
        for (mut row, &shift) in slopes_tn.rows_mut().into_iter().zip(&shift) {
            row.fill(shift);
        }
        let mut value_t = vec![0.0; shift.len()];
        let mut gradient = Point::zero(shift.len(), mean_d.len());
        let mut between = |row0: usize, s_tm: ArrayViewMut2<'_, f64>| {
            let all = s![.., row0..row0 + s_tm.ncols()];
            scores_tn.slice_mut(all).assign(&s_tm);
            loss.slopes(rows, (0, row0), s_tm, &mut value_t);
        };
        let beta = at.beta_td.view();
        self.features
            .round_trip_through(beta, slopes_tn, &mut between, &mut gradient.beta_td)?;
        let total = rows.total();
        let slope_t = slopes_tn.sum_axis(Axis(1)) / total;
        gradient.beta_td /= total;
        for ((mut g, &slope), beta) in (gradient.beta_td.rows_mut().into_iter())
            .zip(&slope_t)
            .zip(at.beta_td.rows())
        {
            g.scaled_add(-slope, mean_d);
            g.scaled_add(self.lambda, &beta);
        }
        for (value, beta) in value_t.iter_mut().zip(at.beta_td.rows()) {
            *value = *value / total + 0.5 * self.lambda * beta.dot(&beta);
        }
        if self.intercept {
            gradient.intercept_t = slope_t;
        }
        if value_t.iter().all(|v| v.is_finite()) {
            Ok((value_t, gradient))
        } else {
            Err(not_finite())
        }
    }

    /// Minimises the objective of a group of outputs along the line between two points, from their
    /// scores; returns the factor of the step.
    pub(crate) fn search(
        &self,
        outputs: Range<usize>,
        (from_tn, to_tn): (&Array2<f64>, &Array2<f64>),
        (from, to): (&Point, &Point),
    ) -> f64 {
        let of = |a: &'_ Array2<f64>| a.slice(s![outputs.clone(), ..]).to_owned();
        let beta = of(&from.beta_td);
        let step = of(&to.beta_td) - &beta;
        let along = self.lambda * (&beta * &step).sum();
        let square = self.lambda * (&step * &step).sum();
        let total = self.rows.total();
        let slope = |factor: f64| {
            let mut sum = 0.0;
            for row0 in (0..self.rows.rows).step_by(TOGETHER) {
                let all = row0..self.rows.rows.min(row0 + TOGETHER);
                let part = s![outputs.clone(), all];
                let (from, to): (ArrayView2<'_, f64>, _) = (from_tn.slice(part), to_tn.slice(part));
                let change = &to - &from;
                let mut scores = &from + &(&change * factor);
                let mut unused = vec![0.0; outputs.len()];
                let first = (outputs.start, row0);
                self.loss
                    .slopes(self.rows, first, scores.view_mut(), &mut unused);
                sum += (&scores * &change).sum();
            }
            sum / total + along + factor * square
        };
        flat(slope)
    }

    /// The preconditioner from the curvature at these scores, if the loss has one and the features
    /// can be summed, in `memory` bytes beyond the sums of one output. One pass over the rows.
    pub(crate) fn preconditioner(
        &mut self,
        scores_tn: &Array2<f64>,
        (device, memory): (&Device, u64),
    ) -> Result<Option<Preconditioner>> {
        self.slopes_tn.assign(scores_tn);
        let Some(turn_tt) = self.loss.bends(self.rows, &mut self.slopes_tn)? else {
            return Ok(None);
        };
        let curvature = Curvature {
            mean_d: &self.covariance.mean_d,
            total: self.rows.total(),
            penalty: self.lambda,
            intercept: self.intercept,
            memory,
        };
        curvature.preconditioner(self.features, (self.slopes_tn.view(), turn_tt), device)
    }

    /// Coefficients of uncentred features.
    pub(crate) fn coefficients(&self, at: &Point) -> Coefficients {
        coefficients(at, &self.covariance.mean_d)
    }
}

/// Converts coefficients from uncentred to centred features.
pub(crate) fn centred(coefficients: &Coefficients, mean_d: &Array1<f64>) -> Point {
    let beta_td = coefficients.beta_dt.t().as_standard_layout().into_owned();
    Point {
        intercept_t: &coefficients.intercept_t + &beta_td.dot(mean_d),
        beta_td,
    }
}

/// Converts coefficients from centred to uncentred features.
pub(crate) fn coefficients(at: &Point, mean_d: &Array1<f64>) -> Coefficients {
    Coefficients {
        intercept_t: &at.intercept_t - &at.beta_td.dot(mean_d),
        beta_dt: at.beta_td.t().as_standard_layout().into_owned(),
    }
}

pub(crate) fn not_finite() -> Error {
    let problem = "the loss is not finite: the features or targets are too large";
    Error::numerical(problem).help(Remedy::Standardize)
}

/// Root of an increasing function with a negative start, by regula falsi (Illinois).
fn flat(slope: impl Fn(f64) -> f64) -> f64 {
    let start = slope(0.0);
    if start >= 0.0 {
        return 0.0;
    }
    let enough = 0.05 * start.abs();
    let (mut low, mut at_low, mut high) = (0.0, start, 1.0);
    let mut at_high = slope(high);
    while at_high < 0.0 && high < 1e9 {
        (low, at_low) = (high, at_high);
        high *= 4.0;
        at_high = slope(high);
    }
    let mut last = 0.0_f64;
    for _ in 0..40 {
        let middle = if at_high > at_low {
            high - at_high * (high - low) / (at_high - at_low)
        } else {
            0.5 * (low + high)
        };
        let at = slope(middle);
        if at.abs() <= enough {
            return middle;
        }
        if at < 0.0 {
            (low, at_low) = (middle, at);
            // If the same end moves twice, the value at the other end is halved.
            if last < 0.0 {
                at_high *= 0.5;
            }
        } else {
            (high, at_high) = (middle, at);
            if last > 0.0 {
                at_low *= 0.5;
            }
        }
        last = at;
    }
    low
}
