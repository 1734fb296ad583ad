//! Halton's sequence (Halton 1960): coordinate j is the radical inverse of the point's number in
//! the j-th prime base.

use super::quasi::{self, Sequence};
use crate::seed::{Seed, Stream};

/// Which Halton sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Halton {
    /// Random permutations of the digits, one per base and digit position (Owen 2017): unbiased,
    /// and sound for any d.
    #[default]
    Scrambled,
    /// Points 1, 2, ... as they are. Nothing is random; in more than some 30 coordinates it is
    /// worse than Monte Carlo.
    Plain,
    /// Points 1000, 1701, 2402, ...: the first 1,000 skipped and 700 left out between each two, as
    /// Avron et al. (2016) took them. Nothing is random; 701 is the 126th base, so that coordinate
    /// 126 stays within 1/701.
    Leaped,
}

/// The sequence in `dim` coordinates; warns where it is known to fail.
pub(super) fn sequence(halton: Halton, dim: usize, seed: Seed) -> impl Sequence {
    let better = "use halton (scrambled), sobol or orthogonal";
    if halton == Halton::Plain && dim > 30 {
        log::warn!(
            "plain Halton in {dim} coordinates (more than 30) is worse than Monte Carlo; {better}"
        );
    }
    if halton == Halton::Leaped && dim > 125 {
        log::warn!(
            "leaped Halton in {dim} coordinates (more than 125) keeps the 126th constant, so that one column hardly counts; \
             {better}"
        );
    }
    Primes {
        halton,
        seed,
        bases: primes(dim),
    }
}

struct Primes {
    halton: Halton,
    seed: Seed,
    bases: Vec<u64>,
}

impl Sequence for Primes {
    fn coordinate(&self, j: usize, column: &mut [f64]) {
        let base = self.bases[j];
        match self.halton {
            Halton::Scrambled => scrambled(base, j, column, self.seed),
            Halton::Plain => radical_inverses(base, (1..).step_by(1), column),
            Halton::Leaped => radical_inverses(base, (1000..).step_by(701), column),
        }
    }
}

fn radical_inverses(base: u64, points: impl Iterator<Item = u64>, column: &mut [f64]) {
    for (t, mut n) in column.iter_mut().zip(points) {
        // Digits first, one division last: exact wherever the quotient is.
        let (mut digits, mut scale) = (0_u128, 1_u128);
        while n > 0 {
            digits = digits * u128::from(base) + u128::from(n % base);
            scale *= u128::from(base);
            n /= base;
        }
        *t = quasi::clamp_open(digits as f64 / scale as f64);
    }
}

fn scrambled(base: u64, j: usize, column: &mut [f64], seed: Seed) {
    let s = column.len() as u64;
    column.fill(0.0);
    // Position k holds digit (l / base^k) mod base of point l, worth base^-(k+1).
    let (mut power, mut worth, mut position) = (1_u64, 1.0, 0);
    while power < s || worth > quasi::GRID {
        worth /= base as f64;
        let distinct = if power < s { (s - 1) / power + 1 } else { 1 };
        let mut draws = seed.stream(Stream::Scramble, ((j as u64) << 8) | position);
        // The first values of a uniform permutation: step i of this shuffle settles digit i, so
        // that digits that no point has cost nothing and a longer sequence begins with the shorter
        // one.
        let needed = distinct.min(base);
        let mut values: Vec<u64> = if needed > 1 {
            (0..base).collect()
        } else {
            Vec::new()
        };
        let first = draws.below(base);
        if needed > 1 {
            values.swap(0, first as usize);
            for i in 1..needed {
                let other = i + draws.below(base - i);
                values.swap(i as usize, other as usize);
            }
            for (l, t) in column.iter_mut().enumerate() {
                let digit = (l as u64 / power) % base;
                *t += worth * values[digit as usize] as f64;
            }
        } else {
            column.iter_mut().for_each(|t| *t += worth * first as f64);
        }
        power = power.saturating_mul(base);
        position += 1;
    }
    // The middle of the last cell, whose width is below the spacing of the grid.
    column
        .iter_mut()
        .for_each(|t| *t = quasi::clamp_open(*t + 0.5 * worth));
}

/// The first `count` primes.
fn primes(count: usize) -> Vec<u64> {
    let mut primes: Vec<u64> = Vec::with_capacity(count);
    for n in 2_u64.. {
        if primes.len() == count {
            break;
        }
        let mut small = primes.iter().take_while(|&&p| p * p <= n);
        if small.all(|p| n % p != 0) {
            primes.push(n);
        }
    }
    primes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(halton: Halton, dim: usize, j: usize, s: usize, seed: u64) -> Vec<f64> {
        let mut column = vec![f64::NAN; s];
        sequence(halton, dim, Seed(seed)).coordinate(j, &mut column);
        column
    }

    #[test]
    fn plain_and_leaped_are_the_published_points() {
        let third = 1.0 / 3.0;
        assert_eq!(column(Halton::Plain, 2, 0, 4, 0), [0.5, 0.25, 0.75, 0.125]);
        assert_eq!(
            column(Halton::Plain, 2, 1, 3, 0),
            [third, 2.0 * third, 1.0 / 9.0]
        );
        // 1000 = 1111101000 and 1701 = 11010100101 in base 2, read backwards.
        let leaped = column(Halton::Leaped, 1, 0, 2, 0);
        assert_eq!(leaped, [95.0 / 1024.0, 1323.0 / 2048.0]);
        assert_eq!(primes(126)[125], 701);
    }

    #[test]
    fn scrambling_keeps_the_strata_and_depends_on_the_seed() {
        for (j, base) in [(0, 2_usize), (1, 3), (5, 13), (60, 283)] {
            for s in [base, base * base, 2 * base] {
                let points = column(Halton::Scrambled, 64, j, s, 9);
                // The first base^k points hit every interval of length base^-k once.
                let strata = if s == base * base { s } else { base };
                let mut hits = vec![0; strata];
                points
                    .iter()
                    .for_each(|t| hits[(t * strata as f64) as usize] += 1);
                assert!(hits.iter().all(|&h| h == s / strata), "{base} {s}");
                assert_ne!(points, column(Halton::Scrambled, 64, j, s, 10));
                assert_eq!(points, column(Halton::Scrambled, 64, j, 2 * s, 9)[..s]);
            }
        }
    }
}
