//! The penalised mean of a loss over rows, its gradient by one pass over them, and its least along
//! a line by none.

use super::{
    Coefficients, FeatureProducts,
    curvature::Curvature,
    loss::SmoothLoss,
    preconditioner::{Covariance, Point, Preconditioner},
};
use crate::{
    Device, Error, Result,
    error::Remedy,
    linalg::{eigen::eigen, entries},
};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};
use std::ops::Range;

/// What rows are fitted to.
#[derive(Debug)]
pub(crate) enum RowTargets {
    /// The class of each row: of two, the second is +1 and the first -1 in a single output; of
    /// more, each is +1 in an output of its own and -1 in the others.
    Classes { class_n: Vec<u32>, classes: usize },
    /// `[t, n]`.
    Real(Array2<f64>),
    /// Nothing: one output without targets.
    None,
}

impl RowTargets {
    /// Outputs that are fitted.
    pub(crate) fn outputs(&self) -> usize {
        match self {
            Self::Classes { classes: 2, .. } | Self::None => 1,
            Self::Classes { classes, .. } => *classes,
            Self::Real(y_tn) => y_tn.nrows(),
        }
    }

    /// What output k of row i is to be.
    pub(crate) fn value(&self, k: usize, i: usize) -> f64 {
        let sign = |yes| if yes { 1.0 } else { -1.0 };
        match self {
            Self::Classes { class_n, classes } if *classes == 2 => sign(class_n[i] == 1),
            Self::Classes { class_n, .. } => sign(class_n[i] == k as u32),
            Self::Real(y_tn) => y_tn[[k, i]],
            Self::None => 0.0,
        }
    }
}

/// Rows with what they are fitted to and how much each counts.
#[derive(Debug)]
pub(crate) struct FittedRows {
    pub(crate) targets: RowTargets,
    /// One a row, or all 1.
    pub(crate) weight_n: Option<Vec<f64>>,
    pub(crate) rows: usize,
}

impl FittedRows {
    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weight_n.as_ref().map_or(1.0, |w| w[i])
    }

    /// The sum of weights.
    pub(crate) fn total(&self) -> f64 {
        let weights = self.weight_n.as_ref();
        weights.map_or(self.rows as f64, |w| w.iter().sum())
    }
}

/// A smooth loss of all outputs of a row.
#[derive(Debug)]
pub(crate) enum RowLoss {
    /// A loss of each output by itself.
    Each(Box<dyn SmoothLoss>),
    /// `log sum_k exp(s_k) - s_c` for class c.
    Multinomial,
}

impl RowLoss {
    /// A bound of the curvature in every direction; of the multinomial by Boehning (1992).
    pub(crate) fn curvature(&self) -> f64 {
        match self {
            Self::Each(loss) => loss.curvature(),
            Self::Multinomial => 0.5,
        }
    }

    /// The curvature where all scores are equal, in every direction that moves the loss: that of
    /// the multinomial is `(I - 11'/K) / K`.
    pub(crate) fn curvature_at_zero(&self, outputs: usize) -> f64 {
        match self {
            Self::Each(loss) => loss.curvature(),
            Self::Multinomial => 1.0 / outputs as f64,
        }
    }

    /// Outputs that are minimised by themselves.
    fn blocks(&self, outputs: usize) -> Vec<Range<usize>> {
        match self {
            Self::Each(_) => (0..outputs).map(|k| k..k + 1).collect(),
            Self::Multinomial => std::iter::once(0..outputs).collect(),
        }
    }

    /// Replaces the scores `[t, m]` of rows `row0 ..` in outputs `first ..` by weighted slopes, and
    /// adds the weighted losses to those outputs.
    fn slopes(
        &self,
        rows: &FittedRows,
        (first, row0): (usize, usize),
        mut s_tm: ArrayViewMut2<'_, f64>,
        loss_t: &mut [f64],
    ) {
        match (self, &rows.targets) {
            (Self::Each(loss), targets) => {
                let outputs = s_tm.rows_mut().into_iter().zip(loss_t).enumerate();
                for (k, (scores, sum)) in outputs {
                    for (i, s) in scores.into_iter().enumerate() {
                        let i = row0 + i;
                        let (value, slope) = loss.value_and_slope(targets.value(first + k, i), *s);
                        *sum += rows.weight(i) * value;
                        *s = rows.weight(i) * slope;
                    }
                }
            }
            (Self::Multinomial, RowTargets::Classes { class_n, .. }) => {
                for (i, mut scores) in s_tm.columns_mut().into_iter().enumerate() {
                    let i = row0 + i;
                    let (class, weight) = (class_n[i] as usize, rows.weight(i));
                    let own = scores[class];
                    let top = scores.fold(f64::NEG_INFINITY, |m, &s| m.max(s));
                    entries::exp_below(scores.view_mut(), top);
                    let sum = scores.sum();
                    loss_t[0] += weight * (sum.ln() + top - own);
                    scores *= weight / sum;
                    scores[class] -= weight;
                }
            }
            (Self::Multinomial, _) => unreachable!("a multinomial loss is of classes"),
        }
    }

    /// Replaces the scores `[t, n]` of all rows by weighted second derivatives along directions
    /// among the outputs, the columns of what it returns. `None` where there are none to rely on.
    ///
    /// Each output has its own. Those of the multinomial, whose Hessian is `diag(p) - p p'`, are
    /// the eigenvectors V of its mean over the rows, so that directions are even on the average:
    /// `v'(diag(p) - p p')v`.
    fn bends(&self, rows: &FittedRows, s_tn: &mut Array2<f64>) -> Result<Option<Array2<f64>>> {
        let outputs = s_tn.nrows();
        match self {
            Self::Each(loss) => {
                for ((k, i), s) in s_tn.indexed_iter_mut() {
                    match loss.bend(rows.targets.value(k, i), *s) {
                        Some(bend) => *s = rows.weight(i) * bend,
                        None => return Ok(None),
                    }
                }
                Ok(Some(Array2::eye(outputs)))
            }
            Self::Multinomial => {
                let mut mean = Array2::zeros((outputs, outputs));
                for (i, mut p) in s_tn.columns_mut().into_iter().enumerate() {
                    let top = p.fold(f64::NEG_INFINITY, |m, &s| m.max(s));
                    entries::exp_below(p.view_mut(), top);
                    p /= p.sum();
                    for (k, l) in (0..outputs).flat_map(|k| (0..=k).map(move |l| (k, l))) {
                        mean[[k, l]] += rows.weight(i) * p[k] * (f64::from(k == l) - p[l]);
                    }
                }
                let turn_tt = eigen(&mean)?.vectors_nn;
                let squares = turn_tt.mapv(entries::square);
                for (i, mut p) in s_tn.columns_mut().into_iter().enumerate() {
                    let along = p.dot(&turn_tt);
                    let bends = p.dot(&squares) - &along * &along;
                    p.assign(&bends.mapv(|b| rows.weight(i) * b.max(0.0)));
                }
                Ok(Some(turn_tt))
            }
        }
    }
}

/// Rows that a line is searched over at a time.
const TOGETHER: usize = 4096;

/// `sum_i w_i loss(y_i, z_i'beta + b) / sum_i w_i + lambda/2 |beta|^2`, w of [`FittedRows`].
pub(crate) struct Risk<'a, 'f> {
    pub(crate) features: &'a mut (dyn FeatureProducts + 'f),
    pub(crate) rows: &'a FittedRows,
    pub(crate) loss: &'a RowLoss,
    pub(crate) covariance: &'a Covariance,
    pub(crate) lambda: f64,
    pub(crate) intercept: bool,
    /// Room for the slopes of all rows.
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

    /// Scores of no coefficients.
    pub(crate) fn scores(&self) -> Array2<f64> {
        Array2::zeros(self.slopes_tn.dim())
    }

    pub(crate) fn zero(&self) -> Point {
        Point::zero(self.outputs(), self.covariance.mean_d.len())
    }

    /// The objective of each output (of the multinomial, all of it in the first) and its gradient;
    /// writes the scores of all rows. One pass.
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

    /// The factor of the step between two points at which the objective of some outputs is least,
    /// by their scores alone.
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

    /// The preconditioner of the curvature at a place with these scores, if the loss has one and
    /// the features are there to be summed, in so many bytes beside those of one output. One pass
    /// over the rows.
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

    /// Coefficients of features as they are, not centred.
    pub(crate) fn coefficients(&self, at: &Point) -> Coefficients {
        coefficients(at, &self.covariance.mean_d)
    }
}

/// Coefficients of centred features from those of features as they are.
pub(crate) fn centred(coefficients: &Coefficients, mean_d: &Array1<f64>) -> Point {
    let beta_td = coefficients.beta_dt.t().as_standard_layout().into_owned();
    Point {
        intercept_t: &coefficients.intercept_t + &beta_td.dot(mean_d),
        beta_td,
    }
}

/// Coefficients of features as they are from those of centred ones.
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

/// Where an increasing function that begins below zero is nearly zero, by regula falsi (Illinois).
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
            // The same end twice: the other one weighs half.
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
