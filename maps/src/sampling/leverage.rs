//! Frequencies resampled by leverage score.

use super::Frequencies;
use crate::{
    error::{Error, Result},
    seed::{Seed, Stream},
};
use ndarray::Axis;

/// Draws `s` of the frequencies in `pool` with probability q_i proportional to `scores`, and
/// weights each by (1/s_0)/q_i, so that the weighted estimate of k has the pool's own as its
/// expectation (Bach 2017, sec. 4; Li, Ton, Oglic & Sejdinovic 2019, algorithm 1). A feature is
/// multiplied by the square root of its weight.
///
/// `scores[i]` is the leverage score of frequency i, p_i = diag(Z'Z ((1/s_0) Z'Z + n lambda I)^-1),
/// for the paired form the sum over its two columns; any positive numbers are as unbiased. The
/// draws are stratified: one in each of s equal parts of the cumulative score, so that a frequency
/// with s q_i = 2 comes once to three times, never not at all.
///
/// # Errors
/// [`Error::Shape`] unless there is one score per frequency and `s` > 0; [`Error::Parameter`] when
/// a score is negative or not finite, or all are 0.
#[doc(hidden)]
pub fn leverage_resample(
    pool: &Frequencies,
    scores: &[f64],
    s: usize,
    seed: Seed,
) -> Result<Frequencies> {
    let s0 = pool.omega_sd.nrows();
    if scores.len() != s0 || s == 0 {
        return Err(Error::shape(format!(
            "resampling needs one score for each of {s0} frequencies, and at least one to keep; \
             got {} scores, {s} to keep",
            scores.len()
        )));
    }
    let total: f64 = scores.iter().sum();
    let bad = scores.iter().position(|&p| !(p >= 0.0 && p.is_finite()));
    if bad.is_some() || !(total > 0.0 && total.is_finite()) {
        return Err(Error::parameter(format!(
            "leverage scores must be non-negative numbers that do not all vanish; number {} is {}",
            bad.unwrap_or(0),
            scores.get(bad.unwrap_or(0)).copied().unwrap_or(f64::NAN)
        )));
    }
    let mut draws = seed.stream(Stream::Leverage, 0);
    let (mut kept, mut i, mut below) = (Vec::with_capacity(s), 0, scores[0]);
    for l in 0..s {
        let target = (l as f64 + draws.uniform()) / s as f64 * total;
        // Rounding may leave the sum of all scores a hair below the last target.
        while below <= target && i + 1 < s0 {
            i += 1;
            below += scores[i];
        }
        kept.push(i);
    }
    // The walk's last step may have passed trailing scores of 0, which are never to be drawn.
    let last = scores.iter().rposition(|&p| p > 0.0).unwrap_or(0);
    kept.iter_mut().for_each(|i| *i = (*i).min(last));
    let pick = |values: &[f64]| kept.iter().map(|&i| values[i]).collect::<Vec<f64>>();
    let before = |i: usize| pool.weights.as_ref().map_or(1.0, |w| w[i]);
    let weight = |&i: &usize| before(i) * total / (s0 as f64 * scores[i]);
    Ok(Frequencies {
        omega_sd: pool.omega_sd.select(Axis(0), &kept),
        phases: pool.phases.as_deref().map(pick),
        weights: Some(kept.iter().map(weight).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernels::{Gaussian, Kernel},
        sampling::Sampling,
    };

    #[test]
    fn weights_leave_the_estimate_unbiased() {
        let (s0, s, runs) = (60, 20, 400);
        let pool = Sampling::MonteCarlo
            .draw(Gaussian.spectrum().unwrap(), 2, s0, true, Seed(1))
            .unwrap();
        let scores: Vec<f64> = (0..s0).map(|i| 0.2 + (i % 7) as f64).collect();
        let estimate = |drawn: &Frequencies| {
            let rows = drawn.omega_sd.rows().into_iter().enumerate();
            let terms = rows.map(|(l, omega)| {
                drawn.weights.as_ref().map_or(1.0, |w| w[l]) * libm::cos(omega[0] - 0.5 * omega[1])
            });
            terms.sum::<f64>() / drawn.omega_sd.nrows() as f64
        };
        let truth = estimate(&pool);
        let errors: Vec<f64> = (0..runs)
            .map(|seed| {
                estimate(&leverage_resample(&pool, &scores, s, Seed(seed)).unwrap()) - truth
            })
            .collect();
        let mean = errors.iter().sum::<f64>() / runs as f64;
        let variance = errors.iter().map(|e| e * e).sum::<f64>() / runs as f64;
        assert!(mean.abs() < 4.0 * (variance / runs as f64).sqrt(), "{mean}");
        assert!(variance > 1e-4);
    }

    #[test]
    fn rows_keep_their_offsets_and_bad_scores_are_refused() {
        let pool = Sampling::MonteCarlo
            .draw(Gaussian.spectrum().unwrap(), 2, 3, true, Seed(1))
            .unwrap();
        let one = leverage_resample(&pool, &[0.0, 5.0, 0.0], 4, Seed(2)).unwrap();
        for l in 0..4 {
            assert_eq!(one.omega_sd.row(l), pool.omega_sd.row(1));
            assert_eq!(
                one.phases.as_ref().unwrap()[l],
                pool.phases.as_ref().unwrap()[1]
            );
            assert!((one.weights.as_ref().unwrap()[l] - 1.0 / 3.0).abs() < 1e-15);
        }
        let again = leverage_resample(&one, &[1.0; 4], 4, Seed(3)).unwrap();
        assert_eq!(again.weights, one.weights);
        for bad in [
            &[1.0, 2.0][..],
            &[0.0; 3],
            &[1.0, -1.0, 1.0],
            &[f64::NAN, 1.0, 1.0],
        ] {
            assert!(leverage_resample(&pool, bad, 4, Seed(0)).is_err());
        }
    }
}
