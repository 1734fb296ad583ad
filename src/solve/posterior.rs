//! Gaussian process regression in feature space: posterior of the coefficients and marginal
//! likelihood, both from one eigendecomposition of the sums.

#[cfg(test)]
mod tests;

use super::LambdaPath;
use crate::{
    Error, Result,
    model::{Coefficients, Spread},
    normal::NormalEquations,
};
use ndarray::Array1;
use std::f64::consts::TAU;

/// The evidence for a Gaussian process `y = f(x) + e`, `f = z(x)'beta`, with prior `beta ~ N(0,
/// signal I)` and noise `e ~ N(0, noise)`, prepared for all values of the two variances. Since
/// z(x)'z(y) approximates k(x, y), f has the covariance `signal k(x, y)` (Rasmussen & Williams
/// 2006, section 2.1).
///
/// With an intercept, which has a flat prior, the likelihood is that of the contrasts of y, the n -
/// 1 combinations that are invariant under constants (restricted maximum likelihood).
///
/// A row of weight w has the noise `noise / w`: with R the diagonal of the roots of the weights, R
/// y is a process on the features R Z with equal noise, and densities of y are `|R|` times the
/// densities of R y. The row counts as one of the n rows for any weight.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// The eigendecomposition, shared with ridge regression.
    path: LambdaPath,
    /// Squares of centred targets, `[t]`.
    square_t: Array1<f64>,
    /// Number of rows in the likelihood.
    counted: f64,
    /// Contribution of the weights of the rows to the log likelihood of a target.
    of_weights: f64,
    /// Smallest ratio that is distinguishable from zero.
    least: f64,
    intercept: bool,
}

/// Two variances: of f at a row where k(x, x) = 1, and of the noise of each target.
#[derive(Debug, Clone, PartialEq)]
pub struct Variances {
    /// `noise / signal`, the penalty `lambda n` of ridge regression with the same mean.
    pub ratio: f64,
    /// Variance of the noise, `[t]`.
    pub noise_t: Array1<f64>,
}

impl Variances {
    /// Variance of f where k(x, x) = 1, `[t]`.
    pub fn signal_t(&self) -> Array1<f64> {
        &self.noise_t / self.ratio
    }
}

/// Given values of the two variances.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KnownVariances {
    /// Variance of the noise, if given.
    pub noise: Option<f64>,
    /// Variance of f where k(x, x) = 1, if given.
    pub signal: Option<f64>,
}

/// For a constant target: a tiny variance with a finite logarithm.
const LEAST_MISFIT: f64 = 1e-290;
/// A target counts as constant if its squares about the mean are at most this share of its squares.
const CONSTANT: f64 = 1e-13;
/// Number of ratios on the grid, before the best is refined.
const GRID: usize = 81;
/// Final length of the interval of the log ratio.
const FINE: f64 = 1e-6;

impl Evidence {
    /// Decomposes the sums. Directions whose eigenvalue is at most [`LambdaPath::CUTOFF`] of the
    /// trace are treated as constant.
    ///
    /// Errors if there are no rows (or a single one with an intercept), with [`Error::Data`] on a
    /// row of weight 0, and on sums that are not finite.
    pub fn new(sums: &NormalEquations, intercept: bool) -> Result<Self> {
        Self::of_rows(sums, sums.rows as f64, sums.log_weight, intercept)
    }

    /// As [`Self::new`] with frequency weights: a row of weight w equals w rows of weight 1 and
    /// equal targets; N is the sum of all weights.
    #[doc(hidden)]
    pub fn counting(sums: &NormalEquations, intercept: bool) -> Result<Self> {
        Self::of_rows(sums, sums.weight, 0.0, intercept)
    }

    fn of_rows(
        sums: &NormalEquations,
        rows: f64,
        log_weight: f64,
        intercept: bool,
    ) -> Result<Self> {
        let n = sums.weight;
        let counted = if intercept { rows - 1.0 } else { rows };
        if counted < 1.0 {
            return Err(Error::shape(format!(
                "{rows} {} nothing of a variance; give at least {}",
                if rows == 1.0 { "row says" } else { "rows say" },
                if intercept { 2 } else { 1 }
            )));
        }
        if !log_weight.is_finite() {
            let problem = "a row of weight 0 has a noise without bound; leave it out";
            return Err(Error::data("weights", problem));
        }
        // The constant is projected out of R y along R 1, and out of y along 1.
        let along = if intercept { (n / rows).ln() } else { 0.0 };
        let mut path = LambdaPath::new(sums, intercept)?;
        // For a smooth kernel, the eigenvalues of f32 sums after the first few are rounding errors,
        // proportional to the trace. Treated as features, these directions would fit any targets,
        // and the most likely noise would be zero.
        let left = path.eigen.values_n.sum();
        let all = sums.gram_dd.diag().sum();
        // If features are equal in all rows, centring leaves only rounding errors.
        let varies = left > LambdaPath::CUTOFF * all;
        let least = if varies {
            LambdaPath::CUTOFF * left
        } else {
            left
        };
        let each = path.eigen.values_n.iter_mut();
        for (s, mut c) in each.zip(path.projected_pt.rows_mut()) {
            if *s <= least {
                *s = 0.0;
                c.fill(0.0);
            }
        }
        let mut square_t = &sums.y_square_t - &(&path.y_mean_t * &path.y_mean_t * n);
        for (k, square) in square_t.iter_mut().enumerate() {
            if *square <= CONSTANT * sums.y_square_t[k] {
                *square = 0.0;
                path.projected_pt.column_mut(k).fill(0.0);
            }
        }
        Ok(Self {
            square_t,
            path,
            counted,
            of_weights: 0.5 * (log_weight - along),
            least,
            intercept,
        })
    }

    /// `noise y'K^-1 y` of each target, with K the covariance of y at this ratio.
    fn misfit_t(&self, ratio: f64) -> Array1<f64> {
        let mut misfit_t = self.square_t.clone();
        let projected = self.path.projected_pt.rows().into_iter();
        for (row, s) in projected.zip(&self.path.eigen.values_n) {
            for (m, c) in misfit_t.iter_mut().zip(row) {
                *m -= c * c / (s + ratio);
            }
        }
        // For a perfect fit only rounding errors of the squares are left.
        for (m, y) in misfit_t.iter_mut().zip(&self.square_t) {
            *m = m.max(y * f64::EPSILON).max(LEAST_MISFIT);
        }
        misfit_t
    }

    /// Noise of each target at a ratio: as given, or with maximum likelihood.
    fn noise_t(&self, ratio: f64, known: KnownVariances) -> Array1<f64> {
        match (known.noise, known.signal) {
            (Some(noise), _) => Array1::from_elem(self.square_t.len(), noise),
            (None, Some(signal)) => Array1::from_elem(self.square_t.len(), signal * ratio),
            (None, None) => self.misfit_t(ratio) / self.counted,
        }
    }

    /// `log p(y | x)`, summed over targets: `-1/2 (y'K^-1 y + log |K| + N log 2 pi)`, `K = signal Z
    /// Z' + noise W^-1` with W the diagonal of the weights.
    pub fn log_marginal_likelihood(&self, variances: &Variances) -> f64 {
        self.log_marginal_likelihood_t(variances).iter().sum()
    }

    /// As [`Self::log_marginal_likelihood`], for each target.
    fn log_marginal_likelihood_t(&self, variances: &Variances) -> Vec<f64> {
        let Variances { ratio, noise_t } = variances;
        let stretch: f64 = self
            .path
            .eigen
            .values_n
            .iter()
            .map(|s| (s / ratio).ln_1p())
            .sum();
        let each = self.misfit_t(*ratio) / noise_t;
        let each = each
            .iter()
            .zip(noise_t)
            .map(|(misfit, noise)| -0.5 * (misfit + self.counted * (TAU * noise).ln() + stretch));
        each.map(|target| target + self.of_weights).collect()
    }

    /// Maximises the marginal likelihood over the variances that are not given. The ratio is shared
    /// by all targets, and at least [`LambdaPath::CUTOFF`] of the trace of Z'Z, which is n if k(x,
    /// x) = 1.
    ///
    /// Errors if a given variance is not positive and finite, and if the targets or the features do
    /// not vary, so that the variances are undetermined.
    pub fn maximize(&self, known: KnownVariances) -> Result<Variances> {
        for (what, value) in [("noise", known.noise), ("signal", known.signal)] {
            if let Some(value) = value
                && !(value > 0.0 && value.is_finite())
            {
                return Err(Error::parameter(format!(
                    "the variance of the {what} is {value}; it must be positive and finite"
                )));
            }
        }
        let at = |ratio: f64| Variances {
            ratio,
            noise_t: self.noise_t(ratio, known),
        };
        if let (Some(noise), Some(signal)) = (known.noise, known.signal) {
            return Ok(at(noise / signal));
        }
        if self.square_t.iter().all(|&square| square <= 0.0) {
            // A perfect fit at any ratio.
            return Ok(at(self.least.max(f64::MIN_POSITIVE)));
        }
        let largest = self.path.eigen.values_n.first().copied().unwrap_or(0.0);
        if largest <= 0.0 {
            return Err(Error::numerical(
                "the features are the same in all rows, so nothing is known of the signal",
            ));
        }
        // From a ratio at the rounding error to one that dominates every feature.
        let (low, high) = (self.least.ln(), (largest * 1e4).ln());
        let step = (high - low) / (GRID - 1) as f64;
        // A constant target has no information about the ratio.
        let value = |log: f64| -> f64 {
            let likelihood_t = self.log_marginal_likelihood_t(&at(log.exp()));
            let each = likelihood_t.iter().zip(&self.square_t);
            each.filter(|(_, square)| **square > 0.0)
                .map(|(l, _)| l)
                .sum()
        };
        let best = (0..GRID).map(|i| low + step * i as f64);
        let best = best.max_by(|&a, &b| value(a).total_cmp(&value(b)));
        let best = best.unwrap_or(low);
        let (from, to) = ((best - step).max(low), best + step);
        Ok(at(golden_section(from, to, value).exp()))
    }

    /// The posterior at these variances. Errors unless their ratio is positive and finite.
    pub fn posterior(&self, variances: &Variances) -> Result<Posterior> {
        let path = &self.path;
        let lambda = variances.ratio / path.n;
        let root_d = path
            .eigen
            .values_n
            .mapv(|s| 1.0 / (s + variances.ratio).sqrt());
        // V diag(1 / sqrt(s + r)): a square root of (Z'Z + r I)^-1.
        let root_dd = &path.eigen.vectors_nn * &root_d;
        Ok(Posterior {
            coefficients: path.coefficients(lambda)?,
            spread: Spread {
                shift_d: path.z_mean_d.dot(&root_dd),
                root_dd,
                noise_t: variances.noise_t.clone(),
                intercept: if self.intercept { 1.0 / path.n } else { 0.0 },
            },
        })
    }

    /// `N(r) = sum s / (s + r)`: the effective number of features. Errors unless the ratio is
    /// positive and finite.
    pub fn effective_dimension(&self, ratio: f64) -> Result<f64> {
        self.path.effective_dimension(ratio / self.path.n)
    }
}

/// Mean and variance of the coefficients given the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// The mean, equal to ridge regression.
    pub coefficients: Coefficients,
    /// The covariance.
    pub spread: Spread,
}

/// Maximises a unimodal function between `low` and `high`.
fn golden_section(mut low: f64, mut high: f64, value: impl Fn(f64) -> f64) -> f64 {
    let share = (5_f64.sqrt() - 1.0) / 2.0;
    let mut left = high - share * (high - low);
    let mut right = low + share * (high - low);
    let (mut at_left, mut at_right) = (value(left), value(right));
    while high - low > FINE {
        if at_left < at_right {
            (low, left, at_left) = (left, right, at_right);
            right = low + share * (high - low);
            at_right = value(right);
        } else {
            (high, right, at_right) = (right, left, at_left);
            left = high - share * (high - low);
            at_left = value(left);
        }
    }
    f64::midpoint(low, high)
}
