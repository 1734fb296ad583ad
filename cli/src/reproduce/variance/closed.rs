//! Variances of estimates of the Gaussian kernel at unit lengthscale, by the distance of two rows.

use bochner::{analysis, features::Form};

/// exp(-r^2 / 2).
pub(super) fn kernel(r: f64) -> f64 {
    (-r * r / 2.0).exp()
}

/// Of independent frequencies (Sutherland & Schneider 2015, section 2.1).
pub(super) fn independent(form: Form, features: usize, r: f64) -> f64 {
    analysis::variance(form, features, kernel(r), kernel(2.0 * r))
}

/// Of paired features in orthogonal blocks of an even number d of columns, s = D/2 a multiple of d.
///
/// The estimate is the mean of s cosines. Two frequencies of one block are orthogonal and their
/// lengths independent, so that their sum and their difference have a uniform direction and a
/// squared length of law chi^2(2d). The mean of the cosine of such a vector along a distance r is
/// 1F1(d; d/2; -r^2/2) = k 1F1(-d/2; d/2; r^2/2), which ends after d/2 terms. The covariance of two
/// cosines is that less k^2. Yu et al. (2016, theorem 1) have its leading terms.
pub(super) fn orthogonal(features: usize, columns: usize, r: f64) -> f64 {
    let (s, d) = (features as f64 / 2.0, columns as f64);
    let k = kernel(r);
    let own = (1.0 - k * k).powi(2) / 2.0;
    let (mut term, mut sum) = (1.0, 1.0);
    for j in 0..columns / 2 {
        let j = j as f64;
        term *= (j - d / 2.0) / (j + d / 2.0) * (r * r / 2.0) / (j + 1.0);
        sum += term;
    }
    (own + (d - 1.0) * (k * sum - k * k)) / s
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of cos(a) cos(b) of two orthogonal frequencies in two columns, by quadrature over
    /// their angle and their two lengths.
    #[test]
    fn orthogonal_variance_by_quadrature() {
        let r = 1.3;
        let steps = 300;
        let (mut sum, mut weights) = (0.0, 0.0);
        for i in 0..steps {
            for j in 0..steps {
                // Lengths by their law, r exp(-r^2/2).
                let at = |i: i32| 8.0 * (f64::from(i) + 0.5) / f64::from(steps);
                let (p, q) = (at(i), at(j));
                let weight = p * (-p * p / 2.0).exp() * q * (-q * q / 2.0).exp();
                for l in 0..64 {
                    let angle = std::f64::consts::TAU * f64::from(l) / 64.0;
                    sum +=
                        weight * (r * p * angle.cos()).cos() * (r * q * angle.sin()).cos() / 64.0;
                }
                weights += weight;
            }
        }
        let covariance = sum / weights - kernel(r).powi(2);
        let own = (1.0 - kernel(r).powi(2)).powi(2) / 2.0;
        // One block of two frequencies.
        let wanted = (own + covariance) / 2.0;
        let got = orthogonal(4, 2, r);
        assert!((got / wanted - 1.0).abs() < 1e-3, "{got} {wanted}");
    }

    /// In many columns the variance over that of independent frequencies is 1 - (s - 1)/d k^2 r^4 /
    /// (1 - k^2)^2 (Yu et al. 2016, corollary 1).
    #[test]
    fn orthogonal_variance_in_many_columns() {
        let (d, r) = (256, 1.0);
        let ratio = orthogonal(2 * d, d, r) / independent(Form::Paired, 2 * d, r);
        let k = kernel(r).powi(2);
        let limit = 1.0 - 255.0 / 256.0 * k * r.powi(4) / (1.0 - k).powi(2);
        assert!((ratio - limit).abs() < 0.003, "{ratio} {limit}");
    }
}
