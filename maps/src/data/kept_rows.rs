//! Some of the rows, kept beside sums: a uniform sample of those that differ, each with all that it
//! counts for, whatever order, chunks, shards or steps they came in.

mod contents;
mod file;
#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "the rows of one part")]
mod tests;
mod weighed;

pub(super) use contents::hash_of_features;
pub use contents::{hash, hash_of_row};

use super::{Chunk, ChunkSource, Rows};
use crate::{Error, Result};
use ndarray::{Array2, ArrayView1};
use std::{collections::BTreeMap, sync::Arc};

/// A row that is kept.
#[derive(Debug, Clone, PartialEq)]
struct Kept {
    /// Columns that are not zero, ascending, and their values.
    columns: Vec<u32>,
    values: Vec<f64>,
    targets: Vec<f64>,
    /// What all such rows count for.
    weight: f64,
    /// How many there were.
    count: u64,
    /// Its group, where rows have one.
    group: u32,
}

/// At most so many different rows of a stream: those whose contents have the smallest hashes, so
/// that each is as likely to be among them as any other (bottom-k sampling, Cohen & Kaplan 2007).
///
/// What is kept depends on the rows alone. Kept rows of parts [merge](Self::merge) to what would be
/// kept of all, and those of rows that are forgotten are [taken out](Self::subtract) again.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct KeptRows {
    columns: usize,
    targets: usize,
    most: usize,
    /// Rows with this hash or a larger one are not kept.
    end: u64,
    rows: BTreeMap<u64, Kept>,
    /// Whether rows have groups.
    grouped: bool,
}

impl KeptRows {
    /// None yet, of so many feature and target columns, and never more than `most`.
    #[doc(hidden)]
    pub fn new(most: usize, (columns, targets): (usize, usize)) -> Self {
        Self {
            columns,
            targets,
            most,
            end: u64::MAX,
            rows: BTreeMap::new(),
            grouped: false,
        }
    }

    /// Bytes that a row of so many columns, none of them zero, and targets takes at most, with what
    /// it lies in.
    #[doc(hidden)]
    pub fn row_bytes((columns, targets): (usize, usize)) -> usize {
        12 * columns + 8 * targets + 256
    }

    /// None yet, of the same shape.
    #[doc(hidden)]
    pub fn none(&self) -> Self {
        Self::new(self.most, (self.columns, self.targets))
    }

    /// How many there may be.
    #[doc(hidden)]
    pub fn most(&self) -> usize {
        self.most
    }

    /// How many there are.
    #[doc(hidden)]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[doc(hidden)]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether they are all rows that there were, but for those of weight 0.
    #[doc(hidden)]
    pub fn are_all(&self) -> bool {
        self.end == u64::MAX
    }

    /// The first so many of them, a uniform sample of all rows, too.
    #[doc(hidden)]
    pub fn first(&self, most: usize) -> Self {
        let mut first = self.clone();
        first.most = most;
        first.cut();
        first
    }

    /// The same rows, in the same order, with other targets.
    pub(crate) fn with_targets(&self, of: impl Fn(f64) -> f64) -> Self {
        let mut rows = self.clone();
        let targets = rows.rows.values_mut().flat_map(|row| &mut row.targets);
        targets.for_each(|target| *target = of(*target));
        rows
    }

    /// Looks at the rows of a chunk. Rows of weight 0 count for nothing, and are not kept.
    #[doc(hidden)]
    pub fn look_at(&mut self, chunk: &Chunk) {
        self.look_at_groups(chunk, None);
    }

    /// As [`Self::look_at`], of rows of these groups: one that is there twice is of the first.
    #[doc(hidden)]
    pub fn look_at_groups(&mut self, chunk: &Chunk, groups: Option<&[u32]>) {
        self.grouped |= groups.is_some();
        let group = |i: usize| groups.and_then(|groups| groups.get(i)).copied();
        for i in 0..chunk.x.nrows() {
            let weight = chunk.weights.as_ref().map_or(1.0, |w| w[i]);
            if weight > 0.0 {
                let targets = chunk.y.row(i);
                match &chunk.x {
                    Rows::F32(x) => self.row((x.row(i), f64::from), targets, (weight, group(i))),
                    Rows::F64(x) => self.row((x.row(i), |v| v), targets, (weight, group(i))),
                }
            }
        }
    }

    fn row<T: Copy>(
        &mut self,
        (x, value): (ArrayView1<'_, T>, impl Fn(T) -> f64),
        targets: ArrayView1<'_, f64>,
        (weight, group): (f64, Option<u32>),
    ) {
        let hash = hash(x.iter().map(|&v| value(v)), targets);
        if hash >= self.end {
            return;
        }
        if let Some(kept) = self.rows.get_mut(&hash) {
            kept.count += 1;
            kept.weight += weight;
            return;
        }
        let values = (0..).zip(x).map(|(j, &v)| (j, value(v)));
        let (columns, values) = values.filter(|(_, v)| *v != 0.0).unzip();
        let kept = Kept {
            columns,
            values,
            targets: targets.to_vec(),
            weight,
            count: 1,
            group: group.unwrap_or(0),
        };
        self.rows.insert(hash, kept);
        self.cut();
    }

    /// Lets the largest hashes go, as long as there are too many.
    fn cut(&mut self) {
        while self.rows.len() > self.most {
            if let Some((hash, _)) = self.rows.pop_last() {
                self.end = hash;
            }
        }
    }

    fn require_alike(&self, other: &Self) -> Result<()> {
        let shape = |of: &Self| (of.most, of.columns, of.targets);
        if shape(self) == shape(other) {
            return Ok(());
        }
        Err(Error::shape(format!(
            "{} kept rows of {} and {} columns do not go with {} of {} and {}",
            self.most, self.columns, self.targets, other.most, other.columns, other.targets
        )))
    }

    /// Adds those of other rows. Errors with [`Error::Shape`] on other columns, and where others
    /// were to be kept.
    #[doc(hidden)]
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.require_alike(other)?;
        self.end = self.end.min(other.end);
        for (hash, row) in &other.rows {
            let add = |kept: &mut Kept| {
                kept.count += row.count;
                kept.weight += row.weight;
            };
            self.rows
                .entry(*hash)
                .and_modify(add)
                .or_insert_with(|| row.clone());
        }
        drop(self.rows.split_off(&self.end));
        self.cut();
        Ok(())
    }

    /// Takes those of rows out that are forgotten. Errors as [`Self::merge`] does, and when a row
    /// is not there so often.
    #[doc(hidden)]
    pub fn subtract(&mut self, other: &Self) -> Result<()> {
        self.require_alike(other)?;
        let mut left = self.clone();
        for (hash, row) in other.rows.range(..self.end) {
            let kept = left.rows.get_mut(hash);
            let Some(kept) = kept.filter(|kept| kept.count >= row.count) else {
                let problem = "a row to forget was never added, or not so often";
                return Err(Error::shape(problem));
            };
            kept.count -= row.count;
            kept.weight -= row.weight;
        }
        left.rows.retain(|_, row| row.count > 0);
        left.end = left.end.min(other.end);
        drop(left.rows.split_off(&left.end));
        *self = left;
        Ok(())
    }

    /// Has every row count for so many times what it did. Those that are nothing beside the largest
    /// go; where few are left others are kept again, with smaller hashes first as ever, so that
    /// rows of a stream that forgets are not all of its beginning.
    #[doc(hidden)]
    pub fn fade(&mut self, share: f64) {
        let weights = self.rows.values_mut().map(|row| {
            row.weight *= share;
            row.weight
        });
        let largest = weights.fold(0.0, f64::max);
        self.rows
            .retain(|_, row| row.weight > 0.0 && row.weight >= f64::EPSILON * largest);
        if self.end < u64::MAX && self.rows.len() < self.most / 2 {
            // No hash is as large, but that they are all there were is not true any more.
            self.end = u64::MAX - 1;
        }
    }

    /// The rows as a source, in the order of their hashes: each once, for all that it counts.
    #[doc(hidden)]
    pub fn source(&self) -> impl ChunkSource + '_ {
        KeptSource {
            kept: self,
            rows: self.rows.values().collect(),
            next: 0,
        }
    }

    /// The values of a feature, in the order of the hashes.
    #[doc(hidden)]
    pub fn feature(&self, j: usize) -> Vec<f64> {
        let of = |row: &Kept| match row.columns.binary_search(&(j as u32)) {
            Ok(at) => row.values[at],
            Err(_) => 0.0,
        };
        self.rows.values().map(of).collect()
    }

    /// The values of a target likewise.
    #[doc(hidden)]
    pub fn target(&self, k: usize) -> Vec<f64> {
        self.rows.values().map(|row| row.targets[k]).collect()
    }
}

/// Kept rows on their way through a map.
struct KeptSource<'a> {
    kept: &'a KeptRows,
    rows: Vec<&'a Kept>,
    next: usize,
}

impl ChunkSource for KeptSource<'_> {
    fn columns(&self) -> usize {
        self.kept.columns
    }
    fn targets(&self) -> usize {
        self.kept.targets
    }
    fn is_weighted(&self) -> bool {
        true
    }
    fn groups(&self) -> Option<Arc<[u32]>> {
        let groups = || self.rows.iter().map(|row| row.group).collect();
        self.kept.grouped.then(groups)
    }
    fn rows(&self) -> Option<usize> {
        Some(self.rows.len())
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        super::require_rows(max_rows)?;
        let end = self.rows.len().min(self.next + max_rows);
        let rows = &self.rows[self.next..end];
        self.next = end;
        if rows.is_empty() {
            return Ok(None);
        }
        let mut x = Array2::zeros((rows.len(), self.kept.columns));
        for (mut to, row) in x.rows_mut().into_iter().zip(rows) {
            let entries = row.columns.iter().zip(&row.values);
            entries.for_each(|(&column, &value)| to[column as usize] = value);
        }
        let y = |(i, k): (usize, usize)| rows[i].targets[k];
        Ok(Some(Chunk {
            x: Rows::F64(x),
            y: Array2::from_shape_fn((rows.len(), self.kept.targets), y),
            weights: Some(rows.iter().map(|row| row.weight).collect()),
        }))
    }
    fn rewind(&mut self) -> Result<()> {
        self.next = 0;
        Ok(())
    }
    fn is_checked(&self) -> bool {
        true
    }
}

/// A source whose rows are kept as they go by: what one pass from the first row saw.
#[doc(hidden)]
pub struct Keeping<'a> {
    source: &'a mut dyn ChunkSource,
    none: KeptRows,
    kept: KeptRows,
}

impl<'a> Keeping<'a> {
    /// Nothing is kept yet, and never more than `most`.
    #[doc(hidden)]
    pub fn new(source: &'a mut dyn ChunkSource, most: usize) -> Self {
        let none = KeptRows::new(most, (source.columns(), source.targets()));
        Self {
            source,
            kept: none.clone(),
            none,
        }
    }

    /// What was kept of the rows since the first.
    #[doc(hidden)]
    pub fn into_kept(self) -> KeptRows {
        self.kept
    }
}

impl ChunkSource for Keeping<'_> {
    crate::as_its_source!(self => self.source);
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let chunk = self.source.next_chunk(max_rows)?;
        if let Some(chunk) = &chunk {
            self.kept.look_at(chunk);
        }
        Ok(chunk)
    }
    fn rewind(&mut self) -> Result<()> {
        self.kept = self.none.clone();
        self.source.rewind()
    }
}
