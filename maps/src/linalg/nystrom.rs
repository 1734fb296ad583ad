//! Leading eigenvectors of a positive semidefinite matrix that was seen in a few products only.

use super::{cholesky::Lower, eigen::eigen};
use crate::{Result, parallel};
use ndarray::{Array1, Array2, Axis, s};

/// Columns that a thread works on at a time.
const COLUMNS: usize = 512;

/// Leading eigenvalues, largest first, and their eigenvectors, a row each.
#[derive(Debug, Clone)]
pub struct Leading {
    /// `[k]`.
    pub values_r: Array1<f64>,
    /// `[k, n]`, orthonormal.
    pub directions_rd: Array2<f64>,
}

/// The randomised Nystrom approximation `Y' (Omega Y')^+ Y` of A from `Y = Omega A`, both
/// `[r, n]`, by its eigenvectors (Tropp, Yurtsever, Udell & Cevher 2017, "Fixed-rank approximation
/// of a positive-semidefinite matrix from streaming data", algorithm 3): those whose eigenvalues
/// are above `least` and not rounding, `None` if there are none or Y is not finite. No eigenvalue
/// is above that of A.
pub fn nystrom(
    omega_rd: Array2<f64>,
    mut y_rd: Array2<f64>,
    least: f64,
) -> Result<Option<Leading>> {
    // A shift by what rounding can leave below zero, which the eigenvalues lose again.
    let norm = y_rd.iter().map(|y| y * y).sum::<f64>().sqrt();
    let mut shift = f64::EPSILON * norm * (y_rd.ncols() as f64).sqrt();
    let factor = loop {
        let core = cross(&omega_rd, &y_rd) + cross(&omega_rd, &omega_rd) * shift;
        let mut lower = Lower::from_matrix(&core);
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
    // Directions near rounding are no directions.
    let least = least.max(1e-12 * values[0]);
    let kept = values.iter().take_while(|v| **v > least).count();
    if kept == 0 {
        return Ok(None);
    }
    let mut turn_rr = eigen.vectors_nn.slice(s![.., ..kept]).to_owned();
    for (mut column, value) in turn_rr.columns_mut().into_iter().zip(&eigen.values_n) {
        column /= value.sqrt();
    }
    Ok(Some(Leading {
        directions_rd: turned(&turn_rr, &half_rd),
        values_r: values.slice(s![..kept]).to_owned(),
    }))
}

/// `A B'`, columns summed block after block.
pub fn cross(a_rd: &Array2<f64>, b_rd: &Array2<f64>) -> Array2<f64> {
    let blocks: Vec<_> = (a_rd.axis_chunks_iter(Axis(1), COLUMNS))
        .zip(b_rd.axis_chunks_iter(Axis(1), COLUMNS))
        .collect();
    let shape = (a_rd.nrows(), b_rd.nrows());
    // Few sums at a time: each is as large as the result.
    let groups = blocks
        .chunks(blocks.len().div_ceil(8).max(1))
        .collect::<Vec<_>>();
    let sums: Vec<Array2<f64>> = parallel::usual().map(groups.len(), &|group| {
        let mut sum = Array2::zeros(shape);
        for (a, b) in groups[group] {
            ndarray::linalg::general_mat_mul(1.0, a, &b.t(), 1.0, &mut sum);
        }
        sum
    });
    sums.into_iter()
        .fold(Array2::zeros(shape), |sum, part| sum + part)
}

/// `T' B`.
fn turned(turn_rk: &Array2<f64>, b_rd: &Array2<f64>) -> Array2<f64> {
    let mut out = Array2::zeros((turn_rk.ncols(), b_rd.ncols()));
    let mut parts: Vec<_> = (out.axis_chunks_iter_mut(Axis(1), COLUMNS))
        .zip(b_rd.axis_chunks_iter(Axis(1), COLUMNS))
        .collect();
    parallel::usual().parts(&mut parts, &|_, (to, b)| {
        ndarray::linalg::general_mat_mul(1.0, &turn_rk.t(), b, 0.0, to);
    });
    out
}
