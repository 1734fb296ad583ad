//! Smooth losses: limited-memory quasi-Newton steps in coordinates that the covariance of the
//! features makes even.

use super::{
    Coefficients,
    metric::{Metric, Point},
    risk::Risk,
};
use crate::Result;
use ndarray::{Array2, s};
use std::{collections::VecDeque, ops::Range};

/// Pairs of steps and changes of the gradient that directions are made of.
const PAIRS: usize = 20;
/// A step is taken if it gains this share of what the slope promises (Armijo), and
const GAIN: f64 = 1e-4;
/// if the slope has fallen to this share (Wolfe).
const FLATTER: f64 = 0.9;

/// L-BFGS (Nocedal & Wright 2006, alg. 7.4) on a [`Risk`] in the coordinates `L' beta`, `L L'` the
/// metric of `curvature C + lambda I`: the Hessian is at most 1 there in every direction, so that
/// the first step needs no search and few more are needed. Each trial is one pass over the rows; a
/// trial that is refused leads, by the scores that are there, to the best step along its line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct QuasiNewton {
    /// Done when the gradient in those coordinates has fallen to this share of the first.
    pub(crate) tolerance: f64,
    /// Most passes over the rows.
    pub(crate) max_passes: usize,
}

/// What a solver reached.
#[derive(Debug, Clone)]
pub(crate) struct Reached {
    pub(crate) coefficients: Coefficients,
    /// The objective, summed over outputs.
    pub(crate) objective: f64,
    /// Passes over the rows.
    pub(crate) passes: usize,
    /// What was to fall to the tolerance.
    pub(crate) residual: f64,
    pub(crate) converged: bool,
}

/// The minimisation of some outputs by themselves.
struct Descent {
    outputs: Range<usize>,
    value: f64,
    gradient: Vec<f64>,
    /// The norm of the first gradient.
    first: f64,
    pairs: VecDeque<(Vec<f64>, Vec<f64>)>,
    direction: Vec<f64>,
    slope: f64,
    step: f64,
    /// Whether the step is the best along its line.
    searched: bool,
    done: bool,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    to.iter_mut()
        .zip(from)
        .for_each(|(to, from)| *to += factor * from);
}

impl Descent {
    fn new(outputs: Range<usize>, values: &[f64], gradient: Vec<f64>) -> Self {
        let mut descent = Self {
            value: values[outputs.clone()].iter().sum(),
            outputs,
            first: dot(&gradient, &gradient).sqrt(),
            pairs: VecDeque::new(),
            direction: Vec::new(),
            slope: 0.0,
            step: 1.0,
            searched: false,
            done: false,
            gradient,
        };
        descent.done = descent.first == 0.0;
        descent.turn();
        descent
    }

    /// The share of the first gradient that is left.
    fn residual(&self) -> f64 {
        match self.first > 0.0 {
            true => dot(&self.gradient, &self.gradient).sqrt() / self.first,
            false => 0.0,
        }
    }

    /// A new direction, by the two loops over the pairs.
    fn turn(&mut self) {
        let mut d: Vec<f64> = self.gradient.iter().map(|g| -g).collect();
        let mut alphas = Vec::with_capacity(self.pairs.len());
        for (s, y) in self.pairs.iter().rev() {
            let alpha = dot(s, &d) / dot(s, y);
            add(&mut d, -alpha, y);
            alphas.push(alpha);
        }
        if let Some((s, y)) = self.pairs.back() {
            let scale = dot(s, y) / dot(y, y);
            d.iter_mut().for_each(|d| *d *= scale);
        }
        for ((s, y), alpha) in self.pairs.iter().zip(alphas.into_iter().rev()) {
            let beta = dot(y, &d) / dot(s, y);
            add(&mut d, alpha - beta, s);
        }
        self.slope = dot(&d, &self.gradient);
        self.direction = d;
        self.step = 1.0;
        self.searched = false;
    }

    /// Whether the trial step is good enough.
    fn takes(&self, value: f64, gradient: &[f64]) -> bool {
        let rounding = 1e-13 * self.value.abs();
        let gained = value <= self.value + GAIN * self.step * self.slope + rounding;
        gained && dot(gradient, &self.direction).abs() <= FLATTER * self.slope.abs()
    }

    /// Goes to the end of the step.
    fn take(&mut self, value: f64, gradient: Vec<f64>) {
        let step: Vec<f64> = self.direction.iter().map(|d| self.step * d).collect();
        let change: Vec<f64> = gradient
            .iter()
            .zip(&self.gradient)
            .map(|(a, b)| a - b)
            .collect();
        if dot(&step, &change) > 1e-14 * dot(&change, &change) {
            if self.pairs.len() == PAIRS {
                self.pairs.pop_front();
            }
            self.pairs.push_back((step, change));
        }
        (self.value, self.gradient) = (value, gradient);
        self.turn();
    }
}

/// The rows of `outputs` of a whitened point, one after the other.
fn flatten(point: &Point, outputs: Range<usize>) -> Vec<f64> {
    let beta = point.beta_td.slice(s![outputs.clone(), ..]);
    let intercept = point.intercept_t.slice(s![outputs]);
    beta.iter().chain(intercept).copied().collect()
}

/// Writes `factor` times what [`flatten`] gave.
fn unflatten(flat: &[f64], factor: f64, outputs: Range<usize>, point: &mut Point) {
    let mut beta = point.beta_td.slice_mut(s![outputs.clone(), ..]);
    let (to_beta, to_intercept) = flat.split_at(beta.len());
    beta.iter_mut()
        .zip(to_beta)
        .for_each(|(to, v)| *to = factor * v);
    let mut intercept = point.intercept_t.slice_mut(s![outputs]);
    intercept
        .iter_mut()
        .zip(to_intercept)
        .for_each(|(to, v)| *to = factor * v);
}

/// Copies the rows of `outputs`.
fn copy_rows(to: &mut Array2<f64>, from: &Array2<f64>, outputs: Range<usize>) {
    let from = from.slice(s![outputs.clone(), ..]);
    to.slice_mut(s![outputs, ..]).assign(&from);
}

impl QuasiNewton {
    /// Minimises. `hear` gets the number of passes and the largest share of a gradient that is
    /// left.
    pub(crate) fn solve(
        &self,
        risk: &mut Risk<'_, '_>,
        metric: &Metric,
        hear: &mut dyn FnMut(usize, f64),
    ) -> Result<Reached> {
        let (mut at, mut scores, mut trial_scores) = (risk.zero(), risk.scores(), risk.scores());
        let (values, gradient) = risk.evaluate(&at, &mut scores)?;
        let whitened = metric.whiten(&gradient);
        let mut descents: Vec<Descent> = (risk.blocks().into_iter())
            .map(|outputs| Descent::new(outputs.clone(), &values, flatten(&whitened, outputs)))
            .collect();
        let mut passes = 1;
        while passes < self.max_passes && descents.iter().any(|d| !d.done) {
            let mut step = risk.zero();
            for d in descents.iter().filter(|d| !d.done) {
                unflatten(&d.direction, d.step, d.outputs.clone(), &mut step);
            }
            let mut trial = metric.unwhiten(&step);
            trial.add(1.0, &at);
            let (values, gradient) = risk.evaluate(&trial, &mut trial_scores)?;
            passes += 1;
            let whitened = metric.whiten(&gradient);
            for d in descents.iter_mut().filter(|d| !d.done) {
                let outputs = d.outputs.clone();
                let value: f64 = values[outputs.clone()].iter().sum();
                let gradient = flatten(&whitened, outputs.clone());
                if d.takes(value, &gradient) || (d.searched && value < d.value) {
                    d.take(value, gradient);
                    d.done = d.residual() <= self.tolerance;
                    copy_rows(&mut at.beta_td, &trial.beta_td, outputs.clone());
                    copy_rows(&mut scores, &trial_scores, outputs.clone());
                    let end = trial.intercept_t.slice(s![outputs.clone()]);
                    at.intercept_t.slice_mut(s![outputs]).assign(&end);
                } else if d.searched {
                    // The best step along a line does not gain: rounding is all that is left.
                    d.done = true;
                } else {
                    let best = risk.search(outputs, (&scores, &trial_scores), (&at, &trial));
                    d.step *= best;
                    d.searched = true;
                    d.done = best == 0.0;
                }
            }
            hear(passes, worst(&descents));
        }
        let residual = worst(&descents);
        Ok(Reached {
            coefficients: risk.coefficients(&at),
            objective: descents.iter().map(|d| d.value).sum(),
            passes,
            residual,
            converged: residual <= self.tolerance,
        })
    }
}

fn worst(descents: &[Descent]) -> f64 {
    descents.iter().map(Descent::residual).fold(0.0, f64::max)
}
