//! From a sequence in the unit cube to frequencies: coordinate j of every point, then the measure's
//! map, point by point.

use super::Frequencies;
use crate::{
    error::{Error, Result},
    kernels::SpectralMeasure,
    parallel,
};
use ndarray::Array2;

/// The spacing of the points that sequences give: odd multiples of it, so never 0 or 1 and
/// symmetric about 1/2.
pub(super) const GRID: f64 = 1.0 / (1_u64 << 53) as f64;

/// Points that a thread maps at a time.
const ROWS: usize = 16;

/// The point of the open unit interval whose first 53 binary digits are `bits`, moved to the odd
/// grid.
pub(super) fn open_unit(bits: u64) -> f64 {
    (bits | 1) as f64 * GRID
}

/// `t` kept inside the open unit interval.
pub(super) fn clamp_open(t: f64) -> f64 {
    t.clamp(GRID, 1.0 - GRID)
}

/// A sequence of points in the unit cube, given coordinate by coordinate.
pub(super) trait Sequence: Send + Sync {
    /// Writes coordinate `j` of points 0.. into `column`, every value in (0, 1).
    fn coordinate(&self, j: usize, column: &mut [f64]);
}

/// How many coordinates `measure` takes for d columns, with one more, the last, for the offsets of
/// the phase form.
pub(super) fn cube_dim(
    measure: &dyn SpectralMeasure,
    d: usize,
    with_phases: bool,
) -> Result<usize> {
    let dim = measure.cube_dim(d).ok_or_else(|| {
        Error::unsupported(
            "this kernel's spectral measure has no map from the unit cube, which quasi-Monte Carlo needs; \
             use monte-carlo or orthogonal sampling",
        )
    })?;
    Ok(dim + usize::from(with_phases))
}

/// Fails when a table of `available` coordinates is too short for `dim`.
pub(super) fn check_table(name: &str, dim: usize, available: usize) -> Result<()> {
    if dim <= available {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "{name} sampling needs {dim} coordinates here; its table{} has {available}: \
         use halton (scrambled), orthogonal or monte-carlo",
        if cfg!(target_family = "wasm") {
            " in a page"
        } else {
            ""
        }
    )))
}

/// Maps the first `s` points of `sequence`, of `dim` coordinates each, to frequencies.
pub(super) fn draw(
    sequence: &dyn Sequence,
    measure: &dyn SpectralMeasure,
    (s, d): (usize, usize),
    dim: usize,
    with_phases: bool,
) -> Frequencies {
    let mut columns = vec![0.0; dim * s];
    parallel::usual().chunks(&mut columns, s, &|j, column| sequence.coordinate(j, column));
    let phases = with_phases.then(|| columns[(dim - 1) * s..].to_vec());
    let mut omega_sd = Array2::zeros((s, d));
    let width = dim - usize::from(with_phases);
    if let Some(omega) = omega_sd.as_slice_mut() {
        parallel::usual().chunks(omega, ROWS * d, &|block, rows| {
            let mut point = vec![0.0; width];
            for (l, row) in (block * ROWS..).zip(rows.chunks_mut(d)) {
                for (j, t) in point.iter_mut().enumerate() {
                    *t = columns[j * s + l];
                }
                measure.map_cube(&point, row);
            }
        });
    }
    Frequencies {
        omega_sd,
        phases,
        weights: None,
    }
}
