//! A rank-1 lattice with a random shift (Cranley & Patterson 1976): point l has coordinates
//! frac(phi(l) z_j + shift_j). phi is the radical inverse in base 2, so that any number of points
//! is a beginning of one sequence and every 2^m of them a full lattice (Hickernell, Hong, L'Ecuyer
//! & Lemieux 2000).

use super::quasi::{Sequence, check_table, open_unit};
use crate::{
    error::{Error, Result},
    seed::{Seed, Stream},
};

/// Coordinates in the table; in a page as many as of Sobol's.
const DIMENSIONS: usize = if cfg!(target_family = "wasm") {
    1024
} else {
    9125
};

/// The most points the vector was built for, as a power of 2.
const LOG_POINTS: u32 = 20;

/// The generating vector lattice-33002-1024-1048576.9125 of Cools, Kuo & Nuyens (2006),
/// "Constructing embedded lattice rules for multivariate integration", SIAM J. Sci. Comput. 28:
/// 2^10 to 2^20 points, one little-endian u32 per coordinate.
static TABLE: [u8; 4 * DIMENSIONS] = match include_bytes!("tables/lattice.bin").first_chunk() {
    Some(table) => *table,
    None => panic!("a table that is cut off"),
};

struct Lattice {
    seed: Seed,
}

/// Whether it has `s` points of `dim` coordinates, enough of them to be better than independent
/// ones.
pub(super) fn serves(dim: usize, s: usize) -> bool {
    dim <= s / 2 && s <= 1 << LOG_POINTS
}

/// The lattice for `s` points of `dim` coordinates.
pub(super) fn sequence(dim: usize, s: usize, seed: Seed) -> Result<impl Sequence> {
    check_table("lattice", dim, DIMENSIONS)?;
    if s > 1 << LOG_POINTS {
        return Err(Error::unsupported(format!(
            "lattice sampling has at most {} frequencies, not {s}: use sobol",
            1 << LOG_POINTS
        )));
    }
    if dim > s / 2 {
        log::warn!(
            "a lattice of {s} points in {dim} coordinates repeats itself across coordinates and is no better than Monte Carlo; \
             use at least {} frequencies, or orthogonal sampling",
            2 * dim
        );
    }
    Ok(Lattice { seed })
}

impl Sequence for Lattice {
    fn coordinate(&self, j: usize, column: &mut [f64]) {
        let bytes = &TABLE[4 * j..4 * j + 4];
        let z = u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        let shift = self.seed.stream(Stream::Shift, j as u64).next_u64();
        for (l, t) in column.iter_mut().enumerate() {
            let reversed = (l as u64).reverse_bits() >> (64 - LOG_POINTS);
            // As a fraction of 2^64 the product wraps where frac() would: exact.
            let place = (reversed.wrapping_mul(z) << (64 - LOG_POINTS)).wrapping_add(shift);
            *t = open_unit(place >> 11);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coordinate(j: usize, s: usize, seed: u64) -> Vec<f64> {
        let mut column = vec![f64::NAN; s];
        sequence(1, s, Seed(seed))
            .unwrap()
            .coordinate(j, &mut column);
        column
    }

    #[test]
    fn points_are_a_shifted_lattice() {
        assert_eq!(TABLE.len(), 4 * DIMENSIONS);
        let n = 128;
        for (j, z) in [(0, 1.0), (1, 182_667.0), (DIMENSIONS - 1, 256_517.0)] {
            let points = coordinate(j, n, 3);
            let mut hit = vec![false; n];
            for (l, t) in points.iter().enumerate() {
                // Differences from point 0 are multiples of 1/n, each once.
                let step = (t - points[0]).rem_euclid(1.0) * n as f64;
                assert!((step - step.round()).abs() < 1e-9);
                hit[step.round() as usize % n] = true;
                let phi = (l as u64).reverse_bits() as f64 / 2f64.powi(64);
                let apart = step / n as f64 - phi * z;
                assert!((apart - apart.round()).abs() < 1e-9);
            }
            assert!(hit.iter().all(|&h| h), "{j}");
            assert_ne!(points, coordinate(j, n, 4));
            assert_eq!(coordinate(j, 100, 3), points[..100]);
        }
        assert!(sequence(2, (1 << 20) + 1, Seed(0)).is_err());
    }
}
