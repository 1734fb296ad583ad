//! Orthogonal directions in pairs +omega, -omega: where a feature is large at omega it is small at
//! -omega, so their mean varies less than that of two draws. Frames keep apart from each other.

use super::{apart, orthogonal};
use crate::{Result, kernels::SpectralMeasure, seed::Seed};

/// `s` frequencies of length `d`, row by row: omega_0, -omega_0, omega_1, -omega_1 and so on.
pub(super) fn draw(
    measure: &dyn SpectralMeasure,
    d: usize,
    s: usize,
    seed: Seed,
) -> Result<Vec<f64>> {
    let pairs = s.div_ceil(2);
    let radii = orthogonal::radii(measure, d, pairs, seed)?;
    let mut directions = orthogonal::directions(d, apart::rows(d, pairs), seed);
    apart::keep_apart(d, &mut directions);
    directions.truncate(pairs * d);
    let omega = orthogonal::scaled(directions, &radii);
    let both = omega.chunks(d);
    let both = both.flat_map(|row| [1.0, -1.0].map(|sign| row.iter().map(move |w| sign * w)));
    Ok(both.flatten().take(s * d).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Gaussian, Laplacian};

    #[test]
    fn pairs_are_opposite_and_otherwise_orthogonal() {
        for (d, s) in [(1, 4), (3, 11), (5, 10), (5, 41), (4, 1), (70, 300)] {
            let omega = draw(&Gaussian, d, s, Seed(5)).unwrap();
            assert_eq!(omega.len(), s * d);
            let radii = orthogonal::radii(&Gaussian, d, s.div_ceil(2), Seed(5)).unwrap();
            let rows: Vec<&[f64]> = omega.chunks(d).collect();
            for (i, row) in rows.iter().enumerate() {
                let sign = [1.0, -1.0][i % 2];
                let expected = rows[i / 2 * 2].iter().map(|w| sign * w);
                assert!(row.iter().copied().eq(expected), "{d} {s} {i}");
                let dot =
                    |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
                assert!((dot(row, row).sqrt() / radii[i / 2] - 1.0).abs() < 1e-13);
                for j in i / (2 * d) * (2 * d)..i / 2 * 2 {
                    let cosine = dot(row, rows[j]) / (radii[i / 2] * radii[j / 2]);
                    assert!(cosine.abs() < 1e-13, "{d} {s} {i} {j} {cosine}");
                }
            }
            // A longer draw begins with the shorter one.
            for more in [3, 2 * d + 1] {
                let longer = draw(&Gaussian, d, s + more, Seed(5)).unwrap();
                assert_eq!(longer[..omega.len()], omega);
            }
        }
        let error = draw(&Laplacian, 2, 4, Seed(0)).unwrap_err().to_string();
        assert!(error.contains("|x - y|_2"), "{error}");
    }
}
