//! State of a candidate, and comparison of two candidates.

use super::{Candidate, deciding::Errors};
use crate::features::{Bandwidth, Standardize};
use ndarray::Array1;

/// Largest extrapolation of an error, in doublings of the rows.
const DOUBLINGS: f64 = 2.0;
/// Share of the observed power law of the error that is extrapolated: noise does not fall.
const FALL: f64 = 0.5;
/// Least relative gain over the rule.
pub(super) const NEAR: f64 = 0.01;
/// Least relative gain of a linear part.
const LINE: f64 = 0.02;
/// Standard errors by which the choice has to beat the rule.
const CLEAR: f64 = 1.5;
/// Ratio of errors below which a majority of rows decides, in place of the standard error.
const HALF: f64 = 0.5;
/// Significant digits of lengthscales.
pub(super) const DIGITS: usize = 4;
/// Largest lengthscale, in median distances: a wider kernel is linear on the data.
pub(super) const BEYOND: f64 = 32.0;

/// A candidate with the errors of its latest evaluations.
pub(super) struct Runner {
    pub(super) of: Candidate,
    /// Error extrapolated to all rows.
    pub(super) ahead: f64,
    /// Extrapolated error of the previous evaluation.
    pub(super) before: f64,
    /// Best penalty of the last evaluation, per row.
    pub(super) penalty: f64,
    /// Squared errors of the last evaluation, relative to the variance of the targets.
    pub(super) squares_m: Array1<f64>,
}

impl Runner {
    pub(super) fn new(
        standardize: Standardize,
        (bandwidth, multiple): (Bandwidth, Option<f64>),
        linear: bool,
    ) -> Self {
        Self {
            of: Candidate {
                standardize,
                bandwidth,
                multiple,
                linear,
                error: f64::INFINITY,
                rows: 0,
            },
            ahead: f64::INFINITY,
            before: f64::INFINITY,
            penalty: f64::NAN,
            squares_m: Array1::zeros(0),
        }
    }

    /// Returns the candidate with its lengthscale times `factor`.
    pub(super) fn at_width(&self, factor: f64) -> Option<Self> {
        let of = &self.of;
        let bandwidth = match &of.bandwidth {
            Bandwidth::Sigma(sigma) => Bandwidth::Sigma(rounded(factor * sigma, DIGITS)),
            Bandwidth::SigmaPerColumn(each) => {
                let each = each.iter().map(|sigma| rounded(factor * sigma, DIGITS));
                Bandwidth::SigmaPerColumn(each.collect())
            }
            _ => return None,
        };
        let multiple = rounded(factor * of.multiple?, DIGITS);
        Some(Self {
            penalty: self.penalty,
            ..Self::new(of.standardize, (bandwidth, Some(multiple)), of.linear)
        })
    }

    /// Returns the error by which candidates are sorted.
    pub(super) fn rank(&self) -> f64 {
        self.ahead * if self.of.linear { 1.0 + LINE } else { 1.0 }
    }

    /// Whether both have the same preparation, bandwidth and linear part.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.of.standardize == other.of.standardize
            && self.of.bandwidth == other.of.bandwidth
            && self.of.linear == other.of.linear
    }

    /// Returns the lengthscale; infinite for a rule.
    pub(super) fn sigma(&self) -> f64 {
        match self.of.bandwidth {
            Bandwidth::Sigma(sigma) => sigma,
            _ => f64::INFINITY,
        }
    }

    pub(super) fn width(&self) -> f64 {
        self.of.multiple.unwrap_or(f64::INFINITY)
    }

    /// Records the errors of an evaluation on more rows, and extrapolates them to `all` rows by the
    /// power law of the last two evaluations.
    pub(super) fn run(&mut self, errors: Option<Errors>, all: f64) {
        let (squares_m, penalty) = match errors {
            Some(errors) => (errors.squares_m, errors.penalty.unwrap_or(self.penalty)),
            None => (none(), f64::NAN),
        };
        (self.before, self.penalty) = (self.ahead, penalty);
        let rows = squares_m.len();
        let error = squares_m.mean().unwrap_or(f64::INFINITY);
        let doublings = |from: usize, to: f64| (to / from as f64).log2();
        let fell = match self.of.rows {
            0 => 1.0,
            // No extrapolation after a failed evaluation.
            _ if !self.of.error.is_finite() => 1.0,
            before if before == rows => 1.0,
            before => {
                let ratio = (error / self.of.error).min(1.0);
                ratio.powf(1.0 / doublings(before, rows as f64))
            }
        };
        self.ahead = error * fell.powf(FALL * doublings(rows, all).clamp(0.0, DOUBLINGS));
        self.of.error = error;
        self.of.rows = rows;
        self.squares_m = squares_m;
    }

    /// Whether each column has a lengthscale of its own.
    pub(super) fn is_weighed(&self) -> bool {
        matches!(self.of.bandwidth, Bandwidth::SigmaPerColumn(_))
    }

    /// Whether it is the linear part alone: its kernel is so wide that it is linear.
    pub(super) fn is_line_alone(&self) -> bool {
        self.of.linear && self.width() >= BEYOND
    }

    /// Whether its error on the same rows is less by more than the standard error of the
    /// difference. A few rows with large errors can make the standard error as large as the
    /// difference; half the error and a smaller error in clearly more than half of the rows is
    /// enough, too.
    pub(super) fn beats(&self, other: &Self) -> bool {
        if !other.ahead.is_finite() {
            return self.ahead.is_finite();
        }
        let (own_m, than_m) = (&self.squares_m, &other.squares_m);
        own_m.len() == than_m.len()
            && self.ahead < (1.0 - NEAR) * other.ahead
            && (are_less(own_m, than_m)
                || self.ahead < HALF * other.ahead && are_less_in_most(own_m, than_m))
    }
}

/// Rounds to `digits` significant digits, which hides rounding differences between orders of rows.
pub(super) fn rounded(value: f64, digits: usize) -> f64 {
    let text = format!("{value:.*e}", digits - 1);
    text.parse().unwrap_or(value)
}

/// Returns infinite squared errors, for a failed evaluation.
pub(super) fn none() -> Array1<f64> {
    Array1::from_elem(1, f64::INFINITY)
}

/// Whether the mean of `squares_m` is less than that of `than_m` by [`CLEAR`] standard errors of
/// the paired difference.
pub(super) fn are_less(squares_m: &Array1<f64>, than_m: &Array1<f64>) -> bool {
    let gained_m = than_m - squares_m;
    let gained = gained_m.mean().unwrap_or(0.0);
    let noise = gained_m.std(1.0) / (gained_m.len() as f64).sqrt();
    gained > CLEAR * noise
}

/// Whether squares are less in more than half of the rows, by [`CLEAR`] standard errors of a fair
/// coin.
fn are_less_in_most(squares_m: &Array1<f64>, than_m: &Array1<f64>) -> bool {
    let m = squares_m.len() as f64;
    let less = squares_m
        .iter()
        .zip(than_m)
        .filter(|(own, than)| own < than);
    less.count() as f64 > 0.5 * (m + CLEAR * m.sqrt())
}
