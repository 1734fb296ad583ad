//! Limited-memory quasi-Newton directions for a group of outputs.

use super::Found;
use crate::solve::preconditioner::{Point, Preconditioner};
use ndarray::s;
use std::{collections::VecDeque, ops::Range};

/// Number of pairs of steps and gradient changes for L-BFGS.
const PAIRS: usize = 20;
/// A step is accepted if it gains this share of the linear prediction (Armijo), and
const GAIN: f64 = 1e-4;
/// if the slope has decreased to this share (Wolfe).
const FLATTER: f64 = 0.9;

/// Minimisation of a group of outputs.
pub(super) struct Descent {
    pub(super) outputs: Range<usize>,
    pub(super) value: f64,
    gradient: Vec<f64>,
    /// Norms of the first gradient and of the current one, preconditioned by the first
    /// preconditioner.
    first: f64,
    now: f64,
    pub(super) pairs: VecDeque<(Vec<f64>, Vec<f64>)>,
    /// Coefficients of the first L-BFGS loop, the last pair first.
    alphas: Vec<f64>,
    direction: Vec<f64>,
    slope: f64,
    pub(super) step: f64,
    /// Whether the step is the best along its line.
    pub(super) searched: bool,
    pub(super) done: bool,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    to.iter_mut()
        .zip(from)
        .for_each(|(to, from)| *to += factor * from);
}

impl Descent {
    pub(super) fn new(outputs: Range<usize>, found: &Found) -> Self {
        let first = norm(&flatten(&found.whitened, outputs.clone()));
        Self {
            value: found.values[outputs.clone()].iter().sum(),
            gradient: flatten(&found.gradient, outputs.clone()),
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
        }
    }

    /// Moves to another point without a step.
    pub(super) fn begin_at(&mut self, found: &Found, tolerance: f64) {
        let outputs = self.outputs.clone();
        self.value = found.values[outputs.clone()].iter().sum();
        self.gradient = flatten(&found.gradient, outputs.clone());
        self.now = norm(&flatten(&found.whitened, outputs));
        self.done = self.residual() <= tolerance;
    }

    /// Norm of the gradient relative to the first.
    pub(super) fn residual(&self) -> f64 {
        if self.first > 0.0 {
            self.now / self.first
        } else {
            0.0
        }
    }

    /// First loop of L-BFGS: the vector that the inverse preconditioner is applied to.
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

    /// Second loop, after the inverse preconditioner.
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

    /// Whether the trial step is acceptable.
    pub(super) fn takes(&self, value: f64, gradient: &[f64]) -> bool {
        let rounding = 1e-13 * self.value.abs();
        let gained = value <= self.value + GAIN * self.step * self.slope + rounding;
        gained && dot(gradient, &self.direction).abs() <= FLATTER * self.slope.abs()
    }

    /// Moves to the end of the step, where the gradient has the preconditioned norm `now`.
    pub(super) fn take(&mut self, value: f64, gradient: Vec<f64>, now: f64) {
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

/// The rows of `outputs` of a point, concatenated.
pub(super) fn flatten(point: &Point, outputs: Range<usize>) -> Vec<f64> {
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

/// New directions for groups that need one, from a preconditioner; one that was computed at another
/// point is `scaled` by the curvature of the last step.
pub(super) fn turn(
    descents: &mut [Descent],
    turns: impl Fn(&Descent) -> bool,
    (preconditioner, scaled): (&Preconditioner, bool),
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
    let all = preconditioner.inverse(&all);
    let mut changes = all.clone();
    for d in turning.iter().filter(|_| scaled) {
        if let Some((_, y)) = d.pairs.back() {
            unflatten(y, 1.0, d.outputs.clone(), &mut changes);
        }
    }
    if scaled {
        changes = preconditioner.whiten(&changes);
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

/// The ends of all steps from a point; `zero` has its shape.
pub(super) fn ahead(descents: &[Descent], from: &Point, zero: Point) -> Point {
    let mut trial = zero;
    for d in descents.iter().filter(|d| !d.done) {
        unflatten(&d.direction, d.step, d.outputs.clone(), &mut trial);
    }
    trial.add(1.0, from);
    trial
}

pub(super) fn worst(descents: &[Descent]) -> f64 {
    descents.iter().map(Descent::residual).fold(0.0, f64::max)
}
