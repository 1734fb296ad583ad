//! User-defined losses.

use super::loss::KinkedLoss;
use crate::{Error, Result};
use std::fmt;

/// A convex loss with a slope of at most L: of a margin `y s`, y = +-1, in
/// [`MarginLoss::Own`](crate::models::MarginLoss::Own), or of a residual `s - y` in
/// [`ResidualLoss::Own`](crate::models::ResidualLoss::Own). With a bound of the coefficients this
/// is the problem of Rahimi & Recht (2008, "Weighted sums of random kitchen sinks", sec. 2): any
/// Lipschitz loss, and `|beta_j| <= C / sqrt(D)`.
///
/// Solvers need no derivative: they evaluate the function some fifty times per row and pass.
///
/// ```
/// use bochner::prelude::*;
/// use bochner::models::{OwnLoss, ResidualLoss, SupportVectorRegressor};
/// let x = ndarray::Array::from_shape_fn((100, 1), |(i, _)| i as f64 / 20.0);
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let log_cosh = OwnLoss::new("log-cosh", 1.0, |r| r.abs() + (-2.0 * r.abs()).exp().ln_1p());
/// let map = Fourier::new(Gaussian).features(64);
/// let learner = SupportVectorRegressor::on(map).loss(ResidualLoss::Own(log_cosh));
/// let model = learner.lambda(1e-5).fit((&x, &y))?;
/// assert!((model.predict(&x)?[50] - y[50]).abs() < 0.1);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct OwnLoss {
    name: &'static str,
    slope: f64,
    of: fn(f64) -> f64,
}

/// Range of the arguments that [`OwnLoss::check`] evaluates, more densely around zero.
const FARTHEST: f64 = 64.0;
const EACH_WAY: i32 = 200;

impl OwnLoss {
    /// The loss `of`, called `name` in messages, with slopes between `-slope` and `slope`. It must
    /// be convex and must not overflow; a fit checks this at some hundred arguments from -64 to 64.
    pub fn new(name: &'static str, slope: f64, of: fn(f64) -> f64) -> Self {
        Self { name, slope, of }
    }

    /// Maximum slope of the loss.
    pub fn slope(&self) -> f64 {
        self.slope
    }

    /// Errors with [`Error::Parameter`] if the function does not have the stated slope or is not
    /// convex.
    pub(crate) fn check(&self) -> Result<()> {
        let Self { name, slope, of } = *self;
        let problem = |what: String| Err(Error::parameter(format!("the loss {name:?} {what}")));
        if !(slope > 0.0 && slope.is_finite()) {
            return problem(format!(
                "has a slope of at most {slope}; give a positive number"
            ));
        }
        let at = |i: i32| FARTHEST * (f64::from(i) / f64::from(EACH_WAY)).powi(3);
        let (mut last, mut steepest) = (of(at(-EACH_WAY)), f64::NEG_INFINITY);
        for i in 1 - EACH_WAY..=EACH_WAY {
            let (from, to) = (at(i - 1), at(i));
            let next = of(to);
            if !(next.is_finite() && last.is_finite()) {
                return problem(format!(
                    "is not finite between {from} and {to}; write it so that it does not overflow"
                ));
            }
            let found = (next - last) / (to - from);
            // Rounding error of the difference of values.
            let rounding = 1e-9 * slope + 4.0 * f64::EPSILON * next.abs().max(1.0) / (to - from);
            if found.abs() > slope + rounding {
                return problem(format!(
                    "has a slope of {found:.3} near {to:.3}, and {slope} was said to be the most; \
                     give a larger one"
                ));
            }
            if found < steepest - rounding {
                return problem(format!(
                    "is not convex near {from:.3}; take one that is, or its least may be another"
                ));
            }
            (last, steepest) = (next, found);
        }
        Ok(())
    }

    /// The t that minimises `of(t) + (t - v)^2 / (2 step)`, by golden-section search: slopes of at
    /// most L keep it within `L step` of v.
    fn least(&self, v: f64, step: f64) -> f64 {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let cost = |away: f64| (self.of)(v + away) + away * away / (2.0 * step);
        let reach = self.slope * step;
        let (mut low, mut high) = (-reach, reach);
        let inner =
            |low: f64, high: f64| (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
        let (mut left, mut right) = inner(low, high);
        let (mut at_left, mut at_right) = (cost(left), cost(right));
        let enough = 1e-10 * (1.0 + v.abs()).min(reach);
        while high - low > enough {
            if at_left <= at_right {
                (high, right, at_right) = (right, left, at_left);
                left = inner(low, high).0;
                at_left = cost(left);
            } else {
                (low, left, at_left) = (left, right, at_right);
                right = inner(low, high).1;
                at_right = cost(right);
            }
        }
        v + 0.5 * (low + high)
    }
}

impl fmt::Debug for OwnLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnLoss")
            .field("name", &self.name)
            .field("slope", &self.slope)
            .finish_non_exhaustive()
    }
}

/// Compares name, slope and function.
impl PartialEq for OwnLoss {
    fn eq(&self, other: &Self) -> bool {
        let of = std::ptr::fn_addr_eq(self.of, other.of);
        of && self.name == other.name && self.slope.to_bits() == other.slope.to_bits()
    }
}

impl Eq for OwnLoss {}

/// The loss as a function of `y s`.
#[derive(Debug)]
pub(crate) struct OfMargin(pub(crate) OwnLoss);

impl KinkedLoss for OfMargin {
    fn value(&self, y: f64, s: f64) -> f64 {
        (self.0.of)(y * s)
    }

    fn proximal(&self, y: f64, v: f64, step: f64) -> f64 {
        y * self.0.least(y * v, step)
    }
}

/// The loss as a function of `s - y`.
#[derive(Debug)]
pub(crate) struct OfResidual(pub(crate) OwnLoss);

impl KinkedLoss for OfResidual {
    fn value(&self, y: f64, s: f64) -> f64 {
        (self.0.of)(s - y)
    }

    fn proximal(&self, y: f64, v: f64, step: f64) -> f64 {
        y + self.0.least(v - y, step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::loss::{Hinge, Pinball};

    fn hinge(m: f64) -> f64 {
        (1.0 - m).max(0.0)
    }

    fn pinball(r: f64) -> f64 {
        (-0.8 * r).max(0.2 * r)
    }

    /// Compared with losses whose proximal steps are known in closed form, at kinks and elsewhere.
    #[test]
    fn steps_are_those_of_the_closed_form() {
        let own = [
            OfMargin(OwnLoss::new("hinge", 1.0, hinge)),
            // An overestimated slope takes longer but does not change the result.
            OfMargin(OwnLoss::new("hinge", 5.0, hinge)),
        ];
        let pinballs = OfResidual(OwnLoss::new("pinball", 0.8, pinball));
        for i in -40..40 {
            let v = 0.173 * f64::from(i);
            for (y, step) in [(1.0, 0.1), (-1.0, 1.3), (1.0, 30.0)] {
                for own in &own {
                    let (found, exact) = (own.proximal(y, v, step), Hinge.proximal(y, v, step));
                    assert!(
                        (found - exact).abs() < 1e-6,
                        "{v} {y} {step}: {found} {exact}"
                    );
                    assert_eq!(own.value(y, v), Hinge.value(y, v));
                }
                let level = Pinball { level: 0.8 };
                let (found, exact) = (pinballs.proximal(y, v, step), level.proximal(y, v, step));
                assert!(
                    (found - exact).abs() < 1e-6,
                    "{v} {y} {step}: {found} {exact}"
                );
                assert!((pinballs.value(y, v) - level.value(y, v)).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn what_is_no_such_loss_is_told() {
        for (slope, of, says) in [
            (0.0, hinge as fn(f64) -> f64, "a slope of at most 0"),
            (f64::NAN, hinge, "a slope of at most NaN"),
            (0.9, hinge, "0.9 was said to be the most"),
            (2.0, |t| t.abs().min(3.0), "not convex near"),
            (1.0, |t| t.sin(), "not convex near"),
            (1e9, |t| t * t * 1e300 * 1e9, "not finite"),
            (1.0, |t| if t > 3.0 { f64::NAN } else { 0.0 }, "not finite"),
        ] {
            let message = OwnLoss::new("mine", slope, of)
                .check()
                .expect_err(says)
                .to_string();
            assert!(
                message.contains(says) && message.contains("mine"),
                "{message}"
            );
            assert!(!message.contains('\n'), "{message}");
        }
        for (slope, of) in [
            (1.0, hinge as fn(f64) -> f64),
            (0.8, pinball),
            (1.0, |t| t.abs() + (-2.0 * t.abs()).exp().ln_1p()),
            (1.0, |t| (1.0 + t * t).sqrt() - 1.0),
            (1.0, |_| 7.0),
        ] {
            OwnLoss::new("mine", slope, of).check().expect("is one");
        }
        let (one, other) = (
            OwnLoss::new("a", 1.0, hinge),
            OwnLoss::new("a", 1.0, pinball),
        );
        assert!(one == one && one != other && one.slope() == 1.0);
    }
}
