//! The bound of Nystrom's approximation.

use super::{positive, require_confidence, too_many};
use crate::{Error, Result};

/// How an error of the kernel matrix is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NystromNorm {
    /// The spectral norm.
    Spectral,
    /// The Frobenius norm, of an approximation of the given rank.
    Frobenius {
        /// k.
        rank: usize,
    },
}

/// What Nystrom's approximation K~ of rank k adds at most, with probability `confidence`, to the
/// error of the best of rank k, in units of sum_i K_ii^2: epsilon in `|K - K~| <= |K - K_k| +
/// epsilon sum_i K_ii^2` (Drineas & Mahoney 2005, theorem 3), with eta = 1 + sqrt(8 ln(1/(1 -
/// confidence))): 2 eta/sqrt m in the spectral norm, and (64 k eta^2/m)^(1/4) in the Frobenius
/// norm.
///
/// It is for landmarks drawn with replacement in proportion to K_ii^2: uniformly where k depends on
/// differences of rows, when sum_i K_ii^2 = n. Landmarks that look at the data do better by far.
///
/// The form is that of the paper's abstract. The constants rest on its bound of a sampled product,
/// `|XX' - SS'|_F <= eta/sqrt m sum_i K_ii^2` with S the m columns of X that were drawn, scaled
/// (Drineas, Kannan & Mahoney 2006, theorem 1), which a test measures: the spectral norm takes it
/// twice.
///
/// ```
/// use bochner::analysis::{NystromNorm, nystrom_excess};
/// // 2 (1 + sqrt(8 ln 100))/sqrt 10,000
/// assert!((nystrom_excess(NystromNorm::Spectral, 10_000, 0.99)? - 0.141394).abs() < 1e-6);
/// # Ok::<(), bochner::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`] unless `confidence` lies in (0, 1) and there are landmarks, as many as the
/// rank at least, which is at least 1.
pub fn nystrom_excess(norm: NystromNorm, landmarks: usize, confidence: f64) -> Result<f64> {
    require_confidence(confidence)?;
    require_rank(norm)?;
    let least = match norm {
        NystromNorm::Spectral => 1,
        NystromNorm::Frobenius { rank } => rank,
    };
    if landmarks < least {
        return Err(Error::parameter(format!(
            "{landmarks} landmarks; at least {least} are needed for this rank"
        )));
    }
    let (m, eta) = (landmarks as f64, eta(confidence));
    Ok(match norm {
        NystromNorm::Spectral => 2.0 * eta / m.sqrt(),
        NystromNorm::Frobenius { rank } => (64.0 * rank as f64 * eta * eta / m).sqrt().sqrt(),
    })
}

/// The least number of landmarks for which [`nystrom_excess`] is at most `excess`: 4 eta^2/excess^2
/// in the spectral norm, 64 k eta^2/excess^4 in the Frobenius norm, and no fewer than the rank.
///
/// # Errors
/// [`Error::Parameter`] unless `excess` is positive and finite, and as [`nystrom_excess`];
/// [`Error::Limit`] when more than 2^53 landmarks would be needed.
pub fn nystrom_landmarks(norm: NystromNorm, excess: f64, confidence: f64) -> Result<usize> {
    require_confidence(confidence)?;
    require_rank(norm)?;
    if !positive(excess) {
        return Err(Error::parameter(format!(
            "the excess is {excess}; it must be positive and finite"
        )));
    }
    let eta = eta(confidence);
    let (needed, least) = match norm {
        NystromNorm::Spectral => (4.0 * (eta / excess).powi(2), 1),
        NystromNorm::Frobenius { rank } => (64.0 * rank as f64 * eta * eta / excess.powi(4), rank),
    };
    let needed = needed.ceil();
    if needed > (1_u64 << 53) as f64 {
        return Err(too_many(excess, needed));
    }
    Ok((needed as usize).max(least))
}

fn eta(confidence: f64) -> f64 {
    1.0 + (-8.0 * (1.0 - confidence).ln()).sqrt()
}

fn require_rank(norm: NystromNorm) -> Result<()> {
    match norm {
        NystromNorm::Frobenius { rank: 0 } => {
            Err(Error::parameter("the rank is 0; it must be at least 1"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};
    use ndarray::Array2;

    /// `|XX' - SS'|_F` of rows of length 1, all of it from K = X'X: a share of `1 - confidence` is
    /// beyond eta/sqrt m at most, and the mean is `sqrt(1 - |K|_F^2/n^2)/sqrt m`, so that no
    /// smaller factor than 1 could stand before the two.
    #[test]
    fn a_sampled_product_is_as_far_off_as_the_bound_assumes() {
        let (n, m, repetitions) = (50, 80, 2000);
        let apart = |i: usize, j: usize| (i as f64 - j as f64) / 1.2;
        let k = Array2::from_shape_fn((n, n), |(i, j)| (-0.5 * apart(i, j).powi(2)).exp());
        let k = &k;
        let (of_all, share) = (k.fold(0.0, |s, v| s + v * v), n as f64 / m as f64);
        let errors: Vec<f64> = (0..repetitions)
            .map(|block| {
                let mut draws = Seed(5).stream(Stream::Landmarks, block);
                let drawn: Vec<_> = (0..m).map(|_| draws.below(n as u64) as usize).collect();
                let crossed: f64 = drawn.iter().map(|&i| k.row(i).dot(&k.row(i))).sum();
                let pairs = drawn
                    .iter()
                    .flat_map(|i| drawn.iter().map(move |j| k[[*i, *j]]));
                let own: f64 = pairs.map(|v| v * v).sum();
                (of_all - 2.0 * share * crossed + share * share * own).sqrt() / n as f64
            })
            .collect();
        let square = errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64;
        let expected = (1.0 - of_all / (n * n) as f64) / m as f64;
        assert!(
            (square / expected - 1.0).abs() < 0.02,
            "{square} {expected}"
        );
        for confidence in [0.1, 0.5, 0.9] {
            let most = nystrom_excess(NystromNorm::Spectral, m, confidence).expect("fine") / 2.0;
            let beyond = errors.iter().filter(|e| **e > most).count() as f64;
            assert!(beyond <= (1.0 - confidence) * errors.len() as f64);
            // The bound is a constant away, not a power of m.
            assert!(square.sqrt() > most / 6.0, "{confidence}: {square} {most}");
        }
    }

    #[test]
    fn bounds_are_the_formulas() {
        let eta = 1.0 + (8.0 * 20_f64.ln()).sqrt();
        let frobenius = NystromNorm::Frobenius { rank: 3 };
        let excess = |norm| nystrom_excess(norm, 400, 0.95).expect("fine");
        assert!((excess(NystromNorm::Spectral) / (2.0 * eta / 20.0) - 1.0).abs() < 1e-13);
        let closed = (64.0 * 3.0 * eta * eta / 400.0).powf(0.25);
        assert!((excess(frobenius) / closed - 1.0).abs() < 1e-13);
        for norm in [NystromNorm::Spectral, frobenius] {
            for wanted in [0.05, 0.3, 2.0] {
                let m = nystrom_landmarks(norm, wanted, 0.9).expect("fine");
                let excess = |m| nystrom_excess(norm, m, 0.9).expect("fine");
                assert!(excess(m) <= wanted * (1.0 + 1e-12));
                assert!(m <= 3 || excess(m - 1) > wanted, "{norm:?} {wanted} {m}");
            }
        }
        assert!(nystrom_excess(frobenius, 2, 0.9).is_err());
        assert!(nystrom_excess(NystromNorm::Spectral, 0, 0.9).is_err());
        assert!(nystrom_excess(NystromNorm::Spectral, 9, 1.0).is_err());
        assert!(nystrom_landmarks(NystromNorm::Frobenius { rank: 0 }, 0.1, 0.9).is_err());
        assert!(nystrom_landmarks(NystromNorm::Spectral, 0.0, 0.9).is_err());
        assert!(nystrom_landmarks(frobenius, 1e-9, 0.9).is_err());
    }
}
