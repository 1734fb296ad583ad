//! In which order a race looks at the rows.

use crate::{
    Result,
    data::{ChunkSource, KeptRows, hash_of_contents, ranks},
    order::ascending,
};
use ndarray::{Array2, Axis, s};

/// Columns that tell rows apart, at most.
const COLUMNS: usize = 256;

/// The kept rows by hashes of their ranks: of how many values are less, in each of the first 256
/// columns and each target. The first of them are a uniform sample of all, in any order of the
/// rows, and the same one where a column has another unit or another zero, or goes through any
/// rising function.
pub(super) fn by_ranks(kept: &KeptRows) -> Result<Vec<usize>> {
    let Some(chunk) = kept.source().next_chunk(kept.len().max(1))? else {
        return Ok(Vec::new());
    };
    let x_md = chunk.x.into_f64();
    let d = x_md.ncols().min(COLUMNS);
    let x_md = ranks_by_column(&x_md.slice_move(s![.., ..d]));
    let y_mt = ranks_by_column(&chunk.y);
    let hashes: Vec<u64> = (x_md.outer_iter().zip(y_mt.outer_iter()))
        .map(|(x, y)| hash_of_contents(x.iter().copied(), y))
        .collect();
    // Rows of one hash stay in the order of their contents.
    Ok(ascending(hashes.len(), &|i, j| hashes[i].cmp(&hashes[j])))
}

/// How many values of its column are less than each.
fn ranks_by_column(of_md: &Array2<f64>) -> Array2<f64> {
    let mut ranks_md = Array2::zeros(of_md.dim());
    for (values, mut to) in of_md
        .axis_iter(Axis(1))
        .zip(ranks_md.axis_iter_mut(Axis(1)))
    {
        to.assign(&ranks(values));
    }
    ranks_md
}
