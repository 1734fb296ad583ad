//! Null distributions whose weights are estimated from few rows.

use super::WeightedChiSquares;
use crate::{Error, Result};

impl WeightedChiSquares {
    /// Corrects for estimation with `nu` degrees of freedom: unbiased estimates of the sums of
    /// powers of the true eigenvalues, for normal rows.
    ///
    /// With `a_k` the traces of powers of the true covariance and `s_k` the traces for the estimate
    /// `S = W / nu`, W Wishart, linear equations give `a_1^2, a_2` from `s_1^2, s_2`, and `a_1^3,
    /// a_1 a_2, a_3` from `s_1^3, s_1 s_2, s_3` (moments of W: Muirhead 1982, section 3.2; moments
    /// with a factor `tr W` by a shift of the covariance).
    ///
    /// Errors with [`Error::Numerical`] if cubes of the trace exceed f64.
    pub(in crate::hypothesis) fn of_sample(&self, nu: f64) -> Result<Self> {
        let [first, second, third] = self.sums;
        if !(first.powi(3).is_finite() && second.is_finite() && third.is_finite()) {
            return Err(Error::numerical(
                "the features vary too much for a test; are the sums damaged?",
            ));
        }
        if !(first > 0.0 && nu > 2.0) {
            return Ok(*self);
        }
        // E s_1^2 = a_1^2 + 2 a_2 / nu and E s_2 = a_1^2 / nu + (1 + 1 / nu) a_2.
        let own = 1.0 + 1.0 / nu - 2.0 / (nu * nu);
        let a2 = (second - first * first / nu) / own;
        let matrix = [
            [1.0, 6.0 / nu, 8.0 / (nu * nu)],
            [
                1.0 / nu,
                1.0 + 1.0 / nu + 4.0 / (nu * nu),
                4.0 * (nu + 1.0) / (nu * nu),
            ],
            [
                1.0 / (nu * nu),
                3.0 * (nu + 1.0) / (nu * nu),
                1.0 + 3.0 / nu + 4.0 / (nu * nu),
            ],
        ];
        let a3 = last_of(matrix, [first.powi(3), first * second, third]);
        // With few rows the solution can leave the range that eigenvalues allow.
        let least = first * first / self.rank(nu);
        let a2 = a2.min(first * first).max(least);
        let a3 = a3.min(first * a2).max(a2 * a2 / first);
        Ok(Self {
            sums: [first, a2, a3],
        })
    }

    /// The sum of the cubes of the weights.
    #[cfg(test)]
    pub(in crate::hypothesis) fn third(&self) -> f64 {
        self.sums[2]
    }

    /// Upper bound on the effective number of directions, `a_1^2 / a_2`, which limits the corrected
    /// sums.
    fn rank(&self, nu: f64) -> f64 {
        let [first, second, _] = self.sums;
        // An estimate is never more even than its matrix; a factor of a hundred is a safe bound.
        100.0 * (first * first / second).max(nu)
    }

    /// Tail probability at `x` of a statistic whose scale was estimated with `nu` degrees of
    /// freedom: its ratio to the mean approximately follows an F distribution with `k = s_1^2 /
    /// s_2` and `nu k` degrees of freedom, and is converted to that of a known scale by cube roots,
    /// which are nearly normal (Paulson 1942; Wilson & Hilferty 1931).
    pub(in crate::hypothesis) fn tail_of_ratio(&self, x: f64, nu: f64) -> f64 {
        let [first, second, _] = self.sums;
        if !(first > 0.0 && second > 0.0) {
            return self.tail(x);
        }
        let k = first * first / second;
        let (own, other) = (2.0 / (9.0 * k), 2.0 / (9.0 * k * nu));
        let root = (x / first).max(0.0).cbrt();
        let normal = ((1.0 - other) * root - (1.0 - own)) / (other * root * root + own).sqrt();
        let known = (normal * own.sqrt() + 1.0 - own).max(0.0);
        self.tail(first * known.powi(3))
    }
}

/// The last unknown of three linear equations, by Cramer's rule.
fn last_of([a, b, c]: [[f64; 3]; 3], right: [f64; 3]) -> f64 {
    let det = |a: [f64; 3], b: [f64; 3], c: [f64; 3]| {
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
    };
    let with = |row: [f64; 3], value: f64| [row[0], row[1], value];
    let [x, y, z] = right;
    det(with(a, x), with(b, y), with(c, z)) / det(a, b, c)
}

#[cfg(test)]
mod tests {
    use super::WeightedChiSquares;

    /// Powers of the largest entries that a file of sums may have are infinite.
    #[test]
    fn covariances_whose_cubes_exceed_f64_are_refused() {
        let of = |sums: [f64; 3]| WeightedChiSquares { sums }.of_sample(10.0);
        assert!(of([2.0, 3.0, 4.5]).is_ok());
        for sums in [
            [1e200, 1e300, 1e300],
            [1.0, f64::INFINITY, 1.0],
            [f64::NAN; 3],
        ] {
            assert!(of(sums).is_err(), "{sums:?}");
        }
        let law = of([1e90, 1e250, 1e270]).expect("odd, and no panic");
        assert!(law.sums.iter().all(|v| !v.is_nan()));
    }
}
