//! The uniform bound of random binning.

use super::{positive, require_confidence, require_error};
use crate::{Error, Result, error::Remedy, kernels::Kernel};

/// All pairs of rows at once in a set of the given diameter, for `P` grids of random binning
/// (Rahimi & Recht 2007, claim 2): the estimate is off by eps or more somewhere with probability at
/// most `36 d P alpha diam exp(-(P eps^2/8 + ln(eps/L))/(d + 1))`. alpha = E 1/delta over the
/// pitches and L, the Lipschitz constant of k in the L1 norm, are both the slope of k at 0.
///
/// The statement is one at unit lengthscale, for `ln(eps/L)` has a unit. Its constants were held
/// against a derivation, not against a copy of the paper: counting the cells of P grids bounds the
/// same probability by Devroye's inequality (1982), and from a diameter of 1 on that bound is below
/// this one wherever this one says something.
///
/// ```
/// use bochner::{analysis::BinningBound, kernels::Laplacian};
/// let bound = BinningBound::new(&Laplacian, 2, 3.0)?;
/// let grids = bound.grids_for(0.1, 0.99)?;
/// assert!(bound.failure_probability(grids, 0.1)? <= 0.01);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BinningBound {
    columns: f64,
    slope: f64,
    diameter: f64,
}

impl BinningBound {
    /// The bound for `kernel` on rows of `columns` columns, no two of them farther apart than
    /// `diameter`, at unit lengthscale.
    ///
    /// Errors with [`Error::Unsupported`] on a kernel that random binning does not serve, and with
    /// [`Error::Parameter`] unless columns and diameter are positive and finite.
    pub fn new(kernel: &dyn Kernel, columns: usize, diameter: f64) -> Result<Self> {
        let slope = kernel.slope_at_zero().ok_or_else(|| {
            let problem = format!("random binning does not serve {}", kernel.spec());
            Error::unsupported(problem).help(Remedy::UseKernel("laplacian"))
        })?;
        if columns == 0 || !positive(diameter) {
            return Err(Error::parameter(format!(
                "the bound of binning needs columns and a finite diameter, both positive, not \
                 {columns} and {diameter}"
            )));
        }
        Ok(Self {
            columns: columns as f64,
            slope,
            diameter,
        })
    }

    /// The bound on the probability that some estimate of k is off by `error` or more with `grids`
    /// grids; may exceed 1, where it says nothing.
    ///
    /// Errors with [`Error::Parameter`] unless `error` is positive and finite.
    pub fn failure_probability(&self, grids: usize, error: f64) -> Result<f64> {
        require_error(error)?;
        Ok(self.log_bound(grids as f64, error).exp())
    }

    /// The least number of grids from which on the bound promises an error below `error` with
    /// probability `confidence`.
    ///
    /// Errors as [`features_for`](super::features_for) does.
    pub fn grids_for(&self, error: f64, confidence: f64) -> Result<usize> {
        require_error(error)?;
        require_confidence(confidence)?;
        let target = (1.0 - confidence).ln();
        let fine = |grids: f64| self.log_bound(grids, error) <= target;
        // P exp(-P r) rises up to P = 1/r and falls from there on.
        let mut low = (8.0 * (self.columns + 1.0) / (error * error))
            .floor()
            .max(1.0);
        if low == 1.0 && fine(low) {
            return Ok(1);
        }
        let most = (1_u64 << 53) as f64;
        let mut high = 2.0 * low;
        while !fine(high) {
            low = high;
            high *= 2.0;
            if high > most {
                return Err(super::too_many(error, high));
            }
        }
        while high - low > 1.0 {
            let middle = ((low + high) / 2.0).floor();
            if fine(middle) {
                high = middle
            } else {
                low = middle
            }
        }
        Ok(high as usize)
    }

    fn log_bound(&self, grids: f64, error: f64) -> f64 {
        let front = 36.0 * self.columns * grids * self.slope * self.diameter;
        let rate = grids * error * error / 8.0 + (error / self.slope).ln();
        front.ln() - rate / (self.columns + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Gaussian, Hat, Laplacian};

    #[test]
    fn the_bound_is_the_formula() {
        let bound = BinningBound::new(&Laplacian, 3, 2.0).expect("binned");
        let p = bound.failure_probability(2000, 0.2).expect("fine");
        // 36 * 3 * 2000 * 1 * 2 * exp(-(2000 * 0.04/8 + ln 0.2)/4)
        let closed = 432_000.0 * (-(10.0 + 0.2_f64.ln()) / 4.0).exp();
        assert!((p / closed - 1.0).abs() < 1e-13, "{p} {closed}");
        assert!(BinningBound::new(&Hat, 3, 2.0).is_ok());
        // A kernel twice as steep: 36 * 3 * 2000 * 2 * 2 * exp(-(10 + ln 0.1)/4).
        let steep = BinningBound {
            slope: 2.0,
            ..bound
        };
        let p = steep.failure_probability(2000, 0.2).expect("fine");
        let closed = 864_000.0 * (-(10.0 + 0.1_f64.ln()) / 4.0).exp();
        assert!((p / closed - 1.0).abs() < 1e-13, "{p} {closed}");
        let error = BinningBound::new(&Gaussian, 3, 2.0).expect_err("not convex");
        assert!(error.to_string().contains("laplacian"), "{error}");
        assert!(BinningBound::new(&Laplacian, 0, 2.0).is_err());
        assert!(BinningBound::new(&Laplacian, 1, f64::INFINITY).is_err());
        assert!(bound.failure_probability(10, 0.0).is_err());
    }

    /// Devroye (1982): the share of n draws that fall into a set is off by eps somewhere in a class
    /// of sets with probability at most `4 exp(4 eps + 4 eps^2) S exp(-2 n eps^2)`, S the number of
    /// ways in which the class parts n^2 draws. Here a draw is a grid and a set holds the grids
    /// that put two rows into one bin. What pairs of rows can do to n^2 grids depends on the cells
    /// that these cut each column into, `1 + n^2 alpha diam` on the average: at most t times as
    /// many cuts in all d columns but for a probability of d/t, of which symmetrisation makes 4 at
    /// most.
    #[test]
    fn counting_cells_gives_no_larger_bound() {
        let mut said = 0;
        for d in [1_usize, 2, 5, 20] {
            for diameter in [1.0, 3.0, 40.0] {
                for error in [0.02, 0.1, 0.4, 0.8] {
                    let bound = BinningBound::new(&Laplacian, d, diameter).expect("binned");
                    let least = bound.grids_for(error, 0.5).expect("fine");
                    for grids in [least, 2 * least, 20 * least] {
                        let (n, d) = (grids as f64, d as f64);
                        let ours = bound.log_bound(n, error);
                        // Half of ours for each of the two parts.
                        let ln_t = (8.0 * d).ln() - ours;
                        let ln_cells = ln_t + (n * n * diameter).ln();
                        let counted = 4_f64.ln()
                            + 4.0 * error * (1.0 + error)
                            + 2.0 * d * (ln_cells + (-ln_cells).exp())
                            - 2.0 * n * error * error;
                        assert!(
                            counted <= ours - 2_f64.ln(),
                            "{d} {diameter} {error} {grids}"
                        );
                        said += 1;
                    }
                }
            }
        }
        assert_eq!(said, 144);
    }

    #[test]
    fn the_number_of_grids_is_the_least_that_keeps_the_promise() {
        for (columns, diameter) in [(1, 0.5), (4, 10.0), (50, 3.0)] {
            let bound = BinningBound::new(&Laplacian, columns, diameter).expect("binned");
            for (error, confidence) in [(0.3, 0.9), (0.02, 0.999)] {
                let grids = bound.grids_for(error, confidence).expect("fine");
                let p = |grids| bound.failure_probability(grids, error).expect("fine");
                let allowed = (1.0 - confidence) * (1.0 + 1e-12);
                assert!(p(grids) <= allowed && p(grids - 1) > 1.0 - confidence);
                assert!((1..6).all(|k| p(grids * (1 + k)) <= allowed));
            }
        }
        let bound = BinningBound::new(&Laplacian, 2, 1.0).expect("binned");
        assert!(bound.grids_for(0.1, 1.0).is_err() && bound.grids_for(1e-9, 0.9).is_err());
    }
}
