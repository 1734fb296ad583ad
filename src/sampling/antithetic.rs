//! Orthogonal directions in pairs +omega, -omega: where a feature is large at omega it is small at
//! -omega, so their mean varies less than that of two draws.

use super::orthogonal;
use crate::{Result, kernels::SpectralMeasure, seed::Seed};

/// `s` frequencies of length `d`, row by row: omega_0, -omega_0, omega_1, -omega_1 and so on.
pub(super) fn draw(
    measure: &dyn SpectralMeasure,
    d: usize,
    s: usize,
    seed: Seed,
) -> Result<Vec<f64>> {
    let omega = orthogonal::draw(measure, d, s.div_ceil(2), seed)?;
    let rows = omega.chunks(d);
    let both = rows.flat_map(|row| [1.0, -1.0].map(|sign| row.iter().map(move |w| sign * w)));
    Ok(both.flatten().take(s * d).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Gaussian, Laplacian};

    #[test]
    fn pairs_are_opposite_and_otherwise_orthogonal() {
        for (d, s) in [(1, 4), (3, 11), (5, 10), (4, 1)] {
            let omega = draw(&Gaussian, d, s, Seed(5)).unwrap();
            assert_eq!(omega.len(), s * d);
            let alone = orthogonal::draw(&Gaussian, d, s.div_ceil(2), Seed(5)).unwrap();
            for (i, row) in omega.chunks(d).enumerate() {
                let sign = [1.0, -1.0][i % 2];
                let expected = alone[i / 2 * d..][..d].iter().map(|w| sign * w);
                assert!(row.iter().copied().eq(expected), "{d} {s} {i}");
            }
            // A longer draw begins with the shorter one.
            let longer = draw(&Gaussian, d, s + 3, Seed(5)).unwrap();
            assert_eq!(longer[..omega.len()], omega);
        }
        let error = draw(&Laplacian, 2, 4, Seed(0)).unwrap_err().to_string();
        assert!(error.contains("|x - y|_2"), "{error}");
    }
}
