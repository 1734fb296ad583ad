//! How many features ridge regression needs to learn as fast as with the kernel itself.

use crate::{Error, Result};

/// Features and penalty with which ridge regression on random features learns at the rate of kernel
/// ridge regression, up to constants: `D = sqrt(n) ln n`, rounded up to an even number, and
/// `lambda = 1 / sqrt(n)` per sample, the least that the theory asks for where nothing but
/// boundedness is known of the problem (Rudi & Rosasco 2017, "Generalization properties of learning
/// with random features", theorem 1). The kernel has k(x, x) = 1. Returns `(D, lambda)`.
///
/// ```
/// use bochner::analysis::rudi_rosasco;
/// // 100 * ln 10,000 = 921.03
/// assert_eq!(rudi_rosasco(10_000)?, (922, 0.01));
/// # Ok::<(), bochner::Error>(())
/// ```
///
/// Errors with [`Error::Parameter`] of fewer than two rows, whose logarithm is none.
pub fn rudi_rosasco(rows: u64) -> Result<(usize, f64)> {
    if rows < 2 {
        return Err(Error::parameter(format!(
            "the rule sqrt(n) ln n is for two rows or more, and there are {rows}"
        )));
    }
    let n = rows as f64;
    let features = (n.sqrt() * n.ln()).ceil() as usize;
    Ok((features.next_multiple_of(2), 1.0 / n.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_and_penalty_are_their_formulas() {
        // 2 ln 4 = 2.77, 10 ln 100 = 46.05, 1000 ln 10^6 = 13815.5.
        for (rows, features, lambda) in [(4, 4, 0.5), (100, 48, 0.1), (1_000_000, 13_816, 1e-3)] {
            assert_eq!(rudi_rosasco(rows).expect("rows"), (features, lambda));
        }
        assert!(rudi_rosasco(1).is_err() && rudi_rosasco(0).is_err());
    }
}
