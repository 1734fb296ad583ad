//! Rows whose features occur with several targets, for splits by contents.

use super::{
    Chunk, ChunkSource, DistinctRow, hash_of_row,
    kept_rows::hash_of_features,
    observations::{Frequencies, have_other_targets},
    parting::hash,
};
use crate::Result;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// Distinct rows above which a table does not count as one of few different rows.
const MAX_DISTINCT: usize = 1 << 16;

/// Rows of a table of few different rows that share their features with rows of other targets, such
/// as the answers within a cell of a survey.
///
/// A split by contents holds out all rows of the same features together. For these rows that would
/// leave nothing to predict a cell by, so that each of their observations is drawn by itself, by
/// its contents and its number among its copies: the parts are the same in any order of the rows.
#[derive(Debug, Clone, Default)]
#[doc(hidden)]
pub struct Repeats {
    rows: HashSet<u64>,
    frequencies: Frequencies,
}

impl Repeats {
    /// Reads a source from its first row, and rewinds it. None of its rows repeat if more than
    /// 65,536 of them are distinct.
    ///
    /// Errors as the source does.
    #[doc(hidden)]
    pub fn find(source: &mut dyn ChunkSource, chunk_rows: usize) -> Result<Arc<Self>> {
        source.rewind()?;
        let mut distinct: HashMap<u64, DistinctRow> = HashMap::new();
        while let Some(chunk) = source.next_chunk(chunk_rows)? {
            for i in 0..chunk.y.nrows() {
                let weight = chunk.weights.as_ref().map_or(1.0, |w| w[i]);
                if weight > 0.0 {
                    let row =
                        distinct
                            .entry(hash_of_row(&chunk, i))
                            .or_insert_with(|| DistinctRow {
                                features_hash: hash_of_features(&chunk, i),
                                weight: 0.0,
                                copies: 0,
                            });
                    row.weight += weight;
                    row.copies += 1;
                }
            }
            if distinct.len() > MAX_DISTINCT {
                distinct.clear();
                break;
            }
        }
        source.rewind()?;
        let (hashes, rows): (Vec<u64>, Vec<DistinctRow>) = distinct.into_iter().unzip();
        let repeated = hashes.into_iter().zip(have_other_targets(&rows));
        Ok(Arc::new(Self {
            rows: repeated
                .filter(|(_, differ)| *differ)
                .map(|(hash, _)| hash)
                .collect(),
            frequencies: Frequencies::of(&rows),
        }))
    }

    /// Observations behind rows with these weights.
    #[doc(hidden)]
    pub fn observations(&self, weights: &[f64]) -> f64 {
        let total = self.frequencies.of_weight(weights.iter().sum());
        total.unwrap_or(weights.len() as f64)
    }

    /// Starts counting copies from the first row on.
    pub(super) fn counter(self: &Arc<Self>) -> CopyCounter {
        CopyCounter {
            repeats: self.clone(),
            copies: HashMap::new(),
        }
    }
}

/// Copies of repeated rows that have passed.
#[derive(Debug, Clone, Default)]
pub(super) struct CopyCounter {
    repeats: Arc<Repeats>,
    copies: HashMap<u64, u64>,
}

impl CopyCounter {
    pub(super) fn restart(&mut self) {
        self.copies.clear();
    }

    /// Share of the observations of row `i` that fall into a fraction of all; `None` for a row that
    /// does not repeat.
    pub(super) fn share_below(
        &mut self,
        chunk: &Chunk,
        i: usize,
        (fraction, seed): (f64, u64),
    ) -> Option<f64> {
        if self.repeats.rows.is_empty() {
            return None;
        }
        let row = hash_of_row(chunk, i);
        if !self.repeats.rows.contains(&row) {
            return None;
        }
        let weight = chunk.weights.as_ref().map_or(1.0, |w| w[i]);
        let copies = self.copies.entry(row).or_insert(0);
        let (first, count) = self.repeats.frequencies.observations(*copies, weight);
        *copies += 1;
        let is_below = |number: &u64| {
            let uniform = hash(seed, row.wrapping_add(*number)) >> 11;
            (uniform as f64 * 2_f64.powi(-53)) < fraction
        };
        let below = (first..first + count).filter(is_below).count();
        Some(below as f64 / count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{MemorySource, Part, Split};
    use ndarray::{Array1, Array2};

    /// Weight of each answer in each of two cells within a part.
    fn weights(rows: &[(f64, f64, f64)], part: Part) -> [[f64; 2]; 2] {
        let x = Array2::from_shape_fn((rows.len(), 1), |(i, _)| rows[i].0);
        let y = Array2::from_shape_fn((rows.len(), 1), |(i, _)| rows[i].1);
        let w = Array1::from_iter(rows.iter().map(|row| row.2));
        let source = MemorySource::new(&x, Some(y)).expect("rows");
        let mut source = source.with_weights(w).expect("weights");
        let repeats = Repeats::find(&mut source, 7).expect("reads");
        let mut split = Split::by_contents(source, part, 0.2, 1, &repeats);
        let mut sums = [[0.0; 2]; 2];
        while let Some(chunk) = split.next_chunk(16).expect("reads") {
            let w = chunk.weights.expect("weights");
            let x = chunk.x.into_f64();
            for i in 0..w.len() {
                sums[x[[i, 0]] as usize][chunk.y[[i, 0]] as usize] += w[i];
            }
        }
        sums
    }

    /// Each part has its share of every answer in every cell, for rows in any order and for
    /// frequencies in any unit alike.
    #[test]
    fn cells_are_in_both_parts() {
        let counts = [
            (0.0, 0.0, 140.0),
            (0.0, 1.0, 60.0),
            (1.0, 0.0, 75.0),
            (1.0, 1.0, 25.0),
        ];
        let mut rows = Vec::new();
        for (x, y, count) in counts {
            rows.extend((0..count as usize).map(|_| (x, y, 1.0)));
        }
        let held_out = weights(&rows, Part::Test);
        let kept = weights(&rows, Part::Train);
        for (x, y, count) in counts {
            let (held, kept) = (
                held_out[x as usize][y as usize],
                kept[x as usize][y as usize],
            );
            assert_eq!(held + kept, count);
            let off = (held - 0.2 * count) / (0.16 * count).sqrt();
            assert!(off.abs() < 4.0, "{held} of {count}");
        }
        rows.reverse();
        assert_eq!(weights(&rows, Part::Test), held_out);
        for unit in [1.0, 0.5] {
            let frequencies = counts.map(|(x, y, count)| (x, y, count * unit));
            let of = weights(&frequencies, Part::Test);
            for (of, held) in of.iter().flatten().zip(held_out.iter().flatten()) {
                assert!((of / unit - held).abs() < 1e-9, "{of} {held}");
            }
        }
        let twice: Vec<_> = rows.iter().chain(&rows).copied().collect();
        let of = weights(&twice, Part::Test).map(|cell| cell.map(|w| w / 2.0));
        assert_eq!(of, held_out);
    }

    /// Copies with one target leave together: each of the rows is in one part.
    #[test]
    fn copies_stay_together() {
        let rows: Vec<_> = (0..200)
            .map(|i| (f64::from(i % 2), f64::from(i % 2), 1.0))
            .collect();
        let held_out = weights(&rows, Part::Test);
        assert!(
            held_out.iter().flatten().all(|w| *w == 0.0 || *w == 100.0),
            "{held_out:?}"
        );
    }
}
