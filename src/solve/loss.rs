//! Losses of one score with what their solvers need: slopes and a bound of the curvature if smooth,
//! a proximal operator if they have a kink.

use std::fmt::Debug;

/// A convex loss with a Lipschitz-continuous slope.
pub(crate) trait SmoothLoss: Debug + Send + Sync {
    /// The loss of score `s` for target `y`, and its derivative with respect to `s`.
    fn value_and_slope(&self, y: f64, s: f64) -> (f64, f64);

    /// Second derivative with respect to the score, from 0 to [`Self::curvature`]. `None` if slopes
    /// have kinks: the curvature here is then a poor prediction for the next step.
    fn bend(&self, _y: f64, _s: f64) -> Option<f64> {
        None
    }

    /// Upper bound of the second derivative with respect to the score.
    fn curvature(&self) -> f64;
}

/// A convex loss with a kink.
pub(crate) trait KinkedLoss: Debug + Send + Sync {
    /// The loss of score `s` for target `y`.
    fn value(&self, y: f64, s: f64) -> f64;

    /// The s that minimises `value(y, s) + (s - v)^2 / (2 step)`.
    fn proximal(&self, y: f64, v: f64, step: f64) -> f64;
}

/// `log(1 + exp(-y s))`, y = +-1.
#[derive(Debug)]
pub(crate) struct Logistic;

impl SmoothLoss for Logistic {
    fn value_and_slope(&self, y: f64, s: f64) -> (f64, f64) {
        let m = y * s;
        // Neither exponential overflows.
        let small = (-m.abs()).exp();
        let value = small.ln_1p() + (-m).max(0.0);
        let wrong = if m > 0.0 {
            small / (1.0 + small)
        } else {
            1.0 / (1.0 + small)
        };
        (value, -y * wrong)
    }

    fn bend(&self, y: f64, s: f64) -> Option<f64> {
        let small = (-(y * s).abs()).exp();
        Some(small / (1.0 + small).powi(2))
    }

    fn curvature(&self) -> f64 {
        0.25
    }
}

/// `max(0, 1 - y s)^2`, y = +-1.
#[derive(Debug)]
pub(crate) struct SquaredHinge;

impl SmoothLoss for SquaredHinge {
    fn value_and_slope(&self, y: f64, s: f64) -> (f64, f64) {
        let short = (1.0 - y * s).max(0.0);
        (short * short, -2.0 * y * short)
    }

    fn curvature(&self) -> f64 {
        2.0
    }
}

/// `(s - y)^2 / 2` within `width` of the target, linear beyond (Huber 1964).
#[derive(Debug)]
pub(crate) struct Huber {
    pub(crate) width: f64,
}

impl SmoothLoss for Huber {
    fn value_and_slope(&self, y: f64, s: f64) -> (f64, f64) {
        let r = s - y;
        let slope = r.clamp(-self.width, self.width);
        (slope * (r - 0.5 * slope), slope)
    }

    fn curvature(&self) -> f64 {
        1.0
    }
}

/// `max(0, |s - y| - epsilon)^2`.
#[derive(Debug)]
pub(crate) struct SquaredEpsilonInsensitive {
    pub(crate) epsilon: f64,
}

impl SmoothLoss for SquaredEpsilonInsensitive {
    fn value_and_slope(&self, y: f64, s: f64) -> (f64, f64) {
        let r = s - y;
        let beyond = (r.abs() - self.epsilon).max(0.0);
        (beyond * beyond, 2.0 * beyond.copysign(r))
    }

    fn curvature(&self) -> f64 {
        2.0
    }
}

/// `max(0, 1 - y s)`, y = +-1.
#[derive(Debug)]
pub(crate) struct Hinge;

impl KinkedLoss for Hinge {
    fn value(&self, y: f64, s: f64) -> f64 {
        (1.0 - y * s).max(0.0)
    }

    fn proximal(&self, y: f64, v: f64, step: f64) -> f64 {
        // Moves up to the kink, and not across it.
        let m = y * v;
        y * m.max((m + step).min(1.0))
    }
}

/// `max(0, |s - y| - epsilon)`.
#[derive(Debug)]
pub(crate) struct EpsilonInsensitive {
    pub(crate) epsilon: f64,
}

impl KinkedLoss for EpsilonInsensitive {
    fn value(&self, y: f64, s: f64) -> f64 {
        ((s - y).abs() - self.epsilon).max(0.0)
    }

    fn proximal(&self, y: f64, v: f64, step: f64) -> f64 {
        let r = (v - y).abs();
        y + r.min((r - step).max(self.epsilon)).copysign(v - y)
    }
}

/// `level max(0, y - s) + (1 - level) max(0, s - y)`, which is minimised by the quantile of that
/// level (Koenker & Bassett 1978).
#[derive(Debug)]
pub(crate) struct Pinball {
    pub(crate) level: f64,
}

impl KinkedLoss for Pinball {
    fn value(&self, y: f64, s: f64) -> f64 {
        (self.level * (y - s)).max((1.0 - self.level) * (s - y))
    }

    fn proximal(&self, y: f64, v: f64, step: f64) -> f64 {
        let r = v - y;
        let (down, up) = ((1.0 - self.level) * step, self.level * step);
        y + (r - down).max((r + up).min(0.0))
    }
}

/// `max(0, -s) / nu`: loss of a row outside the region of novelty detection (Schoelkopf et al.
/// 2001, eq. 7). There is no target.
#[derive(Debug)]
pub(crate) struct Outside {
    pub(crate) nu: f64,
}

impl KinkedLoss for Outside {
    fn value(&self, _: f64, s: f64) -> f64 {
        (-s).max(0.0) / self.nu
    }

    fn proximal(&self, _: f64, v: f64, step: f64) -> f64 {
        v.max((v + step / self.nu).min(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGETS: [f64; 2] = [1.0, -1.0];

    fn scores() -> impl Iterator<Item = f64> {
        // None of these is a kink of a slope.
        (-40..40).map(|i| 0.173 * f64::from(i) + 0.011)
    }

    #[test]
    fn slopes_are_differences_and_change_no_faster_than_they_say() {
        let losses: [&dyn SmoothLoss; 4] = [
            &Logistic,
            &SquaredHinge,
            &Huber { width: 0.7 },
            &SquaredEpsilonInsensitive { epsilon: 0.3 },
        ];
        for loss in losses {
            let mut steepest = 0.0_f64;
            for (y, s) in TARGETS
                .into_iter()
                .flat_map(|y| scores().map(move |s| (y, s)))
            {
                let h = 1e-5;
                let at = |s| loss.value_and_slope(y, s);
                let ((below, left), (above, right)) = (at(s - h), at(s + h));
                let slope = (above - below) / (2.0 * h);
                assert!((slope - at(s).1).abs() < 1e-6, "{loss:?} at {y}, {s}");
                let bend = (right - left) / (2.0 * h);
                let off = loss.bend(y, s).map_or(0.0, |b| (b - bend).abs());
                assert!(off < 1e-6, "{loss:?} at {y}, {s}");
                steepest = steepest.max(bend);
            }
            let bound = loss.curvature();
            assert!(
                steepest < bound * 1.000_001 && steepest > 0.9 * bound,
                "{loss:?}"
            );
        }
        // Large arguments do not overflow.
        assert_eq!(Logistic.value_and_slope(1.0, -1e4), (1e4, -1.0));
        assert_eq!(Logistic.value_and_slope(1.0, 1e4), (0.0, 0.0));
        assert_eq!(Logistic.bend(1.0, -1e4), Some(0.0));
    }

    /// Compared with the minimum over a fine grid.
    #[test]
    fn proximal_points_are_least() {
        let losses: [&dyn KinkedLoss; 4] = [
            &Hinge,
            &EpsilonInsensitive { epsilon: 0.3 },
            &Pinball { level: 0.8 },
            &Outside { nu: 0.2 },
        ];
        for loss in losses {
            for (y, v) in TARGETS
                .into_iter()
                .flat_map(|y| scores().map(move |s| (y, s)))
            {
                for step in [0.1, 1.3] {
                    let cost = |s: f64| loss.value(y, s) + (s - v).powi(2) / (2.0 * step);
                    let found = cost(loss.proximal(y, v, step));
                    let grid = (-20_000..20_000).map(|i| cost(v + 5e-4 * f64::from(i)));
                    let least = grid.fold(f64::INFINITY, f64::min);
                    assert!(
                        found <= least + 1e-12,
                        "{loss:?} at {y}, {v}: {found} {least}"
                    );
                }
            }
        }
    }
}
