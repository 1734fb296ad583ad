//! What rows are known by.

use super::{Chunk, Kept, KeptRows, Rows};
use crate::data::{DistinctRow, Observations};
use ndarray::ArrayView1;

impl KeptRows {
    /// The hash of each row, in their order.
    #[doc(hidden)]
    pub fn hashes(&self) -> Vec<u64> {
        self.rows.keys().copied().collect()
    }

    /// Counts the observations behind each row, in the same order.
    #[doc(hidden)]
    pub fn observations(&self) -> Observations {
        let distinct = |row: &Kept| DistinctRow {
            features_hash: hash_of_places(
                row.columns
                    .iter()
                    .map(|&j| u64::from(j))
                    .zip(row.values.iter().copied()),
                ArrayView1::from(&[]),
            ),
            weight: row.weight,
            copies: row.count,
        };
        Observations::count(&Vec::from_iter(self.rows.values().map(distinct)))
    }
}

/// The last steps of splitmix64 (Steele, Lea & Flood 2014), which spread every bit over all.
fn mix(mut h: u64) -> u64 {
    h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    h ^ (h >> 31)
}

/// A hash of what a row holds: a sum over its values that are not zero, each mixed with its place,
/// so that a loop over columns has no chain.
#[doc(hidden)]
pub fn hash(x: impl Iterator<Item = f64>, targets: ArrayView1<'_, f64>) -> u64 {
    hash_of_places((0..).zip(x), targets)
}

/// The same from the columns that are not zero and their values.
pub(super) fn hash_of_places(
    x: impl Iterator<Item = (u64, f64)>,
    targets: ArrayView1<'_, f64>,
) -> u64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let at = |place: u64, value: f64| {
        if value == 0.0 {
            0
        } else {
            mix(value.to_bits() ^ place.wrapping_mul(GOLDEN))
        }
    };
    let sum = |first: u64, sum: u64, (j, value)| sum.wrapping_add(at(first + j, value));
    let of_x = x.fold(0, |all, next| sum(1, all, next));
    let targets = targets.iter().copied();
    let of_y = (0..)
        .zip(targets)
        .fold(0, |all, next| sum(1 << 40, all, next));
    mix(of_x.wrapping_add(of_y))
}

/// The hash that a row of a chunk is kept by.
#[doc(hidden)]
pub fn hash_of_row(chunk: &Chunk, row: usize) -> u64 {
    let y = chunk.y.row(row);
    match &chunk.x {
        Rows::F32(x) => hash(x.row(row).iter().map(|&v| f64::from(v)), y),
        Rows::F64(x) => hash(x.row(row).iter().copied(), y),
    }
}

/// A hash of the features of a row.
pub(in crate::data) fn hash_of_features(chunk: &Chunk, row: usize) -> u64 {
    let none = ArrayView1::from(&[]);
    match &chunk.x {
        Rows::F32(x) => hash(x.row(row).iter().map(|&v| f64::from(v)), none),
        Rows::F64(x) => hash(x.row(row).iter().copied(), none),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    /// Rows are known by what a chunk says of them in either precision, and those that are there
    /// twice are one.
    #[test]
    fn rows_are_known_by_their_contents() {
        let x = array![[1.0, 0.0], [2.0, 0.5], [1.0, 0.0], [3.0, 0.25]];
        let y = Array2::from_shape_fn((4, 1), |(i, _)| [1.0, 2.0, 1.0, 1.0][i]);
        let chunk = |x: Rows| Chunk {
            x,
            y: y.clone(),
            weights: None,
        };
        let double = chunk(Rows::F64(x.clone()));
        let single = chunk(Rows::F32(x.mapv(|v| v as f32)));
        let mut kept = KeptRows::new(10, (2, 1));
        kept.look_at(&double);
        let mut expected = [1, 2, 0, 3].map(|i| {
            assert_eq!(hash_of_row(&double, i), hash_of_row(&single, i));
            hash_of_row(&double, i)
        });
        expected.sort_unstable();
        let mut different = expected.to_vec();
        different.dedup();
        assert_eq!(kept.hashes(), different);
        assert_eq!(different.len(), 3);
    }
}
