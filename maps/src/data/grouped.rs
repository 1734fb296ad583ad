//! Rows that are left out together: those of one group, or those that follow each other in time.

use super::{Chunk, ChunkSource, parting::hash};
use crate::{Error, Result, order::ascending, seed::Seed};
use std::{collections::HashMap, hash::Hash, sync::Arc};

/// A source that says which of its rows are left out together ([`ChunkSource::groups`]), so that
/// what is chosen by rows held out is chosen by whole groups of them: preparation, bandwidth and
/// penalty, when to stop, and rows that a [`Split`](super::Split) holds out. It keeps four bytes a
/// row. [`Folds`](super::Folds) of groups and of times do so by themselves.
///
/// ```
/// use bochner::{data::{ChunkSource, Grouped, MemorySource, Part, Split}, seed::Seed};
/// let x = ndarray::Array2::from_shape_fn((40, 1), |(i, _)| i as f64);
/// let patients: Vec<usize> = (0..40).map(|i| i / 8).collect();
/// let rows = Grouped::by(MemorySource::new(&x, None)?, &patients, Seed(0))?;
/// let held_out = Split::new(rows, Part::Test, 0.2, 0)?;
/// // One patient of five.
/// assert_eq!(held_out.rows(), Some(8));
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug)]
#[doc(hidden)]
pub struct Grouped<S> {
    source: S,
    groups: Arc<[u32]>,
}

impl<S: ChunkSource> Grouped<S> {
    /// Rows of one group are left out together; `groups` says which group each row is of. The seed
    /// draws which groups are near each other.
    ///
    /// Errors with [`Error::Parameter`] unless there is a group for each row, where the source
    /// knows how many it has.
    pub fn by<G: Eq + Hash>(source: S, groups: &[G], seed: Seed) -> Result<Self> {
        Self::new(source, drawn(groups, seed).into())
    }

    /// Rows of times that follow each other are left out together, the latest of them where there
    /// is one part alone. Errors as [`Self::by`] does.
    pub fn in_time(source: S, times: &[f64]) -> Result<Self> {
        Self::new(source, ranks(times).into())
    }

    /// Rows whose groups have the numbers of [`ChunkSource::groups`].
    #[doc(hidden)]
    pub fn new(source: S, groups: Arc<[u32]>) -> Result<Self> {
        match source.rows() {
            Some(rows) if rows != groups.len() => Err(Error::parameter(format!(
                "there are groups of {} rows and the data has {rows}; give one for each",
                groups.len()
            ))),
            _ => Ok(Self { source, groups }),
        }
    }
}

impl<S: ChunkSource> ChunkSource for Grouped<S> {
    crate::as_its_source!(self => self.source, but its groups);
    fn groups(&self) -> Option<Arc<[u32]>> {
        Some(self.groups.clone())
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        self.source.next_chunk(max_rows)
    }
    fn rewind(&mut self) -> Result<()> {
        self.source.rewind()
    }
}

/// A number for each group, in an order that the seed draws.
pub(super) fn drawn<G: Eq + Hash>(groups: &[G], seed: Seed) -> Vec<u32> {
    let mut met: HashMap<&G, u64> = HashMap::new();
    let number = |group| {
        let next = met.len() as u64;
        // The upper half: two groups of one number are one.
        (hash(!seed.0, *met.entry(group).or_insert(next)) >> 32) as u32
    };
    groups.iter().map(number).collect()
}

/// The place of each time among those that differ.
#[doc(hidden)]
pub fn ranks(times: &[f64]) -> Vec<u32> {
    // -0 and 0 are one time.
    let times: Vec<f64> = times.iter().map(|time| time + 0.0).collect();
    let order = ascending(times.len(), &|i, j| times[i].total_cmp(&times[j]));
    let (mut ranks, mut rank) = (vec![0; times.len()], 0);
    for (place, &row) in order.iter().enumerate() {
        if place > 0 && times[order[place - 1]] != times[row] {
            rank += 1;
        }
        ranks[row] = rank;
    }
    ranks
}

/// How many groups there are.
#[doc(hidden)]
pub fn count(groups: &[u32]) -> usize {
    runs(groups).len()
}

/// Groups below which probabilities of unseen groups cannot be told from the rows: a fifth of them
/// is one or two groups, with base rates of their own.
const MANY_GROUPS: usize = 10;

/// Whether there are too few groups for calibrating on whole groups.
#[doc(hidden)]
pub fn are_few(groups: &[u32]) -> bool {
    count(groups) < MANY_GROUPS
}

/// The fold of each row: folds are runs of groups by their numbers, of about as many rows each, and
/// none is empty. `None` of fewer groups than folds.
pub(crate) fn folds(groups: &[u32], count: usize) -> Option<Vec<usize>> {
    let runs = runs(groups);
    if count == 0 || runs.len() < count {
        return None;
    }
    let (mut of_row, mut fold) = (vec![0; groups.len()], 0);
    let (mut own, mut left) = (0, groups.len());
    for (place, rows) in runs.iter().enumerate() {
        // Those before are full, or those after want a group each.
        let is_full = own * (count - fold) >= left;
        if own > 0 && fold + 1 < count && (is_full || runs.len() - place < count - fold) {
            (fold, left, own) = (fold + 1, left - own, 0);
        }
        rows.iter().for_each(|&row| of_row[row] = fold);
        own += rows.len();
    }
    Some(of_row)
}

/// Folds that a choice is made by, where there are as many groups.
const FOLDS: usize = 5;

/// The rows of each fold that a choice is made by; `None` of fewer groups than two.
#[doc(hidden)]
pub fn choosing(groups: &[u32]) -> Option<Vec<Vec<usize>>> {
    let count = count(groups).min(FOLDS);
    let of_row = folds(groups, count).filter(|_| count > 1)?;
    let mut rows = vec![Vec::new(); count];
    (0..)
        .zip(of_row)
        .for_each(|(row, fold)| rows[fold].push(row));
    Some(rows)
}

/// Whether each row is held out where a share of about this size is: the groups of the largest
/// numbers, at least one of them and not all. `None` of fewer groups than two.
#[doc(hidden)]
pub fn held_out(groups: &[u32], share: f64) -> Option<Vec<bool>> {
    let runs = runs(groups);
    if runs.len() < 2 {
        return None;
    }
    let wanted = share * groups.len() as f64;
    let (mut held, mut taken) = (vec![false; groups.len()], 0);
    for rows in runs[1..].iter().rev() {
        // The nearer of both counts.
        if taken > 0 && (taken as f64 + rows.len() as f64 / 2.0) > wanted {
            break;
        }
        rows.iter().for_each(|&row| held[row] = true);
        taken += rows.len();
    }
    Some(held)
}

/// The rows of each group, by their numbers.
fn runs(groups: &[u32]) -> Vec<Vec<usize>> {
    let order = ascending(groups.len(), &|i, j| groups[i].cmp(&groups[j]));
    let of_one = |a: &usize, b: &usize| groups[*a] == groups[*b];
    order.chunk_by(of_one).map(<[usize]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folds are whole groups in their order, of about as many rows, and none is empty however
    /// groups are sized; what is held out are the last groups.
    #[test]
    fn folds_are_runs_of_whole_groups() {
        let groups = [4, 4, 0, 0, 1, 1, 2, 2, 3, 3];
        assert_eq!(folds(&groups, 5), Some(vec![4, 4, 0, 0, 1, 1, 2, 2, 3, 3]));
        assert_eq!(folds(&groups, 2), Some(vec![1, 1, 0, 0, 0, 0, 0, 0, 1, 1]));
        let held: Vec<usize> = (0..10).filter(|&i| groups[i] > 2).collect();
        let found = held_out(&groups, 0.4).expect("groups");
        assert_eq!((0..10).filter(|&i| found[i]).collect::<Vec<_>>(), held);
        // One group has most rows: the others share the folds that are left.
        let mut uneven = vec![0; 90];
        uneven.extend([1, 2, 3]);
        let found = folds(&uneven, 4).expect("as many groups");
        assert_eq!(found[90..], [1, 2, 3]);
        assert_eq!(folds(&uneven, 5), None);
        uneven.iter_mut().for_each(|group| *group = 3 - *group);
        let found = folds(&uneven, 4).expect("as many groups");
        assert_eq!((found[0], &found[90..]), (3, &[2, 1, 0][..]));
        assert_eq!(held_out(&[7; 5], 0.5), None);
        // All but one at most, one at least.
        assert_eq!(held_out(&[0, 1], 0.99), Some(vec![false, true]));
        assert_eq!(held_out(&[0, 1], 0.01), Some(vec![false, true]));
        assert_eq!(ranks(&[3.0, -0.0, 0.0, 9.0, 3.0]), [1, 0, 0, 2, 1]);
        let names = ["b", "a", "b", "c"];
        let numbers = drawn(&names, Seed(1));
        assert_eq!((numbers[0], count(&numbers)), (numbers[2], 3));
    }
}
