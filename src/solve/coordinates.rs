//! Coordinate descent on sums for quadratics with a separable penalty of the coefficients.

use super::preconditioner::{Covariance, Point, Spread};
use ndarray::{Array1, Array2, ArrayViewMut1};

/// Separable cost or bound of the coefficients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Separable {
    /// `l1 |beta_j|`.
    Absolute(f64),
    /// `|beta_j| <= bound`.
    Bound(f64),
}

impl Separable {
    /// Cost of a coefficient.
    pub(crate) fn value(&self, x: f64) -> f64 {
        match *self {
            Self::Absolute(l1) => l1 * x.abs(),
            Self::Bound(_) => 0.0,
        }
    }

    /// Minimum of `h/2 x^2 - c x` plus this cost.
    fn least(&self, h: f64, c: f64) -> f64 {
        match *self {
            Self::Absolute(l1) => (c.abs() - l1).max(0.0).copysign(c) / h,
            Self::Bound(bound) => (c / h).clamp(-bound, bound),
        }
    }
}

/// `H = scale C + penalty I`, both triangles.
#[derive(Debug)]
pub(crate) struct Quadratic {
    spread: Spread,
    scale: f64,
    penalty: f64,
}

impl Quadratic {
    /// Consumes the covariance, mirrors its lower triangle, and returns the means.
    pub(crate) fn from_covariance(
        covariance: Covariance,
        scale: f64,
        penalty: f64,
    ) -> (Self, Array1<f64>) {
        let Covariance { mean_d, mut spread } = covariance;
        if let Spread::Pairs(c) = &mut spread {
            mirror(c);
        }
        let quadratic = Self {
            spread,
            scale,
            penalty,
        };
        (quadratic, mean_d)
    }

    fn diagonal(&self, j: usize) -> f64 {
        let c = match &self.spread {
            Spread::Pairs(c) => c[[j, j]],
            Spread::Alone(c) => c[j],
        };
        self.scale * c + self.penalty
    }

    /// `r -= change H_j`, column j.
    fn take(&self, j: usize, change: f64, r: &mut Array1<f64>) {
        let scaled = -change * self.scale;
        match &self.spread {
            Spread::Pairs(c) => r.scaled_add(scaled, &c.row(j)),
            Spread::Alone(c) => r[j] += scaled * c[j],
        }
        r[j] -= change * self.penalty;
    }

    /// `H x`.
    pub(crate) fn times(&self, x: &Array1<f64>) -> Array1<f64> {
        let product = match &self.spread {
            Spread::Pairs(c) => c.dot(x),
            Spread::Alone(c) => c * x,
        };
        product * self.scale + x * self.penalty
    }

    /// Overwrites x by the minimum of `x'Hx/2 - c'x + cost(x)`, starting from its current value
    /// (Friedman, Hastie & Tibshirani 2010, sec. 2.2): sweeps over all coefficients, and in between
    /// over nonzero ones. Converged if a sweep over all changes no slope by more than `tolerance
    /// max |c|`. Returns the number of sweeps, and whether it converged.
    pub(crate) fn minimise(
        &self,
        c: &Array1<f64>,
        cost: Separable,
        x: &mut ArrayViewMut1<'_, f64>,
        (tolerance, most): (f64, usize),
    ) -> (usize, bool) {
        let enough = tolerance * c.fold(0.0, |m: f64, c| m.max(c.abs()));
        let mut r = c - &self.times(&x.to_owned());
        let mut sweeps = 0;
        while sweeps < most {
            sweeps += 1;
            if self.sweep(cost, x, &mut r, |_| true) <= enough {
                return (sweeps, true);
            }
            while sweeps < most {
                sweeps += 1;
                if self.sweep(cost, x, &mut r, |x| x != 0.0) <= enough {
                    break;
                }
            }
        }
        (sweeps, false)
    }

    /// Changes the scale of C.
    pub(crate) fn rescale(&mut self, scale: f64) {
        self.scale = scale;
    }

    /// Moves from a point with this gradient to the minimum of the quadratic that matches it there,
    /// with the cost: the proximal version of a step by `H^-1`. Intercepts have the curvature
    /// `scale`.
    pub(crate) fn step(
        &self,
        at: &Point,
        gradient: &Point,
        cost: Separable,
        stop: (f64, usize),
    ) -> Point {
        let mut next = at.clone();
        let rows = next.beta_td.rows_mut().into_iter();
        for ((mut x, beta), g) in rows.zip(at.beta_td.rows()).zip(gradient.beta_td.rows()) {
            let c: Array1<f64> = self.times(&beta.to_owned()) - g;
            self.minimise(&c, cost, &mut x, stop);
        }
        next.intercept_t
            .scaled_add(-1.0 / self.scale, &gradient.intercept_t);
        next
    }

    /// One sweep over the coefficients accepted by `of`; returns the largest change of a slope.
    fn sweep(
        &self,
        cost: Separable,
        x: &mut ArrayViewMut1<'_, f64>,
        r: &mut Array1<f64>,
        of: impl Fn(f64) -> bool,
    ) -> f64 {
        let mut largest = 0.0_f64;
        for j in 0..x.len() {
            let h = self.diagonal(j);
            // A constant feature has no effect.
            if h <= 0.0 || !of(x[j]) {
                continue;
            }
            let next = cost.least(h, r[j] + h * x[j]);
            let change = next - x[j];
            if change != 0.0 {
                self.take(j, change, r);
                x[j] = next;
                largest = largest.max(h * change.abs());
            }
        }
        largest
    }
}

/// Copies the lower triangle to the upper one.
fn mirror(a: &mut Array2<f64>) {
    for i in 0..a.nrows() {
        for j in 0..i {
            a[[j, i]] = a[[i, j]];
        }
    }
}
