//! How well a set of frequencies integrates over a box, in closed form.

use super::Frequencies;
use crate::{
    error::{Error, Result},
    kernels::Kernel,
    parallel,
};

/// The mean over Delta in the box prod_j \[-b_j, b_j\] of |k(Delta) - (1/s) sum_l w_l exp(i omega_l
/// . Delta)|^2 for a kernel that is a product of one function of each column's difference
/// ([`Kernel::column_factor`]: Gaussian, Laplacian, Cauchy and their products): (pi^d / prod b_j)
/// times the squared box discrepancy (Avron, Sindhwani, Yang & Mahoney 2016). Frequencies are those
/// of the kernel at unit scale times `scales`, one a column; `half_widths` are the b_j. Takes s^2 d
/// time.
///
/// Independent frequencies have (1 - mean of k^2 over the box)/s as their expectation.
///
/// # Errors
/// [`Error::Unsupported`] on another kernel; [`Error::Shape`] unless `scales` and `half_widths`
/// have one entry per column; [`Error::Parameter`] unless all of them are positive and finite.
pub fn box_discrepancy(
    kernel: &dyn Kernel,
    frequencies: &Frequencies,
    scales: &[f64],
    half_widths: &[f64],
) -> Result<f64> {
    let factor = kernel.column_factor().ok_or_else(|| {
        Error::unsupported(format!(
            "{} is no product of one function per column, which box discrepancies need, as \
             gaussian, laplacian, cauchy and their products are",
            kernel.spec()
        ))
    })?;
    let (s, d) = frequencies.omega_sd.dim();
    if scales.len() != d || half_widths.len() != d {
        return Err(Error::shape(format!(
            "frequencies of {d} columns need {d} scales and {d} half-widths, not {} and {}",
            scales.len(),
            half_widths.len()
        )));
    }
    let mut all = scales.iter().chain(half_widths);
    if let Some(bad) = all.find(|v| !(**v > 0.0 && v.is_finite())) {
        return Err(Error::parameter(format!(
            "scales and half-widths of a box must be positive numbers, not {bad}"
        )));
    }
    let sides = || scales.iter().zip(half_widths);
    let own: f64 = sides().map(|(s, b)| factor.mean_square(s * b)).product();
    let rows: Vec<Vec<f64>> = frequencies
        .omega_sd
        .rows()
        .into_iter()
        .map(|r| r.to_vec())
        .collect();
    let weight = |l: usize| frequencies.weights.as_ref().map_or(1.0, |w| w[l]) / s as f64;
    let terms = |l: usize| {
        let along = rows[l].iter().zip(sides());
        let cross = along.map(|(w, (s, b))| factor.mean_cosine(w / s, s * b));
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
    let terms = parallel::usual().numbers(s, &terms);
    Ok(own + terms.iter().sum::<f64>())
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { libm::sin(x) / x }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernels::{self, Cauchy, Exponential, Gaussian, Laplacian},
        sampling::{Sampling, leverage_resample},
        seed::Seed,
    };
    use std::f64::consts::PI;

    /// The mean over the box by the midpoint rule with n points a side.
    fn quadrature(
        kernel: &dyn Kernel,
        f: &Frequencies,
        scales: &[f64],
        half_widths: &[f64],
        n: usize,
    ) -> f64 {
        let (s, d) = f.omega_sd.dim();
        let mut sum = 0.0;
        for cell in 0..n.pow(d as u32) {
            let delta: Vec<f64> = (0..d)
                .map(|j| {
                    let i = cell / n.pow(j as u32) % n;
                    half_widths[j] * (2.0 * (i as f64 + 0.5) / n as f64 - 1.0)
                })
                .collect();
            let scaled: Vec<f64> = delta.iter().zip(scales).map(|(t, s)| t * s).collect();
            let (mut re, mut im) = (kernel.evaluate(&scaled, &vec![0.0; d]), 0.0);
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
        let product = kernels::parse("product:gaussian@1.5*cauchy@0.8").expect("a product");
        let all: [&dyn Kernel; 4] = [&Gaussian, &Laplacian, &Cauchy, product.as_ref()];
        for kernel in all {
            for (d, n) in [(1, 20_000), (2, 500)] {
                let (scales, half_widths) = (&[1.0, 0.6][..d], &[1.5, 2.0][..d]);
                let measure = kernel.spectrum().unwrap();
                let mut pool = Sampling::MonteCarlo
                    .draw(measure, d, 9, false, Seed(6))
                    .unwrap();
                // Frequencies of a Cauchy law turn faster than the points of the rule see.
                pool.omega_sd.mapv_inplace(|w| w.clamp(-30.0, 30.0));
                let scores: Vec<f64> = (1..=9).map(f64::from).collect();
                let weighted = leverage_resample(&pool, &scores, 5, Seed(1)).unwrap();
                for set in [pool, weighted] {
                    let closed = box_discrepancy(kernel, &set, scales, half_widths).unwrap();
                    let numeric = quadrature(kernel, &set, scales, half_widths, n);
                    // The midpoint rule's error falls with n^2.
                    assert!(
                        (closed - numeric).abs() < 5e-4 * numeric,
                        "{kernel:?} {d}: {closed} {numeric}"
                    );
                }
            }
        }
        let measure = Gaussian.spectrum().unwrap();
        let one = Sampling::MonteCarlo
            .draw(measure, 2, 1, false, Seed(6))
            .unwrap();
        let of = |kernel, scales| box_discrepancy(kernel, &one, scales, &[1.0, 1.0]);
        assert!(of(&Gaussian, &[1.0]).is_err());
        assert!(of(&Gaussian, &[1.0, 0.0]).is_err());
        let error = of(&Exponential, &[1.0, 1.0]).unwrap_err().to_string();
        assert!(error.contains("laplacian"), "{error}");
    }

    #[test]
    fn scrambled_points_beat_independent_ones() {
        let error = |sampling: Sampling| {
            let mean = (0..8).map(|seed| {
                let set = sampling.draw(Gaussian.spectrum().unwrap(), 6, 128, false, Seed(seed));
                box_discrepancy(&Gaussian, &set.unwrap(), &[1.0; 6], &[1.0; 6]).unwrap()
            });
            mean.sum::<f64>() / 8.0
        };
        let independent = error(Sampling::MonteCarlo);
        let expected = (1.0 - (PI.sqrt() * libm::erf(1.0) / 2.0).powi(6)) / 128.0;
        assert!((independent / expected - 1.0).abs() < 0.3);
        assert!(error("sobol".parse().unwrap()) < 0.7 * independent);
    }
}
