//! A preconditioner from a sketch: the leading directions of a Gram matrix that is never formed.

use super::FeatureProducts;
use crate::{
    Result,
    linalg::{cholesky::Lower, eigen::eigen},
    seed::{Seed, Stream},
};
use ndarray::{Array1, Array2, ArrayView1, Axis, s};
use rayon::prelude::*;

/// Columns that a thread turns at a time.
const COLUMNS: usize = 512;

/// What `A = Z'WZ - n m m' + mu I` is made of beside Z.
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

/// What residuals are multiplied by.
#[derive(Debug)]
pub(super) enum Preconditioner<'a> {
    /// `1 / diag(A)`, `[D]`.
    Diagonal(Array1<f64>),
    /// A Cholesky factor of about `A / n`, and n.
    Factor(&'a Lower, f64),
    /// The randomized Nystrom preconditioner (Frangella, Tropp & Udell 2023, "Randomized Nystrom
    /// preconditioning", SIAM J. Matrix Anal. Appl. 44, sec. 5, with algorithm 2.1):
    /// `P^-1 = (l + mu) U (Lambda + mu I)^-1 U' + I - U U'`, U and Lambda leading eigenvectors and
    /// eigenvalues of `A - mu I` by a sketch, l the least of these eigenvalues. What A has beside
    /// them is the penalty, the same in every direction, so no diagonal is joined to it.
    Sketch {
        /// U', `[rank, D]`.
        directions_rd: Array2<f64>,
        /// `(l + mu) / (lambda + mu) - 1`, `[rank]`.
        shrink_r: Array1<f64>,
    },
}

impl Preconditioner<'_> {
    /// By a sketch of so many directions: one pass over rows that are streamed. `None` if
    /// there is no direction that the penalty does not hide.
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
        // A shift by what rounding can leave below zero, which the eigenvalues lose again.
        let norm = y_rd.iter().map(|y| y * y).sum::<f64>().sqrt();
        let mut shift = f64::EPSILON * norm * (columns as f64).sqrt();
        let factor = loop {
            let core = cross(&omega_rd, &y_rd) + cross(&omega_rd, &omega_rd) * shift;
            let mut lower = Lower::of(&core);
            if lower.factor() || !norm.is_finite() || norm == 0.0 {
                break lower;
            }
            shift *= 10.0;
        };
        if !norm.is_finite() || norm == 0.0 {
            // Products that are not finite are refused where they are relied on.
            return Ok(None);
        }
        y_rd.scaled_add(shift, &omega_rd);
        drop(omega_rd);
        let mut half_rd = y_rd;
        factor.solve(&mut half_rd);
        let eigen = eigen(&cross(&half_rd, &half_rd))?;
        let values = eigen.values_n.mapv(|v| (v - shift).max(0.0));
        // Directions below the penalty are as even as they are; those near rounding are no
        // directions.
        let least = (0.1 * of.penalty).max(1e-12 * values[0]);
        let kept = values.iter().take_while(|v| **v > least).count();
        if kept == 0 {
            return Ok(None);
        }
        let mut turn_rr = eigen.vectors_nn.slice(s![.., ..kept]).to_owned();
        for (mut column, value) in turn_rr.columns_mut().into_iter().zip(&eigen.values_n) {
            column /= value.sqrt();
        }
        let last = values[kept - 1] + of.penalty;
        let kept_r = values.slice(s![..kept]);
        Ok(Some(Self::Sketch {
            directions_rd: turned(&turn_rr, &half_rd),
            shrink_r: kept_r.mapv(|v| last / (v + of.penalty) - 1.0),
        }))
    }

    /// Directions of the sketch.
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
        let parts: Vec<_> = (out_td.axis_chunks_iter_mut(Axis(1), COLUMNS))
            .zip(directions_rd.axis_chunks_iter(Axis(1), COLUMNS))
            .collect();
        parts.into_par_iter().for_each(|(mut to, directions)| {
            ndarray::linalg::general_mat_mul(1.0, &along, &directions, 1.0, &mut to);
        });
        out_td
    }
}

/// `A B'`, columns summed block after block.
fn cross(a_rd: &Array2<f64>, b_rd: &Array2<f64>) -> Array2<f64> {
    let blocks: Vec<_> = (a_rd.axis_chunks_iter(Axis(1), COLUMNS))
        .zip(b_rd.axis_chunks_iter(Axis(1), COLUMNS))
        .collect();
    let shape = (a_rd.nrows(), b_rd.nrows());
    // Few sums at a time: each is as large as the result.
    let groups = blocks
        .chunks(blocks.len().div_ceil(8).max(1))
        .collect::<Vec<_>>();
    let sums: Vec<Array2<f64>> = groups
        .into_par_iter()
        .map(|group| {
            let mut sum = Array2::zeros(shape);
            for (a, b) in group {
                ndarray::linalg::general_mat_mul(1.0, a, &b.t(), 1.0, &mut sum);
            }
            sum
        })
        .collect();
    sums.into_iter()
        .fold(Array2::zeros(shape), |sum, part| sum + part)
}

/// `T' B`.
fn turned(turn_rk: &Array2<f64>, b_rd: &Array2<f64>) -> Array2<f64> {
    let mut out = Array2::zeros((turn_rk.ncols(), b_rd.ncols()));
    let parts: Vec<_> = (out.axis_chunks_iter_mut(Axis(1), COLUMNS))
        .zip(b_rd.axis_chunks_iter(Axis(1), COLUMNS))
        .collect();
    parts.into_par_iter().for_each(|(mut to, b)| {
        ndarray::linalg::general_mat_mul(1.0, &turn_rk.t(), &b, 0.0, &mut to);
    });
    out
}
