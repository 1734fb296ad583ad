//! A table without the rows that miss something.

use super::{Gaps, NONE_LEFT, NanRows, Pass};
use crate::data::files::table::{Batch, Column, Table, Texts, short};
use crate::data::schema::{MissingRule, NoValue, Places, holds_numbers, says_nothing};
use crate::error::{Remedy, Result};
use crate::text::counted;
use std::path::Path;

/// Rows left out whose places are known, so that those behind them are found.
const KNOWN: usize = 1 << 16;
/// Number of rows that decide whether a column is numeric.
const FIRST_ROWS: usize = 256;

/// A table without the rows that miss a value, or hold one that is not finite, in a column where
/// nothing stands for it.
pub(in crate::data) struct GaplessTable {
    inner: Box<dyn Table>,
    gaps: Gaps,
    pass: Pass,
    /// Markers of missing values.
    no_value: NoValue,
    /// The columns that every row needs, and whether one row has a value there.
    needed: Vec<usize>,
    has_value: Vec<bool>,
    /// Whether each of them is numeric by its first rows: null tokens such as `-` are missing then.
    are_numbers: Vec<bool>,
    targets: Vec<usize>,
    /// Whether targets alone have a row left out.
    of_targets: bool,
    /// How many columns were selected; those needed come after them.
    selected: usize,
    /// The first rows that were left out, ascending.
    known: Vec<u64>,
}

impl GaplessTable {
    pub(in crate::data) fn new(
        mut inner: Box<dyn Table>,
        (nan, gaps): (&NanRows, &Gaps),
        no_value: &NoValue,
        (needed, places): (Vec<usize>, &Places),
    ) -> Result<Self> {
        let pass = Pass::new(inner.path());
        let rule = no_value.rule(inner.is_typed());
        let are_numbers = are_numbers(inner.as_mut(), &needed, rule)?;
        let all: Vec<usize> = (0..inner.names().len())
            .chain(needed.iter().copied())
            .collect();
        inner.select(&all)?;
        Ok(Self {
            selected: all.len() - needed.len(),
            no_value: no_value.clone(),
            inner,
            gaps: gaps.clone(),
            pass,
            has_value: vec![false; needed.len()],
            are_numbers,
            needed,
            targets: places.targets.clone(),
            of_targets: nan.is_of_targets(),
            known: Vec::new(),
        })
    }

    /// Keeps the places of rows that are left out, in the first pass.
    fn note(&mut self, first: u64, good: &[bool]) {
        let last = self.known.last().copied();
        let left_out = (first..).zip(good).filter(|(_, good)| !**good);
        let new = left_out
            .map(|(row, _)| row)
            .filter(|&row| last.is_none_or(|last| row > last));
        let room = KNOWN.saturating_sub(self.known.len());
        self.known.extend(new.take(room));
    }

    /// The place in the file of a row of those that are kept, where it is known.
    fn place_in_file(&self, row: u64) -> Option<u64> {
        let mut place = row;
        for &left_out in &self.known {
            if left_out > place {
                return Some(place);
            }
            place += 1;
        }
        (self.known.len() < KNOWN).then_some(place)
    }

    /// What rows miss of which none is left: a column without any value, or each something.
    fn why(&self) -> String {
        let rows = counted(self.pass.read as usize, "row");
        let empty = self
            .needed
            .iter()
            .zip(&self.has_value)
            .find(|(_, has)| !**has);
        match empty {
            Some((&j, _)) => {
                let what = if self.targets.contains(&j) {
                    "target"
                } else {
                    "column"
                };
                let name = short(self.names().get(j).map_or("", String::as_str));
                format!("{what} {name} has no value in any of {rows}, so that none is left")
            }
            None => NONE_LEFT.to_owned(),
        }
    }
}

impl Table for GaplessTable {
    fn path(&self) -> &Path {
        self.inner.path()
    }
    fn names(&self) -> &[String] {
        self.inner.names()
    }
    fn is_typed(&self) -> bool {
        self.inner.is_typed()
    }
    fn select(&mut self, columns: &[usize]) -> Result<()> {
        let all: Vec<usize> = columns.iter().chain(&self.needed).copied().collect();
        self.gaps.rewind(&mut self.pass);
        self.selected = columns.len();
        self.inner.select(&all)
    }
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>> {
        while let Some(mut batch) = self.inner.next_batch(max_rows)? {
            let mut good = vec![true; batch.rows];
            let rule = self.no_value.rule(self.inner.is_typed());
            for (k, column) in batch.columns.drain(self.selected..).enumerate() {
                let mut empty = 0;
                let rule = rule.for_column(self.are_numbers[k]);
                says_nothing(&column, rule, |i| {
                    good[i] = false;
                    empty += 1;
                });
                self.has_value[k] |= empty < batch.rows;
            }
            self.note(self.pass.read, &good);
            let kept = self.gaps.kept(&mut self.pass, good.iter().copied());
            if kept.len() == batch.rows {
                return Ok(Some(batch));
            }
            if !kept.is_empty() {
                let columns = batch.columns.iter().map(|column| chosen(column, &good));
                return Ok(Some(Batch {
                    rows: kept.len(),
                    columns: columns.collect(),
                }));
            }
        }
        self.gaps.end(&self.pass, self.of_targets, || self.why())?;
        Ok(None)
    }
    fn rewind(&mut self) -> Result<()> {
        self.gaps.rewind(&mut self.pass);
        self.inner.rewind()
    }
    fn remedy(&self, name: &str) -> Option<Remedy> {
        self.inner.remedy(name)
    }
    fn has_decimal_commas(&self) -> bool {
        self.inner.has_decimal_commas()
    }
    fn place(&self, row: u64, column: usize) -> String {
        if let Some(row) = self.place_in_file(row) {
            return self.inner.place(row, column);
        }
        let name = self.names().get(column).map_or("", String::as_str);
        format!("row {row} of those that are kept (counted from 0), column {name:?}")
    }
}

/// Whether each of these columns is numeric by its first rows.
fn are_numbers(
    table: &mut dyn Table,
    columns: &[usize],
    rule: MissingRule<'_>,
) -> Result<Vec<bool>> {
    table.select(columns)?;
    let first = table.next_batch(FIRST_ROWS);
    table.rewind()?;
    // The pass over all rows reports errors.
    let Ok(Some(batch)) = first else {
        return Ok(vec![false; columns.len()]);
    };
    let columns = batch.columns.iter();
    Ok(columns.map(|column| holds_numbers(column, rule)).collect())
}

/// The good rows.
fn chosen(column: &Column, good: &[bool]) -> Column {
    fn keep_good<T: Copy>(values: &[T], good: &[bool]) -> Vec<T> {
        let both = values.iter().zip(good);
        both.filter(|(_, good)| **good).map(|(v, _)| *v).collect()
    }
    match column {
        Column::Numbers(values) => Column::Numbers(keep_good(values, good)),
        Column::Dates(values) => Column::Dates(keep_good(values, good)),
        Column::Booleans(values) => Column::Booleans(keep_good(values, good)),
        Column::Text(texts) => {
            let mut kept = Texts::default();
            for (text, _) in texts.iter().zip(good).filter(|(_, good)| **good) {
                match text {
                    Some(text) => kept.push(text),
                    None => kept.push_missing(),
                }
            }
            Column::Text(kept)
        }
    }
}
