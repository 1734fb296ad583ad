//! A sample of rows, and the median distance between them.

use crate::data::parting::hash;
use crate::error::{Error, Remedy, Result};
use crate::kernels::Norm;
use crate::parallel;
use crate::store::Store;
use ndarray::{Array2, ArrayView2, Axis};
use std::collections::BinaryHeap;

/// Keeps the rows with the smallest `hash(seed, index)`: a uniform sample without replacement that
/// does not depend on how rows come in chunks.
#[derive(Debug, Clone)]
pub(in crate::data) struct Reservoir {
    columns: usize,
    most: usize,
    seed: u64,
    /// Key, index in the source, and place in `values` of each row kept; the largest key on top.
    kept: BinaryHeap<(u64, u64, usize)>,
    values: Vec<f64>,
}

impl Reservoir {
    pub(in crate::data) fn new(columns: usize, most: usize, seed: u64) -> Self {
        // Not the hash that splits training from test rows with the same seed: the kept rows would
        // share a trait.
        let seed = hash(seed, u64::from_le_bytes(*b"survey.."));
        Self {
            columns,
            most,
            seed,
            kept: BinaryHeap::new(),
            values: Vec::new(),
        }
    }

    /// Offers row `index` of the source.
    pub(in crate::data) fn offer(&mut self, index: u64, row: &[f64]) {
        let key = hash(self.seed, index);
        if self.kept.len() < self.most {
            self.kept.push((key, index, self.kept.len()));
            self.values.extend_from_slice(row);
        } else if let Some(mut top) = self.kept.peek_mut()
            && (key, index) < (top.0, top.1)
        {
            let place = top.2;
            *top = (key, index, place);
            self.values[place * self.columns..][..self.columns].copy_from_slice(row);
        }
    }

    /// Offers the rows that another one kept. Errors when it keeps others by another rule.
    pub(super) fn merge(&mut self, other: &Self) -> Result<()> {
        let rule = |it: &Self| (it.columns, it.most, it.seed);
        if rule(self) != rule(other) {
            return Err(Error::shape(
                "parts of a survey sample by other seeds or numbers of rows; give all the same",
            ));
        }
        for &(_, index, place) in &other.kept {
            self.offer(index, &other.values[place * self.columns..][..self.columns]);
        }
        Ok(())
    }

    pub(super) fn store(&self) -> Store {
        let mut store = Store::default();
        store.set("most", self.most);
        store.set("seed", self.seed);
        let kept: Vec<_> = self.kept.iter().collect();
        let index = Array2::from_shape_fn((kept.len(), 2), |(i, half)| {
            (kept[i].1 >> (32 * half)) as u32
        });
        let values = Array2::from_shape_fn((kept.len(), self.columns), |(i, j)| {
            self.values[kept[i].2 * self.columns + j]
        });
        store.put_u32("index", index.view());
        store.put_f64("values", values.view());
        store
    }

    pub(super) fn read(store: &Store, columns: usize) -> Result<Self> {
        let (most, seed) = (store.get("most")?, store.get("seed")?);
        let (index, values) = (store.u32("index")?, store.f64("values")?);
        let rows = index.nrows();
        if index.ncols() != 2 || values.dim() != (rows, columns) || rows > most {
            return Err(Error::format("the sample of a survey is damaged"));
        }
        let index = |i: usize| u64::from(index[[i, 0]]) | u64::from(index[[i, 1]]) << 32;
        Ok(Self {
            columns,
            most,
            seed,
            kept: (0..rows)
                .map(|i| (hash(seed, index(i)), index(i), i))
                .collect(),
            values: values.into_iter().collect(),
        })
    }

    /// The rows kept, in the order of the source, and their indices.
    pub(in crate::data) fn finish(self) -> Result<(Array2<f64>, Vec<u64>)> {
        let mut kept: Vec<_> = self
            .kept
            .into_iter()
            .map(|(_, index, place)| (index, place))
            .collect();
        kept.sort_unstable();
        let values = Array2::from_shape_vec((kept.len(), self.columns), self.values)
            .map_err(|error| Error::shape(error.to_string()))?;
        let places: Vec<_> = kept.iter().map(|&(_, place)| place).collect();
        let indices = kept.into_iter().map(|(index, _)| index).collect();
        Ok((values.select(Axis(0), &places), indices))
    }
}

/// So many rows enter the median distance at most.
const MOST_ROWS: usize = 2000;
/// Rows compared with one row while they stay in second-level cache.
const TILE: usize = 32;

/// The median of the distances between all pairs of rows of `sample` `[m, d]`: the bandwidth sigma
/// of the `median` rule, or 1/gamma with [`Norm::L1`]. Of an even number of pairs it is the mean of
/// the middle two. If m exceeds 2,000, then 2,000 rows spread evenly over the sample are taken.
///
/// Errors with [`Error::Shape`] if there are fewer than two rows, and with [`Error::Numerical`] if
/// the median is 0 (at least half of the pairs are the same row twice) or exceeds the range of f64.
#[doc(hidden)]
pub fn median_distance(sample: ArrayView2<'_, f64>, norm: Norm) -> Result<f64> {
    let median = median(&mut distances(sample, norm)?, norm)?;
    if median == 0.0 {
        return Err(Error::numerical(
            "the median distance is 0, because most pairs of sampled rows are equal; give the \
             bandwidth as a number or remove duplicate rows",
        ));
    }
    Ok(median)
}

/// [`median_distance`], or, where at least half of the pairs are equal rows, the median distance of
/// the pairs that are not: counts and flags have a scale, too.
///
/// Errors as [`median_distance`] does, but with [`Error::Numerical`] on a distance of 0 only if all
/// rows are equal.
#[doc(hidden)]
pub fn typical_distance(sample: ArrayView2<'_, f64>, norm: Norm) -> Result<f64> {
    let mut distances = distances(sample, norm)?;
    let all = median(&mut distances, norm)?;
    if all > 0.0 {
        return Ok(all);
    }
    distances.retain(|&distance| distance > 0.0);
    if distances.is_empty() {
        let problem = "the median distance is 0, because all sampled rows are equal; take the \
                       rule `scale`, which sees all rows";
        return Err(Error::numerical(problem).help(Remedy::GiveBandwidth));
    }
    median(&mut distances, norm)
}

/// Distances between all pairs of rows; L2 distances as their squares.
fn distances(sample: ArrayView2<'_, f64>, norm: Norm) -> Result<Vec<f64>> {
    let rows = sample.nrows();
    if rows < 2 {
        return Err(Error::shape(format!(
            "the median distance needs at least 2 rows and there are {rows}; give more rows or a number"
        )));
    }
    let rows = distance_rows(sample);
    let views: Vec<_> = rows.rows().into_iter().collect();
    let slices: Vec<&[f64]> = views.iter().filter_map(|row| row.as_slice()).collect();
    let distances = parallel::usual().map(slices.len().div_ceil(TILE), &|tile| {
        let start = tile * TILE;
        let end = (start + TILE).min(slices.len());
        let mut distances = Vec::new();
        for i in 0..end {
            // Each pair once: its larger index lies in the tile.
            for j in start.max(i + 1)..end {
                distances.push(between(slices[i], slices[j], norm));
            }
        }
        distances
    });
    Ok(distances.concat())
}

/// The median of what [`distances`] gives, at least one; of an even number the mean of the middle
/// two.
fn median(distances: &mut [f64], norm: Norm) -> Result<f64> {
    let distance = |value: f64| {
        if norm == Norm::L2 {
            value.sqrt()
        } else {
            value
        }
    };
    let middle = distances.len() / 2;
    let even = distances.len().is_multiple_of(2);
    let (below, &mut upper, _) = distances.select_nth_unstable_by(middle, f64::total_cmp);
    let mut median = distance(upper);
    if even {
        let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        median = distance(lower) / 2.0 + median / 2.0;
    }
    if !median.is_finite() {
        return Err(Error::numerical(
            "the median distance exceeds the range of f64; rescale the columns",
        ));
    }
    Ok(median)
}

/// The mean over rows of `sample` `[m, d]` of the distance to the nearest other row, in `norm`. If
/// m exceeds 2,000, then 2,000 rows spread evenly over the sample are taken; of fewer than two rows
/// it is 0.
///
/// ```
/// use bochner::{data::nearest_distance, kernels::Norm};
/// let rows = ndarray::array![[0.0], [1.0], [4.0]];
/// assert_eq!(nearest_distance(rows.view(), Norm::L2), (1.0 + 1.0 + 3.0) / 3.0);
/// ```
#[doc(hidden)]
pub fn nearest_distance(sample: ArrayView2<'_, f64>, norm: Norm) -> f64 {
    let rows = distance_rows(sample);
    let views: Vec<_> = rows.rows().into_iter().collect();
    let slices: Vec<&[f64]> = views.iter().filter_map(|row| row.as_slice()).collect();
    if slices.len() < 2 {
        return 0.0;
    }
    let nearest = parallel::usual().map(slices.len(), &|i| {
        let others = (0..slices.len()).filter(|&j| j != i);
        let all = others.map(|j| between(slices[i], slices[j], norm));
        let least = all.fold(f64::INFINITY, f64::min);
        match norm {
            Norm::L1 => least,
            Norm::L2 => least.sqrt(),
        }
    });
    nearest.iter().sum::<f64>() / slices.len() as f64
}

/// The rows that distances are taken between, in order in memory.
fn distance_rows(sample: ArrayView2<'_, f64>) -> Array2<f64> {
    let rows = sample.nrows();
    let taken = rows.min(MOST_ROWS);
    let indices: Vec<_> = (0..taken).map(|i| i * rows / taken).collect();
    let rows = sample.select(Axis(0), &indices);
    rows.as_standard_layout().into_owned()
}

/// The distance, or its square in L2.
fn between(a: &[f64], b: &[f64], norm: Norm) -> f64 {
    match norm {
        Norm::L1 => sum(a, b, f64::abs),
        Norm::L2 => sum(a, b, |difference| difference * difference),
    }
}

/// The sum of `term(a - b)`, in eight partial sums that the compiler keeps in vector registers.
fn sum(a: &[f64], b: &[f64], term: impl Fn(f64) -> f64) -> f64 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for k in 0..8 {
            sums[k] += term(a[k] - b[k]);
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| term(a - b)).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::{median_distance, typical_distance};
    use crate::kernels::Norm;
    use ndarray::{Array2, array};

    /// Pairs of equal rows carry no information about the scale of a flag or a count.
    #[test]
    fn most_rows_may_be_equal() {
        let of = |x: &Array2<f64>| typical_distance(x.view(), Norm::L2);
        let flag = Array2::from_shape_fn((20, 1), |(i, _)| if i % 5 == 0 { 3.0 } else { 0.0 });
        assert!(median_distance(flag.view(), Norm::L2).is_err());
        assert_eq!(of(&flag).expect("varies"), 3.0);
        let mut count = Array2::zeros((10, 1));
        count[[3, 0]] = 1.0;
        count[[7, 0]] = 5.0;
        // Distances above 0: eight of 1, one of 4 and eight of 5.
        assert_eq!(of(&count).expect("varies"), 4.0);
        // Elsewhere it is the median: of 1, 2 and 3.
        let spread = array![[0.0], [1.0], [3.0]];
        assert_eq!(of(&spread).expect("varies"), 2.0);
        let message = of(&Array2::ones((9, 2))).expect_err("constant");
        let message = message.to_string();
        assert!(message.contains("take the rule `scale`"), "{message}");
    }
}
