//! Rows whose features occur with several targets, for splits by contents.

use super::{
    Chunk, ChunkSource, DistinctRow, hash_of_row,
    kept_rows::hash_of_features,
    observations::{Frequencies, have_other_targets},
    parting::hash,
    survey,
};
use crate::Result;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// Distinct rows above which a table does not count as one of few different rows.
const MAX_DISTINCT: usize = 1 << 16;

/// Copies above which none is numbered.
const MAX_COPIES: usize = 1 << 20;

/// Rows of a table that occur more than once.
///
/// Rows that share their features with rows of other targets, such as the answers within a cell of
/// a survey, are information. A split by contents holds out all rows of the same features together,
/// which would leave nothing to predict a cell by. So each of these observations is drawn by
/// itself, by its contents and its number among its copies: the parts are the same in any order of
/// the rows.
///
/// Copies whose features have no other targets tell nothing new, and predict each other: a split
/// that [keeps copies together](super::Split::keep_copies_together) has all of them in one part.
#[derive(Debug, Clone, Default)]
#[doc(hidden)]
pub struct Repeats {
    /// Hashes of rows that share their features with other targets.
    answers: HashSet<u64>,
    /// Number of the first copy of each row that occurs more than once, by its hash, unless it
    /// shares its features with other targets.
    first_copies: HashMap<u64, u64>,
    /// Number of the first copy of each later one, by the number of the row, if that is known.
    first_of_copies: Option<HashMap<u64, u64>>,
    frequencies: Frequencies,
    /// Number of distinct rows; `None` above 65,536.
    distinct: Option<usize>,
}

impl Repeats {
    /// Reads a source from its first row, and rewinds it. None of its rows repeat if more than
    /// 65,536 of them are distinct.
    ///
    /// Errors as the source does.
    #[doc(hidden)]
    pub fn find(source: &mut dyn ChunkSource, chunk_rows: usize) -> Result<Arc<Self>> {
        source.rewind()?;
        let mut distinct: HashMap<u64, (DistinctRow, u64)> = HashMap::new();
        let mut read = 0;
        let mut is_known = true;
        while let Some(chunk) = source.next_chunk(chunk_rows)? {
            for i in 0..chunk.y.nrows() {
                let weight = chunk.weights.as_ref().map_or(1.0, |w| w[i]);
                if weight > 0.0 {
                    let row = distinct.entry(hash_of_row(&chunk, i));
                    let (row, _) = row.or_insert_with(|| {
                        let row = DistinctRow {
                            features_hash: hash_of_features(&chunk, i),
                            weight: 0.0,
                            copies: 0,
                        };
                        (row, read + i as u64)
                    });
                    row.weight += weight;
                    row.copies += 1;
                }
            }
            read += chunk.y.nrows() as u64;
            if distinct.len() > MAX_DISTINCT {
                distinct.clear();
                is_known = false;
                break;
            }
        }
        source.rewind()?;
        let rows: Vec<DistinctRow> = distinct.values().map(|(row, _)| *row).collect();
        let mut found = Self {
            frequencies: Frequencies::of(&rows),
            distinct: is_known.then_some(rows.len()),
            ..Self::default()
        };
        let differ = have_other_targets(&rows);
        for ((hash, (row, first)), differs) in distinct.into_iter().zip(differ) {
            if differs {
                found.answers.insert(hash);
            } else if row.copies > 1 {
                found.first_copies.insert(hash, first);
            }
        }
        Ok(Arc::new(found))
    }

    /// Number of distinct rows, features and targets; `None` above 65,536.
    #[doc(hidden)]
    pub fn distinct_rows(&self) -> Option<usize> {
        self.distinct
    }

    /// Observations behind rows with these weights.
    #[doc(hidden)]
    pub fn observations(&self, weights: &[f64]) -> f64 {
        let total = self.frequencies.of_weight(weights.iter().sum());
        total.unwrap_or(weights.len() as f64)
    }

    /// Observations behind rows of this total weight, of which `effective` would be as informative
    /// if weights were measurements.
    #[doc(hidden)]
    pub fn effective_rows(&self, weight: f64, effective: f64) -> f64 {
        let total = self.frequencies.of_weight(weight);
        total.unwrap_or(effective / self.frequencies.copies as f64)
    }

    /// Whether some rows have copies that are to stay together.
    pub(super) fn has_copies(&self) -> bool {
        let are_numbered = self
            .first_of_copies
            .as_ref()
            .is_some_and(|copies| !copies.is_empty());
        are_numbered || !self.first_copies.is_empty()
    }

    /// As [`Self::find`], and numbers the copies, so that a split of another reading of the same
    /// rows finds them, whose columns may be encoded in another way. Reads the source once more if
    /// there are copies; of more than a million copies none is known.
    ///
    /// Errors as the source does.
    #[doc(hidden)]
    pub fn number(source: &mut dyn ChunkSource, chunk_rows: usize) -> Result<Arc<Self>> {
        let found = survey::settled(source, |source| Self::find(source, chunk_rows))?;
        let mut found = Arc::unwrap_or_clone(found);
        let copies = found.numbers(source, chunk_rows)?;
        found.first_copies.clear();
        found.first_of_copies = Some(copies);
        Ok(Arc::new(found))
    }

    /// Number of the first copy of each later one, by the number of the row.
    fn numbers(
        &self,
        source: &mut dyn ChunkSource,
        chunk_rows: usize,
    ) -> Result<HashMap<u64, u64>> {
        let (mut copies, mut row) = (HashMap::new(), 0);
        if !self.has_copies() {
            return Ok(copies);
        }
        while let Some(chunk) = source.next_chunk(chunk_rows)? {
            for i in 0..chunk.y.nrows() {
                let first = self.first_copy(&chunk, i, row);
                if let Some(first) = first.filter(|first| *first != row) {
                    copies.insert(row, first);
                }
                row += 1;
            }
            if copies.len() > MAX_COPIES {
                copies.clear();
                break;
            }
        }
        source.rewind()?;
        Ok(copies)
    }

    /// Number of the first copy of row `i` of a chunk, whose number is `row`, if copies of it are
    /// to stay together.
    pub(super) fn first_copy(&self, chunk: &Chunk, i: usize, row: u64) -> Option<u64> {
        if let Some(first_of_copies) = &self.first_of_copies {
            return first_of_copies.get(&row).copied();
        }
        if self.first_copies.is_empty() {
            return None;
        }
        self.first_copies.get(&hash_of_row(chunk, i)).copied()
    }

    /// Number of the first copy of a row, which is its own if it has none before it; `None` where
    /// its contents have to say.
    pub(super) fn first_of_row(&self, row: u64) -> Option<u64> {
        let first_of_copies = self.first_of_copies.as_ref()?;
        Some(first_of_copies.get(&row).copied().unwrap_or(row))
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
        if self.repeats.answers.is_empty() {
            return None;
        }
        let row = hash_of_row(chunk, i);
        if !self.repeats.answers.contains(&row) {
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

    /// Copies are all in the part of the first; answers of a cell are drawn one by one.
    #[test]
    fn copies_are_in_the_part_of_the_first() {
        // Rows 0 to 49 with one target each, then the same again; and a cell with two answers.
        let row = |i: usize| if i < 100 { i % 50 } else { 1000 };
        let x = Array2::from_shape_fn((140, 1), |(i, _)| row(i) as f64);
        let y = Array2::from_shape_fn((140, 1), |(i, _)| match i {
            100.. => (i % 2) as f64,
            _ => row(i) as f64 / 7.0,
        });
        let mut source = MemorySource::new(&x, Some(y)).expect("rows");
        let repeats = Repeats::find(&mut source, 9).expect("reads");
        let read = |split: &mut dyn ChunkSource| {
            let mut rows = Vec::new();
            while let Some(chunk) = split.next_chunk(16).expect("reads") {
                rows.extend(chunk.x.into_f64().iter().map(|x| *x as usize));
            }
            split.rewind().expect("rewinds");
            rows
        };
        let test = Split::new(&mut source, Part::Test, 0.3, 4).expect("splits");
        let held = read(&mut test.keep_copies_together(&repeats));
        source.rewind().expect("rewinds");
        let train = Split::new(&mut source, Part::Train, 0.3, 4).expect("splits");
        let fitted = read(&mut train.keep_copies_together(&repeats));
        source.rewind().expect("rewinds");
        assert_eq!(held.len() + fitted.len(), 140);
        assert!(held.iter().filter(|row| **row < 50).count() > 10);
        assert!(held.iter().all(|row| *row >= 50 || !fitted.contains(row)));
        assert!(held.contains(&1000) && fitted.contains(&1000));
        source.rewind().expect("rewinds");
        // Numbers say the same as contents do.
        let numbered = Repeats::number(&mut source, 9).expect("reads");
        let test = Split::new(&mut source, Part::Test, 0.3, 4).expect("splits");
        assert_eq!(read(&mut test.keep_copies_together(&numbered)), held);
    }

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
