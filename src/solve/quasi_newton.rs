//! Smooth losses: limited-memory quasi-Newton steps in coordinates that the curvature of the loss
//! makes even, taken anew as it changes.

use super::{
    Coefficients,
    metric::{Metric, Point},
    risk::Risk,
};
use crate::{Device, Result};
use ndarray::{Array2, s};
use std::{collections::VecDeque, ops::Range};

/// Pairs of steps and changes of the gradient that directions are made of.
const PAIRS: usize = 20;
/// A step is taken if it gains this share of what the slope promises (Armijo), and
const GAIN: f64 = 1e-4;
/// if the slope has fallen to this share (Wolfe).
const FLATTER: f64 = 0.9;
/// Passes with the first metric before the next is taken, and twice as many with each next one: the
/// nearer the least, the less the curvature changes, and the more what steps have learnt is worth.
const PASSES: usize = 3;

/// Newton's method in the block-diagonal of the Hessian with quasi-Newton steps between: L-BFGS
/// (Nocedal & Wright 2006, alg. 7.4) on a [`Risk`] from the inverse of a metric near the Hessian,
/// so that the first step needs no search and few more are needed. The
/// first metric is the Hessian at zero, `curvature C + lambda I`; now and then another is taken
/// from Gram matrices of rows weighted by the curvature of the loss at their scores (one pass).
/// Each trial is one pass over the rows; a trial that is refused leads, by the scores that are
/// there, to the best step along its line.
#[derive(Debug, Clone)]
pub(crate) struct QuasiNewton {
    /// Done when the gradient in the coordinates of the first metric has fallen to this share.
    pub(crate) tolerance: f64,
    /// Most passes over the rows.
    pub(crate) max_passes: usize,
    /// Where Gram matrices are summed.
    pub(crate) device: Device,
    /// Bytes that such sums for many outputs may take beside those of one.
    pub(crate) memory: u64,
    /// Where to begin, if not at zero; what is done is measured from zero all the same.
    pub(crate) start: Option<Point>,
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
    /// The norms of the first gradient and of the present one, in the first coordinates.
    first: f64,
    now: f64,
    pairs: VecDeque<(Vec<f64>, Vec<f64>)>,
    /// Of the first loop, the last pair first.
    alphas: Vec<f64>,
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

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    to.iter_mut()
        .zip(from)
        .for_each(|(to, from)| *to += factor * from);
}

impl Descent {
    fn new(outputs: Range<usize>, values: &[f64], gradient: Vec<f64>, first: f64) -> Self {
        Self {
            value: values[outputs.clone()].iter().sum(),
            outputs,
            first,
            now: first,
            pairs: VecDeque::new(),
            alphas: Vec::new(),
            direction: Vec::new(),
            slope: 0.0,
            step: 1.0,
            searched: false,
            done: first == 0.0,
            gradient,
        }
    }

    /// The share of the first gradient that is left.
    fn residual(&self) -> f64 {
        match self.first > 0.0 {
            true => self.now / self.first,
            false => 0.0,
        }
    }

    /// The first of the two loops over the pairs that make a new direction: what the inverse of a
    /// metric is to be applied to.
    fn begin(&mut self) -> Vec<f64> {
        let mut d: Vec<f64> = self.gradient.iter().map(|g| -g).collect();
        self.alphas.clear();
        for (s, y) in self.pairs.iter().rev() {
            let alpha = dot(s, &d) / dot(s, y);
            add(&mut d, -alpha, y);
            self.alphas.push(alpha);
        }
        d
    }

    /// The second loop, over what the inverse has left.
    fn turn(&mut self, mut d: Vec<f64>) {
        for ((s, y), alpha) in self.pairs.iter().zip(self.alphas.iter().rev()) {
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

    /// Goes to the end of the step, where the gradient has a norm in the first coordinates.
    fn take(&mut self, value: f64, gradient: Vec<f64>, now: f64) {
        self.now = now;
        let step: Vec<f64> = self.direction.iter().map(|d| self.step * d).collect();
        let change: Vec<f64> = gradient
            .iter()
            .zip(&self.gradient)
            .map(|(a, b)| a - b)
            .collect();
        if dot(&step, &change) > 0.0 {
            if self.pairs.len() == PAIRS {
                self.pairs.pop_front();
            }
            self.pairs.push_back((step, change));
        }
        (self.value, self.gradient) = (value, gradient);
    }
}

/// The rows of `outputs` of a point, one after the other.
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

fn copy_point(to: &mut Point, from: &Point, outputs: Range<usize>) {
    copy_rows(&mut to.beta_td, &from.beta_td, outputs.clone());
    let end = from.intercept_t.slice(s![outputs.clone()]);
    to.intercept_t.slice_mut(s![outputs]).assign(&end);
}

/// New directions of those that are not done and turn, from a metric; one that is of another place
/// is `scaled` by what the last step has seen of the curvature.
fn turn(
    descents: &mut [Descent],
    turns: impl Fn(&Descent) -> bool,
    (metric, scaled): (&Metric, bool),
    mut all: Point,
) {
    let mut turning: Vec<_> = (descents.iter_mut().filter(|d| !d.done && turns(d))).collect();
    if turning.is_empty() {
        return;
    }
    for d in &mut turning {
        let begun = d.begin();
        unflatten(&begun, 1.0, d.outputs.clone(), &mut all);
    }
    let all = metric.inverse(&all);
    let mut changes = all.clone();
    for d in turning.iter().filter(|_| scaled) {
        if let Some((_, y)) = d.pairs.back() {
            unflatten(y, 1.0, d.outputs.clone(), &mut changes);
        }
    }
    if scaled {
        changes = metric.whiten(&changes);
    }
    for d in turning {
        let mut flat = flatten(&all, d.outputs.clone());
        if let Some((s, y)) = d.pairs.back()
            && scaled
        {
            let white = norm(&flatten(&changes, d.outputs.clone()));
            let scale = dot(s, y) / white.powi(2);
            flat.iter_mut().for_each(|v| *v *= scale);
        }
        d.turn(flat);
    }
}

impl QuasiNewton {
    /// Minimises, from the metric at zero. `hear` gets the number of passes and the largest share
    /// of a gradient that is left.
    pub(crate) fn solve(
        &self,
        risk: &mut Risk<'_, '_>,
        first: &Metric,
        hear: &mut dyn FnMut(usize, f64),
    ) -> Result<Reached> {
        let (mut at, mut scores, mut trial_scores) = (risk.zero(), risk.scores(), risk.scores());
        let (values, gradient) = risk.evaluate(&at, &mut scores)?;
        let whitened = first.whiten(&gradient);
        let mut descents: Vec<Descent> = (risk.blocks().into_iter())
            .map(|outputs| {
                let norm = norm(&flatten(&whitened, outputs.clone()));
                Descent::new(outputs.clone(), &values, flatten(&gradient, outputs), norm)
            })
            .collect();
        let mut passes = 1;
        let (mut current, mut since, mut wait) = (None, 0, Some(PASSES));
        if let Some(start) = &self.start {
            at = start.clone();
            let (values, gradient) = risk.evaluate(&at, &mut scores)?;
            let whitened = first.whiten(&gradient);
            for d in &mut descents {
                let outputs = d.outputs.clone();
                d.value = values[outputs.clone()].iter().sum();
                d.gradient = flatten(&gradient, outputs.clone());
                d.now = norm(&flatten(&whitened, outputs));
                d.done = d.residual() <= self.tolerance;
            }
            passes = 2;
            // The curvature at zero says little of that here.
            if descents.iter().any(|d| !d.done) {
                current = risk.metric(&scores, (&self.device, self.memory))?;
                passes += usize::from(current.is_some());
                wait = current.as_ref().map(|_| 2 * PASSES);
            }
        }
        let metric = (current.as_ref().unwrap_or(first), current.is_none());
        turn(&mut descents, |_| true, metric, risk.zero());
        while passes < self.max_passes && descents.iter().any(|d| !d.done) {
            let mut trial = risk.zero();
            for d in descents.iter().filter(|d| !d.done) {
                unflatten(&d.direction, d.step, d.outputs.clone(), &mut trial);
            }
            trial.add(1.0, &at);
            let (values, gradient) = risk.evaluate(&trial, &mut trial_scores)?;
            (passes, since) = (passes + 1, since + 1);
            let whitened = first.whiten(&gradient);
            let mut moved = Vec::new();
            for d in descents.iter_mut().filter(|d| !d.done) {
                let outputs = d.outputs.clone();
                let value: f64 = values[outputs.clone()].iter().sum();
                let flat = flatten(&gradient, outputs.clone());
                if d.takes(value, &flat) || (d.searched && value < d.value) {
                    d.take(value, flat, norm(&flatten(&whitened, outputs.clone())));
                    d.done = d.residual() <= self.tolerance;
                    copy_rows(&mut scores, &trial_scores, outputs.clone());
                    copy_point(&mut at, &trial, outputs.clone());
                    moved.push(outputs.start);
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
            let more = passes + 1 < self.max_passes && descents.iter().any(|d| !d.done);
            let mut anew = false;
            if let Some(passes_now) = wait
                && since >= passes_now
                && more
            {
                // The old factors go before the new ones come.
                drop(current.take());
                current = risk.metric(&scores, (&self.device, self.memory))?;
                anew = current.is_some();
                wait = current.as_ref().map(|_| 2 * passes_now);
                if anew {
                    (passes, since) = (passes + 1, 0);
                    // What steps have learnt is of an older curvature.
                    descents.iter_mut().for_each(|d| d.pairs.clear());
                }
            }
            // What was tried along an old direction is given up for a better one.
            let metric = (current.as_ref().unwrap_or(first), current.is_none());
            let turns = |d: &Descent| anew || moved.contains(&d.outputs.start);
            turn(&mut descents, turns, metric, risk.zero());
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
