//! Training and test rows of one source, told apart as they stream by.

mod rule;

use super::rows::stack;
use super::{
    Chunk, ChunkSource, Folds, Rows, Schema,
    kept_rows::hash_of_features,
    next_checked,
    parting::Part,
    repeats::{CopyCounter, Repeats},
    require_rows,
};
use crate::error::{Error, Result};
use ndarray::{Array2, Axis};
use rule::Rule;
use std::sync::Arc;

/// The training or the test part of a source.
///
/// Row i (counted from 0 in the whole source) is a test row if the upper 53 bits of `h(seed, i)`,
/// read as a fraction in [0, 1), lie below the test fraction. `h(seed, i)` is output i of
/// SplitMix64 (Steele, Lea & Flood 2014) started at `mix(seed)`:
/// `mix(mix(seed) + (i + 1) * 0x9e3779b97f4a7c15)` modulo 2^64, where mix(z) is
/// `z ^= z >> 30; z *= 0xbf58476d1ce4e5b9; z ^= z >> 27; z *= 0x94d049bb133111eb; z ^= z >> 31`. So
/// the parts are the same on every platform and in chunks of any size, and no row is kept back: the
/// share of test rows is the fraction only on average.
///
/// Where the source has [`ChunkSource::groups`] the test rows are those of whole groups, of about
/// the fraction of all, and folds are runs of groups, whatever the seed.
#[derive(Debug)]
pub struct Split<S> {
    source: S,
    rule: Rule,
    seed: u64,
    /// Index of the next row.
    next: u64,
    /// Whether this pass has yielded a row.
    any: bool,
    rows: Option<usize>,
    /// Groups of the rows that are taken.
    groups: Option<Arc<[u32]>>,
    /// Copies of repeated rows that have passed, for a split by contents.
    copies: CopyCounter,
    /// Rows whose copies are all in one part.
    together: Option<Arc<Repeats>>,
}

impl Folds {
    /// The rows of `source` that fold `k`, counted from 0, is learnt from or held out in. The
    /// source must be at its first row and have the rows that folds were made of.
    ///
    /// Errors with [`Error::Parameter`] unless `k` is below [`Self::count`].
    pub fn part<S: ChunkSource>(&self, source: S, k: usize, part: Part) -> Result<Split<S>> {
        if k >= self.count() {
            let problem = format!("there is no fold {k} of {}, counted from 0", self.count());
            return Err(Error::parameter(problem));
        }
        let groups = source.groups();
        let groups = groups.as_ref().or(self.groups());
        Ok(Split {
            rows: Some(self.rows_of(k, part)),
            groups: groups.map(|all| among(all, |row| self.takes(row, k, part) == Some(true))),
            source,
            rule: Rule::Of(self.clone(), k, part),
            seed: 0,
            next: 0,
            any: false,
            copies: CopyCounter::default(),
            together: None,
        })
    }
}

/// The groups of rows that are taken.
fn among(groups: &[u32], takes: impl Fn(u64) -> bool) -> Arc<[u32]> {
    let rows = (0..).zip(groups).filter(|(row, _)| takes(*row));
    rows.map(|(_, &group)| group).collect()
}

/// Rows that are counted before any is read: some hundredths of a second.
const MOST_COUNTED: usize = 1 << 24;

impl<S: ChunkSource> Split<S> {
    /// The `part` of `source` where `fraction` of the rows are test rows. The source must be at its
    /// first row.
    ///
    /// The part knows its own number of rows if its source does and has at most 2^24: each is
    /// hashed to be counted.
    ///
    /// Errors with [`Error::Parameter`] if `fraction` is not between 0 and 1, both excluded, or if
    /// the part knows that it has no rows; otherwise an empty part is an error of the first chunk.
    pub fn new(source: S, part: Part, fraction: f64, seed: u64) -> Result<Self> {
        if !(fraction > 0.0 && fraction < 1.0) {
            return Err(Error::parameter(format!(
                "the test fraction is {fraction}; it must lie between 0 and 1"
            )));
        }
        Self::by(source, Rule::Part(part, fraction), seed)
    }

    /// As [`Self::new`], by the numbers of rows even where they have groups, which the part keeps.
    ///
    /// Errors as [`Self::new`] does.
    #[doc(hidden)]
    pub fn by_rows(source: S, part: Part, fraction: f64, seed: u64) -> Result<Self> {
        let mut split = Self::new(source, part, fraction, seed)?;
        if let Some(all) = split.source.groups() {
            split.rule = Rule::Part(part, fraction);
            let groups = among(&all, |row| split.takes(row));
            (split.rows, split.groups) = (Some(groups.len()), Some(groups));
        }
        Ok(split)
    }

    /// Draws all copies of a row by the number of the first, so that no part has copies of rows of
    /// another: rows by `repeats` of this source, unless they share their features with other
    /// targets. Groups and given folds stay whole.
    #[doc(hidden)]
    #[must_use]
    pub fn keep_copies_together(mut self, repeats: &Arc<Repeats>) -> Self {
        if repeats.has_copies() && matches!(self.rule, Rule::Part(..) | Rule::Fold(..)) {
            self.together = Some(repeats.clone());
            self.rows = None;
        }
        self
    }

    /// As [`Self::new`], where the features of a row decide: rows that are equal are in one part,
    /// whatever their order, targets and classes' names, and a row that counts for two is where two
    /// such rows would be. Observations that [`Repeats`] knows to share their features with other
    /// targets are drawn one by one; the weight of a row with several of them is divided between
    /// the parts. The part may have no rows.
    #[doc(hidden)]
    pub fn by_contents(
        source: S,
        part: Part,
        fraction: f64,
        seed: u64,
        repeats: &Arc<Repeats>,
    ) -> Self {
        let split = Self::ruled(source, Rule::Contents(part, fraction), seed);
        Self {
            copies: repeats.counter(),
            ..split
        }
    }

    /// Fold `k` of `folds`, counted from 0: the rows whose `h(seed, i)` is k modulo `folds`. Every
    /// row is in one fold, and each fold has its share of the rows on average.
    ///
    /// Errors with [`Error::Parameter`] unless k is below `folds`, and when the fold knows that it
    /// has no rows.
    pub fn fold(source: S, (k, folds): (usize, usize), seed: u64) -> Result<Self> {
        if k >= folds {
            return Err(Error::parameter(format!(
                "there is no fold {k} of {folds}, counted from 0"
            )));
        }
        Self::by(source, Rule::Fold(k as u64, folds as u64), seed)
    }

    fn by(source: S, rule: Rule, seed: u64) -> Result<Self> {
        let mut split = Self::ruled(source, rule, seed);
        if split.rows.is_none() {
            let rows = split.source.rows().filter(|&rows| rows <= MOST_COUNTED);
            split.rows = rows.map(|rows| (0..rows as u64).filter(|&i| split.takes(i)).count());
        }
        if split.rows == Some(0) {
            return Err(split.rule.no_rows());
        }
        Ok(split)
    }

    /// By a rule, or by whole groups in its place.
    fn ruled(source: S, rule: Rule, seed: u64) -> Self {
        let groups = source.groups();
        let rule = match &groups {
            Some(groups) => rule.by(groups),
            None => rule,
        };
        // What rows hold says which of them are taken, when they are read.
        let known = groups.filter(|_| !matches!(rule, Rule::Contents(..)));
        let groups = known.map(|all| among(&all, |row| rule.takes(seed, row)));
        Self {
            rows: groups.as_ref().map(|groups| groups.len()),
            source,
            rule,
            seed,
            next: 0,
            any: false,
            groups,
            copies: CopyCounter::default(),
            together: None,
        }
    }

    fn takes(&self, row: u64) -> bool {
        self.rule.takes(self.seed, row)
    }

    /// Share of the weight of row `i` of the next chunk that is taken.
    fn share_of(&mut self, chunk: &Chunk, i: usize) -> f64 {
        let Rule::Contents(part, fraction) = self.rule else {
            let own = self.next + i as u64;
            let together = self.together.as_ref();
            let first = together.and_then(|all| all.first_copy(chunk, i, own));
            let first = first.unwrap_or(own);
            return f64::from(u8::from(self.takes(first)));
        };
        match self.copies.share_below(chunk, i, (fraction, self.seed)) {
            Some(below) if part == Part::Test => below,
            Some(below) => 1.0 - below,
            None => f64::from(u8::from(self.takes(hash_of_features(chunk, i)))),
        }
    }

    /// Errors where the source is known to have other rows than those that were read so far, or
    /// than all of them if it `ended`.
    fn require_same_rows(&self, ended: bool) -> Result<()> {
        match self.rule.all_rows() {
            Some(all) if self.next > all || (ended && self.next < all) => {
                let problem = format!(
                    "folds were made of {all} rows, and {} are read; give the rows that they were \
                     made of",
                    self.next
                );
                Err(Error::parameter(problem))
            }
            _ => Ok(()),
        }
    }
}

impl<S: ChunkSource> ChunkSource for Split<S> {
    fn columns(&self) -> usize {
        self.source.columns()
    }
    fn targets(&self) -> usize {
        self.source.targets()
    }
    fn is_weighted(&self) -> bool {
        self.source.is_weighted()
    }
    fn groups(&self) -> Option<Arc<[u32]>> {
        self.groups.clone()
    }
    fn rows(&self) -> Option<usize> {
        self.rows
    }
    fn column_names(&self) -> Option<Vec<String>> {
        self.source.column_names()
    }
    fn target_names(&self) -> Option<Vec<String>> {
        self.source.target_names()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        require_rows(max_rows)?;
        // A small part of a chunk would make small chunks, which are slow: fill at least half of
        // what is asked for.
        let (mut xs, mut ys, mut rows) = (Vec::<Rows>::new(), Vec::<Array2<f64>>::new(), 0);
        let mut weights = Vec::new();
        while rows <= max_rows / 2 {
            let read = usize::try_from(self.next).unwrap_or(usize::MAX);
            let Some(chunk) = next_checked(&mut self.source, max_rows - rows, read)? else {
                self.require_same_rows(true)?;
                break;
            };
            let read = chunk.x.nrows();
            let shares = (0..read).map(|i| (i, self.share_of(&chunk, i)));
            let (keep, shares): (Vec<usize>, Vec<f64>) =
                shares.filter(|(_, share)| *share > 0.0).unzip();
            self.next += read as u64;
            self.require_same_rows(false)?;
            if keep.is_empty() {
                continue;
            }
            rows += keep.len();
            xs.push(chunk.x.select(&keep));
            ys.push(chunk.y.select(Axis(0), &keep));
            if let Some(of_rows) = chunk.weights {
                weights.extend(
                    keep.iter()
                        .zip(&shares)
                        .map(|(&i, share)| of_rows[i] * share),
                );
            }
        }
        if rows == 0 {
            return if self.any || matches!(self.rule, Rule::Contents(..)) {
                Ok(None)
            } else {
                Err(self.rule.no_rows())
            };
        }
        self.any = true;
        let y = if ys.len() == 1 {
            ys.remove(0)
        } else {
            stack(&ys.iter().map(|y| y.view()).collect::<Vec<_>>())?
        };
        Ok(Some(Chunk {
            x: Rows::stack(xs)?,
            y,
            weights: self.is_weighted().then(|| weights.into()),
        }))
    }
    fn rewind(&mut self) -> Result<()> {
        (self.next, self.any) = (0, false);
        self.copies.restart();
        self.source.rewind()
    }
    fn settle(&mut self, failed: bool, takes: &mut dyn FnMut(u64) -> bool) -> Result<bool> {
        let (rule, seed, together) = (&self.rule, self.seed, &self.together);
        // Who takes of this part counts its rows alone.
        let mut own = 0;
        let mut both = |row: u64| {
            let is_known = !matches!(rule, Rule::Contents(..));
            let first = together
                .as_ref()
                .map_or(Some(row), |all| all.first_of_row(row));
            first.is_none_or(|first| !is_known || rule.takes(seed, first)) && {
                own += 1;
                takes(own - 1)
            }
        };
        let settled = self.source.settle(failed, &mut both)?;
        if settled {
            (self.next, self.any) = (0, false);
        }
        Ok(settled)
    }
    fn schema(&self) -> Option<&Schema> {
        self.source.schema()
    }
    fn is_checked(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
