//! How well a set of frequencies integrates over a box, in closed form.

use super::Frequencies;
use crate::{
    error::{Error, Result},
    special,
};
use rayon::prelude::*;
use std::f64::consts::{FRAC_PI_2, PI};

/// The mean over Delta in the box prod_j \[-b_j, b_j\] of |k(Delta) - (1/s) sum_l w_l exp(i omega_l
/// . Delta)|^2 for the Gaussian kernel with omega_j ~ N(0, `deviations[j]`^2): (pi^d / prod b_j)
/// times the squared box discrepancy (Avron, Sindhwani, Yang & Mahoney 2016). `half_widths` are the
/// b_j. Takes s^2 d time.
///
/// Independent frequencies have (1 - mean of k^2 over the box)/s as their expectation.
///
/// # Errors
/// [`Error::Shape`] unless `deviations` and `half_widths` have one entry per column;
/// [`Error::Parameter`] unless all of them are positive and finite.
pub fn box_discrepancy(
    frequencies: &Frequencies,
    deviations: &[f64],
    half_widths: &[f64],
) -> Result<f64> {
    let (s, d) = frequencies.omega_sd.dim();
    if deviations.len() != d || half_widths.len() != d {
        return Err(Error::shape(format!(
            "frequencies of {d} columns need {d} deviations and {d} half-widths, not {} and {}",
            deviations.len(),
            half_widths.len()
        )));
    }
    let mut all = deviations.iter().chain(half_widths);
    if let Some(bad) = all.find(|v| !(**v > 0.0 && v.is_finite())) {
        return Err(Error::parameter(format!(
            "deviations and half-widths of a box must be positive numbers, not {bad}"
        )));
    }
    let sides = || deviations.iter().zip(half_widths);
    let own: f64 = sides()
        .map(|(s, b)| PI.sqrt() * libm::erf(s * b) / (2.0 * s * b))
        .product();
    let rows: Vec<Vec<f64>> = frequencies
        .omega_sd
        .rows()
        .into_iter()
        .map(|r| r.to_vec())
        .collect();
    let weight = |l: usize| frequencies.weights.as_ref().map_or(1.0, |w| w[l]) / s as f64;
    let terms = |l: usize| {
        let cross = rows[l].iter().zip(sides()).map(|(w, (s, b))| {
            let part = special::damped_erf(s * b / 2f64.sqrt(), w / (2f64.sqrt() * s));
            FRAC_PI_2.sqrt() / (s * b) * part
        });
        let pair = |m: usize| {
            let differences = rows[l].iter().zip(&rows[m]).zip(half_widths);
            let product: f64 = differences.map(|((v, w), b)| sinc(b * (v - w))).product();
            // Both orders of a pair in one.
            let times = if m == l { 1.0 } else { 2.0 };
            times * weight(m) * product
        };
        weight(l) * ((0..=l).map(pair).sum::<f64>() - 2.0 * cross.product::<f64>())
    };
    // Collected first: a parallel sum would depend on the number of threads.
    let terms: Vec<f64> = (0..s).into_par_iter().map(terms).collect();
    Ok(own + terms.iter().sum::<f64>())
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { libm::sin(x) / x }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernels::{Gaussian, Kernel},
        sampling::{Sampling, leverage_resample},
        seed::Seed,
    };

    /// The mean over the box by the midpoint rule with n points a side.
    fn quadrature(f: &Frequencies, deviations: &[f64], half_widths: &[f64], n: usize) -> f64 {
        let (s, d) = f.omega_sd.dim();
        let mut sum = 0.0;
        for cell in 0..n.pow(d as u32) {
            let delta: Vec<f64> = (0..d)
                .map(|j| {
                    let i = cell / n.pow(j as u32) % n;
                    half_widths[j] * (2.0 * (i as f64 + 0.5) / n as f64 - 1.0)
                })
                .collect();
            let exponent: f64 = delta
                .iter()
                .zip(deviations)
                .map(|(t, s)| (t * s) * (t * s))
                .sum();
            let (mut re, mut im) = (libm::exp(-0.5 * exponent), 0.0);
            for (l, omega) in f.omega_sd.rows().into_iter().enumerate() {
                let phase: f64 = omega.iter().zip(&delta).map(|(w, t)| w * t).sum();
                let weight = f.weights.as_ref().map_or(1.0, |w| w[l]) / s as f64;
                re -= weight * libm::cos(phase);
                im -= weight * libm::sin(phase);
            }
            sum += re * re + im * im;
        }
        sum / n.pow(d as u32) as f64
    }

    #[test]
    fn matches_quadrature_in_one_and_two_dimensions() {
        let gaussian = Gaussian.spectrum().unwrap();
        for (d, n) in [(1, 20_000), (2, 400)] {
            let (deviations, half_widths) = (&[1.0, 0.6][..d], &[1.5, 2.0][..d]);
            let pool = Sampling::MonteCarlo
                .draw(gaussian, d, 9, false, Seed(6))
                .unwrap();
            let scores: Vec<f64> = (1..=9).map(f64::from).collect();
            let weighted = leverage_resample(&pool, &scores, 5, Seed(1)).unwrap();
            for set in [pool, weighted] {
                let closed = box_discrepancy(&set, deviations, half_widths).unwrap();
                let numeric = quadrature(&set, deviations, half_widths, n);
                // The midpoint rule's error falls with n^2.
                assert!(
                    (closed - numeric).abs() < 1e-4 * numeric,
                    "{d}: {closed} {numeric}"
                );
            }
        }
        let one = Sampling::MonteCarlo
            .draw(gaussian, 2, 1, false, Seed(6))
            .unwrap();
        assert!(box_discrepancy(&one, &[1.0], &[1.0, 1.0]).is_err());
        assert!(box_discrepancy(&one, &[1.0, 0.0], &[1.0, 1.0]).is_err());
    }

    #[test]
    fn scrambled_points_beat_independent_ones() {
        let error = |sampling: Sampling| {
            let mean = (0..8).map(|seed| {
                let set = sampling.draw(Gaussian.spectrum().unwrap(), 6, 128, false, Seed(seed));
                box_discrepancy(&set.unwrap(), &[1.0; 6], &[1.0; 6]).unwrap()
            });
            mean.sum::<f64>() / 8.0
        };
        let independent = error(Sampling::MonteCarlo);
        let expected = (1.0 - (PI.sqrt() * libm::erf(1.0) / 2.0).powi(6)) / 128.0;
        assert!((independent / expected - 1.0).abs() < 0.3);
        assert!(error("sobol".parse().unwrap()) < 0.7 * independent);
    }
}
