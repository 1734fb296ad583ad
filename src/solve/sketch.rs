//! Preconditioner from a sketch of the leading directions of a Gram matrix that is never formed.

use super::FeatureProducts;
use crate::{
    Result,
    linalg::{
        cholesky::Lower,
        nystrom::{Leading, cross, nystrom},
    },
    parallel,
    seed::{Seed, Stream},
};
use ndarray::{Array1, Array2, ArrayView1, Axis};

/// Columns per unit of parallel work.
const COLUMNS: usize = 512;

/// The terms of `A = Z'WZ - n m m' + mu I` besides Z.
pub(super) struct Centred<'a> {
    /// m, `[D]`.
    pub(super) mean_d: &'a Array1<f64>,
    /// W, `[n]`.
    pub(super) weights_n: Option<ArrayView1<'a, f64>>,
    /// The sum of the weights.
    pub(super) n: f64,
    /// mu.
    pub(super) penalty: f64,
}

/// Preconditioner of conjugate gradients.
#[derive(Debug)]
pub(super) enum CgPreconditioner<'a> {
    /// `1 / diag(A)`, `[D]`.
    Diagonal(Array1<f64>),
    /// A Cholesky factor of an approximation of `A / n`, and n.
    Factor(&'a Lower, f64),
    /// The randomised Nystrom preconditioner (Frangella, Tropp & Udell 2023, "Randomized Nystrom
    /// preconditioning", SIAM J. Matrix Anal. Appl. 44, sec. 5, with algorithm 2.1): `P^-1 = (l +
    /// mu) U (Lambda + mu I)^-1 U' + I - U U'`, with U and Lambda leading eigenvectors and
    /// eigenvalues of `A - mu I` from a sketch, and l the least of these eigenvalues. The remaining
    /// part of A is approximately the penalty, equal in all directions, so it is not combined with
    /// a diagonal.
    Sketch {
        /// U', `[rank, D]`.
        directions_rd: Array2<f64>,
        /// `(l + mu) / (lambda + mu) - 1`, `[rank]`.
        shrink_r: Array1<f64>,
    },
}

impl CgPreconditioner<'_> {
    /// Computes a sketch of `rank` directions: one pass over streamed rows. `None` if no eigenvalue
    /// exceeds the penalty.
    pub(super) fn sketch(
        features: &mut (dyn FeatureProducts + '_),
        of: &Centred<'_>,
        rank: usize,
    ) -> Result<Option<Self>> {
        let columns = of.mean_d.len();
        let mut draws = Seed(0).stream(Stream::Iteration, 1);
        let size = (columns as f64).sqrt().recip();
        let omega_rd = Array2::from_shape_simple_fn((rank, columns), || size * draws.normal());
        let mut y_rd = Array2::zeros((rank, columns));
        features.gram_product(omega_rd.view(), of.weights_n, &mut y_rd)?;
        let along_r = omega_rd.dot(of.mean_d) * of.n;
        for (mut y, along) in y_rd.rows_mut().into_iter().zip(&along_r) {
            y.scaled_add(-along, of.mean_d);
        }
        // Directions with eigenvalues below the penalty need no preconditioning.
        let Some(Leading {
            values_r,
            directions_rd,
        }) = nystrom(omega_rd, y_rd, 0.1 * of.penalty)?
        else {
            return Ok(None);
        };
        let last = values_r[values_r.len() - 1] + of.penalty;
        Ok(Some(Self::Sketch {
            directions_rd,
            shrink_r: values_r.mapv(|v| last / (v + of.penalty) - 1.0),
        }))
    }

    /// Number of directions of the sketch.
    pub(super) fn rank(&self) -> usize {
        match self {
            Self::Diagonal(_) | Self::Factor(..) => 0,
            Self::Sketch { shrink_r, .. } => shrink_r.len(),
        }
    }

    /// `P^-1 r` of each row.
    pub(super) fn inverse(&self, r_td: &Array2<f64>) -> Array2<f64> {
        let (directions_rd, shrink_r) = match self {
            Self::Diagonal(inverse_d) => return r_td * inverse_d,
            Self::Factor(factor, n) => {
                let mut z = r_td.t().as_standard_layout().into_owned();
                factor.solve(&mut z);
                factor.solve_transposed(&mut z);
                return z.reversed_axes().as_standard_layout().into_owned() / *n;
            }
            Self::Sketch {
                directions_rd,
                shrink_r,
            } => (directions_rd, shrink_r),
        };
        let along = cross(r_td, directions_rd) * shrink_r;
        let mut out_td = r_td.clone();
        let mut parts: Vec<_> = (out_td.axis_chunks_iter_mut(Axis(1), COLUMNS))
            .zip(directions_rd.axis_chunks_iter(Axis(1), COLUMNS))
            .collect();
        parallel::usual().parts(&mut parts, &|_, (to, directions)| {
            ndarray::linalg::general_mat_mul(1.0, &along, directions, 1.0, to);
        });
        out_td
    }
}
