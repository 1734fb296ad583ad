//! What rows are known by.

use super::{Chunk, KeptRows, Rows, hash};

impl KeptRows {
    /// The hash of each row, in their order.
    #[doc(hidden)]
    pub fn hashes(&self) -> Vec<u64> {
        self.rows.keys().copied().collect()
    }
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
