//! Rows parted for cross-validation: which fold each is in.

use super::{
    ChunkSource, Grouped, grouped,
    parting::{Part, hash},
    repeats::Repeats,
    survey,
};
use crate::{Error, Result, error::Remedy, order::ascending, seed::Seed, text::counted};
use ndarray::ArrayView1;
use std::{collections::HashMap, hash::Hash, sync::Arc};

/// Rows in K folds, each of which is held out in turn: which fold a row is in hangs on its number
/// alone, so that it is the same in chunks of any size. It keeps two bytes a row, and four more
/// of groups and of times, which parts of the folds have as their [`ChunkSource::groups`], so that
/// what a fit chooses by rows held out, it chooses by whole groups, or by rows of other times.
///
/// | made by | fold k is held out | and learnt from |
/// |---|---|---|
/// | [`Self::dealt`], [`Self::stratified`], [`Self::of_groups`] | rows of fold k | all others |
/// | [`Self::in_time`], [`Self::last`] | rows of block k + 1 | blocks 0 to k |
///
/// ```
/// use bochner::{data::{Folds, MemorySource, Part}, seed::Seed};
/// let x = ndarray::Array2::from_shape_fn((10, 1), |(i, _)| i as f64);
/// let folds = Folds::dealt(&mut MemorySource::new(&x, None)?, 5, Seed(0))?;
/// let test = folds.part(MemorySource::new(&x, None)?, 0, Part::Test)?;
/// assert_eq!(bochner::data::ChunkSource::rows(&test), Some(2));
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Folds {
    /// The fold of each row, or its block of time.
    of_row: Arc<[u16]>,
    count: usize,
    /// Whether a fold is learnt from the blocks up to its own, and held out in the next.
    ahead: bool,
    /// Which rows are left out together, where that is known.
    groups: Option<Arc<[u32]>>,
}

/// Rows that are read at a time.
const ROWS: usize = 4096;

impl Folds {
    /// Deals the rows of `source` into `count` folds: of each `count` rows that follow each other
    /// one to each fold, in an order that the seed draws anew. Copies of a row follow the first of
    /// them, unless rows of the same features have other targets. The source is at its first row
    /// again.
    ///
    /// Errors with [`Error::Parameter`] on fewer than 2 folds and on more than there are rows, and
    /// as the source does.
    pub fn dealt(source: &mut dyn ChunkSource, count: usize, seed: Seed) -> Result<Self> {
        let of_row = survey::settled(source, |source| {
            let mut rows = Vec::new();
            each_row(source, |_| {
                rows.push(0);
                Ok(())
            })?;
            Ok(rows)
        })?;
        Self::deal(&of_row, count, seed)?.with_copies_together(source)
    }

    /// As [`Self::dealt`], the rows of each class by themselves: how many a fold has of a class,
    /// and how many in all, differs by at most one. A class of fewer rows than folds is warned of.
    pub fn stratified(source: &mut dyn ChunkSource, count: usize, seed: Seed) -> Result<Self> {
        let classes = survey::settled(source, |source| {
            let (mut classes, mut of_row) = (Numbered::default(), Vec::new());
            each_row(source, |y| {
                // -0 and 0 are one label.
                let label = y.iter().map(|&y| (y + 0.0).to_bits()).collect::<Vec<_>>();
                of_row.push(classes.number_of(label));
                Ok(())
            })?;
            Ok(of_row)
        })?;
        Self::deal(&classes, count, seed)?.with_copies_together(source)
    }

    /// Moves copies of a row into the fold of the first, unless that leaves a fold without rows.
    fn with_copies_together(self, source: &mut dyn ChunkSource) -> Result<Self> {
        let repeats = Repeats::number(source, ROWS)?;
        if !repeats.has_copies() {
            return Ok(self);
        }
        let first = |row| {
            repeats
                .first_of_row(row as u64)
                .map_or(row, |first| first as usize)
        };
        let of_row = (0..self.of_row.len()).map(|row| self.of_row[first(row)]);
        let of_row: Arc<[u16]> = of_row.collect();
        let has_rows = |fold| of_row.iter().any(|&of| usize::from(of) == fold);
        Ok(match (0..self.count).all(has_rows) {
            true => Self { of_row, ..self },
            false => self,
        })
    }

    /// Deals rows of so many classes, numbered as they are met.
    fn deal(classes: &[u32], count: usize, seed: Seed) -> Result<Self> {
        require(count, classes.len(), "row")?;
        let mut rows = vec![0; classes.iter().max().map_or(0, |&most| most as usize + 1)];
        classes.iter().for_each(|&class| rows[class as usize] += 1);
        if let Some(few) = rows.iter().filter(|&&rows| rows < count).min() {
            log::warn!(
                "a class has {} and there are {count} folds: some have none of it to score",
                counted(*few, "row")
            );
        }
        let mut before = 0;
        let mut dealers = Vec::with_capacity(rows.len());
        for (class, &rows) in rows.iter().enumerate() {
            dealers.push(Dealer {
                seed: hash(seed.0, class as u64),
                drawn: 0,
                left: rows,
                // The folds that have one row more are others in the next class.
                first: before % count,
                hand: Vec::new(),
            });
            before += rows;
        }
        let of_row = classes
            .iter()
            .map(|&class| dealers[class as usize].next(count));
        Ok(Self {
            of_row: of_row.collect(),
            count,
            ahead: false,
            groups: None,
        })
    }

    /// Rows of one group are in one fold: `groups` says which group each row is of. The largest
    /// groups come first, each into the fold that has fewest rows; those of one size in an order
    /// that the seed draws.
    ///
    /// Errors with [`Error::Parameter`] on fewer than 2 folds and on more than there are groups.
    pub fn of_groups<G: Eq + Hash>(groups: &[G], count: usize, seed: Seed) -> Result<Self> {
        let together = grouped::drawn(groups, seed);
        let mut numbered = Numbered::default();
        let groups: Vec<u32> = groups
            .iter()
            .map(|group| numbered.number_of(group))
            .collect();
        require(count, numbered.0.len(), "group")?;
        let mut sizes = vec![0_usize; numbered.0.len()];
        groups.iter().for_each(|&group| sizes[group as usize] += 1);
        let drawn = |group| hash(seed.0, group as u64);
        let order = ascending(sizes.len(), &|g, h| {
            let larger_first = sizes[h].cmp(&sizes[g]);
            larger_first.then_with(|| drawn(g).cmp(&drawn(h)))
        });
        let (mut rows, mut fold_of) = (vec![0; count], vec![0_u16; sizes.len()]);
        for group in order {
            let least = (0..count).min_by_key(|&fold| rows[fold]).unwrap_or(0);
            rows[least] += sizes[group];
            fold_of[group] = least as u16;
        }
        Ok(Self {
            of_row: groups
                .iter()
                .map(|&group| fold_of[group as usize])
                .collect(),
            count,
            ahead: false,
            groups: Some(together.into()),
        })
    }

    /// Folds ahead in time: rows in the order of `times` are cut into `count` + 1 blocks of about
    /// as many rows, and fold k learns from blocks 0 to k and is held out in block k + 1. Rows of
    /// one time are in one block.
    ///
    /// Errors with [`Error::Parameter`] on fewer than 2 folds, on times that are not finite, and
    /// where a block would have no rows.
    pub fn in_time(times: &[f64], count: usize) -> Result<Self> {
        require(count, times.len().saturating_sub(1), "later row")?;
        if let Some(row) = times.iter().position(|time| !time.is_finite()) {
            let problem = format!("the time of row {row} (counted from 0) is not finite");
            return Err(Error::parameter(problem).help(Remedy::DropRows));
        }
        let (rows, blocks) = (times.len() as u64, count as u64 + 1);
        let order = ascending(times.len(), &|i, j| times[i].total_cmp(&times[j]));
        let mut of_row = vec![0_u16; times.len()];
        let (mut block, mut last) = (0, f64::NAN);
        for (place, &row) in order.iter().enumerate() {
            // -0 and 0 are one time.
            if times[row] != last {
                block = (place as u64 * blocks / rows) as u16;
                last = times[row];
            }
            of_row[row] = block;
        }
        let mut sizes = vec![0_usize; count + 1];
        of_row
            .iter()
            .for_each(|&block| sizes[usize::from(block)] += 1);
        if sizes.contains(&0) {
            let problem = format!(
                "{count} folds in time take {blocks} blocks of rows, and rows of one time are in \
                 one block, so that some have no rows"
            );
            return Err(Error::parameter(problem).help(Remedy::FewerFolds));
        }
        Ok(Self {
            of_row: of_row.into(),
            count,
            ahead: true,
            groups: Some(grouped::ranks(times).into()),
        })
    }

    /// One fold: the last `share` of the rows in their order is held out, the others are learnt
    /// from. The source is at its first row again.
    ///
    /// Errors with [`Error::Parameter`] unless the share is between 0 and 1, both excluded, and
    /// where one of both parts would have no rows; and as the source does.
    #[doc(hidden)]
    pub fn last(source: &mut dyn ChunkSource, share: f64) -> Result<Self> {
        let rows = survey::settled(source, |source| {
            let mut rows = 0_usize;
            each_row(source, |_| {
                rows += 1;
                Ok(())
            })?;
            Ok(rows)
        })?;
        let held_out = (share * rows as f64).round();
        if !(share > 0.0 && share < 1.0) || held_out < 1.0 || held_out >= rows as f64 {
            let problem = format!(
                "the last {share} of {} leaves no row to learn from, or none to hold out; name \
                 another share",
                counted(rows, "row")
            );
            return Err(Error::parameter(problem));
        }
        let first = rows - held_out as usize;
        Ok(Self {
            of_row: (0..rows).map(|row| u16::from(row >= first)).collect(),
            count: 1,
            ahead: true,
            groups: Some((0..rows).map(|row| row as u32).collect()),
        })
    }

    /// Number of folds.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Number of rows that are in folds, or in blocks of time.
    pub fn rows(&self) -> usize {
        self.of_row.len()
    }

    /// Which rows are left out together: those of one group, or those next to each other in time.
    #[doc(hidden)]
    pub fn groups(&self) -> Option<&Arc<[u32]>> {
        self.groups.as_ref()
    }

    /// All rows of `source`, which knows of them what folds of groups or of times do: what a fit
    /// beside folds is learnt from. The source must be at its first row and have the rows that
    /// folds were made of.
    ///
    /// Errors with [`Error::Parameter`] where it has others.
    #[doc(hidden)]
    pub fn all<S: ChunkSource + 'static>(&self, source: S) -> Result<Box<dyn ChunkSource>> {
        Ok(match &self.groups {
            Some(groups) => Box::new(Grouped::new(source, groups.clone())?),
            None => Box::new(source),
        })
    }

    /// Whether folds are ahead of what they are learnt from.
    #[doc(hidden)]
    pub fn is_ahead(&self) -> bool {
        self.ahead
    }

    /// Whether a row is in a part of a fold; `None` of rows that folds were not made of.
    pub(super) fn takes(&self, row: u64, k: usize, part: Part) -> Option<bool> {
        let own = usize::from(*self.of_row.get(usize::try_from(row).ok()?)?);
        Some(match (self.ahead, part) {
            (false, Part::Train) => own != k,
            (false, Part::Test) => own == k,
            (true, Part::Train) => own <= k,
            (true, Part::Test) => own == k + 1,
        })
    }

    /// How many rows a part of a fold has.
    pub(super) fn rows_of(&self, k: usize, part: Part) -> usize {
        let rows = 0..self.of_row.len() as u64;
        rows.filter(|&row| self.takes(row, k, part) == Some(true))
            .count()
    }
}

/// Errors unless there are at least 2 folds, and no more than there are of `what`.
fn require(count: usize, there: usize, what: &str) -> Result<()> {
    if count < 2 {
        let folds = counted(count, "fold");
        let problem = format!("with {folds} nothing is learnt from; take 2 or more, 5 as a rule");
        return Err(Error::parameter(problem));
    }
    let most = there.min(usize::from(u16::MAX));
    if count > most {
        let there = counted(there, what);
        let problem = format!("{count} folds are asked for, and {most} are the most of {there}");
        return Err(Error::parameter(problem).help(Remedy::FewerFolds));
    }
    Ok(())
}

/// Calls `take` with the targets of each row, from the first on.
fn each_row(
    source: &mut dyn ChunkSource,
    mut take: impl FnMut(ArrayView1<'_, f64>) -> Result<()>,
) -> Result<()> {
    while let Some(chunk) = source.next_chunk(ROWS)? {
        chunk.y.rows().into_iter().try_for_each(&mut take)?;
    }
    source.rewind()
}

/// Things by the order in which they are met.
struct Numbered<T>(HashMap<T, u32>);

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Eq + Hash> Numbered<T> {
    fn number_of(&mut self, thing: T) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(thing).or_insert(next)
    }
}

/// Deals the rows of a class.
struct Dealer {
    seed: u64,
    /// Numbers that were drawn.
    drawn: u64,
    /// Rows that are not dealt yet.
    left: usize,
    /// The fold that the last few rows begin at.
    first: usize,
    /// Folds that get the next rows, the next one last.
    hand: Vec<u16>,
}

impl Dealer {
    /// The fold of the next row.
    fn next(&mut self, count: usize) -> u16 {
        if self.hand.is_empty() {
            // The last few rows go to folds that follow each other, as those of the next class do.
            let size = self.left.min(count);
            let folds = (0..size).map(|i| ((self.first + i) % count) as u16);
            self.hand.extend(folds);
            for i in (1..size).rev() {
                let j = hash(self.seed, self.drawn) % (i as u64 + 1);
                self.drawn += 1;
                self.hand.swap(i, j as usize);
            }
            self.left -= size;
        }
        self.hand.pop().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
