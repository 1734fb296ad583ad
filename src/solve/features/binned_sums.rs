//! Normal equations of binned rows by exact counting for each pair of grids.

use super::{BinnedRows, FeatureProducts};
use crate::{Error, Result, features::UNSEEN, normal::NormalEquations, parallel};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use std::ops::Range;

/// A grid, its columns in the union of all maps, and the value of its features.
struct Grid<'a> {
    columns_n: &'a [u32],
    /// Its first column in the numbering of its map.
    first: u32,
    range: Range<usize>,
    value: f64,
}

/// `Z'Z` and the other sums for maps whose columns are side by side, in f64, for targets `[t, n]`
/// and optional weights `[n]`. Takes n operations per pair of grids, at random addresses of a table
/// of their bins, and `8 D^2` bytes.
///
/// Errors with [`Error::Shape`] if columns belong to none of the parts, as with other maps.
pub(crate) fn binned_sums(
    parts: &mut [BinnedRows],
    y_tn: ArrayView2<'_, f64>,
    weights_n: Option<ArrayView1<'_, f64>>,
) -> Result<NormalEquations> {
    let (targets, n) = y_tn.dim();
    let columns = parts.last().map_or(0, BinnedRows::columns);
    let weights_n = match weights_n {
        Some(weights_n) => weights_n.to_owned(),
        None => Array1::ones(n),
    };
    let weighted_tn = &y_tn * &weights_n;
    let mut zty_td = Array2::zeros((targets, columns));
    let mut z_sum_1d = Array2::zeros((1, columns));
    for part in &mut *parts {
        part.transposed(weighted_tn.view(), &mut zty_td)?;
        part.transposed(weights_n.view().insert_axis(Axis(0)), &mut z_sum_1d)?;
    }
    let grids: Vec<_> = parts.iter().flat_map(BinnedRows::iter_grids).collect();
    let mut end = 0;
    for grid in &grids {
        if grid.range.start != end {
            return Err(Error::shape("binned rows leave columns out"));
        }
        end = grid.range.end;
    }
    Ok(NormalEquations {
        rows: n as u64,
        weight: weights_n.sum(),
        log_weight: weights_n.iter().map(|w: &f64| w.ln()).sum(),
        weight_squares: weights_n.iter().map(|w: &f64| w * w).sum(),
        gram_dd: gram(&grids, columns, &weights_n.to_vec()),
        zty_dt: zty_td.reversed_axes().as_standard_layout().into_owned(),
        z_sum_d: z_sum_1d.row(0).to_owned(),
        y_sum_t: weighted_tn.sum_axis(Axis(1)),
        y_square_t: (&weighted_tn * &y_tn).sum_axis(Axis(1)),
        rest: Vec::new(),
    })
}

impl BinnedRows {
    /// Its grids, in the order of their columns.
    fn iter_grids(&self) -> impl Iterator<Item = Grid<'_>> {
        let ranges = self.starts.windows(2);
        self.grids
            .iter()
            .zip(ranges)
            .map(|(columns_n, range)| Grid {
                columns_n,
                first: range[0] as u32,
                range: self.offset + range[0]..self.offset + range[1],
                value: self.value,
            })
    }
}

/// The lower triangle: a thread owns the rows of a grid.
fn gram(grids: &[Grid<'_>], columns: usize, weights_n: &[f64]) -> Array2<f64> {
    let mut gram_dd = Array2::zeros((columns, columns));
    let mut rest = gram_dd.as_slice_mut().expect("standard layout");
    let mut jobs = Vec::with_capacity(grids.len());
    for (g, grid) in grids.iter().enumerate() {
        let (own, below) = rest.split_at_mut(grid.range.len() * columns);
        jobs.push((g, grid, own));
        rest = below;
    }
    // Starts with the last grids, which take longest.
    jobs.reverse();
    parallel::alone().parts(&mut jobs, &|_, (g, grid, own)| {
        for left in &grids[..=*g] {
            let pairs = grid.columns_n.iter().zip(left.columns_n);
            for ((&a, &b), w) in pairs.zip(weights_n) {
                if a != UNSEEN && b != UNSEEN {
                    let column = left.range.start + (b - left.first) as usize;
                    own[(a - grid.first) as usize * columns + column] += w;
                }
            }
            let value = grid.value * left.value;
            for row in own.chunks_exact_mut(columns) {
                row[left.range.clone()].iter_mut().for_each(|v| *v *= value);
            }
        }
    });
    gram_dd
}
