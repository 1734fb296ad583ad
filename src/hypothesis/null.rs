//! Distribution of a statistic under the null hypothesis.

mod few_rows;

use crate::{Error, Result, device::CpuDevice, special};
use faer::{Accum, MatMut, MatRef, linalg::matmul::matmul};
use ndarray::Array2;

/// How the p-value of a test is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Null {
    /// By this number of random permutations: exact for any number of rows; p-values are at least
    /// 1/(number + 1).
    Permutation(usize),
    /// By the asymptotic distribution, a [`WeightedChiSquares`] whose weights come from the
    /// covariance of the features: deterministic, and small p-values remain distinct.
    Asymptotic,
}

impl Null {
    /// Errors with [`Error::Parameter`] on 0 permutations.
    pub(super) fn check(self) -> Result<()> {
        match self {
            Self::Permutation(0) => Err(Error::parameter(
                "0 permutations give no p-value; ask for at least 1, such as 500",
            )),
            _ => Ok(()),
        }
    }
}

/// Result of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Test statistic; each test documents its definition.
    pub statistic: f64,
    /// The probability of a statistic at least as large under the null hypothesis.
    pub p_value: f64,
    /// How the p-value was computed.
    pub null: Null,
}

impl Outcome {
    /// Whether the null hypothesis is rejected at `level`, the accepted share of false alarms.
    pub fn rejects(&self, level: f64) -> bool {
        self.p_value <= level
    }

    /// Permutation p-value of the statistic among `others`: (1 + the number at least as large)/(1 +
    /// all of them), valid at every level (Phipson & Smyth 2010).
    pub(super) fn among(statistic: f64, others: &[f64]) -> Self {
        // Sums of the same rows in another order must count as equal.
        let least = statistic * (1.0 - 1e-10);
        let reached = others.iter().filter(|&&other| other >= least).count();
        Self {
            statistic,
            p_value: (1 + reached) as f64 / (1 + others.len()) as f64,
            null: Null::Permutation(others.len()),
        }
    }

    pub(super) fn asymptotic(statistic: f64, law: &WeightedChiSquares) -> Self {
        Self {
            statistic,
            p_value: law.tail(statistic),
            null: Null::Asymptotic,
        }
    }
}

/// Distribution of sum_i w_i X_i with X_i independent, each chi-squared with one degree of freedom:
/// that of |N(0, C)|^2, with the eigenvalues of C as weights.
///
/// Its tail is approximated by a shifted and scaled chi-squared distribution with the same mean,
/// variance and third moment (Hall 1983; Buckley & Eagleson 1988). For weights of one sign it
/// equals the approximation of Liu, Tang & Zhang (2009). It is exact for equal weights; otherwise
/// tails of 0.1 to 0.001 are accurate to a tenth.
///
/// ```
/// use bochner::hypothesis::WeightedChiSquares;
/// let law = WeightedChiSquares::new(&[1.0, 1.0])?;
/// // The chi-squared law with two degrees of freedom.
/// assert!((law.tail(5.991464547) - 0.05).abs() < 1e-9);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedChiSquares {
    /// sum_i w_i^k for k = 1, 2, 3.
    sums: [f64; 3],
}

impl WeightedChiSquares {
    /// From the weights. Errors with [`Error::Parameter`] unless all are finite and none is
    /// negative.
    pub fn new(weights: &[f64]) -> Result<Self> {
        if let Some(bad) = weights.iter().find(|w| !(**w >= 0.0 && w.is_finite())) {
            return Err(Error::parameter(format!(
                "a weight is {bad}; it must be finite and not negative"
            )));
        }
        let sum = |power: i32| weights.iter().map(|w| w.powi(power)).sum();
        Ok(Self {
            sums: [sum(1), sum(2), sum(3)],
        })
    }

    /// With the eigenvalues of the symmetric matrix `c_dd` as weights; only traces of its powers
    /// are needed.
    pub(super) fn of_covariance(c_dd: &Array2<f64>) -> Self {
        let d = c_dd.nrows();
        let c_dd = c_dd.as_standard_layout();
        let c = MatRef::from_row_major_slice(c_dd.as_slice().expect("standard layout"), d, d);
        let mut square_dd = Array2::zeros((d, d));
        matmul(
            MatMut::from_row_major_slice_mut(square_dd.as_slice_mut().expect("standard"), d, d),
            Accum::Replace,
            c,
            c,
            1.0,
            CpuDevice::shared().par(),
        );
        Self {
            sums: [
                c_dd.diag().sum(),
                c_dd.iter().map(|c| c * c).sum(),
                square_dd.iter().zip(&c_dd).map(|(s, c)| s * c).sum(),
            ],
        }
    }

    /// With all products of two weights as weights: the eigenvalues of a Kronecker product.
    pub(super) fn times(&self, other: &Self) -> Self {
        Self {
            sums: std::array::from_fn(|k| self.sums[k] * other.sums[k]),
        }
    }

    /// The mean, sum_i w_i.
    #[doc(hidden)]
    pub fn mean(&self) -> f64 {
        self.sums[0]
    }

    /// The variance, 2 sum_i w_i^2.
    #[doc(hidden)]
    pub fn variance(&self) -> f64 {
        2.0 * self.sums[1]
    }

    /// The probability of a value above `x`.
    pub fn tail(&self, x: f64) -> f64 {
        let [first, second, third] = self.sums;
        if third <= 0.0 {
            // All weights are 0, and so is the sum.
            return if x > 0.0 { 0.0 } else { 1.0 };
        }
        // The cumulants are s_1, 2 s_2, 8 s_3; a chi-squared distribution with nu degrees of
        // freedom has nu, 2 nu, 8 nu, so its skewness is equal for this nu.
        let nu = second * second * second / (third * third);
        special::chi_squared_tail(nu, nu + (x - first) * (nu / second).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};

    #[test]
    fn the_moments_are_those_of_the_matrix() {
        let root = crate::check::normal(5, 5, 3).mapv(f64::from);
        let c_dd = root.dot(&root.t());
        let law = WeightedChiSquares::of_covariance(&c_dd);
        let cube = c_dd.dot(&c_dd).dot(&c_dd);
        for (sum, power) in law.sums.iter().zip([&c_dd, &c_dd.dot(&c_dd), &cube]) {
            assert!((sum / power.diag().sum() - 1.0).abs() < 1e-12);
        }
        assert_eq!(law.variance(), 2.0 * law.sums[1]);
        let one = WeightedChiSquares::new(&[1.0, 2.0]).expect("weights");
        let other = WeightedChiSquares::new(&[3.0, 0.5]).expect("weights");
        let both = WeightedChiSquares::new(&[3.0, 6.0, 0.5, 1.0]).expect("weights");
        assert_eq!(one.times(&other), both);
        assert!(WeightedChiSquares::new(&[-1.0]).is_err());
        assert!(WeightedChiSquares::new(&[f64::NAN]).is_err());
    }

    /// 200,000 draws each: the tail probability is known to a few per cent at 0.001.
    #[test]
    fn tails_are_those_of_simulated_sums() {
        const DRAWS: usize = 200_000;
        let geometric = |ratio: f64, n: i32| (0..n).map(|i| ratio.powi(i)).collect::<Vec<_>>();
        let mut lopsided = vec![0.01; 30];
        lopsided.push(1.0);
        for weights in [
            vec![2.0],
            vec![1.0; 7],
            geometric(0.5, 12),
            geometric(0.9, 60),
            lopsided,
            (1..=25).map(|i| 1.0 / f64::from(i * i)).collect(),
        ] {
            let law = WeightedChiSquares::new(&weights).expect("weights");
            let mut draws = Seed(5).stream(Stream::Data, 0);
            let mut one = || weights.iter().map(|w| w * draws.normal().powi(2)).sum();
            let mut sums: Vec<f64> = (0..DRAWS).map(|_| one()).collect();
            sums.sort_unstable_by(f64::total_cmp);
            for share in [0.5, 0.1, 0.05, 0.01, 0.001] {
                let beyond = (share * DRAWS as f64) as usize;
                let tail = law.tail(sums[DRAWS - 1 - beyond]);
                let noise = 4.0 * (share * (1.0 - share) / DRAWS as f64).sqrt();
                let error = (tail - share).abs();
                assert!(
                    error < noise + 0.1 * share,
                    "{} weights from {}: {tail} for {share}",
                    weights.len(),
                    weights[0]
                );
            }
        }
    }

    /// Equal weights give a chi-squared distribution times the weight.
    #[test]
    fn tails_of_equal_weights_are_exact() {
        for w in [0.3, 1.0, 2.0] {
            let law = |n: usize| WeightedChiSquares::new(&vec![w; n]).expect("weights");
            for x in [0.1, 1.0, 4.0, 15.0] {
                let half = x / (2.0 * w);
                // With 1, 2 and 4 degrees of freedom.
                for (n, tail) in [
                    (1, libm::erfc(half.sqrt())),
                    (2, (-half).exp()),
                    (4, (-half).exp() * (1.0 + half)),
                ] {
                    let ratio = law(n).tail(x) / tail;
                    assert!(
                        (ratio - 1.0).abs() < 1e-9,
                        "{n} weights {w} at {x}: {ratio}"
                    );
                }
            }
        }
    }

    #[test]
    fn without_any_spread_only_zero_is_likely() {
        let nothing = WeightedChiSquares::new(&[0.0, 0.0]).expect("weights");
        assert_eq!((nothing.tail(0.0), nothing.tail(1e-9)), (1.0, 0.0));
    }

    #[test]
    fn p_values_count_ties_and_are_never_zero() {
        let p = |statistic, others: &[f64]| Outcome::among(statistic, others).p_value;
        assert_eq!(p(5.0, &[1.0, 2.0, 3.0]), 0.25);
        assert_eq!(p(2.0, &[1.0, 2.0 - 1e-15, 3.0]), 0.75);
        assert_eq!(p(0.0, &[0.0; 9]), 1.0);
        assert!(Null::Permutation(0).check().is_err());
    }
}
