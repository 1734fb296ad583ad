//! Orthogonal random features (Yu et al. 2016, sec. 3): independent blocks of d frequencies,
//! orthogonal to each other inside a block, each as long as an independent draw would be.

use crate::{
    error::{Error, Result},
    kernels::SpectralMeasure,
    parallel,
    seed::{Seed, Stream},
};

/// Directions are made this many at a time, so that a panel stays in cache while every reflection
/// passes over it.
const PANEL: usize = 16;

/// `s` frequencies of length `d`, row by row.
pub(super) fn draw(
    measure: &dyn SpectralMeasure,
    d: usize,
    s: usize,
    seed: Seed,
) -> Result<Vec<f64>> {
    let radii = radii(measure, d, s, seed)?;
    Ok(scaled(directions(d, s, seed), &radii))
}

/// `s` directions of length 1 in `d` dimensions, row by row: frames of d that are orthogonal.
pub(super) fn directions(d: usize, s: usize, seed: Seed) -> Vec<f64> {
    let mut all = vec![0.0; s * d];
    parallel::usual().chunks(&mut all, d * d, &|block, rows| {
        let rotation = Rotation::draw(d, rows.len() / d, seed, block as u64);
        parallel::usual().chunks(rows, PANEL * d, &|panel, rows| {
            rotation.directions(panel * PANEL, rows);
        });
    });
    all
}

/// Directions, row by row, made as long as `radii` say.
pub(super) fn scaled(mut directions: Vec<f64>, radii: &[f64]) -> Vec<f64> {
    let d = directions.len() / radii.len().max(1);
    for (row, radius) in directions.chunks_mut(d.max(1)).zip(radii) {
        row.iter_mut().for_each(|w| *w *= radius);
    }
    directions
}

/// The lengths of `s` frequencies of length `d`.
pub(super) fn radii(
    measure: &dyn SpectralMeasure,
    d: usize,
    s: usize,
    seed: Seed,
) -> Result<Vec<f64>> {
    let mut draws = seed.stream(Stream::Radii, 0);
    let radii: Option<Vec<f64>> = (0..s).map(|_| measure.radius(d, &mut draws)).collect();
    radii.ok_or_else(|| {
        Error::unsupported(
            "orthogonal directions need a kernel of |x - y|_2, whose frequencies point everywhere alike; this kernel's are \
             drawn coordinate by coordinate: use monte-carlo, halton, sobol, lattice or digital-net",
        )
    })
}

/// The first columns of a Haar-distributed orthogonal matrix, as signs and Householder vectors.
///
/// This is the Q of a Gaussian matrix's Householder QR with the signs of R's diagonal moved into Q,
/// without the matrix: after k reflections what is left of it is Gaussian still and independent of
/// them, so the vectors can be drawn directly (Stewart 1980; Mezzadri 2007). It takes half the work
/// and, unlike a library's QR, gives the same bits everywhere.
struct Rotation {
    d: usize,
    /// Reflection k acts on coordinates k..d: its vector, scaled so that H = I - v v', or empty for
    /// the identity.
    reflections: Vec<Vec<f64>>,
    signs: Vec<f64>,
}

impl Rotation {
    fn draw(d: usize, columns: usize, seed: Seed, block: u64) -> Self {
        let mut draws = seed.stream(Stream::Rotation, block);
        let (mut reflections, mut signs) = (Vec::new(), Vec::new());
        for k in 0..columns {
            let mut v: Vec<f64> = (k..d).map(|_| draws.normal()).collect();
            let length = dot(&v, &v).sqrt();
            // The reflection sends v to -sign(v_0) |v| e_0: the addition below does not cancel.
            let sign = if v[0] < 0.0 { -1.0 } else { 1.0 };
            if v.len() == 1 {
                // A 1 x 1 block has nothing to reflect; R's last entry keeps its sign.
                reflections.push(Vec::new());
                signs.push(sign);
                continue;
            }
            let head = v[0].abs();
            v[0] += sign * length;
            let scale = 1.0 / (length * (length + head)).sqrt();
            v.iter_mut().for_each(|x| *x *= scale);
            reflections.push(v);
            signs.push(-sign);
        }
        Self {
            d,
            reflections,
            signs,
        }
    }

    /// Writes columns `first`.. of the matrix into the rows of `rows`, one column per row.
    fn directions(&self, first: usize, rows: &mut [f64]) {
        let count = rows.len() / self.d;
        // Coordinate by coordinate, PANEL columns side by side: one vector operation serves all of
        // them.
        let mut panel = vec![[0.0_f64; PANEL]; self.d];
        for column in 0..count {
            panel[first + column][column] = self.signs[first + column];
        }
        // Later reflections leave these columns' unit vectors alone.
        for (k, v) in self.reflections[..first + count].iter().enumerate().rev() {
            let mut along = [0.0; PANEL];
            for (&v, row) in v.iter().zip(&panel[k..]) {
                along.iter_mut().zip(row).for_each(|(a, x)| *a += v * x);
            }
            for (&v, row) in v.iter().zip(&mut panel[k..]) {
                row.iter_mut().zip(&along).for_each(|(x, a)| *x -= v * a);
            }
        }
        for (column, row) in rows.chunks_mut(self.d).enumerate() {
            row.iter_mut().zip(&panel).for_each(|(w, x)| *w = x[column]);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernels::{Gaussian, Laplacian, Matern},
        sampling::round_to_11_bits,
    };

    #[test]
    fn rows_of_a_block_are_orthogonal_and_keep_their_radii() {
        for d in [1, 2, 5, 16, 17, 48] {
            let s = 2 * d + d / 2 + 1;
            let omega = draw(&Gaussian, d, s, Seed(5)).unwrap();
            let radii = radii(&Gaussian, d, s, Seed(5)).unwrap();
            let rows: Vec<&[f64]> = omega.chunks(d).collect();
            for (i, row) in rows.iter().enumerate() {
                assert!((dot(row, row).sqrt() / radii[i] - 1.0).abs() < 1e-13);
                for (j, other) in rows[..i].iter().enumerate() {
                    let cosine = dot(row, other) / (radii[i] * radii[j]);
                    assert_eq!(
                        cosine.abs() < 1e-13,
                        i / d == j / d,
                        "{d}: {i} {j} {cosine}"
                    );
                }
            }
            // Rounding moves each entry by 2^-12 of itself at most, so a cosine by 2^-11.
            let rounded: Vec<f64> = omega.iter().map(|&w| round_to_11_bits(w).into()).collect();
            for (i, row) in rounded.chunks(d).take(d).enumerate() {
                for (j, other) in rounded.chunks(d).take(i).enumerate() {
                    let cosine = dot(row, other) / (radii[i] * radii[j]);
                    assert!(cosine.abs() < 5e-4, "{d}: {i} {j} {cosine}");
                }
            }
            // A longer draw begins with the shorter one.
            let longer = draw(&Gaussian, d, s + d, Seed(5)).unwrap();
            assert_eq!(longer[..omega.len()], omega);
        }
    }

    /// A Haar matrix has E tr Q = 0 and E (tr Q)^2 = 1, and E Q_ij = 0; without the signs of R's
    /// diagonal none holds.
    #[test]
    fn rotations_are_haar() {
        let (d, count) = (3, 20_000);
        let (mut trace, mut square, mut corner) = (0.0, 0.0, 0.0);
        let mut q = vec![0.0; d * d];
        for block in 0..count {
            Rotation::draw(d, d, Seed(1), block).directions(0, &mut q);
            let t = q[0] + q[4] + q[8];
            trace += t;
            square += t * t;
            corner += q[8];
        }
        let n = count as f64;
        assert!((trace / n).abs() < 4.0 / n.sqrt(), "{}", trace / n);
        // (tr Q)^4 has mean 3 or less, so (tr Q)^2 a variance below 2.
        assert!((square / n - 1.0).abs() < 4.0 * (2.0 / n).sqrt());
        assert!((corner / n).abs() < 4.0 * (1.0 / 3.0 / n).sqrt());
    }

    #[test]
    fn only_isotropic_measures() {
        let error = draw(&Laplacian, 2, 4, Seed(0)).unwrap_err().to_string();
        assert!(error.contains("|x - y|_2"), "{error}");
        assert!(draw(&Laplacian, 1, 4, Seed(0)).is_ok());
        assert!(draw(&Matern::THREE_HALVES, 2, 4, Seed(0)).is_ok());
    }
}
