//! Order in which sampled rows are used.

use super::ENOUGH;
use crate::{
    Result,
    data::{ChunkSource, KeptRows, grouped, hash_of_contents, ranks},
    order::ascending,
};
use ndarray::{Array1, Array2, ArrayView1, Axis, s};

/// Largest number of columns whose ranks are hashed.
const COLUMNS: usize = 256;
/// One of this number of rows is held out.
const HELD_OUT: usize = 4;

/// The order in which a race takes kept rows, and the key of each row in that order.
pub(super) struct RowOrder {
    /// Places of the rows.
    pub(super) rows: Vec<usize>,
    /// Ascending keys u / w of rows with uniform u and weights w of mean 1.
    pub(super) keys: Vec<f64>,
}

impl RowOrder {
    /// Places of this order with the hold-out rows last, and the number of rows before them. With
    /// enough rows a quarter is held out: whole groups if rows have groups, every fourth place if
    /// they have weights, since light rows come last.
    pub(super) fn held_last(
        &self,
        groups_m: Option<&[u32]>,
        weights_m: ArrayView1<'_, f64>,
    ) -> (Vec<usize>, usize) {
        let m = self.rows.len();
        if m < ENOUGH {
            return ((0..m).collect(), m);
        }
        let by_groups =
            groups_m.and_then(|groups_m| grouped::held_out(groups_m, 1.0 / HELD_OUT as f64));
        let is_held = |place: usize| match &by_groups {
            Some(held) => held[self.rows[place]],
            None if weights_m.iter().any(|weight| *weight != weights_m[0]) => {
                place % HELD_OUT == HELD_OUT - 1
            }
            None => place >= m - m / HELD_OUT,
        };
        let (held, seen): (Vec<usize>, Vec<usize>) = (0..m).partition(|&place| is_held(place));
        let before = seen.len();
        (seen.into_iter().chain(held).collect(), before)
    }
}

/// Orders kept rows by priority sampling: by u / w, with u from a hash of the row's ranks (how many
/// values are less, in each of the first 256 columns and each target). The first of them are a
/// sample of all rows in which each is as likely as its weight is large (Duffield, Lund & Thorup
/// 2007, "Priority sampling for estimation of arbitrary subset sums"); without weights, a uniform
/// one. It is the same in any order of the rows, and where a column has another unit or another
/// zero, or goes through any rising function.
pub(super) fn by_priority(kept: &KeptRows) -> Result<RowOrder> {
    let Some(chunk) = kept.source().next_chunk(kept.len().max(1))? else {
        let (rows, keys) = (Vec::new(), Vec::new());
        return Ok(RowOrder { rows, keys });
    };
    let x_md = chunk.x.into_f64();
    let d = x_md.ncols().min(COLUMNS);
    let x_md = ranks_by_column(&x_md.slice_move(s![.., ..d]));
    let y_mt = ranks_by_column(&chunk.y);
    let hashes: Vec<u64> = (x_md.outer_iter().zip(y_mt.outer_iter()))
        .map(|(x, y)| hash_of_contents(x.iter().copied(), y))
        .collect();
    let weights_m = chunk.weights.unwrap_or_else(|| Array1::ones(hashes.len()));
    let mean = weights_m.sum() / hashes.len() as f64;
    let keys = hashes.iter().zip(&weights_m);
    let keys = keys.map(|(&hash, weight)| hash as f64 * 2_f64.powi(-64) * mean / weight);
    let keys = Vec::from_iter(keys);
    // Rows of one hash stay in the order of their contents.
    let rows = ascending(hashes.len(), &|i, j| {
        let by_key = keys[i].total_cmp(&keys[j]);
        by_key.then(hashes[i].cmp(&hashes[j]))
    });
    let keys = rows.iter().map(|&i| keys[i]).collect();
    Ok(RowOrder { rows, keys })
}

/// Returns for each value how many values of its column are less.
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
