//! Maximises a smooth function of few variables in a box: limited-memory quasi-Newton directions
//! with bounded steps.

use crate::Result;
use std::collections::VecDeque;

/// Number of pairs of steps and gradient changes for L-BFGS.
const PAIRS: usize = 10;
/// A step is accepted if it gains this share of the linear prediction (Armijo).
const GAIN: f64 = 1e-4;
/// Maximum change of a variable in a step along the gradient, whose scale is unknown.
const FIRST: f64 = 0.3;
/// Maximum number of shortened steps along one direction.
const TRIALS: usize = 20;

/// Ascent by L-BFGS directions (Nocedal & Wright 2006, algorithm 7.4), projected onto a box, with
/// backtracking line search. The value never decreases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ascent {
    /// Converged if two iterations in a row gain less than this.
    pub(crate) tolerance: f64,
    /// Maximum number of iterations.
    pub(crate) max_iterations: usize,
    /// Maximum change of a variable in one step.
    pub(crate) longest: f64,
}

/// Result of an ascent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Maximum {
    pub(crate) at: Vec<f64>,
    pub(crate) value: f64,
    pub(crate) iterations: usize,
    /// Whether it converged.
    pub(crate) converged: bool,
}

/// A function of some variables: its value and its gradient.
type Function<'a> = dyn FnMut(&[f64]) -> Result<(f64, Vec<f64>)> + 'a;

/// A step and the decrease of the gradient along it.
type Pair = (Vec<f64>, Vec<f64>);

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    to.iter_mut()
        .zip(from)
        .for_each(|(to, from)| *to += factor * from);
}

fn largest(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |m, v| v.abs().max(m))
}

/// Inverse Hessian approximation of the pairs, times `gradient`.
fn direction(pairs: &VecDeque<Pair>, gradient: &[f64]) -> Vec<f64> {
    let mut d = gradient.to_vec();
    let mut alphas = Vec::with_capacity(pairs.len());
    for (s, y) in pairs.iter().rev() {
        let alpha = dot(s, &d) / dot(s, y);
        add(&mut d, -alpha, y);
        alphas.push(alpha);
    }
    if let Some((s, y)) = pairs.back() {
        let scale = dot(s, y) / dot(y, y);
        d.iter_mut().for_each(|v| *v *= scale);
    }
    for ((s, y), alpha) in pairs.iter().zip(alphas.iter().rev()) {
        let beta = dot(y, &d) / dot(s, y);
        add(&mut d, alpha - beta, s);
    }
    d
}

impl Ascent {
    /// Maximises from `start`, which lies in the box: `bounds` has two ends for each variable.
    /// `evaluate` returns value and gradient; a value that is not finite rejects the point. `hear`
    /// gets the number of iterations and the gain of the last one.
    ///
    /// Errors as `evaluate` does.
    pub(crate) fn maximise(
        &self,
        start: Vec<f64>,
        bounds: &[(f64, f64)],
        evaluate: &mut Function<'_>,
        hear: &mut dyn FnMut(usize, f64),
    ) -> Result<Maximum> {
        let (value, gradient) = evaluate(&start)?;
        let mut place = Iterate {
            at: start,
            value,
            gradient,
        };
        let mut pairs: VecDeque<Pair> = VecDeque::new();
        let (mut iterations, mut small, mut converged) = (0, 0, false);
        while iterations < self.max_iterations && !converged {
            let Some(direction) = self.direction(&place, bounds, &mut pairs) else {
                converged = true;
                break;
            };
            let Some((next, moved)) = place.search(&direction, bounds, evaluate)? else {
                // The direction of old pairs may be at fault, so tries the gradient first.
                converged = pairs.is_empty();
                pairs.clear();
                continue;
            };
            iterations += 1;
            let slopes = place.gradient.iter().zip(&next.gradient);
            let fall: Vec<f64> = slopes.map(|(a, b)| a - b).collect();
            let curved = dot(&moved, &fall);
            if curved > 1e-10 * (dot(&moved, &moved) * dot(&fall, &fall)).sqrt() {
                if pairs.len() == PAIRS {
                    pairs.pop_front();
                }
                pairs.push_back((moved, fall));
            }
            let gained = next.value - place.value;
            place = next;
            small = if gained < self.tolerance {
                small + 1
            } else {
                0
            };
            converged = small == 2;
            hear(iterations, gained);
        }
        Ok(Maximum {
            at: place.at,
            value: place.value,
            iterations,
            converged,
        })
    }

    /// Direction of ascent within the box, and length of the first trial; `None` at a stationary
    /// point. Pairs that lead downhill are dropped.
    fn direction(
        &self,
        place: &Iterate,
        bounds: &[(f64, f64)],
        pairs: &mut VecDeque<Pair>,
    ) -> Option<Vec<f64>> {
        let uphill = place.free(place.gradient.clone(), bounds);
        let mut d = place.free(direction(pairs, &uphill), bounds);
        let rises = dot(&d, &uphill) > 0.0;
        if !rises {
            pairs.clear();
            d = uphill;
        }
        let most = if pairs.is_empty() {
            FIRST
        } else {
            self.longest
        };
        let size = largest(&d);
        if size == 0.0 {
            return None;
        }
        if size > most || pairs.is_empty() {
            d.iter_mut().for_each(|v| *v *= most / size);
        }
        Some(d)
    }
}

/// Current point of the ascent.
struct Iterate {
    at: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

impl Iterate {
    /// Sets components that would leave the box to zero.
    fn free(&self, mut v: Vec<f64>, bounds: &[(f64, f64)]) -> Vec<f64> {
        let here = self.at.iter().zip(&self.gradient).zip(bounds);
        for (v, ((x, g), (low, high))) in v.iter_mut().zip(here) {
            if (x <= low && *g < 0.0) || (x >= high && *g > 0.0) {
                *v = 0.0;
            }
        }
        v
    }

    /// A point along `direction` with sufficient gain, and the step to it; `None` if no trial gains
    /// enough.
    fn search(
        &self,
        direction: &[f64],
        bounds: &[(f64, f64)],
        evaluate: &mut Function<'_>,
    ) -> Result<Option<(Self, Vec<f64>)>> {
        let mut step = 1.0;
        for _ in 0..TRIALS {
            let at: Vec<f64> = (self.at.iter().zip(direction).zip(bounds))
                .map(|((x, d), (low, high))| (x + step * d).clamp(*low, *high))
                .collect();
            let moved: Vec<f64> = at.iter().zip(&self.at).map(|(a, b)| a - b).collect();
            let (value, gradient) = evaluate(&at)?;
            if value >= self.value + GAIN * dot(&moved, &self.gradient) && value.is_finite() {
                let place = Self {
                    at,
                    value,
                    gradient,
                };
                return Ok(Some((place, moved)));
            }
            step *= 0.5;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASCENT: Ascent = Ascent {
        tolerance: 1e-12,
        max_iterations: 500,
        longest: 1.0,
    };

    /// Negative Rosenbrock function, with its maximum at (1, 1).
    fn valley(x: &[f64]) -> Result<(f64, Vec<f64>)> {
        let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
        let gradient = vec![2.0 * a + 400.0 * b * x[0], -200.0 * b];
        Ok((-a * a - 100.0 * b * b, gradient))
    }

    #[test]
    fn the_top_of_a_curved_ridge_is_found_and_no_step_falls() {
        let (mut gains, mut longest) = (Vec::new(), 0.0_f64);
        let mut last = vec![-1.2, 1.0];
        let mut evaluate = |x: &[f64]| {
            longest = longest.max(
                x.iter()
                    .zip(&last)
                    .fold(0.0, |m, (a, b)| (a - b).abs().max(m)),
            );
            last = x.to_vec();
            valley(x)
        };
        let bounds = [(-5.0, 5.0); 2];
        let mut hear = |_, gained| gains.push(gained);
        let top = ASCENT.maximise(vec![-1.2, 1.0], &bounds, &mut evaluate, &mut hear);
        let top = top.expect("maximises");
        assert!(top.converged, "{top:?}");
        assert!(top.at.iter().all(|x| (x - 1.0).abs() < 1e-5), "{top:?}");
        assert!(gains.iter().all(|g| *g >= 0.0), "{gains:?}");
        assert_eq!(gains.len(), top.iterations);
        assert!((gains.iter().sum::<f64>() - 24.2 - top.value).abs() < 1e-10);
        // Trials are at most on opposite sides of a point.
        assert!(longest <= 2.0 * ASCENT.longest, "{longest}");
    }

    #[test]
    fn bounds_hold_and_what_is_not_finite_is_too_far() {
        let bounds = [(-5.0, 0.5), (-5.0, 5.0)];
        let mut evaluate = |x: &[f64]| {
            if x[1] > 2.0 {
                Ok((f64::NAN, vec![f64::NAN; 2]))
            } else {
                valley(x)
            }
        };
        let top = ASCENT.maximise(vec![-1.2, 1.0], &bounds, &mut evaluate, &mut |_, _| {});
        let top = top.expect("maximises");
        // With x_0 fixed at 1/2 the maximum is at 1/4.
        assert_eq!(top.at[0], 0.5, "{top:?}");
        assert!((top.at[1] - 0.25).abs() < 1e-5, "{top:?}");
    }
}
