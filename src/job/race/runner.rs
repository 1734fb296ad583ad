//! A candidate in a race, and when it is better than another.

use super::{Candidate, deciding::Errors};
use crate::features::{Bandwidth, Standardize};
use ndarray::Array1;

/// Errors are told ahead by so many doublings of the rows at most.
const DOUBLINGS: f64 = 2.0;
/// Of the power by which they fell from round to round, what is told ahead: noise stays.
const FALL: f64 = 0.5;
/// What is less than this share better than the usual is not better.
pub(super) const NEAR: f64 = 0.01;
/// Of two that are about as good the one without a linear part stays: by so much that one has to be
/// better.
const LINE: f64 = 0.02;
/// Standard errors by which what is chosen beats the usual.
const CLEAR: f64 = 1.5;
/// Of another's error, what is better whatever the noise of a few rows.
const HALF: f64 = 0.5;
/// Digits of lengthscales.
pub(super) const DIGITS: usize = 4;
/// Medians of the distances at which the kernel is a line: the last round goes no further.
pub(super) const BEYOND: f64 = 32.0;

/// A candidate on its way.
pub(super) struct Runner {
    pub(super) of: Candidate,
    /// The error that as many rows as there are may have.
    pub(super) ahead: f64,
    /// The same by the rows before the last.
    pub(super) before: f64,
    /// The penalty over the number of the last rows.
    pub(super) penalty: f64,
    /// Squares of the errors of the last rows, over the variance of the targets.
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

    /// The same of another width.
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

    /// What it is ranked by.
    pub(super) fn rank(&self) -> f64 {
        self.ahead * if self.of.linear { 1.0 + LINE } else { 1.0 }
    }

    /// Whether it runs in the same way.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.of.standardize == other.of.standardize
            && self.of.bandwidth == other.of.bandwidth
            && self.of.linear == other.of.linear
    }

    /// Its lengthscale; infinite of a rule.
    pub(super) fn sigma(&self) -> f64 {
        match self.of.bandwidth {
            Bandwidth::Sigma(sigma) => sigma,
            _ => f64::INFINITY,
        }
    }

    pub(super) fn width(&self) -> f64 {
        self.of.multiple.unwrap_or(f64::INFINITY)
    }

    /// Takes errors of more rows than before. With still more of them they fall as they fell, or
    /// less.
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
            // What failed before has no error to fall from.
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

    /// Whether its columns are weighed by what they tell.
    pub(super) fn is_weighed(&self) -> bool {
        matches!(self.of.bandwidth, Bandwidth::SigmaPerColumn(_))
    }

    /// Whether it is the linear part alone, next to a kernel too wide to bend.
    pub(super) fn is_line_alone(&self) -> bool {
        self.of.linear && self.width() >= BEYOND
    }

    /// Whether it is better than another one on the same rows, by more than the standard error of
    /// the difference. A few rows of a long tail make that error as large as the difference itself;
    /// so it is also better by half as much in clearly more rows than not.
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

/// To so many digits: rounding of means that rows in another order have is then not seen.
pub(super) fn rounded(value: f64, digits: usize) -> f64 {
    let text = format!("{value:.*e}", digits - 1);
    text.parse().unwrap_or(value)
}

/// Squares of errors that nothing is worse than.
pub(super) fn none() -> Array1<f64> {
    Array1::from_elem(1, f64::INFINITY)
}

/// Whether squares are less than others of the same rows by more than the standard error of the
/// difference.
pub(super) fn are_less(squares_m: &Array1<f64>, than_m: &Array1<f64>) -> bool {
    let gained_m = than_m - squares_m;
    let gained = gained_m.mean().unwrap_or(0.0);
    let noise = gained_m.std(1.0) / (gained_m.len() as f64).sqrt();
    gained > CLEAR * noise
}

/// Whether squares are less than others of the same rows in more than half of them, by more than
/// the standard error of a fair coin.
fn are_less_in_most(squares_m: &Array1<f64>, than_m: &Array1<f64>) -> bool {
    let m = squares_m.len() as f64;
    let less = squares_m
        .iter()
        .zip(than_m)
        .filter(|(own, than)| own < than);
    less.count() as f64 > 0.5 * (m + CLEAR * m.sqrt())
}
