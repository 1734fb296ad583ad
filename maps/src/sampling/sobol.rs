//! Sobol' sequences in base 2 and the digital nets made from them.

use super::quasi::{Sequence, check_table, open_unit};
use crate::{
    error::Result,
    seed::{Seed, Stream},
};

/// What is random about the points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Sobol {
    /// Owen's nested uniform scrambling (Owen 1995): each binary digit is flipped by a coin of its
    /// own for every prefix.
    #[default]
    Owen,
    /// One random digital shift per coordinate: all points XOR the same number.
    Shift,
}

/// Coordinates in the table. What a page loads has the first thousand, which take a tenth of the
/// bytes.
pub(super) const DIMENSIONS: usize = if cfg!(target_family = "wasm") {
    1024
} else {
    5715
};

/// Direction numbers of Joe & Kuo (2008), "Constructing Sobol sequences with better two-dimensional
/// projections", SIAM J. Sci. Comput. 30, their file new-joe-kuo-6.21201: the first 5,715
/// coordinates, whose polynomials have degree 16 or less. For each from the second on, as
/// little-endian u16: degree, inner coefficients a, and m_1..m_degree.
static TABLE: [u8; BYTES] = match include_bytes!("tables/sobol.bin").first_chunk() {
    Some(table) => *table,
    None => panic!("a table that is cut off"),
};

/// Bytes of [`DIMENSIONS`] coordinates.
const BYTES: usize = if cfg!(target_family = "wasm") {
    28276
} else {
    190_006
};

/// Binary digits of a point.
const DIGITS: u32 = 53;

/// What randomises a net built on Sobol's matrices.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scramble {
    Nested,
    Shift,
    /// Matousek's random linear scrambling, and a shift.
    Linear,
}

/// The points in `dim` coordinates.
pub(super) fn sequence(sobol: Sobol, dim: usize, seed: Seed) -> Result<impl Sequence> {
    check_table("sobol", dim, DIMENSIONS)?;
    let scramble = match sobol {
        Sobol::Owen => Scramble::Nested,
        Sobol::Shift => Scramble::Shift,
    };
    Ok(Net::new(scramble, dim, seed))
}

/// Sobol's points, randomised.
pub(super) struct Net {
    scramble: Scramble,
    seed: Seed,
    /// Where each coordinate's entry starts in the table, in words; the first coordinate has none.
    starts: Vec<usize>,
    words: Vec<u16>,
}

impl Net {
    /// The first `dim` coordinates (at most [`DIMENSIONS`]).
    pub(super) fn new(scramble: Scramble, dim: usize, seed: Seed) -> Self {
        let words: Vec<u16> = TABLE
            .chunks_exact(2)
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
            .collect();
        let mut starts = Vec::with_capacity(dim);
        let mut at = 0;
        for _ in 1..dim {
            starts.push(at);
            at += 2 + usize::from(words[at]);
        }
        Self {
            scramble,
            seed,
            starts,
            words,
        }
    }

    /// Columns 0..`digits` of coordinate j's generating matrix, the first binary digit of a point
    /// in bit `digits` - 1.
    fn columns(&self, j: usize, digits: u32) -> Vec<u64> {
        let m = digits as usize;
        if j == 0 {
            return (0..digits).map(|k| 1 << (digits - 1 - k)).collect();
        }
        let entry = &self.words[self.starts[j - 1]..];
        let (degree, inner) = (usize::from(entry[0]), u64::from(entry[1]));
        // m_k of the recurrence: odd, below 2^k (Joe & Kuo, eq. 2).
        let mut odd: Vec<u64> = entry[2..]
            .iter()
            .take(degree.min(m))
            .map(|&w| w.into())
            .collect();
        for k in odd.len()..m {
            let mut next = odd[k - degree] ^ (odd[k - degree] << degree);
            for i in 1..degree {
                if (inner >> (degree - 1 - i)) & 1 == 1 {
                    next ^= odd[k - i] << i;
                }
            }
            odd.push(next);
        }
        let shift = |(k, m): (usize, u64)| m << (digits as usize - 1 - k);
        odd.into_iter().enumerate().map(shift).collect()
    }
}

impl Sequence for Net {
    fn coordinate(&self, j: usize, column: &mut [f64]) {
        // A point below 2^digits has that many digits; the rest of an unscrambled point is 0.
        let digits = column.len().next_power_of_two().trailing_zeros();
        let mut matrix = self.columns(j, digits);
        let low = DIGITS - digits;
        let mut draws = self.seed.stream(Stream::Scramble, j as u64);
        let mut shifts = self.seed.stream(Stream::Shift, j as u64);
        if let Scramble::Nested = self.scramble {
            let cells = nested_permutation(digits, || draws.next_u64());
            // Below the first `digits` digits every point is alone in its cell, and its coins are
            // its own.
            points(&matrix, column, |cell| {
                open_unit((cells[cell as usize] << low) | (shifts.next_u64() >> (64 - low)))
            });
            return;
        }
        for word in &mut matrix {
            *word <<= low;
        }
        if let Scramble::Linear = self.scramble {
            linear_scramble(&mut matrix, || draws.next_u64());
        }
        let shift = shifts.next_u64() >> (64 - DIGITS);
        points(&matrix, column, |bits| open_unit(bits ^ shift));
    }
}

/// Point l is the XOR of the matrix's columns where l has binary digits.
fn points(matrix: &[u64], column: &mut [f64], mut finish: impl FnMut(u64) -> f64) {
    // From l to l + 1 the trailing ones and the zero above them change: the XOR of a run of columns
    // from the first on.
    let mut sum = 0;
    let runs: Vec<u64> = matrix
        .iter()
        .map(|&c| {
            sum ^= c;
            sum
        })
        .collect();
    let mut bits = 0;
    for (l, t) in column.iter_mut().enumerate() {
        *t = finish(bits);
        if let Some(run) = runs.get(l.trailing_ones() as usize) {
            bits ^= run;
        }
    }
}

/// Owen's scrambling of the 2^digits cells: the coin for digit k of a cell belongs to the cell's
/// first k digits.
fn nested_permutation(digits: u32, mut word: impl FnMut() -> u64) -> Vec<u64> {
    let mut cells = vec![0];
    for _ in 0..digits {
        let mut next = Vec::with_capacity(2 * cells.len());
        let mut coins = 0;
        for (i, &cell) in cells.iter().enumerate() {
            if i % 64 == 0 {
                coins = word();
            }
            let coin = (coins >> (i % 64)) & 1;
            next.extend([2 * cell + coin, 2 * cell + (coin ^ 1)]);
        }
        cells = next;
    }
    cells
}

/// Multiplies the generating matrix from the left by a random lower triangular matrix with a
/// diagonal of ones.
fn linear_scramble(matrix: &mut [u64], mut word: impl FnMut() -> u64) {
    let triangular: Vec<u64> = (0..matrix.len() as u32)
        .map(|k| {
            let diagonal = 1_u64 << (DIGITS - 1 - k);
            diagonal | (word() & (diagonal - 1))
        })
        .collect();
    for column in matrix {
        let digits = triangular.iter().enumerate();
        let set = digits.filter(|(k, _)| (*column >> (DIGITS - 1 - *k as u32)) & 1 == 1);
        *column = set.fold(0, |sum, (_, t)| sum ^ t);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coordinate(scramble: Scramble, j: usize, s: usize, seed: u64) -> Vec<f64> {
        let mut column = vec![f64::NAN; s];
        Net::new(scramble, j + 1, Seed(seed)).coordinate(j, &mut column);
        column
    }

    #[test]
    fn matrices_are_joe_and_kuos() {
        let net = Net::new(Scramble::Shift, DIMENSIONS, Seed(0));
        // Points 0..8 of coordinates 2 and 3, in eighths, as the authors print them (there in Gray
        // code order).
        for (j, eighths) in [(1, [0, 4, 6, 2, 5, 1, 3, 7]), (2, [0, 4, 6, 2, 3, 7, 5, 1])] {
            let mut column = [0.0; 8];
            points(&net.columns(j, 3), &mut column, |bits| bits as f64);
            assert_eq!(column, eighths.map(f64::from), "{j}");
        }
        // The last entry: degree 16, m_16 = 21637, and the table ends with it.
        let last = net.starts[DIMENSIONS - 2];
        assert_eq!(net.words[last], 16);
        assert_eq!(net.words.last(), Some(&21637));
        assert_eq!(last + 18, net.words.len());
        // What a page loads ends with an entry, too.
        assert_eq!(2 * net.starts[1023], 28_276);
    }

    /// For n = 2^m, each coordinate has one point in every interval of length 1/n, whatever the
    /// scrambling.
    #[test]
    fn every_projection_is_stratified() {
        for scramble in [Scramble::Nested, Scramble::Shift, Scramble::Linear] {
            for j in [0, 1, 2, 30, 1023, DIMENSIONS - 1] {
                let n = 256;
                let points = coordinate(scramble, j, n, 4);
                let mut hit = vec![false; n];
                points
                    .iter()
                    .for_each(|t| hit[(t * n as f64) as usize] = true);
                assert!(hit.iter().all(|&h| h), "{scramble:?} {j}");
                assert!(points.iter().all(|&t| t > 0.0 && t < 1.0));
                assert_ne!(points, coordinate(scramble, j, n, 5));
                assert_eq!(coordinate(scramble, j, 200, 4), points[..200]);
            }
        }
    }

    /// The first two coordinates are a (0, m, 2)-net: one point in every box of area 1/n.
    /// Scrambling must keep that.
    #[test]
    fn first_two_coordinates_fill_every_box() {
        for scramble in [Scramble::Nested, Scramble::Shift, Scramble::Linear] {
            let (m, n) = (6, 64);
            let (x, y) = (coordinate(scramble, 0, n, 8), coordinate(scramble, 1, n, 8));
            for a in 0..=m {
                let (columns, rows) = (f64::from(1 << a), f64::from(1 << (m - a)));
                let mut hit = vec![false; n];
                for (x, y) in x.iter().zip(&y) {
                    hit[(x * columns) as usize * (1 << (m - a)) + (y * rows) as usize] = true;
                }
                assert!(hit.iter().all(|&h| h), "{scramble:?} {a}");
            }
        }
    }
}
